"""What parsing a sentence gives."""

from dataclasses import dataclass

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.data.sentence import Sentence
from treebp.parsing.arcs import Arcs

_OURS = ("# alternative ", "HeadProb=")  # what a parse writes besides the tree


@dataclass(frozen=True, slots=True)
class Parse:
    """A sentence's tree, and how sure the parser is of it.

    Attributes:
        sentence: what was parsed.
        heads: (n,) the head of each word, 0 for the root.
        labels: the label of each word's arc.
        arcs: all candidate arcs, those that were not pruned.
        beliefs: the belief of each candidate arc.
        label_names: the labels there are.
        label_probabilities: (n, labels) of each word's arc.
        alternatives: the k best trees as (heads, expected accuracy), best first; empty unless asked for.
        factors: how many parts of each kind had a factor.
        residual: the largest change of a belief in the last iteration of belief propagation, 0 for exact inference.
        tag_probabilities: (n,) of each word's tags; 1 if the sentence came with them.
        lemma_probabilities: (n,) of each word's lemma, likewise.

    """

    sentence: Sentence
    heads: IntArray
    labels: list[str]
    arcs: Arcs
    beliefs: FloatArray
    label_names: list[str]
    label_probabilities: FloatArray
    alternatives: list[tuple[IntArray, float]]
    factors: dict[str, int]
    residual: float
    tag_probabilities: FloatArray
    lemma_probabilities: FloatArray

    @property
    def head_probabilities(self) -> FloatArray:
        """(n,) the belief of the arc to each word's head."""
        return accuracy_terms(self.heads, self.arcs, self.beliefs)

    @property
    def expected_accuracy(self) -> float:
        """The share of words that are expected to have the right head; 1 for no words."""
        return float(self.head_probabilities.mean()) if len(self.heads) else 1.0

    @property
    def converged(self) -> bool:
        """Whether the last iteration of belief propagation changed no belief by more than a thousandth."""
        return self.residual <= 1e-3

    def to_sentence(self, *, marginals: bool = False) -> Sentence:
        """The sentence with heads and labels filled in.

        In CoNLL-U, ``marginals`` writes each head's probability into MISC, and alternatives become comments. Those of
        an earlier parse are removed.
        """
        if not len(self.heads):
            return self.sentence
        misc = [f"HeadProb={p:.3f}" for p in self.head_probabilities] if marginals else None
        comments = [
            f"# alternative {rank} accuracy={accuracy:.4f} heads={' '.join(map(str, heads))}"
            for rank, (heads, accuracy) in enumerate(self.alternatives, start=1)
        ]
        if self.sentence.format != "conllu":
            misc, comments = None, []
        return self.sentence.with_parse(self.heads.tolist(), self.labels, misc=misc, comments=comments, remove=_OURS)


def accuracy_terms(heads: IntArray, arcs: Arcs, beliefs: FloatArray) -> FloatArray:
    """(n,) the belief of each word's arc in a tree."""
    terms = np.zeros(len(heads))
    right = arcs.marked(heads)
    terms[arcs.modifiers[right] - 1] = beliefs[right]
    return terms
