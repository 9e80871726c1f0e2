"""How a parser came to the tree of one sentence."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from treebp._types import FloatArray
from treebp.data.sentence import Sentence
from treebp.parsing.parse import Parse, accuracy_terms
from treebp.parsing.parser import Parser

Verdict = Literal["right", "other label", "wrong", "unknown"]


@dataclass(frozen=True, slots=True)
class Inspection:
    """A parse, the factor graph behind it, and the beliefs after every iteration of belief propagation.

    Attributes:
        parse: the sentence's tree; ``parse.sentence`` has the gold tree where there is one.
        history: (iterations, arcs) the arcs' beliefs; no rows where inference is exact, by choice or for want of pairs,
            and fewer than were allowed where the tolerance was reached before.
        projective: whether the tree factor forbids arcs to cross.
        single_root: whether the tree factor allows only one word below the root.

    Example:
        >>> from treebp.data.embedded import embedded_treebank
        >>> from treebp.parsing import Config
        >>> from treebp.training import fit
        >>> config = Config(epochs=1, pruner_epochs=1, weight_bits=18, pruner_weight_bits=16, rate=0.05)
        >>> parser = fit(embedded_treebank("train")[:60], embedded_treebank("dev")[:10], config, threads=1)
        >>> inspection = Inspection.of(parser, embedded_treebank("test")[0])
        >>> len(inspection.history), len(inspection.changes)
        (4, 3)
        >>> heads, beliefs = zip(*inspection.candidates(1))
        >>> max(beliefs) == beliefs[0]
        True

    """

    parse: Parse
    history: FloatArray
    projective: bool
    single_root: bool

    @classmethod
    def of(cls, parser: Parser, sentence: Sentence) -> "Inspection":
        """Parse a sentence and look on. Raises ValueError for a sentence without words."""
        if not len(sentence):
            raise ValueError("a sentence without words has no tree to inspect")
        (parse,) = parser.parse([sentence], threads=1)
        propagated = parser.config.inference == "bp" and any(parse.factors.values())
        iterations = parser.config.iterations if propagated else 0
        rows: list[FloatArray] = []
        for done in range(iterations):
            # Messages do not depend on how many iterations follow, so these are the beliefs on the way.
            (shorter,) = parser.with_iterations(done + 1).parse([sentence], threads=1)
            if rows and shorter.residual > 0.0 and np.array_equal(shorter.beliefs, rows[-1]):
                break  # one iteration more was allowed, and not needed
            rows.append(shorter.beliefs)
        history = np.array(rows).reshape(len(rows), len(parse.beliefs))
        return cls(parse, history, parser.model.projective, parser.model.single_root)

    @property
    def tags(self) -> list[str]:
        """Each word's coarse tag, or its fine one where the treebank has no coarse one."""
        sentence = self.parse.sentence
        return [
            fine if coarse == "_" else coarse
            for coarse, fine in zip(sentence.coarse_tags, sentence.fine_tags, strict=True)
        ]

    @property
    def changes(self) -> FloatArray:
        """(iterations - 1,) the largest change of a belief in each iteration after the first."""
        return np.asarray(np.abs(np.diff(self.history, axis=0)).max(axis=1))

    @property
    def head_history(self) -> FloatArray:
        """(iterations, n) the belief, after every iteration, of the arcs that are in the tree at last."""
        rows = [accuracy_terms(self.parse.heads, self.parse.arcs, beliefs) for beliefs in self.history]
        return np.array(rows).reshape(len(rows), len(self.parse.heads))

    @property
    def verdicts(self) -> list[Verdict]:
        """What the gold tree says of each word's head and label; a label that either side lacks is not compared."""
        sentence = self.parse.sentence
        verdicts: list[Verdict] = []
        for head, label, gold_head, gold_label in zip(
            self.parse.heads, self.parse.labels, sentence.heads, sentence.labels, strict=True
        ):
            if gold_head < 0:
                verdicts.append("unknown")
            elif head != gold_head:
                verdicts.append("wrong")
            else:
                verdicts.append("right" if "_" in (label, gold_label) or label == gold_label else "other label")
        return verdicts

    def candidates(self, word: int) -> list[tuple[int, float]]:
        """The heads that a word (from 1) might have, each with its belief, best first."""
        arcs = self.parse.arcs
        own = slice(arcs.starts[word - 1], arcs.starts[word])
        pairs = zip(arcs.heads[own].tolist(), self.parse.beliefs[own].tolist(), strict=True)
        return sorted(pairs, key=lambda pair: -pair[1])
