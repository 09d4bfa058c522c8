"""Sensors: noise by the Allan deviation, places on Earth, the standard atmosphere, lever arms and rays."""

from __future__ import annotations

from functools import cache
from math import cos, pi, radians, sin, sqrt

import mujoco
import numpy as np
from matplotlib.figure import Figure
from pyproj import Geod, Transformer
from scipy.spatial.transform import Rotation

from airloom.compiled import compiled
from airloom.sensors.imu import Imu
from airloom.sensors.noise import stream_key
from airloom.sensors.sensor import READING, call_sensor
from airloom.sensors.sensor_errors import BIAS, CHANNELS, ERROR_WIDTH, ERRORS, MEMORY
from airloom.simulation import Simulation
from airloom.world.atmosphere import air_density, air_pressure, air_temperature
from airloom.world.geodesy import geodetic_to_local, local_to_geodetic, sphere_to_geodetic
from airloom.world.ground import ground, ray
from validation.case import ENGINES, Outcome, Row, body, case, simulate, the_body
from validation.rigid_body import LABELS, NO_GRAVITY, TOP, TOP_START, asymmetric_top, largest, spinning

# -- noise -------------------------------------------------------------------------------------------------------------

RATE, HOUR = 500.0, 3600.0
MPU9250 = {"gyroscope": (0.000175, 0.0105, 1000.0, 0.09), "accelerometer": (0.003, 0.18, 300.0, 0.588)}
"""White noise density, bias random walk, correlation time (s), turn-on bias: table 3 of the CrazyS paper."""
AXES = {"gyroscope": slice(0, 3), "accelerometer": slice(3, 6)}
UNITS = {"gyroscope": "rad/s", "accelerometer": "m/s²"}


def mpu9250(white: bool = True, walk: bool = True) -> dict:
    """An IMU with the MPU-9250's numbers, or with only a part of its noise, and no turn-on bias."""
    errors = {
        part: {"noise_density": density * white, "random_walk": drift * walk, "correlation_time": time}
        for part, (density, drift, time, _) in MPU9250.items()
    }
    return {"kind": "imu", "rate": RATE, **errors}


@compiled
def _fill(readings, address, w, world, row, key):
    for k in range(len(readings)):
        call_sensor(address, w, 0, world, row, key, k)
        for n in range(6):
            readings[k, n] = row[READING + n]


def parked_record(imu: dict, seconds: float, seed: int = 1) -> np.ndarray:
    """What an IMU on a parked vehicle reads: its own compiled kernel, called sample after sample."""
    sim = simulate(body(pose={"position": (0, 0, 0.05)}, sensors={"odometry": {"kind": "odometry"}, "imu": imu}))
    sim.reset(seed)
    fleet = sim.fleet
    s = fleet.sensor_index["body", "imu"]
    row, key = fleet.sensing.rows[s].copy(), fleet.sensing.keys[s]
    readings = np.empty((round(seconds * RATE), 6))
    _fill(readings, Imu.kernel.address, fleet.flight.blocks[0], fleet.flight.world, row, key)
    return readings


