"""Which tokens stand for several words."""

import io

from treebp.data.conll import read_conll
from treebp.data.plain_text import plain_text
from treebp.tokenising.multiword import MultiwordTokens


def learnt(*tokens: str) -> MultiwordTokens:
    """From tokens written as "vom=von+dem", or "See" for one that is a word."""
    rows: list[str] = []
    count = 0
    for token in tokens:
        form, _, words = token.partition("=")
        parts = words.split("+") if words else []
        if parts:
            rows.append("\t".join([f"{count + 1}-{count + len(parts)}", form, *"________"]))
        for word in parts or [form]:
            count += 1
            rows.append("\t".join([str(count), word, *"________"]))
    treebank = list(read_conll(io.BytesIO("\n".join(rows).encode()), format="conllu"))
    return MultiwordTokens.of(treebank, plain_text(treebank))


def test_known_tokens_are_split_as_in_training() -> None:
    tokens = learnt("vom=von+dem", "See", "Im=In+dem", "its=it+s", "its", "its", "lets=let+s", "lets=let+s", "lets")
    assert tokens.split("vom") == ("von", "dem")
    assert (tokens.split("Vom"), tokens.split("VOM")) == (("Von", "dem"), ("VON", "DEM"))
    assert (tokens.split("im"), tokens.split("See"), tokens.split("its")) == (("in", "dem"), (), ())
    assert tokens.split("Lets") == ("Let", "s")


def test_capitals_are_cut_from_the_token() -> None:
    tokens = learnt("don't=do+n't")
    assert tokens.split("DoN'T") == ("Do", "N'T")


def test_unknown_tokens_are_split_by_their_endings() -> None:
    verbs = ["farlo=far+lo", "dirlo=dir+lo", "vederlo=veder+lo", "amarlo=amar+lo"]
    others = ["carlo", "melo", "cielo", "parlo", "zelo", "stelo"]
    tokens = learnt(*verbs, "dargli=dare+gli", "fargli=fare+gli", "amargli=amare+gli", *others, *verbs)
    assert tokens.split("Dargli") == ("Dare", "gli")
    assert tokens.split("lasciargli") == ("lasciare", "gli")  # the ending is changed too
    assert tokens.split("gelo") == tokens.split("lo") == ()  # too few words end so
    assert tokens.split("carlo") == ()  # known to be a word


def test_nothing_is_learnt_from_nothing() -> None:
    tokens = learnt("a", "b")
    assert (tokens.forms, tokens.endings, tokens.split("a")) == ({}, {}, ())
