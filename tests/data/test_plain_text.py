"""The text of a treebank, and where its tokens lie."""

import io

import pytest

from treebp.data.conll import read_conll
from treebp.data.errors import TreebankError
from treebp.data.plain_text import escaped, plain_text, unescaped
from treebp.data.sentence import Sentence


def treebank(*sentences: str) -> list[Sentence]:
    """Sentences written as lines: comments, and "ID FORM MISC" with "~" for a space in a form."""
    text = ""
    for sentence in sentences:
        for line in sentence.strip().split("\n"):
            if line.startswith("#"):
                text += f"{line}\n"
            else:
                name, form, *misc = line.split()
                text += "\t".join([name, form.replace("~", " "), *"_______", *(misc or "_")]) + "\n"
        text += "\n"
    return list(read_conll(io.BytesIO(text.encode()), format="conllu"))


def covered(*sentences: str) -> tuple[str, list[list[str]]]:
    text, _, spans = plain_text(treebank(*sentences))
    return text, [[text[start:end] for start, end in own] for own in spans]


def test_the_comment_has_the_text() -> None:
    text, tokens = covered(
        "# text = Trees  grow, slowly.\n1 Trees\n2 grow\n3 ,\n4 slowly\n5 .", "# text = So ?\n1 So~?"
    )
    assert text == "Trees  grow, slowly. So ?\n"
    assert tokens == [["Trees", "grow", ",", "slowly", "."], ["So ?"]]


def test_without_it_spaces_follow_unless_misc_says_otherwise() -> None:
    text, tokens = covered(
        "1 Trees\n2 grow SpaceAfter=No\n3 , SpacesAfter=\\n\n4 slowly Gloss=x|SpaceAfter=No\n5 .", "1 So"
    )
    assert (text, tokens) == ("Trees grow,\nslowly. So\n", [["Trees", "grow", ",", "slowly", "."], ["So"]])


def test_scripts_without_spaces_have_none() -> None:
    assert covered("1 同樣\n2 ,\n3 Visual\n4 Studio\n5 的", "1 大小")[0] == "同樣, Visual Studio的大小\n"
    assert covered("1 한국어\n2 문장")[0] == "한국어 문장\n"


def test_multiword_tokens_stand_for_their_words() -> None:
    text, tokens = covered("# text = vom See\n1-2 vom\n1 von\n2 dem\n2.1 empty\n3 See")
    assert (text, tokens) == ("vom See\n", [["vom", "See"]])
    (own,) = plain_text(treebank("1-2 vom\n1 von\n2 dem\n3 See")).sentences
    assert [(token.form, token.words, token.is_multiword) for token in own] == [
        ("vom", range(2), True),
        ("See", range(2, 3), False),
    ]


@pytest.mark.parametrize("comment", ["# text = um 10 000 Uhr", "# text = um 10\u00a0000 Uhr", "# x = y"])
def test_tokens_may_have_spaces_inside(comment: str) -> None:
    text, tokens = covered(f"{comment}\n1 um\n2 10~000\n3 Uhr")
    assert text.split() == ["um", "10", "000", "Uhr"]
    assert tokens[0][1].split() == ["10", "000"]


def test_paragraphs_are_a_blank_line_apart() -> None:
    assert covered("# newdoc id = a\n1 A", "1 B", "# newpar\n1 C")[0] == "A B\n\nC\n"
    assert (
        covered("# sent_id = web-1-01\n1 A", "# sent_id = web-1-02\n1 B", "# sent_id = web-2-01\n1 C")[0]
        == "A B\n\nC\n"
    )
    assert (
        covered("# sent_id = s1\n# newpar\n1 A", "# sent_id = t1\n1 B")[0] == "A B\n"
    )  # it says itself where they begin


def test_all_white_space_that_misc_knows_of_comes_back() -> None:
    text, tokens = covered(
        "# text = A b.\n1 A SpacesBefore=\\s\\t|SpacesAfter=\\n\\r\n2 b SpaceAfter=No\n3 . SpaceAfter=No"
    )
    assert (text, tokens) == (" \tA\n\rb.", [["A", "b", "."]])
    assert covered("1 A SpacesAfter=\\s")[0] == "A "
    white = " \t\r\n|\\n\u00a0"
    assert unescaped(escaped(white)) == white
    assert set(" \t\r\n|").isdisjoint(escaped(white))


def test_no_sentences_have_no_text() -> None:
    assert plain_text([]) == ("", [], [])


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# text = Trees grew", r"<stream>:3:2: the token 'grow' is not what follows in the sentence's text, 'grew'"),
        ("# text = Trees", r"<stream>:3:2: the token 'grow' is not what follows in the sentence's text, ''"),
        ("# text = Trees grow slowly", r"<stream>:1: the sentence's text goes on after its last token, with ' slowly'"),
    ],
)
def test_a_text_of_other_tokens_is_refused(comment: str, message: str) -> None:
    with pytest.raises(TreebankError, match=message):
        covered(f"{comment}\n1 Trees\n2 grow")
