"""Text for people: a console on which no word of a treebank can do more than be shown."""

from typing import Any

from rich.console import Console
from rich.text import Text

from treebp.cli._errors import printable


class _Console(Console):
    def render_str(self, text: str, **options: Any) -> Text:
        """Every string that is printed or stands in a table comes by here."""
        return super().render_str(printable(text), **options)


def console(*, stderr: bool = False, soft_wrap: bool = True) -> Console:
    """The console of standard output or standard error, which takes text as it is."""
    return _Console(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=soft_wrap)
