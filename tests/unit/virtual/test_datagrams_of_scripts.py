"""UDP of scripts that goes by radio, and what does not get into the radio's networks."""

from __future__ import annotations

import errno
import socket
import struct

import pytest

from airloom.radio.packet import EVERYBODY, LONGEST, Nodes, Packet
from airloom.virtual import refusals
from airloom.virtual.addresses import Addresses
from airloom.virtual.datagrams import HEAD, Datagram, Datagrams, datagram_in
from airloom.virtual.radio_socket import RadioSocket

NODES = Nodes(["a", "b", "c"], ["a"], {"": ["a", "b", "c"], "long": ["a", "c"]})
GROUP, PORT = "239.7.7.7", 5007


class Air:
    """A script's sockets, and what its radio is given."""

    def __init__(self, nodes=NODES):
        self.sent = []
        self.net = Datagrams(nodes, lambda *packet: self.sent.append(packet))
        self.open = []

    def socket(self, family=socket.AF_INET, kind=socket.SOCK_DGRAM, proto=0):
        one = type("Socket", (RadioSocket,), {"net": self.net})(family, kind, proto)
        one.setblocking(False)
        self.open.append(one)
        return one

    def bound(self, address=("", PORT)):
        one = self.socket()
        one.bind(address)
        return one

    def member(self, group=GROUP, interface="0.0.0.0", **where):
        one = self.bound(**where)
        one.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, request(group, interface))
        return one

    def hear(self, content, sender="b", to=EVERYBODY, band="", group="", port=PORT, source=4000):
        packed = Datagram(source, port, content, group).packed()
        assert self.net.take("a", Packet(sender, to, packed, 0, 0, -60.0, band))


def request(group, interface="0.0.0.0"):
    return socket.inet_aton(group) + socket.inet_aton(interface)


def heard(one):
    said = []
    while True:
        try:
            said.append(one.recvfrom(2000))
        except BlockingIOError:
            return said


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch):
    monkeypatch.setattr(refusals, "_told", set())


@pytest.fixture
def air():
    air = Air()
    yield air
    for one in air.open:
        one.close()


def test_what_is_too_long_is_refused_as_by_any_socket(air):
    line = air.socket()
    line.sendto(bytes(LONGEST - HEAD.size), ("10.73.0.2", 5000))
    line.sendto(bytes(LONGEST - HEAD.size - 4), (GROUP, 5000))
    for to, head in (("10.73.0.2", HEAD.size), (GROUP, HEAD.size + 4)):
        with pytest.raises(OSError, match="too long") as refused:
            line.sendto(bytes(LONGEST - head + 1), (to, 5000))
        assert refused.value.errno == errno.EMSGSIZE
    assert len(air.sent) == 2


def test_a_datagram_is_read_as_it_was_written():
    for one in (Datagram(1, 2, b"x"), Datagram(65535, 0, b"", GROUP)):
        assert datagram_in(one.packed()) == one
    for other in (b"", b"UDP\0", b"UDPM1234", b"UDPX12345678", b"something else"):
        assert datagram_in(other) is None


def test_addresses_of_others_in_any_form():
    known = Addresses(NODES)
    same = {"b": "10.73.0.2", b"10.73.0.2": "10.73.0.2", "10.73.2": "10.73.0.2", "c.long": "10.74.0.3"}
    assert {host: known.find(host) for host in same} == same
    for ours in ("10.73.0.9", "10.74.0.2", "10.73.255.255", "224.0.0.251", "255.255.255.255"):
        assert known.find(ours) == ours, "of the radio, though of nobody"
    assert known.find("<broadcast>") == "255.255.255.255"
    assert [known.find(it) for it in ("127.0.0.1", "", "0.0.0.0", "10.75.0.1", "192.168.1.255", "b.long", None)] == [
        None
    ] * 7
    assert known.own == ["10.73.0.1", "10.74.0.1"]


# -- multicast -------------------------------------------------------------------------------------------------------


