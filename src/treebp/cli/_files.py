"""What a command may read, and where it may write: one rule for all of them.

All inputs are looked at before any output is touched. An existing file is replaced only with ``--force``, an input
never, a link leads to the file that is meant, and nothing but regular files is replaced. ``treebp.data.files`` then
lets every output appear only when it is complete.
"""

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

AnyPath = str | os.PathLike[str]
_STREAM = "-"


def check_files(
    *,
    inputs: Iterable[AnyPath | None] = (),
    outputs: Iterable[AnyPath] = (),
    force: bool = False,
    streams: bool = False,
) -> None:
    """Refuse what cannot be read or must not be written, before any work is done.

    Args:
        inputs: files to read, "-" for standard input; None for an option that was not given.
        outputs: files to write.
        force: outputs that exist may be replaced.
        streams: outputs may also be "-" for standard output, a pipe or a character device.

    Raises:
        typer.BadParameter: if an output exists, is an input, twice the same, or no file.
        OSError: if an input cannot be read, or an output's folder is missing or closed.

    """
    sources = [os.fspath(path) for path in inputs if path is not None]
    targets = [os.fspath(path) for path in outputs]
    for source in sources:
        _check_input(source)
    if sources.count(_STREAM) > 1:
        raise typer.BadParameter("standard input can be read only once: name a file instead of one of the -.")
    for target in targets:
        if not (streams and _is_stream(target)):
            _check_output(target, sources, force=force)
    places = [os.path.realpath(target) for target in targets]
    for target, place in zip(targets, places, strict=True):
        if places.count(place) > 1:
            raise typer.BadParameter(f"{target} would be written twice: choose other names.", param_hint="--output")
    if _STREAM in sources and sys.stdin.isatty():
        typer.echo("reading from the terminal, to its end (Ctrl-D)", err=True)


def _check_input(source: str) -> None:
    if source == _STREAM:
        return
    status = os.stat(source)  # an error that names the file, if it is not there
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder: name a file in it", source)
    if not os.access(source, os.R_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), source)


def _check_output(target: str, sources: list[str], *, force: bool) -> None:
    problem = ""
    if target == _STREAM:
        problem = "standard output is not possible here: name a file."
    elif os.path.isdir(target):
        problem = f"{target} is a folder: name a file in it."
    elif os.path.islink(os.path.realpath(target)):
        problem = f"{target} is a link that leads to itself: remove it."
    elif os.path.exists(target) and not os.path.isfile(target):
        problem = f"{target} is a device or a pipe, not a file: choose another name."
    elif any(source != _STREAM and _is_same(source, target) for source in sources):
        problem = f"{target} is an input, which is never replaced: choose another name."
    elif os.path.exists(target) and not force:
        problem = f"{target} exists: choose another name, or add --force."
    if problem:
        raise typer.BadParameter(problem, param_hint="--output")
    folder = Path(os.path.realpath(target)).parent
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(Path(target).parent))
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, "nothing can be written in this folder", str(Path(target).parent))


def _is_stream(target: str) -> bool:
    """Whether writing there replaces nothing: standard output, a pipe, or a character device such as /dev/null."""
    if target == _STREAM:
        return True
    try:
        mode = os.stat(target).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _is_same(source: str, target: str) -> bool:
    return os.path.exists(target) and os.path.samefile(source, target)


@contextmanager
def sole_writer(path: Path) -> Iterator[None]:
    """Hold a lock on a file until the block or the process ends, however it ends; ValueError if another process does.

    The file is made if need be, and removed again if nothing was written to it. The system keeps the lock: a process
    that is killed leaves none. Where there are no such locks (Windows, some network folders), nothing is locked.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    while True:
        with open(path, "ab") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ValueError(
                    f"{path}: another treebp is writing there: wait for it, or choose another name"
                ) from None
            except OSError as error:
                if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
                    raise
            if not (path.exists() and os.path.samestat(os.fstat(stream.fileno()), path.stat())):
                continue  # its last holder has just removed it
            try:
                yield
            finally:
                if path.exists() and not path.stat().st_size:
                    path.unlink()
            return
