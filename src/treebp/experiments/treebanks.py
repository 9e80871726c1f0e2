"""Where an experiment's sentences come from: a folder of files, or the embedded treebank."""

import errno
import hashlib
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from treebp.data.conll import read_conll
from treebp.data.embedded import Split, embedded_treebank
from treebp.data.sentence import Sentence

_ENDINGS = tuple(f"{format}{packed}" for format, packed in product((".conllu", ".conll"), (".xz", ".gz", ".bz2", "")))
_SPLITS: tuple[Split, ...] = ("train", "dev", "test")
# Codes of the treebanks that need no files, with the share of sentences that have a non-projective arc.
EMBEDDED = {"embedded": 0.0, "embedded-nonprojective": 0.3}


@dataclass(frozen=True)
class Treebank:
    """A treebank by its code: ``CODE.train.conllu`` and so on in a folder, or embedded if there is no folder.

    The files may also end in ``.conll``, and be compressed. Those of train and test must be there, dev may be missing.

    Example:
        >>> treebank = Treebank("embedded")
        >>> len(treebank.read("test")), len(treebank.fingerprint())
        (500, 16)

    """

    code: str
    folder: Path | None = None

    def read(self, split: Split) -> list[Sentence]:
        """The sentences of a split; none if there is no file for ``dev``.

        Raises:
            FileNotFoundError: with the name expected, if a file is missing.
            TreebankError: with file and line, if one cannot be used.

        """
        if self.folder is None:
            return embedded_treebank(split, nonprojective=EMBEDDED[self.code])
        path = self._path(split)
        return list(read_conll(path, require_heads=True)) if path else []

    def fingerprint(self) -> str:
        """A digest of all the treebank's text, to recognise the same data by; errors as for `read`."""
        digest = hashlib.blake2b(digest_size=8)
        if self.folder is None:
            # The same grammar makes all its sentences, so that a part of them tells whether it has changed.
            digest.update("".join(sentence.text for sentence in self.read("dev")).encode())
        else:
            for path in filter(None, map(self._path, _SPLITS)):
                digest.update(path.read_bytes())
        return digest.hexdigest()

    def _path(self, split: Split) -> Path | None:
        assert self.folder is not None
        paths = [self.folder / f"{self.code}.{split}{ending}" for ending in _ENDINGS]
        for path in paths:
            if path.is_file():
                return path
        if split == "dev":
            return None
        there = ", ".join(codes_in(self.folder)) or "none"
        raise FileNotFoundError(
            errno.ENOENT,
            f"no such file, nor one ending in .conll or compressed (treebanks there: {there})",
            str(paths[3]),
        )


def codes_in(folder: Path) -> list[str]:
    """The codes of the treebanks in a folder: what stands before ``.train.conllu`` and the like.

    Raises:
        NotADirectoryError: if it is no folder.

    """
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "no such folder", str(folder))
    names = (path.name.partition(".train") for path in folder.iterdir())
    return sorted({code for code, split, ending in names if split and ending in _ENDINGS})


def find_treebanks(folder: Path | None, codes: list[str]) -> list[Treebank]:
    """The treebanks of these codes.

    Raises:
        FileNotFoundError: if one has no files.
        ValueError: if there is no folder and a code is not that of an embedded treebank.

    """
    for code in codes:
        if folder is None and code not in EMBEDDED:
            raise ValueError(f"treebank {code!r} needs --data; without it there are {', '.join(EMBEDDED)}")
    return [Treebank(code, folder) for code in codes]
