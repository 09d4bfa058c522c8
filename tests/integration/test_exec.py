"""Unmodified scripts live on simulation time: every way to wait, in an order that no machine's speed changes."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

import airloom as al
from airloom.loom.loom import LoomError
from airloom.scenario import load

SCENARIO = """
name: scripted
duration: DURATION
engine: batch
vehicles:
  drone: {extends: multirotor, pose: {position: [0, 0, 0.05]}}
members:
  logic: {command: [python, -m, airloom, exec, OPTIONS script.py, one, two], rate: RATE, timeout: 5}
"""


def ran(folder, script, duration=3.0, rate=50, options=""):
    """What the script printed, and the simulation after the run."""
    (folder / "script.py").write_text(script)
    text = SCENARIO.replace("DURATION", str(duration)).replace("RATE", str(rate)).replace("OPTIONS ", options)
    (folder / "scenario.yaml").write_text(text)
    with al.Simulation(load(folder / "scenario.yaml")) as sim:
        sim.member_logs = folder
        sim.run()
    return (folder / "member-logic.txt").read_text(), sim


WAYS = {
    "sleep": ("time.sleep(1)", 1),
    "sleep that was imported": ("from time import sleep; sleep(0.5); sleep(0.5)", 1),
    "between turns": ("time.sleep(1.003)", 1.02),
    "event": ("threading.Event().wait(1)", 1),
    "condition": ("c = threading.Condition()\nwith c: c.wait(1)", 1),
    "lock": ("l = threading.Lock(); l.acquire(); assert not l.acquire(timeout=1)", 1),
    "semaphore": ("assert not threading.Semaphore(0).acquire(timeout=1)", 1),
    "timer": ("e = threading.Event(); threading.Timer(1, e.set).start(); e.wait()", 1),
    "join": ("t = threading.Thread(target=time.sleep, args=(1,)); t.start(); t.join(); assert not t.is_alive()", 1),
    "join in vain": (
        "t = threading.Thread(target=time.sleep, args=(2,)); t.start(); t.join(1); assert t.is_alive()", 1
    ),
    "queue": ("import queue\ntry: queue.Queue().get(timeout=1)\nexcept queue.Empty: pass", 1),
    "simple queue": ("import queue\ntry: queue.SimpleQueue().get(timeout=1)\nexcept queue.Empty: pass", 1),
    "pool": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(3) as p: list(p.map(time.sleep, [0.5] * 6))", 1
    ),
    "future": (
        "from concurrent.futures import ThreadPoolExecutor\np = ThreadPoolExecutor()\n"
        "try: p.submit(time.sleep, 2).result(timeout=1)\nexcept TimeoutError: pass", 1
    ),
    "sched": ("import sched\ns = sched.scheduler(); s.enter(1, 1, lambda: None); s.run()", 1),
    "select": ("import select\nselect.select([], [], [], 1)", 1),
    "poll": ("import select, os\np = select.poll(); p.register(os.pipe()[0], 1); assert p.poll(1000) == []", 1),
    "selectors": (
        "import selectors, socket\ns = selectors.DefaultSelector(); p = socket.socketpair(); s.register(p[0], 1)\n"
        "assert s.select(1) == []", 1
    ),
    "socket": (
        "import socket\ns = socket.socket(type=socket.SOCK_DGRAM); s.bind(('127.0.0.1', 0)); s.settimeout(1)\n"
        "try: s.recvfrom(9)\nexcept TimeoutError: pass", 1
    ),
    "socket of a thread": (
        "import socket\na, b = socket.socketpair(); threading.Timer(1, b.send, [b'x']).start()\n"
        "assert a.recv(1) == b'x'", 1
    ),
    "asyncio": ("import asyncio\nasyncio.run(asyncio.sleep(1))", 1),
    "asyncio with a timeout": (
        "import asyncio\ntry: asyncio.run(asyncio.wait_for(asyncio.sleep(9), 1))\nexcept TimeoutError: pass", 1
    ),
    "asyncio with threads": ("import asyncio\nasyncio.run(asyncio.to_thread(time.sleep, 1))", 1),
    "subprocess": ("import subprocess\nsubprocess.run(['sleep', '0.2'], capture_output=True)", 0),
    "subprocess in vain": (
        "import subprocess\ntry: subprocess.run(['sleep', '60'], timeout=1)\n"
        "except subprocess.TimeoutExpired: pass", 1
    ),
    "alarm": (
        "import signal\nsignal.signal(signal.SIGALRM, lambda *_: seen.append(time.monotonic()))\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.5, 0.2); time.sleep(1); assert seen == [0.5, 0.7, 0.9]", 1
    ),
    "busy waiting": ("while time.time() < start + 1: pass", 1),
    "busy waiting for a thread": ("t = threading.Timer(1, int); t.start()\nwhile t.is_alive(): pass", 1),
    "sleep of nothing": ("while time.monotonic() < 1: time.sleep(0)", 1),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_waits_are_on_simulation_time(tmp_path, way):
    code, expected = WAYS[way]
    head = "import threading, time\nseen = []\nstart = time.time()\n"
    printed, _ = ran(tmp_path, f"{head}{code}\nprint('took', round(time.time() - start, 6))\n")
    assert f"took {expected}" in printed.replace("1.0\n", "1\n").replace("0.0\n", "0\n")


def test_what_the_clocks_say(tmp_path):
    script = """
