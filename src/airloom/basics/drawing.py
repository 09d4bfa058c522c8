"""How everything looks that is drawn into a file: figures of runs, maps of what was sprayed, plans of fields."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

SERIES = ["#1f5fa8", "#e0641b", "#3a923a", "#8e4bb0", "#c03d3e", "#7f6a52", "#3aa6a6", "#d4a017"]
_STYLE: dict[Any, Any] = {
    "font.size": 12,
    "axes.titlesize": 13,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888888",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.prop_cycle": "cycler('color', " + repr(SERIES) + ")",
    "grid.color": "#e4e4e4",
    "lines.linewidth": 1.6,
    "legend.frameon": False,
    "legend.fontsize": 11,
}


def drawing_style() -> Any:
    import matplotlib

    return matplotlib.rc_context(_STYLE)


def in_style(draw: Callable[..., None]) -> Callable[..., None]:
    """A function that draws, in this style."""

    @wraps(draw)
    def drawn(*given: Any) -> None:
        with drawing_style():
            draw(*given)

    return drawn
