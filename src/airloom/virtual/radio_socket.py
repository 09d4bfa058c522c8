"""What a socket of a script says and hears by radio: each way that Python has to send and to receive."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from typing import Any

from airloom.virtual.datagrams import BY
from airloom.virtual.radio_place import PlacedSocket


class RadioSocket(PlacedSocket):
    def sendto(self, data: Any, *rest: Any) -> int:
        host = self._on_radio(rest[-1])
        return super().sendto(data, *rest) if host is None else self._by_radio(data, host, rest[-1][1])

    def send(self, data: Any, flags: int = 0) -> int:
        return self._by_radio(data, *self._peer) if self._peer else super().send(data, flags)

    def sendmsg(self, buffers: Iterable[Any], ancdata: Any = (), flags: int = 0, address: Any = None) -> int:
        host = self._on_radio(address)
        to = self._peer if address is None else host and (host, address[1])
        if not to:
            return super().sendmsg(buffers, ancdata, flags, *([] if address is None else [address]))
        return self._by_radio(b"".join(map(bytes, buffers)), *to)

    def _by_radio(self, data: Any, host: str, port: int) -> int:
        self._take_part_by_now()
        return self._net.send(self, bytes(data), host, port)

    def recvfrom(self, size: int, flags: int = 0) -> tuple[bytes, Any]:
        if not self.radio_port:
            return super().recvfrom(size, flags)
        data, address = super().recvfrom(size + BY.size, flags)
        if address != self._net.postman_address:
            return data[:size], address
        host, port = BY.unpack_from(data)
        return data[BY.size :], (socket.inet_ntoa(host), port)

    def recv(self, size: int, flags: int = 0) -> bytes:
        return self.recvfrom(size, flags)[0] if self.radio_port else super().recv(size, flags)

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        if not self.radio_port:
            return super().recv_into(buffer, nbytes, flags)
        return self.recvfrom_into(buffer, nbytes, flags)[0]

    def recvfrom_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> tuple[int, Any]:
        if not self.radio_port:
            return super().recvfrom_into(buffer, nbytes, flags)
        view = memoryview(buffer).cast("B")
        data, address = self.recvfrom(nbytes or len(view), flags)
        view[: len(data)] = data
        return len(data), address

    def recvmsg(self, size: int, ancillary: int = 0, flags: int = 0) -> Any:
        if not self.radio_port:
            return super().recvmsg(size, ancillary, flags)
        data, address = self.recvfrom(size, flags)
        return data, [], 0, address

    def recvmsg_into(self, buffers: Iterable[Any], ancillary: int = 0, flags: int = 0) -> Any:
        if not self.radio_port:
            return super().recvmsg_into(buffers, ancillary, flags)
        views = [memoryview(buffer).cast("B") for buffer in buffers]
        data, address = self.recvfrom(sum(map(len, views)), flags)
        rest = data
        for view in views:
            part, rest = rest[: len(view)], rest[len(view) :]
            view[: len(part)] = part
        return len(data), [], 0, address
