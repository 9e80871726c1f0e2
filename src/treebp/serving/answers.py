"""Trees as JSON."""

import json
from typing import Any

from treebp.parsing.parse import Parse
from treebp.pipeline.document import words_of
from treebp.tokenising.tokens import TokenisedSentence

_DIGITS = 4
_LEAST = 0.001  # heads with less belief are not listed
_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def sentence_json(parse: Parse, found: TokenisedSentence | None, *, marginals: bool) -> str:
    """A sentence as JSON: its words with all that `treebp.pipeline.Word` has, and what else was asked for.

    Words of CoNLL-U have no place in a text, so ``start`` and ``end`` are missing.
    """
    spans = None if found is None else [(token.start, token.end) for token in found.tokens for _ in token.words or (0,)]
    words = [word._asdict() for word in words_of(parse, spans)]
    for word in words:
        if spans is None:
            del word["start"], word["end"]
        for name in ("tag_probability", "lemma_probability", "head_probability", "label_probability"):
            word[name] = round(word[name], _DIGITS)
    answer: dict[str, Any] = {"words": words}
    if found is not None:
        answer |= {"start": found.tokens[0].start, "end": found.tokens[-1].end}
    if marginals:
        for word, heads in zip(words, _heads(parse), strict=True):
            word["heads"] = heads
    if parse.alternatives:
        answer["alternatives"] = [
            {"heads": heads.tolist(), "accuracy": round(accuracy, _DIGITS)} for heads, accuracy in parse.alternatives
        ]
    return _dumps(answer)


def _heads(parse: Parse) -> list[list[tuple[int, float]]]:
    """For each word the heads that it may have, with their beliefs, the most probable one first."""
    heads: list[list[tuple[int, float]]] = [[] for _ in parse.heads]
    for head, modifier, belief in zip(
        parse.arcs.heads.tolist(), parse.arcs.modifiers.tolist(), parse.beliefs.tolist(), strict=True
    ):
        if belief >= _LEAST:
            heads[modifier - 1].append((head, round(belief, _DIGITS)))
    return [sorted(own, key=lambda pair: -pair[1]) for own in heads]
