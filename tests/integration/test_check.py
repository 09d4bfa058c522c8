"""`airloom check`: good plugins pass, each bad habit is found and named."""

import subprocess
import sys
from dataclasses import replace

import pytest

from airloom.check.plugins import ELSEWHERE, HERE, KEEPS_TO_ITSELF, RESTARTS, TICK_BY_TICK, examine, subject_of
from airloom.plugin import PluginError

GOOD = '''
import airloom as al
import numpy as np

class Good(al.System):
    """Pushes now and then."""
    rate = 10.0

    def reset(self, sim):
        self.random, self.calls = np.random.default_rng(sim.seed), 0

    def pre_update(self, sim):
        self.calls += 1
        sim.vehicles["cf"].push(self.random.normal(size=3) * 1e-4 * (self.calls % 3))

    def post_update(self, sim):
        pass
'''

CONTROLLER = '''
import airloom as al
import numpy as np

class Climber(al.Controller):
    """Holds the height, more or less."""

    def control(self, vehicle):
        error = vehicle.setpoint.position[2] - vehicle.position[2] - vehicle.velocity[2]
        return np.full(4, np.clip(2272 + 100 * error, 0, 2618))
'''

SYSTEM = '''
import random, time
import airloom as al

count = 0

class Bad(al.System):
    """Has a bad habit."""

    def configure(self, sim):
        self.calls = 0

    def pre_update(self, sim):
        global count
        count += 1
        self.calls += 1
        sim.vehicles["cf"].push((0, 1e-6 * {number}, 0))
'''


@pytest.fixture
def checked(tmp_path):
    def check(text, longest=0.5, **settings):
        file = tmp_path / "mine.py"
        file.write_text(text)
        return {one.name: one for one in examine(replace(subject_of(str(file), settings=settings), longest=longest))}

    return check


def failures(checks):
    return [name for name, one in checks.items() if one.passed is False]


def test_a_good_system_passes(checked):
    checks = checked(GOOD)
    assert failures(checks) == []
    assert checks["pre_update comes at its rate"].detail == "5 calls, 10 Hz"
    assert checks["post_update comes at its rate"].detail == "6 calls, 10 Hz"


def test_a_good_controller_passes(checked):
    checks = checked(CONTROLLER, longest=6.0)
    assert failures(checks) == []
    assert checks["control comes at its rate"].detail == "250 calls, 250 Hz"


@pytest.mark.parametrize("number", ["random.random()", "time.time()"])
def test_chance_and_the_wall_clock_are_found(checked, number):
    checks = checked(SYSTEM.format(number=number))
    assert failures(checks) == [ELSEWHERE, HERE]
    assert "sim.seed" in checks[HERE].hint
    assert checks[RESTARTS].passed is None


def test_variables_of_the_module_are_found(checked):
    checks = checked(SYSTEM.format(number="count"))
    assert failures(checks) == [HERE, RESTARTS, KEEPS_TO_ITSELF]
    assert "in self" in checks[HERE].hint


def test_a_forgotten_reset_is_found(checked):
    checks = checked(SYSTEM.format(number="self.calls"))
    assert failures(checks) == [RESTARTS]
    assert "reset()" in checks[RESTARTS].hint
    assert checks[TICK_BY_TICK].passed


def test_hashes_that_change_with_the_process_are_found(checked):
    checks = checked(SYSTEM.format(number="(hash('gust') % 1_000_003 / 1000)"))
    assert ELSEWHERE in failures(checks)


def test_an_exception_is_told_with_its_line(checked):
    checks = checked(SYSTEM.format(number="1 / (self.calls - 3)"))
    assert failures(checks) == ["flies"]
    for part in ("pre_update", "mine.py:17", "ZeroDivisionError"):
        assert part in checks["flies"].detail


def test_missing_docstring_parameters_and_hooks_are_found(checked):
    text = "import airloom as al\n\nclass Bare(al.System):\n    def pre_updat(self, sim):\n        pass\n"
    checks = checked(text)
    assert failures(checks) == ["has a docstring", "has all its parts"]
    assert "did you mean pre_update" in checks["has all its parts"].hint
    text = GOOD.replace("import numpy as np", "import numpy as np\n\nclass P(al.Parameters):\n    force: float\n")
    text = text.replace("rate = 10.0", "rate = 10.0\n    Parameters = P")
    assert failures(checked(text)) == ["parameters have values"]
    assert failures(checked(text, force=1.0)) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(:\n", "line 1"),
        ("x = 1\n", "defines no plugin"),
        (GOOD + GOOD.replace("class Good", "class Better"), "several plugins"),
    ],
)
def test_a_file_without_the_one_plugin_is_refused(tmp_path, text, message):
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(PluginError, match=message):
        subject_of(str(file))


@pytest.mark.parametrize(("text", "code", "sign"), [(GOOD, 0, "All good."), (SYSTEM.format(number="count"), 1, "✗")])
def test_the_command_reports_and_sets_the_exit_code(tmp_path, text, code, sign):
    (tmp_path / "mine.py").write_text(text)
    command = [sys.executable, "-m", "airloom", "check", "mine.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=180)
    assert done.returncode == code, done.stderr
    assert sign in done.stdout
