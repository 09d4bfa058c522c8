"""Systems: plugins that act on a simulation through opt-in hooks, each at its own rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from airloom.compiled import Kernel
from airloom.plugin import Parameters, Plugin, find, names

if TYPE_CHECKING:
    from airloom.scenario.models import Scenario
    from airloom.simulation import Simulation
    from airloom.world.boundaries import Boundary

HOOKS = ("pre_update", "update", "post_update")


class System(Plugin):
    """A plugin with the hooks below. Override what you need; a hook that is not overridden costs nothing.

    In a tick: `pre_update` (act: set commands, wind, forces) → the engine, sensors and flight stacks →
    `update` (advance a model of your own to the same time) → `post_update` (look at the result).
    """

    category = "system"
    Parameters: ClassVar[type[Parameters]] = Parameters
    rate: ClassVar[float] = 50.0
    """Calls a second, unless the scenario says otherwise."""
    effect: ClassVar[Kernel | None] = None
    """A compiled force function (see `airloom.effect`), called at every evaluation of the wrench."""
    ticker: ClassVar[Kernel | None] = None
    """A compiled function (see `airloom.kernels.ticker`), called once a tick before the bodies move."""

    def __init__(self, name: str, parameters: Any) -> None:
        self.name, self.parameters = name, parameters

    def effect_parameters(self, vehicle: str) -> list[float] | None:
        """Numbers for force function and ticker on this vehicle; None leaves the vehicle alone."""
        return []

    def configure(self, sim: Simulation) -> None:
        """Once, before the first tick: look up vehicles, advertise and subscribe topics."""

    def pre_update(self, sim: Simulation) -> None:
        """Before the tick that starts at `sim.time`."""

    def update(self, sim: Simulation) -> None:
        """After the engine has reached `sim.time`."""

    def post_update(self, sim: Simulation) -> None:
        """After every system's `update`; at time 0 too."""

    def reset(self, sim: Simulation) -> None:
        """Before the first tick, and whenever the simulation starts again at time 0: forget everything since then."""

    def keep(self, sim: Simulation) -> None:
        """When a recorded run ends, however it does: write into its folder, `sim.member_logs`, what there is so far."""

    def conclude(self, sim: Simulation) -> None:
        """When a recorded run has come to its end: say by `sim.fail` what was to be done and is not."""

    def report(self, sim: Simulation) -> dict[str, Any]:
        """Numbers for the run's summary; nothing if there are none."""
        return {}

    def hash_into(self, digest: Any) -> None:
        """Feed what it remembers and may still act on to the digest of the state, as bytes: `digest.update(…)`."""

    @classmethod
    def boundaries(cls, parameters: Any) -> Sequence[Boundary]:
        """What its vehicles keep off that nothing in the world shows: it is drawn in the studio, films and figures."""
        return ()

    @classmethod
    def overrides(cls, hook: str) -> bool:
        return getattr(cls, hook) is not getattr(System, hook)


def boundaries_in(scenario: Scenario) -> Iterator[Boundary]:
    """Those of all systems that are installed: to draw a stranger's run no code that came with it is executed.

    A system that is off may tell members what to do, and is drawn then.
    """
    installed = names("system")
    for choice in scenario.systems.values():
        if choice.kind in installed and (choice.enabled or scenario.members):
            kind: Any = find("system", choice.kind)
            yield from kind.boundaries(kind.Parameters.model_validate(choice.parameters))
