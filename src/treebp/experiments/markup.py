"""Text within HTML and SVG."""

from html import escape
from unicodedata import category


def as_text(value: object) -> str:
    """What shows a value literally, in an element or a quoted attribute; control characters leave a mark.

    Example:
        >>> as_text('"><script>')
        '&quot;&gt;&lt;script&gt;'

    """
    return escape("".join("\ufffd" if category(c) == "Cc" and c != "\n" else c for c in str(value)))
