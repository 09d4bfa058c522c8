"""Links of the radio, from a run's log: against distance, over time, and on a map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airloom.bus import messages
from airloom.radio.links import links_in
from airloom.runs.figures.links_distance import distance_figure
from airloom.runs.figures.links_map import map_figure
from airloom.runs.figures.links_time import time_figure
from airloom.runs.folder import RunFolder
from airloom.runs.mcap import LogReader

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def link_figures(log: LogReader, run: RunFolder) -> dict[str, Figure]:
    """Three for each band in which anything was sent, by the names of their files."""
    figures: dict[str, Figure] = {}
    for topic, info in log.topics.items():
        if info.msgtype != messages.RADIO_LINKS:
            continue
        links = [links_in(message) for _, _, message in log.messages([topic])]
        band = topic.removeprefix("/radio/").removesuffix("links").strip("/")
        if any(len(one.sender) or one.broadcasts.any() for one in links):
            tail = f"-{band}" if band else ""
            figures[f"links-distance{tail}"] = distance_figure(log, run, links, band)
            figures[f"links-time{tail}"] = time_figure(log, run, links, band)
            figures[f"links-map{tail}"] = map_figure(log, run, links, band)
    return figures
