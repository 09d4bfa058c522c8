"""DDS as ROS 2 uses it, over Cyclone DDS: readers and writers of bytes that are CDR already.

Cyclone's Python package serialises by itself, which takes 55 µs for an odometry; its private functions take bytes in
8 µs. The version is pinned for that.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from airloom.errors import UserError
from airloom.ros2 import names

VERSION = "11.0.1"
MOST_PARTICIPANTS = 100
"""On this host, as far as we look for them."""
MATCHED, DATA = 1 << 11, 1 << 8
"""Statuses of DDS: somebody listens to a writer or leaves it; a reader has messages."""
FATAL, ERROR = 1, 2
"""Categories of what Cyclone says."""


class Ros2Error(UserError):
    """The bridge to ROS 2 cannot be; the message is meant for the user."""


@dataclass(frozen=True)
class Profile:
    """Quality of service, in ROS's words."""

    reliable: bool = True
    latched: bool = False
    depth: int | None = 10
    """Messages kept; None for all."""


SENSOR = Profile(reliable=False, depth=5)
DEFAULT = Profile()
LATCHED = Profile(latched=True, depth=1)
EVERYTHING = Profile(depth=None)

Endpoint = Any
"""A reader or a writer of Cyclone's."""


def address_of(interface: str) -> str:
    """The IPv4 address of a network interface."""
    import fcntl

    get_address = 0x8915  # SIOCGIFADDR
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            found = fcntl.ioctl(asking, get_address, struct.pack("256s", interface.encode()[:15]))
    except OSError:
        raise Ros2Error(f"ros2.interface: '{interface}' has no IPv4 address here") from None
    return socket.inet_ntoa(found[20:24])


def _keep_to_loopback(domain: int) -> None:
    """Cyclone listens on loopback alone only as far as it tells others where: its sockets are open to any address. So
    we tie them to the loopback device.
    """
    ports = range(7400 + 250 * domain, 7400 + 250 * (domain + 1))
    for one in _own_datagram_sockets():
        if one.getsockname()[1] in ports:
            with suppress(PermissionError):  # before Linux 5.7 only root may
                one.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo\0")


def _own_datagram_sockets() -> Iterator[socket.socket]:
    """Of this process, whoever made them."""
    for number in map(int, os.listdir("/proc/self/fd")):
        with suppress(OSError):  # it has been closed meanwhile
            if os.readlink(f"/proc/self/fd/{number}").startswith("socket:"):
                with socket.socket(fileno=os.dup(number)) as one:
                    if one.family == socket.AF_INET and one.type == socket.SOCK_DGRAM:
                        yield one


def _mute() -> None:
    """Cyclone warns on the terminal of each datagram that it cannot read, which anybody can send, and lets nobody else
    hear it. Those that come to our own participant are counted (`rtps/`).
    """
    from cyclonedds.internal import DDS

    DDS._dll_handle.dds_set_log_mask(FATAL | ERROR)


def _configuration(interface: str | None) -> str:
    """Loopback without multicast unless an interface is named; there datagrams may be large. A simulation must not wait
    for slow readers, so what they have not got may pile up, as deep as a topic's history goes. Fast DDS 3 describes
    types otherwise than Cyclone does, so that what it says of them must not be compared (vendor 1.15).
    """
    place = interface or "lo"
    general = f'<Interfaces><NetworkInterface name="{place}"/></Interfaces>'
    peers = ""
    if interface is None:
        general += "<AllowMulticast>false</AllowMulticast>"
        general += "<MaxMessageSize>65500B</MaxMessageSize><FragmentSize>65000B</FragmentSize>"
        peers = '<Peers><Peer Address="127.0.0.1" PruneDelay="inf"/></Peers>'
    return (
        f"<CycloneDDS><Domain><General>{general}</General>"
        f"<Discovery><ParticipantIndex>auto</ParticipantIndex><SPDPInterval>1s</SPDPInterval>"
        f"<MaxAutoParticipantIndex>{MOST_PARTICIPANTS}</MaxAutoParticipantIndex>{peers}</Discovery>"
        "<Internal><Watermarks><WhcAdaptive>false</WhcAdaptive><WhcHigh>200MB</WhcHigh></Watermarks></Internal>"
        "<Compatibility><IgnoreTypeInformation>1.15</IgnoreTypeInformation></Compatibility>"
        "<Tracing><Verbosity>none</Verbosity></Tracing></Domain></CycloneDDS>"
    )


