"""Unmodified scripts live on simulation time: every way to wait, in an order that no machine's speed changes."""

from __future__ import annotations

import os
import re
import signal
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
  logic: {command: [python, -m, airloom, exec, OPTIONS script.py, one, two], rate: RATE, timeout: TIMEOUT}
"""


def ran(folder, script, duration=3.0, rate=50, options="", timeout=200):
    """What the script printed, and the simulation after the run."""
    (folder / "script.py").write_text(script)
    text = SCENARIO.replace("DURATION", str(duration)).replace("RATE", str(rate)).replace("OPTIONS ", options)
    text = text.replace("TIMEOUT", str(timeout))
    (folder / "scenario.yaml").write_text(text)
    with again(folder) as sim:
        sim.member_logs = folder
        sim.run()
    return (folder / "member-logic.txt").read_text(), sim


def again(folder):
    return al.Simulation(load(folder / "scenario.yaml"))


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
    "lock that is taken twice": (
        "l = threading.RLock(); l.acquire(); l.acquire()\n"
        "threading.Thread(target=lambda: seen.append(l.acquire(timeout=1))).start()\n"
        "time.sleep(1.01); assert seen == [False]; l.release(); l.release()", 1.02
    ),
    "condition that comes true": (
        "c = threading.Condition()\ndef tell():\n    with c: seen.append(1); c.notify()\n"
        "threading.Timer(1, tell).start()\nwith c: assert c.wait_for(lambda: seen, 2)", 1
    ),
    "barrier": (
        "b = threading.Barrier(2); threading.Timer(1, b.wait).start(); b.wait(2)", 1
    ),
    "broken barrier": (
        "try: threading.Barrier(2).wait(1)\nexcept threading.BrokenBarrierError: pass", 1
    ),
    "end of the main thread": (
        "def later(): threading.main_thread().join(); time.sleep(1); print('took', round(time.time() - start, 6))\n"
        "threading.Thread(target=later).start()", 1
    ),
    "pool of multiprocessing's threads": (
        "from multiprocessing.pool import ThreadPool\np = ThreadPool(3); p.map(time.sleep, [0.5] * 6, 1)", 1
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
    "pipe": (
        "import os\nr, w = os.pipe()\n"
        "threading.Timer(1, os.write, (w, b'now')).start(); assert os.read(r, 9) == b'now'", 1
    ),
    "pipe as files": (
        "import os\nr, w = os.pipe()\nout = open(w, 'w')\n"
        "def speak():\n  for k in range(3): time.sleep(0.4); print('line', k, file=out, flush=True)\n  out.close()\n"
        "threading.Thread(target=speak).start(); assert os.fdopen(r).read() == 'line 0\\nline 1\\nline 2\\n'", 1.2
    ),
    "pipe that is full": (
        "import os\nr, w = os.pipe()\n"
        "def drain(): time.sleep(1); seen.append(sum(len(os.read(r, 9999)) for _ in range(40)))\n"
        "threading.Thread(target=drain).start(); assert os.write(w, bytes(300_000)) == 300_000", 1
    ),
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
    "writing to a full socket": (
        "import socket\na, b = socket.socketpair()\n"
        "def read():\n    time.sleep(1)\n    while sum(seen) < 5000000: seen.append(len(b.recv(1 << 20)))\n"
        "threading.Thread(target=read).start(); a.sendall(bytes(5000000))", 1
    ),
    "writing to a full socket in vain": (
        "import socket\na, b = socket.socketpair(); a.settimeout(1)\n"
        "try: a.sendall(bytes(5000000))\nexcept TimeoutError: pass", 1
    ),
    "server and client": (
        "import http.server, urllib.request\n"
        "class Slow(http.server.BaseHTTPRequestHandler):\n"
        "    def do_GET(self):\n"
        "        time.sleep(1); self.send_response(200); self.end_headers(); self.wfile.write(bytes(5000000))\n"
        "server = http.server.HTTPServer(('127.0.0.1', 0), Slow)\n"
        "threading.Thread(target=server.serve_forever).start()\n"
        "answer = urllib.request.urlopen(f'http://127.0.0.1:{server.server_port}', timeout=5)\n"
        "assert len(answer.read()) == 5000000\n"
        "assert time.time() - start < 1.1; server.shutdown(); time.sleep(start + 2 - time.time())", 2
    ),
    "asyncio's timeout among sleeps": (
        "import asyncio\nasync def main():\n    async with asyncio.timeout(0.5):\n"
        "        while True: await asyncio.sleep(0.1)\n"
        "time.sleep(1.6)\ntry: asyncio.run(main())\nexcept TimeoutError: pass", 2.1
    ),
    "clock that a class holds": (
        "class Clock: now, sleep = time.monotonic, time.sleep\nc = Clock(); c.sleep(1); assert c.now() == 1", 1
    ),
    "what is left for the end": (
        "import atexit\natexit.register(lambda: (time.sleep(1), print('took', round(time.time() - start, 6))))", 1
    ),
    "asyncio in the order of time": (
        "import asyncio\nasync def main():\n    loop = asyncio.get_running_loop()\n"
        "    for k in (3, 1, 2): loop.call_later(k / 4, seen.append, k)\n    await asyncio.sleep(1)\n"
        "asyncio.run(main()); assert seen == [1, 2, 3]", 1
    ),
    "asyncio": ("import asyncio\nasyncio.run(asyncio.sleep(1))", 1),
    "asyncio with a timeout": (
        "import asyncio\ntry: asyncio.run(asyncio.wait_for(asyncio.sleep(9), 1))\nexcept TimeoutError: pass", 1
    ),
    "asyncio with threads": ("import asyncio\nasyncio.run(asyncio.to_thread(time.sleep, 1))", 1),
    "subprocess": ("import subprocess\nsubprocess.run(['sleep', '0.2'], capture_output=True)", 0),
    "subprocess with patience": ("import subprocess\nsubprocess.run(['sleep', '0.2'], timeout=60)", 0),
    "subprocess with output": (
        "import subprocess\nout = subprocess.run('sleep 0.1; head -c 300000 /dev/zero', shell=True, "
        "capture_output=True, timeout=60).stdout\nassert len(out) == 300000", 0
    ),
    "subprocess that babbles": (
        "import subprocess\ntry: subprocess.run(['yes'], capture_output=True, timeout=0.49)\n"
        "except subprocess.TimeoutExpired: pass", 0.5
    ),
    "subprocess while others work": (
        "import subprocess\nthreading.Timer(0.5, lambda: seen.append(time.monotonic())).start()\n"
        "subprocess.run(['sleep', '4'], timeout=60); assert seen == [0.5]", 0.5
    ),
    "subprocess fed by a thread": (
        "import subprocess\np = subprocess.Popen(['cat'], stdin=-1)\n"
        "threading.Timer(0.1, p.stdin.close).start(); p.wait()", 0.1
    ),
    "subprocess of asyncio": (
        "import asyncio\nasync def main():\n"
        "    p = await asyncio.create_subprocess_shell('sleep 0.1; head -c 300000 /dev/zero', stdout=-1)\n"
        "    assert len((await p.communicate())[0]) == 300000\nasyncio.run(main())", 0
    ),
    "subprocess of asyncio in vain": (
        "import asyncio\nasync def main():\n    p = await asyncio.create_subprocess_exec('sleep', '60')\n"
        "    try: await asyncio.wait_for(p.wait(), 1)\n    except TimeoutError: p.kill(); await p.wait()\n"
        "asyncio.run(main())", 1
    ),
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
    "busy waiting for a lock": (
        "l = threading.Lock(); l.acquire(); threading.Timer(1, l.release).start()\n"
        "while not l.acquire(blocking=False): pass", 1
    ),
    "busy waiting for a queue": (
        "import queue\nq = queue.Queue(); threading.Timer(1, q.put, [1]).start()\nwhile q.empty(): pass", 1
    ),
    "busy waiting for a future": (
        "from concurrent.futures import ThreadPoolExecutor\nf = ThreadPoolExecutor().submit(time.sleep, 1)\n"
        "while not f.done(): pass", 1
    ),
    "busy waiting for data": (
        "import socket\na, b = socket.socketpair(); a.setblocking(False); threading.Timer(1, b.send, [b'x']).start()\n"
        "while not seen:\n    try: seen.append(a.recv(1))\n    except BlockingIOError: pass", 1
    ),
    "the end of a stream, again and again": (
        "import socket\na, b = socket.socketpair(); b.close(); count = 0\n"
        "while time.monotonic() < 1: count += a.recv(1) == b''\nassert count <= 51, count", 1
    ),
    "its end, told into a buffer": (
        "import socket\na, b = socket.socketpair(); b.close(); a.setblocking(False); count = 0\n"
        "while time.monotonic() < 1: count += a.recv_into(bytearray(9)) == 0\nassert count <= 51, count", 1
    ),
    "busy looking at what is ready": (
        "import select, socket\na, b = socket.socketpair(); b.close(); threading.Timer(1, seen.append, [1]).start()\n"
        "while not seen: assert select.select([a], [], [], 5)[0] == [a]\nseen.clear()", 1
    ),
    "busy reading the end of a pipe": (
        "import os\na, b = os.pipe(); os.close(b); threading.Timer(1, seen.append, [1]).start()\n"
        "while not seen: assert os.read(a, 1) == b''\nseen.clear()", 1
    ),
    "sleep of nothing": ("while time.monotonic() < 1: time.sleep(0)", 1),
}  # fmt: skip


COMPILING = """
import time
from numba import njit
@njit(cache=True)
def square(x): return x * x
start = time.time()
square(2.0)
print("compiled in", time.time() - start, "s, found", sum(square.stats.cache_hits.values()))
looks = 0
while time.time() == start: looks += 1
print("the time moves after", looks, "looks")
"""


def test_what_numba_has_in_its_cache_takes_no_time(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    ran(tmp_path, "", duration=0.1)
    (tmp_path / "script.py").write_text(COMPILING)
    said = []
    for _ in range(2):
        with again(tmp_path) as sim:
            sim.member_logs = tmp_path
            sim.run()
        said.append((tmp_path / "member-logic.txt").read_text())
    assert said[0].startswith("compiled in 0.0 s, found 0\n")
    assert said[1] == said[0].replace("found 0", "found 1")


@pytest.mark.parametrize("way", WAYS)
def test_waits_are_on_simulation_time(tmp_path, way):
    code, expected = WAYS[way]
    head = "import threading, time\nseen = []\nstart = time.time()\n"
    printed, _ = ran(tmp_path, f"{head}{code}\nprint('took', round(time.time() - start, 6))\n")
    assert float(re.findall(r"took (\S+)", printed)[-1]) == expected
    assert "Traceback" not in printed


def test_what_the_clocks_say(tmp_path):
    script = """
