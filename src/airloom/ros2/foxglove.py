"""The run for Foxglove's app: the bus's own bytes over its websocket protocol, with the definitions of their types.

The server's threads only say that somebody came or went; all else is done where the simulation gives a turn. A client
that is too slow loses old messages, and holds nobody up.
"""

from __future__ import annotations

import logging
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from airloom.basics.clock import nearest_ticks
from airloom.basics.patterns import matches
from airloom.bus import messages
from airloom.bus.bus import Subscription, Topic
from airloom.errors import UserError
from airloom.net.listening import ListenError
from airloom.net.walled import HERE
from airloom.ros2.description import urdf
from airloom.ros2.foxglove_door import FoxgloveDoor
from airloom.ros2.frames import Tree
from airloom.scenario.errors import shortened

if TYPE_CHECKING:
    from airloom.scenario.foxglove import Foxglove as Wishes
    from airloom.simulation import Simulation

MOVING, FIXED = "/tf", "/tf_static"
MOST_TOLD_OF = 10
"""Sites whose pages were turned away."""


class FoxgloveError(UserError):
    """There can be no server for Foxglove; the message is meant for the user."""


class Visitors:
    """Told by the server's threads who has come for a topic or left it."""

    def __init__(self) -> None:
        self.news: SimpleQueue[str] = SimpleQueue()

    def on_subscribe(self, client: Any, channel: Any) -> None:
        self.news.put(channel.topic)

    def on_unsubscribe(self, client: Any, channel: Any) -> None:
        self.news.put(channel.topic)


class Foxglove:
    """Made with the simulation, open from its first look on."""

    def __init__(self, sim: Simulation, wishes: Wishes) -> None:
        self.sim, self.wishes = sim, wishes
        self.period = nearest_ticks(wishes.rate, sim.step_ns)
        self._server: Any = None
        self._door: FoxgloveDoor | None = None
        self._foreign_sites: SimpleQueue[str] = SimpleQueue()
        self._told_of: set[str] = set()
        self._visitors: Any = Visitors()
        self._channels: dict[str, Any] = {}
        self._subscriptions: dict[str, Subscription] = {}
        self._latched: dict[str, bytes] = {}
        self._seen, self._time_ns = 0, 0

    @property
    def address(self) -> str:
        return self._door.address if self._door else f"ws://{self.wishes.host}:{self.wishes.port}"

    def open(self) -> None:
        if self._server is not None:
            return
        try:
            import foxglove
            from foxglove.websocket import Capability
        except ImportError:
            raise FoxgloveError("Foxglove needs foxglove-sdk: pip install 'airloom[foxglove]'") from None
        logging.getLogger("foxglove").setLevel(logging.CRITICAL)  # who hangs up too early is no news to the user
        self._sdk, self._context = foxglove, foxglove.Context()
        wishes = self.wishes
        try:
            self._door = FoxgloveDoor(wishes.host, wishes.port, wishes.origins, self._foreign_sites.put)
            self._server = foxglove.start_server(
                name=self.sim.scenario.name, host=HERE, port=0, context=self._context,
                capabilities=[Capability.Time], server_listener=self._visitors,
            )  # fmt: skip
            self._door.open(self._server.port)
        except (ListenError, RuntimeError, OSError) as error:
            self.close()
            raise FoxgloveError(f"foxglove: {str(error).removeprefix('FoxgloveError: ')}") from None
        self.settle()

    def settle(self) -> None:
        """Take in vehicles and topics, which may be others than before."""
        if self._server is None:
            return
        self._tree = Tree(self.sim, "ros")
        self._offer(MOVING, messages.TF_MESSAGE)
        self._latch(FIXED, messages.TF_MESSAGE, self._tree.fixed())
        for vehicle in self.sim.vehicles.values():
            description = messages.serialize(messages.build(messages.STRING, {"data": urdf(vehicle)}))
            self._latch(f"/{vehicle.name}/robot_description", messages.STRING, description)
        self._look_around()

    def _look_around(self) -> None:
        topics = self.sim.bus.topics()
        for topic in topics[self._seen :]:
            self._offer(topic.name, topic.msgtype)
        self._seen = len(topics)

    def _offer(self, name: str, msgtype: str) -> None:
        if name not in self._channels and any(matches(name, one) for one in self.wishes.topics):
            text = messages.definition(msgtype).encode()
            schema = self._sdk.Schema(name=msgtype, encoding="ros2msg", data=text)
            self._channels[name] = self._sdk.Channel(name, schema=schema, message_encoding="cdr", context=self._context)

    def _latch(self, name: str, msgtype: str, cdr: bytes) -> None:
        self._offer(name, msgtype)
        self._latched[name] = cdr
        self._visitors.news.put(name)

    def take_turn(self) -> None:
        """If it is the time for it."""
        if self.sim.tick % self.period == 0:
            if self.sim.time_ns < self._time_ns:
                self._server.clear_session()
            self._time_ns = self.sim.time_ns
            self._server.broadcast_time(self._time_ns)
            if MOVING in self._channels and self._channels[MOVING].has_sinks():
                self._channels[MOVING].log(self._tree.moving()(), log_time=self._time_ns)
            self.serve()

    def serve(self) -> None:
        """Heed who has come and gone; also while the run stands still."""
        self._look_around()
        self._tell_of_foreign_sites()
        while not self._visitors.news.empty():
            name = self._visitors.news.get()
            if name not in self._channels:
                continue
            is_wanted = self._channels[name].has_sinks()
            if name in self._latched:
                if is_wanted:
                    self._channels[name].log(self._latched[name], log_time=self.sim.time_ns)
            elif is_wanted and name != MOVING and name not in self._subscriptions:
                pass_on = partial(self._pass_on, self._channels[name].log)
                self._subscriptions[name] = self.sim.bus.subscribe(name, pass_on, raw=True)
            elif not is_wanted and name in self._subscriptions:
                self._subscriptions.pop(name).cancel()

    def _tell_of_foreign_sites(self) -> None:
        """Each once, and not more than a few: a page can say that it comes from anywhere."""
        while not self._foreign_sites.empty():
            site = shortened(self._foreign_sites.get())
            if site not in self._told_of and len(self._told_of) < MOST_TOLD_OF:
                self._told_of.add(site)
                text = f"a page of {site} may not look on; name it in foxglove.origins if you trust it"
                self.sim.event("foxglove", text, level="warning")

    @staticmethod
    def _pass_on(log: Any, _: Topic, cdr: list[bytes], times_ns: list[int]) -> None:
        for data, time_ns in zip(cdr, times_ns, strict=True):
            log(data, log_time=time_ns)

    def close(self) -> None:
        if self._door is not None:
            self._door.close()
            self._door = None
        if self._server is not None:
            for subscription in self._subscriptions.values():
                subscription.cancel()
            self._subscriptions.clear()
            self._server.stop()
            for channel in self._channels.values():
                channel.close()
            self._channels.clear()
            self._server = None
