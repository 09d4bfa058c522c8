"""What a vehicle flies for its base station, one after the other: orders, and what it does without a link."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from airloom.missions.items import Hold, Land, Return, fly_item
from airloom.missions.pilots import pilot_of
from airloom.missions.tasks import Cancelled
from airloom.station.parameters import Failsafe
from airloom.station.words import Doing, OrderState
from airloom.watch.origin import told

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle


class Flight:
    def __init__(self, sim: Simulation, vehicle: Vehicle) -> None:
        self._sim, self._vehicle, self._pilot = sim, vehicle, pilot_of(sim, vehicle)
        self._items: Sequence[Any] = ()
        self._again_from: int | None = None
        self._is_without_link = False
        """Whether a failsafe is flown, or was, and no order has come since."""
        self.order, self.item, self.state = 0, 0, OrderState.NONE
        """The last order's number, the item of it that is flown, and how far it is."""

    @property
    def doing(self) -> Doing:
        if not self._vehicle.armed:
            return Doing.RESTS
        if self._is_without_link:
            return Doing.FAILSAFE
        if self.state is OrderState.FLYING:
            return Doing.ORDER
        return Doing.HOLDS if self.order else Doing.ELSE

    def remembered(self) -> tuple[Any, ...]:
        return self.order, self.item, self.state.name, self._is_without_link

    def obey(self, number: int, items: Sequence[Any], again_from: int | None) -> None:
        """Leave whatever is flown, also by a mission of the scenario's, for a new order."""
        self._leave()
        self._is_without_link = False
        self.order, self._items, self._again_from = number, items, again_from
        self._go_on_from(0)

    def lose_link(self, failsafe: Failsafe) -> str:
        """Do what the failsafe says; in words."""
        if not self._vehicle.armed:
            return "it stands with its rotors at rest, and stays so"
        if failsafe.action == "none":
            return "it flies on"
        if self.state is OrderState.FLYING and isinstance(self._items[self.item], Land | Return):
            return "it is coming down anyway"
        self._leave()
        self._is_without_link = True
        self._start(self._safe(failsafe))
        return {"hold": "it holds", "return": "it returns", "land": "it lands"}[failsafe.action]

    def find_link(self, failsafe: Failsafe) -> str:
        """The station is heard again; what follows, in words."""
        if not self._is_without_link:
            return "it flies on"
        if failsafe.when_back == "stay" or not self._vehicle.armed:
            return "it does what it began without" if self._vehicle.armed else "it has come down"
        self._leave()
        self._is_without_link = False
        if failsafe.when_back == "resume" and self.state is OrderState.BROKEN_OFF:
            self._go_on_from(self.item)
            return f"it goes on with order {self.order}, item {self.item + 1}"
        return "it holds"

    def _leave(self) -> None:
        """Whatever is flown, by order of another station or by a mission of the scenario's too."""
        self._sim.cancel(self._vehicle.name)
        if self.state is OrderState.FLYING:
            self.state = OrderState.BROKEN_OFF

    def _go_on_from(self, item: int) -> None:
        self.item, self.state = item, OrderState.FLYING
        self._start(self._fly(item))

    def _start(self, flight: Coroutine) -> None:
        """It tells by itself how it ended."""
        self._sim.start(flight, self._vehicle.name).when_done(lambda _: None)

    async def _fly(self, first: int) -> None:
        name, sim = self._vehicle.name, self._sim
        try:
            while first < len(self._items):
                for item in range(first, len(self._items)):
                    self.item = item
                    await fly_item(self._pilot, self._items, item, self._again_from)
                first = len(self._items) if self._again_from is None else self._again_from
        except Cancelled:
            self.state = OrderState.BROKEN_OFF
            raise
        except Exception as error:
            self.state = OrderState.FAILED
            sim.fail(name, f"order {self.order} failed at item {self.item + 1}: {told(error)}")
            self._pilot.brake()
        else:
            self.state = OrderState.DONE
            sim.succeed(name, f"order {self.order} is done")

    async def _safe(self, failsafe: Failsafe) -> None:
        home = Return(least_height=failsafe.least_height)
        items: dict[str, Any] = {"hold": Hold(hold=None), "return": home, "land": Land(land=None)}
        try:
            await items[failsafe.action].fly(self._pilot)
        except Exception as error:
            self._sim.fail(self._vehicle.name, f"could not {failsafe.action} without a link: {told(error)}")
            self._pilot.brake()