import sys, time, datetime
from datetime import date, datetime as when
time.sleep(0.9)
print(time.time(), time.time_ns(), time.monotonic(), time.perf_counter_ns(), time.clock_gettime(time.CLOCK_MONOTONIC))
print(time.gmtime()[:6], time.strftime("%Y"), when.now(datetime.UTC), when.utcnow(), date.today().year, sys.argv[1:])
print(isinstance(when.fromisoformat("2020-01-01"), datetime.date), when(2026, 1, 2) - when(2026, 1, 1))
class Birthday(date): pass
print([date(2030, 5, 1), when(2030, 5, 1), Birthday(2030, 5, 1)])
print(issubclass(when, date), isinstance(date.today(), Birthday), isinstance(date.today(), when))
import logging
logging.basicConfig(format="%(asctime)s, %(relativeCreated).0f ms", stream=sys.stdout); logging.error("")
print(time.localtime()[:6], time.asctime(), time.ctime(), when.now(), when.today(), time.tzname[0])
"""
    printed, _ = ran(tmp_path, script, options="--epoch, '2030-05-01T12:00:00.6Z', ")
    assert printed.splitlines() == [
        "1903867201.5 1903867201500000000 0.9 900000000 0.9",
        "(2030, 5, 1, 12, 0, 1) 2030 2030-05-01 12:00:01.500000+00:00 2030-05-01 12:00:01.500000 2030 ['one', 'two']",
        "True 1 day, 0:00:00",
        "[datetime.date(2030, 5, 1), datetime.datetime(2030, 5, 1, 0, 0), Birthday(2030, 5, 1)]",
        "True False False",
        "2030-05-01 12:00:01,500, 900 ms",
        "(2030, 5, 1, 12, 0, 1) Wed May  1 12:00:01 2030 Wed May  1 12:00:01 2030 "
        "2030-05-01 12:00:01.500000 2030-05-01 12:00:01.500000 UTC",
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


PAIR = """
name: pair
duration: 4
engine: batch
vehicles:
  drone: {extends: multirotor, pose: {position: [0, 0, 0.05]}}
  other: {extends: multirotor, pose: {position: [0, 3, 0.05]}}
