"""One family of exceptions: whatever is told to a user is an `AirloomError`, and a mistake is a `UserError`."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import airloom as al
from airloom.errors import AirloomError, Refusal, RunError, UserError

PACKAGE = Path(al.__file__).parent
TOLD_TO_NOBODY = {
    "Cancelled", "Interrupted",  # no failures, but ways out
    "LineLost", "ProtocolError",  # between coordinators and members, which tell it in their own words
    "ExpressionError",  # the reader of a xacro file says where it stands
    "_Wrong",  # the reader of numbers says of which file
    "Foreign", "ForeignSite", "Full", "Nonsense", "Nothing", "Oversized", "Turned",  # answers to browsers
}  # fmt: skip
MISTAKES = {
    "AddressError", "BrowserMissing", "ClusterError", "CoefficientsError", "EyeError", "FarmError", "FilmError",
    "FoxgloveError",
    "HullError", "LinkError", "ListenError", "LogError", "MapError", "MappingError", "ModelError", "NoSdl",
    "NotAdmitted",
    "NotOnSimulationTime", "NotUnderstood",
    "Ns3Missing", "ObjectError",
    "ParameterFileError", "PluginError", "PortTaken", "Refused", "Ros2Error", "RunFolderError", "ScenarioError",
    "StackError", "TerrainError", "TlsError", "TranscriptError", "Unreadable", "WeatherError",
}  # fmt: skip
FAILURES = {
    "AutopilotError", "AutopilotFailed", "BoxError", "BranchError", "CannotStart", "Diverged", "LoomError",
    "NodeSilent", "Ns3Failed", "WindFailed",
}  # fmt: skip
REFUSALS = {
    "CommandError", "CurrentRefused", "PacketError", "PathError", "PatternError", "RequestError", "StickError",
    "WindRefused",
}  # fmt: skip
MISSIONS = {"MissionError", "MissionTimeout", "OutOfLiquid"}


def modules() -> list[str]:
    """With a class in them that may be an exception: to import all would start what only some machines have."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        if "scenarios" in parts or parts[-1] == "__main__":
            continue
        classes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ClassDef)]
        if any(node.bases for node in classes):
            found.append(".".join(parts).removesuffix(".__init__"))
    return found


@pytest.fixture(scope="module")
def exceptions() -> dict[str, type[BaseException]]:
    found = {}
    for name in modules():
        if name == "airloom.errors":
            continue
        for one in vars(import_module(name)).values():
            if isinstance(one, type) and issubclass(one, BaseException) and one.__module__ == name:
                found[one.__name__] = one
    return found


def test_every_exception_of_ours_is_known(exceptions):
    """Whoever adds one says here whom it is for."""
    assert set(exceptions) == MISTAKES | FAILURES | REFUSALS | MISSIONS | TOLD_TO_NOBODY


def test_what_is_told_is_in_the_family(exceptions):
    strangers = [name for name, one in exceptions.items() if not issubclass(one, AirloomError)]
    assert set(strangers) == TOLD_TO_NOBODY


@pytest.mark.parametrize(
    ("names", "branch"), [(MISTAKES, UserError), (FAILURES, RunError), (REFUSALS, Refusal), (MISSIONS, AirloomError)]
)
def test_each_is_in_its_branch_only(exceptions, names, branch):
    for name in names:
        assert {kind for kind in (UserError, RunError, Refusal) if issubclass(exceptions[name], kind)} <= {branch}
        assert issubclass(exceptions[name], branch)


def test_programs_may_still_catch_a_value_error():
    with pytest.raises(ValueError, match="no control mode") as caught:
        al.Mode.named("warp")
    assert isinstance(caught.value, al.AirloomError)


def test_the_family_can_be_caught_without_the_machinery():
    code = "import sys, airloom; airloom.AirloomError; print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {name.split(".")[1] for name in said if name.startswith("airloom.")} == {"basics", "errors"}
    assert not {"numpy", "numba", "pydantic"} & set(said)


@pytest.mark.parametrize("name", al.__all__)
def test_every_public_name_is_there(name):
    assert getattr(al, name)
