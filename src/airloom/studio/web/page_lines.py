"""The studio's own line to the page in each browser: sticks come in, short orders go out."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

from websockets.exceptions import InvalidHandshake
from websockets.frames import DATA_OPCODES, CloseCode, Frame
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol

from airloom.net.streams import Ends, finish

MAX_MESSAGE = 2048
MAX_AXES, MAX_BUTTONS = 16, 32
STATES_PER_SECOND = 60.0
BURST = 30.0
"""States that may come at once when the network held them up."""
SILENCE = 0.5
"""Seconds without a state after which nobody holds the stick any more."""
HEARTBEAT = 20.0
PUT_DOWN = {"fly": False}
"""What a page says that lets nobody fly any more."""

OnStick = Callable[[str, list[float], list[bool]], None]
OnStickGone = Callable[[str], None]
OnPutDown = Callable[[str], None]
OnSelect = Callable[[str, str], None]

_silent = logging.getLogger(f"{__name__}.silent")
_silent.disabled = True


class Nonsense(ValueError):
    """A message that no page of ours sends."""


class PageLine:
    """The line to one browser tab."""

    def __init__(
        self, tab: str, on_stick: OnStick, on_stick_gone: OnStickGone, on_put_down: OnPutDown, on_select: OnSelect
    ) -> None:
        self.tab, self._on_stick, self._on_stick_gone = tab, on_stick, on_stick_gone
        self._on_put_down, self._on_select = on_put_down, on_select
        self._protocol = ServerProtocol(max_size=MAX_MESSAGE, logger=_silent)
        self._held = False
        self._allowance, self._last = BURST, time.monotonic()

    async def serve(self, head: bytes, greeting: dict[str, Any], browser: Ends) -> None:
        """Talk until the browser hangs up, stays silent even when asked, or talks nonsense."""
        reader, self._writer = browser
        try:
            self._accept(head)
            self.tell(greeting)
            await self._listen(reader)
        finally:
            self._let_go()
            self._on_put_down(self.tab)

    def hang_up(self) -> None:
        self._writer.transport.abort()

    def tell(self, order: dict[str, Any]) -> None:
        if self._protocol.state is State.OPEN:
            self._protocol.send_text(json.dumps(order).encode())
            self._flush()

    def _accept(self, head: bytes) -> None:
        self._protocol.receive_data(head)
        request = next(iter(self._protocol.events_received()), None)
        if not isinstance(request, Request):
            raise InvalidHandshake
        self._protocol.send_response(self._protocol.accept(request))
        self._flush()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        unanswered = 0
        while self._protocol.state is State.OPEN and unanswered < 2:
            try:
                data = await asyncio.wait_for(reader.read(65536), SILENCE if self._held else HEARTBEAT)
            except TimeoutError:
                if self._held:
                    self._let_go()
                else:
                    self._ping()
                    unanswered += 1
                continue
            if not data:
                return
            unanswered = 0
            self._receive(data)
            await asyncio.wait_for(self._writer.drain(), HEARTBEAT)

    def _receive(self, data: bytes) -> None:
        self._protocol.receive_data(data)
        try:
            for event in self._protocol.events_received():
                if isinstance(event, Frame) and event.opcode in DATA_OPCODES and self._in_time():
                    self._hear(event)
        except Nonsense as nonsense:
            if self._protocol.state is State.OPEN:  # the end of the line may have come right behind it
                self._protocol.send_close(CloseCode.POLICY_VIOLATION, str(nonsense))
        self._flush()

    def _hear(self, frame: Frame) -> None:
        message = _parsed(frame)
        if isinstance(name := message.get("select"), str):
            self._on_select(self.tab, name)
            return
        if message == PUT_DOWN:
            self._on_put_down(self.tab)
            return
        axes, buttons = stick_state(message)
        self._held = True
        self._on_stick(self.tab, axes, buttons)

    def _in_time(self) -> bool:
        now = time.monotonic()
        self._allowance = min(self._allowance + (now - self._last) * STATES_PER_SECOND, BURST)
        self._last = now
        if self._allowance < 1.0:
            return False
        self._allowance -= 1.0
        return True

    def _let_go(self) -> None:
        if self._held:
            self._held = False
            self._on_stick_gone(self.tab)

    def _ping(self) -> None:
        self._protocol.send_ping(b"")
        self._flush()

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self._writer.write(data)
            else:
                finish(self._writer)


def _parsed(frame: Frame) -> dict[str, Any]:
    try:
        message = json.loads(bytes(frame.data))
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise Nonsense("a message is an object")
    return message


def stick_state(message: dict[str, Any]) -> tuple[list[float], list[bool]]:
    """The axes and buttons in a message, in the order of `bridges/joystick/state.py`; Nonsense if there are none."""
    axes, buttons = message.get("axes"), message.get("buttons")
    if axes is None or buttons is None:
        raise Nonsense("a stick has axes and buttons")
    if not (_is_list(axes, MAX_AXES) and all(_is_deflection(axis) for axis in axes)):
        raise Nonsense("axes are numbers from -1 to 1")
    if not (_is_list(buttons, MAX_BUTTONS) and all(isinstance(button, bool) for button in buttons)):
        raise Nonsense("buttons are true or false")
    return [float(axis) for axis in axes], buttons


def _is_list(values: Sequence[Any], most: int) -> bool:
    return isinstance(values, list) and len(values) <= most


def _is_deflection(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -1.0 <= value <= 1.0
