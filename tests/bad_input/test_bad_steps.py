"""Bad input to `airloom serve` is refused with one sentence, and the conversation goes on."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time

import pytest
from tests.integration.test_serve import AIRLOOM, BARE, ENV, SERVE, Client, Server

from airloom.serve.requests import parse
from airloom.serve.session import Session
from airloom.simulation import Simulation

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server("--socket", str(tmp_path_factory.mktemp("serve") / "s")) as server:
        yield server


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"{", "no line of JSON"),
        (b"[1]", "a request is an object"),
        (b"\xff", "no line of JSON"),
        (b"[" * 50_000, "no line of JSON"),
        (b" " + b"x" * 200_000, "65536 bytes at most"),
        (b'{"method":"stepp"}', "did you mean 'step'"),
        (b'{"method":3}', "there is no method"),
        (b'{"method":"step","ticks":0}', ">= 1"),
        (b'{"method":"step","ticks":-3}', ">= 1"),
        (b'{"method":"step","ticks":1000001}', "<= 1000000"),
        (b'{"method":"step","ticks":1e30}', "ticks"),
        (b'{"method":"step","ticks":1.5}', "Expected `int`"),
        (b'{"method":"step","rotors":{"vehicle":"cf","speeds":[1,1,1,NaN]}}', "no line of JSON"),
        (
            b'{"method":"step","command":{},"rotors":{"vehicle":"cf","speeds":[]}}',
            "or rotor",
        ),
        (b'{"method":"step","command":{"vehicle":"cf","kind":"fly"}}', "known are"),
        (b'{"method":"command","vehicle":"cg","kind":"position_yaw","position":[0,0,1]}', "vehicles are cf"),
        (b'{"method":"command","kind":"position_yaw"}', "a command has a vehicle"),
        (b'{"method":"step","ticks":NaN}', "no line of JSON"),
        (b'{"method":"step","tick":1}', "unknown field `tick`; it takes ticks, command"),
        (b'{"method":"step","observe":"cg"}', "no vehicle is called 'cg'"),
        (b'{"method":"step","command":{"vehicle":"cf"}}', "kind"),
        (b'{"method":"reset","seed":-1}', "seed"),
        (b'{"method":"command","vehicle":"cf","kind":"position_yaw","position":[0,0]}', "three finite numbers"),
        (b'{"method":"command","vehicle":"cf","kind":"position_yaw","position":[0,0,1e999]}', "out of range"),
        (b'{"method":"rotors","vehicle":"cf","speeds":[1,1,1,1]}', "own controller"),
        (b'{"method":"observe","vehicle":"\\ud800"}', "no line of JSON"),
        (b'{"method":"step","observe":"' + b"[" * 60_000 + b'"}', "16 of * ? [, got 60000 and 60000"),
        (b'{"method":"step","readings":"' + b"?*" * 9 + b'"}', "16 of * ? [, got 18 and 18"),
        (b'{"method":"observe","vehicle":"' + b"x" * 60_000 + b'"}', "no vehicle is called 'xxx"),
    ],
)
def test_refused(server, line, complaint):
    client = Client(server.place)
    before = client.ask("hash")
    reply = client.say(line + b"\n")
    assert not reply["ok"]
    assert complaint in reply["error"]
    assert reply["tick"] == before["tick"]
    assert client.ask("hash") == before, "nothing was done, and the connection lives on"
    client.close()


def test_a_second_client_is_told_and_one_that_vanishes_is_forgotten(server):
    first = Client(server.place)
    first.ask("hello")
    second = Client(server.place)
    assert "another client" in second.replies.readline().decode()
    first.socket.sendall(b'{"method":"st')
    first.close()
    assert Client(server.place).ask("step")["ok"]


BROWSER = b"""POST / HTTP/1.1
Host: 127.0.0.1
Origin: http://evil.example
Content-Type: text/plain

{"method":"step","ticks":100}
{"method":"reset","seed":7}
"""


@pytest.mark.parametrize("options", [["--tcp", "0"], ["--tcp", "0", "--token", "secret"]])
def test_a_page_of_another_site_cannot_smuggle_requests_behind_its_http(options):
    with Server(*options) as server:
        browser = Client(server.place)
        browser.socket.sendall(BROWSER)
        replies = browser.replies.read().splitlines()
        assert len(replies) == 1, "it was hung up on at once"
        assert b"this is no line of JSON" in replies[0]
        client = Client(server.place)
        assert client.ask("hello", token="secret")["tick"] == 0, "nothing was carried out"


def test_rotor_speeds_of_the_wrong_width(tmp_path):
    with Server(*BARE, "--socket", str(tmp_path / "s")) as server:
        client = Client(server.place)
        for speeds in ([], [1, 1, 1], [1] * 5):
            assert "takes 4 finite" in client.ask("rotors", vehicle="cf", speeds=speeds)["error"]
        assert "no controller" in client.ask("command", vehicle="cf", kind="position_yaw", position=[0, 0, 1])["error"]


SCENARIO = """
name: bad
duration: 5
vehicles: {cf: {extends: crazyflie2}}
systems: {bad: {kind: PATH:Bad}}
"""
BAD = """
import airloom as al

