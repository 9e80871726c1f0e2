"""The language of templates: what is right becomes slots, what is wrong raises an error that names the template."""

import pytest

from treebp.features.templates import Section, Slot, chosen, parse_template, parse_templates, with_tag

TOKENS = ("h", "h-", "m")


def test_slots_are_a_token_an_attribute_and_perhaps_a_star():
    assert parse_template("h-.word m.fine*", TOKENS, "arc") == (Slot("h-", "word", False), Slot("m", "fine", True))


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("x.word", "there is no token 'x', only h, h-, m"),
        ("m-.word", "there is no token 'm-'"),
        ("h.colour m.word", "there is no attribute 'colour', only word, fine"),
        ("", "the slot '' is not of the form token.attribute"),
        ("h.word  m.word", "the slot '' is not"),
        ("h.word ", "the slot '' is not"),
        ("h", "the slot 'h' is not"),
        ("h.", "the slot 'h.' is not"),
        ("h.*", "the slot 'h.*' is not"),
        (".word", "the slot '.word' is not"),
        ("h.word.fine", "there is no attribute 'word.fine'"),
        ("h.word**", "there is no attribute 'word*'"),
        ("h.word m.word h.word", "it looks twice at h.word"),
        ("h.word h.word*", "it looks twice at h.word"),
        ("h.fine* m.fine*", "it has more than one star"),
    ],
)
def test_mistakes_name_the_template(template, message):
    with pytest.raises(ValueError, match=r"^arc template ") as error:
        parse_template(template, TOKENS, "arc")
    assert f"arc template {template!r}: {message}" in str(error.value)


@pytest.mark.parametrize("second", ["h.word m.fine", "m.fine h.word", "m.fine* h.word"])
def test_templates_that_look_at_the_same_are_refused(second):
    with pytest.raises(ValueError, match=r"it looks at the same as 'h\.word m\.fine': leave one out") as error:
        parse_templates(["h.word m.fine", "h.word", second], TOKENS, "arc")
    assert repr(second) in str(error.value)


def test_sections_are_chosen_by_all_groups_that_they_need():
    sections = [
        Section(("tags",), with_tag("fine", ["h.T", "m.T*"])),
        Section(("tags", "words"), ("h.word m.fine",)),
        Section(("words",), ("h.word",)),
    ]
    assert chosen(sections, ["tags"]) == ["h.fine", "m.fine*"]
    assert chosen(sections, ["words"]) == ["h.word"]
    assert chosen(sections, ["words", "tags"]) == ["h.fine", "m.fine*", "h.word m.fine", "h.word"]