def test_multicast_goes_to_all_in_reach_with_its_group(air):
    air.socket().sendto(b"hello", (GROUP, PORT))
    ((sender, content, to, band),) = air.sent
    assert (sender, to, band) == ("a", EVERYBODY, "")
    assert datagram_in(content) == Datagram(49249, PORT, b"hello", GROUP)


def test_who_has_joined_hears_it_and_nobody_else(air):
    member, elsewhere = air.member(), air.member(address=("", PORT + 1))
    air.hear(b"to the group", group=GROUP)
    air.hear(b"to another", group="239.7.7.8")
    assert heard(member) == [(b"to the group", ("10.73.0.2", 4000))]
    assert heard(elsewhere) == []
    member.setsockopt(socket.IPPROTO_IP, socket.IP_DROP_MEMBERSHIP, request(GROUP))
    elsewhere.setsockopt(socket.IPPROTO_IP, socket.IP_DROP_MEMBERSHIP, request(GROUP))
    air.hear(b"too late", group=GROUP)
    assert heard(member) == []


def test_without_a_member_nobody_hears_a_group(air):
    one = air.bound()
    air.hear(b"to the group", group=GROUP)
    assert heard(one) == []
    air.hear(b"to all hosts", group="224.0.0.1")
    assert [data for data, _ in heard(one)] == [b"to all hosts"]


def test_one_that_joins_lets_the_others_hear_unless_they_will_not(air):
    """IP_MULTICAST_ALL, ip(7)."""
    member, beside, selective = air.member(), air.bound(), air.bound()
    selective.setsockopt(socket.IPPROTO_IP, 49, 0)
    air.hear(b"x", group=GROUP)
    assert [len(heard(one)) for one in (member, beside, selective)] == [1, 1, 0]
    member.close()
    air.hear(b"x", group=GROUP)
    assert heard(beside) == [], "who closes its socket leaves its groups"


def test_one_bound_to_the_group_hears_the_group_alone(air):
    one = air.member(address=(GROUP, PORT))
    air.hear(b"to the group", group=GROUP)
    air.hear(b"to me", to="a")
    air.hear(b"to all")
    assert [data for data, _ in heard(one)] == [b"to the group"]
    assert one.getsockname() == (GROUP, PORT)


@pytest.mark.parametrize("address", ["255.255.255.255", "10.73.255.255"])
def test_one_bound_to_a_broadcast_address_hears_what_is_for_all(air, address):
    one = air.bound((address, PORT))
    air.hear(b"to me", to="a")
    air.hear(b"to all")
    assert [data for data, _ in heard(one)] == [b"to all"]


def test_multicast_comes_back_to_its_sender_as_in_linux(air):
    one, other = air.member(), air.socket()
    for loop in (1, 0):
        other.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, loop)
        other.sendto(b"back", (GROUP, PORT))
    assert heard(one) == [(b"back", ("10.73.0.1", other.getsockname()[1]))]
    assert len(air.sent) == 2
    other.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 0)
    other.sendto(b"not into the air", (GROUP, PORT))
    assert len(air.sent) == 2


def test_multicast_by_another_band(air):
    one, first = air.member(interface="10.74.0.1"), air.member(group="239.1.1.1", address=("", PORT + 1))
    one.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("10.74.0.1"))
    one.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 0)
    one.sendto(b"far", (GROUP, PORT))
    assert air.sent[0][::3] == ("a", "long")
    air.hear(b"first", group=GROUP)
    air.hear(b"long", "c", band="long", group=GROUP)
    assert heard(one) == [(b"long", ("10.74.0.3", 4000))]
    assert heard(first) == []


