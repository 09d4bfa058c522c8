"""Faults of radios, from a given time on."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator

from airloom.basics.patterns import Pattern, matches
from airloom.plugin import Parameters
from airloom.radio.faults import Clock, Fault, Jamming, Off, OneWay, PacketFault, corrupted, later, twice
from airloom.radio.medium import Jammer
from airloom.scenario.errors import hint
from airloom.scenario.models import Name, NonNegative, Number, Positive, Vector3
from airloom.system import System

if TYPE_CHECKING:
    from airloom.scenario import models
    from airloom.scenario.radio import Radio as Description
    from airloom.simulation import Simulation

KEYS = {
    "off": (),
    "jamming": ("position", "power"),
    "one_way": ("to",),
    "late": ("delay", "share"),
    "duplicate": ("delay", "share"),
    "corrupt": ("share",),
    "drift": ("drift", "offset"),
}
"""What each fault needs or may have."""
NEEDED = {"jamming": ("position",), "one_way": ("to",), "late": ("delay",)}


class RadioFaultParameters(Parameters):
    node: Pattern = Field("*", description="name or pattern of the vehicles and stations it concerns")
    band: Name | Literal[""] | None = Field(
        None, description="the one that fails, `''` for the first; all of theirs if left out"
    )
    fault: Literal["off", "jamming", "one_way", "late", "duplicate", "corrupt", "drift"] = Field(
        description="what is wrong"
    )
    at: NonNegative = Field(description="s")
    duration: Positive | None = Field(None, description="s; for good if left out")
    position: Vector3 | None = Field(None, description="of the jammer, world, m")
    power: Number = Field(30.0, ge=-100, le=100, description="that the jammer transmits in the band, dBm")
    to: Pattern | None = Field(None, description="of one_way: name or pattern of those that `node` does not get to")
    delay: NonNegative | None = Field(
        None, le=3600, description="how much later packets, or their duplicates, are heard, s"
    )
    share: float = Field(1.0, ge=0, le=1, description="of the packets that `node` hears, by chance")
    drift: Number = Field(0.0, ge=-1e5, le=1e5, description="how fast the clock gains time, µs/s; negative: it is slow")
    offset: Number = Field(0.0, ge=-1e6, le=1e6, description="by which the clock jumps at the beginning, s")

    @model_validator(mode="after")
    def _fit_together(self) -> RadioFaultParameters:
        for key in {key for keys in KEYS.values() for key in keys}:
            if key in self.model_fields_set and key not in KEYS[self.fault]:
                having = " and ".join(fault for fault, keys in KEYS.items() if key in keys)
                raise ValueError(f"only {having} has {key}; this fault is {self.fault}")
        for key in NEEDED.get(self.fault, ()):
            if getattr(self, key) is None:
                raise ValueError(f"the fault {self.fault} needs {key}")
        if self.fault == "drift" and not (self.drift or self.offset):
            raise ValueError("the fault drift needs drift or offset")
        if self.fault == "jamming" and "node" in self.model_fields_set:
            raise ValueError("jamming has no node: it is noise for all that are near its position")
        return self


class RadioFault(System):
    """Let radios fail: off, jammed, deaf to some, with late, doubled or corrupted packets, or a wrong clock."""

    Parameters = RadioFaultParameters

    @classmethod
    def mistakes(cls, parameters: RadioFaultParameters, scenario: models.Scenario) -> Iterator[tuple[str, str]]:
        if (radio := scenario.radio) is None:
            yield "kind", "the scenario has no radio that could fail: add a line `radio: {}`"
        elif parameters.band is not None and parameters.band not in radio.kinds:
            yield "band", f"no band is called '{parameters.band}'{hint(parameters.band, radio.bands, 'Bands')}"
        else:
            yield from _nobody(parameters, radio, scenario.names)

    def reset(self, sim: Simulation) -> None:
        assert sim.radio is not None, "`mistakes` has looked"
        p = self.parameters
        sim.call_at(p.at, partial(self._begin, sim))
        if p.at == 0:
            self._set(sim, self._fault(0))  # the look at time 0 comes before all calls
        if p.duration is not None:
            sim.call_at(p.at + p.duration, partial(self._end, sim))

    def _begin(self, sim: Simulation) -> None:
        self._set(sim, self._fault(sim.time_ns))
        sim.event(self.parameters.node, f"{self.name} begins: {self._text()}")

    def _end(self, sim: Simulation) -> None:
        self._set(sim, None)
        sim.event(self.parameters.node, f"{self.name} ends")

    def _set(self, sim: Simulation, fault: Fault | None) -> None:
        """Put the fault where it acts, or take it away: clocks are of nodes, all else of bands."""
        assert sim.radio is not None
        p = self.parameters
        places: list[dict[str, Any]]
        if p.fault == "drift":
            places = [node.clocks for name, node in sim.radio.items() if matches(name, p.node)]
        else:
            places = [band.faults for name, band in sim.radio.bands.items() if p.band in (None, name)]
        for faults in places:
            faults.pop(self.name, None)
            if fault is not None:
                faults[self.name] = fault

    def _fault(self, now_ns: int) -> Fault:
        p = self.parameters
        delay_ns = round((p.delay or 0.0) * 1e9)
        match p.fault:
            case "off":
                return Off(self.name, p.node)
            case "jamming":
                assert p.position is not None, "it is needed"
                return Jamming(self.name, p.node, Jammer(p.position, p.power))
            case "one_way":
                assert p.to is not None, "it is needed"
                return OneWay(self.name, p.node, p.to)
            case "drift":
                return Clock(self.name, p.node, now_ns, round(p.offset * 1e9), p.drift)
        act = {"late": later(delay_ns), "duplicate": twice(delay_ns), "corrupt": corrupted}[p.fault]
        return PacketFault(self.name, p.node, p.share, act)

    def _text(self) -> str:
        p = self.parameters
        where = "" if p.band is None else f" in band '{p.band}'" if p.band else " in the first band"
        some = "" if p.share == 1.0 else f"{p.share:g} of the "
        delay = f" by {p.delay:g} s" if p.delay else ""
        match p.fault:
            case "off":
                return f"radio off{where}"
            case "jamming":
                assert p.position is not None, "it is needed"
                x, y, z = p.position
                return f"a jammer of {p.power:g} dBm at ({x:g}, {y:g}, {z:g}) m{where}"
            case "one_way":
                return f"nothing gets to {p.to}{where}"
            case "drift":
                jump = f", after a jump of {p.offset:g} s" if p.offset else ""
                return f"the clock gains {p.drift:g} µs/s{jump}"
            case "late":
                return f"{some}packets are heard late{delay}{where}"
            case "duplicate":
                return f"{some}packets are heard twice{delay and delay.replace(' by', ', after')}{where}"
        return f"{some}packets are corrupted{where}"


def _nobody(p: RadioFaultParameters, radio: Description, vehicles: list[str]) -> Iterator[tuple[str, str]]:
    """Patterns that name nobody who has such a radio."""
    bands = radio.kinds if p.band is None else [p.band]
    nodes = list(dict.fromkeys(node for band in bands for node in radio.members(band, vehicles)))
    for key in ("node", "to"):
        pattern = getattr(p, key)
        if pattern is not None and not any(matches(node, pattern) for node in nodes):
            yield key, f"nobody with such a radio matches '{pattern}'{hint(pattern, nodes[:8], 'Nodes')}"
