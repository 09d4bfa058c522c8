"""A line with latency: hands bytes on both ways, each some milliseconds after it came. `delay_line.py LISTEN TARGET MS`

It stands in for the queueing discipline `netem`, which not every kernel has.
"""

from __future__ import annotations

import queue
import socket
import sys
import threading
import time


def hand_on(source: socket.socket, target: socket.socket, delay: float) -> None:
    waiting: queue.Queue[tuple[float, bytes]] = queue.Queue()

    def deliver() -> None:
        while True:
            due, data = waiting.get()
            time.sleep(max(due - time.monotonic(), 0.0))
            if not data:
                target.shutdown(socket.SHUT_WR)
                return
            target.sendall(data)

    threading.Thread(target=deliver, daemon=True).start()
    data = b"-"
    while data:
        data = source.recv(65536)
        waiting.put((time.monotonic() + delay, data))


def main() -> None:
    (host, port), (to, to_port) = (place.rsplit(":", 1) for place in sys.argv[1:3])
    delay = float(sys.argv[3]) / 1000
    with socket.create_server((host, int(port))) as listener:
        while True:
            near, _ = listener.accept()
            try:
                far = socket.create_connection((to, int(to_port)))
            except OSError:
                near.close()  # nobody listens there yet
                continue
            for line in (near, far):
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=hand_on, args=(near, far, delay), daemon=True).start()
            threading.Thread(target=hand_on, args=(far, near, delay), daemon=True).start()


if __name__ == "__main__":
    main()
