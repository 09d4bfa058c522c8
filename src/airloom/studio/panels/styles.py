"""Looks that viser has no words for: style sheets for rows of its page, to be put into any HTML there."""

from __future__ import annotations

from typing import Any


def greyed(*groups: Any) -> str:
    """Groups of buttons that cannot be pressed, which viser knows of single buttons only."""
    return _style(", ".join(map(buttons_of, groups)), "opacity:0.45;pointer-events:none")


def buttons_of(group: Any) -> str:
    """The selector of the buttons in a group."""
    return f'div:has(> div > p > label[for="{group._impl.uuid}"]) button'


def pressed(group: Any, where: str, number: int) -> str:
    """The button of this number looks pressed in pages that match `where`."""
    return _style(f"{where} {buttons_of(group)}:nth-child({number + 1})", "background:#1c6fc4;color:#fff")


def without_number(slider: Any) -> str:
    """A slider without the box beside it, for one whose positions are no numbers to anybody."""
    return _style(f'[id="{slider._impl.uuid}"] + *', "display:none")


def note(text: str) -> str:
    """A small remark to the row above."""
    return f'<div style="padding:0 0.75em 0.4em;font-size:0.8em;opacity:0.75;margin-top:-0.3em">{text}</div>'


def _style(selector: str, looks: str) -> str:
    return f"<style>{selector} {{ {looks} }}</style>"
