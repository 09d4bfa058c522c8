"""Command many vehicles at once through a group: 64 Crazyflies form a wave that travels east."""

import time

import numpy as np

import airloom as al

MIDDLE, AMPLITUDE, PERIOD, WAVELENGTH = 1.5, 0.3, 4.0, 6.0  # m, m, s, m


def main() -> float:
    sim = al.Simulation.load(
        "fleet",
        overrides={
            "engine": "batch",
            "vehicles.drone.copies": {"count": 64, "columns": 8},
            "vehicles.drone.controller": "cascade",  # which uses the velocities and accelerations of a command
            "systems": {},
        },
    )
    swarm = sim.group("drone*")
    places = swarm.positions
    frequency, errors = 2 * np.pi / PERIOD, []
    began = time.perf_counter()
    while sim.time < 28.0:
        phase = frequency * sim.time - 2 * np.pi * places[:, 0] / WAVELENGTH
        waving = AMPLITUDE if sim.time > 6.0 else 0.0
        places[:, 2] = MIDDLE + waving * np.sin(phase)
        velocities, accelerations = np.zeros_like(places), np.zeros_like(places)
        velocities[:, 2] = waving * frequency * np.cos(phase)
        accelerations[:, 2] = -waving * frequency**2 * np.sin(phase)
        swarm.command(al.PositionYaw(places, velocity=velocities, acceleration=accelerations))
        sim.step(20)
        if sim.time > 22.0:
            errors.append(swarm.positions[:, 2] - places[:, 2])
    error = float(np.sqrt(np.mean(np.square(errors))))
    speed = sim.time / (time.perf_counter() - began)
    print(f"{len(swarm)} vehicles at {speed:.0f} × real time")
    print(f"height error {100 * error:.1f} cm RMS, wave height {100 * np.ptp(swarm.positions[:, 2]):.0f} cm")
    return error


if __name__ == "__main__":
    main()
