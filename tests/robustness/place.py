"""A folder with one of everything that a user may have, and what became of it."""

import os
import stat
from pathlib import Path

from treebp.data.conll import write_conll
from treebp.data.embedded import embedded_treebank
from treebp.parsing.config import Config
from treebp.training import fit
from zygote import SMALL

BRACKETS = "( (S (NP-SBJ (NNS Trees)) (VP (VBP grow)) (. .)))\n"
Snapshot = dict[str, tuple[int, bytes]]


def furnish(folder: Path) -> None:
    """Put files there: treebanks, a model, settings, brackets, and a user's own."""
    write_conll(folder / "train.conllu", embedded_treebank("train")[:30])
    write_conll(folder / "dev.conllu", embedded_treebank("dev")[:6])
    write_conll(folder / "test.conllu", embedded_treebank("test")[:6])
    config = Config(**SMALL)
    parser = fit(embedded_treebank("train")[:30], embedded_treebank("dev")[:6], config, threads=1)
    parser.save(folder / "en.model")
    settings = "".join(f"{key} = {value}\n" for key, value in SMALL.items())
    (folder / "run.toml").write_text(settings)
    (folder / "trees.mrg").write_text(BRACKETS)
    (folder / "precious.txt").write_text("precious")
    (folder / "folder").mkdir()
    (folder / "folder" / "train.conllu").write_text("precious too")
    (folder / "link").symlink_to("precious.txt")
    (folder / "dangling").symlink_to("nowhere.txt")
    (folder / "loop").symlink_to("loop")
    (folder / "input-link").symlink_to("test.conllu")
    os.link(folder / "test.conllu", folder / "hard.conllu")
    os.mkfifo(folder / "pipe")


def snapshot(folder: Path) -> Snapshot:
    """The kind, permissions and contents of everything in a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        content = b""
        if stat.S_ISREG(mode):
            content = path.read_bytes()
        elif stat.S_ISLNK(mode):
            content = os.readlink(path).encode()
        found[str(path.relative_to(folder))] = mode, content
    return found


def restore(folder: Path, before: Snapshot) -> None:
    """Remove what is new and bring back what has changed."""
    now = snapshot(folder)
    for name in sorted(now.keys() - before.keys(), reverse=True):
        path = folder / name
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    for name, (mode, content) in before.items():
        if now.get(name) != (mode, content) and stat.S_ISREG(mode):
            (folder / name).write_bytes(content)
            (folder / name).chmod(stat.S_IMODE(mode))
