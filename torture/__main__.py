"""Torture Airloom and print what came of it: `scripts/torture`. About an hour on two cores; not part of the tests."""

from __future__ import annotations

import argparse
import importlib
import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path

from torture.trial import TRIALS, Tally, Trial

for module in ("words", "files", "ports", "pilots", "hardship"):
    importlib.import_module(f"torture.{module}")

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reliability.md"
BEGIN, END = "<!-- torture: begin -->", "<!-- torture: end -->"
HEAD = ["| trial | what is done | inputs | slowest, s | surprises | |", "|---|---|--:|--:|--:|---|"]
ALONE = "two busy cores"
"""Takes all cores itself."""


def main() -> int:
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        # Whoever starts this in the background, or with nohup, has it ignore them; the runs that it ends must not.
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)
    given = _arguments()
    if given.one:
        print(json.dumps(asdict(_run(TRIALS[given.one], given.scale, given.seed))))
        return 0
    chosen = [it for it in TRIALS.values() if any(fnmatchcase(it.name, f"*{word}*") for word in given.names or [""])]
    if not chosen:
        print(f"no trial is called so; there are: {', '.join(TRIALS)}", file=sys.stderr)
        return 2
    results = _run_all(chosen, given)
    print(f"\n{_table(_rows(results))}\n")
    return 1 if any(tally.surprise_count for tally in results.values()) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/torture", description=__doc__)
    parser.add_argument("names", nargs="*", help="trials, by a part of their names; all if left out")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the inputs, 0.001 for a quick look")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same inputs")
    parser.add_argument("--jobs", type=int, default=2, help="trials at a time")
    parser.add_argument("--write", action="store_true", help="put the rows into the table of docs/reliability.md")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    return parser.parse_args()


def _run(trial: Trial, scale: float, seed: int) -> Tally:
    return trial.run(max(round(trial.count * scale), 1), seed)


def _run_all(trials: list[Trial], given: argparse.Namespace) -> dict[str, Tally]:
    """Each in a process of its own, so that one that crashes takes no other with it; the longest first."""
    results: dict[str, Tally] = {}
    for alone in (False, True):
        group = [it for it in trials if (it.name == ALONE) is alone]
        with ThreadPoolExecutor(1 if alone else given.jobs) as pool:
            running = {pool.submit(_in_a_process, it, given): it for it in reversed(group)}
            for done in as_completed(running):
                trial, tally = running[done], done.result()
                results[trial.name] = tally
                print(
                    f"{'✗' if tally.surprise_count else '✓'} {_row(trial, tally)}",
                    *tally.surprises,
                    sep="\n",
                    flush=True,
                )
                if given.write:
                    _write(_rows({trial.name: tally}))
    return results


def _in_a_process(trial: Trial, given: argparse.Namespace) -> Tally:
    began = time.monotonic()
    command = [sys.executable, "-m", "torture", "--one", trial.name]
    command += ["--scale", str(given.scale), "--seed", str(given.seed)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    try:
        tally = Tally(**json.loads(done.stdout.splitlines()[-1]))
    except (IndexError, ValueError):
        tally = Tally()
        tally.surprise(f"the trial itself ended with {done.returncode}: {done.stderr[-2000:]}")
    tally.note = "; ".join(filter(None, [tally.note, f"{time.monotonic() - began:.0f} s"]))
    return tally


def _row(trial: Trial, tally: Tally) -> str:
    numbers = f"{tally.inputs:,} inputs, {tally.refused:,} refused, slowest {tally.slowest:.3f} s"
    return f"{trial.name}: {numbers}, {tally.surprise_count} surprises ({tally.note})"


def _rows(results: dict[str, Tally]) -> dict[str, str]:
    return {name: _table_row(TRIALS[name], tally) for name, tally in results.items()}


def _table_row(trial: Trial, tally: Tally) -> str:
    inputs = f"{tally.inputs:,}".replace(",", "\u202f")
    return f"| {trial.name} | {trial.about} | {inputs} | {tally.slowest:.2f} | {tally.surprise_count} | {tally.note} |"


def _table(rows: dict[str, str]) -> str:
    return "\n".join([*HEAD, *(rows[name] for name in TRIALS if name in rows)])


def _write(rows: dict[str, str]) -> None:
    """Trials that were left out keep the row of their last run."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    written, _, after = rest.partition(END)
    earlier = {line.split("|")[1].strip(): line for line in written.splitlines() if line.startswith("| ")}
    PAGE.write_text(f"{before}{BEGIN}\n{_table(earlier | rows)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
