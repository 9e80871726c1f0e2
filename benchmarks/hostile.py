"""A campaign against the command line: thousands of mutated files, settings and arguments, kills and full disks.

    python benchmarks/hostile.py --cases 20000 -o benchmarks/results/hostile.json

Every case follows from the seed and its number alone (``--first N --cases 1`` runs one again). What counts as wrong: a
traceback, an exit status that is not documented, no end within the limit, a file that was there and is lost or changed,
a file that is left half-written, and a result that differs after an interruption. The summary is kept as JSON.
"""

import argparse
import hashlib
import json
import os
import random
import re
import signal
import stat
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "robustness"))

from place import furnish, restore, snapshot

from treebp.data.embedded import embedded_treebank
from treebp.experiments.running import program_version
from treebp.parsing.config import Config
from treebp.training import fit
from zygote import SMALL, Outcome, Zygote

LIMIT_SECONDS = 120.0
TRAIN = ["train", "train.conllu", "--dev", "dev.conllu", "--config", "run.toml", "--threads", "1", "-o", "new.model"]
KILLS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
STATUSES = {0, 1, 2}


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
        self.undisturbed: dict[tuple[str, ...], dict[str, bytes]] = {}

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
        after = snapshot(self.place)
        for name, content in before.items():
            if name not in new and after.get(name) != content:
                verdict.wrong = verdict.wrong or f"{name} is {'changed' if name in after else 'lost'}"
        for name in after.keys() - before.keys():
            hidden = os.path.basename(name).startswith(".") and name.endswith(".part")
            if not (hidden and killed) and name not in new and not any(name.startswith(f"{one}/") for one in new):
                verdict.wrong = verdict.wrong or f"{name} is left"
        restore(self.place, self.furnished)

    def put(self, name: str, content: bytes) -> None:
        (self.place / name).write_bytes(content)


Kind = Callable[[Bench, random.Random, Verdict], None]


def mutated(rng: random.Random, data: bytes) -> bytes:
    """The data with a few changes: bytes, pieces, lines or columns."""
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 10))):
        place, length = rng.randrange(len(data) + 1), rng.choice((1, 1, 4, 40, 400))
        piece = data[place : place + length]
        change = rng.randrange(9)
        if change == 0:
            data = data[:place] + rng.randbytes(length) + data[place + length :]
        elif change == 1:
            data = data[:place] + data[place + length :]
        elif change == 2:
            data = data[:place] + piece * rng.randrange(2, 5) + data[place:]
        elif change == 3:
            data = data[:place]
        elif change == 4:
            token = rng.choice(TOKENS)
            data = data[:place] + token + data[place + rng.choice((0, len(token))) :]
        else:
            lines = data.split(b"\n")
            line = rng.randrange(len(lines))
            columns = lines[line].split(b"\t")
            column = rng.randrange(len(columns))
            if change == 5:
                columns[column] = rng.choice(TOKENS)
            elif change == 6:
                del columns[column]
            elif change == 7:
                columns.insert(column, rng.choice(TOKENS))
            else:
                other = rng.randrange(len(lines))
                lines[line], lines[other] = lines[other], lines[line]
                columns = lines[line].split(b"\t")
            lines[line] = b"\t".join(columns)
            data = b"\n".join(lines)
    return data


TOKENS = [
    *(
        b"",
        b"_",
        b"0",
        b"1",
        b"2",
        b"-1",
        b"1-2",
        b"1.1",
        b"999999999999",
        b"1e5",
        b"nan",
        b"inf",
        b"=",
        b"|",
        b"[",
        b"]",
    ),
    *(
        b"(",
        b")",
        b"#",
        b"\t",
        b"\n",
        b"\n\n",
        b"\r\n",
        b"\r",
        b"\0",
        b"\xff",
        b"\xc3",
        b"\xef\xbb\xbf",
        b"\x1b[2J",
        b" ",
    ),
    *(
        "ä".encode(),
        "٣".encode(),
        "\u2028".encode(),
        "\U0001f333".encode(),
        b"true",
        b"Head=1",
        b"NoHead=1,2",
        b"A" * 3000,
    ),
    *(
        b"epochs = 1",
        b"rate = 0.1",
        b"tree = 'auto'",
        b"'",
        b'"',
        b"{",
        b"}",
        b"\\",
        b"objective = 'ar'",
        b"(NN a)",
        b"0.1",
    ),
]


