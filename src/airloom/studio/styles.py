"""Looks that viser has no words for: style sheets for rows of its page, to be put into any HTML there."""

from __future__ import annotations

from typing import Any


def greyed(*groups: Any) -> str:
    """Groups of buttons that cannot be pressed, which viser knows of single buttons only."""
    return _style(", ".join(map(buttons_of, groups)), "opacity:0.45;pointer-events:none")


def buttons_of(group: Any) -> str:
    """The selector of the buttons in a group."""
    return f'div:has(> div > p > label[for="{group._impl.uuid}"]) button'


def without_number(slider: Any) -> str:
    """A slider without the box beside it, for one whose positions are no numbers to anybody."""
    return _style(f'[id="{slider._impl.uuid}"] + *', "display:none")


def _style(selector: str, looks: str) -> str:
    return f"<style>{selector} {{ {looks} }}</style>"
