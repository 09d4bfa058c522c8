"""What Airloom starts ends with it, however that comes: tried with real programs and real signals."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from pathlib import Path

import pytest

from airloom.keeper import Kept, KeptFolder, how_it_ended

FAMILY = """
import os, signal, subprocess, sys, time
code = "import os, signal, time; IGNORE; print(os.getpid(), flush=True); time.sleep(600)"
stubborn = code.replace("IGNORE", "signal.signal(signal.SIGTERM, signal.SIG_IGN)")
children = [
    [sys.executable, "-S", "-c", code.replace("IGNORE", "pass")],
    ["setsid", sys.executable, "-S", "-c", stubborn],
    ["sh", "-c", "(setsid sleep 600 & echo $!) "],
]
print(os.getpid(), flush=True)
for child in children:
    subprocess.Popen(child)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
"""
"""A child, one in a session of its own that does not end when asked, and an orphan in a session of its own."""
OWNER = """
import os, sys, time
from airloom.keeper import Kept, KeptFolder
folder = KeptFolder("airloom-test-", sys.argv[2])
kept = Kept([sys.executable, "-S", sys.argv[1]], patience=0.3, stdout=open(sys.argv[3], "wb"))
AND_THEN
"""
MEMBERS = 4
ALL_THERE = f"while len(open(SAID).read().split()) < {MEMBERS}: time.sleep(0.01)\n"


def wait_until(is_so, patience=120.0):
    deadline = time.monotonic() + patience
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def family(tmp_path):
    """The program's file, and what finds the processes of all who have said that they are there."""
    program, said = tmp_path / "family.py", tmp_path / "said"
    program.write_text(f"{FAMILY}\ntime.sleep(600)")
    said.touch()

    def processes():
        wait_until(lambda: len(said.read_text().split()) == MEMBERS and said.read_text().endswith("\n"))
        return [int(number) for number in said.read_text().split()]

    return program, said, processes


def lives(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def none_lives(processes):
    return not any(map(lives, processes))


@pytest.mark.parametrize(
    ("and_then", "number", "code"),
    [
        ("time.sleep(600)", signal.SIGKILL, -signal.SIGKILL),
        ("time.sleep(600)", signal.SIGTERM, -signal.SIGTERM),
        ("time.sleep(600)", signal.SIGHUP, -signal.SIGHUP),
        ("raise ZeroDivisionError", None, 1),
        ("os._exit(3)", None, 3),
        ("os.fork() or time.sleep(600); raise ZeroDivisionError", None, 1),
    ],
)
def test_all_end_with_the_process_that_started_them(family, tmp_path, and_then, number, code):
    program, said, processes = family
    folders = tmp_path / "folders"
    folders.mkdir()
    ready = ALL_THERE.replace("SAID", "sys.argv[3]")
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER.replace("AND_THEN", ready + and_then), program, folders, said],
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        there = processes()
        if number:
            assert all(map(lives, there))
            assert len(list(folders.iterdir())) == 1
            owner.send_signal(number)
        assert owner.wait(120) == code
        wait_until(lambda: none_lives(there))
        wait_until(lambda: not list(folders.iterdir()))
    finally:
        with suppress(ProcessLookupError):
            os.killpg(owner.pid, signal.SIGKILL)


def test_all_end_when_let_go(family):
    program, said, processes = family
    with said.open("wb") as output:
        kept = Kept([sys.executable, "-S", program], patience=0.3, stdout=output)
    there = processes()
    assert kept.poll() is None
    kept.end()
    assert kept.returncode == 0, "it has a handler for SIGTERM that ends with 0"
    assert none_lives(there)


def test_all_end_when_the_program_does(family):
    program, said, processes = family
    program.write_text(f"{FAMILY}\n{ALL_THERE.replace('SAID', repr(str(said)))}sys.exit(7)")
    with said.open("wb") as output:
        kept = Kept([sys.executable, "-S", program], patience=0.3, stdout=output)
    assert kept.wait(120) == 7
    assert none_lives(processes())


def test_the_program_itself_ends_with_a_keeper_that_is_killed(tmp_path):
    with Kept(["sh", "-c", "echo $$; exec sleep 600"], stdout=subprocess.PIPE) as kept:
        process = int(kept.stdout.readline())
        assert kept.program == process
        kept.kill()
    wait_until(lambda: not lives(process))


@pytest.mark.parametrize(
    ("code", "returned", "told"),
    [
        ("pass", 0, "ended with code 0"),
        ("sys.exit(3)", 3, "ended with code 3"),
        ("os.kill(os.getpid(), signal.SIGKILL)", -9, "was ended by SIGKILL"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", -11, "was ended by SIGSEGV"),
        ("os.kill(os.getpid(), 40)", -40, "was ended by signal 40"),
    ],
)
def test_how_it_ended_is_told(code, returned, told):
    kept = Kept([sys.executable, "-S", "-c", f"import os, signal, sys; {code}"])
    assert kept.wait(120) == returned
    assert how_it_ended(returned) == told


def test_the_program_begins_as_without_a_keeper(tmp_path):
    """The same signals are ignored, the same files open; it is in a session of its own with nothing to read."""
    program = textwrap.dedent("""
        import os, signal, sys
        print(sorted(int(one) for one in signal.valid_signals() if signal.getsignal(one) is signal.SIG_IGN))
        print(sorted(os.listdir("/proc/self/fd"))[:3], len(os.listdir("/proc/self/fd")))
        print(os.getcwd(), os.environ["HERE"], os.getsid(0) == os.getpid(), repr(sys.stdin.read()))
    """)
    options = {"cwd": tmp_path, "env": {**os.environ, "HERE": "yes"}, "stdout": subprocess.PIPE, "text": True}
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        kept = Kept([sys.executable, "-c", program], **options)
        free = subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.DEVNULL, start_new_session=True, **options
        )
    finally:
        signal.signal(signal.SIGHUP, before)
    assert kept.communicate()[0] == free.communicate()[0]


def test_a_program_that_cannot_begin(tmp_path):
    (tmp_path / "text").write_text("no program")
    for command, number in [("./nothing", errno.ENOENT), ("./text", errno.EACCES), ("nothing-at-all", errno.ENOENT)]:
        with pytest.raises(OSError, match=os.strerror(number)) as caught:
            Kept([command], cwd=tmp_path)
        assert caught.value.filename == command
    with pytest.raises(FileNotFoundError):
        Kept(["true"], cwd=tmp_path / "nowhere")


def test_a_folder_is_removed_with_all_in_it(tmp_path):
    folder = KeptFolder("airloom-test-", tmp_path)
    (folder.path / "some" / "where").mkdir(parents=True)
    folder.remove()
    assert list(tmp_path.iterdir()) == []


def test_the_keeper_holds_nothing_open():
    """Whoever waits for the end of what was passed on, or printed, waits for the program alone."""
    ours, theirs = socket.socketpair()
    kept = Kept(["sleep", "600"], stdout=subprocess.PIPE, pass_fds=[theirs.fileno()])
    theirs.close()
    os.kill(kept.program, signal.SIGSTOP)
    deadline = time.monotonic() + 60
    while set(os.listdir(f"/proc/{kept.pid}/fd")) & {str(number) for number in range(6, 1000)}:
        assert time.monotonic() < deadline, os.listdir(f"/proc/{kept.pid}/fd")
        time.sleep(0.01)
    os.kill(kept.program, signal.SIGKILL)
    assert ours.recv(1) == b""
    assert kept.stdout.read() == b""
    assert kept.wait(120) == -signal.SIGKILL
