"""Which exceptions are a user's mistakes."""

from __future__ import annotations


def mistakes() -> tuple[type[Exception], ...]:
    """The exceptions whose message is meant for the user."""
    from airloom.loom.cluster import ClusterError
    from airloom.loom.listening import ListenError
    from airloom.member import NotAdmitted
    from airloom.net.tls import TlsError
    from airloom.plugin import PluginError
    from airloom.runs.folder import RunFolderError
    from airloom.runs.link.client import LinkError
    from airloom.runs.mcap import LogError
    from airloom.scenario import ScenarioError
    from airloom.serve.places import PlaceTaken
    from airloom.studio.film.film import FilmError
    from airloom.studio.web.ports import GatewayError

    return (
        ScenarioError, PluginError, LogError, LinkError, RunFolderError, GatewayError, FilmError, PlaceTaken,
        ClusterError, ListenError, NotAdmitted, TlsError,
    )  # fmt: skip