def treebank(bench: Bench, rng: random.Random, verdict: Verdict) -> None:
    """Mutated CoNLL files, for every command that reads some."""
    import bz2
    import gzip
    import lzma

    data = (bench.place / rng.choice(("train.conllu", "dev.conllu", "test.conllu"))).read_bytes()
    sentences = data.split(b"\n\n")
    data = b"\n\n".join(rng.sample(sentences, rng.randrange(1, min(6, len(sentences))))) + b"\n\n"
    name, pack = rng.choice([("user.conllu", bytes)] * 6 + [("user.conll", bytes), ("user", lzma.compress)])
    if rng.random() < 0.1:
        name, pack = rng.choice(
            (("u.conllu.gz", gzip.compress), ("u.conllu.xz", lzma.compress), ("u.bz2", bz2.compress))
        )
    data = mutated(rng, pack(data)) if rng.random() < 0.2 else pack(mutated(rng, data))
    bench.put(name, data)
    output = rng.choice((["-o", "new"], []))
    parse = ["parse", "en.model", name, "--threads", rng.choice("112"), *output]
    command = rng.choice(
        (
            parse,
            parse,
            [*parse, "--marginals", "--kbest", "3"],
            [*parse, "--constraints", "--max-length", rng.choice(("5", "30"))],
            [*parse, "--encoding", rng.choice(("latin-1", "ascii", "utf-8", "cp1252", "shift_jis"))],
            ["debug-data", name, "test.conllu", *rng.choice(([], ["--json"]))],
            ["evaluate", name, name, *rng.choice(([], ["--json"], ["--details"]))],
            ["evaluate", "test.conllu", name],
            ["inspect", "en.model", name, "-o", "new", "--sentence", rng.choice("12")],
            ["train", "train.conllu", "--dev", name, "--config", "run.toml", "--epochs", "1", "-o", "new.model"],
        )
    )
    before = snapshot(bench.place)
    outcome = bench.run(verdict, command)
    left = {"new", "new.model", "new.model.log.jsonl", "new.model.config.toml"} if outcome.status == 0 else set()
    bench.clean(verdict, before, left)


def text(bench: Bench, rng: random.Random, verdict: Verdict) -> None:
    """Mutated brackets and plain garbage, from files and from standard input."""
    kinds = (b"( (S (NP-SBJ (NNS Trees)) (VP (VBP grow)) (. .)))\n" * 5, rng.randbytes(300), b"Trees grow.\n" * 9)
    data = mutated(rng, rng.choice(kinds))
    bench.put("user.mrg", data)
    before = snapshot(bench.place)
    command = rng.choice(
        (
            ["convert", "user.mrg", "-o", "new"],
            ["convert", "-", "-o", "-"],
            ["debug-data", "-"],
            ["parse", "en.model", "--threads", "1"],
            ["evaluate", "-", "test.conllu"],
        )
    )
    outcome = bench.run(verdict, command, stdin=data)
    bench.clean(verdict, before, {"new"} if outcome.status == 0 else set())


def model(bench: Bench, rng: random.Random, verdict: Verdict) -> None:
    """Mutated models."""
    bench.put("user.model", mutated(rng, (bench.place / "en.model").read_bytes()))
    before = snapshot(bench.place)
    commands = (
        ["parse", "user.model", "test.conllu", "--threads", "1"],
        ["inspect", "user.model", "test.conllu", "-o", "-"],
    )
    bench.run(verdict, rng.choice(commands))
    bench.clean(verdict, before, set())