import sys, time, datetime
from datetime import date, datetime as when
time.sleep(1.5)
print(time.time(), time.time_ns(), time.monotonic(), time.perf_counter_ns(), time.clock_gettime(time.CLOCK_MONOTONIC))
print(time.gmtime()[:6], time.strftime("%Y"), when.now(datetime.UTC), when.utcnow(), date.today().year, sys.argv[1:])
print(isinstance(when.fromisoformat("2020-01-01"), datetime.date), when(2026, 1, 2) - when(2026, 1, 1))
"""
    printed, _ = ran(tmp_path, script, options="--epoch, '2030-05-01T12:00:00Z', ")
    assert printed.splitlines() == [
        "1903867201.5 1903867201500000000 1.5 1500000000 1.5",
        "(2030, 5, 1, 12, 0, 1) 2030 2030-05-01 12:00:01.500000+00:00 2030-05-01 12:00:01.500000 2030 ['one', 'two']",
        "True 1 day, 0:00:00",
    ]


CROWD = """
import os, queue, random, threading, time
from ctypes import CDLL
def work():
    CDLL(None).usleep(random.Random().randrange(int(os.environ["SLOWNESS"]) + 1))
inbox = queue.Queue(maxsize=3)
lock = threading.Lock()
def producer(k):
    for n in range(20):
        work()
        inbox.put((k, n, time.monotonic()))
        time.sleep(0.01 * (k + 1))
def consumer(k):
    while True:
        try:
            got = inbox.get(timeout=0.1)
        except queue.Empty:
            return
        work()
        with lock:
            print(k, got, time.monotonic())
            time.sleep(0.02)
for k in range(4):
    threading.Thread(target=producer, args=(k,)).start()
    threading.Thread(target=consumer, args=(k,)).start()
"""


def test_the_order_of_events_is_the_same_on_a_slow_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("SLOWNESS", "0")
    fast, _ = ran(tmp_path, CROWD)
    assert len(fast.splitlines()) == 80
    monkeypatch.setenv("SLOWNESS", "5000")
    assert ran(tmp_path, CROWD)[0] == fast


FLIGHT = """
import asyncio
from airloom import PositionYaw
from airloom.member import current
async def climb():
    me = current()
    me.command("drone", PositionYaw((0, 0, 2)))
    while me.vehicles["drone"].position[2] < 1.9:
        await asyncio.sleep(0.1)
    print("up at", round(me.time, 3))
asyncio.run(climb())
"""


def test_a_script_flies(tmp_path):
    printed, sim = ran(tmp_path, FLIGHT, duration=6)
    assert "up at" in printed
    assert sim.vehicles["drone"].position[2] == pytest.approx(2, abs=0.1)
    assert ran(tmp_path, FLIGHT, duration=6)[0] == printed


def test_an_hour_is_soon_over(tmp_path):
    began = time.monotonic()
    printed, _ = ran(tmp_path, "import time; time.sleep(3600); print(time.monotonic())", duration=3601, rate=1)
    assert "3600.0" in printed
    assert time.monotonic() - began < 60


def test_the_end_of_the_run_ends_the_script(tmp_path):
    script = "import time\ntry:\n    while True: time.sleep(1)\nfinally: print('tidied up')"
    assert "tidied up" in ran(tmp_path, script)[0]


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("raise ZeroDivisionError('too far')", "is gone.*ZeroDivisionError: too far"),
        ("raise SystemExit('no license')", "is gone.*no license"),
        ("import os; os.read(os.pipe()[0], 1)", "did not answer within 5 s"),
    ],
)
def test_faults_are_told(tmp_path, code, complaint):
    with pytest.raises(LoomError, match=f"(?s)member 'logic' {complaint}"):
        ran(tmp_path, f"import time; time.sleep(1)\n{code}")


def test_who_exits_with_0_leaves_politely(tmp_path):
    script = """
import atexit, sys, threading
atexit.register(print, 'bye')
threading.Timer(1, print, ['later']).start()
sys.exit(0)
"""
    assert ran(tmp_path, script)[0].split() == ["later", "bye"]


def test_without_a_run_it_says_what_to_do(tmp_path):
    (tmp_path / "script.py").write_text("")
    variables = {key: value for key, value in os.environ.items() if key != "AIRLOOM_LOOM"}
    done = subprocess.run(
        [sys.executable, "-m", "airloom", "exec", "script.py"],
        cwd=tmp_path,
        env=variables,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "Make it a member of a scenario" in done.stderr