def allan_deviation(readings: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Overlapping Allan deviation (IEEE Std 952, annex C) for averages over so many samples, mean of the axes."""
    sums = np.vstack([np.zeros(readings.shape[1]), np.cumsum(readings - readings.mean(axis=0), axis=0)])
    variances = [np.mean((sums[2 * m :] - 2 * sums[m:-m] + sums[: -2 * m]) ** 2) / (2 * m * m) for m in lengths]
    return np.sqrt(variances)


def expected_deviation(times: np.ndarray, white: float, walk: float, correlation: float) -> np.ndarray:
    """White noise plus a Gauss-Markov bias (IEEE Std 952, annex C)."""
    x = times / correlation
    share = np.where(x < 1e-2, x**2 / 3 - x**3 / 4, 1 - (3 - 4 * np.exp(-x) + np.exp(-2 * x)) / (2 * x))
    return np.sqrt(white**2 / times + (walk * correlation) ** 2 / times * share)


LENGTHS = np.unique(np.logspace(0, np.log10(100 * RATE), 40).astype(int))


@cache
def whole_record() -> np.ndarray:
    return parked_record(mpu9250(), HOUR)


def draw_allan(figure: Figure) -> None:
    times = LENGTHS / RATE
    for axes, (part, (white, walk, correlation, _)) in zip(figure.subplots(1, 2), MPU9250.items(), strict=True):
        axes.loglog(times, allan_deviation(whole_record()[:, AXES[part]], LENGTHS), ".", label="Airloom, 1 h")
        axes.loglog(times, expected_deviation(times, white, walk, correlation), label="expected")
        axes.loglog(times, white / np.sqrt(times), ":", color="gray", label="N/√τ")
        axes.loglog(times, walk * np.sqrt(times / 3), "--", color="gray", label="K√(τ/3)")
        low, high = white / 10, walk * 10
        axes.set(title=part, xlabel="averaging time τ, s", ylabel=f"Allan deviation, {UNITS[part]}", ylim=(low, high))
    axes.legend(frameon=False, loc="upper left")


def noise_rows(part: str) -> list[Row]:
    """N from white noise alone at 1 s, K from the bias alone at 3 s, and both together at several times."""
    white, walk, correlation, _ = MPU9250[part]
    at = AXES[part]
    n = allan_deviation(parked_record(mpu9250(walk=False), HOUR)[:, at], np.array([round(RATE)]))[0]
    k = allan_deviation(parked_record(mpu9250(white=False), HOUR)[:, at], np.array([round(3 * RATE)]))[0]
    lengths = np.array([1, 5, 50, 500, 5000])
    ratio = allan_deviation(whole_record()[:, at], lengths) / expected_deviation(
        lengths / RATE, white, walk, correlation
    )
    unit = UNITS[part]
    return [
        Row(f"{part}: white noise density, σ(τ = 1 s)", float(n), white, 0.03 * white, f"{unit}/√Hz"),
        Row(f"{part}: bias random walk, σ(τ = 3 s)", float(k), walk, 0.05 * walk, f"{unit}/s/√Hz"),
        *(
            Row(
                f"{part}: all noise, measured over expected σ(τ = {m / RATE:g} s)", float(r), 1.0, 0.005 + sqrt(m) / 800
            )
            for m, r in zip(lengths, ratio, strict=True)
        ),
    ]


def turn_on_biases(seeds: int) -> np.ndarray:
    """Turn-on biases of as many IMUs, as the sensor draws them: seeds × 6."""
    errors = {part: {"turn_on_bias": bias} for part, (_, _, _, bias) in MPU9250.items()}
    imu = Imu("imu", "body", RATE, Imu.Parameters.model_validate(errors))
    rows = np.array([imu.row(stream_key(seed, "body", "imu"))[ERRORS:MEMORY] for seed in range(seeds)])
    return rows.reshape(seeds, CHANNELS, ERROR_WIDTH)[:, :6, BIAS]


@case(
    "IMU noise of the MPU-9250 in CrazyS",
    "CrazyS: Silano, Iannelli (2020), table 3 (`mpu9250_crazys`); Allan deviation as in IEEE Std 952-1997, annex C",
)
def imu_noise() -> Outcome:
    """An IMU at rest is recorded for an hour at 500 Hz. White noise of density N has the Allan deviation N/√τ, read at
    1 s; a bias random walk K has K√(τ/3), read at 3 s. Each is recorded alone, then both together, where the model of
    the bias is a Gauss-Markov process of correlation time T:
    σ² = N²/τ + (K²T²/τ) (1 − (T/2τ)(3 − 4e^(−τ/T) + e^(−2τ/T))).

    With the paper's numbers the drifting bias outweighs the white noise from 30 ms on. The turn-on bias is drawn
    once a run; its spread is taken over 2000 seeds.
    """
    rows = [row for part in MPU9250 for row in noise_rows(part)]
    biases = turn_on_biases(2000)
    for part, (_, _, _, sigma) in MPU9250.items():
        measured = float(np.sqrt(np.mean(biases[:, AXES[part]] ** 2)))
        rows.append(Row(f"{part}: turn-on bias, 1 σ", measured, sigma, 0.04 * sigma, UNITS[part]))
    return Outcome(rows, draw_allan, "Allan deviation of an hour at rest against the expected curve.")


TABLE_3_1 = {
    "gyroscope x": (0.67, "°/s"), "gyroscope y": (0.78, "°/s"), "gyroscope z": (0.12, "°/s"),
    "accelerometer x": (0.04, "m/s²"), "accelerometer y": (0.06, "m/s²"), "accelerometer z": (0.07, "m/s²"),
}  # fmt: skip


@case(
    "IMU noise of the hardware-in-the-loop system",
    "Development of HILS based on Pixhawk and Gazebo (thesis), table 3.1, 500 Hz",
)
def hil_imu_noise() -> Outcome:
    """The thesis gives the standard deviation of a sample of each axis at 500 Hz. The sensor `hil_imu` must give them
    back; its mean must be the truth. Taken over 400 000 samples at rest.
    """
    hover = Simulation.load("hover", overrides={"vehicles.cf.sensors.imu": "hil_imu"})
    imu = hover.scenario.vehicles["cf"].sensors["imu"]
    readings = parked_record({"kind": imu.kind, "rate": imu.rate, **imu.parameters}, 800.0)
    readings[:, :3] = np.degrees(readings[:, :3])
    rows = [
        Row(f"{axis}, 1 σ", float(np.std(readings[:, k])), sigma, 0.005 * sigma, unit)
        for k, (axis, (sigma, unit)) in enumerate(TABLE_3_1.items())
    ]
    means = zip(TABLE_3_1.items(), np.mean(readings, axis=0), (0, 0, 0, 0, 0, 9.80665), strict=True)
    rows += [Row(f"{axis}, mean", float(m), truth, 0.005 * sigma, unit) for (axis, (sigma, unit)), m, truth in means]
    return Outcome(rows)


# -- places on Earth ---------------------------------------------------------------------------------------------------

ZURICH = (47.397742, 8.545594, 0.0)
HEADINGS = {"north": 0.0, "north-east": pi / 4, "east": pi / 2}
GEOD = Geod(ellps="WGS84")


@cache
def proj_topocentric(latitude: float, longitude: float, altitude: float) -> Transformer:
    return Transformer.from_pipeline(
        f"+proj=pipeline +step +inv +proj=topocentric +ellps=WGS84 +lat_0={latitude} +lon_0={longitude} "
        f"+h_0={altitude} +step +inv +proj=cart +ellps=WGS84"
    )


@cache
def proj_sphere(latitude: float, longitude: float) -> Transformer:
    return Transformer.from_pipeline(
        f"+proj=pipeline +step +inv +proj=aeqd +R=6371008.8 +lat_0={latitude} +lon_0={longitude}"
    )


def degrees(place) -> tuple[float, float, float]:
    return float(np.degrees(place[0])), float(np.degrees(place[1])), float(place[2])


def origin(place=ZURICH) -> tuple[float, float, float]:
    return radians(place[0]), radians(place[1]), place[2]


def sphere_error(distance: float, heading: float) -> float:
    """Level distance between the place by the spherical formula and the place on WGS-84, by Airloom, m."""
    east, north = distance * sin(heading), distance * cos(heading)
    latitude, longitude, _ = sphere_to_geodetic(east, north, 0.0, *origin())
    height = local_to_geodetic(east, north, 0.0, *origin())[2]
    x, y, _ = geodetic_to_local(latitude, longitude, height, *origin())
    return float(np.hypot(x - east, y - north))


def proj_sphere_error(distance: float, heading: float) -> float:
    """The same by PROJ: its own sphere, its own ellipsoid, its own geodesic."""
    east, north = distance * sin(heading), distance * cos(heading)
    longitude, latitude = proj_sphere(*ZURICH[:2]).transform(east, north)
    true_longitude, true_latitude, _ = proj_topocentric(*ZURICH).transform(east, north, 0.0)
    return GEOD.inv(longitude, latitude, true_longitude, true_latitude)[2]


def draw_sphere(figure: Figure) -> None:
    axes = figure.subplots()
    distances = np.logspace(1, 4, 31)
    for name, heading in HEADINGS.items():
        axes.loglog(distances, [sphere_error(d, heading) for d in distances], label=name)
    axes.set(xlabel="distance from the origin, m", ylabel="error of the spherical formula, m", xlim=(10, 1e4))
    axes.legend(frameon=False)


def largest_proj_gap() -> float:
    """Largest distance between our WGS-84 place and PROJ's for 500 points up to 20 km away on three continents, m."""
    random, worst = np.random.default_rng(1), 0.0
    for place in (ZURICH, (-33.9, 151.2, 20.0), (78.2, 15.6, 5.0), (0.0, -78.5, 2800.0)):
        points = random.uniform((-20e3, -20e3, -400.0), (20e3, 20e3, 4000.0), (125, 3))
        theirs = np.column_stack(proj_topocentric(*place).transform(*points.T))
        for point, (longitude, latitude, height) in zip(points, theirs, strict=True):
            ours = degrees(local_to_geodetic(*point, *origin(place)))
            level = GEOD.inv(ours[1], ours[0], longitude, latitude)[2]
            worst = max(worst, float(np.hypot(level, ours[2] - height)))
    return worst


@case(
    "Places on Earth",
    "Development of HILS based on Pixhawk and Gazebo (thesis), eq. 3.1; EPSG Guidance Note 7-2 (IOGP 373-7-2), "
    "worked example of EPSG method 9837; PROJ by pyproj",
)
def places_on_earth() -> Outcome:
    """GNSS turns local east, north, up into latitude, longitude, altitude on the WGS-84 ellipsoid, through
    earth-centred coordinates. It is checked on the example that EPSG publishes for topocentric coordinates, and against
    PROJ for 500 points.

    The hardware-in-the-loop thesis uses a sphere instead (its eq. 3.1, the inverse azimuthal equidistant projection),
    which Airloom offers as `earth: sphere`. The table shows what that costs: at 47.4° north 0.3 % of the way
    east, where the ellipsoid is curved more gently than the sphere, and 0.015 % of the way north. Our error and PROJ's
    for the same formula must agree.
    """
    target = (radians(53 + 48 / 60 + 33.820 / 3600), radians(2 + 7 / 60 + 46.380 / 3600), 73.0)
    local = geodetic_to_local(*target, radians(55.0), radians(5.0), 200.0)
    published = (-189013.869, -128642.040, -4220.171)
    rows = [
        Row(f"EPSG's example, {n}", local[k], published[k], 1e-3, "m") for k, n in enumerate(("east", "north", "up"))
    ]
    back = degrees(local_to_geodetic(*local, radians(55.0), radians(5.0), 200.0))
    rows.append(Row("EPSG's example, latitude back", back[0], degrees(target)[0], 1e-11, "°"))
    rows.append(Row("EPSG's example, longitude back", back[1], degrees(target)[1], 1e-11, "°"))
    rows.append(Row("largest distance to PROJ, 500 points", largest_proj_gap(), 0.0, 1e-3, "m"))
    for distance in (100.0, 1000.0, 5000.0, 10000.0):
        for name, heading in HEADINGS.items():
            ours, theirs = sphere_error(distance, heading), proj_sphere_error(distance, heading)
            rows.append(Row(f"error of eq. 3.1, {distance:g} m {name}", ours, theirs, 1e-3, "m"))
    return Outcome(rows, draw_sphere, "What the spherical formula costs, at 47.4° north.")


# -- atmosphere --------------------------------------------------------------------------------------------------------

ISO_2533 = {
    0: (1013.25, 288.150, 1.22500), 500: (954.608, 284.900, 1.16727), 1000: (898.746, 281.650, 1.11164),
    2000: (794.952, 275.150, 1.00649), 5000: (540.199, 255.650, 0.736116), 11000: (226.321, 216.650, 0.363918),
}  # fmt: skip
"""Geopotential altitude (m): pressure (hPa), temperature (K), density (kg/m³)."""


@case("Standard atmosphere", "ISO 2533:1975, *Standard Atmosphere*, table 5 (geopotential altitude)")
def standard_atmosphere() -> Outcome:
    """Below 11 km the temperature falls by L = 6.5 K/km, and p = p₀ (1 − L h/T₀)^(g M/(R L)), ρ = p/(R T). The table's
    altitude is geopotential; Airloom takes the geometric one, which makes 0.16 m of difference at 1000 m.
    """
    rows = []
    for altitude, (pressure, temperature, density) in ISO_2533.items():
        ours = air_pressure(altitude, 101325.0, 288.15) / 100.0
        rows.append(Row(f"pressure at {altitude} m", ours, pressure, 1e-3, "hPa"))
        rows.append(Row(f"temperature at {altitude} m", air_temperature(altitude, 288.15), temperature, 1e-3, "K"))
        rows.append(Row(f"density at {altitude} m", air_density(altitude, 101325.0, 288.15), density, 1e-5, "kg/m³"))
    return Outcome(rows)


# -- mounting ----------------------------------------------------------------------------------------------------------

ARM = np.array([0.10, 0.02, 0.03])


def spin_reading(on: str, step: float, center: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> np.ndarray:
    """The IMU of a body that turns about its centre of mass with 10 rad/s and falls freely."""
    velocity = np.cross((0.0, 0.0, -10.0), center)
    imu = {"kind": "imu", "rate": 125, "position": tuple(ARM)}
    turning = spinning(
        (0.01, 0.01, 0.018), (0, 0, 10), center_of_mass=center, sensors={"odometry": {"kind": "odometry"}, "imu": imu}
    )
    turning["motion"]["velocity"] = tuple(velocity)
    turning["sensors"]["odometry"]["rate"] = 125
    sim = simulate(turning, on, step)
    sim.run(until=0.08)
    return the_body(sim).readings["imu"]


def tumble_reading(step: float) -> tuple[np.ndarray, np.ndarray]:
    """IMU of the tumbling asymmetric body at 1.6 s, and ω̇ × r + ω × (ω × r) from the closed form."""
    imu = {"kind": "imu", "rate": 125, "position": tuple(ARM)}
    sensors = {"odometry": {"kind": "odometry", "rate": 125}, "imu": imu}
    sim = simulate(spinning(TOP, TOP_START, sensors=sensors), "rk4", step, NO_GRAVITY)
    sim.run(until=1.6)
    rates = asymmetric_top(np.array([1.6]), TOP, TOP_START)[0]
    acceleration = -np.cross(rates, TOP * rates) / TOP
    return the_body(sim).readings["imu"], np.cross(acceleration, ARM) + np.cross(rates, np.cross(rates, ARM))


@case("Lever arm of the IMU", "kinematics of a rigid body, f = ω̇ × r + ω × (ω × r)")
def imu_lever_arm() -> Outcome:
    """An IMU at r from the centre of mass of a freely falling body that turns with ω feels ω̇ × r + ω × (ω × r) and no
    gravity. Airloom gives an IMU the mean acceleration of the tick that ends, in the axes at its end, so an origin away
    from the centre of mass, or a changing rate, shows an error of half a tick's turn for RK4 and a whole one for Euler:
    it halves with the step.
    """
    rows = []
    for on in ENGINES:
        reading = spin_reading(on, 0.001)
        for k, name in enumerate("xy"):
            rows.append(
                Row(f"f_{name} turning at 10 rad/s, {LABELS[on]}", reading[3 + k], -100.0 * ARM[k], 1e-9, "m/s²")
            )
    center = (0.05, 0.0, 0.0)
    exact = np.array([-100.0 * (ARM[0] - center[0]), -100.0 * ARM[1], 0.0])
    for on, lag in (("rk4", 0.5), ("mujoco", 1.0)):
        errors = [spin_reading(on, step, center)[3:] - exact for step in (0.001, 0.0005)]
        expected = lag * 0.001 * 10.0 * 5.0
        rows.append(
            Row(f"centre of mass 5 cm off, error at 1 ms, {LABELS[on]}", largest(errors[0]), expected, 1e-3, "m/s²")
        )
        rows.append(
            Row(f"that error over the one at 0.5 ms, {LABELS[on]}", largest(errors[0]) / largest(errors[1]), 2.0, 0.02)
        )
    reading, force = tumble_reading(0.001)
    rows += [Row(f"f_{n} of a tumbling body, RK4", reading[3 + k], force[k], 1e-3, "m/s²") for k, n in enumerate("xyz")]
    return Outcome(rows)


@case("Magnetometer and rangefinder by hand", "rotation of a vector; height over cosine")
def mounted_sensors() -> Outcome:
    """A magnetometer on a vehicle with roll 10°, pitch 20°, yaw 30°, itself turned by 40° about z, reads the world's
    field in its own axes. A rangefinder that looks α off the vertical from a height h reads h / cos α; one that looks
    at a box reads the distance to its face.
    """
    field, angles = np.array([1.1e-6, 21.5e-6, -43.0e-6]), np.radians([10.0, 20.0, 30.0])
    tilted = dict(zip(("roll", "pitch", "yaw"), map(float, angles), strict=True))
    slanted = {"kind": "rangefinder", "rate": 125, "pitch": pi / 2 - 0.3, "max_distance": 100.0}
    ahead = {"kind": "rangefinder", "rate": 125, "pitch": 0.0, "position": (0.1, 0.0, 0.0)}
    compass = {"kind": "magnetometer", "rate": 125, "yaw": radians(40.0)}
    odometry = {"kind": "odometry", "rate": 125}
    sim = simulate(body(pose={"position": (0, 0, 9), **tilted}, sensors={"odometry": odometry, "compass": compass}))
    sim.step(0)
    sim.state_hash()
    turn = Rotation.from_euler("ZYX", angles[::-1]) * Rotation.from_euler("z", 40.0, degrees=True)
    reading, exact = 1e6 * the_body(sim).readings["compass"], 1e6 * turn.inv().apply(field)
    rows = [Row(f"field along {n}", float(reading[k]), float(exact[k]), 1e-9, "µT") for k, n in enumerate("xyz")]
    world = {"obstacles": {"wall": {"shape": "box", "size": (2, 4, 20), "position": (6, 0, 10)}}}
    sensors = {"odometry": odometry, "slanted": slanted, "ahead": ahead}
    sim = simulate(body(pose={"position": (0, 0, 9)}, sensors=sensors), world=world)
    sim.state_hash()
    readings = the_body(sim).readings
    rows.append(Row("0.3 rad off the vertical from 9 m", float(readings["slanted"][0]), 9.0 / cos(0.3), 1e-9, "m"))
    rows.append(Row("wall 5 m ahead, sensor 0.1 m in front", float(readings["ahead"][0]), 4.9, 1e-9, "m"))
    return Outcome(rows)


# -- rays --------------------------------------------------------------------------------------------------------------

SOLIDS = {
    "box": {"shape": "box", "size": (4, 3, 3), "position": (10, 6, 1.5), "yaw": 0.4},
    "pillar": {"shape": "cylinder", "size": (4, 4, 5), "position": (5, -8, 2.5)},
    "ball": {"shape": "sphere", "size": (6, 6, 6), "position": (-8, -4, 3)},
}
REACH = 60.0
WIDE = body(pose={"position": (0, 0, 500)}, body={"size": (50, 50, 0.1)})
"""MuJoCo has ground only where a vehicle may touch it: this one may touch all."""


def rough_ground() -> dict:
    """Eleven by nine heights at random, a metre of standard deviation."""
    heights = np.random.default_rng(3).normal(0.0, 1.0, (9, 11))
    return {"kind": "heightfield", "size": (70, 64), "center": (2, -3), "heights": heights.tolist()}


def inside_a_solid(x: float, y: float, z: float) -> bool:
    """Roughly, and rather too often."""
    return any(
        np.hypot(x - s["position"][0], y - s["position"][1]) < 3.1 and z < s["size"][2] + 0.1 for s in SOLIDS.values()
    )


def rays_to_compare(sim: Simulation, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Points above the ground and directions, most of them downwards."""
    random, world, rays = np.random.default_rng(4), sim.fleet.flight.world, []
    while len(rays) < count:
        x, y = random.uniform(-30, 30, 2)
        point = np.array([x, y, ground(world, x, y)[0] + random.uniform(0.1, 8.0)])
        direction = random.normal(size=3)
        direction[2] = direction[2] if len(rays) % 3 == 0 else -abs(direction[2])
        if not (sim.scenario.world.obstacles and inside_a_solid(*point)):
            rays.append((point, direction / np.linalg.norm(direction)))
    return rays


def ray_gaps(world: dict, count: int = 2000) -> np.ndarray:
    """Our distances minus MuJoCo's."""
    sim = simulate(WIDE, "mujoco", world=world)
    model, data, hit = sim.engine.model, sim.engine.data, np.zeros(1, np.int32)
    gaps = []
    for point, direction in rays_to_compare(sim, count):
        theirs = mujoco.mj_ray(model, data, point, direction, None, 1, model.body("body").id, hit)
        theirs = theirs if 0.0 <= theirs <= REACH else REACH
        gaps.append(ray(sim.fleet.flight.world, *point, *direction, REACH) - theirs)
    return np.array(gaps)


@case("Rays against MuJoCo's", "`mj_ray` of MuJoCo 3.x/4.x")
def rays() -> Outcome:
    """The rangefinder's rays are Airloom's own code. 2000 random rays of up to 60 m each on a plane, on rough
    ground and among obstacles must meet what MuJoCo's `mj_ray` meets. MuJoCo keeps heights in single precision, which
    allows 10 µm on grazing rays. Rays that look straight down show that both split the cells of a height field along
    the same diagonal.
    """
    rough = rough_ground()
    sim = simulate(WIDE, "mujoco", world={"terrain": rough})
    model, data, hit = sim.engine.model, sim.engine.data, np.zeros(1, np.int32)
    down, gaps = np.array([0.0, 0.0, -1.0]), []
    for x, y in np.random.default_rng(5).uniform((-33, -35), (37, 29), (2000, 2)):
        height = 50.0 - mujoco.mj_ray(model, data, np.array([x, y, 50.0]), down, None, 1, model.body("body").id, hit)
        gaps.append(ground(sim.fleet.flight.world, x, y)[0] - height)
    rows = [Row("height of rough ground, largest difference", largest(np.array(gaps)), 0.0, 1e-6, "m")]
    for name, world in {
        "plane": {"terrain": {"kind": "plane", "height": 1.5}},
        "rough ground": {"terrain": rough},
        "obstacles": {"obstacles": SOLIDS},
    }.items():
        gaps = ray_gaps(world)
        rows.append(Row(f"rays on {name}, largest difference", largest(gaps), 0.0, 1e-5, "m"))
    return Outcome(rows)
