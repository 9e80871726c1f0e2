"""Hostile cases: mutated files, settings and arguments, and full disks."""

import bz2
import gzip
import lzma
import os
import random
import stat

from hostile_bench import BOUNDED, TRAIN, Bench, Verdict

from treebp.parsing.config import Config

TOKENS = [
    *[b"", *b"_ 0 1 2 -1 1-2 1.1 999999999999 1e5 nan inf = | [ ] ( ) #".split()],
    *[b"\t", b"\n", b"\n\n", b"\r\n", b"\r", b"\0", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\x1b[2J", b" "],
    *["ä".encode(), "٣".encode(), "\u2028".encode(), "\U0001f333".encode()],
    *[*b"true Head=1 NoHead=1,2".split(), b"A" * 3000],
    *[b"epochs = 1", b"rate = 0.1", b"tree = 'auto'", *b"' \" { } \\".split(), b"objective = 'ar'", b"(NN a)", b"0.1"],
]
WORDS = [
    *["en.model", "test.conllu", "train.conllu", "trees.mrg", "precious.txt", "folder", "link", "dangling", "loop"],
    *["input-link", "hard.conllu", "-", "none", "none/x", "", ".", "/dev/null", "/dev/full", "new", "--", "-o", "-o"],
    *["--output", "--force", "--json", "--details", "--marginals", "--kbest", "2", "--threads", "1", "0", "-1", "x"],
    *["--encoding", "latin-1", "utf-16", "--max-length", "--constraints", "--against", "--sentence", "--punctuation"],
    *["ud", "--debug", "--help", "-h", "--version", "--nothing", "\x1b[2J", "ä", "\udcff", "a" * 300],
]


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


def treebank(bench: Bench, rng: random.Random, verdict: Verdict) -> None:
    """Mutated CoNLL files, for every command that reads some."""
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
    before = bench.files()
    outcome = bench.run(verdict, command)
    left = {"new", "new.model", "new.model.log.jsonl", "new.model.config.toml"} if outcome.status == 0 else set()
    bench.clean(verdict, before, left)


def text(bench: Bench, rng: random.Random, verdict: Verdict) -> None:
    """Mutated brackets and plain garbage, from files and from standard input."""
    kinds = (b"( (S (NP-SBJ (NNS Trees)) (VP (VBP grow)) (. .)))\n" * 5, rng.randbytes(300), b"Trees grow.\n" * 9)
    data = mutated(rng, rng.choice(kinds))
    bench.put("user.mrg", data)
    before = bench.files()
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
    before = bench.files()
    commands = (
        ["parse", "user.model", "test.conllu", "--threads", "1"],
        ["inspect", "user.model", "test.conllu", "-o", "-"],
    )
    bench.run(verdict, rng.choice(commands))
    bench.clean(verdict, before, set())


def checkpoint(bench: Bench, rng: random.Random, verdict: Verdict) -> None:
    """Mutated checkpoints: either refused and kept, or continued to the same model."""
    expected = bench.undisturbed(verdict, TRAIN, ("new.model",))
    bench.put("new.model.checkpoint", mutated(rng, (bench.place / "kept.checkpoint").read_bytes()))
    before = bench.files()
    outcome = bench.run(verdict, [*TRAIN, "--resume"])
    if outcome.status == 0:
        bench.compare(verdict, expected)
    new = {f"new.model{ending}" for ending in ("", ".log.jsonl", ".config.toml")}
    bench.clean(verdict, before, new | ({"new.model.checkpoint"} if outcome.status == 0 else set()))


def settings(bench: Bench, rng: random.Random, verdict: Verdict) -> None:
    """Mutated settings; what makes training long is set again on the command line."""
    toml = Config().to_toml().encode() if rng.random() < 0.5 else (bench.place / "run.toml").read_bytes()
    bench.put("user.toml", mutated(rng, toml))
    before = bench.files()
    bounded = [*BOUNDED, "--set=label_epochs=1", "--set=iterations=2"]
    command = ["train", "train.conllu", "--dev", "dev.conllu", "--config", "user.toml", "-o", "new.model", *bounded]
    outcome = bench.run(verdict, [*command, "--threads", "1"])
    new = {f"new.model{ending}" for ending in ("", ".log.jsonl", ".config.toml", ".checkpoint")}
    bench.clean(verdict, before, new if b"epoch" in outcome.out else set())


def arguments(bench: Bench, rng: random.Random, verdict: Verdict) -> None:
    """Any words in any order after a command that ends soon."""
    command = rng.choice(("parse", "parse", "evaluate", "debug-data", "inspect", "convert", "init-config"))
    chosen = [command] if rng.random() < 0.95 else []
    if command in ("parse", "inspect") and rng.random() < 0.7:
        chosen += ["en.model", "test.conllu"]
    chosen += rng.choices(WORDS, k=rng.randrange(6))
    before = bench.files()
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
    before = bench.files()
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
    expected = bench.undisturbed(verdict, TRAIN, ("new.model", "new.model.config.toml"))
    bench.run(verdict, TRAIN, file_size=size)
    bench.run(verdict, [*TRAIN, "--resume"])
    bench.compare(verdict, expected)
    verdict.resumed += 1
    bench.clean(verdict, before, {f"new.model{ending}" for ending in ("", ".log.jsonl", ".config.toml")})
