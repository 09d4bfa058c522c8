"""What the studio's process tells the one that started it, whatever else it prints."""

from __future__ import annotations

import sys
import time

import pytest

pytest.importorskip("viser")

from airloom.cli.studio_process import StudioProcess

TALKATIVE = f"""#!{sys.executable}
import os, sys
if "-I" in sys.argv:  # the keeper, which is started by the same program
    os.execv("{sys.executable}", sys.argv)
print("(viser) Version mismatch - connection rejected.\\n" * 100_000, flush=True)
tell = int(sys.argv[sys.argv.index("--tell") + 1])
os.write(tell, b'{{"url": "http://127.0.0.1:9/", "port": 9}}\\n')
print("(viser) Version mismatch - connection rejected.\\n" * 100_000, flush=True)
sys.exit(3)
"""


def test_what_libraries_print_is_no_message_and_holds_nobody_up(tmp_path, monkeypatch, capsys):
    program = tmp_path / "talkative"
    program.write_text(TALKATIVE)
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    said, deadline = "", time.monotonic() + 60
    with StudioProcess(tmp_path, "127.0.0.1", 9, None, None, quiet=False):
        while "has ended (code 3)" not in " ".join(said.split()):
            assert time.monotonic() < deadline, said
            time.sleep(0.02)
            said += "".join(capsys.readouterr())
    assert "http://127.0.0.1:9/" in said
    assert "mismatch" not in said
