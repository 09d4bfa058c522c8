"""What a program prints has its bounds: the beginning and the end are kept, and how much is missing is said."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from airloom.keeper import Kept

MOST = 100_000
LAST = 16_384


def printed(path, program, most=MOST):
    with path.open("w+b") as file:
        kept = Kept([sys.executable, "-c", program], stdout=file, stderr=subprocess.STDOUT, most_printed=most)
        assert kept.wait(120) == 0
    return path.read_text()


@pytest.mark.parametrize("size", [0, 1, MOST, MOST + 1, MOST + LAST])
def test_what_fits_is_kept_as_it_is(tmp_path, size):
    text = printed(tmp_path / "said", f"print(''.join(str(k % 10) for k in range({size})), end='')")
    assert text == "".join(str(k % 10) for k in range(size))


def test_of_a_flood_the_beginning_and_the_end_are_kept(tmp_path):
    flood = "import sys\nfor k in range(10 ** 6): print(k)\nprint('over', file=sys.stderr)"
    whole = "".join(f"{k}\n" for k in range(10**6)) + "over\n"
    text = printed(tmp_path / "said", flood)
    beginning, _, rest = text.partition("\n[")
    gap, _, end = rest.partition("]\n")
    assert whole.startswith(beginning)
    assert len(beginning) == MOST
    assert whole.endswith(end)
    assert gap == f"{len(whole) - MOST - len(end)} bytes are missing here: the first {MOST} are kept and the last"
    assert len(end) == LAST


def test_last_words_are_there_while_it_still_runs(tmp_path):
    program = "import time\nprint('x' * 10 ** 6)\nprint('thinking', flush=True)\ntime.sleep(600)"
    with (tmp_path / "said").open("w+b") as file:
        kept = Kept([sys.executable, "-c", program], stdout=file, stderr=subprocess.STDOUT, most_printed=MOST)
        deadline = time.monotonic() + 60
        while not (tmp_path / "said").read_text().endswith("\nthinking\n"):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        kept.end()


def test_what_its_children_print_is_kept_too(tmp_path):
    children = "import subprocess; subprocess.run(['sh', '-c', 'echo one; (sleep 0.2; echo late) & echo two >&2'])"
    assert printed(tmp_path / "said", f"{children}\nimport time; time.sleep(1)") == "one\ntwo\nlate\n"
