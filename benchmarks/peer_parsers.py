"""Parsing speed of treebp, spaCy or UDPipe: run by benchmarks/peers.py.

Arguments: system, file to train on, file to parse, and for treebp a model instead of training. Every request parses all
sentences once. Training is short, for how fast a system parses hardly depends on how well.
"""

import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.metadata import version
from itertools import islice
from typing import Any

from peer_protocol import cpu_seconds, serve

Row = list[str]


def rows(path: str) -> Iterator[list[Row]]:
    """The words of each sentence of a CoNLL-U file, as columns."""
    with open(path, encoding="utf-8") as file:
        for block in file.read().split("\n\n"):
            lines = [line.split("\t") for line in block.splitlines() if line and not line.startswith("#")]
            words = [line for line in lines if line[0].isdigit()]
            if words:
                yield words


def treebp(train: str, test: str, model: str = "") -> Callable[[], object]:
    from treebp.data import read_conll
    from treebp.parsing import Config, Parser
    from treebp.training import fit

    if model:
        parser = Parser.load(model)
    else:
        sentences = list(read_conll(train))
        parser = fit(sentences, sentences[:100], Config(epochs=2, rate=0.02))
    sentences = list(read_conll(test))
    return lambda: list(parser.parse(sentences, threads=1))


def spacy(train: str, test: str) -> Callable[[], object]:
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example

    nlp = spacy.blank("en")
    nlp.add_pipe("parser")

    def doc(words: list[Row]) -> Any:
        return Doc(nlp.vocab, words=[word[1] for word in words])

    examples = []
    for words in rows(train):
        # A head is a position from 0 on; the root's child is its own head.
        heads = [int(word[6]) - 1 if word[6] != "0" else k for k, word in enumerate(words)]
        labels = [word[7] if word[6] != "0" else "ROOT" for word in words]
        examples.append(Example.from_dict(doc(words), {"heads": heads, "deps": labels}))
    nlp.initialize(lambda: examples)
    for start in range(0, min(len(examples), 640), 32):
        nlp.update(examples[start : start + 32])
    sentences = list(rows(test))
    return lambda: list(nlp.pipe([doc(words) for words in sentences]))


def udpipe(train: str, test: str) -> Callable[[], object]:
    import tempfile

    from ufal import udpipe

    def sentences(path: str, most: int | None = None) -> Any:
        reader = udpipe.InputFormat.newConlluInputFormat()
        # UDPipe insists on this label for the root's child, also where a treebank has no labels.
        words = (
            ["\t".join([*word[:7], "root" if word[6] == "0" else "dep", *word[8:]]) for word in one]
            for one in islice(rows(path), most)
        )
        reader.setText("".join("\n".join(one) + "\n\n" for one in words))
        error = udpipe.ProcessingError()
        found = udpipe.Sentences()
        sentence = udpipe.Sentence()
        while reader.nextSentence(sentence, error):
            found.append(sentence)
            sentence = udpipe.Sentence()
        if error.occurred():
            raise ValueError(error.message)
        return found

    error = udpipe.ProcessingError()
    none = udpipe.Trainer.NONE
    trained = udpipe.Trainer.train(
        "morphodita_parsito", sentences(train, 200), udpipe.Sentences(), none, none, "iterations=1", error
    )
    if error.occurred():
        raise ValueError(error.message)
    with tempfile.NamedTemporaryFile() as file:
        file.write(trained)
        file.flush()
        loaded = udpipe.Model.load(file.name)
    tests = sentences(test)

    def work() -> None:
        for sentence in tests:
            if not loaded.parse(sentence, udpipe.Model.DEFAULT):
                raise ValueError("not parsed")

    return work


SYSTEMS: dict[str, Callable[..., Callable[[], object]]] = {"treebp": treebp, "spacy": spacy, "ufal.udpipe": udpipe}


@lru_cache
def prepared() -> Callable[[], object]:
    name, train, test, *model = sys.argv[1:]
    work = SYSTEMS[name](train, test, *model)
    work()
    return work


def handle(request: dict[str, Any]) -> dict[str, Any]:
    seconds = cpu_seconds(prepared(), 0.0)
    return {"version": version(sys.argv[1]), "words_per_second": sum(map(len, rows(sys.argv[3]))) / seconds}


serve(handle)
