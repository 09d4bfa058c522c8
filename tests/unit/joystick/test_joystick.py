"""Flying by hand: every button and axis, on a real simulation; and SDL with a joystick that exists in memory only."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Iterator
from math import nan, pi
from pathlib import Path

import numpy as np
import pytest
from tests.hands import Hand, shown

from airloom.commands import Mode
from airloom.compiled import rows as row
from airloom.joystick import Mapping, StickError, StickState, sdl
from airloom.joystick.stick import torque_at_hover
from airloom.scenario import ScenarioError
from airloom.simulation import Simulation
from airloom.vehicle import Vehicle

SCENARIO = """
name: hand
duration: 60
engine: batch
vehicles:
  drone: {{extends: multirotor, controller: {controller}, pose: {{position: [1, 2, 5], yaw: 0.5}}}}
systems: {systems}
"""
WEIGHT = 9.80665
HALF = 0.55  # beyond the dead zone of 0.1, half of what is left


def load(folder: Path, controller: str = "modes", systems: str = "{}") -> Simulation:
    file = folder / "hand.yaml"
    file.write_text(SCENARIO.format(controller=controller, systems=systems), encoding="utf-8")
    return Simulation.load(file)


@pytest.fixture
def hand(tmp_path: Path) -> Hand:
    return Hand(load(tmp_path))


def events(sim: Simulation) -> list[str]:
    found: list[str] = []
    sim.bus.subscribe("/events", lambda topic, message, time: found.append(message.text))
    return found


def rows(vehicle: Vehicle, first: int, count: int) -> np.ndarray:
    return vehicle._get(first, count)


# -- buttons -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("button", "mode"), [("cross", 1), ("circle", 2), ("square", 3), ("triangle", 4), ("l1", 5), ("r1", 0)]
)
def test_mode_buttons(hand: Hand, button: str, mode: int) -> None:
    hand.press("cross" if mode != 1 else "circle")
    hand.press(button)
    assert hand.vehicle.mode == mode


def test_a_button_acts_once_when_it_goes_down(hand: Hand) -> None:
    hand.stick.feed(shown("circle"))
    hand.vehicle.kill()
    hand.stick.feed(shown("circle"))
    assert hand.vehicle.mode is Mode.IDLE


def test_idle_wins_over_every_other_button(hand: Hand) -> None:
    hand.press("cross")
    hand.press("circle", "r1", "r2", "share")
    assert hand.vehicle.mode is Mode.IDLE
    assert hand.vehicle.position == pytest.approx([1, 2, 5])


def test_a_button_held_when_the_stick_comes_does_nothing(hand: Hand) -> None:
    hand.stick.let_go()
    hand.stick.feed(shown("circle"))
    assert hand.vehicle.mode is Mode.IDLE


def test_takeoff_and_landing(tmp_path: Path) -> None:
    hand = Hand(load(tmp_path))
    hand.vehicle.place((0.0, 0.0, 0.05))
    hand.press("r2")
    hand.hold(12)
    assert hand.vehicle.position == pytest.approx([0, 0, 6.05], abs=0.2)
    hand.press("l2")
    hand.hold(25)
    assert hand.vehicle.mode is Mode.IDLE
    assert hand.vehicle.position[2] < 0.1


def test_moving_a_stick_ends_a_takeoff(hand: Hand) -> None:
    hand.press("r2")
    hand.hold(1.5)
    before = hand.vehicle.position[2]
    hand.hold(0.1, left_x=-0.2)
    hand.hold(5)
    assert hand.vehicle.mode is Mode.POSITION_YAW
    assert before < hand.vehicle.position[2] < before + 3


# -- a hand that begins with velocities --------------------------------------------------------------------------------


@pytest.fixture(params=["modes", "cascade"])
def begins_with_velocity(tmp_path: Path, request) -> Hand:
    """In the air; `cascade` flies to positions only."""
    sim = load(tmp_path, controller=request.param)
    sim.vehicles["drone"].place((0, 0, 3))
    sim.vehicles["drone"].recover()
    return Hand(sim, first_mode=Mode.VELOCITY_YAWRATE)


def test_a_push_moves_and_letting_go_stays(begins_with_velocity: Hand) -> None:
    hand = begins_with_velocity
    assert hand.stick.mode is Mode.VELOCITY_YAWRATE
    hand.hold(3, left_y=-1.0)
    assert hand.vehicle.velocity[0] == pytest.approx(1.0, abs=0.1)
    hand.hold(3)
    assert 2.5 < hand.vehicle.position[0] < 4.5, "neither 10 m away nor back at home"
    assert np.linalg.norm(hand.vehicle.velocity) < 0.1


def test_it_goes_where_it_looks(begins_with_velocity: Hand) -> None:
    hand = begins_with_velocity
    hand.hold(np.pi / 2, right_x=-1.0)
    hand.hold(3, left_y=-1.0)
    assert hand.vehicle.velocity[1] == pytest.approx(1.0, abs=0.15)


def test_a_target_stays_near_a_vehicle_that_cannot_follow(begins_with_velocity: Hand) -> None:
    hand = begins_with_velocity
    hand.hold(12, right_y=1.0)
    hand.hold(2.5, right_y=-1.0)
    assert hand.vehicle.position[2] > 0.5, "the ground is left at once"


def test_a_button_chooses_another_mode_until_the_next_takeoff(begins_with_velocity: Hand) -> None:
    hand = begins_with_velocity
    hand.press("cross")
    hand.hold(0.1)
    assert hand.stick.mode is Mode.POSITION_YAW
    hand.press("r2")
    hand.hold(1)
    assert hand.stick.mode is Mode.POSITION_YAW
    hand.hold(0.1, left_x=-0.5)
    assert hand.stick.mode is Mode.VELOCITY_YAWRATE


@pytest.mark.parametrize("braked", [False, True])
def test_a_hand_that_comes_back_goes_on_unless_the_vehicle_was_braked(tmp_path: Path, braked: bool) -> None:
    hand = Hand(load(tmp_path), first_mode=Mode.VELOCITY_YAWRATE)
    hand.press("square")
    hand.stick.let_go()
    if braked:
        hand.vehicle.recover()
    hand.hold(0.1)
    assert hand.stick.mode is (Mode.VELOCITY_YAWRATE if braked else Mode.THRUST_ATTITUDE)


def test_a_hand_arms_nobody(tmp_path: Path) -> None:
    hand = Hand(load(tmp_path), first_mode=Mode.VELOCITY_YAWRATE)
    hand.hold(0.5, right_y=-1.0)
    assert hand.stick.mode is Mode.IDLE
    hand.press("r2")
    hand.hold(12)
    assert hand.stick.mode is Mode.VELOCITY_YAWRATE


@pytest.mark.parametrize("button", ["left_stick", "right_stick"])
def test_stick_buttons_reset_the_pose(hand: Hand, button: str) -> None:
    hand.press("circle")
    hand.hold(1, left_y=-1.0)
    hand.press(button)
    assert hand.vehicle.position == pytest.approx([1, 2, 5])
    assert hand.vehicle.mode is Mode.IDLE


def test_share_hovers_at_the_restart_position(hand: Hand) -> None:
    hand.press("share")
    assert hand.vehicle.position == pytest.approx([0, 0, 6])
    hand.hold(5)
    assert hand.vehicle.position == pytest.approx([0, 0, 6], abs=0.2)


def test_share_restarts_the_pursuit(tmp_path: Path) -> None:
    hand = Hand(load(tmp_path), route=[(0.0, 0.0, 6.0), (20.0, 0.0, 6.0)])
    hand.press("share")
    hand.hold(4)
    assert hand.vehicle.position[0] > 2
    hand.press("share")
    assert hand.vehicle.position == pytest.approx([0, 0, 6])
    hand.hold(20)
    assert hand.vehicle.position == pytest.approx([20, 0, 6], abs=0.5)


def test_a_mode_that_the_controller_cannot_fly_is_refused(tmp_path: Path) -> None:
    hand = Hand(load(tmp_path, controller="cascade"))
    hand.press("cross")
    hand.press("l1")
    assert hand.vehicle.mode is Mode.POSITION_YAW
    assert "refused" in hand.sim.warnings[-1]


# -- sticks ------------------------------------------------------------------------------------------------------------


def test_position_is_home_and_up_to_ten_metres(hand: Hand) -> None:
    hand.press("cross")
    hand.stick.feed(shown(left_y=-1.0, left_x=-HALF, right_y=HALF, right_x=-HALF))
    assert hand.vehicle.setpoint.position == pytest.approx((11, 7, 0))
    assert hand.vehicle.setpoint.yaw == pytest.approx(0.5 + pi / 2)


def test_position_flies_there_and_back(hand: Hand) -> None:
    hand.press("cross")
    hand.hold(8, left_y=-HALF)
    assert hand.vehicle.position == pytest.approx([6, 2, 5], abs=0.2)
    hand.hold(8)
    assert hand.vehicle.position == pytest.approx([1, 2, 5], abs=0.2)


def test_velocity_and_yaw_rate(hand: Hand) -> None:
    hand.press("circle")
    hand.stick.feed(shown(left_y=-1.0, left_x=1.0, right_y=-HALF, right_x=HALF))
    assert rows(hand.vehicle, row.BVX, 3) == pytest.approx([1, -1, 0.5])
    assert rows(hand.vehicle, row.BVX, 8)[6:] == pytest.approx([-0.5, 1])


def test_velocity_is_along_the_heading(hand: Hand) -> None:
    hand.press("circle")
    hand.hold(5, left_y=-1.0)
    assert hand.vehicle.velocity == pytest.approx([np.cos(0.5), np.sin(0.5), 0], abs=0.1)


def test_thrust_and_attitude(hand: Hand) -> None:
    hand.press("square")
    hand.stick.feed(shown(left_y=-HALF, left_x=-HALF, right_y=-HALF))
    assert rows(hand.vehicle, row.ATHRUST, 4) == pytest.approx([WEIGHT + 5, -pi / 2, pi / 2, 0.5])


def test_leaning_forward_and_left_moves_forward_and_left(hand: Hand) -> None:
    hand.vehicle.place((0.0, 0.0, 5.0))
    hand.press("square")
    hand.hold(1.0, left_y=-0.15, left_x=-0.15)
    assert hand.vehicle.velocity[0] > 0.3
    assert hand.vehicle.velocity[1] > 0.3


def test_thrust_and_angular_velocity(hand: Hand) -> None:
    hand.press("triangle")
    hand.stick.feed(shown(left_y=-1.0, left_x=1.0, right_x=-HALF, right_y=HALF))
    assert rows(hand.vehicle, row.RTHRUST, 4) == pytest.approx([WEIGHT - 5, pi, pi, pi / 2])


def test_thrust_and_torque_stay_within_the_vehicles_reach(hand: Hand) -> None:
    hand.press("l1")
    hand.stick.feed(shown(left_y=-1.0))
    thrust, *torque = rows(hand.vehicle, row.QTHRUST, 4)
    airframe = hand.vehicle.airframe
    thrusts = airframe.mixer @ [thrust, *torque]
    assert torque == pytest.approx([0, torque_at_hover(hand.vehicle)[1], 0])
    assert thrusts.min() == pytest.approx(0, abs=1e-9)
    assert thrusts.max() <= airframe.max_thrusts.max()


def test_thrust_is_never_negative(hand: Hand) -> None:
    hand.press("triangle")
    hand.stick.feed(shown(right_y=1.0))
    assert rows(hand.vehicle, row.RTHRUST, 1) == 0


@pytest.mark.parametrize(("raw", "meant"), [(0, 0), (0.1, 0), (-0.09, 0), (HALF, -0.5), (1, -1), (-1, 1)])
def test_dead_zone_is_rescaled(raw: float, meant: float) -> None:
    assert Mapping.load("ps4").sticks(shown(left_y=raw)).x == pytest.approx(meant)


@pytest.mark.parametrize("bad", [nan, 1.5, -1.01, float("inf")])
def test_impossible_axes_are_refused(bad: float) -> None:
    with pytest.raises(StickError, match="axis 0 is"):
        StickState([bad, 0.0, 0.0, 0.0], [])


def test_a_device_with_too_few_buttons_is_refused(hand: Hand) -> None:
    with pytest.raises(StickError, match="uses 12 buttons, but the device has 3"):
        hand.stick.feed(StickState([0.0] * 4, [False] * 3))


def test_nobody_feeding_lets_the_guard_brake(hand: Hand) -> None:
    hand.press("circle")
    hand.hold(3, left_y=-1.0)
    assert np.linalg.norm(hand.vehicle.velocity) > 0.8
    hand.stick.let_go()
    hand.sim.run(hand.sim.time + 6)
    assert hand.vehicle.mode is Mode.POSITION_YAW
    assert np.linalg.norm(hand.vehicle.velocity) < 0.05
    hand.hold(3)
    assert np.linalg.norm(hand.vehicle.velocity) < 0.05


def test_states_are_published(hand: Hand) -> None:
    found = []
    hand.sim.bus.subscribe("/drone/joy", lambda topic, message, time: found.append(message))
    hand.stick.feed(shown("circle", left_x=0.5))
    assert found[0].axes.tolist() == [0.5, 0, 0, 0]
    assert found[0].buttons.tolist() == [0, 1] + [0] * 15


# -- mapping files -----------------------------------------------------------------------------------------------------

GOOD = "axes: {x: {axis: 1}, y: {axis: 0}, z: {axis: 3}, yaw: {axis: right_x}}\nbuttons: {cross: takeoff, 7: land}\n"


def test_axes_and_buttons_by_number(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(GOOD, encoding="utf-8")
    mapping = Mapping.load(tmp_path / "own.yaml")
    assert mapping.sticks(shown(left_y=1.0)).x == 1.0
    assert mapping.actions(shown("r2")) == {"land"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            GOOD.replace("right_x", "rigth_x"),
            "line 1: axes.yaw.axis: 'rigth_x' is not an axis; did you mean 'right",
        ),
        (GOOD.replace("cross", "cros"), "did you mean 'cross'?"),
        (GOOD.replace("takeoff", "loop"), "buttons.cross: must be 'idle', 'position_yaw'"),
        (GOOD + "dead_zone: 1\n", "line 3: dead_zone: must be less than 1, got 1"),
        (GOOD + "scales: {velocity: .nan}\n", "scales.velocity"),
        (GOOD + "deadzone: 0.1\n", "unknown key; did you mean 'dead_zone'?"),
        ("buttons: {}\n", "axes: is missing"),
        ("- 1\n", "must hold keys and values"),
    ],
)
def test_bad_mapping_files(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "own.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError) as error:
        Mapping.load(tmp_path / "own.yaml")
    assert message in str(error.value)


def test_unknown_mapping() -> None:
    with pytest.raises(ScenarioError, match="no mapping is called 'ps5'; did you mean 'ps4'"):
        Mapping.load("ps5")


# -- SDL ---------------------------------------------------------------------------------------------------------------

GAME_CONTROLLER, UNKNOWN = 1, 0
LEFT_Y, TRIGGER_RIGHT, CIRCLE, R1 = 1, 5, 1, 10  # as SDL numbers them


class VirtualDevice:
    """A device that SDL believes to be plugged in."""

    def __init__(self, kind: int = GAME_CONTROLLER) -> None:
        pygame = pytest.importorskip("pygame", reason="pygame is not installed: pip install 'airloom[joystick]'")
        sdl.names()
        self._library = ctypes.CDLL(_sdl_library())
        if not hasattr(self._library, "SDL_JoystickAttachVirtual"):
            pytest.skip("this SDL has no virtual joysticks")
        index = self._library.SDL_JoystickAttachVirtual(kind, 6, 15, 0)
        if index < 0:
            pytest.skip("SDL cannot make a virtual joystick here")
        self._index, self._joystick = index, pygame.joystick.Joystick(index)
        self._library.SDL_JoystickFromInstanceID.restype = ctypes.c_void_p
        self._handle = ctypes.c_void_p(self._library.SDL_JoystickFromInstanceID(self._joystick.get_instance_id()))

    def move(self, axis: int, value: int) -> None:
        self._library.SDL_JoystickSetVirtualAxis(self._handle, axis, ctypes.c_int16(value))

    def button(self, button: int, down: bool) -> None:
        self._library.SDL_JoystickSetVirtualButton(self._handle, button, ctypes.c_uint8(down))

    def unplug(self) -> None:
        self._library.SDL_JoystickDetachVirtual(self._index)


def _sdl_library() -> str:
    lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    found = {line.split()[-1] for line in lines if "libSDL2-2" in line}
    if not found:
        pytest.skip("cannot find the SDL library that pygame has loaded")
    return found.pop()


@pytest.fixture
def plugged_in() -> Iterator[list[VirtualDevice]]:
    """Devices to be unplugged in the end."""
    if importlib.util.find_spec("pygame") is None:
        pytest.skip("pygame is not installed: pip install 'airloom[joystick]'")
    if sdl.names():
        pytest.skip("a real game controller is plugged in")
    devices: list[VirtualDevice] = []
    yield devices
    for device in devices:
        device.unplug()
    sdl.names()


def test_sdl_game_controller(plugged_in: list[VirtualDevice]) -> None:
    plugged_in.append(VirtualDevice())
    device = sdl.find("virtual")
    assert device is not None
    plugged_in[0].move(LEFT_Y, -32768)
    plugged_in[0].move(TRIGGER_RIGHT, 32767)
    plugged_in[0].button(R1, True)
    assert device.state() == shown("r1", "r2", left_y=-1.0)


def test_sdl_unknown_device_shows_its_own_order(plugged_in: list[VirtualDevice]) -> None:
    plugged_in.append(VirtualDevice(UNKNOWN))
    device = sdl.find(0)
    assert device is not None
    plugged_in[0].move(4, -32768)
    plugged_in[0].button(3, True)
    state = device.state()
    assert state is not None
    assert (len(state.axes), len(state.buttons)) == (6, 15)
    assert state.axes[4] == -1.0
    assert [number for number, down in enumerate(state.buttons) if down] == [3]


def test_sdl_finds_only_what_is_wanted(plugged_in: list[VirtualDevice]) -> None:
    plugged_in.append(VirtualDevice())
    assert sdl.find(1) is None
    assert sdl.find("dualshock") is None


def test_system_from_plugging_in_to_unplugging_and_back(plugged_in: list[VirtualDevice], tmp_path: Path) -> None:
    sim = load(tmp_path, systems="{stick: {kind: joystick, vehicle: drone}}")
    drone, told = sim.vehicles["drone"], events(sim)
    sim.run(0.5)
    assert "no game controller" in sim.warnings[0]
    assert len(sim.warnings) == 1

    pad = VirtualDevice()
    sim.run(0.6)
    assert any("drone is flown with Virtual Controller" in text for text in told)
    pad.button(CIRCLE, True)
    pad.move(LEFT_Y, -32768)
    sim.run(4)
    assert drone.mode is Mode.VELOCITY_YAWRATE
    assert np.linalg.norm(drone.velocity) == pytest.approx(1, abs=0.15)

    pad.unplug()
    sim.run(10)
    assert any("was unplugged: nobody commands now" in text for text in told)
    assert any("braking to a hover" in text for text in told)
    assert drone.mode is Mode.POSITION_YAW
    assert np.linalg.norm(drone.velocity) < 0.05

    plugged_in.append(VirtualDevice())
    sim.run(10.1)
    plugged_in[0].button(R1, True)
    sim.run(10.2)
    assert drone.mode is Mode.IDLE


def test_system_tells_when_the_device_does_not_suit(plugged_in: list[VirtualDevice], tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(GOOD.replace("7:", "40:"), encoding="utf-8")
    plugged_in.append(VirtualDevice(UNKNOWN))
    sim = load(tmp_path, systems="{stick: {kind: joystick, mapping: own.yaml}}")
    sim.run(1)
    assert [text for text in sim.warnings if "uses 41 buttons, but the device has 15" in text] == sim.warnings


def test_system_without_pygame(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing() -> None:
        raise sdl.NoSdl("game controllers need pygame: pip install 'airloom[joystick]'")

    monkeypatch.setattr(sdl, "_sdl", missing)
    with pytest.raises(ScenarioError, match=r"systems.stick: game controllers need pygame: pip install"):
        load(tmp_path, systems="{stick: joystick}")
