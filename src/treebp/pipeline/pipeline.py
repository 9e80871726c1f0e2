"""Tokeniser, tagger and parser as one, in one file."""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treebp._types import AnyArray
from treebp.data.sentence import Sentence
from treebp.features.compact import lighter
from treebp.features.model_file import MODEL_KIND, load_model, tensors_of, with_prefix, write_tensors
from treebp.parsing.parser import Parser
from treebp.pipeline.document import Document, ParsedSentence
from treebp.tokenising.tokeniser import Tokeniser
from treebp.tokenising.tokens import TokenisedSentence


@dataclass(frozen=True)
class Pipeline:
    """All that leads from text to trees. `treebp.training.fit_pipeline` trains one, `treebp.load` reads one.

    Attributes:
        parser: with the tagger that it was trained with.
        tokeniser: None if a parser was stored without one; then there is no way to start from text.

    Example:
        >>> from treebp.data.embedded import embedded_treebank
        >>> from treebp.parsing.config import Config
        >>> from treebp.training import fit_pipeline
        >>> small = {"epochs": 1, "pruner_epochs": 1, "weight_bits": 18, "pruner_weight_bits": 16}
        >>> config = Config(tokeniser=True, tags="predicted", tagger_weight_bits=18, **small)
        >>> nlp = fit_pipeline(embedded_treebank("train")[:300], embedded_treebank("dev")[:20], config, threads=1)
        >>> doc = nlp("The dog sleeps. She saw a bird, slowly.")
        >>> [[word.form for word in sentence] for sentence in doc]
        [['The', 'dog', 'sleeps', '.'], ['She', 'saw', 'a', 'bird', ',', 'slowly', '.']]
        >>> word = doc.words[1]
        >>> word.coarse_tag, doc.text[word.start : word.end]
        ('NOUN', 'dog')

    """

    parser: Parser
    tokeniser: Tokeniser | None = None

    def __call__(
        self,
        text: str,
        *,
        kbest: int = 0,
        known: Iterable[Mapping[int, int]] | None = None,
        forbidden: Iterable[Collection[tuple[int, int]]] | None = None,
        threads: int | None = 1,
        ranges: bool = False,
    ) -> Document:
        """Find the sentences of a text, and parse them; see `stream`."""
        found = self._tokeniser().tokenise(text)
        sentences = self._parsed(found, kbest=kbest, known=known, forbidden=forbidden, threads=threads, ranges=ranges)
        return Document(text, list(sentences))

    def stream(
        self,
        pieces: Iterable[str],
        *,
        kbest: int = 0,
        known: Iterable[Mapping[int, int]] | None = None,
        forbidden: Iterable[Collection[tuple[int, int]]] | None = None,
        threads: int | None = None,
        ranges: bool = False,
    ) -> Iterator[ParsedSentence]:
        """Parse a text that comes in pieces, cut anywhere, holding only a little of it at a time.

        Args:
            pieces: of the text.
            kbest: as many alternatives are wanted for each sentence.
            known: for each sentence, heads that are settled, as {modifier: head}.
            forbidden: for each sentence, arcs (head, modifier) that must not be.
            threads: by default one per core.
            ranges: CoNLL-U has the characters of each token in MISC, as ``TokenRange=0:4``.

        Raises:
            ValueError: if there is no tokeniser, or where known and forbidden arcs leave no tree.

        """
        found = self._tokeniser().stream(pieces)
        return self._parsed(found, kbest=kbest, known=known, forbidden=forbidden, threads=threads, ranges=ranges)

    def _parsed(
        self,
        sentences: Iterable[TokenisedSentence],
        *,
        kbest: int,
        known: Iterable[Mapping[int, int]] | None,
        forbidden: Iterable[Collection[tuple[int, int]]] | None,
        threads: int | None,
        ranges: bool,
    ) -> Iterator[ParsedSentence]:
        waiting: deque[TokenisedSentence] = deque()

        def given() -> Iterator[Sentence]:
            for number, found in enumerate(sentences, 1):
                waiting.append(found)
                yield found.to_sentence(number, ranges=ranges)

        for parse in self.parser.parse(given(), threads=threads, kbest=kbest, known=known, forbidden=forbidden):
            yield ParsedSentence(waiting.popleft(), parse)

    def _tokeniser(self) -> Tokeniser:
        if self.tokeniser is None:
            raise ValueError("this model has no tokeniser, so it cannot read plain text: train one with --pipeline")
        return self.tokeniser

    def state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """A header and arrays from which `from_state` makes the same pipeline."""
        header, tensors = self.parser.state()
        if self.tokeniser is not None:
            header["tokeniser"], own = self.tokeniser.state()
            tensors |= with_prefix("tokeniser", own)
        return header, tensors

    @classmethod
    def from_state(cls, header: Mapping[str, Any], tensors: Mapping[str, AnyArray]) -> "Pipeline":
        """The pipeline, or parser, that had this state. Raises ValueError, among others, if it cannot be one."""
        parser = Parser.from_state(header, tensors)
        if "tokeniser" not in header:
            return cls(parser)
        return cls(parser, Tokeniser.from_state(header["tokeniser"], tensors_of("tokeniser", tensors)))

    def rounded(self, share: float) -> "Pipeline":
        """The same with this share of all weights, the largest ones, rounded: its file takes about a byte for each."""
        header, tensors = self.state()
        lighter_one = self.from_state(header, lighter(tensors, share))
        lighter_one.parser.model.scorer.to(self.parser.model.scorer.device)
        return lighter_one

    def save(self, path: str | Path) -> None:
        """Write everything to one file, which appears only when complete. `Parser.load` reads its parser."""
        write_tensors(Path(path), MODEL_KIND, *self.state())

    @classmethod
    def load(cls, path: str | Path) -> "Pipeline":
        """Read a pipeline, or a parser, that was saved. Raises ValueError for a file that cannot be used."""
        return load_model(path, MODEL_KIND, cls.from_state)


def load(path: str | Path) -> Pipeline:
    """Read what `treebp train` has written, or a model that comes with the package, by its name.

    The result is called with a text, and has a `parser` and a `tokeniser` for those who want them by themselves.

    Example:
        >>> nlp = load("en")
        >>> [(word.form, word.head, word.label) for word in nlp("They saw her.").words]
        [('They', 2, 'nsubj'), ('saw', 0, 'root'), ('her', 2, 'obj'), ('.', 2, 'punct')]

    """
    return Pipeline.load(path)
