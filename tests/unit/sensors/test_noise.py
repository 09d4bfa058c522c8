"""Philox against its authors' known answers, and normal numbers against their distribution."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from airloom.sensors.noise import normal_pair, philox, stream_key

ONES = 0xFFFFFFFF


def words(counter: tuple[int, int, int, int], key: int) -> list[str]:
    return [f"{int(word):08x}" for word in philox(*map(np.uint64, counter), np.uint64(key))]


@pytest.mark.parametrize(
    ("counter", "key", "answer"),
    [
        ((0, 0, 0, 0), 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((ONES, ONES, ONES, ONES), (ONES << 32) | ONES, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0x299F31D0 << 32) | 0xA4093822,
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_philox_known_answers(counter: tuple[int, int, int, int], key: int, answer: str) -> None:
    """philox4x32-10 in the file kat_vectors of Random123 (Salmon et al., SC 2011)."""
    assert words(counter, key) == answer.split()


def draws(key: int, channel: int, count: int = 20_000) -> np.ndarray:
    return np.array([normal_pair(np.uint64(key), k, channel) for k in range(count)])


def test_numbers_are_standard_normal_and_independent() -> None:
    pairs = draws(stream_key(1, "cf", "imu"), 0)
    for column in pairs.T:
        assert stats.kstest(column, "norm").pvalue > 1e-3
        assert abs(np.corrcoef(column[1:], column[:-1])[0, 1]) < 0.03
    assert abs(np.corrcoef(pairs.T)[0, 1]) < 0.03


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((stream_key(1, "cf", "imu"), 0), (stream_key(1, "cf", "imu"), 1)),
        ((stream_key(1, "cf", "imu"), 0), (stream_key(2, "cf", "imu"), 0)),
        ((stream_key(1, "cf", "imu"), 0), (stream_key(1, "cf", "gnss"), 0)),
        ((stream_key(1, "cf", "imu"), 0), (stream_key(1, "cg", "imu"), 0)),
    ],
    ids=["channel", "seed", "sensor", "vehicle"],
)
def test_streams_are_independent(one: tuple[int, int], other: tuple[int, int]) -> None:
    assert abs(np.corrcoef(draws(*one)[:, 0], draws(*other)[:, 0])[0, 1]) < 0.03


def test_a_draw_depends_on_its_counter_only() -> None:
    key = np.uint64(stream_key(5, "a", "b"))
    late = normal_pair(key, 12345, 3)
    normal_pair(key, 1, 1)
    assert normal_pair(key, 12345, 3) == late


def test_names_do_not_run_together() -> None:
    assert stream_key(1, "ab", "c") != stream_key(1, "a", "bc")
    assert stream_key(1, "1", "c") != stream_key(11, "", "c")
