"""A branch: a coordinator for the members of one machine, with a single line to the loom or to another branch.

Its members join it as they would the loom. What they are told and what they say travels over that line in bundles.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from airloom.errors import RunError, UserError
from airloom.loom import bundles
from airloom.loom.beats import USUAL, Rhythm
from airloom.loom.bundles import TurnOutcome, What
from airloom.loom.hub import Answer, Hub
from airloom.loom.line import Line, LineLost, connect
from airloom.loom.listening import Listeners
from airloom.loom.partners import failed
from airloom.loom.processes import HAS_LEFT, CannotStart, Processes
from airloom.loom.protocol import LONGEST_BUNDLE, Hello, Kind, ProtocolError, parse
from airloom.loom.visibility import ToldVisibility
from airloom.net.tls import Certificate

LOOKING_AFTER = 0.2  # s between two looks whether a process has ended that has not joined yet
PATIENCE = 60.0  # s until the parent must be there
TRY, BETWEEN_TRIES = 3.0, 0.5  # s


class BranchError(RunError):
    """The branch cannot begin or go on; the message is meant for the user."""


class Branch:
    def __init__(
        self,
        name: str,
        parent: str,
        token: str = "",
        listen: str | None = None,
        certificate: Certificate | None = None,
        rhythm: Rhythm = USUAL,
    ) -> None:
        """`parent` is the address of the loom or of another branch; `listen` as for the loom."""
        self.name, self._address, self._rhythm = name, parent, rhythm
        self._next_beat = 0.0
        self._pending: dict[str, Answer] = {}
        self._sights = ToldVisibility()
        self._awaited: set[str] = set()
        self._processes = Processes()
        try:
            self._hub = Hub(Listeners(listen, token, certificate), self._ask, self._pass_on, rhythm)
        except UserError as error:
            raise BranchError(str(error)) from None
        self._token = token

    @property
    def listeners(self) -> Listeners:
        """Where its members join."""
        return self._hub.listeners

    def connect(self, patience: float = PATIENCE, stopping: Callable[[], bool] = lambda: False) -> None:
        """Join the parent, which may still be starting."""
        deadline = time.monotonic() + patience
        while not stopping():
            try:
                self._parent = _introduced(self._address, bundles.Introduction(self.name, self._token))
                return
            except (OSError, LineLost, TimeoutError) as error:
                if time.monotonic() > deadline:
                    text = f"no loom answers at {self._address} within {patience:g} s: {error}"
                    raise BranchError(text) from None
            time.sleep(BETWEEN_TRIES)
        raise BranchError("stopped before a loom answered")

    def start(self, members: Mapping[str, tuple[list[str], str | None]], logs: Path | None = None) -> None:
        """Start these members here: the command of each, and the folder to start it in."""
        for name, (command, folder) in members.items():
            try:
                self._processes.start(name, command, folder, self.listeners.address, logs)
                self._awaited.add(name)
            except CannotStart as failure:
                self._parent.send(bundles.bad_news(Kind.LOST, name, str(failure).removeprefix(f"member '{name}' ")))

    def serve(self, stopping: Callable[[], bool] = lambda: False) -> str:
        """Coordinate until the run is over; tells why it is."""
        looked = time.monotonic()
        try:
            while not stopping():
                if self._parent.has_more or self._hub.look_out(LOOKING_AFTER, self._parent):
                    kind, body = self._parent.receive_bytes(self._rhythm.silence)
                    if kind is Kind.BYE:
                        return parse(kind, body)
                    self._hear(kind, body)
                elif self._parent.silent_for > self._rhythm.silence:
                    raise TimeoutError
                self._beat()
                if self._awaited and time.monotonic() - looked > LOOKING_AFTER:
                    looked = time.monotonic()
                    self._look_after_processes()
        except LineLost as lost:
            raise BranchError(f"the line to {self._address} is lost: {lost}") from None
        except TimeoutError:
            silence = f"nothing was heard or taken there for {self._rhythm.silence:g} s"
            raise BranchError(f"the line to {self._address} is lost: {silence}") from None
        except ProtocolError as error:
            raise BranchError(f"{self._address} talks nonsense: {error}") from None
        return "it was asked to stop"

    def finish(self) -> list[str]:
        """The run is over, and members may end by themselves; what is told of those that end badly."""
        self._hub.close("the run is over")
        return [f"member '{name}' {fault}" for name, fault in self._processes.failed_after_the_run({})]

    def close(self, reason: str = "the branch ends") -> None:
        self._hub.close(reason)
        self._processes.end()
        with suppress(AttributeError):
            self._parent.close()

    # -- upwards -----------------------------------------------------------------------------------------------------

    def _ask(self, hello: Hello, answer: Answer) -> None:
        if hello.name in self._pending:
            answer(f"member '{hello.name}' is being asked about already")
            return
        self._pending[hello.name] = answer
        self._awaited.discard(hello.name)
        self._parent.send(bundles.join(hello))

    def _pass_on(self, name: str, reason: str) -> None:
        self._parent.send(bundles.bad_news(Kind.LOST, name, reason))

    def _beat(self) -> None:
        if (now := time.monotonic()) >= self._next_beat:
            self._next_beat = now + self._rhythm.every
            self._parent.beat()

    def _look_after_processes(self) -> None:
        for name in sorted(self._awaited):
            if end := self._processes.early_end(name):
                self._awaited.discard(name)
                self._pass_on(name, end)

    # -- downwards ---------------------------------------------------------------------------------------------------

    def _hear(self, kind: Kind, body: bytes) -> None:
        if kind is Kind.BEGINS:
            self._play(body)
        elif kind is Kind.ADMITTED:
            admission = bundles.parse_admitted(body)
            self._answer(admission.name)(admission)
        elif kind is Kind.TURNED_AWAY:
            name, reason = bundles.parse_bad_news(body)
            self._answer(name)(reason)
        elif kind is Kind.DISMISS:
            self._dismiss(bundles.parse_dismiss(body))
        elif kind is not Kind.BEAT:
            raise ProtocolError(f"{kind.name} is nothing that a branch is told")

    def _answer(self, name: str) -> Answer:
        if name not in self._pending:
            raise ProtocolError(f"nobody asked about '{name}'")
        return self._pending.pop(name)

    def _play(self, body: bytes) -> None:
        round_ = bundles.parse_begins(body, self._sights)
        outcomes = {name: self._with_last_words(name, it) for name, it in self._hub.play(round_).items()}
        self._parent.send(bundles.ends(round_.time_ns, outcomes.items()))
        for name, outcome in outcomes.items():
            if outcome.what is not What.END:
                self._dismiss(name)

    def _with_last_words(self, name: str, outcome: TurnOutcome) -> TurnOutcome:
        if outcome.what is What.FAILED:
            return TurnOutcome(What.FAILED, outcome.body + self._processes.tail(name).encode())
        if outcome.what is What.LEFT and self._processes.ended_badly(name):
            return failed(f"{HAS_LEFT}{self._processes.tail(name)}")
        return outcome

    def _dismiss(self, name: str) -> None:
        self._hub.dismiss(name)
        self._processes.end_one(name)


def _introduced(address: str, who: bundles.Introduction) -> Line:
    try:
        line = connect(address, TRY)
    except (UserError, ValueError) as error:
        raise BranchError(str(error)) from None
    line.send(bundles.branch(who))
    kind, body = line.receive_bytes(10.0)
    if kind is Kind.BRANCH:
        line.longest = LONGEST_BUNDLE
        return line
    line.close()
    raise BranchError(f"{address} did not take branch '{who.name}' in: {parse(kind, body)}")
