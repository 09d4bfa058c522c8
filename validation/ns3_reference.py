"""Measure with ns-3 what our own model of the radio is compared with: `python -m validation.ns3_reference`.

Writes `ns3_range.csv` (one sender, one receiver, by distance), `ns3_contention.csv` (many senders) and `ns3_flock.csv`
(the scenario `flock`) beside this file. All are ns-3's answers through `airloom.radio.ns3`, with its default channel,
802.11g between equals.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from airloom.radio.medium import EVERYBODY, Frame
from airloom.radio.ns3 import Ns3Medium
from airloom.radio.ns3.installation import find_ns3
from airloom.scenario.ns3_radio import Ns3Radio
from validation.contention import Contention, measure
from validation.flock_media import reference_lines

HERE = Path(__file__).parent
NAKAGAMI = [{"kind": "log-distance"}, {"kind": "nakagami"}]
FRAMES = 10_000
SPACING_NS = 2_000_000  # the air is free again long before

# fading, Mb/s, bytes, distances: the points of an earlier measurement of ours with 1000 frames each, and some between
RANGES: list[tuple[str, float, int, tuple[float, ...]]] = [
    ("none", 6, 100, (50, 51.4, 51.6, 55)),
    ("none", 24, 100, (50, 51.4, 51.6)),
    ("none", 36, 100, (46, 48, 50, 51)),
    ("none", 48, 100, (36, 38, 40, 42, 44)),
    ("none", 54, 100, (30, 32, 34, 36, 38, 40)),
    ("none", 54, 1000, (30, 32, 34, 36, 38)),
    ("none", 48, 1000, (36, 38, 40, 42)),
    ("nakagami", 6, 100, (10, 20, 30, 40, 50, 60, 70, 80)),
    ("nakagami", 54, 100, (10, 20, 30, 40, 50)),
    ("nakagami", 54, 1000, (10, 20, 30, 40)),
]
CASES = [
    *(
        Contention("circle", nodes, packets, 100, kind)
        for kind in ("broadcast", "unicast")
        for nodes in (5, 10, 20, 40)
        for packets in (10, 50, 100, 300, 1000)
    ),
    *(
        Contention("clusters", 15, packets, 100, kind)
        for kind in ("broadcast", "unicast")
        for packets in (10, 50, 100, 300, 1000)
    ),
]


def ranges() -> Iterator[str]:
    yield "fading,mbit_per_second,size,distance,share,frames"
    for fading, rate, size, distances in RANGES:
        losses = {"losses": NAKAGAMI} if fading == "nakagami" else {}
        medium = Ns3Medium(["sender", "receiver"], Ns3Radio(rate=rate, **losses))
        for distance in distances:
            medium.reset(1)
            medium.send([Frame(k, 0, EVERYBODY, size, k * SPACING_NS) for k in range(FRAMES)])
            heard = medium.advance(FRAMES * SPACING_NS, np.array([[0.0, 0.0, 0.0], [distance, 0.0, 0.0]]))
            yield f"{fading},{rate},{size},{distance},{len(heard) / FRAMES:.4f},{FRAMES}"
        medium.close()


def contentions() -> Iterator[str]:
    yield "layout,nodes,packets_per_second,size,kind,delivery,delay_ms,delay_p90_ms,seconds,delay_median_ms"
    for case in CASES:
        medium = Ns3Medium([f"node_{k}" for k in range(case.nodes)], Ns3Radio())
        result = measure(medium, case)
        medium.close()
        yield (
            f"{case.layout},{case.nodes},{case.packets_per_second},{case.size},{case.kind},{result.delivery:.4f},"
            f"{result.delay_ms:.4f},{result.delay_p90_ms:.4f},{case.seconds:g},{result.delay_median_ms:.4f}"
        )


def settings() -> Iterator[str]:
    """What ns-3 was told, and what it made of it."""
    medium = Ns3Medium(["a", "b"], Ns3Radio())
    medium.reset(1)
    medium.close()
    yield f"ns-3 {find_ns3().version}, made by python -m validation.ns3_reference; seed 1"
    yield "802.11g between equals (AdhocWifiMac, YansWifiPhy, no QoS, no RTS), ConstantRateWifiManager"
    yield "(frames, to all too, at the stated rate, contention at 6 Mb/s; acknowledgements at 6 Mb/s);"
    yield "TableBasedErrorRateModel, ThresholdPreambleDetectionModel (-82 dBm, 4 dB), no frame capture once locked,"
    yield "noise figure 7 dB; LogDistance (exponent 3, 46.6777 dB at 1 m), in 'nakagami' then Nakagami (m 1.5 to 80 m,"
    yield "0.75 beyond), propagation at the speed of light; up to 7 attempts of a frame to one."
    yield "NetDevice::Send without IP or ARP: payload + 8 (LLC/SNAP) + 24 (MAC) + 4 (FCS) bytes on the air."
    yield "A frame that is given to an idle medium waits a whole DIFS, 50 us, and is then sent without backoff: one of"
    yield "100 bytes at 6 Mb/s is heard 264 us after it was given, 50 + 20 + 188 + 6 (ERP signal extension)."
    yield ", ".join(f"{name} {value:g}" for name, value in medium.facts.items())


def write(name: str, lines: Iterable[str]) -> None:
    with (HERE / name).open("w") as file:
        file.writelines(f"# {line}\n" for line in settings())
        if name == "ns3_contention.csv":
            file.write(
                "# who stands where and sends when: validation/contention.py; delays until the end of reception\n"
            )
        for line in lines:
            print(line, flush=True)
            file.write(line + "\n")
            file.flush()


def main() -> None:
    wanted = sys.argv[1:] or ["contention", "range", "flock"]
    if "contention" in wanted:
        write("ns3_contention.csv", contentions())
    if "range" in wanted:
        write("ns3_range.csv", ranges())
    if "flock" in wanted:
        write("ns3_flock.csv", reference_lines())


if __name__ == "__main__":
    main()
