"""Development data, parsed after every epoch."""

from collections.abc import Sequence

from treebp.data.evaluation import evaluate
from treebp.data.sentence import Sentence
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.config import Config
from treebp.parsing.decoding import decode
from treebp.parsing.labels import LabelModel, label_trees
from treebp.parsing.model import TreeModel
from treebp.training.data import Prepared

_BATCH = 24


class Development:
    """What a model that is being trained does on development data."""

    def __init__(self, prepared: Prepared, labels: LabelModel, config: Config, model: TreeModel) -> None:
        self._sentences: Sequence[Sentence] = prepared.dev
        self._labels = labels
        self._tokens = prepared.dev_tokens
        self._decoder, self._model = config.decoder, model
        arcs = [Arcs.of(kept) for kept in prepared.dev_keep]
        forms = [sentence.forms for sentence in prepared.dev]
        self._batches = [
            Batch.of(prepared.dev_tokens[k : k + _BATCH], arcs[k : k + _BATCH], forms[k : k + _BATCH])
            for k in range(0, len(arcs), _BATCH)
        ]

    def score(self) -> tuple[float, float]:
        """Unlabelled and labelled attachment score in percent, without punctuation (Unicode rule)."""
        model, labels = self._model, self._labels
        parsed: list[Sentence] = []
        for batch in self._batches:
            circuit = model(batch)
            trees = decode(self._decoder, model, batch, circuit)
            tokens = self._tokens[len(parsed) : len(parsed) + len(trees)]
            for heads, (numbers, _) in zip(trees, label_trees(labels, tokens, trees, circuit.labels), strict=True):
                names = [labels.labels[number] for number in numbers]
                parsed.append(self._sentences[len(parsed)].with_parse(heads.tolist(), names))
        scores = evaluate(self._sentences, parsed, punctuation="unicode")
        return scores.uas, scores.las
