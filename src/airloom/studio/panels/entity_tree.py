"""What there is, as a tree: a click on a name selects it (`page.js` tells the gateway)."""

from __future__ import annotations

import html

from airloom.scenario.models import Plane, Scenario, Vehicle

TALLEST = "11em"


def entity_tree(scenario: Scenario, selected: str | None) -> str:
    world = scenario.world
    ground = "plane" if isinstance(world.terrain, Plane) else "height field"
    obstacles = "".join(_entry(name, obstacle.shape, selected) for name, obstacle in world.obstacles.items())
    vehicles = "".join(_vehicle(name, vehicle, selected) for name, vehicle in scenario.vehicles.items())
    branches = [
        f"<div>terrain <span style='opacity:0.6'>{ground}</span></div>",
        _branch("obstacles", len(world.obstacles), obstacles) if obstacles else "",
        _branch("vehicles", len(scenario.vehicles), vehicles),
    ]
    return (
        f'<div data-airloom="tree" style="max-height:{TALLEST};overflow-y:auto;font-size:0.875em;line-height:1.55;'
        f'padding:0 0.75em 0.5em">{"".join(branches)}</div>'
    )


def _branch(name: str, count: int, inside: str) -> str:
    return (
        f"<details open><summary style='cursor:pointer'>{name} <span style='opacity:0.6'>{count}</span></summary>"
        f'<div style="padding-left:1em">{inside}</div></details>'
    )


def _vehicle(name: str, vehicle: Vehicle, selected: str | None) -> str:
    parts = _parts(vehicle) if name == selected else ""
    count = len(vehicle.rotors)
    kind = "floats" if not count and vehicle.hull else f"{count} rotor{'' if count == 1 else 's'}"
    return _entry(name, kind, selected) + parts


def _entry(name: str, kind: str, selected: str | None) -> str:
    weight = "600" if name == selected else "400"
    return (
        f'<div data-select="{html.escape(name)}" style="cursor:pointer;font-weight:{weight}">{html.escape(name)} '
        f'<span style="opacity:0.6;font-weight:400">{html.escape(kind)}</span></div>'
    )


def _parts(vehicle: Vehicle) -> str:
    controller = vehicle.controller.kind if vehicle.controller else "none"
    sensors = ", ".join(f"{name} {sensor.rate:g} Hz" for name, sensor in vehicle.sensors.items()) or "none"
    lines = {"sensors": sensors, "estimator": vehicle.estimator.kind, "controller": controller}
    rows = "".join(f"<div>{key}: {html.escape(value)}</div>" for key, value in lines.items())
    return f'<div style="padding-left:1em;opacity:0.75">{rows}</div>'