members:
  leader: {command: [python, -m, airloom, exec, leader.py], rate: 50, vehicles: drone}
  follower: {command: [python, -m, airloom, exec, follower.py], rate: 20, vehicles: other}
"""
WASTE = """
import os, random, time
def waste():
    for _ in range(random.Random().randrange(int(os.environ["SLOWNESS"]) + 1)): pass
"""
LEADER = """
import threading, time
from airloom import PositionYaw
from airloom.member import current
from waste import waste
me = current()
def lead():
    for k in range(20):
        waste()
        me.command("drone", PositionYaw((0.1 * k, 0, 2)))
        me.send("follower", str(k).encode())
        time.sleep(0.15)
def watch():
    while time.monotonic() < 3:
        waste()
        print(time.monotonic(), me.vehicles["drone"].position)
        time.sleep(0.07)
threading.Thread(target=lead).start()
threading.Thread(target=watch).start()
"""
FOLLOWER = """
import asyncio
from airloom import PositionYaw
from airloom.member import current
from waste import waste
async def follow():
    me = current()
    while True:
        waste()
        for letter in me.letters():
            print(me.time, letter.other, letter.content)
            me.command("other", PositionYaw((0.1 * int(letter.content), 3, 2)))
        await asyncio.sleep(0.03)
asyncio.run(follow())
"""


def paired(folder):
    (folder / "pair.yaml").write_text(PAIR)
    for name, text in (("waste", WASTE), ("leader", LEADER), ("follower", FOLLOWER)):
        (folder / f"{name}.py").write_text(text)


def test_two_scripts_give_the_same_bits_at_any_speed(tmp_path, monkeypatch):
    paired(tmp_path)

    def once(slowness):
        monkeypatch.setenv("SLOWNESS", str(slowness))
        with al.Simulation(load(tmp_path / "pair.yaml")) as sim:
            sim.member_logs = tmp_path
            sim.run()
            return sim.state_hash(), *((tmp_path / f"member-{name}.txt").read_text() for name in ("leader", "follower"))

    first = once(0)
    assert len(first[2].splitlines()) == 20
    assert len(first[1].splitlines()) == 38
    load_beside = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        assert once(300_000) == first
    finally:
        load_beside.kill()
        load_beside.wait()


ENDLESS = """
import os, subprocess, threading, time
print(os.getpid(), subprocess.Popen(["sleep", "1000"]).pid)
def loop():
    while True: time.sleep(0.1)
