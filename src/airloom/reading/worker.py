"""The process that reads: started by `box`, with the number of its line and then the places where modules are found.

It ends when nobody asks for a while; whoever does so later gets another one.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    sys.path[:] = sys.argv[2:]

import os
import socket
import traceback
from collections.abc import Callable
from importlib import import_module
from typing import Any

from airloom.errors import AirloomError
from airloom.reading import walls
from airloom.reading.letters import receive, send

IDLE = 60.0  # s


def serve(line: socket.socket) -> None:
    while True:
        line.settimeout(IDLE)
        try:
            asked = receive(line)
        except (EOFError, OSError):  # OSError: nobody has asked for so long
            return
        line.settimeout(None)
        send(line, _answer(line, asked))


def _answer(line: socket.socket, asked: dict[str, Any]) -> list[Any]:
    room = 0
    try:
        room = walls.make_room_for(asked["size"])
        os.chdir(asked["folder"])
        progress = {"progress": lambda part: send(line, ["progress", part])} if asked["progress"] else {}
        return ["done", _named(asked["function"])(*asked["arguments"], **progress)]
    except AirloomError as error:
        return ["refused", os.fsencode(str(error))]
    except MemoryError:
        return ["too large", room]
    except Exception:
        return ["failed", os.fsencode(traceback.format_exc())]
    except BaseException as error:  # a library in Rust that has lost its way raises what is no Exception
        return ["lost", os.fsencode(str(error))]


def _named(function: str) -> Callable[..., Any]:
    module, _, name = function.partition(":")
    return getattr(import_module(module), name)


if __name__ == "__main__":
    walls.leave_no_core()
    walls.forbid_calling_out()
    serve(socket.socket(fileno=int(sys.argv[1])))
