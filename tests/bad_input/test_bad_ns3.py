"""ns-3 that is missing, of another version, killed, hung or mad, and settings that it cannot have."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from airloom.errors import UserError
from airloom.radio.medium import EVERYBODY, Frame
from airloom.radio.ns3 import Ns3Failed, Ns3Medium, Ns3Missing, installation
from airloom.scenario.ns3_radio import Ns3Radio

pytestmark = pytest.mark.slow

MS = 1_000_000  # ns
PLACES = np.array([[0.0, 0.0, 0.0], [10.0, 0.0, 0.0]])


def is_installed():
    try:
        installation.find_ns3()
    except Ns3Missing:
        return False
    return True


needs_ns3 = pytest.mark.skipif(not is_installed(), reason=f"no ns-3: {installation.ADVICE}")


def flying():
    """A medium in the middle of a run, and the process of its helper."""
    medium = Ns3Medium(["a", "b"], Ns3Radio())
    medium.reset(1)
    medium.send([Frame(0, 0, EVERYBODY, 100, 0)])
    assert len(medium.advance(10 * MS, PLACES)) == 1
    return medium, medium._helper._process.program


def asked(medium, time_ns, places=PLACES):
    """With something to do, for what is idle is not asked."""
    medium.send([Frame(1, 0, EVERYBODY, 100, 10 * MS)])
    return medium.advance(time_ns, places)


def is_gone(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


@needs_ns3
def test_a_killed_helper_is_one_clear_error():
    medium, process = flying()
    os.kill(process, signal.SIGKILL)
    with pytest.raises(Ns3Failed, match=r"^ns-3 was ended by SIGKILL$"):
        asked(medium, 20 * MS)
    with pytest.raises(Ns3Failed, match="does not run"):
        asked(medium, 30 * MS)
    medium.close()
    medium.reset(1)  # another run is well
    medium.close()


@needs_ns3
def test_a_hung_helper_is_ended_in_time():
    medium, process = flying()
    medium._helper._timeout = 0.5  # from now on: it may take longer to begin
    medium._helper._socket.settimeout(0.5)
    os.kill(process, signal.SIGSTOP)
    with pytest.raises(Ns3Failed, match=r"has not answered for 0\.5 s, and was ended"):
        asked(medium, 20 * MS)
    assert is_gone(process)


@needs_ns3
def test_a_run_that_is_interrupted_lets_go():
    """The answer to the last question is still due."""
    medium, process = flying()
    medium._helper._in_step = False
    medium.close()
    assert is_gone(process)


@needs_ns3
def test_nonsense_from_airloom_ends_the_helper_with_words():
    medium, process = flying()
    with pytest.raises(Ns3Failed, match="gave up: a message from Airloom is too short"):
        asked(medium, 20 * MS, PLACES[:1])
    assert is_gone(process)
    medium, _ = flying()
    with pytest.raises(Ns3Failed, match="gave up: Airloom wants to go back in time"):
        asked(medium, 5 * MS)


@needs_ns3
def test_what_ns3_itself_refuses_is_told_in_its_words(tmp_path):
    folder = tmp_path / "folder"
    medium = Ns3Medium(["a", "in/nowhere"], Ns3Radio(pcap=True), folder=folder)
    with pytest.raises(Ns3Failed, match=r"ns-3 was ended by SIGABRT; it said: .*nowhere"):
        medium.reset(1)
    medium.close()


PROGRAMS = {
    "os.write(out, b'x' * 1000); time.sleep(60)": "announced a message of 2021161080 bytes, which makes no sense",
    "os.write(out, bytes([2, 0, 0, 0]) + b'Ax'); time.sleep(60)": "answered b'A' where b'F' was due",
    "sys.exit('no, thank you')": "ended with code 1; it said: no, thank you",
    "os.close(out); time.sleep(60)": "has closed its socket",
    "time.sleep(60)": "has not answered for 2 s",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_helper_that_has_gone_mad_is_one_clear_error(monkeypatch, tmp_path, program):
    file = tmp_path / "helper"
    file.write_text(f"#!{sys.executable} -S\nimport os, sys, time\nout = int(sys.argv[1])\n{program}\n")
    file.chmod(0o755)
    monkeypatch.setattr("airloom.radio.ns3.medium.helper_program", lambda tell: file)
    medium = Ns3Medium(["a", "b"], Ns3Radio(timeout=2.0))
    with pytest.raises(Ns3Failed, match=PROGRAMS[program]):
        medium.reset(1)


def test_without_ns3_the_message_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("AIRLOOM_NS3", str(tmp_path))
    with pytest.raises(Ns3Missing, match=r"no ns-3 .* in .*: install it with `pip install --no-deps ns3`"):
        Ns3Medium(["a", "b"], Ns3Radio())


@pytest.fixture
def another(monkeypatch, tmp_path):
    """An ns-3 that cannot be compiled against, of another version, built by its own tools."""
    (tmp_path / "include/ns3").mkdir(parents=True)
    (tmp_path / "include/ns3/core-module.h").write_text("#error this is not the ns-3 that was expected\n")
    (tmp_path / "lib/pkgconfig").mkdir(parents=True)
    (tmp_path / "lib/pkgconfig/ns3-core.pc").write_text("Name: ns3-core\nVersion: 3.99\n")
    for module in installation.MODULES:
        (tmp_path / f"lib/libns3.99-{module}-default.so").touch()
    monkeypatch.setenv("AIRLOOM_NS3", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_another_version_is_told_and_what_the_compiler_says(another):
    told = []
    with pytest.raises(Ns3Missing, match=r"cannot be compiled against ns-3 3\.99(.|\n)*not the ns-3 that was expected"):
        Ns3Medium(["a", "b"], Ns3Radio(), tell=told.append)
    assert told[0] == "ns-3 3.99 is there; 3.37 and 3.44 are what Airloom has been tried with"
    assert "compiling the helper for ns-3 3.99, once" in told[1]
    assert not list((another / "cache").rglob("ns3-*"))


def test_a_module_that_is_missing_is_named(another):
    (another / "lib/libns3.99-lr-wpan-default.so").unlink()
    with pytest.raises(Ns3Missing, match="has no module 'lr-wpan'"):
        Ns3Medium(["a", "b"], Ns3Radio())


def test_without_a_compiler_the_message_says_so(another, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(Ns3Missing, match=r"no C\+\+ compiler 'no-such-compiler'.*g\+\+"):
        Ns3Medium(["a", "b"], Ns3Radio(), tell=lambda _: None)


def test_a_cache_that_cannot_be_written_is_named(another, monkeypatch):
    (another / "cache").write_text("a file where a folder should be")
    with pytest.raises(Ns3Missing, match=r"cannot be kept as .*cache"):
        Ns3Medium(["a", "b"], Ns3Radio(), tell=lambda _: None)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"rate": 7}, r"802.11g has no rate of 7 Mb/s, only 6, 9, 12, 18, 24, 36, 48, 54"),
        ({"standard": "b", "broadcast_rate": 6, "rate": 11}, r"802.11b has no broadcast_rate of 6 Mb/s"),
        ({"standard": "n", "rate": "aarf"}, "knows no 802.11n"),
        ({"link": "infrastructure"}, "a base station"),
        ({"base": "tower"}, "a base station"),
        ({"link": "lr-wpan", "rate": 6}, "lr-wpan has no 'rate'"),
        ({"link": "lte"}, "adhoc"),
        ({"losses": []}, "at least 1"),
        ({"losses": [{"kind": "nakagami"}]}, "no loss by distance"),
        ({"losses": [{"kind": "rice"}]}, "log-distance"),
        ({"losses": [{"kind": "free-space", "exponent": 3}]}, "exponent"),
        ({"power": float("nan")}, "finite"),
        ({"queue": 0}, "greater than or equal to 1"),
    ],
)
def test_impossible_settings_are_refused(settings, complaint):
    with pytest.raises(ValidationError, match=complaint):
        Ns3Radio(**settings)


def test_nobody_needs_no_radio():
    with pytest.raises(UserError, match="nobody has a radio"):
        Ns3Medium([], Ns3Radio())


def test_files_need_a_folder():
    with pytest.raises(UserError, match="need a folder"):
        Ns3Medium(["a"], Ns3Radio(pcap=True))


def test_the_sources_of_the_helper_say_whose_they_are():
    """ns-3 is under the GPL: our part must be ours, and apart."""
    text = (Path(installation.SOURCES) / "medium.cc").read_text()
    assert "MIT" in text[:800]
    assert "GPL" in text[:800]
