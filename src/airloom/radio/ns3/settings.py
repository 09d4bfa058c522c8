"""What a scenario may say about a radio that ns-3 carries, and how ns-3 is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from airloom.plugin import Parameters
from airloom.radio.ns3.losses import Fading, LogDistance, Loss

RATES: dict[str, dict[float, str]] = {
    "a": {rate: f"OfdmRate{rate}Mbps" for rate in (6, 9, 12, 18, 24, 36, 48, 54)},
    "b": {1: "DsssRate1Mbps", 2: "DsssRate2Mbps", 5.5: "DsssRate5_5Mbps", 11: "DsssRate11Mbps"},
    "g": {rate: f"ErpOfdmRate{rate}Mbps" for rate in (6, 9, 12, 18, 24, 36, 48, 54)},
    "n": {rate: f"HtMcs{index}" for index, rate in enumerate((6.5, 13, 19.5, 26, 39, 52, 58.5, 65))},
}
"""By Mbit/s, for each standard; of `n` those of one stream in 20 MHz with the long guard interval."""

MANAGERS = {"aarf": "ns3::AarfWifiManager", "ideal": "ns3::IdealWifiManager", "minstrel": "ns3::MinstrelWifiManager"}
USUAL_POWER = {"adhoc": 16.0206, "infrastructure": 16.0206, "lr-wpan": 0.0}  # dBm: ns-3's own
LONGEST = {"adhoc": 2296, "infrastructure": 2296, "lr-wpan": 114}
"""Bytes of payload of each kind of link."""
ONLY_WIFI = ("standard", "rate", "broadcast_rate", "queue_delay", "base")


def _usual_losses() -> list[Loss]:
    return [LogDistance(model="log_distance")]


class Ns3Parameters(Parameters):
    link: Literal["adhoc", "infrastructure", "lr-wpan"] = Field(
        "adhoc",
        description="802.11 between equals, 802.11 through a base station, or 802.15.4 at 2.4 GHz (250 kbit/s)",
    )
    standard: Literal["a", "b", "g", "n"] = Field("g", description="of 802.11")
    rate: Annotated[float, Field(gt=0)] | Literal["aarf", "ideal", "minstrel"] = Field(
        6e6, description="bit/s of frames to one, or who chooses it: a rate manager of ns-3"
    )
    broadcast_rate: float | None = Field(
        None, gt=0, description="bit/s of frames to all; as `rate` if left out, with `n` and managers the lowest"
    )
    base: str | None = Field(None, description="the node that is the base station of `infrastructure`")
    power: float | None = Field(None, description="of the transmitters, dBm; 16.02 if left out, of lr-wpan 0")
    losses: list[Loss] = Field(
        default_factory=_usual_losses,
        min_length=1,
        description="channel models, one after the other",
    )
    queue: int = Field(500, ge=1, description="frames that wait in a radio at most")
    queue_delay: float = Field(0.5, gt=0, description="s that a frame waits at most")
    pcap: bool = Field(False, description="write a pcap file for each node")
    flow_monitor: bool = Field(
        False, description="count and time frames from each node to each, by ns-3's flow monitor"
    )
    timeout: float = Field(60.0, gt=0, description="s of silence after which ns-3 is taken as hung")

    @field_validator("losses")
    @classmethod
    def _begin_with_distance(cls, losses: list[Loss]) -> list[Loss]:
        if isinstance(losses[0], Fading):
            raise ValueError(f"'{losses[0].model}' alone has no loss by distance: put such a model before it")
        return losses

    @model_validator(mode="after")
    def _fit_together(self) -> Ns3Parameters:
        if self.link == "lr-wpan" and (wrong := [key for key in ONLY_WIFI if key in self.model_fields_set]):
            raise ValueError(f"lr-wpan has no {', '.join(map(repr, wrong))}: its rate is 250 kbit/s between equals")
        if (self.link == "infrastructure") != (self.base is not None):
            raise ValueError("a base station ('base: NODE') belongs to 'link: infrastructure', and to no other")
        for key, standard in (("rate", self.standard), ("broadcast_rate", self._broadcast_standard)):
            rate = getattr(self, key)
            if isinstance(rate, float) and rate / 1e6 not in RATES[standard]:
                known = ", ".join(f"{mbit:g}" for mbit in RATES[standard])
                raise ValueError(f"802.11{standard} has no {key} of {rate / 1e6:g} Mbit/s, only {known}")
        if self.rate == "aarf" and self.standard == "n":
            raise ValueError("'aarf' knows no 802.11n: use 'minstrel' or 'ideal'")
        return self

    @property
    def _broadcast_standard(self) -> str:
        return "g" if self.standard == "n" else self.standard  # so that every station understands it

    @property
    def longest(self) -> int:
        """Bytes of payload that fit into a frame."""
        return LONGEST[self.link]

    def lines(self, seed: int, names: list[str]) -> Iterator[str]:
        """The setup as the helper reads it, without files."""
        yield f"nodes {len(names)}"
        yield from (f"name {name}" for name in names)
        seed, run = _seed_and_run(seed)
        yield f"seed {seed}"
        yield f"run {run}"
        yield f"link {'lr-wpan' if self.link == 'lr-wpan' else 'wifi'}"
        yield f"base {names.index(self.base) if self.base else -1}"
        yield f"power {USUAL_POWER[self.link] if self.power is None else self.power!r}"
        yield f"standard {self.standard}"
        yield f"manager {self._manager()}"
        yield f"queue {self.queue}"
        yield f"queue_delay {round(self.queue_delay * 1e9)}ns"
        yield from (f"loss {loss.told()}" for loss in self.losses)

    def _manager(self) -> str:
        """The rate manager. Acknowledgements go at the highest mandatory rate that is not above the frame's."""
        broadcast = RATES[self._broadcast_standard]
        lowest = next(iter(broadcast))
        if isinstance(self.rate, str):
            is_ht = self.rate == "minstrel" and self.standard == "n"
            manager = "ns3::MinstrelHtWifiManager" if is_ht else MANAGERS[self.rate]
            return f"{manager} NonUnicastMode={broadcast[(self.broadcast_rate or lowest * 1e6) / 1e6]}"
        wanted = self.broadcast_rate or (lowest * 1e6 if self.standard == "n" else self.rate)
        return (
            f"ns3::ConstantRateWifiManager DataMode={RATES[self.standard][self.rate / 1e6]}"
            f" ControlMode={broadcast[lowest]} NonUnicastMode={broadcast[wanted / 1e6]}"
        )


def _seed_and_run(seed: int) -> tuple[int, int]:
    """ns-3 takes seeds from 1 to below 4294944443, the modulus of its generator, and besides the number of a run."""
    most = 4294944442
    return 1 + seed % most, 1 + seed // most % (1 << 31)