threading.Thread(target=loop).start()
threading.Thread(target=loop, daemon=True).start()
loop()
"""


def test_an_interrupt_ends_the_run_its_scripts_and_their_children(tmp_path):
    (tmp_path / "pair.yaml").write_text(PAIR)
    for name in ("leader", "follower"):
        (tmp_path / f"{name}.py").write_text(ENDLESS)
    run = subprocess.Popen(
        [sys.executable, "-m", "airloom", "run", "pair.yaml", "--headless", "--no-figures", "--out", "run",
         "--set", "duration=100000"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    logs = [tmp_path / f"run/member-{name}.txt" for name in ("leader", "follower")]
    began = time.monotonic()
    while not all(log.exists() and log.read_text().endswith("\n") for log in logs):
        assert time.monotonic() - began < 120
        time.sleep(0.05)
    processes = [pid for log in logs for pid in log.read_text().split()]
    assert len(processes) == 4
    assert all(os.path.exists(f"/proc/{pid}") for pid in processes)
    run.send_signal(signal.SIGINT)
    _, complaints = run.communicate(timeout=120)
    assert re.fullmatch(r"Stopped at t = .* s by SIGINT\.\n", complaints)
    ended = time.monotonic()
    while left := [pid for pid in processes if os.path.exists(f"/proc/{pid}")]:
        assert time.monotonic() - ended < 60, f"{left} are left over"  # the system needs a moment to bury the dead
        time.sleep(0.05)
    assert [len(log.read_text().split()) for log in logs] == [2, 2], "nothing but what they said themselves"


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


def test_ten_minutes_are_soon_over(tmp_path):
    began = time.monotonic()
    printed, _ = ran(tmp_path, "import time; time.sleep(600); print(time.monotonic())", duration=601, rate=1)
    assert "600.0" in printed
    assert time.monotonic() - began < 300


@pytest.mark.parametrize(
    "waiting",
    [
        "while True: time.sleep(1)",
        "threading.Event().wait()",
        "from concurrent.futures import ThreadPoolExecutor\np = ThreadPoolExecutor()\n"
        "p.submit(int); p.submit(time.sleep, 99).result()",
        "import asyncio\nasyncio.run(asyncio.to_thread(time.sleep, 99))",
        "[threading.Thread(target=time.sleep, args=(99,)).start() for _ in range(3)]",
        "import socket\nsocket.socketpair()[0].recv(1)",
    ],
)
def test_the_end_of_the_run_ends_the_script(tmp_path, waiting):
    script = f"import atexit, threading, time\natexit.register(print, 'tidied up')\n{waiting}"
    assert ran(tmp_path, script)[0] == "tidied up\n"


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("raise ZeroDivisionError('too far')", 'is gone.*script.py", line 2.*ZeroDivisionError: too far'),
        ("raise SystemExit('no license')", "is gone.*no license"),
        (
            "import subprocess; subprocess.Popen(['sleep', '60'], stdout=subprocess.PIPE).stdout.read()",
            "did not answer within 5 s",
        ),
        ("import os; os.fork()", "is gone.*os.fork cannot follow the simulation's time.*use threads"),
        ("import signal; signal.pause()", "is gone.*signal.pause cannot follow"),
        ("import multiprocessing as m; m.Process(target=int).start()", "is gone.*multiprocessing cannot follow"),
        (
            "exec('import multiprocessing as m; m.Process(target=int).start()', "
            "{'__name__': 'MAVProxy.modules.mavproxy_terrain.x'})",
            "is gone.*MAVProxy's module 'terrain' asks for it: leave it out of --default-modules",
        ),
        (
            "import ctypes; ctypes.CDLL('/somewhere/libcmavsdk.so')",
            r"is gone.*MAVSDK \(libcmavsdk.so\) cannot follow .*pymavlink here, or start the script by itself",
        ),
        (
            "import subprocess; subprocess.run(['/somewhere/mavsdk_server', '-p', '50051'])",
            r"is gone.*MAVSDK \(mavsdk_server\) cannot follow",
        ),
    ],
)
def test_faults_are_told(tmp_path, code, complaint):
    with pytest.raises(LoomError, match=f"(?s)member 'logic' {complaint}"):
        ran(tmp_path, f"import time; time.sleep(1)\n{code}", timeout=5)
    assert "airloom/loom/execution.py" not in (tmp_path / "member-logic.txt").read_text()


def test_compiled_code_with_sockets_of_its_own_is_told_once(tmp_path):
    """The stand-in is known by its name alone, as the real one is."""
    (tmp_path / "zmq.py").write_text("")
    printed, _ = ran(
        tmp_path, "import zmq, ctypes, subprocess\nimport zmq\nctypes.CDLL(None)\nsubprocess.run(['true'])"
    )
    assert printed == (
        "airloom exec: ZeroMQ is compiled code: it waits on the machine's time, and what it says passes the simulated "
        "radio by, so that two runs may differ (airloom docs exec)\n"
    )


def test_the_real_mavsdk_is_refused_before_it_hangs(tmp_path):
    pytest.importorskip("mavsdk")
    with pytest.raises(LoomError, match=r"(?s)is gone.*MAVSDK \((libcmavsdk.so|mavsdk_server)\) cannot follow"):
        ran(tmp_path, "import asyncio, mavsdk\nasyncio.run(mavsdk.System().connect())")


@pytest.mark.parametrize("main", ["time.sleep(9999)", "threading.Event().wait()"])
def test_a_request_to_end_leaves_no_thread_behind(tmp_path, main):
    """It may come before anybody has read that the run is over, as here."""
    script = f"""
