"""How far does an estimated yaw drift? Many noisy flights at once (copies of a vehicle) times several seeds.

Every vehicle has noise of its own, drawn from (seed, vehicle, sensor), so 100 copies are 100 independent trials.

Nothing corrects the yaw of the complementary filter. Its gyroscope's bias walks with n rad/s/√s. Averaging it for T₀ at
rest leaves an error of n √(T₀/3); from then on the walk adds n √t. Integrated over t, both together give
σ² = n² t³/3 + n² t² T₀/3 (variance of integrated Brownian motion; the correlation time of 1000 s hardly matters).
"""

import numpy as np

import airloom as al

COPIES, SEEDS = 100, 3
REST, FLIGHT = 3.0, 20.0  # s


def main() -> float:
    overrides = {
        "engine": "batch",
        "vehicles.cf.estimator": "complementary",
        "vehicles.cf.sensors.imu": "mpu9250_crazys",  # whose gyroscope drifts so fast that nothing else matters
        "vehicles.cf.copies": {"count": COPIES},
        "systems": {},
    }
    sim = al.Simulation.load("hover", overrides=overrides)
    drifts = []
    for seed in range(SEEDS):
        sim.reset(seed)
        sim.run(until=REST)
        swarm = sim.group()
        swarm.command(al.PositionYaw(swarm.positions + np.array([0.0, 0.0, 1.0])))
        sim.run(until=REST + FLIGHT)
        drifts.append([al.euler_from_quaternion(one.estimate.attitude)[2] - one.euler[2] for one in swarm])
    found = np.degrees(np.std((np.array(drifts) + np.pi) % (2 * np.pi) - np.pi))
    walk = sim.scenario.vehicles["cf"].sensors["imu"].parameters["gyroscope"]["random_walk"]
    expected = np.degrees(walk * np.sqrt(FLIGHT**3 / 3 + FLIGHT**2 * REST / 3))
    print(f"{COPIES * SEEDS} flights of {FLIGHT:g} s: the yaw estimate drifts by {found:.1f}° (1 σ)")
    print(f"expected from the gyroscope's random walk: {expected:.1f}°")
    return float(found / expected)


if __name__ == "__main__":
    main()
