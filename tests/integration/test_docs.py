"""The documentation is true: its Python runs, its commands run, and what it shows is what comes out.

A page's blocks are run in order, in one namespace and one fresh folder:

- ```python runs; a ```text block right below it is what it prints;
- ```console runs each line `$ airloom …` and `$ python FILE`; the lines below a command are part of what it prints;
- a block below `<!-- file: NAME -->` is written to that file; with `from examples` it is the example of that name.

In expected output `…` stands for anything in a line, or on a line of its own for any lines. `<!-- fails -->` above a
block says that its commands must fail.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import io
import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from airloom import kernels
from airloom.compiled import rows

ROOT = Path(__file__).parents[2]
DOCS, EXAMPLES = ROOT / "docs", ROOT / "examples"
PAGES = sorted(DOCS.rglob("*.md"))

DIRECTIVE = re.compile(r"<!-- (fails|file: (\S+)( from examples)?) -->")
FENCE = re.compile(r"```(\w*)$")
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
NOT_OUTPUT = re.compile(r"^(Compiling|Compiled) .*\n", re.MULTILINE)


@dataclass
class Block:
    page: Path
    line: int
    language: str
    text: str
    directives: dict[str, re.Match[str]]
    follows: bool
    """Whether nothing but empty lines is between this block and the one before."""

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}, line {self.line}"

    @property
    def file(self) -> str | None:
        return self.directives["file"][2] if "file" in self.directives else None


def blocks_of(page: Path) -> Iterator[Block]:
    lines = iter(enumerate(page.read_text(encoding="utf-8").splitlines(), 1))
    directives: dict[str, re.Match[str]] = {}
    follows = False
    for number, line in lines:
        if fence := FENCE.fullmatch(line):
            text = ""
            for _, inner in lines:
                if inner == "```":
                    break
                text += inner + "\n"
            yield Block(page, number, fence[1], text, directives, follows)
            directives, follows = {}, True
        elif directive := DIRECTIVE.fullmatch(line):
            directives[directive[1].partition(":")[0]] = directive
            follows = False
        elif line:
            directives, follows = {}, False


class Reader:
    """Somebody who types everything on a page."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.namespace: dict[str, Any] = {"__name__": "__page__"}
        self.printed = ""

    def follow(self, block: Block) -> None:
        if block.file:
            self.write(block)
        elif block.language == "python":
            self.run(block)
        elif block.language == "console":
            self.type_commands(block)
        elif block.language == "text" and block.follows:
            self.expect(block, block.text, self.printed)
        elif block.language == "yaml":
            yaml.safe_load(block.text)

    def write(self, block: Block) -> None:
        assert block.file is not None
        path = self.folder / block.file
        path.parent.mkdir(parents=True, exist_ok=True)
        if block.directives["file"][3]:
            path.symlink_to(EXAMPLES / block.file)
        else:
            path.write_text(block.text, encoding="utf-8")

    def run(self, block: Block) -> None:
        code = compile("\n" * block.line + block.text, str(block.page), "exec")
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(code, self.namespace)
        self.printed = output.getvalue()

    def type_commands(self, block: Block) -> None:
        for typed in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, _, expected = typed.partition("\n")
            words = shlex.split(command, comments=True)
            if words[0] in ("airloom", "python"):
                code, printed = typed_in_shell(words)
                assert (code != 0) == ("fails" in block.directives), f"{block}: {command} gave {code}:\n{printed}"
                self.expect(block, expected, printed)

    def expect(self, block: Block, expected: str, printed: str) -> None:
        printed = _plain(NOT_OUTPUT.sub("", printed))
        pattern = "".join(_as_pattern(line) for line in _plain(expected).splitlines())
        assert re.search(f"^{pattern}", printed, re.MULTILINE), f"{block}: expected\n{expected}\nbut got\n{printed}"


def typed_in_shell(words: list[str]) -> tuple[int, str]:
    """Exit code and all output of a command, run in this process."""
    from airloom.cli import main

    output, argv = io.StringIO(), sys.argv
    sys.argv = words
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            if words[0] == "airloom":
                main()
            else:
                runpy.run_path(words[1], run_name="__main__")
    except SystemExit as end:
        return int(end.code or 0), output.getvalue()
    finally:
        sys.argv = argv
    return 0, output.getvalue()


def _plain(text: str) -> str:
    """Without the spaces that only arrange it."""
    return "".join(f"{' '.join(line.split())}\n" for line in text.strip().splitlines())


def _as_pattern(line: str) -> str:
    return r"(?:.*\n)*?" if line == "…" else ".*?".join(map(re.escape, line.split("…"))) + r"\n"


def _pages_to_follow() -> Iterator[Any]:
    for page in PAGES:
        blocks = list(blocks_of(page))
        if any(block.language in ("python", "console") or block.file for block in blocks):
            yield pytest.param(page, id=page.stem)


@pytest.mark.parametrize("page", list(_pages_to_follow()))
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    reader = Reader(tmp_path)
    for block in blocks_of(page):
        reader.follow(block)


@pytest.fixture(scope="module")
def make_reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_reference", DOCS / "make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_written_pages_are_up_to_date(make_reference: ModuleType) -> None:
    stale = [page.name for page, text in make_reference.pages() if page.read_text(encoding="utf-8") != text]
    assert not stale, "run: python docs/make_reference.py"


def test_every_key_is_explained(make_reference: ModuleType) -> None:
    assert "|  |" not in make_reference.reference(), "give the field a description, or a note in docs/make_reference.py"


def test_every_name_and_row_for_kernels_is_explained(make_reference: ModuleType) -> None:
    page = make_reference.kernels_reference()
    assert "|  |" not in page, "give it a docstring, or a comment behind it in kernels.py or rows.py"
    assert re.findall(r"^\| `(\w+)", page[: page.index("## Rows")], re.MULTILINE) == kernels.__all__
    assert page.count("\n| `", page.index("## Rows")) == inspect.getsource(rows).count(" = _rows(")


def test_no_explanation_is_left_over(make_reference: ModuleType) -> None:
    """A note whose key has gone, or has a description of its own by now, is removed."""
    assert make_reference.useless_notes() == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        if target.startswith("http"):
            continue
        there = (page.parent / target).resolve() if target else page
        assert there.exists(), f"{page}: {target}"
        if anchor and there.suffix == ".md":
            assert anchor in _anchors(there), f"{page}: {target}#{anchor}"


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
