"""The server under load, and under attack: `treebp serve` on the loopback address.

First many clients ask for one sentence at a time; every answer is compared with what Python gives, and the throughput
with that of `treebp parse` on the same sentences and the same machine, which the clients share with the server here.
Then hostile clients do what they can; each must be answered by a 4xx or be cut off, memory must stay, and the next good
question must be answered rightly. Last, `treebp parse --ray` with one worker and with two.

    python benchmarks/load.py sentences.txt -o benchmarks/results/load.json      # a sentence a line
"""

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

import treebp
from treebp.benchmarks.machine import machine_facts

TREEBP = [sys.executable, "-m", "treebp"]
TOKEN = "secret"
SLOW_SECONDS = 4.0


@contextmanager
def server(*options: str) -> Iterator[tuple[int, int]]:
    """A server's port and process number."""
    command = [*TREEBP, "serve", "en", "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r":(\d+)$", process.stderr.readline().strip())
        assert found
        try:
            yield int(found[1]), process.pid
        finally:
            process.terminate()


def family(pid: int) -> list[Path]:
    """A process and its children, as folders of the system."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [Path(f"/proc/{number}") for number in (pid, *children)]


def seconds_of(pid: int) -> float:
    """CPU time that a process and its children have used."""
    fields = [(folder / "stat").read_text().rpartition(")")[2].split() for folder in family(pid)]
    return sum(int(own[11]) + int(own[12]) for own in fields) / 100


def megabytes_of(pid: int) -> float:
    """Memory that a process and its children have, what they share counted once."""
    texts = [(folder / "smaps_rollup").read_text() for folder in family(pid)]
    return sum(int(re.findall(r"^Pss:\s+(\d+)", text, flags=re.MULTILINE)[0]) for text in texts) / 1024


def request(body: bytes, kind: str = "text/plain", path: str = "/parse?output=conllu", token: str = TOKEN) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nContent-Type: {kind}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


class Client(asyncio.Protocol):
    """Asks one question after the other on a connection, with little work of its own: it shares the processors."""

    def __init__(self, run: "Run") -> None:
        self.run, self.received = run, b""
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.ask()

    def ask(self) -> None:
        self.number = next(self.run.numbers, None)
        if self.number is None:
            self.transport.close()
            return
        self.began = time.perf_counter()
        self.transport.write(self.run.questions[self.number % len(self.run.questions)])

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, found, body = self.received.partition(b"\r\n\r\n")
        if not found or len(body) < int(head.partition(b"content-length: ")[2].split(b"\r")[0]):
            return
        self.run.times.append(time.perf_counter() - self.began)
        if not head.startswith(b"HTTP/1.1 200"):
            self.run.errors[head[:12].decode()] += 1
        elif body != self.run.answers[self.number % len(self.run.answers)]:
            self.run.errors["another answer"] += 1
        self.received = b""
        self.ask()

    def connection_lost(self, error: Exception | None) -> None:
        if self.number is not None:
            self.run.errors["connection lost"] += 1
        self.done.set_result(None)


class Run:
    """Many clients that are busy until a number of questions are answered."""

    def __init__(self, questions: list[bytes], answers: list[bytes]) -> None:
        self.questions, self.answers = questions, answers
        self.numbers = iter(range(0))
        self.times: list[float] = []
        self.errors = Counter[str]()

    async def __call__(self, port: int, clients: int, count: int) -> float:
        """Questions a second."""
        self.numbers = iter(range(count))
        loop, began = asyncio.get_running_loop(), time.perf_counter()
        opened = [await loop.create_connection(lambda: Client(self), "127.0.0.1", port) for _ in range(clients)]
        await asyncio.gather(*(client.done for _, client in opened))
        return count / (time.perf_counter() - began)


def measured_load(texts: list[str], questions: list[bytes], answers: list[bytes], given: Any) -> dict[str, Any]:
    """Rounds of questions, each between two runs of `treebp parse`: a machine's speed may change meanwhile."""
    run, warm = Run(questions, answers), Run(questions, answers)
    count = given.requests // given.rounds
    rates, ratios = [], []
    with server("--token", TOKEN) as (port, pid):
        asyncio.run(warm(port, given.clients, 500))
        cpu, parse = 0.0, [parse_rate(texts, count)]
        for _ in range(given.rounds):
            before = seconds_of(pid)
            rates.append(asyncio.run(run(port, given.clients, count)))
            cpu += seconds_of(pid) - before
            parse.append(parse_rate(texts, count))
            ratios.append(rates[-1] / (sum(parse[-2:]) / 2))
    milliseconds = np.percentile(run.times, [50, 99]) * 1000
    return {
        "requests": len(run.times),
        "clients": given.clients,
        "errors": dict(run.errors),
        "requests_per_second": round(float(np.median(rates)), 1),
        "median_ms": round(float(milliseconds[0]), 2),
        "p99_ms": round(float(milliseconds[1]), 2),
        "server_cpu_ms_per_request": round(1000 * cpu / len(run.times), 3),
        "parse_sentences_per_second": [round(rate, 1) for rate in parse],
        "of_parse": [round(ratio, 3) for ratio in ratios],
        "median_of_parse": round(float(np.median(ratios)), 3),
    }


def attack(number: int, rng: random.Random) -> tuple[str, bytes, float]:
    """What a hostile client sends: a name for it, the bytes, and how long it then waits."""
    good = request(b"They saw her duck.")
    kinds: list[tuple[str, bytes, float]] = [
        ("random bytes", rng.randbytes(rng.randrange(1, 2000)) + b"\r\n\r\n", 0),
        ("cut off", good[: rng.randrange(1, len(good) - 1)], 0),
        ("malformed", good.replace(b"Content-Length: 18", b"Content-Length: -1"), 0),
        ("huge body", request(b"a " * (1 << 20)), 0),
        ("huge header", b"GET / HTTP/1.1\r\nX: " + b"a" * (5 << 20), 0),
        ("announced only", good.replace(b"Content-Length: 18", b"Content-Length: 99999999999"), 0),
        ("wrong token", request(b"They saw her duck.", token="guess"), 0),
        ("deep JSON", request(b'{"text":' + b"[" * 100_000, "application/json", "/parse"), 0),
        ("bad JSON", request(b'{"text": "a", "kbest": 1e999}', "application/json", "/parse"), 0),
        (
            "long sentence",
            request(b"".join(b"%d\ta" % n + b"\t_" * 8 + b"\n" for n in range(1, 3000)), "text/x-conllu"),
            0,
        ),
        ("impossible arcs", request(b'{"text": "a b", "known": [{"1": 2, "2": 1}]}', "application/json", "/parse"), 0),
        ("half a character", request(b"\xe2\x82"), 0),
        ("unknown method", good.replace(b"POST", b"BREW"), 0),
    ]
    if number % 20 == 0:
        return "slow", good[: rng.randrange(20, len(good) - 1)], 3 * SLOW_SECONDS
    return kinds[number % len(kinds)]


async def attacked(port: int, count: int, clients: int) -> dict[str, dict[str, int]]:
    """What became of each kind of attack."""
    numbers, rng, outcomes = iter(range(count)), random.Random(1), Counter[tuple[str, str]]()

    async def client() -> None:
        for number in numbers:
            name, content, patience = attack(number, rng)
            outcome = "closed"
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                try:
                    writer.write(content)
                    with suppress(OSError):
                        await writer.drain()
                    if name == "cut off":
                        writer.write_eof()
                    try:
                        received = await asyncio.wait_for(reader.read(4096), patience or 30)
                        outcome = received.split(b" ")[1].decode() if received else "closed"
                    except asyncio.TimeoutError:
                        outcome = "still open"
                finally:
                    writer.close()
            outcomes[name, outcome] += 1

    await asyncio.gather(*(client() for _ in range(clients)))
    table: dict[str, dict[str, int]] = {}
    for (name, outcome), times in sorted(outcomes.items()):
        table.setdefault(name, {})[outcome] = times
    return table


def timed(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


def parse_rate(texts: list[str], count: int) -> float:
    """Sentences a second of `treebp parse`, with what it takes to start left out."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "texts.txt"
        source.write_text("\n\n".join((texts * (count // len(texts) + 1))[:count]))
        command = [*TREEBP, "parse", "en", str(source), "-o", f"{folder}/out.conllu"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r"([\d,]+) sentences, ([\d,]+) words, ([\d,]+) words/s", done.stderr)
    assert found
    sentences, words, rate = (float(one.replace(",", "")) for one in found.groups())
    return rate * sentences / words


def measured_attack(questions: list[bytes], answers: list[bytes], given: Any) -> dict[str, Any]:
    good = Run(questions, answers)
    with server("--token", TOKEN, "--max-seconds", str(SLOW_SECONDS)) as (port, pid):
        # Each process first comes to have what the largest requests at a time need, and keeps that.
        asyncio.run(attacked(port, given.attacks, given.clients))
        before = megabytes_of(pid)
        outcomes = asyncio.run(attacked(port, given.attacks, given.clients))
        after = megabytes_of(pid)
        asyncio.run(good(port, 1, 100))
    bad = {
        f"{name}: {outcome}": times
        for name, own in outcomes.items()
        for outcome, times in own.items()
        if outcome != "closed" and not outcome.startswith("4")
    }
    return {
        "requests": given.attacks,
        "outcomes": outcomes,
        "neither_4xx_nor_closed": bad,
        "megabytes_before": round(before, 1),
        "megabytes_after": round(after, 1),
        "good_requests_after": len(good.times),
        "errors": dict(good.errors),
    }


def ray_seconds(texts: list[str], files: int, copies: int) -> dict[str, float]:
    """One worker and two on the same files, less what both take for as many files of one sentence each."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (("start", texts[0]), ("whole", "\n\n".join(texts * copies))):
            (Path(folder) / name).mkdir()
            for number in range(files):
                (Path(folder) / name / f"part{number}.txt").write_text(content)
            for workers in (1, 2):
                command = [*TREEBP, "parse", "en", f"{folder}/{name}/*.txt", "-o", f"{folder}/{name}{workers}/"]
                seconds = timed([*command, "--ray", "local", "--threads", str(workers)])
                found[f"{name}_{workers}_seconds"] = round(seconds, 2)
        for path in (Path(folder) / "whole1").glob("*.conllu"):
            assert path.read_bytes() == (Path(folder) / "whole2" / path.name).read_bytes()
    one, two = (found[f"whole_{workers}_seconds"] - found[f"start_{workers}_seconds"] for workers in (1, 2))
    return found | {"ratio": round(one / two, 3)}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("texts", type=Path, help="a sentence a line")
    options.add_argument("-o", "--output", type=Path, required=True)
    options.add_argument("--requests", type=int, default=30_000)
    options.add_argument("--clients", type=int, default=64)
    options.add_argument("--attacks", type=int, default=10_000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--only", choices=["load", "attack", "ray"], help="one part; the others' results stay")
    given = options.parse_args()

    nlp = treebp.load("en")
    texts = [line for line in given.texts.read_text(encoding="utf-8").splitlines() if len(nlp(line)) == 1]
    answers = [nlp(text).to_conllu().encode() for text in texts]
    questions = [request(text.encode()) for text in texts]
    parts = {
        "load": lambda: measured_load(texts, questions, answers, given),
        "attack": lambda: measured_attack(questions, answers, given),
        "ray": lambda: ray_seconds(texts, files=8, copies=5),
    }
    result = json.loads(given.output.read_text(encoding="utf-8")) if given.only and given.output.exists() else {}
    for name in [given.only] if given.only else parts:
        result[name] = parts[name]() | {"sentences": len(texts), "machine": machine_facts()}
        given.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        print(json.dumps(result[name], indent=1))
    if any(own.get("errors") or own.get("neither_4xx_nor_closed") for own in result.values()):
        sys.exit("something went wrong: see above")


if __name__ == "__main__":
    main()
