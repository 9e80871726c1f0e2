"""Between spaCy's documents and ours."""

from collections.abc import Iterator

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from treebp.data.sentence import Sentence
from treebp.pipeline.document import Document

ROOT, SPACE = "ROOT", "SPACE"  # what spaCy calls the root's arc and the tag of white space


def from_doc(doc: Doc) -> list[Sentence]:
    """The sentences of a document with all that they have of tags, lemmas and trees; white space is left out.

    Example:
        >>> import spacy
        >>> nlp = spacy.blank("en")
        >>> _ = nlp.add_pipe("treebp")
        >>> [sentence] = from_doc(nlp("They  saw her."))
        >>> sentence.forms, sentence.heads, sentence.labels
        (['They', 'saw', 'her', '.'], [2, 0, 2, 2], ['nsubj', 'root', 'obj', 'punct'])

    """
    return [_sentence(span) for span in _sentences(doc)]


def _sentences(doc: Doc) -> Iterator[Span]:
    """The sentences, or all of it as one, that have more than white space."""
    spans = doc.sents if doc.has_annotation("SENT_START") else [doc[:]]
    return (span for span in spans if any(not token.is_space for token in span))


def _sentence(span: Span) -> Sentence:
    tokens = [token for token in span if not token.is_space]
    numbers = {token.i: number for number, token in enumerate(tokens, 1)}
    heads, labels = None, None
    if span.doc.has_annotation("DEP"):
        heads = [0 if token.head.i == token.i else numbers.get(token.head.i, -1) for token in tokens]
        labels = [token.dep_.replace(ROOT, "root") or "_" for token in tokens]
    return Sentence.from_columns(
        [token.text for token in tokens],
        lemmas=[token.lemma_ or "_" for token in tokens],
        coarse_tags=[token.pos_ or "_" for token in tokens],
        fine_tags=[token.tag_ or "_" for token in tokens],
        feats=[str(token.morph) or "_" for token in tokens],
        heads=heads,
        labels=labels,
        comments=[f"# text = {' '.join(span.text.split())}"],
    )


def to_doc(document: Document, vocab: Vocab) -> Doc:
    """The same document as spaCy's.

    Its text is the same too, but for multiword tokens whose words are other letters than theirs, such as ``du``.

    Example:
        >>> import spacy, treebp
        >>> doc = to_doc(treebp.load("en")("They saw her. It  rains."), spacy.blank("en").vocab)
        >>> doc.text, [token.head.text for token in doc][:4], len(list(doc.sents))
        ('They saw her. It  rains.', ['saw', 'saw', 'saw', 'saw'], 2)

    """
    words: list[str] = []
    spaces: list[bool] = []
    columns: dict[str, list[str]] = {"tags": [], "pos": [], "morphs": [], "lemmas": [], "deps": []}
    heads: list[int] = []
    starts: list[bool] = []

    def add(form: str, space: bool, head: int, *values: str) -> None:
        words.append(form)
        spaces.append(space)
        heads.append(head)
        starts.append(False)
        for column, value in zip(columns.values(), values, strict=True):
            column.append(value)

    def add_white(white: str) -> None:
        """White space that is not one space; it hangs on the word before or, if there is none, on the one after."""
        if white:
            add(white, False, len(words) - 1 if words else 1, "_SP", SPACE, "", white, "dep")

    for sentence in document.sentences:
        first = len(words)
        add_white(sentence.found.before)
        places: list[int] = []  # of the sentence's words among all tokens
        whites = []
        for token in sentence.found.tokens:
            forms = token.words or (token.form,)
            whites += [""] * (len(forms) - 1) + [token.white]
        for word, white in zip(sentence.words, whites, strict=True):
            places.append(len(words))
            tag, lemma = ("" if value == "_" else value for value in (word.fine_tag, word.lemma))
            pos, morph = ("" if value == "_" else value for value in (word.coarse_tag, word.feats))
            add(word.form, white.startswith(" "), -1, tag, pos, morph, lemma, word.label)
            add_white(white[1:] if white.startswith(" ") else white)
        for place, word in zip(places, sentence.words, strict=True):
            heads[place] = places[word.head - 1] if word.head else place
            if not word.head:
                columns["deps"][place] = ROOT
        starts[first] = True
    return Doc(vocab, words=words, spaces=spaces, heads=heads, sent_starts=starts, **columns)
