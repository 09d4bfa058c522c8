"""Fly the bundled scenario `waypoints`: how near to each point is the vehicle when it leaves for the next?"""

import numpy as np

import airloom as al


def main() -> list[float]:
    sim = al.Simulation.load("waypoints")
    drone, points = sim.vehicles["drone"], sim.systems["waypoints"].parameters.points
    departures = [point.at for point in points[1:]] + [sim.scenario.duration]
    distances = []
    for point, departure in zip(points, departures, strict=True):
        sim.run(until=departure)
        distances.append(float(np.linalg.norm(drone.position - point.position)))
        print(f"{sim.time:4.0f} s: {100 * distances[-1]:.1f} cm from {point.position}")
    return distances


if __name__ == "__main__":
    main()
