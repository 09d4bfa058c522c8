"""The gateway: who may come in, what is served, how a stick is heard. Real sockets wherever one is needed."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import ssl
import threading
import time
from functools import partial

import pytest
from tests.open_ports import open_ports

viser = pytest.importorskip("viser")
from websockets.exceptions import ConnectionClosed, InvalidStatus  # noqa: E402
from websockets.sync import client  # noqa: E402

from airloom.net.admission import Admission, Request, Turned  # noqa: E402
from airloom.net.listening import ListenError, PortTaken  # noqa: E402
from airloom.net.tls import Certificate  # noqa: E402
from airloom.studio.web import page_lines as pads  # noqa: E402
from airloom.studio.web import viser_server as tamed  # noqa: E402
from airloom.studio.web.frame_sizes import MAX_FRAME, FrameGauge, Oversized  # noqa: E402
from airloom.studio.web.gateway import Gateway  # noqa: E402

VISER_PROTOCOL = [f"viser-v{viser.__version__}"]
PATIENCE = 60.0  # s
connect = partial(client.connect, open_timeout=PATIENCE)


class Listener:
    """Keeps what sticks say, and lets a test wait for it."""

    def __init__(self):
        self.heard, self.gone, self._news = [], [], threading.Condition()

    def on_stick(self, *state):
        with self._news:
            self.heard.append(state)
            self._news.notify_all()

    def on_stick_gone(self, tab):
        with self._news:
            self.gone.append(tab)
            self._news.notify_all()

    def wait(self, condition):
        with self._news:
            assert self._news.wait_for(lambda: condition(self), PATIENCE)


@pytest.fixture(scope="module")
def viser_server():
    server = tamed.start_viser()
    yield server
    tamed.stop_viser(server)


@pytest.fixture
def listener():
    return Listener()


@pytest.fixture
def gateway(viser_server, listener):
    sticks = {"on_stick": listener.on_stick, "on_stick_gone": listener.on_stick_gone}
    with Gateway(viser_server, port=0, **sticks) as gateway:
        yield gateway


@pytest.fixture
def guarded(viser_server):
    with Gateway(viser_server, port=0, token="open sesame") as gateway:
        yield gateway


def get(gateway, path="/", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=PATIENCE)
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    response.text = response.read().decode()
    connection.close()
    return response


def websocket(gateway, path="/stick?tab=t", **options):
    return connect(f"ws://127.0.0.1:{gateway.port}{path}", **options)


def request(*lines):
    return Request.parse("\r\n".join([*lines, "", ""]).encode())


# -- the door --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["localhost", "localhost:8080", "127.0.0.1:9000", "[::1]:8080"])
def test_loopback_lets_in_whoever_calls_it_by_its_name(host):
    Admission("127.0.0.1", None).check(request("GET / HTTP/1.1", f"Host: {host}"), "c")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "", "[::1", "10.0.0.1"]
)
def test_loopback_refuses_other_names(host):
    with pytest.raises(Turned, match="localhost only"):
        Admission("127.0.0.1", None).check(request("GET / HTTP/1.1", f"Host: {host}"), "c")


def test_beyond_loopback_there_is_always_a_token():
    first, second = Admission("0.0.0.0", None).token, Admission("0.0.0.0", None).token
    assert first != second
    assert len(first) > 20
    assert Admission("127.0.0.1", None).token is None
    with pytest.raises(Turned, match="token"):
        Admission("0.0.0.0", None).check(request("GET / HTTP/1.1", "Host: lab.example"), "c")


@pytest.mark.parametrize("first", ["", "GET", "GET /", "GET / FTP/1.1", "GET http://[ HTTP/1.1", "\x00\x01 \x02 \x03"])
def test_what_is_not_http_is_refused(first):
    with pytest.raises(Turned, match="not HTTP"):
        request(first)


def test_only_get_is_served():
    with pytest.raises(Turned, match="Only GET"):
        request("POST / HTTP/1.1")


# -- pages -----------------------------------------------------------------------------------------------------------


def test_the_page_is_visers_with_our_script_first(gateway):
    page = get(gateway)
    assert page.status == 200
    assert page.text.index("/airloom.js") < page.text.index("<script data-p")
    assert "<title>Airloom</title>" in page.text
    assert 'href="/favicon.svg"' in page.text
    assert "Viser</title>" not in page.text


@pytest.mark.parametrize("path", ["/", "/airloom.js", "/favicon.svg"])
def test_files_are_asked_for_again_but_sent_once(gateway, path):
    first = get(gateway, path)
    assert first.headers["Cache-Control"] == "no-cache"
    again = get(gateway, path, If_None_Match=first.headers["ETag"])
    assert (again.status, again.text) == (304, "")


def test_the_policy_names_no_other_host(gateway):
    policy = get(gateway).headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "//" not in policy
    assert "*" not in policy


def test_nothing_else_is_served(gateway):
    assert get(gateway, "/etc/passwd").status == 404
    assert get(gateway, "/../pages.py").status == 404
    with pytest.raises(InvalidStatus, match="404"):
        websocket(gateway, "/other")


# -- tokens and origins ----------------------------------------------------------------------------------------------


def test_without_the_token_a_page_asks_for_it(guarded):
    page = get(guarded)
    assert page.status == 401
    assert 'name="token"' in page.text


def test_the_token_becomes_a_cookie(guarded):
    entered = get(guarded, "/?token=open%20sesame")
    assert (entered.status, entered.headers["Location"]) == (303, "/")
    cookie = entered.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert get(guarded, Cookie=cookie.split(";")[0]).status == 200
    assert get(guarded, Cookie=cookie.split(";")[0] + "x").status == 401
    assert get(guarded, "/?token=guess").status == 401


@pytest.mark.parametrize("path", ["/", "/stick?tab=t"])
def test_websockets_need_the_token_too(guarded, path):
    with pytest.raises(InvalidStatus, match="401"):
        websocket(guarded, path, subprotocols=VISER_PROTOCOL)
    cookie = get(guarded, "/?token=open%20sesame").headers["Set-Cookie"].split(";")[0]
    websocket(guarded, path, subprotocols=VISER_PROTOCOL, additional_headers={"Cookie": cookie}).close()


@pytest.mark.parametrize("path", ["/", "/stick?tab=t"])
@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost.evil.example", "http://[evil"])
def test_a_foreign_page_cannot_open_a_websocket(gateway, path, origin):
    with pytest.raises(InvalidStatus, match="403"):
        websocket(gateway, path, origin=origin, subprotocols=VISER_PROTOCOL)


def test_our_own_page_can(gateway):
    websocket(gateway, origin=f"http://127.0.0.1:{gateway.port}").close()


def test_dns_rebinding_is_refused(gateway):
    assert get(gateway, Host=f"evil.example:{gateway.port}").status == 403


# -- viser -----------------------------------------------------------------------------------------------------------


def test_viser_is_reached_and_told_the_tab(gateway, viser_server):
    with websocket(gateway, "/?tab=seven", subprotocols=VISER_PROTOCOL) as browser:
        assert browser.subprotocol == VISER_PROTOCOL[0]
        assert len(browser.recv(PATIENCE)) > 16
        connections = viser_server._websock_server._live_connections.values()
        assert "/?tab=seven" in [connection.request.path for connection in connections]


def test_viser_has_no_port(viser_server):
    before = open_ports(os.getpid())
    another = tamed.start_viser()
    assert open_ports(os.getpid()) == before
    tamed.stop_viser(another)


def test_viser_says_nothing_and_shares_nothing(capfd, monkeypatch):
    monkeypatch.setattr(viser.ViserServer, "request_share_url", lambda self: pytest.fail("asked for a tunnel"))
    server = tamed.start_viser()
    handlers = server._websock_server._incoming_handlers
    assert not [kind.__name__ for kind in handlers if "Share" in kind.__name__]
    tamed.stop_viser(server)
    assert capfd.readouterr() == ("", "")


# -- sticks ----------------------------------------------------------------------------------------------------------


def test_a_stick_is_heard_and_its_silence_noticed(gateway, listener):
    with websocket(gateway) as stick:
        stick.send(json.dumps({"axes": [0, -0.5], "buttons": [True, False]}))
        listener.wait(lambda it: it.heard == [("t", [0.0, -0.5], [True, False])])
        listener.wait(lambda it: it.gone == ["t"])  # though the tab is still there
        stick.send(json.dumps({"axes": [], "buttons": []}))
        listener.wait(lambda it: len(it.heard) == 2)
    listener.wait(lambda it: it.gone == ["t", "t"])


def test_a_page_is_told_what_to_do(gateway):
    with websocket(gateway) as page:
        assert "edition" in json.loads(page.recv(PATIENCE))
        gateway.fly("t", True)
        gateway.toast("t", "Grüße")
        gateway.record("t", True, "hover.webm")
        gateway.fly("nobody", True)
        orders = [json.loads(page.recv(PATIENCE)) for _ in range(3)]
    assert orders == [{"fly": True}, {"toast": "Grüße"}, {"record": True, "name": "hover.webm"}]


def test_a_tab_that_comes_again_takes_its_own_place(gateway):
    with websocket(gateway) as former, websocket(gateway) as latter:
        latter.recv(PATIENCE)
        with pytest.raises(ConnectionClosed):
            [former.recv(PATIENCE) for _ in range(2)]
        assert gateway.tabs() == ["t"]


def test_sticks_are_heard_sixty_times_a_second_at_most(gateway, listener):
    began = time.monotonic()
    with websocket(gateway) as stick:
        for _ in range(1000):
            stick.send('{"axes": [], "buttons": []}')
        listener.wait(lambda it: it.gone)
    most = pads.BURST + pads.STATES_PER_SECOND * (time.monotonic() - began)
    assert pads.BURST <= len(listener.heard) <= most


# -- frames ----------------------------------------------------------------------------------------------------------


def frame(size, masked=True):
    length = bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2) if size < 65536 else b"\x7f" + size.to_bytes(8)
    return b"\x82" + bytes([length[0] | (128 * masked)]) + length[1:] + b"mask" * masked + bytes(size)


@pytest.mark.parametrize("step", [1, 3, 7, 1000, 10**9])
def test_frames_are_followed_however_they_are_cut(step):
    stream = b"".join(frame(size, masked) for size in (0, 1, 125, 126, 70_000, 3) for masked in (True, False))
    gauge = FrameGauge()
    for at in range(0, len(stream), step):
        gauge.watch(stream[at : at + step])
    with pytest.raises(Oversized):
        gauge.watch(b"\x82\xff" + (MAX_FRAME + 1).to_bytes(8) + b"mask")


# -- life ------------------------------------------------------------------------------------------------------------


def test_a_taken_port_is_named_with_the_next_free_one(gateway, viser_server):
    with pytest.raises(PortTaken) as error:
        Gateway(viser_server, port=gateway.port).start()
    assert str(error.value) == f"port {gateway.port} is in use; try --port {error.value.next_free}"
    socket.create_server(("127.0.0.1", error.value.next_free)).close()


def test_an_address_that_is_not_ours_is_told(viser_server):
    with pytest.raises(ListenError, match=r"cannot listen on 203\.0\.113\.1, port 8080"):
        Gateway(viser_server, host="203.0.113.1").start()


@pytest.fixture
def secured(viser_server, tmp_path, monkeypatch):
    """With https, and a token as if beyond loopback."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    tls = Certificate.own().context()
    with Gateway(viser_server, port=0, token="secret", tls=tls) as gateway:
        yield gateway


