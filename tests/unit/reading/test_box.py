"""The process that reads strangers' files: whatever they do to it is one message, and the next file is read."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from airloom.errors import UserError
from airloom.reading import box
from airloom.reading.box import read_boxed
from airloom.reading.unreadable import Unreadable


class Refused(UserError):
    pass


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("field.laz").write_bytes(b"abc")
    return Path("field.laz")


def asked(function, file, *arguments, **more):
    return read_boxed(function, file, *arguments, refusal=Refused, **more)


# -- what is read there ------------------------------------------------------------------------------------------------


def number(file):
    return os.getpid()


def given_back(file, *values):
    return [file, file.read_bytes(), *values]


def large(file, count):
    return {
        "heights": np.arange(count, dtype=np.float32).reshape(2, -1),
        "few": np.zeros((0, 3)),
        "is": np.array([True]),
    }


def refusing(file):
    raise Unreadable(f"{file} is no LAZ file")


def wrong(file):
    raise KeyError("a mistake of ours")


def killed(file, how):
    os.kill(os.getpid(), how)


def greedy(file):
    return len(bytes(31 << 30))


def slow(file):
    time.sleep(1000)


def stepping(file, progress):
    for step in range(6):
        time.sleep(0.5)
        progress(step / 5)
    return "done"


def calling(file, port):
    socket.create_connection(("127.0.0.1", port))


def starting_a_program(file):
    subprocess.run(["true"], check=True)


def panicking(file):
    raise BaseException("called `Result::unwrap()` on an `Err` value")  # as what Rust raises, which is no Exception


# -- healthy -----------------------------------------------------------------------------------------------------------


def test_values_and_arrays_come_back(file):
    assert asked(given_back, file, 1, None, "ä", [2.5]) == [file, b"abc", 1, None, "ä", [2.5]]
    found = asked(large, file, 1_000_000)
    np.testing.assert_array_equal(found["heights"], np.arange(1e6, dtype=np.float32).reshape(2, -1))
    found["heights"] += 1  # and can be worked with
    assert found["few"].shape == (0, 3)
    assert found["is"].tolist() == [True]


def test_one_process_reads_all_files_and_is_replaced_when_it_has_died(file):
    one = asked(number, file)
    assert asked(number, file) == one != os.getpid()
    with pytest.raises(Refused):
        asked(killed, file, signal.SIGSEGV)
    assert asked(number, file) != one


def test_a_path_of_any_bytes(file):
    odd = Path(os.fsdecode(b"f\xff.laz"))
    file.rename(odd)
    assert asked(given_back, odd)[0] == odd
    with pytest.raises(Refused, match=r"f.+\.laz is no LAZ file"):
        asked(refusing, odd)


def test_whoever_tells_his_progress_is_given_more_time(file, monkeypatch):
    asked(number, file)
    monkeypatch.setattr(box, "PATIENCE", 2.5)
    parts = []
    assert asked(stepping, file, progress=parts.append) == "done"
    assert parts[-1] == 1.0


# -- what goes wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (refusing, [], r"^field\.laz is no LAZ file$"),
        (killed, [signal.SIGSEGV], r"^field\.laz cannot be read: .* was ended by SIGSEGV.*get it anew"),
        (killed, [signal.SIGABRT], r"^field\.laz cannot be read: .* was ended by SIGABRT.*get it anew"),
        (killed, [signal.SIGKILL], r"^field\.laz cannot be read: .* was ended by SIGKILL.*takes all memory"),
        (greedy, [], r"^field\.laz asks for more than the \d+ GB of memory .*get it anew"),
        (panicking, [], r"^field\.laz cannot be read: its reader has lost its way \(called"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_message(file, function, arguments, message):
    with pytest.raises(Refused, match=message):
        asked(function, file, *arguments)
    assert asked(given_back, file) == [file, b"abc"]


def test_what_is_no_file_is_not_even_opened(file):
    os.mkfifo("pipe.laz")
    with pytest.raises(Refused, match=r"pipe\.laz: is not a regular file"):
        asked(given_back, Path("pipe.laz"))
    with pytest.raises(Refused, match=r"none\.laz: no such file"):
        asked(given_back, Path("none.laz"))


def test_a_file_that_is_never_read_to_its_end_is_given_up(file, monkeypatch):
    one = asked(number, file)
    monkeypatch.setattr(box, "PATIENCE", 1.0)
    with pytest.raises(Refused, match=r"^field\.laz cannot be read: nothing had come of it after 1 s"):
        asked(slow, file)
    with pytest.raises(ProcessLookupError):
        os.kill(one, 0)


def test_a_mistake_of_ours_is_not_the_files(file):
    with pytest.raises(RuntimeError, match=r"(?s)Traceback.*a mistake of ours"):
        asked(wrong, file)


def test_nobody_is_called_from_there(file):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.0)
        with pytest.raises(RuntimeError, match="PermissionError"):
            asked(calling, file, server.getsockname()[1])
        with pytest.raises(BlockingIOError):
            server.accept()
    with pytest.raises(RuntimeError, match="PermissionError"):
        asked(starting_a_program, file)


# -- how it ends -------------------------------------------------------------------------------------------------------

READING = """
import sys
sys.path.insert(0, sys.argv[1])
from tests.unit.reading.test_box import Refused, asked, number, slow
try:
    print(asked(number, "field.laz"), flush=True)
    asked(slow, "field.laz")
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_it_ends_with_the_process_that_asks(file, how):
    root = Path(__file__).parents[3]
    reading = subprocess.Popen([sys.executable, "-c", READING, str(root)], stdout=subprocess.PIPE, text=True)
    with reading:
        assert reading.stdout is not None
        worker = int(reading.stdout.readline())
        reading.send_signal(how)
        assert reading.stdout.read() == ("interrupted\n" if how == signal.SIGINT else "")
    deadline = time.monotonic() + 60
    with suppress(ProcessLookupError):
        while time.monotonic() < deadline:
            os.kill(worker, 0)
            time.sleep(0.05)
        pytest.fail("the process that reads files is still there")