class Bad(al.System):
    rate = 100
    def update(self, sim):
        if sim.tick == 50:
            raise al.CommandError("what a system raises is no refusal")
"""


def test_a_step_that_fails_half_way_must_be_reset(tmp_path):
    (tmp_path / "bad.py").write_text(BAD)
    (tmp_path / "bad.yaml").write_text(SCENARIO.replace("PATH", str(tmp_path / "bad.py")))
    with Server("--socket", str(tmp_path / "s"), command=[*SERVE, str(tmp_path / "bad.yaml")]) as server:
        client = Client(server.place)
        for _ in range(2):
            failed = client.ask("step", ticks=80)
            assert not failed["ok"]
            assert "system 'bad' (Bad) raised an exception in update" in failed["error"]
            assert failed["error"].endswith("reset to go on")
            assert failed["tick"] == 50
            for method in ("step", "hash"):
                assert client.ask(method)["error"] == failed["error"]
            assert client.ask("observe", vehicle="cf")["tick"] == 50
            assert client.ask("reset")["ok"]
            assert client.ask("step", ticks=40)["tick"] == 40
            client.ask("reset")


LONG = b'{"method":"step","ticks":1000000}\n'


@pytest.mark.parametrize("place", [["--tcp", "0"], ["--socket", "s"]])
def test_a_client_that_vanishes_ends_its_step(tmp_path, place):
    place = [str(tmp_path / "s") if word == "s" else word for word in place]
    with Server(*place) as server:
        first = Client(server.place)
        first.socket.sendall(LONG)
        time.sleep(0.2)
        assert "another client" in Client(server.place).replies.readline().decode(), "in the middle of a step, too"
        first.close()
        time.sleep(0.2)
        assert 0 < Client(server.place).ask("observe", vehicle="cf")["tick"] < 1_000_000


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_long_step(tmp_path, number):
    server = Server("--socket", str(tmp_path / "s"), "--out", str(tmp_path / "run"))
    client = Client(server.place)
    client.socket.sendall(LONG)
    assert "another client" in Client(server.place).replies.readline().decode(), "so the step has begun"
    server.process.send_signal(number)
    reply = client.replies.readline().decode()
    assert "of 1000000 ticks: the server ends" in reply
    assert server.process.wait(120) == 0
    assert (tmp_path / "run" / "summary.json").exists()


def test_a_port_in_use():
    with Server("--tcp", "0") as server:
        port = server.place.split(":")[1]
        done = subprocess.run([*AIRLOOM, "--tcp", port], capture_output=True, text=True, env=ENV, timeout=60)
    assert done.returncode == 2
    assert f"port {port} of 127.0.0.1 is in use" in done.stderr


def test_a_socket_that_a_killed_server_left(tmp_path):
    place = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.fspath(place))
        listener.listen()
    assert place.is_socket()
    with Server("--socket", str(place)) as server:
        assert Client(server.place).ask("step")["ok"]
    place.write_text("precious")
    done = subprocess.run([*AIRLOOM, "--socket", str(place)], capture_output=True, text=True, env=ENV, timeout=60)
    assert done.returncode == 2
    assert "is no socket" in done.stderr
    assert place.read_text() == "precious"


def test_a_socket_in_use(server):
    done = subprocess.run([*AIRLOOM, "--socket", server.place], capture_output=True, text=True, env=ENV, timeout=60)
    assert done.returncode == 2
    assert "in use" in done.stderr


def test_a_token_must_be_shown():
    with Server("--tcp", "0", "--token", "secret") as server:
        strangers = [Client(server.place) for _ in range(40)]
        strangers[-1].socket.sendall(b'{"method":"hel')
        assert "token" in Client(server.place).ask("step")["error"]
        assert "token" in Client(server.place).ask("hello", token="wrong")["error"]
        client = Client(server.place)
        assert client.ask("hello", token="secret")["ok"], "whoever has no token keeps nobody out"
        assert client.ask("step")["ok"]
        assert "another client" in strangers[-1].replies.readline().decode()


def test_rotor_speeds_that_are_cut_are_told_once():
    sim = Simulation.load("hover", overrides={"systems": {}, "vehicles.cf.controller": None, "engine": "batch"})
    session, most = Session(sim), sim.vehicles["cf"].description.rotors["front_left"].max_speed
    for speeds in ([0, 0, 0, most], [0, -5, 0, 0], [9e9, 0, 0, 0]):
        parse(b'{"method":"rotors","vehicle":"cf","speeds":%r}' % speeds).carry_out(session)
    assert len(sim.warnings) == 1
    assert f"was told -5 rad/s and turns at 0 to {most:g}: such are cut" in sim.warnings[0]
    parse(b'{"method":"reset"}').carry_out(session)
    parse(b'{"method":"rotors","vehicle":"cf","speeds":[0,0,0,1e5]}').carry_out(session)
    assert len(sim.warnings) == 1
