"""What all pictures and pages share: text within HTML and SVG, and pages that need no other file and run no program."""

from html import escape
from string import Template
from unicodedata import category

# The policy keeps a browser from running or fetching anything, whatever a page should come to contain.
_PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>$title</title>
<style>
:root {
  color-scheme: light dark; font: 16px/1.55 system-ui, sans-serif;
  --paper: #fff; --ink: #1f2328; --soft: #656d76; --rule: #d8dee4; --tint: #f3f5f7;
  --blue: #0b66b0; --red: #bf4a00; --green: #00795a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --ink: #e4e8ec; --soft: #98a2ad; --rule: #323941; --tint: #1e2329;
    --blue: #6db5f2; --red: #ff9a57; --green: #46cf9f;
  }
}
body { max-width: 46rem; margin: 2.5rem auto 4rem; padding: 0 1.25rem; background: var(--paper); color: var(--ink) }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 0.75rem }
h2 { font-size: 1.15rem; margin: 2.5rem 0 0.5rem }
p { margin: 0.5rem 0; max-width: 54rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
td, th { padding: 0.25rem 1.25rem 0.25rem 0; text-align: start; border-bottom: 1px solid var(--rule) }
th { color: var(--soft); font-weight: 500; font-size: 0.875rem }
td.number, th.number { text-align: end }
pre { line-height: 1.25; font-size: 0.875rem }
.scroll { overflow-x: auto }
.plot { max-width: 100%; height: auto }
$style</style>
</head>
<body>
$body
</body>
</html>
""")


def as_text(value: object) -> str:
    """What shows a value literally, in an element or a quoted attribute; control characters leave a mark.

    Example:
        >>> as_text('"><script>')
        '&quot;&gt;&lt;script&gt;'

    """
    return escape("".join("\ufffd" if category(c) == "Cc" and c != "\n" else c for c in str(value)))


def svg_opening(kind: str, size: str, title: str, style: str) -> str:
    """The beginning of a picture of that class; ``size`` is attributes, ``style`` CSS, the title is text."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" {size} role="img">\n'
        f"<title>{as_text(title)}</title><style>{style}</style>"
    )


def svg_text(x: float, y: float, text: str, anchor: str = "start", attributes: str = "") -> str:
    """Text that begins, ends or has its middle at a place, as ``anchor`` says."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {attributes}>{as_text(text)}</text>'


def page_of(title: str, body: str, style: str = "") -> str:
    """A whole page, light or dark as the reader likes it; ``body`` and ``style`` are markup, the title is text.

    Example:
        >>> "<title>a &lt; b</title>" in page_of("a < b", "<p>text</p>")
        True

    """
    return _PAGE.substitute(title=as_text(title), body=body, style=style)
