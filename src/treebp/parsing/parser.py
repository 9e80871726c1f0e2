"""The parser: train it, use it, store it."""

import os
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy
from dataclasses import asdict, replace
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from treebp._types import AnyArray, BoolArray, FloatArray, IntArray
from treebp.data.punctuation import is_punctuation
from treebp.data.sentence import Sentence
from treebp.parsing.arc_model import ArcModel, Example
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.config import Config
from treebp.parsing.decoding import decode, k_best
from treebp.parsing.encoding import Encoding
from treebp.parsing.exact import exact_beliefs
from treebp.parsing.label_templates import label_templates
from treebp.parsing.labels import LabelModel
from treebp.parsing.model_file import pack, read_tensors, unpack, write_tensors
from treebp.parsing.parse import Parse
from treebp.parsing.preparation import Prepared, PruningReport, fingerprint, prepare
from treebp.parsing.pruner import Pruner
from treebp.parsing.training import EpochReport, Progress, train_model

_KIND = "treebp model"
_BATCH, _BATCH_WORDS = 24, 600  # sentences that are parsed together at most, and words that are enough
_Known = Mapping[int, int]
_Forbidden = Collection[tuple[int, int]]
_Item = tuple[Sentence, _Known, _Forbidden]


class Parser:
    """A dependency parser.

    >>> from treebp.data.embedded import embedded_treebank
    >>> config = Config(epochs=2, pruner_epochs=1, weight_bits=18, pruner_weight_bits=16, rate=0.05)
    >>> parser = Parser(config)
    >>> reports = parser.fit(embedded_treebank("train")[:120], embedded_treebank("dev")[:20], threads=1)
    >>> parse = next(parser.parse(embedded_treebank("test")[:1]))
    >>> len(parse.heads) == len(parse.labels) == len(parse.sentence)
    True
    >>> 0.0 < parse.expected_accuracy <= 1.0
    True
    """

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.reports: list[EpochReport] = []
        self.pruning: dict[str, PruningReport] = {}
        self._encoding: Encoding | None = None

    def fit(
        self,
        train: Iterable[Sentence] = (),
        dev: Iterable[Sentence] | None = None,
        *,
        prepared: Prepared | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        checkpoint: Path | None = None,
    ) -> list[EpochReport]:
        """Train on sentences with heads, and keep the weights that do best on ``dev``.

        Without ``dev``, the last tenth of ``train`` (``config.held_out``) is kept back for it. The result depends on
        data and configuration alone, not on the number of threads. With a ``checkpoint`` path training can be
        interrupted after any epoch and continued by the same call. A parser whose training fails stays as it was.

        To train several parsers on the same data, ``prepare`` these once and pass the result as ``prepared`` instead.
        """
        workers, progress = _threads(threads), progress or Progress()
        if prepared is None:
            prepared = prepare(train, dev, self.config, threads=workers, progress=progress)
        prepared.check(self.config)
        trained = Parser(self.config)
        trained._fit(prepared, workers, progress, checkpoint)
        self.__dict__.update(trained.__dict__)
        return self.reports

    def _fit(self, prepared: Prepared, threads: int, progress: Progress, checkpoint: Path | None) -> None:
        config = self.config
        self._encoding, self._pruner, self._labels = prepared.encoding, prepared.pruner, prepared.labels
        self.pruning = dict(prepared.pruning)
        surrogate = config.objective == "cll"
        if not surrogate and self.pruning["train"].oracle == 0.0:
            raise ValueError("pruning left no right arc at all: raise prune_heads or lower prune_ratio")
        examples = []
        for tokens, kept, gold, legal in zip(
            prepared.tokens, prepared.keep, prepared.gold, prepared.legal, strict=True
        ):
            heads = legal if surrogate else gold
            if surrogate:  # log-likelihood needs all arcs of the tree
                kept = kept.copy()
                kept[heads, np.arange(1, len(heads) + 1)] = True
            arcs = Arcs.of(kept)
            examples.append(Example(tokens, arcs, arcs.marked(heads)))
        self._model = self._new_model(prepared.structure)
        self.reports = train_model(
            self._model,
            examples,
            _Development(self, prepared).score,
            config,
            threads=threads,
            progress=progress,
            checkpoint=checkpoint,
            fingerprint=fingerprint(config, prepared.train, prepared.dev),
        )

    def with_iterations(self, iterations: int) -> "Parser":
        """The same parser, sharing its weights, with another number of iterations of belief propagation."""
        other = copy(self)
        other.config = replace(self.config, iterations=iterations)
        other._model = copy(self._model)
        other._model.iterations = iterations
        return other

    def parse(
        self,
        sentences: Iterable[Sentence],
        *,
        threads: int | None = None,
        kbest: int = 0,
        known: Iterable[_Known] | None = None,
        forbidden: Iterable[_Forbidden] | None = None,
    ) -> Iterator[Parse]:
        """Parse sentences as they come, in order, looking only a little ahead.

        ``known`` gives, for each sentence, heads that are settled, as {modifier: head}; ``forbidden`` gives arcs
        (head, modifier) that must not be. Raises ValueError where these leave no tree. ``kbest`` asks for that many
        alternatives.
        """
        if self._encoding is None:
            raise ValueError("this parser has not been trained: call fit, or Parser.load a model")
        batches = _batches(_with_constraints(sentences, known, forbidden))
        workers = _threads(threads)
        if workers == 1:
            for batch in batches:
                yield from self._parse(batch, kbest)
            return
        waiting: deque[Future[list[Parse]]] = deque()
        with ThreadPoolExecutor(workers) as pool:
            for batch in batches:
                waiting.append(pool.submit(self._parse, batch, kbest))
                if len(waiting) > workers:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()

    def save(self, path: str | Path) -> None:
        """Write everything that parsing needs to one file, which appears only when complete."""
        if self._encoding is None:
            raise ValueError("this parser has not been trained: there is nothing to save")
        projective, single_root = self._model.structure
        header = {
            "config": self.config.to_toml(),
            "values": self._encoding.values,
            "tag_map": self._encoding.tag_map,
            "projective": projective,
            "single_root": single_root,
            "labels": self._labels.labels,
            "reports": [asdict(report) for report in self.reports],
            "pruning": {name: asdict(report) for name, report in self.pruning.items()},
        }
        used, values = pack(self._model.weights)
        pruner_used, pruner_values = pack(self._pruner.model.weights)
        tensors = {
            "weights_used": used,
            "weights": values,
            "pruner_weights_used": pruner_used,
            "pruner_weights": pruner_values,
            "length_bounds": self._pruner.bounds,
            **{f"labels.{name}": array for name, array in self._labels.state().items()},
        }
        write_tensors(Path(path), _KIND, header, tensors)

    @classmethod
    def load(cls, path: str | Path) -> "Parser":
        """Read a parser that was saved. Raises ValueError for a file that is damaged, or of a newer version."""
        header, tensors = read_tensors(Path(path), _KIND)
        try:
            return cls._from_file(header, tensors)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"{path} is not a {_KIND} that can be used: {error}") from None

    @classmethod
    def _from_file(cls, header: Mapping[str, Any], tensors: Mapping[str, AnyArray]) -> "Parser":
        parser = cls(Config.from_toml(header["config"]))
        config = parser.config
        parser._encoding = Encoding(header["values"], header["tag_map"])
        structure = bool(header["projective"]), bool(header["single_root"])
        parser._model = parser._new_model(structure)
        unpack(tensors["weights_used"], tensors["weights"], parser._model.weights)
        pruner_model = Pruner.new_model(config, structure)
        unpack(tensors["pruner_weights_used"], tensors["pruner_weights"], pruner_model.weights)
        parser._pruner = Pruner(pruner_model, config, tensors["length_bounds"])
        state = {name.removeprefix("labels."): array for name, array in tensors.items() if name.startswith("labels.")}
        parser._labels = LabelModel.from_state(
            header["labels"], label_templates(parser._encoding.available(config.templates)), state
        )
        parser.reports = [EpochReport(**report) for report in header["reports"]]
        parser.pruning = {name: PruningReport(**report) for name, report in header["pruning"].items()}
        return parser

    def _new_model(self, structure: tuple[bool, bool]) -> ArcModel:
        assert self._encoding is not None
        config = self.config
        return ArcModel(
            self._encoding.available(config.templates),
            config.factors,
            config.weight_bits,
            projective=structure[0],
            single_root=structure[1],
            iterations=config.iterations,
        )

    def _parse(self, items: Sequence[_Item], kbest: int) -> list[Parse]:
        """Parse sentences stage by stage: what a stage needs is then in the processor's caches most of the time."""
        assert self._encoding is not None
        names = self._labels.labels
        tokens = [self._encoding.encode(sentence) for sentence, _, _ in items]
        batch = Batch.of(tokens, self._candidates(items, tokens))
        beliefs, residuals, pairs, trees = self._infer(batch)
        labelled = [self._labels.predict(*one) for one in zip(tokens, trees, strict=True)]
        parses = []
        for (sentence, _, _), arcs, own_beliefs, residual, count, heads, (numbers, probabilities) in zip(
            items, batch.arcs, batch.split(beliefs), residuals.tolist(), pairs.tolist(), trees, labelled, strict=True
        ):
            labels = [names[number] for number in numbers]
            best = k_best(self._model, arcs, own_beliefs, kbest) if kbest and len(heads) else []
            parses.append(
                Parse(sentence, heads, labels, arcs, own_beliefs, names, probabilities, best, count, residual)
            )
        return parses

    def _candidates(self, items: Sequence[_Item], tokens: Sequence[IntArray]) -> list[Arcs]:
        """The arcs to look at, of each sentence."""
        if not any(known or forbidden for _, known, forbidden in items):
            return self._pruner.keep(tokens)
        return [self._constrained(*item, one) for item, one in zip(items, tokens, strict=True)]

    def _constrained(self, sentence: Sentence, known: _Known, forbidden: _Forbidden, tokens: IntArray) -> Arcs:
        if not known and not forbidden:
            return self._pruner.keep([tokens])[0]
        allowed = _allowed(len(sentence), known, forbidden)
        try:
            return self._pruner.keep_among(tokens, allowed)
        except ValueError:
            where = f"{sentence.source}:{sentence.line}: " if sentence.source else ""
            raise ValueError(
                f"{where}known and forbidden arcs leave no tree: {dict(known)}, {list(forbidden)}"
            ) from None

    def _infer(self, batch: Batch) -> tuple[FloatArray, FloatArray, IntArray, list[IntArray]]:
        """Beliefs of all arcs; residual, number of pairs, and the heads of the tree decoded, of each sentence."""
        model, config = self._model, self.config
        exact = config.inference == "exact"
        if exact and config.factors:
            beliefs, pairs = exact_beliefs(model, batch)
            residuals = np.zeros(len(pairs))
        else:
            beliefs, residuals, pairs = model.infer(batch)
        return beliefs, residuals, pairs, decode(config.decoder, model, batch, beliefs, exact=exact)


