"""How numbers and files of ours are written."""

from __future__ import annotations

from typing import Any

import numpy as np
import yaml


def plain(values: Any) -> Any:
    """Numbers for a file: 12 digits, and no −0."""
    if np.ndim(values):
        return [plain(value) for value in values]
    return float(f"{float(values):.12g}") + 0.0


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _on_one_line(dumper: _Dumper, data: dict) -> yaml.Node:
    """Mappings of numbers, words and short lists; larger ones have a line for each key."""
    node = dumper.represent_mapping("tag:yaml.org,2002:map", data.items())
    node.flow_style = not any(isinstance(value, dict) for value in data.values()) and len(str(data)) < 220
    return node


_Dumper.add_representer(dict, _on_one_line)


def to_yaml(content: Any) -> str:
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=120, allow_unicode=True)
