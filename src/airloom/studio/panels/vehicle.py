"""The vehicles: choose one, see how it is, tell it what to do, tune it, fly it by hand."""

from __future__ import annotations

import html
from collections.abc import Iterable
from functools import partial
from math import degrees
from typing import Any

import numpy as np
import viser

from airloom.basics.rotations import euler_from_quaternion
from airloom.commands import Mode
from airloom.scenario.models import Vehicle
from airloom.studio.panels.entity_tree import entity_tree
from airloom.studio.panels.gain_sliders import GainSliders
from airloom.studio.panels.hold_button import hold_button
from airloom.studio.panels.panel import Panel, StudioState
from airloom.studio.panels.styles import greyed
from airloom.studio.scene.target_mark import TargetMark
from airloom.studio.sources.source import ATTITUDE, MODE, POSITION, TARGET, VELOCITY, Snapshot, Status
from airloom.studio.web.viser_server import tab_of

NOBODY = "– none –"
LOWEST = 1.5  # m above the ground, where a vehicle on the ground is sent by a click
HANDS = {
    "idle": "rotors off, T takes off",
    "position_yaw": "position, it springs back",
    "velocity_yawrate": "velocity",
    "thrust_attitude": "attitude and thrust",
    "thrust_velocity": "turn rates and thrust",
    "thrust_torque": "torque and thrust",
    "takeoff": "taking off, a stick ends it",
    "landing": "landing, a stick ends it",
}
"""What the sticks mean, for those who hold them."""
IN_WATER = "thrusters off, T switches them on"
MODE_HINT = "Each mode goes on with its last command, as long as somebody looks on."
MODES = {mode.label.replace("_", " "): mode for mode in Mode}


