"""The table of hostile cases: a command, what it meets, and what it must say.

A case may bring files of its own, which are there before the command begins. Every file that was there must be
unchanged afterwards, but for those that a case says it may change, and nothing may be new but what it says it leaves.
"""

import bz2
import gzip
import json
import lzma
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from treebp.features.model_file import read_tensors, write_tensors

ROW = "1\tTrees\ttree\tNOUN\tNNS\t_\t0\troot\t_\t_\n"
TRAIN = ["train", "train.conllu", "--dev", "dev.conllu", "--config", "run.toml", "--threads", "1", "-o"]
PARSE = ["parse", "en.model", "--threads", "1"]
Content = bytes | str | Callable[[Path], bytes]


@dataclass(frozen=True)
class Case:
    """A command, its exit status, and a pattern for what it says.

    Attributes:
        arguments: of treebp.
        status: the exit status.
        says: a regular expression for standard error, or for standard output if that is empty.
        files: names and contents of files that are there besides.
        changes: files that may change.
        leaves: files that may be new.
        options: for `Zygote.run`.

    """

    arguments: Sequence[str]
    status: int
    says: str = ""
    files: Mapping[str, Content] = field(default_factory=dict)
    changes: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        streams = "".join(f", {key}={str(value)[:12]}" for key, value in self.options.items())
        arguments = [argument if len(argument) < 60 else argument[:57] + "..." for argument in self.arguments]
        made = "".join(f", {name}={str(content)[:40]!a}" for name, content in self.files.items() if name != "x.bin")
        return ascii(" ".join(arguments) + made + streams).strip("'\"")


def all_cases() -> list[Case]:
    """The whole table."""
    return [*outputs(), *inputs(), *treebanks(), *brackets(), *models(), *settings(), *options(), *streams(), *runs()]