def checkpoint(bench: Bench, rng: random.Random, verdict: Verdict) -> None:
    """Mutated checkpoints: either refused and kept, or continued to the same model."""
    expected = reference(bench, verdict, TRAIN, ("new.model",))
    bench.put("new.model.checkpoint", mutated(rng, (bench.place / "kept.checkpoint").read_bytes()))
    before = snapshot(bench.place)
    outcome = bench.run(verdict, [*TRAIN, "--resume"])
    if outcome.status == 0:
        matches(bench, verdict, expected)
    new = {f"new.model{ending}" for ending in ("", ".log.jsonl", ".config.toml")}
    bench.clean(verdict, before, new | ({"new.model.checkpoint"} if outcome.status == 0 else set()))


def settings(bench: Bench, rng: random.Random, verdict: Verdict) -> None:
    """Mutated settings; what makes training long is set again on the command line."""
    toml = Config().to_toml().encode() if rng.random() < 0.5 else (bench.place / "run.toml").read_bytes()
    bench.put("user.toml", mutated(rng, toml))
    before = snapshot(bench.place)
    bounded = [
        f"--set={key}={value}" for key, value in {**SMALL, "epochs": 1, "label_epochs": 1, "iterations": 2}.items()
    ]
    command = ["train", "train.conllu", "--dev", "dev.conllu", "--config", "user.toml", "-o", "new.model", *bounded]
    outcome = bench.run(verdict, [*command, "--threads", "1"])
    new = {f"new.model{ending}" for ending in ("", ".log.jsonl", ".config.toml", ".checkpoint")}
    bench.clean(verdict, before, new if b"epoch" in outcome.out else set())


def arguments(bench: Bench, rng: random.Random, verdict: Verdict) -> None:
    """Any words in any order after a command that ends soon."""
    words = [
        *("en.model", "test.conllu", "train.conllu", "trees.mrg", "precious.txt", "folder", "link", "dangling", "loop"),
        *(
            "input-link",
            "hard.conllu",
            "-",
            "none",
            "none/x",
            "",
            ".",
            "/dev/null",
            "/dev/full",
            "new",
            "--",
            "-o",
            "-o",
        ),
        *(
            "--output",
            "--force",
            "--json",
            "--details",
            "--marginals",
            "--kbest",
            "2",
            "--threads",
            "1",
            "0",
            "-1",
            "x",
        ),
        *(
            "--encoding",
            "latin-1",
            "utf-16",
            "--max-length",
            "--constraints",
            "--against",
            "--sentence",
            "--punctuation",
        ),
        *("ud", "--debug", "--help", "-h", "--version", "--nothing", "\x1b[2J", "ä", "\udcff", "a" * 300),
    ]
    command = rng.choice(("parse", "parse", "evaluate", "debug-data", "inspect", "convert", "init-config"))
    chosen = [command] if rng.random() < 0.95 else []
    if command in ("parse", "inspect") and rng.random() < 0.7:
        chosen += ["en.model", "test.conllu"]
    chosen += rng.choices(words, k=rng.randrange(6))
    before = snapshot(bench.place)
    asked_for = {"precious.txt", "link"} if "--force" in chosen else set()
    outcome = bench.run(verdict, chosen)
    if verdict.wrong.startswith("traceback") and "--debug" in chosen:
        verdict.wrong = ""
    named = {os.path.normpath(word) for word in chosen if word} if outcome.status == 0 else set()
    inside = {"folder/test.conllu", "nowhere.txt"} if outcome.status == 0 else set()
    fixed = {name for name, (mode, _) in before.items() if stat.S_ISREG(mode)}
    bench.clean(verdict, before, ((named - fixed) | inside | asked_for))


