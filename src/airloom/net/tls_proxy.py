"""The process of a `tls.TlsProxy`: python -m airloom.net.tls_proxy LISTENER PATH CERTIFICATE [KEY]"""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

from airloom.net.sockets import make_quick_and_mortal
from airloom.net.streams import Reception, relay
from airloom.net.tls import Certificate

LAST_WORDS = 1.5  # s to pass on what was said last


async def main(listener: socket.socket, path: str, certificate: Certificate) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reception.know()  # whether it may stay is for those to say to whom it is passed on
        with suppress(OSError):
            make_quick_and_mortal(writer.get_extra_info("socket"))
            inside = await asyncio.open_unix_connection(path)
            try:
                await relay((reader, writer), inside)
            finally:
                inside[1].close()
            writer.close()
            async with asyncio.timeout(LAST_WORDS):
                await writer.wait_closed()

    reception, over = Reception(serve, certificate.context()), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
    async with await reception.open(listener):
        await over.wait()
    if visits := reception.visits - reception.strangers:
        await asyncio.wait(visits, timeout=LAST_WORDS)


if __name__ == "__main__":
    number, path, *files = sys.argv[1:]
    asyncio.run(main(socket.socket(fileno=int(number)), path, Certificate(*map(Path, files))))
