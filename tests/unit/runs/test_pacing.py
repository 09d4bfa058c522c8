import pytest

from airloom.runs.pacing import Pacer


class FakeTime:
    """A clock that only moves when somebody sleeps or works."""

    def __init__(self, oversleep=0.0):
        self.now = 100.0
        self.oversleep = oversleep

    def clock(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds + self.oversleep

    def work(self, seconds):
        self.now += seconds


def a_pacer(speed, time):
    pacer = Pacer(speed, time.clock, time.sleep)
    pacer.start(0.0)
    return pacer


@pytest.mark.parametrize(("speed", "expected"), [(1.0, 10.0), (5.0, 2.0), (0.5, 20.0)])
def test_time_passes_at_the_chosen_speed(speed, expected):
    time = FakeTime()
    pacer = a_pacer(speed, time)
    for chunk in range(1, 101):
        time.work(0.001)
        pacer.wait(chunk * 0.1)
    assert time.now - 100.0 == pytest.approx(expected)
    assert pacer.lateness.chunks == 100
    assert pacer.lateness.late == 0
    assert pacer.lateness.maximum == pytest.approx(0.0, abs=1e-9)


def test_a_slow_chunk_is_late_and_made_up_for():
    time = FakeTime()
    pacer = a_pacer(1.0, time)
    for chunk in range(1, 11):
        time.work(0.35 if chunk == 3 else 0.01)
        pacer.wait(chunk * 0.1)
    assert time.now - 100.0 == pytest.approx(1.0)
    assert pacer.lateness.late == 3
    assert pacer.lateness.maximum == pytest.approx(0.25)
    assert pacer.lateness.mean == pytest.approx((0.25 + 0.16 + 0.07) / 10)


def test_oversleeping_a_little_does_not_count_nor_add_up():
    time = FakeTime(oversleep=0.0005)
    pacer = a_pacer(1.0, time)
    for chunk in range(1, 1001):
        pacer.wait(chunk * 0.01)
    assert time.now - 100.0 == pytest.approx(10.0, abs=0.001)
    assert pacer.lateness.late == 0


def test_the_schedule_starts_where_the_simulation_stands():
    time = FakeTime()
    pacer = Pacer(2.0, time.clock, time.sleep)
    pacer.start(30.0)
    pacer.wait(31.0)
    assert time.now == pytest.approx(100.5)


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan"), float("inf")])
def test_a_speed_is_a_number_above_zero(speed):
    with pytest.raises(ValueError, match="above 0"):
        Pacer(speed)
