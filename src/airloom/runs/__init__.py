"""What a run is beside its simulation: folder, pace, log, figures, replay, and the link to those outside."""

from typing import TYPE_CHECKING

from airloom.basics.lazy import lazily

if TYPE_CHECKING:
    from airloom.runs.figures import plot, plot_fields
    from airloom.runs.folder import RunFolder, RunFolderError
    from airloom.runs.link.client import LinkClient, LinkError
    from airloom.runs.mcap import LogError, LogMessage, LogReader, LogWriter, TopicInfo
    from airloom.runs.recorded import RecordedRun, RunOutcome
    from airloom.runs.replay import play

__all__ = [
    "LinkClient",
    "LinkError",
    "LogError",
    "LogMessage",
    "LogReader",
    "LogWriter",
    "RecordedRun",
    "RunFolder",
    "RunFolderError",
    "RunOutcome",
    "TopicInfo",
    "play",
    "plot",
    "plot_fields",
]

_MODULES = {
    "LinkClient": "link.client",
    "LinkError": "link.client",
    "LogError": "mcap",
    "LogMessage": "mcap",
    "LogReader": "mcap",
    "LogWriter": "mcap",
    "RecordedRun": "recorded",
    "RunFolder": "folder",
    "RunFolderError": "folder",
    "RunOutcome": "recorded",
    "TopicInfo": "mcap",
    "play": "replay",
    "plot": "figures",
    "plot_fields": "figures",
}

__getattr__ = lazily(__name__, _MODULES)
