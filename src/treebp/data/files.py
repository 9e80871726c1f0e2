"""Files in and out: compressed or not, standard streams, and never a file half-written."""

import bz2
import errno
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from treebp.data.errors import TreebankError

PathOrStream = str | os.PathLike[str] | IO[bytes] | IO[str]


def _gzip(raw: BinaryIO, mode: str) -> gzip.GzipFile:
    # Without name and time, so that the same text always gives the same bytes.
    return gzip.GzipFile("", mode, fileobj=raw, mtime=0)


_OPEN: dict[str, Callable[..., Any]] = {".gz": _gzip, ".xz": lzma.open, ".bz2": bz2.open}


def name_of(source: PathOrStream) -> str:
    """Name a file or stream for messages.

    Example:
        >>> from treebp.data.files import name_of
        >>> name_of("-"), name_of("dev.conllu")
        ('<stdin>', 'dev.conllu')

    """
    if isinstance(source, str | os.PathLike):
        return "<stdin>" if os.fspath(source) == "-" else os.fspath(source)
    return str(getattr(source, "name", "<stream>"))


def read_lines(source: PathOrStream) -> Iterator[bytes]:
    r"""Yield the lines of a file, each with its line end; only `\n` ends a line.

    Args:
        source: a path (decompressed when it ends in .gz, .xz or .bz2), "-" for standard input, or an open
            stream, which stays open: a binary one, or a text one with a binary one below, as from `open`.

    Raises:
        TreebankError: if a compressed file is damaged or cut short.

    Example:
        >>> import io
        >>> from treebp.data.files import read_lines
        >>> list(read_lines(io.BytesIO(b"one\r\ntwo")))
        [b'one\r\n', b'two']

    """
    line = 1
    try:
        with _open_reading(source) as stream:
            for text in stream:
                yield text
                line += 1
    except (EOFError, lzma.LZMAError, zlib.error, OSError) as error:
        # Decompressors report damage as an OSError without a number; one with a number is the system's own.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise TreebankError(
            f"the compressed file is damaged or cut short here ({error}): get it again",
            name_of(source),
            line,
        ) from error


def check_encoding(encoding: str) -> None:
    """ValueError unless an encoding is known and extends ASCII, so that lines can be told apart before decoding.

    Example:
        >>> from treebp.data.files import check_encoding
        >>> check_encoding("latin-1")
        >>> check_encoding("utf-16")
        Traceback (most recent call last):
        ...
        ValueError: 'utf-16' is not a known encoding that extends ASCII: convert the file to UTF-8

    """
    try:
        usable = b"1\t\n".decode(encoding) == "1\t\n"
    except (LookupError, UnicodeError):
        usable = False
    if not usable:
        raise ValueError(f"{encoding!r} is not a known encoding that extends ASCII: convert the file to UTF-8")


@contextmanager
def open_writing(target: PathOrStream) -> Iterator[BinaryIO]:
    """Open a binary stream that becomes the file `target` only when the block ends without an exception.

    The text goes to a temporary name in the same folder, which is renamed at the end or removed after an
    error, so that a reader never meets half a file and a file may be rewritten while it is being read.
    Devices and pipes are written directly.

    Args:
        target: a path (compressed when it ends in .gz, .xz or .bz2), "-" for standard output, or a stream.

    Example:
        >>> import tempfile, pathlib
        >>> from treebp.data.files import open_writing
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name) / "new.txt"
        >>> with open_writing(path) as stream:
        ...     _ = stream.write(b"whole")
        ...     path.exists()
        False
        >>> path.read_bytes()
        b'whole'
        >>> folder.cleanup()

    """
    if not isinstance(target, str | os.PathLike):
        yield _binary(target)
    elif os.fspath(target) == "-":
        stream = _binary(sys.stdout)
        yield stream
        stream.flush()
    elif os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as stream:
            yield stream
    else:
        path = Path(os.path.realpath(target))  # a link keeps pointing to the file
        if not path.parent.is_dir():  # said here, since the system would name the temporary file
            raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))
        temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            with _compressed(temporary, path.suffix) as stream:
                yield stream
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def _open_reading(source: PathOrStream) -> Iterator[BinaryIO]:
    if not isinstance(source, str | os.PathLike):
        yield _binary(source)
    elif os.fspath(source) == "-":
        yield _binary(sys.stdin)
    else:
        with open(source, "rb") as raw:
            suffix = Path(source).suffix
            if suffix in _OPEN:  # the decompressors' own line loops are slow: a buffer reads whole blocks
                with io.BufferedReader(_OPEN[suffix](raw, "rb")) as stream:
                    yield cast(BinaryIO, stream)
            else:
                yield raw


@contextmanager
def _compressed(path: Path, suffix: str) -> Iterator[BinaryIO]:
    with open(path, "xb") as raw:
        if suffix in _OPEN:
            with _OPEN[suffix](raw, "wb") as stream:
                yield stream
        else:
            yield raw


def _binary(stream: IO[bytes] | IO[str]) -> BinaryIO:
    if hasattr(stream, "buffer"):
        if stream.writable():
            stream.flush()  # what was printed before comes first
        return cast(BinaryIO, stream.buffer)
    if isinstance(stream, io.TextIOBase):
        raise TypeError("a binary stream is needed, such as open(path, 'rb') or io.BytesIO")
    return cast(BinaryIO, stream)