import atexit, os, signal, threading, time
atexit.register(lambda: print("tidied up"))
threading.Thread(target=time.sleep, args=(9999,)).start()
threading.Timer(1, os.kill, (os.getpid(), signal.SIGTERM)).start()
{main}
"""
    with pytest.raises(LoomError, match="member 'logic' is gone: it hung up"):
        ran(tmp_path, script, duration=9999)
    assert (tmp_path / "member-logic.txt").read_text() == "tidied up\n"


def test_a_script_that_is_none_is_told(tmp_path):
    with pytest.raises(LoomError, match=r"(?s)member 'logic'.*line 2\n.*SyntaxError: '\(' was never closed"):
        ran(tmp_path, "one = 1\ntwo = (\n")
    assert "Traceback" not in (tmp_path / "member-logic.txt").read_text()
    (tmp_path / "script.py").unlink()
    with pytest.raises(LoomError, match=r"(?s)member 'logic'.*'script.py' does not exist"), again(tmp_path) as sim:
        sim.run()
    (tmp_path / "script.py").mkdir()
    with pytest.raises(LoomError, match=r"(?s)member 'logic'.*'script.py' is a directory"), again(tmp_path) as sim:
        sim.run()


def test_on_failure_the_run_goes_on_if_it_may(tmp_path):
    script = "import time; time.sleep(1); raise ZeroDivisionError('too far')"
    (tmp_path / "script.py").write_text(script)
    text = SCENARIO.replace("DURATION", "3").replace("RATE", "50").replace("OPTIONS ", "")
    (tmp_path / "scenario.yaml").write_text(text.replace("timeout: TIMEOUT", "on_failure: continue"))
    with again(tmp_path) as sim:
        sim.run()
        assert sim.time == 3
        (finding,) = sim.verdict.failures
        assert finding.source == "logic"
        assert "too far" in finding.text


def test_who_exits_with_0_leaves_and_the_run_goes_on(tmp_path):
    script = """
import atexit, sys, threading
atexit.register(print, 'bye')
threading.Timer(1, print, ['later']).start()
sys.exit(0)
"""
    printed, sim = ran(tmp_path, script)
    assert printed.split() == ["later", "bye"]
    assert sim.time == 3


def test_without_a_run_it_says_what_to_do(tmp_path):
    (tmp_path / "script.py").write_text("")
    variables = {key: value for key, value in os.environ.items() if key != "AIRLOOM_LOOM"}
    command = [sys.executable, "-m", "airloom", "exec", "script.py"]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True)
    assert done.returncode == 2
    assert "Make it a member of a scenario" in done.stderr