class Participant:
    """Our place in a domain. `poll` tells whose statuses have changed."""

    def __init__(self, domain: int, interface: str | None = None) -> None:
        try:
            from cyclonedds import core
            from cyclonedds import domain as domains
        except ImportError:
            raise Ros2Error(f"ROS 2 needs cyclonedds {VERSION}: pip install 'airloom[ros2]'") from None
        self._core = core
        if interface is not None:
            address_of(interface)
        _mute()
        try:
            try:
                self._domain = domains.Domain(domain, _configuration(interface))
            except core.DDSException as error:
                if error.code != core.DDSException.DDS_RETCODE_PRECONDITION_NOT_MET:
                    raise  # else this process is in the domain already
            self._participant = domains.DomainParticipant(domain, qos=_qos_of_participant())
        except core.DDSException as error:
            where = f"interface '{interface}'" if interface else "loopback"
            raise Ros2Error(f"cannot take part in ROS domain {domain} on {where}: {error.msg}") from None
        if interface is None:
            _keep_to_loopback(domain)
        self._topics: dict[tuple[str, str], Any] = {}
        self._attached: dict[int, tuple[Endpoint, Callable[[], None]]] = {}
        self._waiting: dict[int, Any] = {}
        self._waitset = core.WaitSet(self._participant)
        self._triggered = (ctypes.c_void_p * 64)()
        self._pointer = ctypes.cast(self._triggered, ctypes.POINTER(ctypes.c_void_p))
        self.gid = self._participant.get_guid().bytes

    def writer(self, name: str, msgtype: str, profile: Profile, on_matched: Callable[[], None] | None = None) -> Writer:
        from cyclonedds.pub import DataWriter

        endpoint = DataWriter(self._participant, self._topic(name, msgtype), qos=_qos(profile, msgtype))
        writer = Writer(endpoint)
        self._attach(endpoint, MATCHED, partial(writer.look, on_matched))
        return writer

    def reader(self, name: str, msgtype: str, profile: Profile, on_data: Callable[[], None] | None = None) -> Reader:
        from cyclonedds.sub import DataReader

        endpoint = DataReader(self._participant, self._topic(name, msgtype), qos=_qos(profile, msgtype))
        if on_data is not None:
            self._attach(endpoint, DATA, on_data)
        return Reader(endpoint)

    def drop(self, one: Writer | Reader) -> None:
        if self._attached.pop(one.endpoint._ref, None):
            self._waitset.detach(one.endpoint)
        one.close()

    def poll(self, timeout: float = 0.0) -> None:
        """Call back those of whom there is news; wait so many seconds for some."""
        count = self._waitset._waitset_wait(
            self._waitset._ref, self._pointer, len(self._triggered), round(timeout * 1e9)
        )
        for k in range(min(count, len(self._triggered))):
            if (found := self._attached.get(self._triggered[k] or 0)) is not None:
                found[1]()

    def wait(self, reader: Reader, timeout: float) -> None:
        """Until it has a message, or so many seconds."""
        if reader.endpoint._ref not in self._waiting:
            waitset = self._core.WaitSet(self._participant)
            reader.endpoint.set_status_mask(DATA)
            waitset.attach(reader.endpoint)
            self._waiting[reader.endpoint._ref] = waitset
        self._waiting[reader.endpoint._ref].wait(round(timeout * 1e9))

    def other_writers(self) -> Iterator[tuple[str, str, bytes]]:
        """Topic, type and USER_DATA of each writer of others that has come since the last call."""
        from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication

        if not hasattr(self, "_discovery"):
            self._discovery = BuiltinDataReader(self._participant, BuiltinTopicDcpsPublication)
        own = self._participant.get_guid()
        for sample in self._discovery.take(N=100):
            if getattr(sample, "topic_name", None) and sample.participant_key != own:
                yield sample.topic_name, sample.type_name, _user_data(sample.qos)

    def close(self) -> None:
        self._attached.clear()
        self._waiting.clear()
        self._topics.clear()
        for name in ("_discovery", "_waitset", "_participant", "_domain"):
            if hasattr(self, name):
                delattr(self, name)

    def _topic(self, name: str, msgtype: str) -> Any:
        from cyclonedds.topic import Topic

        key = name, msgtype
        if key not in self._topics:
            self._topics[key] = Topic(self._participant, name, _dummy(names.dds_type(msgtype)))
        return self._topics[key]

    def _attach(self, endpoint: Endpoint, status: int, tell: Callable[[], None]) -> None:
        endpoint.set_status_mask(status)
        self._attached[endpoint._ref] = endpoint, tell
        self._waitset._waitset_attach(self._waitset._ref, endpoint._ref, ctypes.c_void_p(endpoint._ref))
        self._waitset.attached.append((endpoint, None))


