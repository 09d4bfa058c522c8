"""Take off and hover, then look at how well: with the true attitude, and with one estimated from the IMU."""

import numpy as np

import airloom as al


def hover_error(estimator: str) -> np.ndarray:
    """The largest distance from the setpoint, in m, along x, y and z, over the last 10 s of 30."""
    sim = al.Simulation.load("hover", seed=1, overrides={"vehicles.cf.estimator": estimator, "engine": "batch"})
    cf = sim.vehicles["cf"]
    sim.run(until=20.0)
    errors = []
    while sim.time < 30.0:
        sim.step(10)
        errors.append(np.abs(cf.position - cf.setpoint.position))
    return np.max(errors, axis=0)


def main() -> dict[str, np.ndarray]:
    results = {estimator: hover_error(estimator) for estimator in ("ideal", "complementary")}
    for estimator, (x, y, z) in results.items():
        print(f"{estimator:<14} worst error {1e3 * x:.1f} mm east, {1e3 * y:.1f} mm north, {1e3 * z:.1f} mm up")
    return results


if __name__ == "__main__":
    main()
