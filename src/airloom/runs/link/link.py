"""The control link: other processes of the same user look at a running simulation and command it.

A Unix socket in the run's folder speaks lines of JSON: a request such as `{"method": "goto", "vehicle": "cf",
"position": [1, 2, 3]}` is answered by `{"ok": true, …}` or `{"ok": false, "error": "…"}`. Each client has a thread that
reads, checks and answers; the simulation carries requests out between two chunks of ticks and never waits for anybody.
What is done from outside depends on the wall clock, so a run with a link repeats only if nobody uses it; everything
done over it is told on /events and so in the log.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, Queue
from typing import TYPE_CHECKING, Any

from airloom.errors import Refusal
from airloom.net import reserve
from airloom.net.json_lines import LONGEST_LINE, LineBuffer, RequestError, refusal
from airloom.runs.folder import RunFolderError
from airloom.runs.link.context import RequestContext
from airloom.runs.link.methods import parse
from airloom.runs.link.place import OVER, Place
from airloom.runs.link.request import Request

if TYPE_CHECKING:
    from airloom.runs.recorded import RecordedRun

MOST_CLIENTS = 32
PATIENCE = 5  # s for a client that does not read its answers
BETWEEN_TRIES = 0.1  # s until somebody is let in again, after it was not possible
SOURCE = "control link"


class ControlLink:
    """The link of one run, open as a context; `serve` is to be called often by the thread that runs the simulation."""

    def __init__(self, run: RecordedRun) -> None:
        self._run = run
        self._tower = RequestContext(run)
        # No SimpleQueue: in CPython 3.11 a signal may turn the last microseconds of its timeout into forever.
        self._requests: Queue[tuple[Request, Future]] = Queue()
        self._clients: set[socket.socket] = set()
        self._is_open = False

    def __enter__(self) -> ControlLink:
        try:
            self._place = Place(self._run.folder)
            self._listener = self._place.listen()
        except OSError as error:
            raise RunFolderError(f"cannot open the control link: {error.strerror or error}") from error
        self._is_open = True
        threading.Thread(target=self._welcome, name="control link", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_open = False
        _hang_up(self._listener)
        self._refuse_what_is_left()
        for client in list(self._clients):
            with suppress(OSError):
                client.shutdown(socket.SHUT_RD)
        self._place.remove()
        self._tower.close()

    def serve(self, wait: float = 0.0) -> None:
        """Carry out what has been asked for; if that is nothing, wait some seconds for it."""
        with suppress(Empty):
            for _ in range(max(self._requests.qsize(), 1)):
                request, answer = self._requests.get(timeout=wait) if wait else self._requests.get_nowait()
                reply = self._reply(request)
                self._tower.show(at_once=request.acts)
                answer.set_result(reply)
        self._tower.show()

    def carry_out(self, given: dict[str, Any]) -> dict[str, Any]:
        """The reply to a request that comes from elsewhere within this process, such as from ROS 2."""
        try:
            return self._reply(parse(json.dumps(given).encode()))
        except RequestError as error:
            return refusal(str(error))

    def _reply(self, request: Request) -> dict[str, Any]:
        sim = self._run.sim
        try:
            fields = request.carry_out(self._tower)
        except Refusal as error:
            if request.acts:
                sim.event(SOURCE, f"refused: {request.note()}: {error}")
            return refusal(str(error))
        except Exception as error:
            text = f"{request.method} failed: {type(error).__name__}: {error}"
            sim.event(SOURCE, text, level="error")
            return refusal(text)
        if request.acts:
            sim.event(SOURCE, request.note())
        return {"ok": True, **fields}

    # -- threads of the clients --------------------------------------------------------------------------------------

    def _welcome(self) -> None:
        while self._is_open:
            try:
                self._take_in(self._listener.accept()[0])
            except OSError:  # no file number is left for one more: perhaps later
                time.sleep(BETWEEN_TRIES)

    def _take_in(self, client: socket.socket) -> None:
        try:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", PATIENCE, 0))
            if len(self._clients) >= MOST_CLIENTS:
                _send(client, refusal(f"{MOST_CLIENTS} others are connected already"))
            elif not reserve.is_kept():
                _send(client, refusal(reserve.SHORT_OF_FILES))
            else:
                self._clients.add(client)
                threading.Thread(target=self._converse, args=[client], name="control link client", daemon=True).start()
                return
        except (OSError, RuntimeError):  # it hung up, or no thread can be started for one more
            pass
        self._part_from(client)

    def _converse(self, client: socket.socket) -> None:
        try:
            with suppress(OSError):
                lines = LineBuffer()
                while data := client.recv(LONGEST_LINE):
                    for line in lines.feed(data):
                        _send(client, self._answer(line))
        finally:
            self._part_from(client)

    def _part_from(self, client: socket.socket) -> None:
        self._clients.discard(client)
        _hang_up(client)

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            request = parse(line)
        except RequestError as error:
            return refusal(str(error))
        except Exception as error:  # a mistake of ours shall not cost the client its connection
            return refusal(f"this line cannot be understood: {type(error).__name__}: {error}")
        answer: Future[dict[str, Any]] = Future()
        self._requests.put((request, answer))
        if not self._is_open:
            self._refuse_what_is_left()
        return answer.result()

    def _refuse_what_is_left(self) -> None:
        with suppress(Empty):
            while True:
                self._requests.get_nowait()[1].set_result(refusal(OVER))


def _send(client: socket.socket, reply: dict[str, Any]) -> None:
    try:
        text = json.dumps(reply)
    except (TypeError, ValueError, RecursionError) as error:
        text = json.dumps(refusal(f"the answer cannot be written down: {error}"))
    client.sendall(text.encode() + b"\n")


def _hang_up(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
