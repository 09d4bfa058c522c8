"""How ns-3 is told what a scenario wants: lines of a key and a value, objects by ns-3's own names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from airloom.scenario.ns3_radio import RATES, Loss, Ns3Radio

MODES = {"a": "OfdmRate{}Mbps", "b": "DsssRate{}Mbps", "g": "ErpOfdmRate{}Mbps"}
MANAGERS = {"aarf": "ns3::AarfWifiManager", "ideal": "ns3::IdealWifiManager", "minstrel": "ns3::MinstrelWifiManager"}
MOST_SEEDS = 4294944442  # ns-3 takes seeds from 1 to this, the modulus of its generator less one
ENVIRONMENTS = {"urban": "Urban", "suburban": "SubUrban", "open": "OpenAreas"}
BUILT = {"itu-r-1411-nlos": "ItuR1411NlosOverRooftop", "okumura-hata": "OkumuraHata"}


def lines(radio: Ns3Radio, seed: int, names: list[str]) -> Iterator[str]:
    """The setup as the helper reads it, without files."""
    yield f"nodes {len(names)}"
    yield from (f"name {name}" for name in names)
    yield f"seed {1 + seed % MOST_SEEDS}"
    yield f"run {1 + seed // MOST_SEEDS % (1 << 31)}"
    yield f"link {'lr-wpan' if radio.link == 'lr-wpan' else 'wifi'}"
    yield f"base {names.index(radio.base) if radio.base else -1}"
    yield f"power {radio.transmitted}"
    yield f"standard {radio.standard}"
    yield f"manager {_manager(radio)}"
    yield f"queue {radio.queue}"
    yield f"lifetime {round(radio.lifetime * 1e9)}ns"
    yield f"attempts {radio.attempts}"
    yield from (f"loss {_loss(loss)}" for loss in radio.losses)


def _manager(radio: Ns3Radio) -> str:
    """The rate manager. Acknowledgements go at the highest mandatory rate that is not above the frame's."""
    standard = radio.broadcast_standard
    lowest = _mode(standard, RATES[standard][0])
    broadcast = _mode(standard, radio.broadcast_rate) if radio.broadcast_rate else lowest
    if isinstance(radio.rate, str):
        is_ht = radio.rate == "minstrel" and radio.standard == "n"
        return f"{'ns3::MinstrelHtWifiManager' if is_ht else MANAGERS[radio.rate]} NonUnicastMode={broadcast}"
    data = _mode(radio.standard, radio.rate)
    if not radio.broadcast_rate and radio.standard != "n":
        broadcast = data
    return f"ns3::ConstantRateWifiManager DataMode={data} ControlMode={lowest} NonUnicastMode={broadcast}"


def _mode(standard: str, rate: float) -> str:
    if standard == "n":
        return f"HtMcs{RATES['n'].index(rate)}"
    return MODES[standard].format(f"{rate:g}".replace(".", "_"))


def _loss(loss: Loss) -> str:
    kind, attributes = _type_and_attributes(loss)
    return " ".join([f"ns3::{kind}PropagationLossModel", *(f"{name}={value}" for name, value in attributes.items())])


def _type_and_attributes(loss: Any) -> tuple[str, dict[str, Any]]:
    match loss.kind:
        case "log-distance":
            return "LogDistance", {
                "Exponent": loss.exponent,
                "ReferenceLoss": loss.reference_loss,
                "ReferenceDistance": loss.reference_distance,
            }
        case "three-log-distance":
            distances = {f"Distance{k}": distance for k, distance in enumerate(loss.distances)}
            exponents = {f"Exponent{k}": exponent for k, exponent in enumerate(loss.exponents)}
            return "ThreeLogDistance", {**distances, **exponents, "ReferenceLoss": loss.reference_loss}
        case "free-space":
            return "Friis", {"Frequency": loss.frequency, "SystemLoss": loss.system_loss, "MinLoss": loss.least}
        case "two-ray":
            return "TwoRayGround", {
                "Frequency": loss.frequency,
                "SystemLoss": loss.system_loss,
                "MinDistance": loss.least_distance,
                "HeightAboveZ": loss.antenna,
            }
        case "range":
            return "Range", {"MaxRange": loss.distance}
        case "itu-r-1411-los":
            return "ItuR1411Los", {"Frequency": loss.frequency}
        case "nakagami":
            shapes = {f"m{k}": m for k, m in enumerate(loss.m)}
            return "Nakagami", {"Distance1": loss.distances[0], "Distance2": loss.distances[1], **shapes}
        case "normal":
            return "Random", {"Variable": f"ns3::NormalRandomVariable[Mean=0|Variance={loss.deviation**2}]"}
    return BUILT[loss.kind], {
        "Frequency": loss.frequency,
        "Environment": ENVIRONMENTS[loss.environment],
        "CitySize": loss.city.capitalize(),
    }