def test_https_serves_the_same(secured, tmp_path, capfd):
    trusting = ssl.create_default_context(cafile=Certificate.own().file)
    assert secured.url == f"https://127.0.0.1:{secured.port}/?token=secret"
    connection = http.client.HTTPSConnection("127.0.0.1", secured.port, timeout=PATIENCE, context=trusting)
    connection.request("GET", "/?token=secret")
    cookie = connection.getresponse().headers["Set-Cookie"]
    assert cookie.endswith("; Secure")
    key = {"Cookie": cookie.partition(";")[0]}
    connection = http.client.HTTPSConnection("127.0.0.1", secured.port, timeout=PATIENCE, context=trusting)
    connection.request("GET", "/", headers=key)
    assert b"airloom.js" in connection.getresponse().read()
    where = f"wss://127.0.0.1:{secured.port}"
    with connect(f"{where}/stick?tab=t", ssl=trusting, additional_headers=key) as page:
        assert "edition" in page.recv(PATIENCE)
        page.send("nonsense")
        with pytest.raises(ConnectionClosed, match="an object"):
            page.recv(PATIENCE)
    with connect(f"{where}/", ssl=trusting, additional_headers=key, subprotocols=VISER_PROTOCOL) as browser:
        assert browser.recv(PATIENCE)
    for said in (b"", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", secured.port), PATIENCE) as plain:
            plain.sendall(said)
    assert capfd.readouterr() == ("", "")


def test_the_address_carries_the_token(viser_server):
    assert Gateway(viser_server, port=81).url == "http://127.0.0.1:81/"
    assert Gateway(viser_server, port=81, token="a b").url == "http://127.0.0.1:81/?token=a%20b"
    assert "/?token=" in Gateway(viser_server, host="0.0.0.0").url


def test_nothing_is_left_after_stop(viser_server):
    before = threading.active_count()
    gateway = Gateway(viser_server, port=0)
    gateway.start()
    stick, view = websocket(gateway), websocket(gateway, "/", subprotocols=VISER_PROTOCOL)
    idle = socket.create_connection(("127.0.0.1", gateway.port), timeout=PATIENCE)
    gateway.stop()
    with contextlib.suppress(ConnectionResetError):
        assert idle.recv(1) == b""
    for left in (stick, view):
        with pytest.raises(ConnectionClosed):
            [left.recv(PATIENCE) for _ in range(100)]
    idle.close()
    assert threading.active_count() <= before + 2  # those of the two clients above
    socket.create_server(("127.0.0.1", gateway.port)).close()
    gateway.stop()
    gateway.toast("t", "too late")
