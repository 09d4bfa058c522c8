"""Inputs that are nearly right: what is right, with something changed. The same seed gives the same inputs."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

NUMBERS = [0, 1, -1, 2, 255, 65535, 65536, 2**31, 2**32 - 1, 2**53 + 1, 2**63, -(2**63), 10**30, 10**400]
SPECIAL_NUMBERS = [0.0, -0.0, 1e-320, 1e308, -1e308, 1e12, 0.1, float("nan"), float("inf"), -float("inf")]
TEXTS = [
    "", " ", "*", "[", "[" * 5000, "[!", "?*[a-", "\ud800", "\0", "é" * 300, "a" * 70_000, "../../etc", "/", "\x1b[2J",
    "null", "-", "{}", "\u202e", "%s%n", "nan", "1e999", "__class__", "cf", "cf*",
]  # fmt: skip
VALUES: list[Any] = [*NUMBERS, *SPECIAL_NUMBERS, *TEXTS, None, True, False, [], {}, [[]], [None] * 3, {"": {}}]
TOKENS = [
    b"\n", b" ", b"  ", b"\t", b": ", b"- ", b"[", b"]", b"{", b"}", b'"', b"'", b"&a ", b"*a", b"!!python/object:os ",
    b"<<: ", b"null", b"1e999", b".nan", b"-1", b"0x", b"~", b"#", b"|", b">", b"\\", b"\x00", b"\xff", b"\xed\xa0\x80",
    b"\xef\xbb\xbf", b"---\n", b"extends: ", b"kind: ", b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\x7f\xff\xff\xff",
]  # fmt: skip


class Mutations:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    # -- bytes -------------------------------------------------------------------------------------------------------

    def of_bytes(self, corpus: Sequence[bytes], count: int) -> Iterator[bytes]:
        """One in a hundred is left as it is, so that what is right stays among what is wrong."""
        for _ in range(count):
            data = self.random.choice(corpus)
            for _ in range(self.random.choice((0, 1, 1, 1, 2, 3, 8)) if self.random.random() > 0.01 else 0):
                data = self._changed_bytes(data, corpus)
            yield data

    def _changed_bytes(self, data: bytes, corpus: Sequence[bytes]) -> bytes:
        choose = self.random.randrange
        at, end = choose(len(data) + 1), choose(len(data) + 1)
        at, end = min(at, end), max(at, end)
        near = min(at + choose(9), len(data))
        match choose(8):
            case 0 if at < len(data):
                return data[:at] + bytes([data[at] ^ (1 << choose(8))]) + data[at + 1 :]
            case 1:
                return data[:at] + data[near:]
            case 2:
                return data[:at] + self.random.choice(TOKENS) + data[near:]
            case 3:
                return data[:at] + self.random.choice(TOKENS) + data[at:]
            case 4:
                return data[:at] + self.random.randbytes(choose(9)) + data[near:]
            case 5:
                return data[:end] + data[at:end] * choose(3) + data[end:]
            case 6:
                other = self.random.choice(corpus)
                return data[:at] + other[choose(len(other) + 1) :]
        return data[:end]

    # -- lines of text -----------------------------------------------------------------------------------------------

    def of_texts(self, corpus: Sequence[str], count: int) -> Iterator[bytes]:
        """Lines are dropped, doubled, exchanged, moved in, and what stands behind a colon changes; or bytes do."""
        for _ in range(count):
            if self.random.random() < 0.3:
                yield from self.of_bytes([self.random.choice(corpus).encode() for _ in range(2)], 1)
                continue
            lines = self.random.choice(corpus).split("\n")
            for _ in range(self.random.choice((1, 1, 1, 2, 3))):
                self._change_a_line(lines, corpus)
            yield "\n".join(lines).encode("utf-8", "surrogatepass")

    def _change_a_line(self, lines: list[str], corpus: Sequence[str]) -> None:
        at = self.random.randrange(len(lines))
        match self.random.randrange(6):
            case 0:
                del lines[at : at + 1 + self.random.randrange(3)]
                lines.append("")
            case 1:
                lines.insert(at, self.random.choice(lines))
            case 2:
                lines.insert(at, self.random.choice(self.random.choice(corpus).split("\n")))
            case 3:
                lines[at] = " " * self.random.randrange(9) + lines[at].lstrip()
            case _:
                key, colon, _ = lines[at].partition(":")
                lines[at] = f"{key}{colon or ':'} {self._scalar()}"

    def _scalar(self) -> str:
        value = self.random.choice(VALUES)
        return value if isinstance(value, str) else json.dumps(value)

    # -- trees, as JSON has them -------------------------------------------------------------------------------------

    def of_trees(self, corpus: Sequence[Any], count: int) -> Iterator[bytes]:
        """As JSON on one line; now and then bytes of it are changed too."""
        for _ in range(count):
            tree = self.random.choice(corpus)
            for _ in range(self.random.choice((0, 1, 1, 1, 2, 4))):
                tree = self._changed_tree(tree)
            data = json.dumps(tree).encode()
            if self.random.random() < 0.1:
                data = self._changed_bytes(data, [data])
            yield data.replace(b"\n", b" ")

    def _changed_tree(self, tree: Any) -> Any:
        """One value somewhere in it becomes another, is left out, or is doubled."""
        if isinstance(tree, dict) and tree and self.random.random() < 0.85:
            key = self.random.choice(list(tree))
            match self.random.randrange(10):
                case 0:
                    return {name: value for name, value in tree.items() if name != key}
                case 1:
                    return tree | {str(self.random.choice(VALUES))[:80]: tree[key]}
            return tree | {key: self._changed_tree(tree[key])}
        if isinstance(tree, list) and tree and self.random.random() < 0.85:
            at = self.random.randrange(len(tree))
            match self.random.randrange(10):
                case 0:
                    return tree[:at] + tree[at + 1 :]
                case 1:
                    return tree[:at] + tree[at:] * 2
            return [*tree[:at], self._changed_tree(tree[at]), *tree[at + 1 :]]
        return self.random.choice(VALUES)
