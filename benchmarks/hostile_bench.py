"""Where the cases of `hostile.py` happen: a folder with one of everything, and what is wrong with any command's end."""

import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "robustness"))

from place import furnish, restore, snapshot

from treebp.data.embedded import embedded_treebank
from treebp.parsing.config import Config
from treebp.training import fit
from zygote import SMALL, Outcome, Zygote

LIMIT_SECONDS = 120.0
STATUSES = {0, 1, 2}
TRAIN = ["train", "train.conllu", "--dev", "dev.conllu", "--config", "run.toml", "--threads", "1", "-o", "new.model"]
BOUNDED = [f"--set={key}={value}" for key, value in {**SMALL, "epochs": 1}.items()]  # what makes training long


@dataclass
class Verdict:
    """What came of a case: its kind, the statuses of its commands, their longest time, and what is wrong, if anything.

    ``resumed`` counts results that were the same after an interruption.
    """

    kind: str
    statuses: list[int | None] = field(default_factory=list)
    seconds: float = 0.0
    wrong: str = ""
    resumed: int = 0


class Bench:
    """A folder furnished with one of everything, and a process to run commands there."""

    def __init__(self, scratch: Path, mirror: str) -> None:
        self.place = scratch / "place"
        self.place.mkdir()
        furnish(self.place)
        checkpoint = self.place / "kept.checkpoint"
        train, dev = embedded_treebank("train")[:30], embedded_treebank("dev")[:6]
        fit(train, dev, Config(**SMALL), threads=1, checkpoint=checkpoint)
        self.furnished = snapshot(self.place)
        self.mirror = mirror
        self.zygote = Zygote()
        self.kept: dict[tuple[str, ...], dict[str, bytes]] = {}  # what commands leave when nothing disturbs them

    def run(self, verdict: Verdict, arguments: list[str], **options: Any) -> Outcome:
        """Run a command and look for what is wrong with any."""
        outcome = self.zygote.run(arguments, self.place, limit=LIMIT_SECONDS, **options)
        verdict.statuses.append(outcome.status)
        verdict.seconds = max(verdict.seconds, outcome.seconds)
        allowed = set(STATUSES)
        if options.get("kill_after") is not None:
            number = int(options["kill_by"])
            allowed |= {-number, 128 + number}  # the former if it comes before the program listens
        said = outcome.err + outcome.out.decode(errors="replace")
        short = "file_size" in options  # of room, which counts for messages too
        if "Traceback (most recent" in said:
            verdict.wrong = "traceback: " + said[-1500:]
        elif outcome.status not in allowed:
            verdict.wrong = f"status {outcome.status}: {said[-500:]}"
        elif outcome.status == 1 and not (outcome.err.strip() or self._answered(arguments, outcome.out) or short):
            verdict.wrong = "status 1 without a message"
        return outcome

    @staticmethod
    def _answered(arguments: list[str], out: bytes) -> bool:
        """Whether the output says why there is a status of 1: what `debug-data` finds is its answer."""
        return arguments[0] == "debug-data" and bool(re.search(rb'^error: |"level": "error"', out, re.MULTILINE))

    def clean(self, verdict: Verdict, before: dict[str, Any], new: set[str], *, killed: bool = False) -> None:
        """Look for files that are lost, changed or left half-written, then restore the folder."""
        after = self.files()
        for name, content in before.items():
            if name not in new and after.get(name) != content:
                verdict.wrong = verdict.wrong or f"{name} is {'changed' if name in after else 'lost'}"
        for name in after.keys() - before.keys():
            hidden = os.path.basename(name).startswith(".") and name.endswith(".part")
            if not (hidden and killed) and name not in new and not any(name.startswith(f"{one}/") for one in new):
                verdict.wrong = verdict.wrong or f"{name} is left"
        self.tidy()

    def put(self, name: str, content: bytes) -> None:
        (self.place / name).write_bytes(content)

    def files(self) -> dict[str, Any]:
        """All that is in the folder."""
        return snapshot(self.place)

    def tidy(self) -> None:
        """Leave the folder as it was furnished."""
        restore(self.place, self.furnished)

    def undisturbed(self, verdict: Verdict, command: list[str], names: tuple[str, ...]) -> dict[str, bytes]:
        """What a command leaves when nothing disturbs it."""
        key = (*command, *names)
        if key not in self.kept:
            self.run(verdict, command)
            self.kept[key] = {name: (self.place / name).read_bytes() for name in names}
            self.tidy()
        return self.kept[key]

    def compare(self, verdict: Verdict, expected: dict[str, bytes]) -> None:
        """Hold files against what they should be."""
        for name, content in expected.items():
            path = self.place / name
            if not path.exists() or path.read_bytes() != content:
                verdict.wrong = verdict.wrong or f"{name} is not what it should be"
