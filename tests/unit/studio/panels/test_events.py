"""The list of events, as it is read."""

import pytest

from airloom.studio.panels.events import MOST, _listed, folded, readable


def event(source, text="mode idle → position_yaw", time=1.0, level="info"):
    return {"source": source, "text": text, "time": time, "level": level}


VEHICLES = [f"drone_{k}" for k in range(100)]


def test_what_many_vehicles_tell_alike_is_one_line():
    events = [event("control link", "takeoff"), *map(event, VEHICLES[:20]), event("drone_3", time=2.0)]
    assert [len(told) for told in folded(events, VEHICLES)] == [1, 20, 1]
    shown = _listed(events, VEHICLES)
    assert shown.index("drone_3</b>") < shown.index("20 vehicles</b> mode idle") < shown.index("control link</b>")
    assert "drone_0, drone_1" in shown


def test_what_differs_stays_apart():
    events = [
        event("drone_0"),
        event("drone_1", level="warning"),
        event("drone_2", "landed"),
        event("wind"),
        event("a"),
    ]
    assert [len(told) for told in folded(events, VEHICLES)] == [1] * 5


def test_the_newest_come_first_and_not_too_many():
    shown = _listed([event("drone_0", time=float(k)) for k in range(200)], VEHICLES)
    assert shown.count("drone_0</b>") == MOST
    assert shown.index("199.00 s") < shown.index("198.00 s")


@pytest.mark.parametrize(
    ("told", "read"),
    [
        ("position=[1.2345678901234567, -0.00000012, 3.0]", "position=[1.235, 0, 3.0]"),
        ("x=-12.500049999", "x=-12.5"),
        ("after 0.5 s, version 1.2.3", "after 0.5 s, version 1.2.3"),
        ("tiny 1.23456e-07", "tiny 0"),
    ],
)
def test_numbers_are_short(told, read):
    assert readable(told) == read
