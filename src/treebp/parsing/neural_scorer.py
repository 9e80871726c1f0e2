"""A network as a scorer, and the sum of a network and hashed features."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.features.encoding import Encoding
from treebp.neural.device import find_device
from treebp.neural.inputs import Words
from treebp.neural.layout import Layout
from treebp.neural.network import Network, Shape
from treebp.parsing.arcs import Batch
from treebp.parsing.config import Config
from treebp.parsing.parts.part import Part, Tuples
from treebp.parsing.scorer import ARC, HashedScorer, LabelScores, Scored

LABEL = "label"
_DESCRIPTION = "network_encoder"


class NeuralScorer:
    """A scorer whose potentials are a network's; adjoints are added to the gradients of its parameters.

    Potentials come to the host once per batch, in float64, and adjoints go back once.

    Attributes:
        parts: the kinds of parts that are scored beside arcs.
        network: in training mode, values are dropped and gradients kept.

    """

    def __init__(
        self,
        config: Config,
        encoding: Encoding,
        parts: Sequence[Part],
        labels: int,
        stored: Mapping[str, AnyArray] | None = None,
    ) -> None:
        self.parts = tuple(parts)
        shape = Shape(
            inputs=config.inputs,
            encoder=config.encoder,
            layers=config.encoder_layers,
            size=config.encoder_size,
            embedding=config.embedding_size,
            arcs=config.arc_size,
            labels=config.label_size,
            rank=config.part_rank,
            dropout=config.dropout,
            hidden=config.hidden,
            bf16=config.bf16,
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            words = {part.name: part.words for part in parts}
            self.network = Network(shape, encoding.values, words, labels, _description(stored or {})).eval()

    def __call__(self, batch: Batch, tuples: Mapping[str, Tuples]) -> Scored:
        """See `Scorer`."""
        try:
            with torch.set_grad_enabled(self.network.training):
                return self._scores(batch, tuples)
        except RuntimeError as error:
            if isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error):
                raise MemoryError(f"{self.network.device} has too little memory for {batch.words:,} words") from error
            raise

    def _scores(self, batch: Batch, tuples: Mapping[str, Tuples]) -> Scored:
        network, layout = self.network, Layout.of(batch.sizes)
        inner = np.ones(len(batch.tokens), np.bool_)  # all but boundaries
        begin = layout.first + 2 * np.arange(len(batch.sizes))
        inner[begin] = inner[begin + batch.sizes + 1] = False
        forms = [form for sentence in batch.forms for form in ("", *sentence)]
        states = network.states(Words(batch.sizes, batch.tokens[inner], forms))

        def sentences_of(first: IntArray) -> IntArray:
            return np.repeat(np.arange(len(batch.sizes)), np.diff(first))

        found = {ARC: network.arcs(states, layout, sentences_of(batch.first), batch.heads, batch.modifiers)}
        for part in self.parts:
            own = tuples[part.name]
            found[part.name] = network.parts(part.name, states, layout, sentences_of(own.first), own.positions)
        flat = torch.cat(list(found.values())).double()

        def label_scores(heads: IntArray) -> FloatArray:
            words = np.ones(len(states), np.bool_)
            words[layout.first] = False
            with torch.set_grad_enabled(network.training):
                found[LABEL] = network.labels(
                    states, heads + np.repeat(layout.first, batch.sizes - 1), np.flatnonzero(words)
                )
            return np.asarray(found[LABEL].detach().double().cpu().numpy())

        def backprop(adjoints: Mapping[str, FloatArray]) -> None:
            of_potentials = np.concatenate([adjoints[name] for name in found if name != LABEL])
            outputs, gradients = [flat], [torch.from_numpy(of_potentials).to(network.device)]
            if LABEL in adjoints:
                outputs.append(found[LABEL])
                gradients.append(torch.from_numpy(adjoints[LABEL]).to(found[LABEL]))
            torch.autograd.backward(outputs, gradients)

        counts = np.cumsum([len(scores) for scores in found.values()])[:-1]
        potentials = np.split(flat.detach().cpu().numpy(), counts)
        return Scored(dict(zip(found, potentials, strict=True)), backprop, LabelScores(label_scores, 1.0))

    def state(self) -> dict[str, AnyArray]:
        """The network's parameters and, as bytes, what else describes an encoder of another package."""
        arrays = {
            f"network.{name}": value.detach().cpu().numpy().copy() for name, value in self.network.state_dict().items()
        }
        if hasattr(self.network.encoder, "description"):
            arrays[_DESCRIPTION] = np.frombuffer(self.network.encoder.description.encode(), np.uint8).copy()
        return arrays

    @property
    def pretrained(self) -> list[Any]:
        """The parameters that are not new, those of an encoder of another package."""
        return list(self.network.encoder.parameters()) if hasattr(self.network.encoder, "description") else []

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """See `Scorer`."""
        for name, value in self.network.state_dict().items():
            array = state[f"network.{name}"]
            is_alike = array.shape == tuple(value.shape) and torch.from_numpy(array).dtype == value.dtype
            if not is_alike or not np.isfinite(array).all():
                raise ValueError(f"{array.shape} of {array.dtype} are not the network's {name}")
            value.copy_(torch.from_numpy(array))

    @property
    def device(self) -> str:
        """Where the network computes."""
        return str(self.network.device)

    def to(self, device: str) -> None:
        """See `Scorer`."""
        self.network.to(find_device(device))


def _description(stored: Mapping[str, AnyArray]) -> str | None:
    return stored[_DESCRIPTION].tobytes().decode() if _DESCRIPTION in stored else None


class SumScorer:
    """Hashed features and a network: means of their potentials, and of their labels' probabilities.

    Both are trained by themselves, since features that have seen a sentence leave a network nothing to learn from it.

    Attributes:
        shares: (2,) of the network, in potentials and in labels: chosen on development data.

    """

    def __init__(self, hashed: HashedScorer, neural: NeuralScorer) -> None:
        self.hashed, self.neural, self.parts = hashed, neural, hashed.parts
        self.shares = np.array([0.5, 0.5])

    def __call__(self, batch: Batch, tuples: Mapping[str, Tuples]) -> Scored:
        """See `Scorer`."""
        share, of_labels = self.shares.tolist()
        of_features, of_network = self.hashed(batch, tuples), self.neural(batch, tuples)
        potentials = {
            name: (1.0 - share) * of_features.potentials[name] + share * scores
            for name, scores in of_network.potentials.items()
        }
        assert of_network.labels is not None

        def backprop(adjoints: Mapping[str, FloatArray]) -> Any:
            kept = {LABEL: adjoints[LABEL]} if LABEL in adjoints else {}
            of_network.backprop({**{name: share * adjoints[name] for name in potentials}, **kept})
            return of_features.backprop({name: (1.0 - share) * adjoints[name] for name in potentials})

        return Scored(potentials, backprop, LabelScores(of_network.labels.scores, of_labels))

    def state(self) -> dict[str, AnyArray]:
        """Those of both, and their shares."""
        return {**self.hashed.state(), **self.neural.state(), "shares": self.shares.copy()}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """See `Scorer`."""
        self.hashed.restore(state)
        self.neural.restore(state)
        shares = state["shares"]
        if shares.shape != (2,) or shares.dtype != np.float64 or not ((shares >= 0.0) & (shares <= 1.0)).all():
            raise ValueError("the shares of features and network are no two numbers from 0 to 1")
        self.shares = shares.copy()

    @property
    def device(self) -> str:
        """Where the network computes."""
        return self.neural.device

    def to(self, device: str) -> None:
        """See `Scorer`."""
        self.neural.to(device)
