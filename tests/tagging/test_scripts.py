"""Edit scripts from words to lemmas."""

from hypothesis import given
from hypothesis import strategies as st

from treebp.tagging.scripts import apply_script, script_of

TEXTS = st.text(min_size=1, max_size=8)


@given(TEXTS, TEXTS)
def test_a_script_makes_the_lemma_it_was_made_for(word, lemma):
    assert apply_script(script_of(word, lemma), word) == lemma


@given(st.text(alphabet="aAbBßİ|=", min_size=1, max_size=6), st.text(alphabet="aAbBßİ|=", min_size=1, max_size=6))
def test_it_does_so_with_marks_and_odd_capitals(word, lemma):
    assert apply_script(script_of(word, lemma), word) == lemma


@given(TEXTS, TEXTS, TEXTS)
def test_a_lemma_is_never_empty(word, lemma, other):
    assert apply_script(script_of(word, lemma), other)


def test_scripts_apply_to_other_words():
    for word, lemma, other, expected in [
        ("walked", "walk", "Talked", "talk"),
        ("Flies", "fly", "tries", "try"),
        ("gemacht", "machen", "gelacht", "lachen"),
        ("London", "London", "Paris", "Paris"),
        ("was", "be", "anything", "be"),
    ]:
        assert apply_script(script_of(word, lemma), other) == expected
