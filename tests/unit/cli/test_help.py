"""What the command line says of itself, on a terminal of 80 columns."""

from __future__ import annotations

import re
from inspect import cleandoc

import pytest
import typer
from typer.testing import CliRunner

from airloom.cli.app import OVERVIEW, app


def commands(group, before=()):
    """By the words that lead to them, those of groups too."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*before, name))
        else:
            yield " ".join((*before, name)), command


COMMANDS = dict(commands(typer.main.get_command(app)))
MARKUP = re.compile(r"(?<!\\)\[/?bold\]")


def printed(monkeypatch, *words):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    return CliRunner().invoke(app, [*words, "--help"]).output


def paragraphs(text):
    return [part.split("\n") for part in MARKUP.sub("", cleandoc(text)).replace("\\[", "[").split("\n\n")]


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_nothing_is_lost_of_a_help_text(monkeypatch, name):
    """Words in brackets are no markup, examples stand on a line of their own, and keep their indentation."""
    said = printed(monkeypatch, *(name.split() if name else []))
    lines, flat = {line.rstrip() for line in said.split("\n")}, " ".join(said.split())
    for paragraph in paragraphs(COMMANDS[name].callback.__doc__ if name else OVERVIEW):
        assert len(paragraph) == 1 or paragraph[0].startswith("  "), f"would be broken in its middle: {paragraph}"
        for line in paragraph:
            if line.startswith("  "):
                assert f" {line.rstrip()}" in lines, said
            else:
                assert line in flat, said


@pytest.mark.parametrize("name", COMMANDS)
def test_every_argument_and_option_is_explained(monkeypatch, name):
    words = " ".join(re.sub(r"[│╭╮╰╯─]", " ", printed(monkeypatch, *name.split())).split())
    for parameter in COMMANDS[name].params:
        assert parameter.help, parameter.name
        assert all(word in words for word in parameter.help.split()), parameter.help
