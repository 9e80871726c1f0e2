"""What a client asks: a text or a treebank, and what is to be done with it."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from treebp._checks import whole_number

Input = Literal["text", "conllu"]
Output = Literal["json", "conllu"]
_INPUT_OF_TYPE: dict[str, Input] = {"text/plain": "text", "text/x-conllu": "conllu"}


class RequestError(Exception):
    """A question that is not answered: an HTTP status, and what is wrong with it."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True)
class Limits:
    """What a client may ask for.

    Attributes:
        size: bytes of a request.
        seconds: for a request, from its first byte to the last one of its answer.
        in_flight: requests that are read, wait or are answered at a time.
        words: of a sentence.
        kbest: trees of a sentence.
        kbest_words: of a sentence whose k best trees are wanted: they take time that grows with its cube.

    """

    size: int = 1 << 20
    seconds: float = 60.0
    in_flight: int = 256
    words: int = 500
    kbest: int = 20
    kbest_words: int = 100


@dataclass(frozen=True)
class Question:
    """A request's text and options, as `Pipeline` takes them.

    Attributes:
        text: plain text, or CoNLL-U.
        input: which of these it is.
        output: the format of the answer.
        kbest: as many alternatives are wanted for each sentence.
        marginals: all heads that a word may have, with their probabilities; in CoNLL-U that of its head.
        known: for each sentence, heads that are settled, as {modifier: head}; none where the list has ended.
        forbidden: for each sentence, arcs (head, modifier) that must not be; likewise.

    """

    text: str
    input: Input = "text"
    output: Output = "json"
    kbest: int = 0
    marginals: bool = False
    known: list[dict[int, int]] = field(default_factory=list)
    forbidden: list[list[tuple[int, int]]] = field(default_factory=list)


def read_question(content_type: str, body: bytes, query: Mapping[str, str], limits: Limits) -> Question:
    """The question in a request: JSON with everything in it, or plain text or CoNLL-U with options in the address.

    Raises:
        RequestError: if it is none.

    Example:
        >>> read_question("text/plain", b"Trees grow.", {"kbest": "2"}, Limits()).kbest
        2
        >>> read_question("application/json", b'{"text": "Trees grow.", "known": [{"1": 2}]}', {}, Limits()).known
        [{1: 2}]

    """
    kind = content_type.partition(";")[0].strip().lower()
    try:
        if kind == "application/json":
            options = json.loads(body)
            if not isinstance(options, dict):
                raise ValueError("the request's JSON must be an object")
            if query:
                raise ValueError("options of a JSON request belong into the JSON, not into the address")
        elif kind in _INPUT_OF_TYPE:
            options = {**query, "text": body.decode("utf-8"), "input": _INPUT_OF_TYPE[kind]}
            for name in ("kbest", "marginals"):
                if name in options:
                    options[name] = json.loads(options[name])
        else:
            allowed = ", ".join(["application/json", *_INPUT_OF_TYPE])
            raise RequestError(415, f"the content type must be one of {allowed}")
        return _checked(options, limits)
    except RecursionError:
        raise RequestError(400, "the request's JSON is nested too deeply") from None
    except ValueError as error:
        raise RequestError(400, str(error)) from None


def _checked(options: dict[str, Any], limits: Limits) -> Question:
    unknown = sorted(set(options) - {one.name for one in fields(Question)})
    if unknown:
        raise ValueError(f"unknown option {unknown[0]!r}")
    text = options.get("text")
    if not isinstance(text, str):
        raise ValueError("the request needs a text")
    text.encode("utf-8")  # half a character pair, as JSON can write it, is none
    for name, values in (("input", get_args(Input)), ("output", get_args(Output))):
        if options.get(name, values[0]) not in values:
            raise ValueError(f"{name} must be one of {', '.join(values)}")
    if not isinstance(options.get("marginals", False), bool):
        raise ValueError("marginals must be true or false")
    kbest = whole_number(options.get("kbest", 0), "kbest", 0)
    if kbest > limits.kbest:
        raise ValueError(f"kbest must be at most {limits.kbest}")
    constraints = {"known": _known(options.get("known", [])), "forbidden": _forbidden(options.get("forbidden", []))}
    return Question(**{**options, **constraints, "kbest": kbest})


def _known(value: Any) -> list[dict[int, int]]:
    """Known heads, whose modifiers JSON writes as strings."""
    if not (isinstance(value, list) and all(isinstance(heads, dict) for heads in value)):
        raise ValueError('known must be a list with an object {"modifier": head} for each sentence')
    return [{_word(int(modifier)): _word(head) for modifier, head in heads.items()} for heads in value]


def _forbidden(value: Any) -> list[list[tuple[int, int]]]:
    if not (isinstance(value, list) and all(isinstance(arcs, list) for arcs in value)):
        raise ValueError("forbidden must be a list with a list of arcs [head, modifier] for each sentence")
    return [[_arc(arc) for arc in arcs] for arcs in value]


def _arc(value: Any) -> tuple[int, int]:
    if not isinstance(value, Collection) or len(value) != 2:
        raise ValueError("an arc must be a pair [head, modifier]")
    head, modifier = value
    return _word(head), _word(modifier)


def _word(value: Any) -> int:
    """The number of a word, or 0 for the root."""
    return whole_number(value, "the number of a word", 0)
