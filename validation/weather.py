"""The air: turbulence, gusts, profiles, density, and the drag of parts."""

from __future__ import annotations

from functools import cache
from math import cos, exp, log, pi

import numpy as np
from matplotlib.figure import Figure
from scipy.signal import welch

from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.scenario.models import Scenario
from airloom.simulation import Simulation
from airloom.world.atmosphere import humid_air_density
from validation.case import Outcome, Row, body, case, simulate, the_body

FOOT, KNOT = 0.3048, 1852 / 3600

# -- Dryden turbulence -------------------------------------------------------------------------------------------------

HEIGHT, RATE, SECONDS, BODIES = 10.0, 20.0, 600.0, 96
WIND = 8.0  # m/s, eastward
SPEEDS = {"in hover": 0.0, "flying upwind at 12 m/s": -12.0}
BANDS = ((0.02, 0.1), (0.1, 0.5), (0.5, 2.0))  # Hz


@cache
def flown_winds(velocity: float, standard: str) -> np.ndarray:
    """[component, body, sample]: what bodies feel, far apart across the wind, that move along it; without the mean."""
    moving = body(
        pose={"position": (0, 0, HEIGHT)}, motion={"velocity": (velocity, 0, 0)},
        copies={"count": BODIES, "columns": 1, "spacing": 800.0}, 
        sensors={"odometry": {"kind": "odometry", "rate": RATE}}, estimator={"kind": "ideal", "rate": RATE},
    )  # fmt: skip
    layers = {"turbulence": {"kind": "dryden", "standard": standard, "intensity": "light"}}
    fields = {
        "name": "turbulence", "step": 1 / RATE, "duration": SECONDS, "engine": {"kind": "batch"}, "log": {"rate": RATE},
        "world": {"gravity": 0, "wind": (WIND, 0, 0), "weather": {"rate": RATE, "layers": layers}},
        "vehicles": {"body": moving},
    }  # fmt: skip
    sim = Simulation(Scenario.model_validate(fields))
    winds = np.empty((round(SECONDS * RATE), 3, BODIES))
    for line in winds:
        sim.step()
        rows = sim.fleet.flight.blocks[:, row.WINDX : row.WINDX + 3 * LANES].reshape(-1, 3, LANES)
        line[:] = rows.transpose(1, 0, 2).reshape(3, -1)[:, :BODIES]
    return winds.transpose(1, 2, 0) - np.array([WIND, 0, 0])[:, None, None]


def scale_and_sigma(standard: str) -> dict[str, tuple[float, float]]:
    """L and σ of u, v, w at the height, in the notation of each standard, for 15 knots at 20 feet."""
    feet = HEIGHT / FOOT
    base, w20 = 0.177 + 0.000823 * feet, 15 * KNOT
    half = 0.5 if standard == "MIL-HDBK-1797" else 1.0
    along, sigma = feet / base**1.2 * FOOT, 0.1 * w20 / base**0.4
    return {"u": (along, sigma), "v": (half * along, sigma), "w": (half * HEIGHT, 0.1 * w20)}


def spectrum(component: str, standard: str, frequency: np.ndarray, airspeed: float) -> np.ndarray:
    """One-sided, (m/s)²/Hz, as each standard prints it for ω = 2πf."""
    scale, sigma = scale_and_sigma(standard)[component]
    a = scale * 2 * pi * frequency / airspeed
    if component == "u":
        shape = 2 / (1 + a**2)
    elif standard == "MIL-HDBK-1797":
        shape = 2 * (1 + 12 * a**2) / (1 + 4 * a**2) ** 2
    else:
        shape = (1 + 3 * a**2) / (1 + a**2) ** 2
    return 2 * pi * sigma**2 * scale / (pi * airspeed) * shape


