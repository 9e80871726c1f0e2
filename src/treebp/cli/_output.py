"""Where a command may write."""

import errno
import os
from pathlib import Path

import typer


def check_output(path: str | Path, *, force: bool) -> None:
    """Refuse to replace a file without ``--force``, or to write where that is impossible, before any work is done."""
    path = Path(path)
    if path == Path("-"):
        return
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder: name a file in it.", param_hint="--output")
    if path.is_file() and not force:
        raise typer.BadParameter(f"{path} exists: choose another name, or add --force.", param_hint="--output")
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "nothing can be written in this folder", str(path.parent))
