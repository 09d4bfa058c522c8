"""The line to a board: UDP, or a serial device that may be unplugged and come back. Nothing here ever waits."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import termios
import tty
from pathlib import Path

from airloom.autopilots.autopilot import AutopilotFailed

SCHEMES = "udp:HOST:PORT, as udp:192.168.1.10:14560, or serial:DEVICE:BAUD, as serial:/dev/ttyACM0:921600"
DEVICES = ("ttyACM*", "ttyUSB*", "ttyS[0-9]", "ttyAMA*")


class Udp:
    """Datagrams to one address, and from it only. Whether anybody is there shows when somebody answers."""

    hangs_up = False

    def __init__(self, host: str, port: int, own_port: int) -> None:
        self._there, self._own_port = (host, port), own_port
        self._socket: socket.socket | None = None

    def open(self) -> int:
        """The file number."""
        try:
            family, _, _, _, there = socket.getaddrinfo(*self._there, type=socket.SOCK_DGRAM)[0]
        except OSError as error:
            raise AutopilotFailed(f"cannot be reached: {self._there[0]}: {error.strerror}") from None
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        try:
            self._socket.bind(("", self._own_port))
        except OSError as error:
            raise AutopilotFailed(
                f"cannot be listened to: UDP port {self._own_port}: {error.strerror}; `own_port` chooses another"
            ) from None
        self._socket.connect(there)
        return self._socket.fileno()

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()


class Serial:
    """A device in raw mode."""

    hangs_up = True

    def __init__(self, device: str, baud: int) -> None:
        self._device, self._baud = device, baud
        self._file = -1

    def open(self) -> int:
        """The file number."""
        try:
            self._file = os.open(self._device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            self._make_raw()
        except OSError as error:
            self.close()
            raise AutopilotFailed(f"cannot be reached: {self._device}: {_advice(error)}") from None
        except termios.error:
            self.close()
            raise AutopilotFailed(f"cannot be reached: {self._device} is no serial device") from None
        return self._file

    def _make_raw(self) -> None:
        tty.setraw(self._file)
        settings = termios.tcgetattr(self._file)
        settings[2] = (settings[2] | termios.CLOCAL | termios.CREAD) & ~termios.CRTSCTS  # three wires are enough
        settings[4] = settings[5] = getattr(termios, f"B{self._baud}")
        termios.tcsetattr(self._file, termios.TCSANOW, settings)
        termios.tcflush(self._file, termios.TCIOFLUSH)
        fcntl.ioctl(self._file, termios.TIOCEXCL)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _advice(error: OSError) -> str:
    if error.errno == errno.ENOENT:
        there = ", ".join(str(path) for pattern in DEVICES for path in sorted(Path("/dev").glob(pattern)))
        return f"there is no such device; is the board plugged in? Serial devices here: {there or 'none'}"
    if error.errno == errno.EACCES:
        return "no permission; join the group that owns the device, often dialout, and log in again"
    if error.errno == errno.EBUSY:
        return "in use by another program, perhaps a ground station; end that first"
    return str(error.strerror)


def line_to(text: str, own_port: int = 0) -> Udp | Serial:
    """What a text such as serial:/dev/ttyACM0:921600 names; ValueError if it names nothing."""
    scheme, _, rest = text.partition(":")
    place, _, number = rest.rpartition(":")
    if scheme not in ("udp", "serial") or not place or not number.isdecimal():
        raise ValueError(f"a line is {SCHEMES}; got '{text}'")
    if scheme == "udp":
        if not 0 < int(number) < 65536:
            raise ValueError(f"a UDP port is a number from 1 to 65535, got {number}")
        return Udp(place.strip("[]"), int(number), own_port)
    bauds = sorted(int(name[1:]) for name in dir(termios) if name[0] == "B" and name[1:].isdecimal())
    if int(number) not in bauds[1:]:
        raise ValueError(f"no serial line has {number} baud: {', '.join(map(str, bauds[1:]))}")
    return Serial(place, int(number))
