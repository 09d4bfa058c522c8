"""Flight: the step response published for the Crazyflie's controller."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

from airloom.simulation import Simulation
from validation.case import Outcome, Row, case, engine, history
from validation.rigid_body import LABELS

START, TARGET = 0.015, 1.0


def climb(on: str, until: float = 30.0) -> tuple[np.ndarray, np.ndarray]:
    """Times since the command and heights of the paper's Crazyflie, which is sent from the floor to 1 m."""
    sim = Simulation.load("crazys", overrides={"engine": engine(on)})
    times, states = history(sim, until, 0.01)
    return times, states[:, 2]


def expected_climb(until: float = 30.0) -> tuple[np.ndarray, np.ndarray]:
    """The same from the paper's equations alone: a point mass, the altitude PID, and no motor lag."""

    def change(_: float, state: np.ndarray) -> list[float]:
        height, speed, total = state
        error = TARGET - height
        pwm = np.clip(6874.0 + 70.0 * error + 3.15 * total - 373.0 * speed, 5156.0, 8163.0)
        thrust = 4 * 1.28192e-8 * (0.2685 * pwm + 426.24) ** 2
        return [speed, thrust / 0.027 - 9.8, error]

    times = np.arange(0.0, until + 0.005, 0.01)
    solution = solve_ivp(change, (0.0, until), [START, 0.0, 0.0], t_eval=times[times <= until], rtol=1e-9, atol=1e-9)
    return solution.t, solution.y[0]


def rise_and_overshoot(times: np.ndarray, heights: np.ndarray) -> tuple[float, float]:
    """Seconds until 90 % of the target, and the height above the target in percent of it."""
    return float(times[np.argmax(heights >= 0.9 * TARGET)]), 100.0 * (float(heights.max()) / TARGET - 1.0)


def draw_climb(figure: Figure) -> None:
    axes = figure.subplots()
    axes.plot(*expected_climb(), label="the paper's equations, SciPy")
    times, heights = climb("mujoco")
    axes.plot(times[::50], heights[::50], ".", label="Airloom, MuJoCo engine")
    axes.axhline(TARGET, color="gray", linewidth=0.8, linestyle=":")
    axes.set(xlabel="time, s", ylabel="height, m", xlim=(0, 30), ylim=(0, None))
    axes.legend(frameon=False, loc="lower right")


@case(
    "Step response of the CrazyS altitude controller",
    "Silano, Iannelli: *CrazyS* (2020), gains of the reference generator; with them 90 % after 7.7 s, overshoot 17 %",
)
def crazys_step() -> Outcome:
    """The Crazyflie stands on the floor and is sent to 1 m with the published gains and ideal odometry:
    PWM = 6874 + 70 e + 3.15 ∫e − 373 ż, limited to 5156 … 8163, ω = 0.2685 PWM + 426.24, thrust 4 k ω². The reference
    is that loop around a point mass, integrated by SciPy; and the figures known for these gains.
    """
    expected = rise_and_overshoot(*expected_climb())
    rows = []
    for on in ("rk4", "mujoco"):
        rise, overshoot = rise_and_overshoot(*climb(on))
        rows += [
            Row(f"time to 90 %, {LABELS[on]}, known figure", rise, 7.7, 0.1, "s"),
            Row(f"overshoot, {LABELS[on]}, known figure", overshoot, 17.0, 0.5, "%"),
            Row(f"time to 90 %, {LABELS[on]}, SciPy", rise, expected[0], 0.15, "s"),
            Row(f"overshoot, {LABELS[on]}, SciPy", overshoot, expected[1], 1.0, "%"),
        ]
    return Outcome(rows, draw_climb, "Height of the Crazyflie after a step from the floor to 1 m.")
