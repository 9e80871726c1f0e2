"""Files in and out: compressed or not, standard streams, and never a file half-written."""

import bz2
import codecs
import errno
import gzip
import io
import lzma
import os
import re
import shutil
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
# How compressed files begin, whatever their names.
_BEGINNINGS = {rb"\x1f\x8b\x08": ".gz", rb"\xfd7zXZ\x00": ".xz", rb"BZh[1-9]1AY&SY": ".bz2"}
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NO_TEXT = "this is no UTF-8 text but UTF-16 or binary: convert it (iconv -f UTF-16 -t UTF-8)"
_BLOCK = 1 << 16  # bytes of text that are read at a time
_unfinished: set[Path] = set()


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
        source: a path or "-" for standard input, decompressed when its name (.gz, .xz, .bz2) or its first bytes say
            that it is compressed, or an open stream, which stays open: a binary one, or a text one with a binary one
            below, as from `open`.

    Raises:
        TreebankError: if a compressed file is damaged or cut short, or if the text is UTF-16.
        OSError: if the file cannot be read; it names the file.

    Example:
        >>> import io
        >>> from treebp.data.files import read_lines
        >>> list(read_lines(io.BytesIO(b"one\r\ntwo")))
        [b'one\r\n', b'two']

    """
    line = 1
    with _damage_told(source, lambda: line), _open_reading(source) as stream:
        # Before the first line, which may never end; ASCII as UTF-16 has a zero beside every character.
        if isinstance(stream, io.BufferedReader):
            start = stream.peek(4)
            if start.startswith(_UTF_16) or b"\0\0" in (start[:3:2], start[1:4:2]):
                raise TreebankError(_NO_TEXT, name_of(source), 1)
        for text in stream:
            yield text
            line += 1


def read_text(source: PathOrStream, *, encoding: str = "utf-8") -> Iterator[str]:
    r"""Yield the text of a file in pieces, cut anywhere, with every character as it is, line ends included.

    Args:
        source: as for `read_lines`.
        encoding: of the file; one that extends ASCII.

    Raises:
        TreebankError: with the byte's position, if the file is not text in this encoding, or is damaged.
        ValueError: for an unknown encoding.
        OSError: if the file cannot be read; it names the file.

    Example:
        >>> import io
        >>> from treebp.data.files import read_text
        >>> "".join(read_text(io.BytesIO(b"one\r\ntw\xc3\xb6")))
        'one\r\ntwö'

    """
    check_encoding(encoding)
    decoder = codecs.getincrementaldecoder(encoding)()
    line, offset = 1, 0
    with _damage_told(source, lambda: line), _open_reading(source) as stream:
        while True:
            block = stream.read(_BLOCK)
            if not offset and block.startswith(_UTF_16):
                raise TreebankError(_NO_TEXT, name_of(source), 1)
            offset += len(block)
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                raise TreebankError(
                    f"byte 0x{error.object[error.start]:02x} at offset {offset - len(error.object) + error.start} "
                    f"is not {encoding}: name the file's encoding, for example --encoding latin-1",
                    name_of(source),
                    line + error.object[: error.start].count(b"\n"),
                ) from error
            if not block:
                return
            line += text.count("\n")
            yield text


@contextmanager
def _damage_told(source: PathOrStream, line: Callable[[], int]) -> Iterator[None]:
    """Turn what a decompressor says of a damaged file into an error that names file and line."""
    try:
        yield
    except (EOFError, lzma.LZMAError, zlib.error, OSError) as error:
        # Decompressors report damage as an OSError without a number; one with a number is the system's own.
        if isinstance(error, OSError) and error.errno is not None:
            with naming(name_of(source)):
                raise
        raise TreebankError(
            f"the compressed file is damaged or cut short here ({error}): get it again",
            name_of(source),
            line(),
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

    Devices and pipes are written directly, other files as `replacing` does.

    Args:
        target: a path (compressed when it ends in .gz, .xz or .bz2), "-" for standard output, or a stream.

    Raises:
        OSError: if that fails; it names the file.

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
        return
    name = "<stdout>" if os.fspath(target) == "-" else os.fspath(target)
    with naming(name):
        if name == "<stdout>":
            stream = _binary(sys.stdout)
            yield stream
            stream.flush()
        elif os.path.exists(target) and not os.path.isfile(target):
            with open(target, "wb") as stream:
                yield stream
        else:
            with replacing(target) as temporary, _compressed(temporary, Path(target).suffix) as stream:
                yield stream


def write_text(target: PathOrStream, text: str) -> None:
    """Write a whole file of UTF-8 text, as `open_writing` does."""
    with open_writing(target) as stream:
        stream.write(text.encode())


@contextmanager
def replacing(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Give the path of a temporary file that takes the place of `target` when the block ends without an exception.

    It lies in the same folder, and is removed after an error, so that a reader never meets half a file and a file may
    be rewritten while it is being read. Where `target` is a link, the file that it leads to is replaced; the new file
    has the old one's permissions.
    """
    path = Path(os.path.realpath(target))
    if not path.parent.is_dir():  # said here, since the system would name the temporary file
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    _unfinished.add(temporary)
    try:
        with naming(target, instead_of=temporary):
            temporary.unlink(missing_ok=True)  # of a process that was killed, and had the same number
            yield temporary
            if path.exists():
                shutil.copymode(path, temporary)
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
        _unfinished.discard(temporary)


def remove_unfinished() -> None:
    """Remove what `replacing` has begun to write in this process, before it ends without leaving its blocks."""
    for temporary in list(_unfinished):
        temporary.unlink(missing_ok=True)


@contextmanager
def naming(path: str | os.PathLike[str], *, instead_of: Path | None = None) -> Iterator[None]:
    """Let errors of the system name a file, where they name none or a temporary one: a full disk names none."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename in (None, str(instead_of)):
            error.filename, error.filename2 = os.fspath(path), None
        raise


@contextmanager
def _open_reading(source: PathOrStream) -> Iterator[BinaryIO]:
    if not isinstance(source, str | os.PathLike):
        yield _binary(source)
    elif os.fspath(source) == "-":
        with _decompressed(_binary(sys.stdin), "") as stream:
            yield stream
    else:
        with open(source, "rb") as raw, _decompressed(raw, Path(source).suffix) as stream:
            yield stream


@contextmanager
def _decompressed(raw: BinaryIO, suffix: str) -> Iterator[BinaryIO]:
    beginning = raw.peek(16) if isinstance(raw, io.BufferedReader) else b""
    kind = next((kind for start, kind in _BEGINNINGS.items() if re.match(start, beginning)), suffix)
    if kind in _OPEN:  # the decompressors' own line loops are slow: a buffer reads whole blocks
        with io.BufferedReader(_OPEN[kind](raw, "rb")) as stream:
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
