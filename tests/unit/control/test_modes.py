"""The six control modes: each law against a plain re-implementation at random states, limits, and switching."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

import airloom as al
from airloom.basics.rotations import matrix_from_quaternion
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.control.mixer import WANT_THRUST
from airloom.control.modes import ModesParameters, control_modes
from airloom.simulation import Simulation
from airloom.testing import run_scenario

CALM = {"world.wind": [0, 0, 0], "world.obstacles": {}, "systems": {}, "engine": "batch"}
GAINS = {
    "position_frequency": 0.7, "position_damping": 0.9, "velocity_gain": 1.3,
    "attitude_frequency": 6.0, "attitude_damping": 0.8, "yaw_frequency": 1.7, "yaw_damping": 1.1,
    "yaw_rate_gain": 2.5, "angular_velocity_gain": 4.0, "torque_observer": 0, "drift_observer": 0, "motor_lead": 1,
    "tilt_compensation": False, "max_speed": 1000, "max_tilt": 1.5,
}  # fmt: skip
INERTIA = {"xx": 0.03, "yy": 0.04, "zz": 0.05, "xy": 0.004, "xz": -0.003, "yz": 0.002}
HOME = (0.0, 0.0, 50.0)


def drone(controller: Any = "modes", gravity: float = 9.80665, **changes: Any) -> Simulation:
    start = {"extends": "x500", "controller": controller, "pose": {"position": list(HOME)}, **changes}
    return Simulation.load("waypoints", overrides={"vehicles.drone": start, **CALM, "world.gravity": gravity})


# -- the laws, as the README of uav_gazebo writes them -----------------------------------------------------------------


@dataclass
class State:
    """An estimate: position, velocity (world), attitude, rates (body)."""

    position: np.ndarray
    velocity: np.ndarray
    quaternion: np.ndarray
    rates: np.ndarray

    @property
    def rotation(self) -> np.ndarray:
        return matrix_from_quaternion(self.quaternion)

    @property
    def angles(self) -> np.ndarray:
        """ρ of R = Rx(φ) Ry(θ) Rz(ψ)."""
        R = self.rotation
        return np.array([np.arctan2(-R[1, 2], R[2, 2]), np.arcsin(R[0, 2]), np.arctan2(-R[0, 1], R[0, 0])])


def random_state(random: np.random.Generator) -> State:
    roll, pitch, yaw = random.uniform(-0.9, 0.9), random.uniform(-0.9, 0.9), random.uniform(-3.1, 3.1)
    x, y, z = (
        np.array([np.cos(a / 2), *(np.sin(a / 2) * axis)])
        for a, axis in zip((roll, pitch, yaw), np.eye(3), strict=True)
    )
    return State(
        random.normal(0, 3, 3), random.normal(0, 2, 3), product(product(x, y), z), random.normal(0, 1.5, 3)
    )  # fmt: skip


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


class Seed:
    """The control laws of uav_gazebo in the world frame, in matrices."""

    def __init__(self, mass: float, gravity: float, inertia: np.ndarray, gains: dict[str, float]) -> None:
        self.mass, self.gravity, self.inertia, self.gains = mass, gravity, inertia, gains

    def pd(self, name: str) -> tuple[float, float]:
        frequency, damping = self.gains[f"{name}_frequency"], self.gains[f"{name}_damping"]
        return frequency**2, 2 * damping * frequency

    def torque(self, s: State, world_acceleration: np.ndarray) -> np.ndarray:
        """τ = I ω̇ + ω × I ω with I = R I_b Rᵀ, and back in the body."""
        R = s.rotation
        world_inertia, omega = R @ self.inertia @ R.T, R @ s.rates
        return R.T @ (world_inertia @ world_acceleration + np.cross(omega, world_inertia @ omega))

    def angular_velocity(self, s: State, c: al.ThrustVelocity) -> tuple[float, np.ndarray]:
        R, k = s.rotation, self.gains["angular_velocity_gain"]
        to_world = np.eye(3) if c.world else R
        wanted, fed = to_world @ np.array(c.velocity), to_world @ np.array(c.acceleration)
        return c.thrust, self.torque(s, fed + k * (wanted - R @ s.rates))

    def attitude(
        self, s: State, thrust: float, angles: Any, rates: Any, yaw_gains: tuple[float, float]
    ) -> tuple[float, np.ndarray]:
        phi, theta, _ = s.angles
        sp, cp, st, ct = np.sin(phi), np.cos(phi), np.sin(theta), np.cos(theta)
        D = np.array([[1, 0, st], [0, cp, -sp * ct], [0, sp, cp * ct]])
        dphi, dtheta, _ = rate = np.linalg.solve(D, s.rotation @ s.rates)
        D_dot = np.array(
            [
                [0, 0, dtheta * ct],
                [0, -dphi * sp, -dphi * cp * ct + dtheta * sp * st],
                [0, dphi * cp, -dphi * sp * ct - dtheta * cp * st],
            ]
        )
        kp, kd = self.pd("attitude")
        error = np.array(angles) - s.angles
        error[2] = np.angle(np.exp(1j * error[2]))
        gains_p, gains_d = np.array([kp, kp, yaw_gains[0]]), np.array([kd, kd, yaw_gains[1]])
        pseudo = gains_d * (np.array(rates) - rate) + gains_p * error
        return thrust, self.torque(s, D @ pseudo + D_dot @ rate)

    def force(self, s: State, acceleration: np.ndarray, yaw: float, yaw_rate: float, yaw_gains: tuple[float, float]):
        self.wanted_force = f = self.mass * (acceleration + np.array([0, 0, self.gravity]))
        thrust = float(np.linalg.norm(f))
        angles = (np.arctan2(-f[1], f[2]), np.arcsin(f[0] / thrust), yaw)
        return self.attitude(s, thrust, angles, (0, 0, yaw_rate), yaw_gains)

    def position(self, s: State, c: al.PositionYaw) -> tuple[float, np.ndarray]:
        kp, kd = self.pd("position")
        acceleration = c.acceleration + kd * (c.velocity - s.velocity) + kp * (c.position - s.position)
        return self.force(s, acceleration, c.yaw, c.yaw_rate, self.pd("yaw"))

    def velocity(self, s: State, c: al.VelocityYawRate) -> tuple[float, np.ndarray]:
        R = s.rotation
        heading = np.arctan2(R[1, 0], R[0, 0]) if c.body_frame else 0.0
        turn = np.array([[np.cos(heading), -np.sin(heading), 0], [np.sin(heading), np.cos(heading), 0], [0, 0, 1]])
        error = turn @ np.array(c.velocity) - s.velocity
        acceleration = turn @ np.array(c.acceleration) + self.gains["velocity_gain"] * error
        return self.force(s, acceleration, s.angles[2], c.yaw_rate, (0.0, self.gains["yaw_rate_gain"]))

    def answer(self, s: State, c: Any) -> tuple[float, np.ndarray]:
        if isinstance(c, al.ThrustTorque):
            return c.thrust, s.rotation.T @ c.torque if c.world else np.array(c.torque)
        if isinstance(c, al.ThrustAttitude):
            return self.attitude(s, c.thrust, c.attitude, c.attitude_rates, self.pd("yaw"))
        if isinstance(c, al.ThrustVelocity):
            return self.angular_velocity(s, c)
        return self.position(s, c) if isinstance(c, al.PositionYaw) else self.velocity(s, c)


class Bench:
    """One vehicle whose estimate is set by hand."""

    def __init__(self, **gains: Any) -> None:
        self.gains = GAINS | gains
        self.sim = drone({"kind": "modes", **self.gains}, inertia=INERTIA, command_timeout=None)
        self.vehicle = self.sim.vehicles["drone"]
        self.block, self.rotors = self.sim.fleet.flight.blocks[0], self.sim.fleet.flight.rotors[0]
        w = self.block.reshape(-1, LANES)[:, 0]
        xx, yy, zz, xy, xz, yz = (w[first // LANES] for first in (row.JXX, row.JYY, row.JZZ, row.JXY, row.JXZ, row.JYZ))
        self.inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        self.gravity = self.sim.scenario.world.gravity
        self.seed = Seed(self.vehicle.mass, self.gravity, self.inertia, self.gains)
        self.max_thrust = 0.95 * float(self.vehicle.airframe.max_thrusts.sum())

    def can_give(self, force: np.ndarray) -> bool:
        """Whether no limit of Airloom's acts; uav_gazebo has none."""
        weight, level = self.vehicle.mass * self.gravity, np.hypot(force[0], force[1])
        tilt = min(self.gains["max_tilt"], np.arccos(weight / self.max_thrust))
        return bool(force[2] > 0.2 * weight and level < np.tan(tilt) * force[2] and force @ force < self.max_thrust**2)

    def wanted(self, state: State, command: Any) -> np.ndarray:
        """Thrust and torque that the kernel asks of the mixer."""
        self.vehicle.command(command)
        numbers = (*state.position, *state.velocity, *state.quaternion, *state.rates)
        self.block.reshape(-1, LANES)[row.EPX // LANES :][: len(numbers), 0] = numbers
        control_modes(self.block, self.rotors, 0)
        return self.block.reshape(-1, LANES)[WANT_THRUST // LANES :][:4, 0].copy()


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench()


def random_command(kind: Any, random: np.random.Generator) -> Any:
    def vector(size: float) -> tuple[float, ...]:
        return tuple(random.normal(0, size, 3))

    flag = bool(random.integers(2))
    if kind is al.PositionYaw:
        return kind(vector(2), random.uniform(-4, 4), vector(1), vector(0.5), random.normal())
    if kind is al.VelocityYawRate:
        return kind(vector(1), random.normal(), vector(0.5), flag)
    if kind is al.ThrustAttitude:
        return kind(random.uniform(5, 30), vector(0.4), vector(0.5))
    if kind is al.ThrustVelocity:
        return kind(random.uniform(5, 30), vector(1), vector(1), flag)
    return kind(random.uniform(5, 30), vector(0.1), flag)


KINDS = [al.PositionYaw, al.VelocityYawRate, al.ThrustAttitude, al.ThrustVelocity, al.ThrustTorque]


@pytest.mark.parametrize("kind", KINDS)
def test_laws_agree_with_the_seed_document(bench: Bench, kind: Any) -> None:
    random, compared = np.random.default_rng(1), 0
    for _ in range(200):
        state, command = random_state(random), random_command(kind, random)
        thrust, torque = bench.seed.answer(state, command)
        wanted = bench.wanted(state, command)
        if command.mode > 2 or bench.can_give(bench.seed.wanted_force):
            assert wanted == pytest.approx([thrust, *torque], rel=1e-9, abs=1e-9)
            compared += 1
    assert compared > 50


def test_a_vehicle_does_not_depend_on_the_modes_beside_it(bench: Bench) -> None:
    random, rows = np.random.default_rng(2), bench.block.reshape(-1, LANES)
    mixed = rows.copy()
    for lane, kind in enumerate([*KINDS, *KINDS[:2]]):
        bench.wanted(random_state(random), random_command(kind, random))
        mixed[:, lane] = rows[:, 0]
    mixed[row.MODE // LANES, LANES - 1] = al.Mode.IDLE
    for lane in range(LANES):
        alone = np.repeat(mixed[:, [lane]], LANES, axis=1)
        beside, answers = np.roll(mixed, -lane, axis=1), []
        for block in (alone, beside):
            rotors = bench.rotors.copy()
            control_modes(block.reshape(-1), rotors, 0)
            targets = rotors.reshape(-1, row.ROTOR_WIDTH)[:, row.TARGET]
            answers.append((block[: row.KEPT_ROWS, 0].tobytes(), targets.tobytes()))
        assert answers[0] == answers[1]


def test_yaw_turns_the_short_way(bench: Bench) -> None:
    level = State(np.zeros(3), np.zeros(3), np.array([np.cos(1.5), 0, 0, np.sin(1.5)]), np.zeros(3))  # yaw 3
    assert bench.wanted(level, al.PositionYaw((0, 0, 0), yaw=-3.0))[3] > 0
    assert bench.wanted(level, al.PositionYaw((0, 0, 0), yaw=2.5))[3] < 0


def quaternion_of(angles: Any) -> np.ndarray:
    """Of Rx(φ) Ry(θ) Rz(ψ)."""
    turns = [np.array([np.cos(a / 2), *(np.sin(a / 2) * axis)]) for a, axis in zip(angles, np.eye(3), strict=True)]
    return product(product(turns[0], turns[1]), turns[2])


def test_roll_and_pitch_turn_the_short_way(bench: Bench) -> None:
    state = State(np.zeros(3), np.zeros(3), quaternion_of((2.9, 0.2, 0.4)), np.array([0.1, 0.2, 0.3]))
    for turned in ((2 * np.pi, 0, 0), (-4 * np.pi, 0, 0), (0, 2 * np.pi, 0), (2 * np.pi, -2 * np.pi, 6 * np.pi)):
        plain = al.ThrustAttitude(20.0, (-2.9, 0.1, 0.2))
        same = al.ThrustAttitude(20.0, tuple(np.add(plain.attitude, turned)))
        assert bench.wanted(state, same) == pytest.approx(bench.wanted(state, plain), abs=1e-9)
    _, x, _, _ = bench.wanted(state, al.ThrustAttitude(20.0, (-2.9, 0.2, 0.4)))
    assert x > 0.0  # by 0.48 rad over 180°, not back by 5.8


def test_steep_attitudes_give_way_smoothly(bench: Bench) -> None:
    """Over all pitches the wanted torque has no jump, and up to 72° it is that of the angles."""
    pitches = np.linspace(1.1, 2.0, 901)
    state = State(np.zeros(3), np.zeros(3), quaternion_of((0.1, 1.0, 0.2)), np.array([0.1, 0.2, 0.3]))
    torques = np.array([bench.wanted(state, al.ThrustAttitude(20.0, (0.2, pitch, 0.1)))[1:] for pitch in pitches])
    assert np.abs(np.diff(torques, axis=0)).max() < 0.02
    for pitch, torque in zip(pitches, torques, strict=True):
        if np.cos(pitch) > 0.3:
            _, law = bench.seed.attitude(state, 20.0, (0.2, pitch, 0.1), (0, 0, 0), bench.seed.pd("yaw"))
            assert torque == pytest.approx(law, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    "attitude",
    [(2 * np.pi, 0, 0), (0, 2 * np.pi, 0.5), (3.0, 0, 0), (0, 1.5, 0), (0, np.pi / 2, 0.5), (0, -np.pi / 2, 0),
     (0, 1.62, 0), (0.3, 2.2, 0.2), (0, np.pi, 0), (np.pi / 2, np.pi / 2, np.pi / 2)],
)  # fmt: skip
def test_any_attitude_is_reached_and_held(attitude: tuple[float, float, float]) -> None:
    """Without gravity, so that it stays slow: the air would turn a fast one a little."""
    sim = drone(command_timeout=None, gravity=0.0)
    vehicle = sim.vehicles["drone"]
    vehicle.command(al.ThrustAttitude(2.0, attitude))
    sim.run(until=8.0)
    error = 2 * np.arccos(min(abs(quaternion_of(attitude) @ vehicle.attitude), 1.0))
    assert error < 0.02
    assert np.linalg.norm(vehicle.rates) < 0.01


@pytest.mark.parametrize("attitude", [(np.pi, 0, 0), (0, np.pi / 2, 0), (1.0, 1.5, 2.0), (0, -1.5, 0.3)])
def test_a_vehicle_in_any_attitude_is_caught(attitude: tuple[float, float, float]) -> None:
    sim = in_flight("batch", 100.0)
    vehicle = sim.vehicles["drone"]
    vehicle._set(row.QW, quaternion_of(attitude))
    vehicle.recover()
    sim.run(until=16.0)
    assert np.linalg.norm(vehicle.velocity) < 0.1
    assert vehicle.position[2] > 50.0


def test_the_tilt_in_the_log_is_along_the_heading(bench: Bench) -> None:
    """Facing north, flying north is a nose-down pitch, not the X-Y-Z roll that the law uses."""
    north = State(np.zeros(3), np.zeros(3), np.array([np.sqrt(0.5), 0, 0, np.sqrt(0.5)]), np.zeros(3))
    bench.wanted(north, al.VelocityYawRate((0, 1, 0)))
    _, roll, pitch, _ = bench.block.reshape(-1, LANES)[row.COMMAND // LANES :][:4, 0]
    assert roll == pytest.approx(0.0, abs=1e-9)
    assert pitch == pytest.approx(np.arctan(GAINS["velocity_gain"] / bench.gravity))


# -- limits ------------------------------------------------------------------------------------------------------------

LEVEL = State(np.zeros(3), np.zeros(3), np.array([1.0, 0, 0, 0]), np.zeros(3))


def test_thrust_never_exceeds_what_the_rotors_leave() -> None:
    bench = Bench()
    for velocity in [(0, 0, 100), (100, 0, 100), (100, 100, 0)]:
        assert bench.wanted(LEVEL, al.VelocityYawRate(velocity))[0] <= bench.max_thrust + 1e-9
    assert bench.wanted(LEVEL, al.ThrustTorque(34.0))[0] == pytest.approx(bench.max_thrust)


def test_a_fast_descent_keeps_some_thrust() -> None:
    bench = Bench()
    weight = bench.vehicle.mass * bench.gravity
    assert bench.wanted(LEVEL, al.VelocityYawRate((0, 0, -100)))[0] == pytest.approx(0.2 * weight)


def test_tilt_is_limited() -> None:
    bench = Bench(max_tilt=0.2)
    bench.wanted(LEVEL, al.VelocityYawRate((100, 0, 0)))
    assert bench.block[row.COMMAND + 2 * LANES] == pytest.approx(0.2)


def test_a_far_setpoint_is_approached_with_limited_speed() -> None:
    sim = drone({"extends": "modes", "max_speed": 2.0})
    sim.vehicles["drone"].command(al.PositionYaw((40, 0, 50)))
    speeds = np.linalg.norm(run_scenario(sim, steps=15_000, every=50).velocities("drone"), axis=1)
    assert 1.5 < speeds.max() < 2.2


def test_yaw_is_given_up_first_where_rotors_saturate(bench: Bench) -> None:
    bench.wanted(LEVEL, al.ThrustTorque(20.0, (0.3, -0.2, 30.0)))
    frame = bench.vehicle.airframe
    speeds = np.minimum(bench.vehicle._targets, [r.max_speed for r in frame.rotors])
    wrench = frame.allocation @ ([r.thrust_constant for r in frame.rotors] * speeds**2)
    assert wrench[:3] == pytest.approx([20.0, 0.3, -0.2], abs=1e-9)
    assert 0 < wrench[3] < 30.0


# -- modes and their commands ------------------------------------------------------------------------------------------


def test_a_vehicle_starts_idle() -> None:
    sim = drone()
    sim.step(200)
    assert sim.vehicles["drone"].mode is al.Mode.IDLE
    assert np.all(sim.vehicles["drone"].rotor_speeds == 0.0)


def test_every_mode_keeps_its_last_command() -> None:
    """Commands for five modes, then back to each: the same thrust and torque as when it was given."""
    bench, random = Bench(), np.random.default_rng(3)
    commands = [random_command(kind, random) for kind in KINDS]
    first = [bench.wanted(LEVEL, command) for command in commands]
    for command, wanted in zip(commands, first, strict=True):
        bench.vehicle.switch_mode(command.mode)
        control_modes(bench.block, bench.rotors, 0)
        assert np.array_equal(bench.block.reshape(-1, LANES)[WANT_THRUST // LANES :][:4, 0], wanted)


def test_a_command_without_switching_waits_for_its_mode() -> None:
    sim = drone()
    vehicle = sim.vehicles["drone"]
    vehicle.command(al.PositionYaw(HOME))
    vehicle.command(al.VelocityYawRate((1, 0, 0)), switch=False)
    sim.run(until=3.0)
    assert vehicle.mode is al.Mode.POSITION_YAW
    assert np.abs(vehicle.velocity).max() < 0.05
    vehicle.switch_mode("velocity_yawrate")
    sim.run(until=3.9)
    assert vehicle.velocity[0] > 0.7


@pytest.mark.parametrize("mode", ["position_yaw", "velocity_yawrate"])
def test_without_a_command_a_mode_holds_the_vehicle_where_it_is(mode: str) -> None:
    sim = drone(motion={"velocity": (1.0, 0.0, 0.0)}, command_timeout=None)
    vehicle = sim.vehicles["drone"]
    vehicle.switch_mode(mode)
    sim.run(until=8.0)
    assert vehicle.mode is al.Mode.named(mode)
    assert np.linalg.norm(vehicle.position - HOME) < 1.5
    assert np.linalg.norm(vehicle.velocity) < 0.05


@pytest.mark.parametrize("mode", ["thrust_attitude", "thrust_velocity", "thrust_torque"])
def test_without_a_command_a_thrust_mode_carries_the_weight(mode: str) -> None:
    sim = drone(command_timeout=None)
    vehicle = sim.vehicles["drone"]
    vehicle.command(al.PositionYaw(HOME, 1.2))
    sim.run(until=8.0)
    vehicle.switch_mode(mode)
    sim.run(until=9.0)
    assert np.linalg.norm(vehicle.position - HOME) < 0.1
    assert vehicle.euler[2] == pytest.approx(1.2, abs=0.02)


@pytest.mark.parametrize("name", ["velocity_yawrate", "Velocity Yaw Rate", "VELOCITY-YAWRATE", "2", 2, al.Mode(2)])
def test_modes_go_by_many_names(name: Any) -> None:
    assert al.Mode.named(name) is al.Mode.VELOCITY_YAWRATE


# -- kill, recovery, reset in flight -----------------------------------------------------------------------------------


def in_flight(engine: str, height: float = HOME[2]) -> Simulation:
    start = {"extends": "x500", "controller": "modes", "pose": {"position": [0, 0, height], "yaw": 0.5}}
    sim = Simulation.load("waypoints", overrides={"vehicles.drone": start, **CALM, "engine": engine})
    sim.vehicles["drone"].command(al.PositionYaw((0, 0, height), 0.5))
    sim.run(until=3.0)
    return sim


@pytest.mark.parametrize("engine", ["mujoco", "batch"])
def test_a_killed_vehicle_drops_and_is_caught(engine: str) -> None:
    sim = in_flight(engine)
    vehicle = sim.vehicles["drone"]
    vehicle.kill()
    sim.run(until=4.0)
    assert vehicle.velocity[2] < -8.0
    assert vehicle.rotor_speeds.max() < 1.0
    vehicle.recover()
    below = vehicle.setpoint.position
    sim.run(until=16.0)
    assert vehicle.position == pytest.approx(below, abs=0.1)
    assert np.linalg.norm(vehicle.velocity) < 0.05


@pytest.mark.parametrize("engine", ["mujoco", "batch"])
def test_reset_pose_puts_it_back_idle_and_forgets_its_commands(engine: str) -> None:
    sim = in_flight(engine)
    vehicle = sim.vehicles["drone"]
    vehicle.command(al.PositionYaw((5, 5, 45)))
    sim.run(until=6.0)
    vehicle.reset_pose()
    assert vehicle.position == pytest.approx(HOME)
    assert vehicle.euler[2] == pytest.approx(0.5)
    assert not vehicle.armed
    assert np.all(vehicle.rotor_speeds == 0.0)
    vehicle.switch_mode("position_yaw")
    sim.run(until=16.0)
    assert vehicle.position == pytest.approx(HOME, abs=0.1)


class Spinner(al.Controller):
    """In plain Python, which is not asked while idle."""

    def control(self, vehicle: al.Vehicle) -> np.ndarray:
        return np.full(4, 500.0)


def test_kill_stops_a_controller_in_plain_python() -> None:
    sim = drone({"kind": f"{__file__}:Spinner", "rate": 250})
    vehicle = sim.vehicles["drone"]
    vehicle.command(al.PositionYaw(HOME))
    sim.step(500)
    assert vehicle.rotor_speeds == pytest.approx(500.0, rel=1e-3)
    vehicle.kill()
    sim.step(500)
    assert vehicle.rotor_speeds.max() < 1e-3


# -- what comes from outside -------------------------------------------------------------------------------------------


def flown_at(velocity: tuple[float, float, float], wind: tuple[float, float, float], **start: Any) -> np.ndarray:
    """Heights above the first and velocities, told by velocity from a hover in that wind for 12 s."""
    sim = drone(command_timeout=None, **start)
    vehicle = sim.vehicles["drone"]
    vehicle.set_wind(wind)
    vehicle.command(al.PositionYaw(HOME))
    sim.run(until=6.0)
    vehicle.command(al.VelocityYawRate(velocity))
    states = []
    while sim.time < 18.0:
        sim.step(50)
        states.append([vehicle.position[2] - HOME[2], *vehicle.velocity])
    return np.array(states)


@pytest.mark.parametrize("vehicle", ["crazyflie2", "x500", "sprayer"])
@pytest.mark.parametrize("wind", [(0, 0, 0), (-6, 3, 0)])
def test_a_velocity_is_reached_and_the_height_held(vehicle: str, wind: tuple[float, float, float]) -> None:
    flown = flown_at((5, 0, 0), wind, extends=vehicle)
    assert flown[-1, 1:] == pytest.approx([5, 0, 0], abs=0.01)
    assert np.abs(flown[:, 0]).max() < (0.15 if any(wind) else 0.06)
    assert flown[:, 1].max() < 5.1


def test_a_velocity_that_cannot_be_reached_winds_nothing_up() -> None:
    """Against a wind that takes all the lean, then with none: it does not shoot ahead."""
    sim = drone(command_timeout=None, extends="multirotor")
    vehicle = sim.vehicles["drone"]
    vehicle.set_wind((-12, 0, 0))
    vehicle.command(al.VelocityYawRate((5, 0, 0)))
    sim.run(until=10.0)
    assert vehicle.velocity[0] < 1.0
    vehicle.set_wind((0, 0, 0))
    fastest = 0.0
    while sim.time < 16.0:
        sim.step(50)
        fastest = max(fastest, vehicle.velocity[0])
    assert fastest < 7.0
    assert vehicle.velocity == pytest.approx([5, 0, 0], abs=0.02)


@pytest.mark.parametrize("mode", ["position", "velocity"])
def test_a_load_that_nobody_told_of_is_carried(mode: str) -> None:
    sim = drone(command_timeout=None)
    vehicle = sim.vehicles["drone"]
    vehicle.command(al.PositionYaw(HOME) if mode == "position" else al.VelocityYawRate((0, 0, 0)))
    vehicle.push((0.0, 0.0, -0.2 * vehicle.mass * 9.80665))
    sim.run(until=10.0)
    assert np.linalg.norm(vehicle.velocity) < 0.005
    assert vehicle.position == pytest.approx(HOME, abs=0.01 if mode == "position" else 0.6)


# -- gains -------------------------------------------------------------------------------------------------------------


def sampled_poles(frequency: float, damping: float, dt: float) -> np.ndarray:
    """Of PD control with a hold of dt on a double integrator."""
    kp, kd = frequency**2, 2 * damping * frequency
    step = np.array([[1 - kp * dt**2 / 2, dt - kd * dt**2 / 2], [-kp * dt, 1 - kd * dt]])
    return np.abs(np.linalg.eigvals(step))


@pytest.mark.parametrize("damping", [0.05, 0.3, 1.0, 2.0])
def test_unstable_gains_are_refused_and_others_are_not(damping: float) -> None:
    for frequency in np.geomspace(1, 1000, 40):
        stable = bool((sampled_poles(frequency, damping, 0.004) < 1).all())
        try:
            ModesParameters(rate=250, attitude_frequency=frequency, attitude_damping=damping)
            accepted = True
        except ValidationError:
            accepted = False
        assert accepted == stable, frequency


def test_gains_are_tuned_from_the_airframe_or_given() -> None:
    tuned, seed = drone(), drone("uav_gazebo")
    assert tuned.vehicles["drone"].gains["position_frequency"] is None
    position, tilt, _ = tuned.fleet.crafts[0].controller.frequencies()
    assert (position, seed.vehicles["drone"].gains_in_force["velocity_gain"]) == (pytest.approx(tilt / 5), 1.0)
    assert tuned.vehicles["drone"].gains_in_force["velocity_gain"] == pytest.approx(tilt / 4)
    assert seed.fleet.crafts[0].controller.frequencies() == (0.5, 5.0, 1.5)


def test_tuning_in_flight_changes_the_flight() -> None:
    answers = []
    for frequency in (1.0, 2.0):
        sim = in_flight("batch")
        sim.vehicles["drone"].tune(position_frequency=frequency)
        sim.vehicles["drone"].command(al.PositionYaw((1, 0, 50), 0.5))
        sim.run(until=4.5)
        answers.append(sim.vehicles["drone"].position[0])
    assert 0.2 < answers[0] < answers[1] - 0.2


# -- determinism -------------------------------------------------------------------------------------------------------


def busy_hash(engine: str, chunk: int) -> str:
    """Orders in all modes, and commands from outside between the chunks' common ends."""
    sim = Simulation.load("modes", seed=5, overrides={"engine": engine, "vehicles.drone.sensors.odometry": "mocap"})
    for end in (3000, 13_100, 23_700, 30_900):
        while sim.tick < end:
            sim.step(min(chunk, end - sim.tick))
        sim.vehicles["drone"].command(al.VelocityYawRate((0.1, 0.2, end / 1e5), 0.3), switch=False)
        sim.vehicles["drone"].tune(attitude_damping=1.0 + end / 1e5)
    return sim.state_hash()


@pytest.mark.parametrize("engine", ["mujoco", "batch"])
def test_commands_between_chunks_do_not_depend_on_the_chunks(engine: str) -> None:
    assert busy_hash(engine, 1) == busy_hash(engine, 10_000) == busy_hash(engine, 77)


# -- the bundled scenario ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["mujoco", "batch"])
def test_the_scenario_goes_through_all_modes_and_ends_in_a_hover(engine: str) -> None:
    seen = set()
    sim = Simulation.load("modes", overrides={"engine": engine})
    flown = run_scenario(sim, steps=50_000, every=50, post_update=lambda sim: seen.add(sim.vehicles["drone"].mode))
    assert seen == set(al.Mode)
    assert not sim.warnings
    assert flown.positions("drone")[flown.times > 8, 2].min() > 2.0
    assert flown.positions("drone")[-1] == pytest.approx([0, 0, 8], abs=0.1)
    assert np.linalg.norm(flown.velocities("drone")[-1]) < 0.05
