"""Models that come with the package; README.md here says of each what it is, and under which licence."""

import os
from pathlib import Path

_HERE = Path(__file__).parent


def find_model(name: str | os.PathLike[str]) -> Path:
    """The file of a model: one of the package's if a plain name such as "en" is no file of the user's.

    Example:
        >>> find_model("en").name
        'en.model'
        >>> find_model("somewhere/en.model") == Path("somewhere/en.model")
        True

    """
    path = Path(name)
    own = _HERE / f"{path}.model"
    return own if path.name == os.fspath(name) and not path.exists() and own.exists() else path
