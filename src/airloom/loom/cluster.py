"""Members on a Dask cluster: each worker runs a branch, which starts its share of them, watches them and keeps what
they print.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from airloom.errors import UserError
from airloom.keeper import KeptFolder

if TYPE_CHECKING:
    from airloom.loom.listening import Listeners
    from airloom.scenario.models import Member as Description

PATIENCE = 10.0  # s for the scheduler to answer, and for the workers to hand over what was printed

Members = dict[str, tuple[list[str], str | None]]
"""Command and folder by name."""


class ClusterError(UserError):
    """The cluster cannot be used; the message is meant for the user."""


class Cluster:
    def __init__(self, address: str) -> None:
        """`address` is that of the scheduler, such as tcp://10.0.0.1:8786."""
        self._client = _client(address)
        self.near_end = _way_to(address)
        """This machine's address as the scheduler sees it: there the loom listens for the workers."""
        self._branches: dict[str, tuple[Any, Members]] = {}
        self._logs: Path | None = None

    def start(self, members: Mapping[str, Description], listeners: Listeners, logs: Path | None) -> None:
        workers = sorted(self._client.scheduler_info(n_workers=-1)["workers"])
        if not workers:
            raise ClusterError("the cluster has no workers; start one with `dask worker SCHEDULER`")
        self._logs = logs
        for number, share in enumerate(_shared_out(members, len(workers))):
            name = f"worker_{number}_{secrets.token_hex(4)}"
            future = self._client.submit(
                run_branch, name, listeners.remote_address, listeners.token, share, workers=[workers[number]],
                key=f"airloom-{name}", pure=False, retries=0,
            )  # fmt: skip
            self._branches[name] = future, share

    def early_end(self, member: str) -> str | None:
        """Why a member will not join: its worker has failed."""
        for future, share in self._branches.values():
            if member in share and future.status in ("error", "lost", "cancelled"):
                return f"was not started by its worker: {future.exception() or future.status}"
        return None

    def end(self) -> None:
        """Wait until all have ended, and put what they printed where it would be had they run here."""
        for future, _ in self._branches.values():
            with suppress(Exception):  # a worker that died has nothing to tell
                self._keep(future.result(timeout=PATIENCE))
        self._branches.clear()

    def close(self) -> None:
        self._client.close()

    def _keep(self, printed: dict[str, bytes]) -> None:
        for name, text in printed.items():
            if self._logs is not None:
                (self._logs / name).write_bytes(text)


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise ClusterError("a cluster needs Dask: pip install 'airloom[cluster]'") from None
    try:
        return Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address}: {error}") from None


def _way_to(address: str) -> str:
    place = urlsplit(address if "//" in address else f"tcp://{address}")
    with socket.create_connection((place.hostname or "", place.port or 8786), PATIENCE) as line:
        return line.getsockname()[0]


def _shared_out(members: Mapping[str, Description], workers: int) -> list[Members]:
    """Members of the same `at` stay together; the groups go round the workers in the order of their names."""
    groups: dict[str, Members] = {}
    for name, it in sorted(members.items()):
        groups.setdefault(it.at or name, {})[name] = it.command or [], it.folder
    shares: list[Members] = [{} for _ in range(min(workers, len(groups)))]
    for number, (_, group) in enumerate(sorted(groups.items())):
        shares[number % len(shares)] |= group
    return shares


def run_branch(name: str, address: str, token: str, members: Members) -> dict[str, bytes]:
    """On a worker: a branch with its members until the run is over; returns what they printed, by file name."""
    from airloom.loom.branch import Branch, BranchError

    with KeptFolder("airloom-branch-") as logs:
        branch = Branch(name, address, token)
        try:
            branch.connect(PATIENCE)
            branch.start(members, logs)
            with suppress(BranchError):  # the loom is gone: what was printed is still worth having
                branch.serve()
                branch.finish()
        finally:
            branch.close()
        return {path.name: path.read_bytes() for path in sorted(logs.iterdir())}
