"""Hostile cases: commands that are killed, and what they come to when they are run again."""

import hashlib
import json
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from hostile_bench import BOUNDED, TRAIN, Bench, Verdict

KILLS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
MIRRORED = {
    "en_tiny-ud-train.conllu": b"1\tTrees\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n" * 8000,
    "en_tiny-ud-test.conllu": b"1\tTrees\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n" * 100,
    "README.md": b"# Summary\n\nLicense: CC BY-SA 4.0\n",
}


def killed_training(bench: Bench, rng: random.Random, verdict: Verdict) -> None:
    """Trainings that are killed, several times, and continued: the model is the same to the byte."""
    objective = rng.choice(("l2", "cll", "ar", "l2+ar"))
    command = [*TRAIN, "--objective", objective, "--epochs", rng.choice(("2", "5"))]
    expected = bench.undisturbed(verdict, command, ("new.model", "new.model.config.toml"))
    before = bench.files()
    resume: list[str] = []
    for _ in range(rng.randrange(1, 4)):
        options = {"kill_after": rng.uniform(0.0, 0.9), "kill_by": rng.choice(KILLS)}
        if bench.run(verdict, [*command, *resume], **options).status == 2:
            verdict.wrong = verdict.wrong or "refused to continue"
        resume = ["--resume"]
    bench.run(verdict, [*command, "--resume"])
    bench.compare(verdict, expected)
    verdict.resumed += 1
    bench.clean(verdict, before, {f"new.model{ending}" for ending in ("", ".log.jsonl", ".config.toml")})


def killed_parsing(bench: Bench, rng: random.Random, verdict: Verdict) -> None:
    """Parsing that is killed: the output is whole or not there, and the same the next time."""
    command = ["parse", "en.model", *["train.conllu"] * 5, "-o", "new", "--threads", rng.choice("12")]
    expected = bench.undisturbed(verdict, [*command[:-1], "1"], ("new",))
    before = bench.files()
    number = rng.choice(KILLS)
    outcome = bench.run(verdict, command, kill_after=rng.uniform(0.0, 0.4), kill_by=number)
    if (bench.place / "new").exists():
        bench.compare(verdict, expected)
    elif outcome.status == 0:
        verdict.wrong = verdict.wrong or "status 0 without output"
    bench.run(verdict, [*command, "--force"])
    bench.compare(verdict, expected)
    verdict.resumed += 1
    bench.clean(verdict, before, {"new"}, killed=number == signal.SIGKILL)


def killed_download(bench: Bench, rng: random.Random, verdict: Verdict) -> None:
    """Downloads that are killed or cut, and continued."""
    command = ["download", "UD_English-Tiny", "--to", "new", "--base-url", bench.mirror]
    before = bench.files()
    for _ in range(rng.randrange(1, 4)):
        bench.run(verdict, command, kill_after=rng.uniform(0.0, 0.3), kill_by=rng.choice(KILLS))
    for _ in range(8):
        if bench.run(verdict, command).status == 0:
            break
    bench.compare(verdict, {f"new/UD_English-Tiny/{name}": content for name, content in MIRRORED.items()})
    verdict.resumed += 1
    bench.clean(verdict, before, {"new"})


def killed_experiment(bench: Bench, rng: random.Random, verdict: Verdict) -> None:
    """Experiments that are killed and continued: the same results, but for their times."""
    command = ["experiment", "ar-alone", "--quick", "--max-train", "20", "--jobs", "2", "-o", "new", *BOUNDED]
    before = bench.files()
    number = rng.choice(KILLS)
    bench.run(verdict, command, kill_after=rng.uniform(1.0, 30.0), kill_by=number)
    bench.run(verdict, command)
    found = timeless(bench.place / "new" / "ar-alone.jsonl")
    expected = bench.kept.setdefault(("experiment",), {"results": found})["results"]
    if found != expected:
        verdict.wrong = verdict.wrong or "other results after an interruption"
    verdict.resumed += 1
    bench.clean(verdict, before, {"new"})


def timeless(path: Path) -> bytes:
    """The results of an experiment less their times, in order."""
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    kept = [{key: value for key, value in row.items() if not key.endswith("_seconds")} for row in rows]
    return "\n".join(sorted(json.dumps(row, sort_keys=True) for row in kept)).encode()


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
