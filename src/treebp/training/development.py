"""Development data, parsed after every epoch."""

from collections.abc import Sequence

from treebp._threads import map_in_order
from treebp.data.evaluation import evaluate
from treebp.data.sentence import Sentence
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.config import Config
from treebp.parsing.labels import LabelModel, label_trees
from treebp.parsing.model import TreeModel, decode
from treebp.training.data import Prepared

_BATCH = 24
_MOST_THREADS = 4  # with more, Python between kernels, which one thread at a time can run, takes longer than before


class Development:
    """What a model that is being trained does on development data."""

    def __init__(
        self, prepared: Prepared, labels: LabelModel, config: Config, model: TreeModel, threads: int = 1
    ) -> None:
        self._sentences: Sequence[Sentence] = prepared.dev
        self._labels, self._decoder, self._model = labels, config.decoder, model
        self._threads = min(threads, _MOST_THREADS)
        arcs = [Arcs.of(kept) for kept in prepared.dev_keep]
        forms = [sentence.forms for sentence in prepared.dev]
        self._tokens = [prepared.dev_tokens[k : k + _BATCH] for k in range(0, len(arcs), _BATCH)]
        self._batches = [
            Batch.of(tokens, arcs[k : k + _BATCH], forms[k : k + _BATCH])
            for k, tokens in zip(range(0, len(arcs), _BATCH), self._tokens, strict=True)
        ]

    def score(self) -> tuple[float, float]:
        """Unlabelled and labelled attachment score in percent, without punctuation (Unicode rule)."""
        trees = map_in_order(self._labelled_trees, range(len(self._batches)), self._threads)
        parsed = [sentence.with_parse(*tree) for sentence, tree in zip(self._sentences, trees, strict=True)]
        scores = evaluate(self._sentences, parsed, punctuation="unicode")
        return scores.uas, scores.las

    def _labelled_trees(self, number: int) -> list[tuple[list[int], list[str]]]:
        """The heads and labels that a batch's words get."""
        model, labels = self._model, self._labels
        circuit = model(self._batches[number])
        trees = decode(self._decoder, model.inference, circuit)
        found = label_trees(labels, self._tokens[number], trees, circuit.labels)
        return [
            (heads.tolist(), [labels.labels[label] for label in chosen])
            for heads, (chosen, _) in zip(trees, found, strict=True)
        ]