def in_whole_words(cdr: bytes) -> bytes:
    """As messages end."""
    return cdr if len(cdr) % 4 == 0 else cdr.ljust((len(cdr) + 3) & ~3, b"\0")


class Writer:
    def __init__(self, endpoint: Endpoint) -> None:
        from cyclonedds._clayer import ddspy_write

        self.endpoint, self.gid = endpoint, endpoint.get_guid().bytes
        self._put, self.number = ddspy_write, endpoint._ref
        self.is_heard = False
        """Whether somebody listened when the participant was last polled."""

    def look(self, and_then: Callable[[], None] | None) -> None:
        """Somebody has come or gone."""
        self.is_heard = self.listeners > 0
        if and_then is not None:
            and_then()

    def write(self, cdr: bytes) -> None:
        self._put(self.number, in_whole_words(cdr))

    @property
    def listeners(self) -> int:
        """How many readers there are."""
        return self.endpoint.get_publication_matched_status().current_count

    def close(self) -> None:
        self.endpoint = None


class Reader:
    def __init__(self, endpoint: Endpoint) -> None:
        from cyclonedds._clayer import ddspy_take

        self.endpoint, self.gid = endpoint, endpoint.get_guid().bytes
        self._take, self._ref = ddspy_take, endpoint._ref
        self._mask = _any_state()

    def take(self, most: int = 64) -> list[bytes]:
        """Messages that have come, the oldest first."""
        found = self._take(self._ref, self._mask, most)
        return [] if isinstance(found, int) else [data for data, info in found if info.valid_data]

    @property
    def senders(self) -> int:
        """How many writers there are."""
        return self.endpoint.get_subscription_matched_status().current_count

    def close(self) -> None:
        self.endpoint = None


@cache
def _any_state() -> int:
    from cyclonedds.core import InstanceState, SampleState, ViewState

    return SampleState.Any | ViewState.Any | InstanceState.Any


@cache
def _dummy(type_name: str) -> Any:
    """A type of this name. What is in it Cyclone need not know: it carries bytes."""
    from cyclonedds.idl import IdlStruct

    @dataclass
    class Unused(IdlStruct, typename=type_name):
        unused: int

    Unused.__annotations__["unused"] = int  # Cyclone does not understand the text that it is here
    return Unused


def _qos_of_participant() -> Any:
    from cyclonedds.qos import Policy, Qos

    return Qos(Policy.Userdata(b"enclave=/;"))


def _qos(profile: Profile, msgtype: str) -> Any:
    from cyclonedds.qos import Policy, Qos
    from cyclonedds.util import duration

    reliability = (
        Policy.Reliability.Reliable(duration(seconds=1)) if profile.reliable else Policy.Reliability.BestEffort
    )
    durability = Policy.Durability.TransientLocal if profile.latched else Policy.Durability.Volatile
    history = Policy.History.KeepAll if profile.depth is None else Policy.History.KeepLast(profile.depth)
    form = Policy.DataRepresentation(use_cdrv0_representation=True)
    return Qos(reliability, durability, history, form, Policy.Userdata(names.type_note(msgtype)))


def _user_data(qos: Any) -> bytes:
    for policy in qos:
        if type(policy).__name__ == "Userdata":
            return policy.data
    return b""