def measured(series: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    frequency, power = welch(series, RATE, nperseg=4096, axis=-1, detrend=False)
    return frequency[1:], power.mean(axis=0)[1:]


def draw_spectra(figure: Figure) -> None:
    for axes, (label, velocity) in zip(figure.subplots(1, 2, sharey=True), SPEEDS.items(), strict=True):
        winds = flown_winds(velocity, "MIL-F-8785C")
        for name, series, colour in zip("uw", winds[[0, 2]], ("C0", "C1"), strict=True):
            frequency, power = measured(series)
            axes.loglog(frequency, power, color=colour, alpha=0.5, label=f"{name}, flown")
            formula = spectrum(name, "MIL-F-8785C", frequency, WIND - velocity)
            axes.loglog(frequency, formula, color="black", linewidth=0.8, linestyle="-" if name == "u" else "--",
                        label=f"{name}, standard")  # fmt: skip
        axes.set(title=label, xlabel="frequency, Hz", xlim=(0.005, 5), ylim=(1e-3, 200))
    figure.axes[0].set_ylabel("(m/s)²/Hz")
    figure.axes[1].legend(frameon=False)


@case("Dryden turbulence", "MIL-F-8785C (1980), 3.7; MIL-HDBK-1797 (1997), 4.9")
def dryden() -> Outcome:
    """96 bodies, 800 m apart across a mean wind of 8 m/s, feel light turbulence 10 m above the ground for 600 s,
    standing still and flying upwind. σ of each component is compared with the standards' formulas. So is the
    power in three bands of frequency (Welch's estimate of what was flown, over the integral of the standard's spectrum
    with the airspeed as V), in the notation of each standard. 20 Hz of sampling fold a little power back into the
    highest band, and levels of the lattice 50 % apart in height blend scales: 10 % are allowed, for σ 4 %.
    """
    rows = []
    for standard in ("MIL-F-8785C", "MIL-HDBK-1797"):
        for label, velocity in SPEEDS.items():
            winds = flown_winds(velocity, standard)
            for name, series in zip("uvw", winds, strict=True):
                sigma = scale_and_sigma(standard)[name][1]
                rows.append(Row(f"{standard}, {label}: σ of {name}", float(series.std()), sigma, 0.04 * sigma, "m/s"))
                frequency, power = measured(series)
                formula = spectrum(name, standard, frequency, WIND - velocity)
                for low, high in BANDS:
                    band = (frequency >= low) & (frequency < high)
                    share = float(power[band].sum() / formula[band].sum())
                    rows.append(Row(f"{standard}, {label}: power of {name}, {low:g}–{high:g} Hz", share, 1.0, 0.1))
    return Outcome(rows, draw_spectra, "Turbulence that vehicles met, beside the standard's spectra.")


# -- gusts and profiles ------------------------------------------------------------------------------------------------


def air(**world):
    return simulate(body(pose={"position": (0, 0, 50)}), world=world).weather


@case("Gusts and profiles", "MIL-F-8785C, 3.7.2.3; Stull, *An Introduction to Boundary Layer Meteorology* (1988), 9.7")
def gusts_and_profiles() -> Outcome:
    """A gust of 6 m/s that starts at 2 s and rises for 1.5 s is 6/2 (1 − cos(π s/1.5)) m/s. A wind of 5 m/s at 10 m
    is 5 ln(h/z₀)/ln(10/z₀) at the height h over short grass, z₀ = 0.03 m, and 5 (h/10)^(1/7) by the power law.
    """
    gust = air(
        weather={"layers": {"gust": {"kind": "gust", "velocity": (6, 0, 0), "start": 2, "rise": 1.5, "hold": 2}}}
    )
    rows = [
        Row(f"gust {s:g} s after its start", float(gust.wind((0, 0, 5), 2 + s)[0]), expected, 1e-9, "m/s")
        for s, expected in ((0.5, 3 * (1 - cos(pi / 3))), (1.5, 6.0), (3.0, 6.0), (4.25, 3.0), (5.1, 0.0))
    ]
    laws = {"logarithmic": lambda h: log(h / 0.03) / log(10 / 0.03), "power": lambda h: (h / 10) ** (1 / 7)}
    for name, law in laws.items():
        sky = air(wind=(5, 0, 0), weather={"layers": {"ground": {"kind": "profile", "law": name}}})
        rows += [
            Row(f"{name} profile at {h:g} m", float(sky.wind((0, 0, h))[0]), 5 * law(h), 1e-9, "m/s")
            for h in (0.5, 2.0, 10.0, 80.0)
        ]
    return Outcome(rows)


# -- density -----------------------------------------------------------------------------------------------------------

ISA = {0.0: 1.22500, 1000.0: 1.11164, 2000.0: 1.00649, 3000.0: 0.909122, 5000.0: 0.736116}
"""kg/m³ by geopotential altitude, ISO 2533:1975, table 1."""
HUMID = ((101325.0, 20.0, 0.5), (101325.0, 35.0, 0.9), (95000.0, 5.0, 1.0), (85000.0, 15.0, 0.3))
"""Pa, °C, relative humidity"""


def cipm_density(pressure: float, celsius: float, humidity: float) -> float:
    """CIPM-2007 in full, with enhancement factor and compressibility, for 400 ppm of carbon dioxide."""
    t, kelvin = celsius, celsius + 273.15
    saturation = exp(1.2378847e-5 * kelvin**2 - 1.9121316e-2 * kelvin + 33.93711047 - 6.3431645e3 / kelvin)
    x = humidity * (1.00062 + 3.14e-8 * pressure + 5.6e-7 * t**2) * saturation / pressure
    first = 1.58123e-6 - 2.9331e-8 * t + 1.1043e-10 * t**2 + (5.707e-6 - 2.051e-8 * t) * x
    first += (1.9898e-4 - 2.376e-6 * t) * x**2
    z = 1 - pressure / kelvin * first + (pressure / kelvin) ** 2 * (1.83e-11 - 0.765e-8 * x**2)
    return 3.483740e-3 * pressure / (z * kelvin) * (1 - 0.3780 * x)


@case(
    "Density of the air",
    "ISO 2533:1975; CIPM-2007: Picard, Davis, Gläser, Fujii, *Metrologia* 45 (2008), 149–155",
)
def air_densities() -> Outcome:
    """Dry air is that of the standard atmosphere. Humid air is a mixture of ideal gases here; the international formula
    for metrologists also has what real gases differ by, less than 0.1 %. A vehicle's thrust follows: at 3000 m in the
    standard atmosphere a rotor lifts 0.7421 of what it lifts at the sea.
    """
    rows = [
        Row(f"dry, {altitude:g} m", float(humid_air_density(altitude, 101325.0, 288.15, 0.0)), expected, 2e-5, "kg/m³")
        for altitude, expected in ISA.items()
    ]
    for pressure, celsius, humidity in HUMID:
        ours = float(humid_air_density(0.0, pressure, celsius + 273.15, humidity))
        reference = cipm_density(pressure, celsius, humidity)
        label = f"{pressure / 100:g} hPa, {celsius:g} °C, {100 * humidity:g} % humid"
        rows.append(Row(label, ours, reference, 1e-3 * reference, "kg/m³"))
    for on in ("rk4", "mujoco"):
        lifts = [_lift(on, density) for density in ("standard", "actual")]
        rows.append(Row(f"thrust at 3000 m, {on}", lifts[1] / lifts[0], ISA[3000.0] / ISA[0.0], 1e-4))
    return Outcome(rows)


def _lift(on: str, density: str) -> float:
    """Vertical speed after 50 ms of full thrust without gravity."""
    world = {"gravity": 0, "origin": {"altitude": 2990.0}, "weather": {"density": density, "humidity": 0.0}}
    sim = simulate(body(pose={"position": (0, 0, 10)}), on, world=world)
    the_body(sim).set_rotor_speeds([900.0])
    sim.step(50)
    return float(the_body(sim).velocity[2])


# -- drag --------------------------------------------------------------------------------------------------------------


@case("Drag of each part in the wind", "the sprayer thesis' wind-drag plugin, its Figures 5 and 6: F = c |u| u")
def part_drags() -> Outcome:
    """A vehicle moves at (1.2, −0.7, 0.4) m/s in a wind of (4.5, 3, 0) m/s. Its base has the coefficient 0.3 and its
    tank 0.5, as in the thesis; the apparent wind is (3.3, 3.7, −0.4) m/s, of 4.974 m/s. By hand the base is dragged by
    0.3 · 4.974 · (3.3, 3.7, −0.4) N. `/wind/info` tells these numbers, and the vehicle is accelerated by their sum.
    """
    parts = {"base": {"coefficient": 0.3}, "tank": {"coefficient": 0.5}}
    rows = []
    for on in ("euler", "mujoco"):
        moving = body(drag=parts, motion={"velocity": (1.2, -0.7, 0.4)}, mass=4.0)
        sim = simulate(moving, on, world={"gravity": 0, "wind": (4.5, 3.0, 0.0)})
        told: list = []
        sim.bus.subscribe("/wind/info", lambda topic, message, time, told=told: told.append(message))
        sim.step(1)
        for k, (name, coefficient) in enumerate((("base", 0.3), ("tank", 0.5))):
            force, speed = told[0].drag_force[k], 4.9739320
            for axis, expected in zip("xyz", (3.3, 3.7, -0.4), strict=True):
                reference = coefficient * speed * expected
                rows.append(Row(f"{name}, {axis}, {on}", getattr(force, axis), reference, 1e-6, "N"))
        gained = (the_body(sim).velocity - [1.2, -0.7, 0.4]) / 1e-3
        for axis, ours, expected in zip("xyz", gained, (3.3, 3.7, -0.4), strict=True):
            rows.append(Row(f"acceleration, {axis}, {on}", float(ours), 0.8 * 4.9739320 * expected / 4.0, 1e-6, "m/s²"))
    return Outcome(rows)
