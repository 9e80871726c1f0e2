"""The tokeniser: text in, sentences of words out, with every character accounted for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.features.model_file import pack, unpack
from treebp.kernels.gaps import PARAGRAPH, Gaps
from treebp.tagging.model import SequenceModel
from treebp.tagging.sequences import LabelSet, Sequences
from treebp.tokenising.characters import CLASSES, Characters
from treebp.tokenising.gaps import ATTRIBUTES, GOES_ON, LABELS, SENTENCE_ENDS, TEMPLATES, OpenGaps
from treebp.tokenising.multiword import MultiwordTokens
from treebp.tokenising.tokens import Token, TokenisedSentence

_BLOCK = 1 << 16  # characters of a longer text that are looked at together
_AHEAD = 256  # characters that must follow a sentence in them, for its end to be sure
_LONGEST_SENTENCE = 400  # tokens: the time to parse a sentence grows with the third power of its length


class Found(NamedTuple):
    """What was found in a text: where it begins, its gaps, what each is, and how probably a sentence ends there."""

    begin: int
    gaps: Gaps
    labels: IntArray
    sentence_ends: FloatArray


@dataclass(frozen=True)
class Tokeniser:
    """Finds tokens, sentences and words. `treebp.tokenising.fitting.fit_tokeniser` trains one.

    Attributes:
        open_gaps: where tokens may end.
        model: of whether they do.
        multiword: which tokens stand for several words.

    """

    open_gaps: OpenGaps
    model: SequenceModel
    multiword: MultiwordTokens

    def tokenise(self, text: str) -> list[TokenisedSentence]:
        """The sentences of a text. White space alone has none."""
        return list(self.stream([text], block=max(len(text) + 1, _BLOCK)))

    def tokenise_together(self, texts: Sequence[str]) -> list[list[TokenisedSentence]]:
        """The sentences of several texts, each as if it were alone; faster, if they are short."""
        some = [text or " " for text in texts]
        return [
            list(self._last_sentences(text, found, 0, True))
            for text, found in zip(some, self._find_together(some), strict=True)
        ]

    def stream(self, pieces: Iterable[str], *, block: int = _BLOCK) -> Iterator[TokenisedSentence]:
        """The sentences of a text that comes in pieces, cut anywhere.

        So much of it is looked at together as fits into ``block`` characters and ends with a paragraph or, if that is
        too long, with a sentence. What is found depends on the text alone, not on how it was cut.
        """
        waiting, offset, wanted, is_paragraph = "", 0, block, True
        for piece in _cut(pieces, block):
            waiting += piece
            while len(waiting) >= wanted:
                seen = waiting[:wanted]
                found = self._find(seen)
                count = _whole_sentences(found, len(seen))
                if not count:
                    wanted *= 2
                    continue
                yield from self._sentences(seen, found, offset, count, is_paragraph)
                is_paragraph = bool(found.gaps.white[count - 1] == PARAGRAPH)
                done = int(found.gaps.behind[count - 1])
                waiting, offset, wanted = waiting[done:], offset + done, block
        if waiting:
            yield from self._last_sentences(waiting, self._find(waiting), offset, is_paragraph)

    def _last_sentences(self, text: str, found: Found, offset: int, is_paragraph: bool) -> Iterator[TokenisedSentence]:
        """The sentences of what is left of a longer text."""
        for sentence in self._sentences(text, found, offset, len(found.labels), is_paragraph):
            is_last = sentence.tokens[-1].end + len(sentence.tokens[-1].white) == offset + len(text)
            yield sentence._replace(is_last=is_last)

    def _find(self, text: str) -> Found:
        return self._find_together([text])[0]

    def _find_together(self, texts: Sequence[str]) -> list[Found]:
        characters = [Characters.of(text) for text in texts]
        gaps = [self.open_gaps.find(own) for own in characters]
        parts = [self.open_gaps.sequences(*one) for one in zip(characters, gaps, strict=True) if len(one[1].last)]
        labels, ends = np.zeros(0, np.int64), np.zeros(0)
        if parts:
            sequences = Sequences.joined(parts)
            labelled = self.model.label(sequences)
            # That a sentence ends is the last of each gap's candidates.
            labels, ends = labelled.labels, labelled.probabilities[sequences.start[1:] - 1]
        every = []
        first = 0
        for text, own, of_text in zip(texts, characters, gaps, strict=True):
            behind = first + len(of_text.last)
            begin = int(np.argmax(own.classes != 0)) if behind > first else len(text)
            every.append(Found(begin, of_text, labels[first:behind], ends[first:behind]))
            _shorten(every[-1])
            first = behind
        return every

    def _sentences(
        self, text: str, found: Found, offset: int, count: int, is_paragraph: bool
    ) -> Iterator[TokenisedSentence]:
        """The sentences up to one of the gaps, as they stand in a text that begins at ``offset`` of a longer one."""
        gaps, labels = found.gaps, found.labels[:count]
        chosen = np.flatnonzero(labels != GOES_ON)
        ends, following = (gaps.last[chosen] + 1).tolist(), gaps.behind[chosen].tolist()
        is_end, paragraphs = (labels[chosen] == SENTENCE_ENDS).tolist(), (gaps.white[chosen] == PARAGRAPH).tolist()
        start, before = found.begin, text[: found.begin]
        split = self.multiword.split
        tokens: list[Token] = []
        for end, behind, sentence_ends, paragraph_ends in zip(ends, following, is_end, paragraphs, strict=True):
            form = text[start:end]
            tokens.append(Token(offset + start, offset + end, form, split(form), text[end:behind]))
            start = behind
            if sentence_ends:
                yield TokenisedSentence(tokens, before, False, is_paragraph)
                tokens, before, is_paragraph = [], "", paragraph_ends

    def state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """What ``from_state`` makes the same tokeniser of: for the header of a file, and arrays."""
        header = {"bits": self.model.bits, "forms": self.multiword.forms, "endings": self.multiword.endings}
        used, weights = pack(self.model.weights)
        return header, {**self.open_gaps._asdict(), "weights_used": used, "weights": weights}

    @classmethod
    def from_state(cls, header: Mapping[str, Any], tensors: Mapping[str, AnyArray]) -> "Tokeniser":
        """The tokeniser that had this ``state``. Raises ValueError if that cannot be one."""
        tables = [tensors["between"], tensors["over_space"]]
        for table in tables:
            if table.shape != (CLASSES, CLASSES) or table.dtype != np.bool_:
                raise ValueError("the tokeniser's tables are not of classes of characters")
        model = new_gap_model(header["bits"])
        unpack(tensors["weights_used"], tensors["weights"], model.weights)
        return cls(OpenGaps(*tables), model, MultiwordTokens(header["forms"], header["endings"]))


def new_gap_model(bits: int) -> SequenceModel:
    """A model of gaps that knows nothing."""
    return SequenceModel(LabelSet.plain(len(LABELS)), ATTRIBUTES, TEMPLATES, bits=bits)


def _cut(pieces: Iterable[str], size: int) -> Iterator[str]:
    """The same text in pieces that are no longer than ``size``."""
    for piece in pieces:
        for start in range(0, len(piece), size):
            yield piece[start : start + size]


def _whole_sentences(found: Found, size: int) -> int:
    """How many gaps there are up to the last paragraph's end or, if there is none, the last sentence's.

    Sentences that end near where the text was cut are left to be looked at again, with what follows.
    """
    gaps = found.gaps
    ends = np.flatnonzero((gaps.white == PARAGRAPH) & (gaps.behind < size))
    if not len(ends):
        ends = np.flatnonzero((found.labels == SENTENCE_ENDS) & (gaps.behind < size - min(_AHEAD, size // 4)))
    return int(ends[-1]) + 1 if len(ends) else 0


def _shorten(found: Found) -> None:
    """Cut sentences that are too long where they most probably end."""
    tokens = np.flatnonzero(found.labels != GOES_ON)
    first = 0
    for end in (np.flatnonzero(found.labels[tokens] == SENTENCE_ENDS) + 1).tolist():
        while end - first > _LONGEST_SENTENCE:
            near = tokens[first + _LONGEST_SENTENCE // 4 : first + _LONGEST_SENTENCE]
            best = int(np.argmax(found.sentence_ends[near]))
            found.labels[near[best]] = SENTENCE_ENDS
            first += _LONGEST_SENTENCE // 4 + best + 1
        first = end
