"""Look through a drone's eyes: what is ahead by its depth camera, and the ground around by its lidar."""

import numpy as np

import airloom as al


def main() -> tuple[float, float]:
    sim = al.Simulation.load(
        "waypoints",
        overrides={
            "duration": 6.0,
            "vehicles.drone.sensors.depth": {"extends": "realsense_d435", "rate": 10},
            "vehicles.drone.sensors.lidar": "velodyne_vlp16",
        },
    )
    drone = sim.vehicles["drone"]
    depth, lidar = drone.eye("depth"), drone.eye("lidar")  # from now on they look, at their rates
    sim.run()

    picture = depth.frame.depth  # float32 [row, column], m; not a copy
    rows, columns = picture.shape
    ahead = np.nanmin(np.where(np.isfinite(picture), picture, np.nan)[: rows // 2])
    print(f"{columns} × {rows} pixels; the nearest in the upper half is {ahead:.2f} m away")

    points = lidar.frame.to_world(lidar.frame.points)
    ground = points[np.abs(points[:, 2]) < 0.2]
    print(f"{len(points)} points, {len(ground)} on the ground, which looks {1000 * ground[:, 2].std():.0f} mm rough")
    return float(ahead), float(ground[:, 2].std())


if __name__ == "__main__":
    main()