def test_membership_is_refused_as_in_linux(air):
    one = air.member()

    def number(name, value):
        with pytest.raises(OSError, match=r".") as refused:
            one.setsockopt(socket.IPPROTO_IP, name, value)
        return refused.value.errno

    assert number(socket.IP_ADD_MEMBERSHIP, request(GROUP)) == errno.EADDRINUSE
    assert number(socket.IP_DROP_MEMBERSHIP, request("239.1.1.1")) == errno.EADDRNOTAVAIL
    assert number(socket.IP_ADD_MEMBERSHIP, request("10.73.0.2")) == errno.EINVAL
    assert number(socket.IP_ADD_MEMBERSHIP, b"abc") == errno.EINVAL
    assert number(socket.IP_ADD_MEMBERSHIP, request("239.1.1.1", "127.0.0.1")) == errno.ENODEV
    assert number(socket.IP_ADD_MEMBERSHIP, request("239.1.1.1") + struct.pack("i", 1)) == errno.ENODEV
    assert number(socket.IP_MULTICAST_IF, socket.inet_aton("10.73.0.2")) == errno.ENODEV
    assert number(39, bytes(12)) == errno.EOPNOTSUPP, "IP_ADD_SOURCE_MEMBERSHIP"
    one.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, struct.pack("4sl", socket.inet_aton("239.1.1.1"), 0))


# -- the rest of the radio's networks ----------------------------------------------------------------------------------


def test_what_is_sent_to_nobody_is_lost_and_told_once(air, capsys):
    line = air.socket()
    for _ in range(3):
        assert line.sendto(b"hello?", ("10.73.0.9", 5000)) == 6
    assert air.sent == []
    told = "airloom exec: 10.73.0.9 is nobody's: what is sent there is lost; nodes are a (10.73.0.1), b (10.73.0.2), "
    assert capsys.readouterr().err == told + "c (10.73.0.3), a.long (10.74.0.1), c.long (10.74.0.3)\n"


@pytest.mark.parametrize("host", ["10.73.0.2", "b", "10.73.0.1", "10.73.0.9", "10.74.0.2"])
def test_tcp_between_nodes_is_refused_in_a_sentence(air, capsys, host):
    line = air.socket(kind=socket.SOCK_STREAM)
    for call in (line.connect, line.bind):
        with pytest.raises(
            ConnectionRefusedError, match=r"TCP to 10\.7.* is not carried by the simulated radio: use UDP"
        ):
            call((host, 80))
    assert line.connect_ex((host, 80)) == errno.ECONNREFUSED
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("family", "kind", "proto", "host"),
    [
        (socket.AF_INET6, socket.SOCK_DGRAM, 0, "ff02::1"),
        (socket.AF_INET6, socket.SOCK_DGRAM, 0, "::ffff:10.73.0.2"),
        (socket.AF_INET6, socket.SOCK_DGRAM, 0, "::FFFF:239.7.7.7"),
        (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP, "10.73.0.2"),
        (socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP, "10.73.0.2"),
    ],
)
def test_what_is_no_udp_over_ipv4_is_refused(air, family, kind, proto, host):
    try:
        line = air.socket(family, kind, proto)
    except OSError as error:
        pytest.skip(f"this machine has no such socket: {error}")
    for send in (lambda: line.sendto(b"x", (host, 5000)), lambda: line.sendmsg([b"x"], [], 0, (host, 5000))):
        with pytest.raises(OSError, match="is not carried by the simulated radio") as refused:
            send()
        assert refused.value.errno == errno.ENETUNREACH


def test_groups_of_ipv6_are_refused(air):
    line = air.socket(socket.AF_INET6)
    with pytest.raises(OSError, match="groups of IPv6 are not carried") as refused:
        line.setsockopt(
            socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, socket.inet_pton(socket.AF_INET6, "ff02::1") + bytes(4)
        )
    assert refused.value.errno == errno.ENODEV


def test_interfaces_of_the_machine_are_none_of_the_radio(air):
    line = air.socket()
    with pytest.raises(OSError, match=r"'wlan0' is no interface .* name one by its address \(10.73.0.1, 10.74.0.1\)"):
        line.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"wlan0\0")


def test_an_address_of_another_cannot_be_bound(air):
    for host in ("10.73.0.2", "10.73.0.9"):
        with pytest.raises(OSError, match="assign") as refused:
            air.bound((host, PORT))
        assert refused.value.errno == errno.EADDRNOTAVAIL


def test_a_script_without_a_radio_reaches_nobody():
    air = Air(NODES._replace(own=[]))
    with air.socket() as line, pytest.raises(OSError, match="this script has no radio") as refused:
        line.sendto(b"x", ("255.255.255.255", PORT))
    assert refused.value.errno == errno.ENETUNREACH


