"""The physical layer of 802.11g (ERP-OFDM, 20 MHz): how long a frame is on the air and how likely it is understood.

Times are those of IEEE 802.11-2020, table 18-5 and clause 17.3. Sensitivities are the defaults of ns-3.37.
"""

from __future__ import annotations

from math import log1p, log10

import numpy as np

from airloom.compiled import compiled

US = 1000
"""ns"""
PREAMBLE_NS, SIGNAL_NS, SYMBOL_NS = 16 * US, 4 * US, 4 * US
EXTENSION_NS = 6 * US
"""Silence after each frame, which gives the decoder the time it has in the 5 GHz band."""
DETECTION_NS = 4 * US
"""How long a preamble must last to be noticed."""
SIFS_NS, LONG_SLOT_NS, SHORT_SLOT_NS = 10 * US, 20 * US, 9 * US
SLOWEST_ACK_NS = 304 * US
"""An acknowledgement at 1 Mb/s: whoever could not decode a frame waits for one."""
ACK_BYTES = 14
MAC_BYTES, LLC_BYTES = 28, 8
HEADERS = MAC_BYTES + LLC_BYTES
"""Bytes around a payload."""
LONGEST = 2304 - LLC_BYTES
"""Bytes of payload that a frame can carry."""

DETECTABLE_SNR_DB = 4.0
ENERGY_DBM = -62.0
"""The medium is busy with this much energy of whatever kind."""
UNHEEDED_DB = 19.0
"""Signals that are so much weaker than what is followed do not count, not even as interference."""
BANDWIDTH = 20e6
TRANSMIT_DBM, NOISE_FIGURE_DB = 16.0206, 7.0
BOLTZMANN, ROOM_TEMPERATURE = 1.380649e-23, 290.0

_CODING = np.array(
    [
        [-2.0010, 6.8358, 1.7942],
        [-0.3936, 1.4496 * 2.0**1.4013, 1.4013],  # BPSK 3/4 is QPSK 3/4 with twice the energy a bit
        [-1.1398, 2.6575, 1.5473],
        [-0.3936, 1.4496, 1.4013],
        [-0.6233, 0.78621, 1.1922],
        [-1.0314, 0.21525, 1.3351],
        [-0.6243, 0.16118, 1.0805],
        [-0.8314, 0.091293, 1.1345],
    ]
)
"""a, b, c of `error_ratios`, a row for each of the scenario's RATES."""
EXAMPLES = (32, 1458)
"""Bytes of the frames that were simulated."""
LONG_FROM = 400
"""Bytes from which a frame is taken after the longer example, as in ns-3."""
LOWEST_SNR_DB, SNR_STEP_DB, SNR_STEPS = -10.0, 0.5, 121
MANDATORY = (0, 2, 4)
"""Indices of the rates at which acknowledgements may be sent: 6, 12 and 24 Mb/s."""


def noise_floor_dbm(noise_figure_db: float) -> float:
    """Thermal noise k T B of the band at 290 K, and what the receiver adds."""
    return 10.0 * log10(BOLTZMANN * ROOM_TEMPERATURE * BANDWIDTH * 1e3) + noise_figure_db


def acknowledgement_rate(rate: int) -> int:
    """Index of the fastest mandatory rate that is not faster than the data's."""
    return max(index for index in MANDATORY if index <= rate)


@compiled
def air_time(size, megabits):
    """How long a frame with `size` bytes of MAC header, data and checksum is on the air, ns.

    Preamble, SIGNAL, then symbols with 4 R bits each (R in Mb/s) for 16 service bits, 8 bits a byte and 6 tail bits,
    then the signal extension (IEEE 802.11-2020, 17.4.3 and 18.5.3).
    """
    bits = 22 + 8 * size
    symbols = -(-bits // (4 * megabits))
    return PREAMBLE_NS + SIGNAL_NS + symbols * SYMBOL_NS + EXTENSION_NS


def error_ratios() -> np.ndarray:
    """Share of frames that are not understood, [rate, short or long, signal-to-noise ratio].

        1 − exp(−8 n λ(γ)),   λ(γ) = exp(a − b γᶜ)

    for frames of n bytes at a linear ratio γ. λ is how often a decoding error begins, per bit; its form is that of the
    union bound for a convolutional code, of which a term falls as e^(−dγ). a, b and c were fitted for each rate to the
    link simulations over white noise (802.11's convolutional code, frames of 32 and 1458 bytes) that ns-3's default
    error model rests on: Patidar, Roy, Henderson, Chandramohan, "Link-to-system mapping for ns-3 Wi-Fi OFDM error
    models", WNS3 2017. The largest difference to their ratios is 0.025.
    """
    decibels = LOWEST_SNR_DB + SNR_STEP_DB * np.arange(SNR_STEPS)
    a, b, c = _CODING.T[:, :, None]
    events = np.exp(a - b * (10.0 ** (0.1 * decibels)) ** c)
    return -np.expm1(-8.0 * np.array(EXAMPLES)[None, :, None] * events[:, None, :])


def clear_from(ratios: np.ndarray) -> np.ndarray:
    """The linear signal-to-noise ratio from which no frame at all is lost, [rate, short or long]; of the best links
    nothing has to be worked out.
    """
    steps = SNR_STEPS - np.argmax(ratios[..., ::-1] > 0.0, axis=-1)
    return np.asarray(10.0 ** (0.1 * (LOWEST_SNR_DB + SNR_STEP_DB * (steps + 1))))


@compiled
def error_events(ratios, rate, is_long, snr):
    """How many decoding errors begin in a bit at a linear signal-to-noise ratio, in the mean.

    P(frame understood) = exp(−Σ nᵢ λᵢ) over its parts of nᵢ bits: errors begin at a constant rate, so that length
    matters as in IEEE 802.11-14/0803r1. The ratio of the example is interpolated linearly between half decibels, as
    ns-3 does it; where the curve is steep, that is up to 0.05 from the curve itself.
    """
    place = (10.0 * log10(snr) - LOWEST_SNR_DB) / SNR_STEP_DB if snr > 0.0 else 0.0
    place = min(max(place, 0.0), SNR_STEPS - 1.001)
    k = int(place)
    low, high = ratios[rate, is_long, k], ratios[rate, is_long, k + 1]
    return -log1p(-(low + (place - k) * (high - low))) / (8.0 * EXAMPLES[is_long])
