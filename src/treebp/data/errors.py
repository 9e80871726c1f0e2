"""The one error of the data layer."""


class TreebankError(ValueError):
    """A treebank file that cannot be used: says where, what is wrong and what to do.

    Args:
        reason: what is wrong and what to do about it.
        path: the file's name as the user gave it.
        line: the line, from 1.
        column: the column, from 1: the field of a CoNLL file (7 is HEAD), the character of other files.

    Example:
        >>> from treebp.data.errors import TreebankError
        >>> print(TreebankError("the head is missing: write 0 for the root", "dev.conllu", 12, 7))
        dev.conllu:12:7: the head is missing: write 0 for the root

    """

    def __init__(
        self, reason: str, path: str | None = None, line: int | None = None, column: int | None = None
    ) -> None:
        # The base class keeps all arguments: an exception that crosses processes is rebuilt from them.
        super().__init__(reason, path, line, column)
        self.reason = reason
        self.path = path
        self.line = line
        self.column = column

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line, self.column) if part is not None)
        return f"{place}: {self.reason}" if place else self.reason