# -- ways to send and to receive ---------------------------------------------------------------------------------------


def test_who_is_connected_hears_no_other_and_knows_its_address(air):
    line = air.socket()
    line.connect(("b", 4000))
    assert line.getpeername() == ("10.73.0.2", 4000)
    assert line.getsockname() == ("10.73.0.1", 49249)
    for sender, source in (("b", 4000), ("b", 4001), ("c", 4000)):
        air.hear(f"{sender} {source}".encode(), sender, to="a", port=49249, source=source)
    assert [data for data, _ in heard(line)] == [b"b 4000"]


def test_free_ports_of_two_nodes_differ():
    airs = Air(), Air(NODES._replace(own=["b"]))
    ports = [{air.net.free_port() for _ in range(90)} for air in airs]
    assert not ports[0] & ports[1]
    assert all(49152 <= airs[0].net.free_port() <= 65535 for _ in range(20_000))


def test_what_a_node_sends_to_itself_does_not_go_by_radio(air):
    one = air.bound()
    one.sendto(b"me", ("10.73.0.1", PORT))
    assert heard(one) == [(b"me", ("10.73.0.1", PORT))]
    assert air.sent == []


def test_all_ways_to_send_and_receive_agree(air):
    one = air.bound()
    one.sendto(b"abcd", ("b", 1))
    one.sendmsg([b"ab", bytearray(b"cd")], [], 0, ("b", 1))
    one.connect(("b", 1))
    one.send(b"abcd")
    one.send(memoryview(b"abcd"))
    one.sendmsg([b"ab", b"cd"])
    assert air.sent == [air.sent[0]] * 5
    for k in range(6):
        air.hear(b"abcd%d" % k, to="a", source=1)
    buffer, more = bytearray(3), bytearray(9)
    by = ("10.73.0.2", 1)
    assert one.recv(99) == b"abcd0"
    assert one.recvfrom(4) == (b"abcd", by)
    assert (one.recv_into(buffer), bytes(buffer)) == (3, b"abc")
    assert one.recvfrom_into(more) == (5, by)
    assert one.recvmsg(99) == (b"abcd4", [], 0, by)
    assert one.recvmsg_into([buffer, more]) == (5, [], 0, by)
    assert (bytes(buffer), bytes(more[:2])) == (b"abc", b"d5")


def test_a_copy_of_a_socket_hears_once(air):
    one = air.bound()
    twin = one.dup()
    air.hear(b"x")
    assert [data for data, _ in heard(twin)] == [b"x"]
    assert heard(one) == []
    one.close()
    air.hear(b"y")
    assert [data for data, _ in heard(twin)] == [b"y"]
    twin.close()


def test_scripts_that_share_a_port_of_the_machine_do_not_get_each_others_datagrams():
    """Each is a process of its own, which the machine's port would be shared between."""
    airs = Air(), Air(NODES._replace(own=["b"]))
    lines = []
    for air in airs:
        line = air.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        line.bind(("", 0))
        lines.append(line)
    port = socket.socket.getsockname(lines[0])[1]
    with airs[1].socket() as third:
        third.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        third.bind(("", port))
        airs[0].hear(b"to the first", port=lines[0].radio_port)
        assert [len(heard(one)) for one in (lines[0], third)] == [1, 0]
    for line in lines:
        line.close()


def test_one_that_has_talked_on_the_machine_can_talk_by_radio(air):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        line = air.socket()
        line.sendto(b"x", other.getsockname())
        line.sendto(b"y", ("b", 5000))
        air.hear(b"answer", to="a", port=line.radio_port)
        assert [data for data, _ in heard(line)] == [b"answer"]
        other.settimeout(60)
        assert other.recv(9) == b"x"


def test_one_that_is_bound_to_loopback_gets_nothing_out(air):
    line = air.bound(("127.0.0.1", 0))
    with pytest.raises(OSError, match="Invalid argument"):
        line.sendto(b"x", ("b", 5000))
