"""A text with its sentences, words and trees."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from treebp.data.sentence import Sentence
from treebp.parsing.parse import Parse
from treebp.tokenising.tokens import TokenisedSentence


class Word(NamedTuple):
    """A word of a text, with how probable the decisions on it are.

    Attributes:
        form: as written or, within a multiword token, as that was split.
        lemma: "_" if there is none, as are tags and features.
        coarse_tag: UPOS.
        fine_tag: XPOS.
        feats: morphological features.
        head: the number of its head in the sentence, from 1; 0 for the root.
        label: of the arc from its head.
        start: the first character of its token in the text.
        end: the character behind its token.
        tag_probability: of tags and features together; 1 if they were given.
        lemma_probability: of the lemma, given the tags.
        head_probability: of the head.
        label_probability: of the label, given the tree.

    """

    form: str
    lemma: str
    coarse_tag: str
    fine_tag: str
    feats: str
    head: int
    label: str
    start: int
    end: int
    tag_probability: float
    lemma_probability: float
    head_probability: float
    label_probability: float


def words_of(parse: Parse, spans: Sequence[tuple[int, int]] | None) -> list[Word]:
    """The words of a parse; ``spans`` are their places in a text, all (-1, -1) if there is none."""
    sentence = parse.sentence
    places = [(-1, -1)] * len(sentence) if spans is None else spans
    return [
        Word(*row)
        for row in zip(
            sentence.forms,
            sentence.lemmas,
            sentence.coarse_tags,
            sentence.fine_tags,
            sentence.feats,
            parse.heads.tolist(),
            parse.labels,
            [start for start, _ in places],
            [end for _, end in places],
            parse.tag_probabilities.tolist(),
            parse.lemma_probabilities.tolist(),
            parse.head_probabilities.tolist(),
            parse.label_probabilities.max(axis=1).tolist(),
            strict=True,
        )
    ]


@dataclass(frozen=True)
class ParsedSentence:
    """A sentence of a text.

    Attributes:
        found: its tokens, and where they stand.
        parse: its tags and its tree, all candidate arcs and the alternatives, with their probabilities.

    """

    found: TokenisedSentence
    parse: Parse

    def __len__(self) -> int:
        return len(self.parse.heads)

    def __iter__(self) -> Iterator[Word]:
        return iter(self.words)

    def __getitem__(self, number: int) -> Word:
        return self.words[number]

    @property
    def text(self) -> str:
        """Its own text, with the white space that there is."""
        tokens = self.found.tokens
        return "".join([*(token.form + token.white for token in tokens[:-1]), tokens[-1].form])

    @property
    def start(self) -> int:
        """Its first character in the document's text."""
        return self.found.tokens[0].start

    @property
    def end(self) -> int:
        """The character behind it."""
        return self.found.tokens[-1].end

    @cached_property
    def words(self) -> list[Word]:
        """Its words, in order."""
        return words_of(
            self.parse, [(token.start, token.end) for token in self.found.tokens for _ in token.words or (token.form,)]
        )

    def to_sentence(self, *, marginals: bool = False) -> Sentence:
        """As CoNLL-U; see `Parse.to_sentence`."""
        return self.parse.to_sentence(marginals=marginals)


@dataclass(frozen=True)
class Document:
    """A text, and the sentences that were found in it.

    Attributes:
        text: all of it.
        sentences: in order; none if the text is nothing but white space.

    """

    text: str
    sentences: list[ParsedSentence]

    def __len__(self) -> int:
        return len(self.sentences)

    def __iter__(self) -> Iterator[ParsedSentence]:
        return iter(self.sentences)

    def __getitem__(self, number: int) -> ParsedSentence:
        return self.sentences[number]

    @property
    def words(self) -> list[Word]:
        """The words of all sentences."""
        return [word for sentence in self.sentences for word in sentence.words]

    def to_conllu(self, *, marginals: bool = False) -> str:
        """As CoNLL-U, from which `treebp.data.plain_text` gives back the text.

        ``marginals`` writes each head's probability into MISC.
        """
        return "".join(sentence.to_sentence(marginals=marginals).text for sentence in self.sentences)
