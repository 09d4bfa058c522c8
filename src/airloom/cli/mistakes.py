"""Which exceptions are a user's mistakes."""

from __future__ import annotations


def mistakes() -> tuple[type[Exception], ...]:
    """The exceptions whose message is meant for the user."""
    from airloom.bridges.control.client import LinkError
    from airloom.bridges.mcap import LogError
    from airloom.bridges.steps.places import PlaceTaken
    from airloom.loom.cluster import ClusterError
    from airloom.loom.doors import DoorError
    from airloom.member import NotAdmitted
    from airloom.plugin import PluginError
    from airloom.run_folder import RunFolderError
    from airloom.scenario import ScenarioError
    from airloom.studio.film import FilmError
    from airloom.studio.ports import GatewayError
    from airloom.tls import TlsError

    return (
        ScenarioError, PluginError, LogError, LinkError, RunFolderError, GatewayError, FilmError, PlaceTaken,
        ClusterError, DoorError, NotAdmitted, TlsError,
    )  # fmt: skip
