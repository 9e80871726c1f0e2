"""Development data, parsed after every epoch."""

from collections.abc import Sequence

from treebp.data.evaluation import evaluate
from treebp.data.sentence import Sentence
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.config import Config
from treebp.parsing.decoding import decode
from treebp.parsing.labels import LabelModel
from treebp.parsing.model import TreeModel
from treebp.training.data import Prepared

_BATCH = 24


class Development:
    """What a model that is being trained does on development data."""

    def __init__(self, prepared: Prepared, config: Config, model: TreeModel) -> None:
        self._sentences: Sequence[Sentence] = prepared.dev
        self._labels: LabelModel = prepared.labels
        self._tokens = prepared.dev_tokens
        self._decoder, self._model = config.decoder, model
        arcs = [Arcs.of(kept) for kept in prepared.dev_keep]
        self._batches = [
            Batch.of(prepared.dev_tokens[k : k + _BATCH], arcs[k : k + _BATCH]) for k in range(0, len(arcs), _BATCH)
        ]

    def score(self) -> tuple[float, float]:
        """Unlabelled and labelled attachment score in percent, without punctuation (Unicode rule)."""
        model, labels = self._model, self._labels
        trees = [heads for batch in self._batches for heads in decode(self._decoder, model, batch, model(batch))]
        parsed = []
        for sentence, tokens, heads in zip(self._sentences, self._tokens, trees, strict=True):
            numbers, _ = labels.predict(tokens, heads)
            parsed.append(sentence.with_parse(heads.tolist(), [labels.labels[number] for number in numbers]))
        scores = evaluate(self._sentences, parsed, punctuation="unicode")
        return scores.uas, scores.las