class VehiclePanel(Panel):
    def __init__(self, studio: StudioState) -> None:
        super().__init__(studio)
        self._choice: Any = self.gui.add_dropdown("Selected", (NOBODY, *self._all_names()))
        self._choice.on_update(self._choose)
        self._here = self.gui.add_folder(self._census(), expand_by_default=False)
        with self._here:
            self._tree = self.gui.add_html("")
        self._about = self.gui.add_html(_invitation(len(studio.source.names)))
        self._mark = TargetMark(studio.server.scene)
        self._controls: list[Any] = []
        self._captions: dict[str, str] = {}
        self._systems: list[str] = []
        """Those of the scenario that command the selected vehicle, too."""
        self._warned: str | None = None
        """Who was commanded beside them, and it was said."""
        self._gains: GainSliders | None = None
        self._mode_shown: tuple[str, str] | None = None
        """Of which vehicle which mode; what somebody has chosen since stays until the vehicle's own mode changes."""
        if not studio.source.recorded:
            self._make_controls()
        self.select(studio.selected)

    def _make_controls(self) -> None:
        studio, gui = self.studio, self.gui
        self._by_click = gui.add_checkbox("Fly where I click", True, hint="A click on the ground is its next target.")
        self._mode: Any = gui.add_dropdown("Mode", tuple(MODES), hint=MODE_HINT)
        self._mode.on_update(self._switch_mode)
        manoeuvres = gui.add_button_group("Fly", ("Take off", "Land", "Return", "Stop here"))
        manoeuvres.on_click(lambda event: self._order(ORDERS[manoeuvres.value], event.client))
        self._rescue = [
            hold_button(studio, f"{label} (hold)", consequence, partial(self._order, ORDERS[label]), color=colour)
            for label, consequence, colour in RESCUES
        ]
        self._by_hand = gui.add_button("Fly by hand", icon=viser.Icon.DEVICE_GAMEPAD_2, color="gray")
        studio.on_press(self._by_hand, self._toggle_hand)
        self._stick = gui.add_html("", visible=False)
        folder = gui.add_folder("Gains of its controller", expand_by_default=False)
        self._gains = GainSliders(studio, folder)
        self._controls = [self._by_click, self._mode, manoeuvres, *self._rescue, self._by_hand, folder]
        self._over = gui.add_html(_OVER + greyed(manoeuvres), visible=False, order=self._by_click.order - 0.5)

    # -- who is selected ---------------------------------------------------------------------------------------------

    def _all_names(self) -> list[str]:
        return [*self.studio.source.names, *self.studio.source.scenario.world.obstacles]

    def _census(self) -> str:
        """What the tree holds, to be read while it is folded."""
        vehicles, obstacles = len(self.studio.source.names), len(self.studio.source.scenario.world.obstacles)
        return f"All that is here: {_count(vehicles, 'vehicle')}, {_count(obstacles, 'obstacle')}"

    def rebuild(self) -> None:
        self._here.label = self._census()
        self._choice.options = (NOBODY, *self._all_names())
        self.select(self.studio.selected)

    def _choose(self, event: viser.GuiEvent) -> None:
        if event.client is not None:
            self.studio.select(None if self._choice.value == NOBODY else self._choice.value)

    def select(self, name: str | None) -> None:
        if self._choice.value != (name or NOBODY):
            self._choice.value = name or NOBODY
        is_vehicle = name in self.studio.source.names
        ours = name is not None and is_vehicle and self.studio.source.scenario.vehicles[name].autopilot is None
        for control in self._controls:
            control.visible = ours
        if self._gains is not None:
            self._gains.show(name if ours else None)
            self._systems, self._warned = self._systems_of(name) if name and is_vehicle else [], None
        self._mark.hide()
        self._tree.content = entity_tree(self.studio.source.scenario, name)
        if name is None:
            self._about.content = _invitation(len(self.studio.source.names))
        elif not is_vehicle:
            self._about.content = _of_obstacle(self.studio.source.scenario.world.obstacles[name])

    def refresh(self, status: Status, snapshot: Snapshot) -> None:
        if self._controls:
            self._caption_sticks()
            self._show_end(status.finished)
        name = self.studio.selected
        if name not in self.studio.source.names:
            return
        state = snapshot.vehicles[self.studio.source.names.index(name)]
        self._about.content = _of_vehicle(state, self.studio.source.scenario.vehicles[name], self._systems)
        if self._controls:
            self._show_mode(name, state)
            self._show_stick(name)

    def _caption_sticks(self) -> None:
        """Tell each browser that flies by hand whom, and how."""
        sticks = self.studio.sticks
        for tab, vehicle in sticks.tabs.items():
            caption = f"You fly {vehicle}: {self._in_hand(vehicle, sticks.doing.get(vehicle, ''))}"
            if self._captions.get(tab) != caption:
                self._captions[tab] = caption
                self.studio.gateway.caption(tab, caption)

    def _in_hand(self, vehicle: str, doing: str) -> str:
        described = self.studio.source.scenario.vehicles.get(vehicle)
        in_water = described is not None and is_vessel(described)
        return IN_WATER if doing == "idle" and in_water else HANDS.get(doing, "…")

    def _show_end(self, over: bool) -> None:
        """What cannot act after the end of the run does not look as if it could."""
        if over == self._over.visible:
            return
        self._over.visible = over
        for control in (self._by_click, self._mode, self._by_hand, *self._rescue):
            control.disabled = over
        if self._gains is not None:
            self._gains.enable(not over)
        for client in self.studio.server.get_clients().values() if over else ():
            self._put_stick_down(client)

    def _show_mode(self, name: str, state: np.ndarray) -> None:
        label = Mode(int(state[MODE])).label.replace("_", " ")
        if self._mode_shown != (name, label):
            self._mode_shown = name, label
            self._mode.value = label

    def _show_stick(self, name: str) -> None:
        held = self.studio.sticks.states.get(name)
        self._stick.visible = held is not None
        if held is not None:
            self._stick.content = _of_stick(*held)

    def _systems_of(self, name: str) -> list[str]:
        observed = self.studio.ask("observe", vehicle=name)
        return observed["vehicles"][name]["systems"] if observed else []

    def _warn(self, name: str, client: viser.ClientHandle) -> None:
        """Once for each selection: a system goes on with the vehicles it was given, whoever else commands them.

        Who selects and commands at once is quicker than `select`, so it is asked for here again.
        """
        if self._warned != name and (systems := self._systems_of(name)):
            self._warned = name
            still = ", ".join(systems)
            self.studio.tell(f"The scenario's {still} still commands {name}, and may take it back.", client)

    # -- what it is told ---------------------------------------------------------------------------------------------

    def _order(self, method: str, client: viser.ClientHandle | None) -> None:
        name = self.studio.selected
        if name and client:
            if method in MANOEUVRES and self.studio.sticks.flown_by(tab_of(client)) == name:
                self._put_stick_down(client)
            if self.studio.ask(method, client, vehicle=name):
                self._warn(name, client)

    def _put_stick_down(self, client: viser.ClientHandle) -> None:
        if tab := tab_of(client):
            self._captions.pop(tab, None)
            self.studio.sticks.put_down(tab)
            self.studio.gateway.fly(tab, False)

    def _switch_mode(self, event: viser.GuiEvent) -> None:
        name = self.studio.selected
        if event.client is not None and name:
            mode = MODES[self._mode.value].label
            if self.studio.ask("switch_mode", event.client, vehicle=name, mode=mode, hold=True):
                self._warn(name, event.client)
            else:
                self._mode_shown = None

    def click(self, point: np.ndarray, client: viser.ClientHandle) -> None:
        studio, name = self.studio, self.studio.selected
        if not self._controls or not self._by_click.value or name not in studio.source.names:
            return
        if name in studio.sticks.tabs.values():  # also while its window is away: a click may only bring that back
            studio.tell(f"{name} is flown by hand: put the stick down to send it with a click.", client)
            return
        target = self._above(point, name)
        if studio.ask("fly_to", client, vehicle=name, position=target):
            self._warn(name, client)
            self._mark.put(point, np.array(target), float(studio.view.fleet.reaches[studio.view.names.index(name)]))

    def _above(self, point: np.ndarray, name: str) -> list[float]:
        """Where a click sends a vehicle: as high as it is, but not into what was clicked on, unless it floats there."""
        x, y, z = (float(number) for number in point)
        height = float(self.studio.view.positions[self.studio.source.names.index(name)][2])
        floats = self.studio.landscape.is_on_water(point) and is_vessel(self.studio.source.scenario.vehicles[name])
        return [x, y, height if floats else max(height, z + LOWEST)]

    def _toggle_hand(self, client: viser.ClientHandle) -> None:
        studio, tab, name = self.studio, tab_of(client), self.studio.selected
        if tab is None or name is None:
            return
        if studio.sticks.flown_by(tab) == name:
            self._put_stick_down(client)
        else:
            studio.sticks.take(tab, name)
            studio.gateway.fly(tab, True)
            self._warn(name, client)


