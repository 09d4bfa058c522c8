"""What browsers, and those who are none, may do to the gateway: it hangs up on them, and on nobody else."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from functools import partial

import pytest
from tests.file_numbers import few_file_numbers

viser = pytest.importorskip("viser")
import msgspec  # noqa: E402
from websockets.exceptions import ConnectionClosed, InvalidStatus  # noqa: E402
from websockets.sync import client  # noqa: E402

from airloom.net import front_door  # noqa: E402
from airloom.net.streams import MOST_STRANGERS  # noqa: E402
from airloom.studio.web import frame_sizes as relay  # noqa: E402
from airloom.studio.web import page_lines as pads  # noqa: E402
from airloom.studio.web import viser_server as tamed  # noqa: E402
from airloom.studio.web.gateway import MAX_BROWSERS, Gateway  # noqa: E402

pytestmark = pytest.mark.slow

VISER_PROTOCOL = [f"viser-v{viser.__version__}"]
PATIENCE = 60.0  # s
connect = partial(client.connect, open_timeout=PATIENCE)


@pytest.fixture(scope="module")
def viser_server():
    server = tamed.start_viser()
    yield server
    tamed.stop_viser(server)


@pytest.fixture
def gateway(viser_server):
    with Gateway(viser_server, port=0) as gateway:
        yield gateway


@pytest.fixture(autouse=True)
def _quiet_and_still_serving(gateway, capfd, caplog):
    """After each of these the next browser is served as if nothing had been, and the terminal is clean."""
    yield
    with view(gateway) as browser:
        assert browser.recv(PATIENCE)
    assert capfd.readouterr() == ("", "")
    assert caplog.get_records("call") == [], "pytest takes them, or they were on the terminal"


def raw(gateway, data=b"", **options):
    connection = socket.create_connection(("127.0.0.1", gateway.port), timeout=PATIENCE, **options)
    connection.sendall(data)
    return connection


def answer_to(gateway, data):
    with raw(gateway, data) as connection:
        return all_of(connection)


def all_of(connection):
    received = b""
    while data := connection.recv(65536):
        received += data
    return received


def view(gateway, **options):
    return connect(f"ws://127.0.0.1:{gateway.port}/", subprotocols=VISER_PROTOCOL, **options)


def stick(gateway, tab="t"):
    return connect(f"ws://127.0.0.1:{gateway.port}/stick?tab={tab}")


def must_be_hung_up_on(browser):
    with pytest.raises(ConnectionClosed):
        _listen(browser)


def _listen(browser):
    while True:
        browser.recv(PATIENCE)


# -- HTTP ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "nonsense", [b"\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\r\n\r\n", b"GET / HTTP/1.1\r\nno colon\r\n\r\n"]
)
def test_malformed_http(gateway, nonsense):
    assert answer_to(gateway, nonsense).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("headers", [b"A: " + b"a" * 20_000, b"A: a\r\n" * 5_000, b"A: " + b"a" * 1_000_000])
def test_oversized_head(gateway, headers):
    with raw(gateway) as connection:
        with contextlib.suppress(OSError):  # it may hang up while we still talk
            connection.sendall(b"GET / HTTP/1.1\r\n" + headers)
        assert all_of(connection).startswith(b"HTTP/1.1 431 ")


def test_a_request_that_drips_in(gateway, monkeypatch):
    monkeypatch.setattr(front_door, "PATIENCE", 0.3)
    assert answer_to(gateway, b"GET / HTTP/1.1\r\nHost:").startswith(b"HTTP/1.1 408 ")


def test_a_request_that_breaks_off(gateway):
    for _ in range(20):
        raw(gateway, b"GET / HT").close()


@pytest.mark.parametrize("said", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"])
def test_half_open_browsers_lock_nobody_out(gateway, said):
    idle = [raw(gateway, said) for _ in range(600)]
    assert answer_to(gateway, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").startswith(b"HTTP/1.1 200 ")
    must_end(lambda: len(gateway._reception.visits) <= MOST_STRANGERS + 1)
    with view(gateway) as browser:
        assert browser.recv(PATIENCE)
    for connection in idle:
        connection.close()
    must_end(lambda: not gateway._reception.visits)


def test_half_open_browsers_leave_file_numbers(gateway):
    idle = [socket.socket() for _ in range(100)]
    with few_file_numbers(60):
        for connection in idle:
            connection.connect(("127.0.0.1", gateway.port))
        assert answer_to(gateway, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").startswith(b"HTTP/1.1 200 ")
        assert 0 < len(gateway._reception.visits) < 40
        open(os.devnull).close()
    for connection in idle:
        connection.close()


def test_a_page_that_nobody_takes(gateway, monkeypatch):
    monkeypatch.setattr(front_door, "STALL", 0.5)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", gateway.port))
    connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    must_end(lambda: not gateway._reception.visits)
    connection.close()


def must_end(condition, seconds=PATIENCE):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


# -- what viser would see --------------------------------------------------------------------------------------------


def test_too_many_browsers(gateway):
    browsers = [view(gateway) for _ in range(MAX_BROWSERS)]
    with pytest.raises(InvalidStatus, match="503"):
        view(gateway)
    assert b"Close one of them first" in answer_to(gateway, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    for browser in browsers:
        browser.close()
    must_end(lambda: not gateway._reception.visits)


@pytest.mark.parametrize("protocols", [None, ["viser-v0.0.1"], ["chat", "superchat"]])
def test_a_page_that_is_not_ours_never_gets_to_viser(gateway, protocols):
    for _ in range(20):
        with pytest.raises(InvalidStatus, match="400"):
            connect(f"ws://127.0.0.1:{gateway.port}/", subprotocols=protocols)
    must_end(lambda: not gateway._reception.visits)


def test_an_oversized_frame(gateway):
    with view(gateway) as browser:
        browser.socket.sendall(b"\x82\xff" + (relay.MAX_FRAME + 1).to_bytes(8) + b"mask")
        must_be_hung_up_on(browser)


def test_a_large_frame_passes(gateway, viser_server):
    with view(gateway) as browser:
        browser.recv(PATIENCE)
        browser.send(
            msgspec.msgpack.encode({"type": "GetRenderResponseMessage", "payload": bytes(6_000_000), "render_uuid": ""})
        )
        assert browser.ping().wait(PATIENCE)


@pytest.mark.parametrize("frame", [b"\xff\xff\xff\xff\xff\xff", b"\x82\x05hello", b"\x8f\x80mask"])
def test_malformed_frames(gateway, frame):
    with view(gateway) as browser:
        browser.socket.sendall(frame)
        must_be_hung_up_on(browser)


@pytest.mark.parametrize(
    "message", ["a text", b"", b"\xc1", b"\x80", msgspec.msgpack.encode({"type": "NoSuchMessage"})]
)
def test_messages_that_make_viser_fail_hang_up_on_their_sender_only(gateway, message):
    with view(gateway) as other, view(gateway) as browser:
        browser.send(message)
        must_be_hung_up_on(browser)
        assert other.ping().wait(PATIENCE)


@pytest.mark.filterwarnings(r"ignore:\[viser\]")
@pytest.mark.parametrize(
    "message",
    [
        {"type": "GuiUpdateMessage", "uuid": "no such", "updates": {"value": 3}},
        {"type": "SceneNodeClickMessage", "name": "/no/such"},
        {"type": "ViewerCameraMessage", "wxyz": "nonsense", "position": None},
        {"type": "ShareUrlRequest"},
    ],
)
def test_messages_without_meaning(gateway, message):
    with view(gateway) as other, view(gateway) as browser:
        browser.send(msgspec.msgpack.encode(message))
        time.sleep(0.3)
        assert other.ping().wait(PATIENCE)


def test_a_browser_that_stops_reading(gateway, viser_server, monkeypatch):
    """What it does not take waits in viser, which forgets what is outdated, and it is dropped in the end."""
    monkeypatch.setattr(relay, "STALL", 1.0)
    browser = view(gateway, max_queue=1)
    browser.recv(PATIENCE)
    cloud = viser_server.scene.add_point_cloud("/cloud", points=_points(), colors=(255, 0, 0))
    lines, deadline = viser_server._websock_server._live_connections, time.monotonic() + PATIENCE
    while lines and time.monotonic() < deadline:
        cloud.points = _points()
        time.sleep(0.02)
    cloud.remove()
    assert not lines
    with contextlib.suppress(Exception):
        browser.socket.shutdown(socket.SHUT_RDWR)
    browser.close()


def _points():
    import numpy as np

    return np.random.default_rng().normal(size=(20_000, 3)).astype(np.float32)


def test_viser_that_is_not_there():
    ended = tamed.start_viser()
    tamed.stop_viser(ended)
    with Gateway(ended, port=0) as lonely, pytest.raises(InvalidStatus, match="502"):
        view(lonely)


# -- sticks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        "", "nonsense", "[]", "3", "null", "{}", b"\xff\xfe", "[" * 2000,
        '{"axes": [NaN], "buttons": []}', '{"axes": [Infinity], "buttons": []}', '{"axes": [1e999], "buttons": []}',
        '{"axes": [1.01], "buttons": []}', '{"axes": [true], "buttons": []}', '{"axes": ["0"], "buttons": []}',
        '{"axes": {}, "buttons": []}', '{"axes": [], "buttons": [1]}', '{"axes": [], "buttons": "on"}',
        json.dumps({"axes": [0] * 17, "buttons": []}), json.dumps({"axes": [], "buttons": [False] * 33}),
        " " * 5000,
    ],
)  # fmt: skip
def test_sticks_that_are_none(gateway, message):
    heard = []
    gateway.on_stick = lambda *state: heard.append(state)
    with stick(gateway) as nonsense:
        nonsense.send(message)
        must_be_hung_up_on(nonsense)
    assert heard == []


def test_a_browser_that_goes_away_in_the_middle_of_a_message(gateway):
    """Half of a message, and right behind it the end of the line."""
    for _ in range(20):
        with stick(gateway) as leaving:
            half, end = b"\x01\x8amask" + bytes(10), b"\x88\x80mask"
            leaving.socket.sendall(half + end)
            must_be_hung_up_on(leaving)
    must_end(lambda: not gateway.tabs())


def test_a_stick_in_a_handshake_that_is_none(gateway):
    reply = answer_to(gateway, b"GET /stick?tab=t HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\r\n")
    assert b" 101 " not in reply
    must_end(lambda: not gateway.tabs())


def test_a_tab_that_vanished_is_given_up(gateway, monkeypatch):
    monkeypatch.setattr(pads, "HEARTBEAT", 0.2)
    key = b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    upgrade = b"Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    with raw(gateway, b"GET /stick?tab=t HTTP/1.1\r\n" + upgrade + key + b"\r\n") as silent:
        assert all_of(silent).startswith(b"HTTP/1.1 101 ")
    must_end(lambda: not gateway.tabs())
