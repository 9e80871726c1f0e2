from hypothesis import given
from hypothesis import strategies as st

from treebp.drawing.writing import shortened, text_width


@given(st.text(min_size=0, max_size=40), st.floats(1, 20))
def test_shortened_text_is_the_text_or_fits(text: str, width: float) -> None:
    short = shortened(text, width)
    assert text_width(short) <= width
    assert short == text or (text_width(text) > width and text.startswith(short[:-1]) and short[-1] == "…")