def is_vessel(vehicle: Vehicle) -> bool:
    """Whether it is at home in water."""
    return vehicle.hull is not None and vehicle.hull.fluid == "water"


MANOEUVRES = ("takeoff", "land", "return_home")
"""Which a hand at the stick would end at once."""
ORDERS = {
    "Take off": "takeoff",
    "Land": "land",
    "Return": "return_home",
    "Stop here": "recover",
    "Kill": "kill",
    "Back to start": "reset_pose",
}

RESCUES = (
    ("Kill", "stop its rotors at once: it falls", "red"),
    ("Back to start", "put it back to where the scenario has it", "gray"),
)
"""What it does is not taken back by another click."""

_OVER = """<div style="padding:0 0.75em 0.5em;font-size:0.875em" data-airloom="over"><b>The run is over.</b>
Begin anew to fly it again.</div>"""


def _table(rows: dict[str, str]) -> str:
    cells = "".join(
        f'<tr><td style="opacity:0.65;padding-right:1em">{key}</td><td data-airloom="{key}">{value}</td></tr>'
        for key, value in rows.items()
    )
    return f'<table style="font-variant-numeric:tabular-nums;line-height:1.5;white-space:nowrap">{cells}</table>'


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"


def _boxed(content: str) -> str:
    return f'<div style="padding:0 0.75em 0.25em;font-size:0.875em">{content}</div>'


def _invitation(count: int) -> str:
    what = "the vehicle" if count == 1 else f"one of the {count} vehicles"
    return _boxed(f"<p>Click on {what}, or choose it above, to see how it is and to fly it.</p>")


def _of_vehicle(state: np.ndarray, vehicle: Vehicle, systems: list[str]) -> str:
    angles = [degrees(angle) for angle in euler_from_quaternion(state[ATTITUDE])]
    rows = {
        "position": f"{_numbers(state[POSITION], 2)} m",
        "speed": f"{float(np.linalg.norm(state[VELOCITY])):.2f} m/s",
        "roll, pitch, yaw": f"{_numbers(angles, 1)} °",
    }
    if vehicle.autopilot:
        rows["flown by"] = f"its autopilot, {html.escape(vehicle.autopilot.kind)}"
    else:
        rows["to its setpoint"] = f"{float(np.linalg.norm(state[TARGET] - state[POSITION])):.2f} m"
    if systems:
        rows["commanded by"] = html.escape(", ".join(systems))
    told = html.escape(vehicle.description)
    about = f'<p style="margin:0 0 0.4em;opacity:0.8">{told}</p>' if told else ""
    return _boxed(about + _table(rows))


def _numbers(values: Iterable[float], digits: int) -> str:
    """Never −0."""
    return ", ".join(f"{round(float(value), digits) + 0.0:.{digits}f}" for value in values)


def _of_obstacle(obstacle: Any) -> str:
    size = " × ".join(f"{s:g}" for s in obstacle.size)
    position = ", ".join(f"{p:.2f}" for p in obstacle.position)
    return _boxed(_table({"shape": obstacle.shape, "size": f"{size} m", "position": f"{position} m"}))


def _of_stick(axes: list[float], buttons: list[bool]) -> str:
    return _boxed(_table({"stick": "  ".join(f"{axis:+.2f}" for axis in axes), "buttons": str(sum(buttons))}))
