"""TLS at the listeners of the loom: who knows the fingerprint gets in, and nobody on the way reads a word."""

from __future__ import annotations

import socket
import ssl
import subprocess
import sys
import threading

import pytest
from tests.unit.loom.test_newcomers import Place

from airloom.loom.hub import Hub
from airloom.loom.line import LineLost, connect
from airloom.loom.listening import Listeners
from airloom.loom.protocol import Kind, ProtocolError
from airloom.net.tls import Certificate, TlsError


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory):
    """A user who has no certificate yet."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("home")))
        yield


class SecurePlace(Place):
    def __init__(self):
        self.joined = []
        self.hub = Hub(Listeners("tls:127.0.0.1:0", "secret"), self._admit, lambda name, reason: None)
        self.address = self.hub.listeners.remote_address

    @property
    def port(self):
        return int(self.address.partition("#")[0].rpartition(":")[2])


@pytest.fixture(scope="module")
def place():
    place = SecurePlace()
    looking = threading.Event()

    def look():
        while not looking.wait(0.01):
            place.hub.look_out()

    thread = threading.Thread(target=look)
    thread.start()
    yield place
    looking.set()
    thread.join()
    place.hub.close("over")


def test_a_certificate_is_made_once_and_kept_to_oneself():
    own = Certificate.own()
    assert own.file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in own.file.parent.iterdir()] == ["certificate.pem"]
    assert Certificate.own().fingerprint == own.fingerprint
    told = subprocess.run(
        ["openssl", "x509", "-in", own.file, "-noout", "-fingerprint", "-sha256", "-checkend", "1000000"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert own.fingerprint in told.stdout.replace(":", "").lower()


def test_who_knows_the_fingerprint_gets_in(place):
    assert place.friend("pinned").receive(30)[0] is Kind.WELCOME
    host, _, fingerprint = place.address.partition("#")
    spelled = ":".join(fingerprint[k : k + 2].upper() for k in range(0, 64, 2))
    assert place.friend("spelled", f"{host}#{spelled}").receive(30)[0] is Kind.WELCOME, "as openssl writes it"


def test_who_trusts_the_authority_gets_in(place):
    code = (
        "import sys; from airloom.member import join\n"
        "me = join('trusting', address=sys.argv[1], token='secret'); print(me.vehicles)"
    )
    plain = place.address.partition("#")[0]
    environment = {"SSL_CERT_FILE": str(Certificate.own().file), "PATH": ""}
    command = [sys.executable, "-c", f"{code}; me._line.close()", plain]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout == "[]\n", done.stderr
    with pytest.raises(TlsError, match=r"cannot be trusted \(self-signed certificate\): give its fingerprint as"):
        connect(plain)


def test_another_certificate_is_not_taken(place):
    with pytest.raises(TlsError, match="another certificate than the one asked for: its fingerprint is"):
        connect(place.address[:-4] + "0000")


def test_the_token_is_asked_for_as_elsewhere(place):
    line = connect(place.address)
    line.send(b"\x04\0\0\0\x01abc")
    assert line.receive(30)[0] is Kind.REFUSED
    assert "abc" not in place.joined


def test_who_does_not_speak_it_is_hung_up_on(place):
    with pytest.raises((LineLost, ProtocolError)):
        place.friend("plain", f"tcp:127.0.0.1:{place.port}").receive(30)
    assert "plain" not in place.joined


def test_a_crowd_that_says_nothing_keeps_nobody_out(place):
    crowd = [socket.create_connection(("127.0.0.1", place.port), 30) for _ in range(200)]
    assert place.friend("among the crowd").receive(30)[0] is Kind.WELCOME
    for stranger in crowd:
        stranger.close()


def test_old_versions_are_refused(place):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with socket.create_connection(("127.0.0.1", place.port), 30) as line, context.wrap_socket(line) as secured:
        assert secured.version() == "TLSv1.2"
    done = subprocess.run(
        ["openssl", "s_client", "-connect", f"127.0.0.1:{place.port}", "-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"],
        input="", capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode != 0
    assert "Cipher is (NONE)" in done.stdout


def test_the_last_word_is_passed_on_and_nothing_stays():
    place = SecurePlace()
    friend = place.friend("last")
    place.look_until(lambda: place.joined == ["last"])
    assert friend.receive(30)[0] is Kind.WELCOME
    door = place.hub.listeners._tls
    place.hub.close("good bye")
    assert friend.receive(30) == (Kind.BYE, "good bye")
    assert door._process.returncode is not None
    assert not door._folder.path.exists()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", place.port))


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        (["nothing.pem"], "the certificate .*nothing.pem: no such file"),
        (["text.pem"], "no certificate with its private key"),
        (["certificate.pem"], "no certificate with its private key"),
        (["certificate.pem", "text.pem"], "no certificate with its private key"),
        (["certificate.pem", "nothing.pem"], "the certificate .*nothing.pem: no such file"),
    ],
)
def test_files_that_are_no_certificates(tmp_path, files, complaint):
    (tmp_path / "text.pem").write_text("hello")
    own = Certificate.own().file.read_text()
    (tmp_path / "certificate.pem").write_text(own[own.index("-----BEGIN CERT") :])
    with pytest.raises(TlsError, match=complaint):
        Certificate(*(tmp_path / name for name in files)).context()


def test_without_openssl(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TlsError, match="needs the program openssl"):
        Certificate.own()
