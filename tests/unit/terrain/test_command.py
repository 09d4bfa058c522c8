"""airloom terrain, as somebody sees it at a terminal of 80 columns."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.surveys import raster

pytest.importorskip("rasterio")


def airloom(folder, *words: str) -> str:
    environment = {**os.environ, "COLUMNS": "80"}
    command = [sys.executable, "-m", "airloom", "terrain", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_a_survey_is_built_and_shown(tmp_path):
    raster(tmp_path / "field.tif")
    told = airloom(tmp_path, "build", "field.tif", "--out", "hill", "--cell", "1", "--crop", "metres:-10,-10,10,10")
    assert "cells         1 × 1 m, 21 × 21 corners" in told
    assert told.endswith("Try: airloom terrain show hill\n")
    shown = airloom(tmp_path, "show", "hill")
    assert "origin        45.0" in shown
    assert shown.rstrip().endswith("Picture: hill/preview.png")
    assert max(len(line) for line in (told + shown).splitlines()) <= 80
    assert sorted(os.listdir(tmp_path)) == ["field.tif", "hill"]
