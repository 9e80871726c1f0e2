"""A campaign against the command line: thousands of mutated files, settings and arguments, kills and full disks.

    python benchmarks/hostile.py --cases 20000 -o benchmarks/results/hostile.json

Every case follows from the seed and its number alone (``--first N --cases 1`` runs one again). What counts as wrong: a
traceback, an exit status that is not documented, no end within the limit, a file that was there and is lost or changed,
a file that is left half-written, and a result that differs after an interruption. The summary is kept as JSON.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import hostile_inputs
import hostile_kills
from hostile_bench import Bench, Verdict

from treebp.experiments.running import program_version

# How often each kind comes, of a hundred.
KINDS: dict[Callable[[Bench, random.Random, Verdict], None], float] = {
    hostile_inputs.treebank: 36.0,
    hostile_inputs.text: 14.0,
    hostile_inputs.model: 12.0,
    hostile_inputs.checkpoint: 3.0,
    hostile_inputs.settings: 8.0,
    hostile_inputs.arguments: 20.0,
    hostile_inputs.disk: 3.0,
    hostile_kills.killed_training: 1.5,
    hostile_kills.killed_parsing: 1.5,
    hostile_kills.killed_download: 1.0,
    hostile_kills.killed_experiment: 0.02,
}


def campaign(seed: int, numbers: range, jobs: int, until: float) -> tuple[list[Verdict], list[dict[str, Any]]]:
    """Run the cases of these numbers, as many as there is time for; the verdicts, and the wrong ones in detail."""
    verdicts: list[Verdict] = []
    wrong: list[dict[str, Any]] = []
    waiting = iter(numbers)
    lock = threading.Lock()

    def work(scratch: Path, address: str) -> None:
        bench = Bench(scratch, address)
        while time.monotonic() < until:
            with lock:
                number = next(waiting, None)
            if number is None:
                return
            rng = random.Random(f"{seed} {number}")
            (kind,) = rng.choices(list(KINDS), list(KINDS.values()))
            verdict = Verdict(kind.__name__)
            try:
                kind(bench, rng, verdict)
            except (OSError, KeyError) as error:
                verdict.wrong = verdict.wrong or f"{type(error).__name__}: {error}"
                bench.tidy()
            with lock:
                verdicts.append(verdict)
                if verdict.wrong:
                    wrong.append({"case": number, "kind": verdict.kind, "what": verdict.wrong})
                    print(f"case {number} ({verdict.kind}): {verdict.wrong}", flush=True)
                if len(verdicts) % 500 == 0:
                    print(f"{len(verdicts):,} cases, {len(wrong)} wrong", flush=True)

    with tempfile.TemporaryDirectory() as folder, hostile_kills.mirror() as address, ThreadPoolExecutor(jobs) as pool:
        scratches = [Path(folder, str(job)) for job in range(jobs)]
        for scratch in scratches:
            scratch.mkdir()
        for future in [pool.submit(work, scratch, address) for scratch in scratches]:
            future.result()
    return verdicts, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=1e9, help="start no case after so long")
    parser.add_argument("-o", "--output", type=Path, help="JSON file for the summary")
    given = parser.parse_args()
    began = time.monotonic()
    numbers = range(given.first, given.first + given.cases)
    verdicts, wrong = campaign(given.seed, numbers, given.jobs, began + given.seconds)
    summary = {
        "seed": given.seed,
        "first": given.first,
        "cases": len(verdicts),
        "commands": sum(len(verdict.statuses) for verdict in verdicts),
        "wrong": wrong,
        "resumed and equal": sum(verdict.resumed for verdict in verdicts if not verdict.wrong),
        "kinds": dict(Counter(verdict.kind for verdict in verdicts).most_common()),
        "statuses": {
            str(status): count
            for status, count in Counter(status for verdict in verdicts for status in verdict.statuses).most_common()
        },
        "longest command, seconds": round(max(verdict.seconds for verdict in verdicts), 1),
        "minutes": round((time.monotonic() - began) / 60, 1),
        "program": program_version(),
    }
    text = json.dumps(summary, indent=2) + "\n"
    print(text)
    if given.output:
        given.output.write_text(text)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
