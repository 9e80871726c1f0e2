"""Vectors of words from what is known of them: their form, characters, lemma, tags and morphology."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np
import torch
from torch import Tensor, nn

from treebp._types import AnyArray, IntArray
from treebp.features.templates import ATTRIBUTES

BUCKETS = 1 << 15
_LONGEST = 40  # characters of a form that are looked at
_REMEMBERED = 200_000  # forms whose n-grams are kept at hand
_FIRST = 3  # numbers below stand for unknown values, boundaries and the root
_COLUMNS = {"words": ("word",), "lemmas": ("lemma",), "tags": ("fine", "coarse"), "morphology": ("morphology",)}


class Words(NamedTuple):
    """Sentences end to end, each with the root before its words.

    Attributes:
        sizes: (sentences,), n + 1 of each.
        numbers: (rows, attributes), as ``treebp.features.encoding.Encoding`` has them; 0 is unknown.
        forms: of each row; the root's is "".

    """

    sizes: IntArray
    numbers: IntArray
    forms: Sequence[str]


class Inputs(nn.Module):
    """A vector for each row of `Words`: those of its attributes side by side.

    In training each attribute of a word is hidden now and then, so that a value never seen before is nothing new: both
    are vectors of zeros. What is left is scaled up.
    """

    def __init__(self, kinds: Sequence[str], values: Mapping[str, Sequence[str]], size: int, hidden: float) -> None:
        super().__init__()
        self._hidden = hidden
        self._ngrams: dict[str, AnyArray] = {}
        self._columns = {
            kind: [ATTRIBUTES.index(name) for name in _COLUMNS[kind] if values[name]]
            for kind in kinds
            if kind != "characters"
        }
        self._columns = {kind: columns for kind, columns in self._columns.items() if columns}
        self.tables = nn.ModuleDict()
        for kind, columns in self._columns.items():
            if kind != "morphology":
                for column in columns:
                    self.tables[ATTRIBUTES[column]] = _table(_FIRST + len(values[ATTRIBUTES[column]]), size)
        if "morphology" in self._columns:
            features, members = _features(values["morphology"])
            self.tables["morphology"] = _table(_FIRST + features, size)
            self.register_buffer("members", members, persistent=False)
        if "characters" in kinds:
            self.tables["characters"] = nn.EmbeddingBag(BUCKETS, size, mode="mean")
            nn.init.normal_(self.tables["characters"].weight, std=size**-0.5)
        self.size = size * (len(self._columns) + ("characters" in kinds))
        if not self.size:
            raise ValueError("inputs: a network needs at least one that the treebank has")

    def forward(self, words: Words) -> Tensor:
        """(rows, `size`)."""
        device = next(self.parameters()).device
        numbers = torch.from_numpy(np.ascontiguousarray(words.numbers.T)).to(device)
        vectors = []
        for kind, columns in self._columns.items():
            if kind == "morphology":
                members = self.members[numbers[columns[0]]]
                vectors.append(self.tables["morphology"](members).sum(dim=1))
            else:
                vectors.append(sum(self.tables[ATTRIBUTES[column]](numbers[column]) for column in columns))
        if "characters" in self.tables:
            vectors.append(self._characters(words.forms, device))
        stacked = torch.stack(vectors, dim=1)
        if self.training and self._hidden:
            seen = (torch.rand(stacked.shape[:2], device=device) >= self._hidden).to(stacked.dtype)
            scale = seen.shape[1] / seen.sum(dim=1, keepdim=True).clamp(min=1.0)
            stacked = stacked * (seen * scale)[:, :, None]
        return stacked.flatten(1)

    def _characters(self, forms: Sequence[str], device: torch.device) -> Tensor:
        numbers: dict[str, int] = {}
        where = np.array([numbers.setdefault(form, len(numbers)) for form in forms])
        found = [self._ngrams_of(form) for form in numbers]
        starts = np.cumsum([0, *map(len, found[:-1])])
        flat = torch.from_numpy(np.concatenate(found)).to(device)
        vectors = self.tables["characters"](flat, torch.from_numpy(starts).to(device))
        return vectors[torch.from_numpy(where).to(device)]

    def _ngrams_of(self, form: str) -> AnyArray:
        """The buckets of a form's n-grams of one to five characters, its edges marked, and of the whole."""
        found = self._ngrams.get(form)
        if found is None:
            if len(self._ngrams) >= _REMEMBERED:
                self._ngrams.clear()
            marked = f"<{form[:_LONGEST]}>"
            pieces = {marked[k : k + n] for n in range(1, 6) for k in range(len(marked) - n + 1)} | {marked}
            found = np.array(sorted(crc32(piece.encode()) % BUCKETS for piece in pieces), np.int64)
            self._ngrams[form] = found
        return found


def _table(count: int, size: int) -> nn.Embedding:
    """Vectors of so many values; that of the unknown one, the first, is zero and stays so."""
    table = nn.Embedding(count, size, padding_idx=0)
    nn.init.normal_(table.weight, std=size**-0.5)
    with torch.no_grad():
        table.weight[0] = 0.0
    return table


def _features(values: Sequence[str]) -> tuple[int, Tensor]:
    """How many features there are in values such as ``Case=Nom|Number=Sing``, and those of each value, 0 for none."""
    numbers: dict[str, int] = {}
    rows = [[numbers.setdefault(feature, _FIRST + len(numbers)) for feature in value.split("|")] for value in values]
    members = torch.zeros(_FIRST + len(values), max(map(len, rows)), dtype=torch.int64)
    members[1, 0], members[2, 0] = 1, 2  # the boundary and the root
    for number, row in enumerate(rows, start=_FIRST):
        members[number, : len(row)] = torch.tensor(row)
    return len(numbers), members