def outputs() -> Iterator[Case]:
    """No file of the user's is lost, whatever is named as output."""
    writers = {
        "convert": (["convert", "trees.mrg"], "trees.mrg"),
        "parse": ([*PARSE, "test.conllu"], "test.conllu"),
        "inspect": (["inspect", "en.model", "test.conllu"], "en.model"),
        "init-config": (["init-config"], ""),
        "train": (TRAIN[:-1], "run.toml"),
        "bench": (["bench", "trees", "--quick", "--model", "en.model", "--data", "test.conllu"], "test.conllu"),
    }
    for name, (command, source) in writers.items():
        yield Case([*command, "-o", "precious.txt"], 2, r"precious\.txt exists: choose another name, or add --force")
        yield Case([*command, "-o", "link"], 2, r"link exists: choose another name, or add --force")
        yield Case([*command, "-o", "loop"], 2, r"loop is a link that leads to itself")
        yield Case([*command, "-o", "none/new"], 1, r"^treebp: none: no such folder$")
        if name != "parse":
            yield Case([*command, "-o", "folder", "--force"], 2, r"folder is a folder: name a file in it")
        for force in ([], ["--force"]) if source else ():
            says = rf"{re.escape(source)} is an input, which is never replaced"
            yield Case([*command, "-o", source, *force], 2, says)
        if source == "test.conllu":
            for other in ("hard.conllu", "input-link"):
                yield Case([*command, "-o", other, "--force"], 2, rf"{re.escape(other)} is an input")
        if name in ("train", "bench"):
            yield Case([*command, "-o", "-"], 2, r"standard output is not possible here: name a file")
            yield Case([*command, "-o", "/dev/null", "--force"], 2, r"/dev/null is a device or a pipe, not a file")
            yield Case([*command, "-o", "pipe", "--force"], 2, r"pipe is a device or a pipe, not a file")
        else:
            yield Case([*command, "-o", "link", "--force"], 0, changes=("precious.txt",))
            yield Case([*command, "-o", "dangling"], 0, leaves=("nowhere.txt",))
            yield Case([*command, "-o", "/dev/null"], 0)
    yield Case([*TRAIN, "link", "--force"], 0, changes=("precious.txt",), leaves=("link.log.jsonl", "link.config.toml"))
    for side in ("log.jsonl", "config.toml"):
        says = rf"new\.model\.{side} exists: choose another name, or add --force"
        yield Case([*TRAIN, "new.model"], 2, says, files={f"new.model.{side}": "precious"})
    own = ["train", "train.conllu", "--config", "new.model.config.toml", "-o", "new.model", "--force"]
    yield Case(own, 2, r"new\.model\.config\.toml is an input", files={"new.model.config.toml": "epochs = 1\n"})
    yield Case(["demo", "-o", "."], 2, r"train\.conllu exists: choose another name, or add --force")
    yield Case(["demo", "-o", "folder"], 2, r"folder/train\.conllu exists")
    for name in ("dev.conllu", "test.conllu", "index.html"):
        yield Case(["demo", "-o", "here"], 2, rf"here/{re.escape(name)} exists", files={f"here/{name}": "mine"})
    yield Case(["demo", "-o", "precious.txt"], 1, r"^treebp: precious\.txt: File exists$")
    yield Case(["demo", "-o", "here", "--force"], 2, r"index\.html is a folder", files={"here/index.html/x": ""})
    for ending in ("md", "csv", "svg"):
        says = rf"folder/table1\.{ending} exists: choose another name, or add --force"
        yield Case(
            ["experiment", "table1", "--quick", "-o", "folder"], 2, says, files={f"folder/table1.{ending}": "mine"}
        )
    yield Case(["experiment", "table1", "--quick", "-o", "precious.txt"], 1, r"^treebp: precious\.txt: File exists$")
    yield Case(
        ["experiment", "table1", "--quick", "-o", "folder"],
        1,
        r"folder/table1\.jsonl:1: not a result of this program",
        files={"folder/table1.jsonl": "precious\n"},
    )
    for picture in ("stages", "growth"):
        command = ["bench", picture, "--quick", "-o", "run.json"]
        yield Case(command, 2, rf"run-{picture}\.svg exists", files={f"run-{picture}.svg": "mine"})
    several = [*PARSE, "test.conllu", "dev.conllu", "-o"]
    yield Case([*several, "folder"], 0, leaves=("folder/test.conllu", "folder/dev.conllu"))
    yield Case([*several, "new/"], 1, r"^treebp: new: no such folder$")
    yield Case([*PARSE, "train.conllu", "-o", "folder"], 2, r"folder/train\.conllu exists")
    yield Case(
        [*PARSE, "test.conllu", "folder/../test.conllu", "-o", "folder"], 2, r"several inputs are named test\.conllu"
    )
    yield Case([*PARSE, "test.conllu", "-o", "."], 2, r"test\.conllu is an input")
    yield Case([*PARSE, "-", "-o", "folder"], 2, r"standard input has no name for a file in a folder")


def inputs() -> Iterator[Case]:
    """What cannot be read is named, before any output is touched."""
    readers = {
        "convert": ["convert", "?", "-o", "precious.txt", "--force"],
        "parse": [*PARSE, "?", "-o", "precious.txt", "--force"],
        "parse, its model": ["parse", "?", "test.conllu", "-o", "precious.txt", "--force"],
        "evaluate, gold": ["evaluate", "?", "test.conllu"],
        "evaluate, system": ["evaluate", "test.conllu", "?"],
        "evaluate, against": ["evaluate", "test.conllu", "test.conllu", "--against", "?"],
        "debug-data": ["debug-data", "test.conllu", "?"],
        "inspect": ["inspect", "en.model", "?", "-o", "precious.txt", "--force"],
        "train": ["train", "?", "-o", "precious.txt", "--force"],
        "train, dev": ["train", "train.conllu", "--dev", "?", "-o", "precious.txt", "--force"],
        "train, settings": ["train", "train.conllu", "--config", "?", "-o", "precious.txt", "--force"],
        "bench": ["bench", "trees", "--model", "en.model", "--data", "?", "-o", "precious.txt", "--force"],
        "bench, against": ["bench", "trees", "--quick", "--against", "?", "-o", "precious.txt", "--force"],
    }
    for command in readers.values():
        for path, says in {
            "none": "none: No such file or directory",
            "folder": "folder: is a folder: name a file in it",
            "loop": "loop: Too many levels of symbolic links",
        }.items():
            yield Case([path if word == "?" else word for word in command], 1, f"^treebp: {says}$")
    yield Case(
        ["train", "typo.conllu", "-o", "k.model", "--force"],
        1,
        r"^treebp: typo\.conllu: No such file or directory$",
        files={"k.model.checkpoint": "precious", "k.model": "precious"},
    )
    yield Case(["experiment", "table1", "-o", "folder", "--data", "none"], 1, r"^treebp: none: no such folder$")
    yield Case(["experiment", "table1", "-o", "folder", "--data", "folder"], 1, r"ptb10\.train\.conllu: no such file")
    yield Case(["evaluate", "-", "-"], 2, r"standard input can be read only once")
    yield Case([*TRAIN, "new.model", "--dev", "-"], 1, r"^treebp: <stdin>:1: the file holds no sentence$")


