"""TLS, for what listens beyond this machine: so that nobody on the way reads the token, or flies the drones.

A server shows a certificate: one of its owner's, or one that this machine makes for itself once and keeps. For the
latter nobody vouches; so a client is told its *fingerprint*, and takes no other.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import socket
import ssl
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import platformdirs

from airloom.basics.given import MEGABYTE, regular_file
from airloom.errors import UserError
from airloom.keeper import Kept, folder_for_socket
from airloom.net.listening import private_listener

YEARS = 10  # that a certificate of our own is good for: nobody trusts it for what stands in it
PATIENCE = 30.0  # s for the other end to finish its handshake


class TlsError(UserError):
    """There is no certificate, or not the right one; the message is meant for the user."""


class Certificate(NamedTuple):
    """Files in PEM; the private key is in the first one if there is no second."""

    file: Path
    key: Path | None = None

    @classmethod
    def own(cls) -> Certificate:
        """That of this machine's user, made if there is none yet."""
        file = platformdirs.user_data_path("airloom") / "certificate.pem"
        if not file.exists():
            _make(file)
        return cls(file)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the certificate itself."""
        self.context()
        text = self.file.read_text(encoding="ascii", errors="replace")
        first = text[text.index(ssl.PEM_HEADER) : text.index(ssl.PEM_FOOTER) + len(ssl.PEM_FOOTER)]
        return hashlib.sha256(ssl.PEM_cert_to_DER_cert(first)).hexdigest()

    def context(self) -> ssl.SSLContext:
        """For a server."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        for file in filter(None, (self.file, self.key)):
            regular_file(file, TlsError, MEGABYTE, shown=f"the certificate {file}")
        try:
            context.load_cert_chain(self.file, self.key, password=_no_password)
        except ssl.SSLError:
            files = self.file if self.key is None else f"{self.file} and {self.key}"
            what = "no certificate with its private key, unencrypted and in PEM"
            raise TlsError(f"{files}: {what}; give both with --tls-cert FILE --tls-key FILE") from None
        except OSError as error:
            raise TlsError(f"cannot read the certificate {self.file} or its key: {error.strerror}") from None
        return context


def _no_password() -> str:
    """Instead of asking for it at the terminal."""
    return ""


def _make(file: Path) -> None:
    """All at once, and not if another run was quicker."""
    name = socket.gethostname()
    command = [
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-days", str(365 * YEARS), "-subj", "/CN=airloom", "-addext",
        f"subjectAltName=DNS:{name},DNS:localhost,IP:127.0.0.1,IP:::1", "-keyout", "both", "-out", "certificate",
    ]  # fmt: skip
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:  # which nobody else may enter
        try:
            made = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        except OSError:
            raise TlsError("a certificate needs the program openssl; install it, or give one with --tls-cert") from None
        if made.returncode:
            raise TlsError(f"openssl cannot make a certificate: {made.stderr.strip()[-300:]}")
        both = Path(folder, "both")
        with both.open("a") as pem:
            pem.write(Path(folder, "certificate").read_text())
        both.chmod(0o600)
        with suppress(FileExistsError):
            os.link(both, file)


def secured(connection: socket.socket, host: str, fingerprint: str = "") -> ssl.SSLSocket:
    """The client's end of a connection to a server that must show a certificate.

    It must have the fingerprint, or if none is given, be vouched for by somebody whom this machine trusts; the
    variable SSL_CERT_FILE names others to trust.
    """
    context = ssl.create_default_context()
    if fingerprint:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    before = connection.gettimeout()
    connection.settimeout(PATIENCE)
    try:
        line = context.wrap_socket(connection, server_hostname=host)
    except ssl.SSLCertVerificationError as error:
        connection.close()
        hint = "give its fingerprint as tls:HOST:PORT#FINGERPRINT, or name the authority in SSL_CERT_FILE"
        raise TlsError(f"the certificate of {host} cannot be trusted ({error.verify_message}): {hint}") from None
    except OSError:
        connection.close()
        raise
    shown = hashlib.sha256(line.getpeercert(binary_form=True) or b"").hexdigest()
    if fingerprint and not hmac.compare_digest(shown, fingerprint.replace(":", "").lower()):
        line.close()
        raise TlsError(f"{host} has another certificate than the one asked for: its fingerprint is {shown}")
    line.settimeout(before)
    return line


class TlsProxy:
    """A process that takes TLS connections from a listener, and passes on what they say to a Unix socket, unencrypted.

    A process of its own, because the usual round of the loom is compiled and reads from plain sockets, and because
    whoever encrypts shall not take the simulation's time.
    """

    def __init__(self, listener: socket.socket, certificate: Certificate) -> None:
        certificate.context()  # complains now rather than there
        self._folder = folder_for_socket("airloom-tls-", "tls")
        path = self._folder.path / "tls"
        self.inside = private_listener(path)
        """Where those come out who come in by TLS."""
        number, files = listener.fileno(), [str(file) for file in certificate if file]
        command = [sys.executable, "-m", "airloom.net.tls_proxy", str(number), str(path), *files]
        self._process = Kept(command, stdout=subprocess.DEVNULL, pass_fds=[number])

    def __enter__(self) -> TlsProxy:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """What was said last is passed on before."""
        self.inside.close()
        self._process.end()
        self._folder.remove()
