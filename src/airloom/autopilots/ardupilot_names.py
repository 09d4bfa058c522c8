"""ArduPilot's parameters that got another name, and often another unit, with Copter 4.7.

Who gives one by either name means both: ArduPilot ignores the name that it does not know. The pairs are those of
ArduPilot's own conversions.
"""

from __future__ import annotations

import re

_WAYPOINTS = {
    "SPEED": "SPD", "SPEED_UP": "SPD_UP", "SPEED_DN": "SPD_DN", "RADIUS": "RADIUS_M", "ACCEL": "ACC",
    "ACCEL_Z": "ACC_Z", "ACCEL_C": "ACC_CNR",
}  # fmt: skip
_GNSS = {"GLITCH": "GLTCH", "BYTELOSS": "BYTELOS", "DRIFTALT": "DRFTALT", "LOCKTIME": "LCKTIME"}
_CENTIMETRES = {
    **{f"WPNAV_{old}": f"WP_{new}" for old, new in _WAYPOINTS.items()},
    "LOIT_SPEED": "LOIT_SPEED_MS", "LOIT_ACC_MAX": "LOIT_ACC_MAX_M", "LOIT_BRK_ACCEL": "LOIT_BRK_ACC_M",
    "LOIT_BRK_JERK": "LOIT_BRK_JRK_M", "CIRCLE_RADIUS": "CIRCLE_RADIUS_M",
}  # fmt: skip
_METRES = {new: old for old, new in _CENTIMETRES.items()}
_OLD_RANGEFINDER = re.compile(r"(RNGFND[1-9A]_)(MIN|MAX)_CM")
_NEW_RANGEFINDER = re.compile(r"(RNGFND[1-9A]_)(MIN|MAX)")
_OLD_GNSS, _NEW_GNSS = "SIM_GPS_", "SIM_GPS1_"
_ALL_CHECKS = (1 << 21) - 2
"""Bits of the checks before arming that there were when ARMING_CHECK, those to be made, became those to be skipped."""


def other_name(name: str, value: float) -> tuple[str, float] | None:
    """What a parameter is called in the other generation, and what its value is there; None if it has one name only."""
    if name in _CENTIMETRES:
        return _CENTIMETRES[name], value / 100
    if name in _METRES:
        return _METRES[name], value * 100
    if found := _OLD_RANGEFINDER.fullmatch(name):
        return f"{found[1]}{found[2]}", value / 100
    if found := _NEW_RANGEFINDER.fullmatch(name):
        return f"{found[1]}{found[2]}_CM", value * 100
    if name == "ARMING_CHECK":
        return "ARMING_SKIPCHK", -1 if value == 0 else 0 if int(value) & 1 else _ALL_CHECKS & ~int(value)
    if name == "ARMING_SKIPCHK":
        return "ARMING_CHECK", 1 if value == 0 else 0 if value == -1 else _ALL_CHECKS & ~int(value)
    return _other_gnss(name, value)


def _other_gnss(name: str, value: float) -> tuple[str, float] | None:
    """The receiver is switched off by the one, and on by the other."""
    if name in ("SIM_GPS_DISABLE", "SIM_GPS1_ENABLE"):
        return ("SIM_GPS1_ENABLE" if name == "SIM_GPS_DISABLE" else "SIM_GPS_DISABLE"), 1 - value
    old, new = (_OLD_GNSS, _NEW_GNSS) if name.startswith(_OLD_GNSS) else (_NEW_GNSS, _OLD_GNSS)
    if not name.startswith(old):
        return None
    words = _GNSS if old == _OLD_GNSS else {new: old for old, new in _GNSS.items()}
    word, _, axis = name.removeprefix(old).partition("_")
    return f"{new}{words.get(word, word)}{'_' if axis else ''}{axis}", value


def both_generations(params: dict[str, float]) -> dict[str, float]:
    """The parameters by all their names; one that is given by either keeps that value."""
    others = dict(filter(None, (other_name(name, value) for name, value in params.items())))
    return {**others, **params}
