"""Which run is drawn in which colour, where several are shown."""

from __future__ import annotations

import html

from airloom.studio.panels.panel import Panel, StudioState
from airloom.studio.scene.fleet_view import ACCENTS
from airloom.world.meshes import Colour


class Legend(Panel):
    def __init__(self, studio: StudioState) -> None:
        super().__init__(studio)
        rows = (_row(source.title, ACCENTS[k % len(ACCENTS)]) for k, source in enumerate(studio.sources))
        self.gui.add_html(f'<div style="padding:0.1em 0.75em 0.5em" data-airloom="legend">{"".join(rows)}</div>')


def css(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _row(title: str, colour: Colour) -> str:
    return (
        '<div style="display:flex;align-items:center;gap:0.6em;font-size:0.875em;line-height:1.6">'
        f'<span style="flex:none;width:0.8em;height:0.8em;border-radius:50%;background:{css(colour)}"></span>'
        f"{html.escape(title)}</div>"
    )