class _Development:
    """Development data, parsed after every epoch."""

    def __init__(self, parser: Parser, prepared: Prepared) -> None:
        self._parser = parser
        self._sentences = prepared.dev
        self._tokens = prepared.dev_tokens
        self._gold = [np.array(sentence.heads, dtype=np.int64) for sentence in prepared.dev]
        self._scored = [~is_punctuation(sentence, "unicode") for sentence in prepared.dev]
        arcs = [Arcs.of(kept) for kept in prepared.dev_keep]
        self._batches = [
            Batch.of(self._tokens[k : k + _BATCH], arcs[k : k + _BATCH]) for k in range(0, len(arcs), _BATCH)
        ]

    def score(self) -> tuple[float, float]:
        """Unlabelled and labelled attachment score in percent, without punctuation (Unicode rule)."""
        right = labelled = words = 0
        labels = self._parser._labels
        trees = [tree for batch in self._batches for tree in self._parser._infer(batch)[3]]
        for sentence, tokens, heads, gold, scored in zip(
            self._sentences, self._tokens, trees, self._gold, self._scored, strict=True
        ):
            numbers, _ = labels.predict(tokens, heads)
            correct = (heads == gold) & scored
            same = np.array([labels.labels[a] == b for a, b in zip(numbers, sentence.labels, strict=True)])
            right += int(correct.sum())
            labelled += int((correct & same).sum())
            words += int(scored.sum())
        return 100.0 * right / max(words, 1), 100.0 * labelled / max(words, 1)


