"""What the benchmarks work on: a parser, sentences, and how much of everything."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, cycle, islice

from treebp.data.embedded import embedded_treebank
from treebp.data.sentence import Sentence
from treebp.parsing.config import Config
from treebp.parsing.parser import Parser
from treebp.training import fit

_SMALL = Config(epochs=2, rate=0.02, weight_bits=20, pruner_weight_bits=18, pruner_epochs=1, pruner_folds=2)


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    repeats: int = 7
    least: float = 0.1
    """Seconds that one repeat takes at least, where the work is short."""
    batch: int = 32
    """Sentences in a batch of trees."""
    lengths: tuple[int, ...] = (10, 20, 40, 80)
    """Words of the sentences in a batch of trees."""
    long: tuple[int, ...] = (20, 40, 80, 160)
    """Words of the sentences whose parsing time shows the growth."""
    iterations: int = 8
    """Belief propagation runs with 1 to so many."""
    training_sentences: int = 500
    """For the model that is trained when none is given."""
    sample: int = 200
    """Sentences whose stages are timed one by one."""
    cold: bool = True
    """Whether to measure a first run with an empty cache of kernels."""


FULL = Sizes()
QUICK = Sizes(
    repeats=2,
    least=0.0,
    batch=2,
    lengths=(3, 6),
    long=(5, 10),
    iterations=2,
    training_sentences=30,
    sample=5,
    cold=False,
)


@dataclass(frozen=True)
class Workload:
    """A parser and the sentences that it parses, all of which have heads.

    Example:
        >>> workload = Workload.small(QUICK)
        >>> len(workload.sentences), len(workload.joined(12, 3))
        (5, 3)

    """

    name: str
    parser: Parser = field(repr=False)
    sentences: list[Sentence] = field(repr=False)
    sizes: Sizes

    @classmethod
    def small(cls, sizes: Sizes) -> "Workload":
        """Train a small model on the embedded treebank, in seconds."""
        train = embedded_treebank("train")[: sizes.training_sentences]
        parser = fit(train, embedded_treebank("dev")[: sizes.sample], _SMALL, threads=1)
        return cls("embedded treebank", parser, embedded_treebank("test")[: sizes.sample], sizes)

    @property
    def sample(self) -> list[Sentence]:
        """Sentences taken evenly from all."""
        step = max(1, len(self.sentences) // self.sizes.sample)
        return self.sentences[::step][: self.sizes.sample]

    def joined(self, words: int, count: int) -> list[Sentence]:
        """So many sentences of exactly so many words each, without heads: the treebank's, strung together and cut."""
        start = [k % len(self.sentences) for k in range(count)]
        return [_joined(chain(self.sentences[k:], cycle(self.sentences)), words) for k in start]


def count_words(sentences: Sequence[Sentence]) -> int:
    """How many words sentences have together."""
    return sum(map(len, sentences))


def _joined(sentences: Iterable[Sentence], words: int) -> Sentence:
    rows = (
        row
        for one in sentences
        for row in zip(one.forms, one.lemmas, one.coarse_tags, one.fine_tags, one.feats, strict=True)
    )
    forms, lemmas, coarse_tags, fine_tags, feats = zip(*islice(rows, words), strict=True)
    return Sentence.from_columns(forms, lemmas=lemmas, coarse_tags=coarse_tags, fine_tags=fine_tags, feats=feats)
