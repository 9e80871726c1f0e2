"""Which gaps of a text are looked at, and what is said of them there.

A gap is the white space after a token, or a place between two characters. What a model of sequences decides for each is
whether a token goes on there, ends there, or ends a sentence. In most languages no token ends between two letters, so
places between characters are looked at only where training has seen tokens end between characters of these classes.
"""

from typing import NamedTuple

import numpy as np

from treebp._types import AnyArray, BoolArray, IntArray
from treebp.data.plain_text import PlainText
from treebp.kernels import gaps as kernels
from treebp.kernels.gaps import NOTHING, PARAGRAPH, SPACE, Gaps
from treebp.tagging.sequences import Sequences
from treebp.tokenising.characters import CLASSES, IS_WORD, STICKS_LEFT, Characters

GOES_ON, TOKEN_ENDS, SENTENCE_ENDS = LABELS = range(3)
ATTRIBUTES = (
    *("left1", "left2", "left3", "right1", "right2", "right3"),
    *("left_class", "right_class", "left_classes", "right_classes"),
    *("left_word", "right_word", "left_chunk", "right_chunk", "chunk_before", "chunk_behind"),
    *("left_shape", "right_shape", "white", "left_length", "right_length", "since_stop", "inside"),
)
TEMPLATES = (
    # characters
    "p.left1 p.white",
    "p.right1 p.white",
    "p.left1 p.right1 p.white",
    "p.left2 p.left1 p.white",
    "p.right1 p.right2 p.white",
    "p.left2 p.left1 p.right1 p.white",
    "p.left1 p.right1 p.right2 p.white",
    "p.left2 p.left1 p.right1 p.right2",
    "p.left3 p.left2 p.left1 p.white",
    "p.right1 p.right2 p.right3 p.white",
    "p.left3 p.left2 p.left1 p.right1",
    "p.left1 p.right1 p.right2 p.right3",
    # their classes
    "p.left_class p.right_class p.white",
    "p.left_classes p.right_classes p.white",
    "p.left_classes p.right1 p.white",
    "p.left1 p.right_classes p.white",
    # words, and what stands between white space
    "p.left_word p.white",
    "p.right_word p.white",
    "p.left_word p.right1 p.right_class",
    "p.left1 p.right_word",
    "p.left_chunk p.white",
    "p.right_chunk p.white",
    "p.left_chunk p.right_chunk",
    "p.left_chunk p.right_shape p.white",
    "p.left1 p.right_chunk p.right_shape",
    "p.left_shape p.right_chunk p.right_shape",
    "p.chunk_before p.left_chunk",
    "p.right_chunk p.chunk_behind",
    "p.chunk_before p.left1 p.white",
    "p.left1 p.chunk_behind p.right_class",
    "p.left_shape p.right_shape p.white",
    "p.left_shape p.white",
    "p.left1 p.right_shape p.white",
    "p.left_shape p.right1",
    # how long everything is
    "p.left1 p.left_length p.right_class p.white",
    "p.left1 p.left_length p.right_shape",
    "p.left1 p.since_stop p.right_class p.white",
    "p.left1 p.since_stop p.right_word",
    "p.left1 p.inside p.right_class p.white",
    "p.left_length p.right_length p.left_class p.right_class p.white",
)
_SELDOM = 1e-3  # of the places between two classes, a share of token ends below which none is looked for


class OpenGaps(NamedTuple):
    """Where tokens may end, and where they may go on.

    Attributes:
        between: (CLASSES, CLASSES) whether tokens may end between two characters of these classes.
        over_space: (CLASSES, CLASSES) whether a token may go on over a single space between them.

    """

    between: BoolArray
    over_space: BoolArray

    @classmethod
    def of(cls, characters: Characters, token_ends: IntArray) -> "OpenGaps":
        """As seen in a text whose tokens end before the characters ``token_ends``.

        Between classes that were never seen together, tokens may end, unless both are of words or the second one
        belongs to the first.
        """
        every = kernels.find_gaps(characters.points, characters.classes, np.ones((CLASSES, CLASSES), np.bool_))
        ends = np.zeros(len(characters.points) + 1, np.bool_)
        ends[token_ends] = True
        pairs = _pairs(characters, every)
        inside, over = every.white == NOTHING, every.white == SPACE
        ending = ends[every.last + 1]
        unseen = ~(STICKS_LEFT[:, None] | STICKS_LEFT[None, :] | (IS_WORD[:, None] & IS_WORD[None, :]))
        return cls(_often(pairs, inside, ending, unseen), _often(pairs, over, ~ending, np.zeros_like(unseen)))

    def find(self, characters: Characters) -> Gaps:
        """The gaps of a text that are looked at."""
        return kernels.find_gaps(characters.points, characters.classes, self.between)

    def sequences(self, characters: Characters, gaps: Gaps, longest: int | None = None) -> Sequences:
        """The gaps as sequences to be labelled, one for each paragraph, none with more than ``longest`` gaps."""
        values = kernels.describe_gaps(*characters, IS_WORD, self.between, gaps)
        left, right = _pairs(characters, gaps)
        may_go_on = (gaps.white == NOTHING) | ((gaps.white == SPACE) & self.over_space[left, right])
        allowed = np.stack([may_go_on, gaps.white != PARAGRAPH, np.ones_like(may_go_on)], axis=1)
        start = np.concatenate(([0], np.cumsum(allowed.sum(axis=1))))
        ends = np.flatnonzero(gaps.white == PARAGRAPH) + 1
        lengths = np.diff(ends, prepend=0)
        if longest is not None:
            lengths = np.concatenate([_cut(int(length), longest) for length in lengths])
        return Sequences(lengths, values, start, np.nonzero(allowed)[1].astype(np.int32))


def gold_labels(gaps: Gaps, text: PlainText) -> IntArray:
    """What is right for each gap of a treebank's text. Where only white space says that a token ends, it does."""
    labels = np.zeros(len(text.text) + 1, np.int64)
    labels[token_ends(text)] = TOKEN_ENDS
    labels[[own[-1][1] for own in text.spans]] = SENTENCE_ENDS
    return labels[gaps.last + 1]


def token_ends(text: PlainText) -> IntArray:
    """The characters before which tokens end."""
    return np.array([end for own in text.spans for _, end in own], np.int64)


def _pairs(characters: Characters, gaps: Gaps) -> tuple[AnyArray, AnyArray]:
    """The classes on both sides of each gap."""
    behind = np.minimum(gaps.behind, len(characters.classes) - 1)
    return characters.classes[gaps.last], characters.classes[behind]


def _often(pairs: tuple[AnyArray, AnyArray], chosen: BoolArray, yes: BoolArray, unseen: BoolArray) -> BoolArray:
    """Whether ``yes`` is so for enough of the chosen gaps of each pair of classes."""
    of_pair = pairs[0].astype(np.int64) * CLASSES + pairs[1]
    counts = np.bincount(of_pair[chosen], minlength=CLASSES * CLASSES)
    found = np.bincount(of_pair[chosen & yes], minlength=CLASSES * CLASSES)
    often = (found > 0) & (found >= _SELDOM * counts)
    return np.where(counts.reshape(unseen.shape) > 0, often.reshape(unseen.shape), unseen)


def _cut(length: int, longest: int) -> list[int]:
    """Parts of a length, as equal as can be, none of them longer than ``longest``."""
    parts = -(-length // longest)
    return [length // parts + (part < length % parts) for part in range(parts)]