def treebanks() -> Iterator[Case]:
    """Broken CoNLL files, by file, line and column."""
    good = ROW + "\n"
    nine, empty = ROW.rpartition("\t")[0] + "\n", ROW.replace("\ttree\t", "\t\t")
    broken: dict[str, tuple[bytes | str, str]] = {
        "nine columns": (good + nine, r"3:10: 9 columns instead of 10"),
        "eleven columns": (good + ROW.replace("\n", "\t_\n"), r"3:11: 11 columns instead of 10"),
        "spaces for tabs": (ROW.replace("\t", " "), r"1:2: 1 columns instead of 10"),
        "an empty column": (good + empty, r"3:3: the column LEMMA is empty"),
        "an empty last column": (ROW.replace("_\n", "\n"), r"1:10: the column MISC is empty"),
        "a carriage return": (ROW.replace("Trees", "Tr\rees"), r"1:2: a carriage return within the line"),
        "a head beyond": (ROW.replace("\t0\t", "\t2\t"), r"1:7: the head '2' is not in the sentence"),
        "a negative head": (ROW.replace("\t0\t", "\t-1\t"), r"1:7: the head '-1' is not in the sentence"),
        "a head in words": (ROW.replace("\t0\t", "\troot\t"), r"1:7: the head 'root' is not in the sentence"),
        "a head with a sign": (ROW.replace("\t0\t", "\t+0\t"), r"1:7: the head '\+0'"),
        "a huge head": (ROW.replace("\t0\t", "\t" + "9" * 5000 + "\t"), r"1:7: the head '9999"),
        "an Arabic digit": (ROW.replace("\t0\t", "\t٠\t"), r"1:7: the head '٠'"),
        "ids from 0": (ROW.replace("1\t", "0\t", 1), r"1:1: the ID '0' is out of sequence"),
        "a repeated id": (ROW + ROW, r"2:1: the ID '1' is out of sequence, 2 should follow"),
        "an id in words": (ROW.replace("1\t", "one\t", 1), r"1:1: the ID 'one' is not a number"),
        "a range too far": (ROW.replace("1\t", "1-9\t", 1) + ROW, r"1:1: the ID '1-9'"),
        "an open range": ("1-2\t_\t_\t_\t_\t_\t_\t_\t_\t_\n" + ROW, r"1:1: the (ID '1-2'|multiword token reaches)"),
        "empty nodes only": ("0.1\t_\t_\t_\t_\t_\t_\t_\t_\t_\n", r"1:1: the sentence has no word"),
        "a lone comment": (good + "# text\n", r"3: a comment without a sentence"),
        "nothing": ("", r"1: the file holds no sentence"),
        "blank lines": ("\n \n\t\n", r"1: the file holds no sentence"),
        "not UTF-8": (
            good.encode() + ROW.replace("Trees", "B\xe4ume").encode("latin-1"),
            r"3:2: byte 0xe4 at offset \d+",
        ),
        "UTF-16": (good.encode("utf-16"), r"1: this is no UTF-8 text but UTF-16 or binary"),
        "UTF-16 without a mark": (good.encode("utf-16-le"), r"1: this is no UTF-8 text but UTF-16 or binary"),
        "UTF-32": (good.encode("utf-32"), r"1: this is no UTF-8 text but UTF-16 or binary"),
        "zeros": (bytes(1000), r"1: this is no UTF-8 text but UTF-16 or binary"),
        "brackets": ("( (S (NN a)))\n", r"1:2: 1 columns instead of 10"),
    }
    for content, says in broken.values():
        files = {"bad.conllu": content}
        yield Case([*PARSE, "bad.conllu", "-o", "new"], 1, rf"^treebp: bad\.conllu:{says}", files=files)
    for name in ("nine columns", "not UTF-8", "nothing"):
        content, says = broken[name]
        files = {"bad.conllu": content}
        for command in (
            ["debug-data"],
            ["evaluate", "test.conllu"],
            ["inspect", "en.model", "-o", "new", "--sentence", "2"],
        ):
            yield Case([*command, "bad.conllu"], 1, rf"^treebp: bad\.conllu:{says}", files=files)
        yield Case([*TRAIN, "new.model", "--dev", "bad.conllu"], 1, rf"^treebp: bad\.conllu:{says}", files=files)
    yield Case([*PARSE, "/dev/zero"], 1, r"^treebp: /dev/zero:1: this is no UTF-8 text")  # its first line never ends
    cycle = ROW.replace("\t0\t", "\t2\t") + ROW.replace("1\t", "2\t", 1).replace("\t0\t", "\t1\t")
    says = r"^treebp: bad\.conllu:1:7: the heads form a cycle, 1 -> 2 -> 1"
    yield Case([*TRAIN, "new.model", "--dev", "bad.conllu"], 1, says, files={"bad.conllu": cycle})
    yield Case(["evaluate", "test.conllu", "bad.conllu"], 1, says, files={"bad.conllu": cycle})
    headless = {"bad.conllu": good + ROW.replace("\t0\t", "\t_\t")}
    for command in ([*TRAIN, "new.model", "--dev", "bad.conllu"], ["evaluate", "bad.conllu", "test.conllu"]):
        yield Case(command, 1, r"^treebp: bad\.conllu:3:7: the head is missing", files=headless)
    silent = {"bad.conllu": good, "system.conllu": ROW.replace("\t0\t", "\t_\t")}
    yield Case(
        ["evaluate", "bad.conllu", "system.conllu"], 0, r"system\.conllu: 1 of 1 words have no head", files=silent
    )
    yield Case(["evaluate", "test.conllu", "dev.conllu"], 1, r"^treebp: test\.conllu:\d+:2: word 1 of sentence 1 is")

    for suffix, pack in {".gz": partial(gzip.compress, mtime=0), ".xz": lzma.compress, ".bz2": bz2.compress}.items():
        packed, name = pack(good.encode() * 500), f"bad.conllu{suffix}"
        damaged = packed[: len(packed) // 2] + b"\xff" * 9 + packed[len(packed) // 2 + 9 :]
        for content in (packed[:-9], damaged, good.encode()):
            says = rf"^treebp: bad\.conllu\{suffix}:\d+: the compressed file is damaged or cut short here"
            if suffix == ".gz" and content is damaged:  # noticed by what comes out
                says = r"^treebp: bad\.conllu\.gz:\d+"
            yield Case([*PARSE, name, "-o", "new"], 1, says, files={name: content})
        yield Case([*PARSE, "packed"], 0, files={"packed": packed})  # its name does not say so
        yield Case([*PARSE], 0, options={"stdin": packed})

    tagless = {"bad.conllu": re.sub(r"\tNOUN\tNNS\t", "\t_\t_\t", good * 20)}
    says = r"\Atreebp: warning: bad\.conllu has no values in UPOS and XPOS, .* Tag the file .*\n40 sentences"  # once
    yield Case([*PARSE, "bad.conllu", "bad.conllu"], 0, says, files=tagless)
    yield Case([*PARSE, "bad.conllu"], 0, r"bad\.conllu has no values in UPOS and XPOS, which the model", files=tagless)
    for row, column in ((ROW.replace("NOUN", "_"), "UPOS"), (ROW.replace("NNS", "_"), "XPOS")):
        files = {"bad.conllu": f"{row}\n" * 20}
        yield Case([*PARSE, "bad.conllu"], 0, rf"bad\.conllu has no values in {column}, which the model", files=files)
    foreign = {"bad.conllu": re.sub(r"\tNNS\t", "\tNomen\t", good * 20)}
    yield Case(
        [*PARSE, "bad.conllu"], 0, r"has tags in XPOS that the model has never seen, such as 'Nomen'", files=foreign
    )
    long = {"long.conllu": ROW + "".join(f"{k}\ta\ta\tDET\tDT\t_\t1\tdet\t_\t_\n" for k in range(2, 40))}
    says = r"sentences longer than --max-length are left as they are: 1, the first at long\.conllu:1"
    yield Case([*PARSE, "long.conllu", "--max-length", "20"], 0, says, files=long)
    for misc, says in {
        "Head=2": r"1:10: Head=2: write the number of another word",
        "Head=1": r"1:10: Head=1: write the number of another word",
        "Head=": r"1:10: Head=: write the number",
        "NoHead=x": r"1:10: NoHead=x: write the number",
        "NoHead=0": r"1: known and forbidden arcs leave no tree",
    }.items():
        files = {"bad.conllu": ROW.replace("_\n", f"{misc}\n")}
        yield Case([*PARSE, "bad.conllu", "--constraints"], 1, rf"^treebp: bad\.conllu:{says}", files=files)
    old = {"old.conll": ROW.replace("NOUN", "NN")}
    for option in (["--marginals"], ["--kbest", "2"], ["--constraints"]):
        yield Case([*PARSE, "old.conll", *option], 1, r"^treebp: old\.conll:1: --marginals, --kbest and", files=old)
    escaped = {"esc.conllu": ROW.replace("root", "root\x1b[2J\x9b1m") + "\n"}
    yield Case(["debug-data", "esc.conllu"], 0, r"\\u001b\[2J\\u009b1m", files=escaped)
    yield Case(["evaluate", "esc.conllu", "esc.conllu", "--details"], 0, r"\\u001b\[2J", files=escaped)
    bad_head = {"esc.conllu": ROW.replace("\t0\t", "\t\x1b[2J\t")}
    yield Case([*PARSE, "esc.conllu"], 1, r"^treebp: esc\.conllu:1:7: the head '\\x1b\[2J'", files=bad_head)
    yield Case([*PARSE, "no\x1b[2J"], 1, r"^treebp: no\\u001b\[2J: No such file")


def brackets() -> Iterator[Case]:
    """Broken bracket files."""
    for content, says in {
        "( (S (NN a))": r"1:1: this bracket is never closed",
        "( (S (NN a))))\n": r"1:\d+: ",
        "(": r"1:1: ",
        "words": r"1:1: ",
        "": r" the file holds no sentence",
        "( (S ))\n": r"1",
        b"\xff\xfe(\0": r"1: this is no UTF-8 text but UTF-16",
        b"( (S (NN \xe4)))\n": r"1:\d+: ",
    }.items():
        yield Case(["convert", "bad.mrg", "-o", "new"], 1, rf"^treebp: bad\.mrg:{says}", files={"bad.mrg": content})
    deep = "( " + "(S " * 20000 + "(NN a)" + ")" * 20000 + ")\n"
    yield Case(["convert", "deep.mrg", "-o", "-"], 0, files={"deep.mrg": deep})


def models() -> Iterator[Case]:
    """Files that are no models, damaged ones, and forged ones whose checksums are right."""

    def damaged(place: float) -> Callable[[Path], bytes]:
        def content(folder: Path) -> bytes:
            data = bytearray((folder / "en.model").read_bytes())
            data[int(place * (len(data) - 1))] ^= 0x40
            return bytes(data)

        return content

    def cut(share: float) -> Callable[[Path], bytes]:
        def content(folder: Path) -> bytes:
            data = (folder / "en.model").read_bytes()
            return data[: int(share * len(data))]

        return content

    def forged(kind: str = "treebp model", **changes: Any) -> Callable[[Path], bytes]:
        def content(folder: Path) -> bytes:
            header, tensors = read_tensors(folder / "en.model", "treebp model")
            for name, value in changes.items():
                part = header if name in header else tensors
                part[name] = value(part[name]) if callable(value) else value
            write_tensors(folder / "forged", kind, header, tensors)
            data = (folder / "forged").read_bytes()
            (folder / "forged").unlink()
            return data

        return content

    contents: dict[str, tuple[Content, str]] = {
        "nothing": (b"", "is damaged or not a treebp model"),
        "a length that lies": (b"\xff" * 8 + b"{}", "is damaged or not a treebp model"),
        "text": (ROW, "is damaged or not a treebp model"),
        "other tensors": (b"\x02\0\0\0\0\0\0\0{}", "is not a treebp model"),
        "deep nesting": (b"\x40\x42\x0f\0\0\0\0\0" + b"[" * 1000000, "is damaged or not a treebp model"),
        "first byte": (damaged(0.0), "is damaged"),
        "header": (damaged(0.001), "is damaged"),
        "middle": (damaged(0.5), "is damaged"),
        "last byte": (damaged(1.0), "is damaged"),
        "half": (cut(0.5), "is damaged"),
        "nearly all": (cut(0.999), "is damaged"),
        "a checkpoint": (forged("treebp checkpoint"), "is a treebp checkpoint, not a treebp model"),
    }
    for content, says in contents.values():
        yield Case(["parse", "x.bin", "test.conllu"], 1, rf"^treebp: x\.bin {says}", files={"x.bin": content})
    forgeries: list[dict[str, Any]] = [
        {"labels": [1, 2]},
        {"labels": []},
        {"labels": lambda labels: list(range(len(labels)))},
        {"labels": "root"},
        {"labels": None},
        {"values": {}},
        {"values": []},
        {"values": {"word": [1], "fine": [], "coarse": [], "prefix": [], "lemma": [], "morphology": []}},
        {"tag_map": [1]},
        {"tag_map": {"NN": 1}},
        {"projective": None},
        {"config": 1},
        {"config": "epochs = -1"},
        {"config": "weight_bits = 30"},
        {"reports": {}},
        {"reports": [1]},
        {"pruning": []},
        {"columns": {"XPOS": "all"}},
        {"columns": 1},
        {"weights": lambda array: array.astype("f8")},
        {"weights": lambda array: array[:-1]},
        {"weights_used": lambda array: array[:-1]},
        {"length_bounds": lambda array: array.astype("f4")},
    ]
    for changes in forgeries:
        says = r"^treebp: x\.bin is not a treebp model that can be used"
        yield Case(["parse", "x.bin", "test.conllu"], 1, says, files={"x.bin": forged(**changes)})


def settings() -> Iterator[Case]:
    """Wrong settings, in files and on the command line."""
    for content, says in {
        "epochs": r"Expected '=' after a key",
        "epochs = ": r"Invalid value",
        "epochs = 'ten'": r"epochs = 'ten' is not of type int",
        "epochs = 1.5": r"epochs = 1\.5 is not of type int",
        "epochs = true": r"epochs = True is not of type int",
        "epochs = 0": r"epochs = 0 is not between 1 and 10000",
        "epoch = 1": r"unknown key 'epoch'",
        "factors = [1]": r"factors = 1 is none of",
        "factors = {}": r"factors = \{\} is not a list",
        "rate = nan": r"rate = nan is not between",
        "rate = inf": r"rate = inf is not between",
        "[epochs]\na = 1": r"epochs = \{'a': 1\} is not of type int",
        "seed = 99999999999999999999": r"seed = 99999999999999999999 is not between",
        b"\xff\xfe": r"can't decode byte 0xff",
        b"epochs = 1\0": r"",
        "x = " + "[" * 5000: r"",
    }.items():
        command = ["train", "train.conllu", "-o", "new.model", "--config", "bad.toml"]
        yield Case(command, 1, rf"^treebp: (bad\.toml: )?.*{says}", files={"bad.toml": content})
    for setting, says in {
        "epochs": r"setting 'epochs' is not of the form key=value",
        "=": r"unknown key ''",
        "epochs=": r"epochs = '' is not of type int",
        "epochs=1e9": r"epochs = 1000000000\.0 is not of type int",
        "tree=round": r"tree = 'round' is none of 'auto', 'projective', 'nonprojective'",
        "weight_bits=64": r"weight_bits = 64 is not between",
    }.items():
        yield Case([*TRAIN, "new.model", "--set", setting], 2, says)
    yield Case([*TRAIN, "new.model", "--set", "x=" + "[" * 3000], 1, r"^treebp: the input is nested too deeply$")
    exact = ["--inference", "exact", "--factors", "grandparent", "--tree", "nonprojective"]
    yield Case([*TRAIN, "new.model", *exact], 2, r"inference = 'exact' needs tree = 'projective'")


def options() -> Iterator[Case]:
    """Wrong usage."""
    for command, says in [
        (["trian"], r"No such command 'trian'\. Did you mean 'train'\?"),
        (["--nothing"], r"No such option"),
        (["train"], r"Missing argument 'TRAIN'"),
        (["parse"], r"Missing argument 'MODEL'"),
        (["train", "train.conllu"], r"Missing option '--output'"),
        (["convert", "trees.mrg"], r"Missing option '--output'"),
        ([*PARSE, "test.conllu", "--kbest", "-1"], r"--kbest"),
        ([*PARSE, "test.conllu", "--kbest", "two"], r"--kbest"),
        ([*PARSE, "test.conllu", "--max-length", "0"], r"--max-length"),
        ([*PARSE, "test.conllu", "--threads", "0"], r"--threads"),
        (["inspect", "en.model", "test.conllu", "-o", "new", "--sentence", "0"], r"--sentence"),
        (["inspect", "en.model", "test.conllu", "-o", "new", "--sentence", "99"], r"test\.conllu has 6 sentences"),
        (["evaluate", "test.conllu", "test.conllu", "--punctuation", "none"], r"--punctuation"),
        (["experiment", "figure9", "-o", "folder"], r"NAME"),
        (["experiment", "table1", "-o", "folder", "--seeds", "one"], r"invalid literal"),
        (["experiment", "table1", "-o", "folder", "--set", "seed=3"], r"seed cannot be set"),
        (["experiment", "table1", "-o", "folder", "--treebanks", "xx"], r"treebank 'xx' needs --data"),
        (["bench", "speed"], r"speed"),
        (["bench", "trees", "--model", "en.model"], r"give a model and the sentences"),
        (["demo", "--seed", "-1"], r"--seed"),
    ]:
        yield Case(command, 2, says + r"[\s\S]*See: treebp")
    for encoding in ("nonsense", "utf-16", "hex", ""):
        yield Case([*PARSE, "test.conllu", "--encoding", encoding], 1, r"is not a known encoding that extends ASCII")
    yield Case(["download", "EWT"], 1, r"'EWT' is not the name of a treebank")
    yield Case(["download", "UD_A-B", "--base-url", "ftp://x", "--to", "folder"], 1, r"is not a web address")
    yield Case(["download", "UD_A-B", "--base-url", "http://127.0.0.1:1", "--to", "folder"], 1, r"check the connection")
    for ask in ("-h", "--help"):
        yield Case([ask], 0, r"Usage: treebp")
        yield Case(["parse", ask], 0, r"--marginals +Write each head's probability")


def streams() -> Iterator[Case]:
    """Closed streams, full disks, and little memory."""
    talkers = [
        ["evaluate", "test.conllu", "test.conllu"],
        ["evaluate", "test.conllu", "test.conllu", "--json"],
        ["debug-data", "test.conllu"],
        ["debug-data", "test.conllu", "--json"],
        ["init-config"],
        ["convert", "trees.mrg", "-o", "-"],
        [*PARSE, "test.conllu"],
        ["--help"],
        ["--version"],
    ]
    for command in talkers:
        yield Case(command, 1, r"^treebp: <stdout>: No space left on device$", options={"stdout": "/dev/full"})
        yield Case(command, 1, r"^treebp: <stdout>: Bad file descriptor$", options={"stdout": None})
    for command in (
        ["parse", "en.model"],
        ["debug-data", "-"],
        ["convert", "-", "-o", "-"],
        ["evaluate", "-", "test.conllu"],
    ):
        yield Case(command, 1, r"^treebp: <stdin>: Bad file descriptor$", options={"stdin": None})
    yield Case(["parse", "none"], 1, options={"stderr": None})
    yield Case(["parse", "none"], 1, options={"stderr": "/dev/full"})
    yield Case([*PARSE, "test.conllu", "-o", "/dev/full"], 1, r"^treebp: /dev/full: No space left on device$")
    small = {"file_size": 1000}
    for command, name in [
        ([*PARSE, "test.conllu", "-o", "new"], "new"),
        (["inspect", "en.model", "test.conllu", "-o", "new"], "new"),
        ([*PARSE, "test.conllu", "-o", "precious.txt", "--force"], "precious.txt"),
        (["init-config", "-o", "new.toml"], "new.toml"),
    ]:
        yield Case(command, 1, rf"^treebp: {re.escape(name)}: File too large$", options=small)
    leaves = ("new.model.config.toml", "new.model.log.jsonl")
    says = r"^treebp: new\.model\.checkpoint: File too large$"
    yield Case([*TRAIN, "new.model"], 1, says, leaves=leaves, options={"file_size": 20_000})
    long = ROW + "".join(f"{k}\ta\ta\tDET\tDT\t_\t1\tdet\t_\t_\n" for k in range(2, 4001))
    says = r"^treebp: long\.conllu:3: there is not enough memory for this sentence of 4,000 words"
    files = {"long.conllu": ROW + "\n" + long}
    yield Case([*PARSE, "long.conllu"], 1, says, files=files, options={"memory": 40_000_000})


def runs() -> Iterator[Case]:
    """Runs that were interrupted, are going on, or are complete."""
    interrupted = {"new.model.checkpoint": "precious"}
    yield Case([*TRAIN, "new.model"], 2, r"is of an interrupted run: continue it with --resume", files=interrupted)
    says = r"^treebp: new\.model\.checkpoint is damaged or not a treebp checkpoint"
    leaves = ("new.model.config.toml", "new.model.log.jsonl")
    yield Case([*TRAIN, "new.model", "--resume"], 1, says, files=interrupted, leaves=leaves)
    yield Case(
        [*TRAIN, "new.model", "--resume"],
        2,
        r"that run had other settings, those in new\.model\.config\.toml",
        files=interrupted | {"new.model.config.toml": "epochs = 77\n"},
    )
    yield Case([*TRAIN, "en.model", "--resume", "--seed", "9"], 2, r"en\.model is of another run: choose another name")
    yield Case([*TRAIN, "en.model", "--resume"], 0, r"en\.model is complete", leaves=("en.model.config.toml",))
    yield Case([*TRAIN, "precious.txt", "--resume"], 1, r"precious\.txt is damaged or not a treebp model")
    json_line = json.dumps({"mine": True}) + "\n"
    yield Case(
        ["experiment", "table1", "-o", "folder", "--seeds", "-1"], 2, r"seed", files={"folder/a.jsonl": json_line}
    )
