"""How long a button must be held for what cannot be taken back."""

from airloom.studio.panels.hold_button import HOLD, LONGEST_GAP, Hold


def held(hold, times):
    return [time for time in times if hold.goes_on(time)]


def test_it_acts_once_when_it_was_held_for_long_enough():
    assert held(Hold(), [k / 10 for k in range(30)]) == [HOLD]


def test_letting_go_begins_again():
    hold = Hold()
    assert held(hold, [0.0, 0.3, 0.6, 0.9]) == []
    later = 0.9 + 1.1 * LONGEST_GAP
    assert held(hold, [later, later + 0.3, later + 0.6]) == []
    assert held(hold, [later + 0.9, later + 1.2, later + 1.5]) == [later + 1.2]


def test_it_acts_again_when_it_is_held_again():
    hold = Hold()
    assert len(held(hold, [k / 10 for k in range(20)])) == 1
    assert len(held(hold, [10 + k / 10 for k in range(20)])) == 1
