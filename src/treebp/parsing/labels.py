"""Labels for the arcs of a tree."""

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.features.templates import ATTRIBUTES
from treebp.kernels.labels import (
    LabelHashing,
    LabelTemplates,
    LabelTrees,
    LabelWeights,
    label_probabilities,
    train_epoch,
)
from treebp.parsing.arcs import split
from treebp.parsing.scorer import LabelScores

_LARGEST_TABLE = 1 << 24  # weights, 64 MB: with more than 128 labels there are fewer rows


class LabelModel:
    """p(label | arc) for each arc of a tree: log-linear in hashed features of the arc and of the tree around it.

    Where all arcs of the root, and no others, have the same label in training, they keep it and no others get it.
    Where there is only one label there is nothing to learn and no table of weights.

    Attributes:
        labels: the names of the labels, sorted.
        weights: (2**bits, labels), float32; no rows if there is only one label.
        root_label: the number of the label reserved for the root's arcs, -1 if there is none.

    Example:
        >>> from treebp.parsing.label_templates import label_templates
        >>> # Two words, the first one the root's child; rows are boundary, root, words, boundary.
        >>> tokens = np.repeat([[1], [2], [3], [4], [1]], len(ATTRIBUTES), axis=1)
        >>> model = LabelModel.fit([tokens], [[0, 1]], [["root", "obj"]], label_templates(["words"]))
        >>> numbers, probabilities = model.predict(tokens, [0, 1])
        >>> [model.labels[number] for number in numbers], probabilities
        (['root', 'obj'], array([[0., 1.],
               [1., 0.]]))

    """

    def __init__(self, labels: Sequence[str], templates: LabelTemplates, bits: int, root_label: int = -1) -> None:
        self.labels = list(labels)
        self.root_label = root_label
        self.weights = np.zeros((1 << bits if len(self.labels) > 1 else 0, len(self.labels)), np.float32)
        self._hashing = LabelHashing(templates, bits)

    @classmethod
    def fit(
        cls,
        tokens: Sequence[IntArray],
        heads: Sequence[ArrayLike],
        labels: Sequence[Sequence[str]],
        templates: LabelTemplates,
        *,
        bits: int = 17,
        epochs: int = 3,
        rate: float = 0.3,
        trainings: int = 1,
        seed: int = 0,
    ) -> "LabelModel":
        """Train on the arcs of trees, by AdaGrad with a Gaussian prior of unit variance; the seed shuffles them.

        Args:
            tokens: of each sentence of n words, its attributes (n + 3, attributes), as ``Encoding`` gives them.
            heads: of each sentence, (n,): 0 is the root.
            labels: of each sentence, n names.
            templates: as ``label_templates`` gives them.
            bits: there are 2**bits rows of weights, fewer if there are very many labels.
            epochs: passes over the sentences.
            rate: AdaGrad's learning rate.
            trainings: so many, each in an order of its own, are averaged.
            seed: of the order in which sentences are seen.

        Raises:
            ValueError: if there are no words, or a sentence's tokens, heads and labels do not fit each other.

        """
        trees = []
        for number, (rows, tree, names) in enumerate(zip(tokens, heads, labels, strict=True), start=1):
            try:
                trees.append(_checked(rows, tree))
                if len(names) != len(trees[-1]):
                    raise ValueError(f"{len(names)} labels for {len(trees[-1])} words")
            except ValueError as error:
                raise ValueError(f"sentence {number}: {error}") from None
        inventory = sorted(set(chain.from_iterable(labels)))
        if not inventory:
            raise ValueError("there are no words to learn labels from")
        numbers = {label: number for number, label in enumerate(inventory)}
        gold = np.array([numbers[name] for name in chain.from_iterable(labels)], dtype=np.int64)
        flat = np.concatenate(trees)
        bits = min(bits, (_LARGEST_TABLE // len(inventory)).bit_length() - 1)
        model = cls(inventory, templates, bits, _root_label(flat, gold))
        if len(inventory) > 1:
            starts = np.cumsum([0, *map(len, trees)], dtype=np.int64)
            rng = np.random.default_rng(seed)
            mean = np.zeros_like(model.weights)
            for _ in range(trainings):
                orders = [rng.permutation(len(trees)) for _ in range(epochs)]
                model.weights[:] = 0.0
                model._train(LabelTrees(np.concatenate(tokens), flat, starts), gold, orders, rate)
                mean += model.weights / np.float32(trainings)
            model.weights = mean
        return model

    def _train(self, trees: LabelTrees, labels: IntArray, orders: Sequence[IntArray], rate: float) -> None:
        rows, decay = len(self.weights), 1.0 / len(trees.heads)
        learnt = LabelWeights(self.weights, np.zeros(rows, np.float32), np.zeros(rows, np.int64))
        step = 0
        for order in orders:
            step = train_epoch(trees, labels, order, self._hashing, self.root_label, rate, decay, learnt, step)

    def predict(self, tokens: IntArray, heads: ArrayLike) -> tuple[IntArray, FloatArray]:
        """The most probable label of each word's arc (n,), as a number, and all probabilities (n, labels).

        Raises ValueError if tokens (n + 3, attributes) and heads (n,) do not fit each other.
        """
        probabilities = self._probabilities([tokens], [_checked(tokens, heads)])
        return probabilities.argmax(axis=1), probabilities

    def _probabilities(self, tokens: Sequence[IntArray], trees: Sequence[IntArray]) -> FloatArray:
        """The probabilities (words, labels) of several sentences, one after the other; trees are not checked."""
        flat = LabelTrees(np.concatenate(tokens), np.concatenate(trees), np.cumsum([0, *map(len, trees)]))
        out = np.ones((len(flat.heads), len(self.labels)))
        if len(self.labels) > 1:
            label_probabilities(flat, self._hashing, self.root_label, self.weights, out)
        return out

    def untrained(self) -> "LabelModel":
        """The same labels without weights, where a network scores them."""
        return LabelModel(self.labels, self._hashing.templates, 1, self.root_label)

    def state(self) -> dict[str, AnyArray]:
        """Arrays from which, with labels and templates, ``from_state`` makes the same model; zero rows are left out."""
        rows = np.flatnonzero(self.weights.any(axis=1))
        return {
            "settings": np.array([self._hashing.bits, self.root_label]),
            "rows": rows,
            "weights": self.weights[rows],
        }

    @classmethod
    def from_state(
        cls, labels: Sequence[str], templates: LabelTemplates, state: Mapping[str, AnyArray]
    ) -> "LabelModel":
        """The model that had this ``state``. Raises ValueError if the arrays cannot be one."""
        if not _is_state(state, len(labels)):
            raise ValueError(f"the arrays of the label model do not fit each other or its {len(labels)} labels")
        bits, root_label = state["settings"].tolist()
        model = cls(labels, templates, bits, root_label)
        model.weights[state["rows"]] = state["weights"]
        return model


def label_trees(
    model: LabelModel, tokens: Sequence[IntArray], trees: Sequence[IntArray], scorer: LabelScores | None
) -> list[tuple[IntArray, FloatArray]]:
    """The labels of each sentence's arcs and all probabilities, as `LabelModel.predict` gives them.

    Where the parser's scorer knows labels too, probabilities are means of its own and the label model's.
    """
    if scorer is None or len(model.labels) == 1:
        found = model._probabilities(tokens, trees)
    else:
        flat = np.concatenate(trees)
        scores = scorer.scores(flat)
        if model.root_label >= 0:
            only = np.arange(len(model.labels)) == model.root_label
            scores = np.where((flat == 0)[:, None] == only, scores, -np.inf)
        found = np.exp(scores - scores.max(axis=1, keepdims=True))
        found *= scorer.share / found.sum(axis=1, keepdims=True)
        if scorer.share < 1.0:
            found += (1.0 - scorer.share) * model._probabilities(tokens, trees)
    counts = np.array([len(tree) for tree in trees])
    return [*zip(split(found.argmax(axis=1), counts), split(found, counts), strict=True)]


def _is_state(state: Mapping[str, AnyArray], labels: int) -> bool:
    """Whether arrays from a stranger can be given to kernels, which check nothing."""
    if state.keys() != {"settings", "rows", "weights"} or state["settings"].shape != (2,) or not labels:
        return False
    bits, root_label = state["settings"].tolist()
    rows, weights = state["rows"], state["weights"]
    return (
        bits in range(1, _LARGEST_TABLE.bit_length())
        and labels << bits <= _LARGEST_TABLE
        and root_label in range(-1, labels)
        and rows.dtype == np.int64
        and weights.dtype == np.float32
        and weights.shape == (*rows.shape, labels)
        and bool(((rows >= 0) & (rows < 1 << bits)).all() and np.isfinite(weights).all())
        and (labels > 1 or not rows.size)
    )


def _root_label(heads: IntArray, labels: IntArray) -> int:
    """The label that all arcs of the root have, and no others, or -1."""
    of_root = np.unique(labels[heads == 0])
    return int(of_root[0]) if len(of_root) == 1 and of_root[0] not in labels[heads != 0] else -1


def _checked(tokens: IntArray, heads: ArrayLike) -> IntArray:
    """The heads as an array; ValueError unless each is a word of the sentence, or 0."""
    tree = np.asarray(heads, dtype=np.int64)
    if tree.ndim != 1 or tokens.shape != (len(tree) + 3, len(ATTRIBUTES)):
        raise ValueError(f"tokens of shape {tokens.shape} for heads of shape {tree.shape}")
    if len(tree) and not 0 <= tree.min() <= tree.max() <= len(tree):
        word = int(np.flatnonzero((tree < 0) | (tree > len(tree)))[0])
        raise ValueError(f"word {word + 1} has head {tree[word]}: the sentence has {len(tree)} words")
    return tree
