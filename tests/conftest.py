"""What tests of several kinds share."""

from __future__ import annotations

import signal
import socket
import sys

import pytest

for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    # Whoever starts the tests in the background, or with nohup, has them ignore these; the programs that they end
    # must not.
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)


SLOWEST_FIRST = ("tests/browser/", "tests/integration/test_wheel", "tests/integration/", "tests/bad_input/", "")
WHOLE_RUNS = ("tests/browser/", "tests/integration/")


def pytest_collection_modifyitems(items):
    """Whole runs are slow. What takes long begins early, or the last worker has it alone at the end."""
    for item in items:
        if item.nodeid.startswith(WHOLE_RUNS):
            item.add_marker("slow")
    items.sort(key=lambda item: next(k for k, start in enumerate(SLOWEST_FIRST) if item.nodeid.startswith(start)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Files go to workers as a whole, and all with a browser to one: without a graphics card it wants all cores."""
    config.option.loadscopereorder = False
    from xdist.scheduler import LoadFileScheduling

    class OneBrowser(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return "browser" if nodeid.startswith("tests/browser/") else super()._split_scope(nodeid)

    return OneBrowser(config, log)


@pytest.fixture
def free_port():
    def find():
        with socket.create_server(("127.0.0.1", 0)) as listener:
            return listener.getsockname()[1]

    return find


@pytest.fixture
def without(tmp_path_factory, monkeypatch):
    """Call it with the name of a package that is then not installed, for the process that reads files too."""
    from airloom.reading import box

    def leave_out(name):
        folder = tmp_path_factory.mktemp("without")
        (folder / f"{name}.py").write_text(f"raise ImportError(\"No module named '{name}'\")\n")
        monkeypatch.syspath_prepend(folder)
        monkeypatch.delitem(sys.modules, name, raising=False)
        box.end_worker()  # the next one finds modules where this process does

    yield leave_out
    box.end_worker()
