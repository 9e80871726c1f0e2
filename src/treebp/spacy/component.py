"""The component: heads, labels, tags, lemmas and probabilities for documents that spaCy's tokenizer has made."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.tokens import Doc, Token
from spacy.util import minibatch

from treebp.data.sentence import Sentence
from treebp.models import find_model
from treebp.parsing.parse import Parse
from treebp.pipeline import Pipeline
from treebp.spacy.converting import ROOT, SPACE

_FILE = "treebp.model"
_PROBABILITIES = ("head_prob", "label_prob", "tag_prob", "lemma_prob")


class TreeParser:
    """A component that parses.

    Sentences are those that a component before this one has set or, if none has, those that the model finds in the
    text; words are spaCy's tokens. ``token._.head_prob``, ``label_prob``, ``tag_prob`` and ``lemma_prob`` say how
    probable these decisions are, and ``token._.heads`` has all heads that a token may have, as (place, probability),
    where the place of the root is the token's own, as is spaCy's custom.

    Args:
        model: a file, or the name of a model that comes with treebp.
        name: of the component.
        threads: for parsing a batch.

    Example:
        >>> import spacy
        >>> nlp = spacy.blank("en")
        >>> _ = nlp.add_pipe("treebp", config={"model": "en"})
        >>> doc = nlp("They saw her.")
        >>> [(token.text, token.dep_, token.head.text, token.pos_) for token in doc][:2]
        [('They', 'nsubj', 'saw', 'PRON'), ('saw', 'ROOT', 'saw', 'VERB')]
        >>> 0.9 < doc[0]._.head_prob <= 1.0
        True

    """

    def __init__(self, model: str, *, name: str = "treebp", threads: int = 1) -> None:
        self.name, self.model, self.threads = name, model, threads
        # A component that is read from disk brings its own. The file is kept as it is: to write it anew takes long.
        self._pipeline: Pipeline | None = None
        self._content = b""
        for extension in (*_PROBABILITIES, "heads"):
            if not Token.has_extension(extension):
                Token.set_extension(extension, default=None)

    @property
    def pipeline(self) -> Pipeline:
        """The model, read on first use."""
        return self._pipeline or self._load(find_model(self.model))

    def _load(self, path: Path) -> Pipeline:
        self._pipeline, self._content = Pipeline.load(path), path.read_bytes()
        return self._pipeline

    def __call__(self, doc: Doc) -> Doc:
        """Annotate a document."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 64) -> Iterator[Doc]:
        """Annotate documents as they come, parsing those of a batch together."""
        for docs in minibatch(stream, batch_size):
            spans = [self._sentences(doc) for doc in docs]
            sentences = [_sentence(tokens) for own in spans for tokens in own]
            parses = self.pipeline.parser.parse(sentences, threads=self.threads)
            for doc, own in zip(docs, spans, strict=True):
                _annotate(doc, own, list(islice(parses, len(own))), tagged=self.pipeline.parser.tagger is not None)
                yield doc

    def _sentences(self, doc: Doc) -> list[list[Token]]:
        """The sentences' tokens, without white space."""
        starts: set[int] = set()
        if doc.has_annotation("SENT_START"):
            starts = {span.start_char for span in doc.sents}
        elif self.pipeline.tokeniser is not None:
            starts = {found.tokens[0].start for found in self.pipeline.tokeniser.tokenise(doc.text)}
        sentences: list[list[Token]] = []
        for token in doc:
            # A sentence may begin within a token of spaCy's, which is then the last of the sentence before.
            if not sentences or token.idx in starts:
                sentences.append([])
            if not token.is_space:
                sentences[-1].append(token)
        return [tokens for tokens in sentences if tokens]

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the model into a folder."""
        Path(path).mkdir(parents=True, exist_ok=True)
        (Path(path) / _FILE).write_bytes(self.to_bytes())

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "TreeParser":
        """Read the model from a folder."""
        self._load(Path(path) / _FILE)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The model's file."""
        _ = self.pipeline  # is read with it
        return self._content

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "TreeParser":
        """Read the model from its file's content."""
        with TemporaryDirectory() as folder:
            (Path(folder) / _FILE).write_bytes(data)
            return self.from_disk(folder)

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs."""
        return {"name": self.name, "model": self.model, "threads": self.threads, "data": self.to_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["model"], name=state["name"], threads=state["threads"])  # type: ignore[misc]
        self.from_bytes(state["data"])


@Language.factory(
    "treebp",
    assigns=["token.head", "token.dep", "token.tag", "token.pos", "token.lemma", "token.morph", "doc.sents"],
    default_config={"model": "en", "threads": 1},
)
def make_component(nlp: Language, name: str, model: str, threads: int) -> TreeParser:
    """The component, as ``nlp.add_pipe("treebp")`` makes it."""
    return TreeParser(model, name=name, threads=threads)


def _sentence(tokens: list[Token]) -> Sentence:
    """Words with the tags that they may have; a model that has a tagger does not look at these."""
    return Sentence.from_columns(
        [token.text for token in tokens],
        lemmas=[token.lemma_ or "_" for token in tokens],
        coarse_tags=[token.pos_ or "_" for token in tokens],
        fine_tags=[token.tag_ or "_" for token in tokens],
        feats=[str(token.morph) or "_" for token in tokens],
    )


def _annotate(doc: Doc, sentences: list[list[Token]], parses: list[Parse], *, tagged: bool) -> None:
    strings, morphology = doc.vocab.strings, doc.vocab.morphology
    heads = np.zeros(len(doc), np.int64)  # relative to each token
    columns: dict[str, Any] = {"DEP": [""] * len(doc)}
    if tagged:
        columns |= {name: [""] * len(doc) for name in ("TAG", "POS", "LEMMA", "MORPH")}
    for tokens, parse in zip(sentences, parses, strict=True):
        places = [token.i for token in tokens]
        own = parse.sentence
        for number, (place, head) in enumerate(zip(places, parse.heads.tolist(), strict=True)):
            heads[place] = places[head - 1] - place if head else 0
            columns["DEP"][place] = parse.labels[number] if head else ROOT
            if tagged:
                columns["TAG"][place], columns["POS"][place] = own.fine_tags[number], own.coarse_tags[number]
                columns["LEMMA"][place], columns["MORPH"][place] = own.lemmas[number], own.feats[number]
        _add_probabilities(tokens, parse)
    first = sentences[0][0].i if sentences else 0
    for token in doc:
        if token.is_space:  # hangs on the token before it or, at the beginning, on the first word
            heads[token.i] = first - token.i if token.i < first else -1 if sentences else 0
            columns["DEP"][token.i] = "dep"
            if tagged:
                columns["TAG"][token.i], columns["POS"][token.i], columns["LEMMA"][token.i] = "_SP", SPACE, token.text
    numbers = {"HEAD": heads.view(np.uint64)}
    for name, values in columns.items():
        known = ("" if value == "_" and name != "LEMMA" else value for value in values)
        if name == "POS":
            numbers[name] = np.array([POS_IDS.get(value, 0) for value in known], np.uint64)
        elif name == "MORPH":
            numbers[name] = np.array([morphology.add(value) for value in known], np.uint64)
        else:
            numbers[name] = np.array([strings.add(value) for value in known], np.uint64)
    if len(doc):
        doc.from_array(list(numbers), np.stack(list(numbers.values()), axis=1))


def _add_probabilities(tokens: list[Token], parse: Parse) -> None:
    rows = zip(
        parse.head_probabilities.tolist(),
        parse.label_probabilities.max(axis=1).tolist(),
        parse.tag_probabilities.tolist(),
        parse.lemma_probabilities.tolist(),
        strict=True,
    )
    for token, row in zip(tokens, rows, strict=True):
        for name, value in zip(_PROBABILITIES, row, strict=True):
            token._.set(name, value)
        token._.set("heads", [])
    arcs = zip(parse.arcs.heads.tolist(), parse.arcs.modifiers.tolist(), parse.beliefs.tolist(), strict=True)
    for head, modifier, belief in sorted(arcs, key=lambda arc: -arc[2]):
        token = tokens[modifier - 1]
        token._.heads.append((tokens[head - 1].i if head else token.i, belief))
