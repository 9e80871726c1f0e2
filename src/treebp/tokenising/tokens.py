"""Tokens and sentences as they were found in a text, and how they look in CoNLL-U."""

from typing import NamedTuple

from treebp.data.plain_text import escaped
from treebp.data.sentence import Sentence


class Token(NamedTuple):
    """A token: the characters [start, end) of a text.

    Attributes:
        start: of the whole text, as is ``end``.
        end: see above.
        form: these characters.
        words: what a multiword token stands for; empty for one that is a word by itself.
        white: the white space after it.

    """

    start: int
    end: int
    form: str
    words: tuple[str, ...]
    white: str


class TokenisedSentence(NamedTuple):
    """A sentence of a text.

    Attributes:
        tokens: in order, at least one.
        before: white space before the first token, which only a text's first sentence has.
        is_last: whether it is the text's last one.
        begins_paragraph: whether nothing or a blank line stands before it.

    """

    tokens: list[Token]
    before: str
    is_last: bool
    begins_paragraph: bool

    def to_sentence(self, number: int, *, ranges: bool = False) -> Sentence:
        r"""As CoNLL-U with words alone. MISC tells what follows a token, unless that is a single space.

        Args:
            number: of the sentence, for ``# sent_id``.
            ranges: write ``TokenRange=start:end``, each token's characters, into MISC.

        Example:
            >>> tokens = [Token(1, 5, "Vom", ("Von", "dem"), " "), Token(6, 9, "See", (), "\n\n")]
            >>> print(TokenisedSentence(tokens, "\t", False, False).to_sentence(1).text.replace("\t", " "), end="")
            # sent_id = 1
            # text = Vom See
            1-2 Vom _ _ _ _ _ _ _ SpacesBefore=\t
            1 Von _ _ _ _ _ _ _ _
            2 dem _ _ _ _ _ _ _ _
            3 See _ _ _ _ _ _ _ SpacesAfter=\n\n
            <BLANKLINE>

        """
        forms: list[str] = []
        rows: list[str] = []
        text: list[str] = []
        for token in self.tokens:
            text += [token.form, " " if token.white else ""]
            first = len(forms) + 1
            misc = self._misc(token, ranges)
            if token.words:
                forms += token.words
                rows.append(f"{first}-{len(forms)}\t{token.form}\t_\t_\t_\t_\t_\t_\t_\t{misc}")
                rows += [f"{word}\t{form}\t_\t_\t_\t_\t_\t_\t_\t_" for word, form in enumerate(token.words, first)]
            else:
                forms.append(token.form)
                rows.append(f"{first}\t{token.form}\t_\t_\t_\t_\t_\t_\t_\t{misc}")
        comments = ["# newpar"] if self.begins_paragraph else []
        comments += [f"# sent_id = {number}", f"# text = {''.join(text[:-1])}"]
        missing = ["_"] * len(forms)
        return Sentence(
            forms=forms,
            lemmas=missing,
            coarse_tags=missing,
            fine_tags=missing,
            feats=missing,
            heads=[-1] * len(forms),
            labels=missing,
            text="\n".join([*comments, *rows, "", ""]),
        )

    def _misc(self, token: Token, ranges: bool) -> str:
        """What MISC has for a token: nothing where one space follows, unless that ends the text."""
        entries = [f"TokenRange={token.start}:{token.end}"] if ranges else []
        if self.before and token is self.tokens[0]:
            entries.append(f"SpacesBefore={escaped(self.before)}")
        if not token.white:
            entries.append("SpaceAfter=No")
        elif token.white != " " or (self.is_last and token is self.tokens[-1]):
            entries.append(f"SpacesAfter={escaped(token.white)}")
        return "|".join(entries) or "_"