def disk(bench: Bench, rng: random.Random, verdict: Verdict) -> None:
    """Disks that are full after some bytes; training then goes on where it was, once there is room."""
    size = rng.choice((0, 1, 100, 1000, 5000, 20_000, 100_000, 400_000))
    before = snapshot(bench.place)
    if rng.random() < 0.5:
        command = rng.choice(
            (
                ["parse", "en.model", "test.conllu", "--threads", "1", "-o", "new"],
                ["parse", "en.model", "test.conllu", "--threads", "1", "-o", "precious.txt", "--force"],
                ["inspect", "en.model", "test.conllu", "-o", "new"],
                ["convert", "trees.mrg", "-o", "new"],
                ["init-config", "-o", "new"],
            )
        )
        outcome = bench.run(verdict, command, file_size=size)
        bench.clean(verdict, before, {command[command.index("-o") + 1]} if outcome.status == 0 else set())
        return
    expected = reference(bench, verdict, TRAIN, ("new.model", "new.model.config.toml"))
    bench.run(verdict, TRAIN, file_size=size)
    bench.run(verdict, [*TRAIN, "--resume"])
    matches(bench, verdict, expected)
    verdict.resumed += 1
    bench.clean(verdict, before, {f"new.model{ending}" for ending in ("", ".log.jsonl", ".config.toml")})


def killed_training(bench: Bench, rng: random.Random, verdict: Verdict) -> None:
    """Trainings that are killed, several times, and continued: the model is the same to the byte."""
    objective = rng.choice(("l2", "cll", "ar", "l2+ar"))
    command = [*TRAIN, "--objective", objective, "--epochs", rng.choice(("2", "5"))]
    expected = reference(bench, verdict, command, ("new.model", "new.model.config.toml"))
    before = snapshot(bench.place)
    resume: list[str] = []
    for _ in range(rng.randrange(1, 4)):
        options = {"kill_after": rng.uniform(0.0, 0.9), "kill_by": rng.choice(KILLS)}
        if bench.run(verdict, [*command, *resume], **options).status == 2:
            verdict.wrong = verdict.wrong or "refused to continue"
        resume = ["--resume"]
    bench.run(verdict, [*command, "--resume"])
    matches(bench, verdict, expected)
    verdict.resumed += 1
    bench.clean(verdict, before, {f"new.model{ending}" for ending in ("", ".log.jsonl", ".config.toml")})


def killed_parsing(bench: Bench, rng: random.Random, verdict: Verdict) -> None:
    """Parsing that is killed: the output is whole or not there, and the same the next time."""
    command = ["parse", "en.model", *["train.conllu"] * 5, "-o", "new", "--threads", rng.choice("12")]
    expected = reference(bench, verdict, [*command[:-1], "1"], ("new",))
    before = snapshot(bench.place)
    number = rng.choice(KILLS)
    outcome = bench.run(verdict, command, kill_after=rng.uniform(0.0, 0.4), kill_by=number)
    if (bench.place / "new").exists():
        matches(bench, verdict, expected)
    elif outcome.status == 0:
        verdict.wrong = verdict.wrong or "status 0 without output"
    bench.run(verdict, [*command, "--force"])
    matches(bench, verdict, expected)
    verdict.resumed += 1
    bench.clean(verdict, before, {"new"}, killed=number == signal.SIGKILL)


def killed_download(bench: Bench, rng: random.Random, verdict: Verdict) -> None:
    """Downloads that are killed or cut, and continued."""
    command = ["download", "UD_English-Tiny", "--to", "new", "--base-url", bench.mirror]
    before = snapshot(bench.place)
    for _ in range(rng.randrange(1, 4)):
        bench.run(verdict, command, kill_after=rng.uniform(0.0, 0.3), kill_by=rng.choice(KILLS))
    for _ in range(8):
        if bench.run(verdict, command).status == 0:
            break
    matches(bench, verdict, {f"new/UD_English-Tiny/{name}": content for name, content in MIRRORED.items()})
    verdict.resumed += 1
    bench.clean(verdict, before, {"new"})


