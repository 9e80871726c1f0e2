"""Trees to draw, and what a browser makes of a page."""

from html.parser import HTMLParser

from hypothesis import strategies as st


class Elements(HTMLParser):
    """The names of all elements and attributes, as a browser would see them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


@st.composite
def trees(draw: st.DrawFn, *, most: int = 12) -> list[int]:
    order = draw(st.permutations(range(1, draw(st.integers(1, most)) + 1)))
    heads = [0] * len(order)
    for position, word in enumerate(order):
        heads[word - 1] = draw(st.sampled_from([0, *order[:position]]))
    return heads
