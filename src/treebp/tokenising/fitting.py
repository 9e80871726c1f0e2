"""Training a tokeniser."""

from collections.abc import Callable, Sequence

from treebp.data.plain_text import plain_text
from treebp.data.sentence import Sentence
from treebp.tagging.fitting import FittingOptions, fit_sequences
from treebp.tokenising.characters import Characters
from treebp.tokenising.gaps import OpenGaps, gold_labels, token_ends
from treebp.tokenising.multiword import MultiwordTokens
from treebp.tokenising.tokeniser import Tokeniser, new_gap_model

_BITS = 21
_EPOCHS = 3
_REGULARISATION = 0.2
_TOGETHER = 100  # gaps of a training sequence: an update looks at a few sentences of several texts


def fit_tokeniser(
    treebank: Sequence[Sentence],
    *,
    seed: int = 1,
    threads: int = 1,
    after_epoch: Callable[[float], None] = lambda value: None,
) -> Tokeniser:
    """Train a tokeniser on the sentences of a treebank, and the text that they were made from.

    Example:
        >>> from treebp.data.embedded import embedded_treebank
        >>> tokeniser = fit_tokeniser(embedded_treebank("train")[:100])
        >>> [[token.form for token in sentence.tokens] for sentence in tokeniser.tokenise("She sleeps. He saw her!")]
        [['She', 'sleeps', '.'], ['He', 'saw', 'her', '!']]

    """
    text = plain_text(treebank)
    characters = Characters.of(text.text)
    open_gaps = OpenGaps.of(characters, token_ends(text))
    gaps = open_gaps.find(characters)
    model = new_gap_model(_BITS)
    fit_sequences(
        model,
        open_gaps.sequences(characters, gaps, longest=_TOGETHER),
        gold_labels(gaps, text),
        FittingOptions(epochs=_EPOCHS, regularisation=_REGULARISATION, seed=seed),
        threads=threads,
        after_epoch=after_epoch,
    )
    return Tokeniser(open_gaps, model, MultiwordTokens.of(treebank, text))
