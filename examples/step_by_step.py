"""Drive the simulation from outside: reset, observe, act, step. The vehicle has no controller of its own."""

from math import sqrt

import airloom as al

PERIOD = 4  # steps of 1 ms between two actions: 250 Hz
FREQUENCY = 2.0  # natural frequency of the height loop, rad/s


def episode(sim: al.Simulation, height: float, duration: float) -> float:
    """Fly to a height with a PD law from outside; the final error in m."""
    sim.reset()
    drone = sim.vehicles["cf"]
    frame = drone.airframe
    lift = sum(rotor.thrust_constant for rotor in frame.rotors)
    while sim.time < duration:
        z, climb = drone.position[2], drone.velocity[2]  # observe
        acceleration = FREQUENCY**2 * (height - z) - 2 * FREQUENCY * climb
        speed = sqrt(max(frame.mass * (frame.gravity + acceleration), 0.0) / lift)
        drone.set_rotor_speeds([speed] * len(frame.rotors))  # act
        sim.step(PERIOD)
    return float(drone.position[2] - height)


def main() -> list[str]:
    sim = al.Simulation.load("hover", overrides={"vehicles.cf.controller": None, "systems": {}})
    hashes = []
    for height in (1.0, 0.5, 1.0):
        error = episode(sim, height, duration=6.0)
        hashes.append(sim.state_hash())
        print(f"height {height} m: error {1e3 * error:.2f} mm, state {hashes[-1][:12]}")
    print("the first and the last episode are", "the same, bit by bit" if hashes[0] == hashes[2] else "different")
    return hashes


if __name__ == "__main__":
    main()
