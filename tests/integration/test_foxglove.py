"""Foxglove's app looks on: a client that speaks its websocket protocol."""

from __future__ import annotations

import json
import os
import re
import socket
import struct
import subprocess
import sys
import time
from typing import Any

import pytest
from tests.open_ports import open_ports
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

import airloom as al
from airloom.bus import messages
from airloom.ros2.foxglove import FoxgloveError

pytest.importorskip("foxglove")
PATIENCE = 60.0  # s


class Client:
    """Knows the channels that were advertised, by topic."""

    def __init__(self, address: str, sim: al.Simulation | None = None) -> None:
        options: dict[str, Any] = {"subprotocols": ["foxglove.sdk.v1"], "open_timeout": PATIENCE, "close_timeout": 0.1}
        self.socket: ClientConnection = connect(address, **options)
        self._sim = sim
        self.channels: dict[str, dict[str, Any]] = {}
        self.heard: dict[int, list[tuple[int, bytes]]] = {}
        self.times: list[int] = []

    def until(self, condition: Any) -> Any:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if found := condition():
                return found
            if self._sim is not None:
                self._sim.step(20)
            try:
                self._take(self.socket.recv(timeout=0.01))
            except TimeoutError:
                continue
        raise AssertionError("it did not happen")

    def _take(self, frame: str | bytes) -> None:
        if isinstance(frame, str):
            told = json.loads(frame)
            self.channels |= {one["topic"]: one for one in told.get("channels", [])}
        elif frame[0] == 1:  # a message: subscription, time, bytes
            subscription, time_ns = struct.unpack_from("<IQ", frame, 1)
            self.heard.setdefault(subscription, []).append((time_ns, frame[13:]))
        elif frame[0] == 2:  # the time
            self.times.append(struct.unpack_from("<Q", frame, 1)[0])

    def subscribe(self, topic: str) -> Any:
        """A function that gives the next message and its time."""
        number, channel = len(self.heard), self.until(lambda: self.channels.get(topic))
        self.heard[number] = []
        wanted = [{"id": number, "channelId": channel["id"]}]
        self.socket.send(json.dumps({"op": "subscribe", "subscriptions": wanted}))

        def hear() -> tuple[int, Any]:
            self.until(lambda: self.heard[number])
            time_ns, cdr = self.heard[number].pop(0)
            return time_ns, messages.deserialize(cdr, channel["schemaName"])

        return hear


@pytest.fixture
def sim():
    overrides = {"engine": "batch", "duration": 1e6, "foxglove": {"port": 0}}
    with al.Simulation.load("hover", overrides=overrides) as made:
        made.step()
        yield made


def test_a_client_hears_states_frames_and_time(sim):
    client = Client(sim.foxglove.address, sim)
    time_ns, state = client.subscribe("/cf/state")()
    assert state.child_frame_id == "cf/base_link"
    assert time_ns == state.header.stamp.sec * 10**9 + state.header.stamp.nanosec
    channel = client.channels["/cf/state"]
    assert (channel["encoding"], channel["schemaEncoding"]) == ("cdr", "ros2msg")
    assert channel["schema"] == messages.definition(messages.ODOMETRY)
    _, moving = client.subscribe("/tf")()
    assert moving.transforms[0].child_frame_id == "cf/base_link"
    assert client.until(lambda: client.times)[-1] <= sim.time_ns


def test_whoever_comes_late_is_told_what_stays_as_it_is(sim):
    for _ in range(2):
        client = Client(sim.foxglove.address, sim)
        assert "<robot" in client.subscribe("/cf/robot_description")()[1].data
        assert "cf/imu" in {frame.child_frame_id for frame in client.subscribe("/tf_static")()[1].transforms}


def test_what_nobody_looks_at_costs_nothing(sim):
    imu = next(topic for topic in sim.bus.topics() if topic.name == "/cf/imu")
    client = Client(sim.foxglove.address, sim)
    client.subscribe("/cf/imu")()
    assert imu.wanted
    client.socket.close()
    deadline = time.monotonic() + PATIENCE
    while imu.wanted:
        assert time.monotonic() < deadline
        sim.step(20)


