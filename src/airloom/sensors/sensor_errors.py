"""What makes a reading differ from the truth: noise, bias, quantisation, saturation.

White noise of density n has σ = n/√dt in a sample. The bias is a first-order Gauss-Markov process,
b ← e^(−dt/τ) b + √(σ_b² τ/2 (1 − e^(−2dt/τ))) N(0, 1), plus a turn-on bias drawn once (RotorS; Furrer et al., 2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, floor, inf, sqrt

import numpy as np
from pydantic import Field, model_validator

from airloom.compiled import compiled
from airloom.plugin import Parameters
from airloom.sensors.noise import normal_pair

ACTIVE, SIGMA, BIAS, KEEP, WALK, QUANTUM, LOW, HIGH = range(8)
ERROR_WIDTH = 8
CHANNELS = 12
# Where a sensor's numbers lie in its row: whether it has errors at all, errors and drifting bias of each channel.
ANY_ERRORS = 20
ERRORS = 21
MEMORY = ERRORS + CHANNELS * ERROR_WIDTH

Each = float | list[float]


class SensorErrors(Parameters):
    """Errors of one measured quantity. A list gives each axis its own value."""

    noise: Each = Field(0.0, description="standard deviation of a sample")
    noise_density: Each = Field(0.0, description="white noise density, unit/√Hz")
    random_walk: Each = Field(0.0, description="bias random walk, unit/s/√Hz")
    correlation_time: float = Field(inf, gt=0, allow_inf_nan=True, description="of the bias, s")
    turn_on_bias: Each = Field(0.0, description="standard deviation of a bias drawn once")
    bias: Each = Field(0.0, description="constant bias")
    resolution: float = Field(0.0, ge=0, description="step between two readings; 0 for none")
    range: float | tuple[float, float] | None = Field(None, description="limit ± or [lowest, highest]")

    @model_validator(mode="after")
    def _are_sensible(self) -> SensorErrors:
        for key in ("noise", "noise_density", "random_walk", "turn_on_bias"):
            value = getattr(self, key)
            if min(value if isinstance(value, list) else [value], default=0.0) < 0:
                raise ValueError(f"{key} must not be negative")
        if self.noise != 0.0 and self.noise_density != 0.0:
            raise ValueError("give noise (of a sample) or noise_density (per √Hz), not both")
        low, high = self.limits()
        if low >= high:
            raise ValueError(f"range must run from a lower to a higher value, got {low} … {high}")
        return self

    def limits(self) -> tuple[float, float]:
        if self.range is None:
            return -inf, inf
        return (-self.range, self.range) if isinstance(self.range, float) else self.range


def _per_axis(value: Each, axes: int) -> np.ndarray:
    return np.broadcast_to(np.asarray(value, dtype=float), (axes,))


def variances(errors: SensorErrors, axes: int, period: float) -> np.ndarray:
    """What a data sheet tells of the errors of a sample, an axis each: σ² + σ_t² + σ_b² τ/2 + q²/12.

    That is the white noise of a sample, the turn-on bias, what the Gauss-Markov process above settles at, and the error
    of rounding to steps of q (Widrow and Kollár, Quantization Noise, 2008). A bias that walks without a correlation
    time has no bound, and a constant bias is no noise: both are left out.
    """
    white = _per_axis(errors.noise, axes) + _per_axis(errors.noise_density, axes) / sqrt(period)
    drift = 0.0 if errors.correlation_time == inf else 0.5 * errors.correlation_time
    walk, turn_on = _per_axis(errors.random_walk, axes), _per_axis(errors.turn_on_bias, axes)
    return white**2 + turn_on**2 + drift * walk**2 + errors.resolution**2 / 12.0


def error_rows(errors: SensorErrors, axes: int, period: float, draws: Sequence[float]) -> np.ndarray:
    """The numbers that `add_errors` works with, a row an axis; `draws` are standard normal, for the turn-on bias."""
    rows = np.empty((axes, ERROR_WIDTH))
    rows[:, SIGMA] = _per_axis(errors.noise, axes) + _per_axis(errors.noise_density, axes) / sqrt(period)
    rows[:, BIAS] = _per_axis(errors.bias, axes) + _per_axis(errors.turn_on_bias, axes) * draws
    tau, walk = errors.correlation_time, _per_axis(errors.random_walk, axes)
    if tau == inf:
        rows[:, KEEP], rows[:, WALK] = 1.0, walk * sqrt(period)
    else:
        rows[:, KEEP] = exp(-period / tau)
        rows[:, WALK] = walk * sqrt(0.5 * tau * (1.0 - exp(-2.0 * period / tau)))
    rows[:, QUANTUM] = errors.resolution
    rows[:, LOW], rows[:, HIGH] = errors.limits()
    perfect = rows[:, SIGMA] + rows[:, WALK] + abs(rows[:, BIAS]) + rows[:, QUANTUM] == 0.0
    rows[:, ACTIVE] = ~(perfect & np.isinf(rows[:, LOW]) & np.isinf(rows[:, HIGH]))
    return rows


@compiled
def add_errors(s, at, channel, count, key, sample):
    """Turn `count` true values from `s[at]` on into readings; `channel` is the first one's error row."""
    if s[ANY_ERRORS] == 0.0:
        return
    for k in range(count):
        row = ERRORS + (channel + k) * ERROR_WIDTH
        if s[row + ACTIVE] == 0.0:
            continue
        sigma, walk = s[row + SIGMA], s[row + WALK]
        x = s[at + k] + s[row + BIAS]
        if sigma > 0.0 or walk > 0.0:
            white, drift = normal_pair(key, sample, channel + k)
            bias = s[row + KEEP] * s[MEMORY + channel + k] + walk * drift
            s[MEMORY + channel + k] = bias
            x += bias + sigma * white
        quantum = s[row + QUANTUM]
        if quantum > 0.0:
            x = quantum * floor(x / quantum + 0.5)
        s[at + k] = min(max(x, s[row + LOW]), s[row + HIGH])
