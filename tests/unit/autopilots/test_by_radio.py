"""MAVLink as packets: whole messages, in order, no longer than a packet; and an autopilot that speaks UDP."""

from __future__ import annotations

import socket

from airloom.autopilots.by_radio import ROOM, in_packets, whole_messages
from airloom.autopilots.relay import Datagrams, Relay


def version_2(size, signed=False):
    return bytes([0xFD, size, signed, 0]) + bytes(6 + size + 2 + 13 * signed)


def version_1(size):
    return bytes([0xFE, size]) + bytes(4 + size + 2)


def test_messages_are_cut_where_they_end():
    messages = [version_2(9), version_1(33), version_2(0, signed=True), version_2(255)]
    assert [len(message) for message in messages] == [21, 41, 25, 267], "as the protocol has it"
    data = bytearray(b"".join(messages))
    assert list(whole_messages(data)) == messages
    assert data == b""


def test_what_is_not_whole_waits_for_the_rest():
    message, data, found = version_2(40), bytearray(), []
    for byte in version_1(3) + message:
        data.append(byte)
        found += whole_messages(data)
    assert found == [version_1(3), message]


def test_what_is_no_mavlink_goes_along():
    data = bytearray(b"boot\n" + version_2(5) + b"garbage")
    assert list(whole_messages(data)) == [b"boot\n", version_2(5), b"garbage"]


def test_packets_hold_as_many_messages_as_fit():
    messages = [version_2(255)] * 12  # of 267 bytes: five fit into 1398
    packets = list(in_packets(iter(messages)))
    assert [len(packet) // 267 for packet in packets] == [5, 5, 2]
    assert b"".join(packets) == b"".join(messages)
    assert [len(packet) for packet in in_packets(iter([bytes(3000)]))] == [ROOM, ROOM, 3000 - 2 * ROOM]


def test_an_autopilot_that_speaks_udp_answers_whoever_spoke_to_it(free_port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as autopilot:
        autopilot.bind(("127.0.0.1", 0))
        autopilot.settimeout(60)
        relay = Relay(port := free_port(), autopilot=Datagrams(autopilot.getsockname()[1]))
        with socket.create_connection(("127.0.0.1", port)) as station:
            station.settimeout(60)
            station.send(b"\xfdheartbeat")
            relay.carry()
            data, sender = autopilot.recvfrom(100)
            assert data == b"\xfdheartbeat"
            autopilot.sendto(b"telemetry", sender)
            relay.carry()
            assert station.recv(100) == b"telemetry"
        relay.close()
