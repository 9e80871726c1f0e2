import unicodedata

from drawn import Elements
from hypothesis import given
from hypothesis import strategies as st

from treebp.drawing.markup import as_text


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_escaped_text_comes_back(text: str) -> None:
    parser = Elements(f"<p>{as_text(text)}</p>")
    parser.close()
    assert parser.elements == {"p"}
    assert parser.text == "".join("\ufffd" if unicodedata.category(c) == "Cc" and c != "\n" else c for c in text)
