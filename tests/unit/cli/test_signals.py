"""Signals that come at awkward moments."""

from __future__ import annotations

import os
import signal

import pytest

from airloom.cli.signals import ended_by_signals


class Run:
    is_starting = False
    stopped = False

    def stop(self):
        self.stopped = True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("early", [True, False])
def test_a_signal_ends_the_run_also_while_its_folder_is_made(number, early):
    run, before = Run(), signal.getsignal(number)
    with ended_by_signals() as ending:
        if early:
            os.kill(os.getpid(), number)
        assert ending.of(run) is run
        assert run.stopped == early
        if not early:
            os.kill(os.getpid(), number)
    assert run.stopped
    assert ending.signals == [number]
    assert signal.getsignal(number) is before
