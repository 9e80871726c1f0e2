"""Questions are the same whichever way they come."""

import json

import pytest

from treebp.serving.questions import Limits, Question, RequestError, read_question


def test_options_in_the_address_and_in_json_agree() -> None:
    query = {"kbest": "2", "marginals": "true", "output": "conllu"}
    plain = read_question("text/plain; charset=utf-8", "Bäume".encode(), query, Limits())
    body = json.dumps({"text": "Bäume", "kbest": 2, "marginals": True, "output": "conllu"}).encode()
    assert plain == read_question("application/json", body, {}, Limits())
    assert plain == Question("Bäume", output="conllu", kbest=2, marginals=True)


def test_arcs_become_numbers() -> None:
    body = json.dumps({"text": "a b", "known": [{"1": 2}, {}], "forbidden": [[], [[0, 1]]]}).encode()
    question = read_question("application/json", body, {}, Limits())
    assert (question.known, question.forbidden) == ([{1: 2}, {}], [[], [(0, 1)]])


def test_limits_can_be_changed() -> None:
    with pytest.raises(RequestError, match="at most 3"):
        read_question("text/plain", b"a", {"kbest": "4"}, Limits(kbest=3))
