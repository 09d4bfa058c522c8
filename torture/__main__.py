"""Torture Airloom and print what came of it. All trials at full size take some hours on two cores.

Ends with 0 if there was no surprise, with 1 if there was one. --write puts the rows of the trials that
were run into the page; the others keep theirs.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from fnmatch import fnmatchcase

from torture import table, trials
from torture.trial import TRIALS, CannotRun, Tally, Trial


def main() -> int:
    _be_interruptible()
    trials.load()
    given = _arguments()
    if given.one:
        print(json.dumps(_run(TRIALS[given.one], given)))
        return 0
    if given.list:
        print("\n".join(f"{it.name}: {it.about} ({it.full:,}, reduced {it.reduced:,})" for it in TRIALS.values()))
        return 0
    words = given.names or [""]
    if unknown := [word for word in words if not _chosen([word])]:
        print(f"no trial has {unknown[0]!r} in its name; there are: {'; '.join(TRIALS)}", file=sys.stderr)
        return 2
    results = {}
    for trial, tally in _results(_chosen(words), given):
        results[trial.name] = tally
        if given.write:
            table.merge({trial.name: table.row(trial.name, tally)})
    print(f"\n{table.table({name: table.row(name, tally) for name, tally in results.items()})}\n")
    return 1 if any(tally.surprise_count for tally in results.values()) else 0


def _chosen(words: list[str]) -> list[Trial]:
    return [it for it in TRIALS.values() if any(fnmatchcase(it.name, f"*{word}*") for word in words)]


def _be_interruptible() -> None:
    """Whoever starts this in the background, or with nohup, has it ignore signals; the runs that it ends must not."""
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/torture", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="trials, by a part of their names; all if left out")
    parser.add_argument("--list", action="store_true", help="name the trials with their sizes, and run none")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--reduced", action="store_true", help="each trial's reduced size: minutes for all")
    size.add_argument("--mutants", type=_positive, metavar="N", help="this many inputs for each trial")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same inputs (default: 1)")
    parser.add_argument("--jobs", type=_positive, default=2, help="trials at a time (default: 2)")
    parser.add_argument("--write", action="store_true", help=f"put the rows into the table of docs/{table.PAGE.name}")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    return parser.parse_args()


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 on was expected, not {text!r}")
    return int(text)


def _run(trial: Trial, given: argparse.Namespace) -> dict[str, object]:
    """In the process of the trial."""
    began = time.monotonic()
    try:
        tally = trial.run(given.mutants or (trial.reduced if given.reduced else trial.full), given.seed)
    except CannotRun as missing:
        return {"missing": str(missing)}
    tally.took = time.monotonic() - began
    most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    tally.memory = most / 1024
    return asdict(tally)


def _results(chosen: list[Trial], given: argparse.Namespace) -> Iterator[tuple[Trial, Tally]]:
    """Each in a process of its own, so that one that crashes takes no other with it; those that take all cores last."""
    for alone in (False, True):
        with ThreadPoolExecutor(1 if alone else given.jobs) as pool:
            running = {pool.submit(_in_a_process, it, given): it for it in chosen if it.alone is alone}
            for done in as_completed(running):
                trial, result = running[done], done.result()
                if isinstance(result, str):
                    print(f"– {trial.name}: not run: {result}", flush=True)
                    continue
                mark = "✗" if result.surprise_count else "✓"
                print(f"{mark} {table.row(trial.name, result)}", *result.surprises, sep="\n", flush=True)
                yield trial, result


def _in_a_process(trial: Trial, given: argparse.Namespace) -> Tally | str:
    """What came of it, or why it cannot run here."""
    command = [sys.executable, "-m", "torture", "--one", trial.name, "--seed", str(given.seed)]
    command += ["--reduced"] if given.reduced else []
    command += ["--mutants", str(given.mutants)] if given.mutants else []
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    try:
        result = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        tally = Tally()
        tally.surprise(f"the trial itself ended with {done.returncode}: {done.stderr[-2000:]}")
        return tally
    return result.get("missing") or Tally(**result)


if __name__ == "__main__":
    sys.exit(main())
