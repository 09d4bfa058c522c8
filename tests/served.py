"""An HTTP server that nobody should call: it counts who does, and answers nothing."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread


class Callers:
    def __init__(self, server: socket.socket) -> None:
        self.url = f"http://127.0.0.1:{server.getsockname()[1]}"
        self.asked: list[str] = []
        """The first line of each request."""


@contextmanager
def nobody_calls() -> Iterator[Callers]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        callers = Callers(server)

        def serve() -> None:
            while True:
                try:
                    line, _ = server.accept()
                except OSError:  # closed
                    return
                with line:
                    callers.asked.append(line.recv(1000).decode(errors="replace").partition("\r\n")[0])
                    line.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield callers
        assert callers.asked == []
        server.shutdown(socket.SHUT_RDWR)
    thread.join(60)