def _with_constraints(
    sentences: Iterable[Sentence], known: Iterable[_Known] | None, forbidden: Iterable[_Forbidden] | None
) -> Iterator[_Item]:
    """Each sentence with its constraints; ValueError if there are fewer of those than of sentences."""
    of_known: Iterator[_Known] = repeat({}) if known is None else iter(known)
    of_forbidden: Iterator[_Forbidden] = repeat(()) if forbidden is None else iter(forbidden)
    for number, sentence in enumerate(sentences):
        try:
            yield sentence, next(of_known), next(of_forbidden)
        except StopIteration:
            raise ValueError(f"known or forbidden arcs are given for {number} sentences only") from None


def _batches(items: Iterable[_Item]) -> Iterator[list[_Item]]:
    """The sentences in groups."""
    batch: list[_Item] = []
    words = 0
    for item in items:
        batch.append(item)
        words += len(item[0])
        if len(batch) == _BATCH or words >= _BATCH_WORDS:
            yield batch
            batch, words = [], 0
    if batch:
        yield batch


def _threads(threads: int | None) -> int:
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    return threads or os.cpu_count() or 1


def _allowed(n: int, known: _Known, forbidden: _Forbidden) -> BoolArray:
    """The arcs that known heads and forbidden arcs leave."""
    allowed = ~np.eye(n + 1, dtype=np.bool_)
    allowed[:, 0] = False
    for head, modifier in [*((head, modifier) for modifier, head in known.items()), *forbidden]:
        if not (1 <= modifier <= n and 0 <= head <= n and head != modifier):
            raise ValueError(f"arc {head} -> {modifier} is not between the root 0 and {n} words")
    for modifier, head in known.items():
        allowed[np.arange(n + 1) != head, modifier] = False
    for head, modifier in forbidden:
        allowed[head, modifier] = False
    return allowed
