"""Bad input to `airloom serve` is refused with one sentence, and the conversation goes on."""

from __future__ import annotations

import subprocess

import pytest
from tests.integration.test_serve import AIRLOOM, ENV, Client, Server


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
        (b'{"method":"step","ticks":0}', "ticks"),
        (b'{"method":"step","ticks":NaN}', "no line of JSON"),
        (b'{"method":"step","tick":1}', "unknown field `tick`"),
        (b'{"method":"step","observe":"cg"}', "no vehicle is called 'cg'"),
        (b'{"method":"step","command":{"vehicle":"cf"}}', "kind"),
        (b'{"method":"reset","seed":-1}', "seed"),
        (b'{"method":"command","vehicle":"cf","kind":"position_yaw","position":[0,0]}', "three finite numbers"),
        (b'{"method":"command","vehicle":"cf","kind":"position_yaw","position":[0,0,1e999]}', "out of range"),
        (b'{"method":"rotors","vehicle":"cf","speeds":[1,1,1,1]}', "own controller"),
    ],
)
def test_refused(server, line, complaint):
    client = Client(server.place)
    tick = client.ask("hash")["tick"]
    reply = client.say(line + b"\n")
    assert not reply["ok"]
    assert complaint in reply["error"]
    assert client.ask("hash")["tick"] == tick, "nothing was done, and the connection lives on"
    client.close()


def test_a_second_client_is_told_and_one_that_vanishes_is_forgotten(server):
    first = Client(server.place)
    first.ask("hello")
    second = Client(server.place)
    assert "another client" in second.replies.readline().decode()
    first.socket.sendall(b'{"method":"st')
    first.close()
    assert Client(server.place).ask("step")["ok"]


def test_a_socket_in_use(server):
    done = subprocess.run([*AIRLOOM, "--socket", server.place], capture_output=True, text=True, env=ENV, timeout=60)
    assert done.returncode == 2
    assert "in use" in done.stderr


def test_a_token_must_be_shown():
    with Server("--tcp", "0", "--token", "secret") as server:
        assert "token" in Client(server.place).ask("step")["error"]
        assert "token" in Client(server.place).ask("hello", token="wrong")["error"]
        client = Client(server.place)
        assert client.ask("hello", token="secret")["ok"]
        assert client.ask("step")["ok"]