def test_onlookers_change_nothing():
    hashes, end = set(), 1.0
    for foxglove in ({"port": 0}, None):
        with al.Simulation.load("hover", overrides={"engine": "batch", "foxglove": foxglove}) as sim:
            sim.first_look()
            heard = Client(sim.foxglove.address, sim).subscribe("/cf/state") if sim.foxglove else None
            assert heard is None or heard()[0] >= 0  # steps until it hears
            end = max(end, sim.time)
            sim.run(until=end)
            hashes.add(sim.state_hash())
    assert len(hashes) == 1


def test_a_port_that_is_taken_is_told():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        sim = al.Simulation.load("hover", overrides={"engine": "batch", "foxglove": {"port": port}})
        with pytest.raises(FoxgloveError, match=f"foxglove: cannot listen on .*{port}: .*in use; port .* is free"):
            sim.first_look()


def test_a_page_of_another_site_may_not_look_on_and_the_app_may(sim):
    for origin in ("https://app.foxglove.dev", "file://", f"http://{sim.foxglove.address.removeprefix('ws://')}"):
        with connect(sim.foxglove.address, origin=origin, subprotocols=["foxglove.sdk.v1"]) as app:
            assert json.loads(app.recv(PATIENCE))["op"] == "serverInfo"
    for origin in ("http://evil.example", "null", "https://app.foxglove.dev.evil.example"):
        for _ in range(2):
            with pytest.raises(InvalidStatus, match="403"):
                connect(sim.foxglove.address, origin=origin, subprotocols=["foxglove.sdk.v1"])
    with pytest.raises(InvalidStatus, match="403"):
        connect(sim.foxglove.address, additional_headers={"Host": "evil.example"}, subprotocols=["foxglove.sdk.v1"])
    sim.step(20)
    warnings = [text for text in sim.warnings if "a page of http://evil.example may not look on" in text]
    assert len(warnings) == 1
    assert "foxglove.origins" in warnings[0]


def test_whoever_comes_from_elsewhere_shows_the_token():
    overrides = {"engine": "batch", "foxglove": {"port": 0, "host": "0.0.0.0"}}
    with al.Simulation.load("hover", overrides=overrides) as sim:
        sim.first_look()
        with_token = sim.foxglove.address.replace("0.0.0.0", "127.0.0.1")
        with pytest.raises(InvalidStatus, match="401"):
            connect(with_token.partition("?")[0], subprotocols=["foxglove.sdk.v1"])
        with connect(with_token, subprotocols=["foxglove.sdk.v1"]) as app:
            assert json.loads(app.recv(PATIENCE))["op"] == "serverInfo"


def test_the_server_behind_the_door_takes_nobody_else(sim):
    door = int(sim.foxglove.address.rpartition(":")[2])
    inner = {one.port for one in open_ports(os.getpid()) if one.protocol == "tcp"} - {door}
    assert sim.foxglove._server.port in inner
    for _ in range(2):
        with socket.socket() as stranger:
            stranger.settimeout(0.5)
            with pytest.raises(TimeoutError):
                stranger.connect(("127.0.0.1", sim.foxglove._server.port))
        Client(sim.foxglove.address, sim).subscribe("/cf/state")()


def test_strangers_leave_no_text(sim, capfd):
    for said in (
        b"garbage\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n\r\n",
        b"\x16\x03" * 50,
    ):
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", int(sim.foxglove.address.rpartition(":")[2]))) as stranger:
                stranger.sendall(said)
    assert Client(sim.foxglove.address, sim).subscribe("/cf/state")()
    assert capfd.readouterr() == ("", "")


def test_a_run_tells_where_and_takes_leave_of_clients_at_its_end(tmp_path):
    options = ["--headless", "--foxglove", "--no-figures", "--set", "engine=batch", "--out", str(tmp_path / "run")]
    command = [sys.executable, "-m", "airloom", "run", "hover", "--set", "foxglove.port=0", *options, "--until", "600"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        told = ""
        while not (found := re.search(r"ws://\S+", told)):
            line = run.stdout.readline()
            assert line, told
            told += line
        client = Client(found[0])
        client.subscribe("/cf/state")()
        run.terminate()
        with pytest.raises(ConnectionClosed):
            client.until(lambda: False)
        run.communicate(timeout=60)
        assert run.returncode == 128 + 15
