"""A hub: what every coordinator does, be it the loom beside the simulation or a branch on another machine.

It lets in who knocks, and plays rounds: everybody whose turn it is begins, and the round is over when all have ended.
Who may join, and what follows from what members say, is decided by whoever owns the hub.
"""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from airloom.loom import bundles, protocol
from airloom.loom.beats import USUAL, Rhythm
from airloom.loom.bundles import Admission, Round, TurnOutcome
from airloom.loom.line import Line, LineLost
from airloom.loom.listening import Listeners
from airloom.loom.newcomers import Introduced, Newcomers, refuse
from airloom.loom.partners import BranchPartner, Partner, failed
from airloom.loom.plan import Plan
from airloom.loom.protocol import Hello, Kind, ProtocolError
from airloom.loom.visibility import Visibility

Answer = Callable[[Admission | str], None]
"""Called with what a newcomer is granted, or with the reason why it is turned away."""
Gate = Callable[[Hello, Answer], None]
BadNews = Callable[[str, str], None]
"""Called with the name of a member that will not come, and the reason."""


class Hub:
    def __init__(self, listeners: Listeners, gate: Gate, lost: BadNews, rhythm: Rhythm = USUAL) -> None:
        self.listeners, self._gate, self._lost, self._rhythm = listeners, gate, lost, rhythm
        self._newcomers = Newcomers(listeners)
        self._seats: dict[str, Partner] = {}
        self._branches: dict[str, BranchPartner] = {}
        self._plans: dict[tuple[str, ...], Plan] = {}
        self._out_of_reach: dict[str, str] = {}
        """Why, of members whose branch was lost between rounds."""

    def close(self, reason: str) -> None:
        lines = [partner.line for partner in self._seats.values()] + [branch.line for branch in self._branches.values()]
        for line in lines:
            with suppress(LineLost, TimeoutError):
                line.send(protocol.told(Kind.BYE, reason))
            line.close()
        self._newcomers.close()
        self.listeners.close()

    # -- admission ---------------------------------------------------------------------------------------------------

    def look_out(self, patience: float = 0.0, *others: Any) -> bool:
        """Take in who knocks, and tell whether one of the `others` has something to say."""
        newcomers, branches = self._newcomers.places, {partner.line: partner for partner in self._branches.values()}
        ready = _ready([*newcomers, *branches, *others], min(patience, self._newcomers.wait or patience))
        if newcomers:
            for one in self._newcomers.look(ready):
                self._greet(one)
        for one in ready:
            if one in branches:
                self._hear(branches[one])
        for branch in branches.values():
            if branch.line.silent_for > self._rhythm.silence:
                self._give_up(branch, f"nothing was heard of it for {self._rhythm.silence:g} s")
        return any(one in others for one in ready)

    def _greet(self, newcomer: Introduced) -> None:
        line, came_by, kind, body = newcomer
        try:
            if kind is Kind.BRANCH:
                self._take_in_branch(line, bundles.parse_branch(body), came_by)
            elif kind is Kind.HELLO:
                self._take_in_member(line, protocol.parse(kind, body), came_by)
            else:
                raise ProtocolError(f"a newcomer says HELLO first, not {kind.name}")
        except Exception as error:  # whatever a stranger makes us stumble over is no reason to end the run
            refuse(line, str(error))

    def _take_in_member(self, line: Line, hello: Hello, came_by: socket.socket) -> None:
        self._check_token(hello.token, came_by)

        def answer(it: Admission | str) -> None:
            if isinstance(it, str):
                refuse(line, it)
            else:
                self._seats[it.name] = Partner(it, line)
                self._plans.clear()
                with suppress(LineLost, TimeoutError):  # its first turn will tell
                    line.send(protocol.welcome(it.welcome))

        self._gate(hello, answer)

    def _take_in_branch(self, line: Line, who: bundles.Introduction, came_by: socket.socket) -> None:
        self._check_token(who.token, came_by)
        if who.name in self._branches:
            raise ProtocolError(f"a branch called '{who.name}' is here already")
        line.send(protocol.message(Kind.BRANCH))
        line.keep_beating(self._rhythm.every)
        self._branches[who.name] = BranchPartner(who.name, line, self._member_of_branch, self._lost)

    def _member_of_branch(self, branch: BranchPartner, hello: Hello) -> None:
        def answer(it: Admission | str) -> None:
            self._plans.clear()
            with suppress(LineLost, TimeoutError):
                branch.turn_away(hello.name, it) if isinstance(it, str) else branch.admit(it)

        self._gate(hello, answer)

    def _check_token(self, token: str, came_by: socket.socket) -> None:
        if not self.listeners.knows(token, came_by):
            raise ProtocolError("its token is not the right one")

    def _hear(self, branch: BranchPartner) -> None:
        """Between rounds. That a branch is gone shows when its members have their turn."""
        try:
            while said := branch.line.arrived():
                branch.hear(*said)
        except (ProtocolError, TimeoutError, LineLost) as error:
            self._give_up(branch, str(error))

    def _give_up(self, branch: BranchPartner, reason: str) -> None:
        self._out_of_reach |= dict.fromkeys(branch.members, f"branch '{branch.name}' is gone: {reason}")
        self._lose(branch)

    def _lose(self, branch: BranchPartner) -> None:
        branch.line.close()
        self._branches.pop(branch.name, None)
        self._plans.clear()

    def dismiss(self, name: str) -> None:
        """A member whom nobody wants to hear any more."""
        self._plans.clear()
        if name in self._seats:
            self._seats.pop(name).line.close()
        for branch in self._branches.values():
            if name in branch.members:
                with suppress(LineLost, TimeoutError):
                    branch.dismiss(name)

    # -- rounds ------------------------------------------------------------------------------------------------------

    def play(self, round_: Round, obey: Callable[[Plan], bool] = lambda plan: False) -> dict[str, TurnOutcome]:
        """Let everybody who has letters, be it none, have a turn.

        If there are no branches, `obey` may carry out what was said straight away; then there are no outcomes left.
        """
        plan = self._plan(round_)
        begun = time.monotonic()
        if not plan.branches and not plan.missing:
            plan.play(round_)
            return {} if obey(plan) else plan.outcomes(begun)
        outcomes = self._begun(plan.branches, round_)
        for name in plan.missing:
            outcomes[name] = failed(f"is out of reach: {self._out_of_reach.get(name, 'its branch is gone')}")
        if plan.partners:
            plan.play(round_)
            outcomes |= plan.outcomes(begun)
        for branch, members in plan.branches.items():
            if members[0] not in outcomes:
                outcomes |= branch.outcomes(round_, members, begun)
            if branch.line.fileno() < 0:
                self._lose(branch)
        return outcomes

    def _plan(self, round_: Round) -> Plan:
        names = tuple(round_.letters)
        plan = self._plans.get(names)
        if plan is None or plan.edition != round_.visibility.edition:
            plan = self._plans[names] = self._planned(names, round_.visibility)
        return plan

    def _planned(self, names: Sequence[str], visibility: Visibility) -> Plan:
        behind = {name: branch for branch in self._branches.values() for name in branch.members}
        branches: dict[BranchPartner, list[str]] = {}
        for name in names:
            if name in behind:
                branches.setdefault(behind[name], []).append(name)
        missing = [name for name in names if name not in behind and name not in self._seats]
        return Plan([self._seats[name] for name in names if name in self._seats], branches, missing, visibility)

    def _begun(self, branches: dict[BranchPartner, list[str]], round_: Round) -> dict[str, TurnOutcome]:
        outcomes: dict[str, TurnOutcome] = {}
        for branch, members in branches.items():
            try:
                branch.begin(round_, members)
            except (LineLost, TimeoutError) as lost:
                outcomes |= branch.lost(members, f"is gone: {lost}")
        return outcomes


def _ready(places: list[Any], patience: float) -> list[Any]:
    """Those that have something to read; `select` would take no file numbers beyond 1023."""
    poll = select.poll()
    by_number = {place.fileno(): place for place in places}
    for number in by_number:
        poll.register(number, select.POLLIN)
    return [by_number[number] for number, _ in poll.poll(1000 * patience)]
