import re
import xml.etree.ElementTree as ElementTree

from treebp.drawing.demo_page import Row, demo_page

ROWS = [
    Row(training, iterations, 90.0 + iterations, 80.0, 1.5) for training in ("CLL", "<L2>") for iterations in (1, 2)
]


def test_the_page_is_complete_and_shows_text_as_text() -> None:
    text = demo_page("a < b", ROWS, "<script>alert(1)</script>", ["treebp parse 'x & y'"])
    assert "<script>" not in text
    assert "a &lt; b" in text
    assert "x &amp; y" in text
    assert "&lt;L2&gt;" in text
    assert "color-scheme: light dark" in text
    assert not re.search(r"(?:src|href)=|@import|url\(", text)
    body = text[text.index("<body>") : text.index("</body>") + len("</body>")]
    ElementTree.fromstring(body.replace("<tr class=best>", "<tr>"))