def killed_experiment(bench: Bench, rng: random.Random, verdict: Verdict) -> None:
    """Experiments that are killed and continued: the same results, but for their times."""
    small = [f"--set={key}={value}" for key, value in {**SMALL, "epochs": 1}.items()]
    command = ["experiment", "ar-alone", "--quick", "--max-train", "20", "--jobs", "2", "-o", "new", *small]
    before = snapshot(bench.place)
    number = rng.choice(KILLS)
    bench.run(verdict, command, kill_after=rng.uniform(1.0, 30.0), kill_by=number)
    bench.run(verdict, command)
    found = timeless(bench.place / "new" / "ar-alone.jsonl")
    expected = bench.undisturbed.setdefault(("experiment",), {"results": found})["results"]
    if found != expected:
        verdict.wrong = verdict.wrong or "other results after an interruption"
    verdict.resumed += 1
    bench.clean(verdict, before, {"new"})


def timeless(path: Path) -> bytes:
    """The results of an experiment less their times, in order."""
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    kept = [{key: value for key, value in row.items() if not key.endswith("_seconds")} for row in rows]
    return "\n".join(sorted(json.dumps(row, sort_keys=True) for row in kept)).encode()


def reference(bench: Bench, verdict: Verdict, command: list[str], names: tuple[str, ...]) -> dict[str, bytes]:
    """What a command leaves when nothing disturbs it."""
    key = (*command, *names)
    if key not in bench.undisturbed:
        bench.run(verdict, command)
        bench.undisturbed[key] = {name: (bench.place / name).read_bytes() for name in names}
        restore(bench.place, bench.furnished)
    return bench.undisturbed[key]


def matches(bench: Bench, verdict: Verdict, expected: dict[str, bytes]) -> None:
    """Hold files against what they should be."""
    for name, content in expected.items():
        path = bench.place / name
        if not path.exists() or path.read_bytes() != content:
            verdict.wrong = verdict.wrong or f"{name} is not what it should be"


KINDS: dict[Kind, float] = {
    treebank: 36.0,
    text: 14.0,
    model: 12.0,
    checkpoint: 3.0,
    settings: 8.0,
    arguments: 20.0,
    disk: 3.0,
    killed_training: 1.5,
    killed_parsing: 1.5,
    killed_download: 1.0,
    killed_experiment: 0.02,
}

MIRRORED = {
    "en_tiny-ud-train.conllu": b"1\tTrees\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n" * 8000,
    "en_tiny-ud-test.conllu": b"1\tTrees\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n" * 100,
    "README.md": b"# Summary\n\nLicense: CC BY-SA 4.0\n",
}


@contextmanager
def mirror() -> Iterator[str]:
    """A server on the loopback address with a small treebank, whose connections break now and then."""
    rng = random.Random(0)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.rpartition("/")[2]
            base = f"http://127.0.0.1:{self.server.server_address[1]}"
            listing = [
                {
                    "name": name,
                    "size": len(content),
                    "sha": hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest(),
                    "download_url": f"{base}/raw/{name}",
                }
                for name, content in MIRRORED.items()
            ]
            body = MIRRORED.get(name, json.dumps(listing).encode())
            offset = int((self.headers["Range"] or "bytes=0-")[6:-1])
            self.send_response(206 if offset else 200)
            self.send_header("Content-Length", str(len(body) - offset))
            self.end_headers()
            body = body[offset:]
            if rng.random() < 0.2:
                body = body[: rng.randrange(len(body) + 1)]
            for start in range(0, len(body), 1 << 15):
                self.wfile.write(body[start : start + (1 << 15)])
                time.sleep(0.002)
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

        def handle(self) -> None:
            with suppress(OSError):  # the other side was killed
                super().handle()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/repos"
    server.shutdown()


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
                restore(bench.place, bench.furnished)
            with lock:
                verdicts.append(verdict)
                if verdict.wrong:
                    wrong.append({"case": number, "kind": verdict.kind, "what": verdict.wrong})
                    print(f"case {number} ({verdict.kind}): {verdict.wrong}", flush=True)
                if len(verdicts) % 500 == 0:
                    print(f"{len(verdicts):,} cases, {len(wrong)} wrong", flush=True)

    with tempfile.TemporaryDirectory() as folder, mirror() as address, ThreadPoolExecutor(jobs) as pool:
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
