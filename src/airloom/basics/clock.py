"""Exact time: integer nanoseconds, and rates that fit the step without remainder."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import cache

NS_PER_SECOND = 1_000_000_000
OVERSLEPT = 1e-3
"""Seconds of lateness that do not count: what an ordinary operating system may oversleep."""
SLOWEST_TICKS = 10**15
RATE_TOLERANCE = Fraction(1, 10**9)
"""Lets a rate such as 333.3333333 Hz stand for three steps of a millisecond."""


def to_ns(seconds: float) -> int:
    """The whole nanoseconds in `seconds` as written in decimal: to_ns(0.001) = 1_000_000."""
    nanoseconds = _as_written(seconds) * NS_PER_SECOND
    if nanoseconds.denominator != 1:
        nearest = round(nanoseconds)
        raise ValueError(
            f"{seconds!r} s is not a whole number of nanoseconds; the nearest is {nearest / NS_PER_SECOND!r} s"
        )
    return int(nanoseconds)


def whole_ticks(seconds: float, step_ns: int) -> int:
    """How many steps `seconds` takes."""
    exact = _as_written(seconds) * NS_PER_SECOND / step_ns
    if exact.denominator != 1:
        step = f"steps of {step_ns / NS_PER_SECOND:.10g} s"
        nearest = [f"{ticks * step_ns / NS_PER_SECOND:.10g} s" for ticks in (int(exact), int(exact) + 1)]
        raise ValueError(f"{seconds!r} s is no whole number of {step}; the nearest are {' and '.join(nearest)}")
    return int(exact)


@cache
def ticks_per_period(rate_hz: float, step_ns: int) -> int:
    """How many steps lie between two samples at `rate_hz`."""
    if rate_hz <= 0:
        raise ValueError(f"a rate must be greater than 0 Hz, got {rate_hz:g} Hz")
    exact = NS_PER_SECOND / (_as_written(rate_hz) * step_ns)
    nearest = max(round(exact), 1)
    if nearest > SLOWEST_TICKS:
        raise ValueError(f"{rate_hz:g} Hz is too slow: its period is over {SLOWEST_TICKS:g} steps")
    if abs(exact - nearest) > RATE_TOLERANCE * nearest:
        raise ValueError(_rate_misfit(rate_hz, step_ns, int(exact)))
    return nearest


def nearest_ticks(rate_hz: float, step_ns: int) -> int:
    """Likewise, for whoever need not be exact."""
    return max(round(NS_PER_SECOND / (rate_hz * step_ns)), 1)


def _as_written(number: float) -> Fraction:
    """The decimal a person would read, so that 0.001 is a thousandth and not the nearest binary fraction."""
    try:
        return Fraction(Decimal(repr(float(number))))
    except (OverflowError, ValueError):
        raise ValueError(f"{number!r} is not a finite number") from None


def _rate_misfit(rate_hz: float, step_ns: int, ticks_below: int) -> str:
    step = f"the step of {step_ns / NS_PER_SECOND:.10g} s"
    if ticks_below == 0:
        return f"{rate_hz:.10g} Hz is faster than {step} allows; the fastest rate is {_rate(1, step_ns)} Hz"
    faster, slower = _rate(ticks_below, step_ns), _rate(ticks_below + 1, step_ns)
    return (
        f"{rate_hz:.10g} Hz does not fit {step}, for its period is no whole number of steps; "
        f"the nearest rates that do are {faster} Hz and {slower} Hz"
    )


def _rate(ticks: int, step_ns: int) -> str:
    return f"{NS_PER_SECOND / (ticks * step_ns):.10g}"
