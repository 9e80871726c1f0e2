"""Universal Dependencies treebanks, downloaded by name.

The files of a treebank are found through the contents API that GitHub and compatible servers offer: it names each file
of the repository with its size and its git hash, against which every download is checked. What a cut connection leaves
stays in a `.part` file, and the next attempt asks the server for the rest only.
"""

import hashlib
import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import NamedTuple

from treebp.data.files import naming, write_text

BASE_URL = "https://api.github.com/repos/UniversalDependencies"
ATTEMPTS = 4
TIMEOUT_SECONDS = 30.0
CHUNK = 1 << 16

_TREEBANK_NAME = re.compile(r"UD_[A-Z][A-Za-z_]*-[A-Za-z0-9]+")
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_WANTED = re.compile(r"[a-z]+_[a-z0-9]+-ud-[a-z0-9-]+\.conllu|LICENSE(\.txt|\.md)?|README\.(md|txt)")
_STATED_LICENCE = re.compile(r"^Licen[sc]e:\s*(.+?)\s*$", re.MULTILINE)
_FIRST_LINE = re.compile(r"(\S.*?)\s*$", re.MULTILINE)
_CUT = (ConnectionError, HTTPException, TimeoutError)

Progress = Callable[[str, int, int], None]


class DownloadError(OSError):
    """A download that failed: says what, and what to do."""


class Downloaded(NamedTuple):
    """A treebank on this machine: its folder, its CoNLL-U files, and its licence as its authors state it."""

    folder: Path
    files: list[Path]
    licence: str


class _RemoteFile(NamedTuple):
    name: str
    size: int
    git_hash: str
    url: str


def download_treebank(
    name: str,
    *,
    to: str | Path | None = None,
    revision: str | None = None,
    base_url: str = BASE_URL,
    force: bool = False,
    progress: Progress = lambda name, received, size: None,
) -> Downloaded:
    """Download a treebank's CoNLL-U files, licence and README into a folder named after it.

    Files that are already there and unchanged are not fetched again; a file that was cut off is continued. The
    folder's `SHA256SUMS` records what was received, in the format of `sha256sum --check`.

    Args:
        name: of the repository, such as `UD_English-EWT`.
        to: folder for treebanks; by default the user's cache, `~/.cache/treebp`.
        revision: a tag or branch such as `r2.14`; by default the repository's main branch.
        base_url: of the contents API, without the treebank's name.
        force: replace files that were not downloaded, or changed since.
        progress: called with a file's name, the bytes received so far and their number in the end.

    Raises:
        ValueError: if the name, revision or address is malformed, or if a file there is not one that was downloaded.
        DownloadError: if the treebank does not exist, or a file did not arrive whole.

    """
    if not _TREEBANK_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not the name of a treebank: expected one like UD_English-EWT")
    if revision is not None and not _REVISION.fullmatch(revision):
        raise ValueError(f"{revision!r} is not a revision: expected one like r2.14")
    folder = (cache_folder() if to is None else Path(to)) / (f"{name}@{revision}" if revision else name)
    remote_files = _list_files(name, revision, base_url.rstrip("/"))

    folder.mkdir(parents=True, exist_ok=True)
    record = folder / "SHA256SUMS"
    received = record.read_text(encoding="utf-8", errors="replace").splitlines() if record.is_file() else []
    paths = [folder / remote.name for remote in remote_files]
    wanted = [
        (remote, path)
        for remote, path in zip(remote_files, paths, strict=True)
        if not (path.is_file() and _git_hash(path) == remote.git_hash)
    ]
    for _, path in wanted:
        if path.exists() and not force and _sum(path) not in received:
            raise ValueError(f"{path} is not what was downloaded: choose another folder, or add --force")
    for remote, path in wanted:
        _fetch(remote, path, progress)
        # One by one, so that the next attempt knows what is ours.
        write_text(record, "".join(f"{_sum(path)}\n" for path in paths if path.is_file()))
    write_text(record, "".join(f"{_sum(path)}\n" for path in paths))
    return Downloaded(folder, [path for path in paths if path.suffix == ".conllu"], _licence(paths))


def cache_folder() -> Path:
    """Return the folder for downloaded treebanks, `$XDG_CACHE_HOME/treebp` or `~/.cache/treebp`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "treebp"


def _list_files(name: str, revision: str | None, base_url: str) -> list[_RemoteFile]:
    """Ask for the repository's files, and keep those that we want."""
    url = f"{base_url}/{name}/contents" + (f"?ref={revision}" if revision else "")
    try:
        with _opened(url) as response:
            text = response.read()
    except _CUT as error:
        raise DownloadError(f"{url}: the connection was cut; run the same command again") from error
    try:
        files = [
            _RemoteFile(entry["name"], int(entry["size"]), entry["sha"], entry["download_url"])
            for entry in json.loads(text)
            if _WANTED.fullmatch(entry["name"])
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise DownloadError(f"{url}: not a list of files as GitHub's contents API gives it") from error
    if not any(file.name.endswith(".conllu") for file in files):
        raise DownloadError(f"{url}: the repository holds no CoNLL-U file; try another --revision")
    return files


def _fetch(remote: _RemoteFile, path: Path, progress: Progress) -> None:
    """Download one file, continuing what an earlier attempt left, and check it before it gets its name."""
    part = path.with_name(path.name + ".part")
    for _ in range(ATTEMPTS):
        received = part.stat().st_size if part.exists() else 0
        if received >= remote.size:
            break
        try:
            with _opened(remote.url, offset=received) as response, naming(part), part.open("ab") as file:
                if response.status != 206:  # the server ignores the range and sends the whole file
                    file.truncate(0)
                while chunk := response.read(CHUNK):
                    file.write(chunk)
                    progress(remote.name, file.tell(), remote.size)
        except _CUT:
            continue  # what came is in the file; ask for the rest
    received = part.stat().st_size if part.exists() else 0
    if received < remote.size:
        raise DownloadError(
            f"{remote.url}: the connection was cut after {received:,} of {remote.size:,} bytes; "
            "run the same command again to continue"
        )
    if _git_hash(part) != remote.git_hash:
        part.unlink()
        raise DownloadError(f"{remote.url}: the file is damaged (wrong checksum); run the same command again")
    part.replace(path)


@contextmanager
def _opened(url: str, offset: int = 0) -> Iterator[HTTPResponse]:
    """Open a web address, from a byte offset on; every failure names the address."""
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise ValueError(f"{url!r} is not a web address: it must begin with https:// or http://")
    request = urllib.request.Request(url, headers={"User-Agent": "treebp"})
    if offset:
        request.add_header("Range", f"bytes={offset}-")
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        error.close()
        hint = "; check the name and the revision" if error.code == 404 else ""
        raise DownloadError(f"{url}: the server answered {error.code} {error.reason}{hint}") from error
    except urllib.error.URLError as error:
        raise DownloadError(f"{url}: {error.reason}; check the connection or try --base-url") from error
    with response:
        yield response


def _sum(path: Path) -> str:
    """Return a file's line in SHA256SUMS."""
    return f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}"


def _git_hash(path: Path) -> str:
    """Return the hash by which git knows a file's content."""
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _licence(paths: list[Path]) -> str:
    """Return the licence as the README's metadata names it, or the first line of the licence's text."""
    for name, pattern in (("README", _STATED_LICENCE), ("LICENSE", _FIRST_LINE)):
        for path in paths:
            if path.stem == name and (found := pattern.search(path.read_text(encoding="utf-8", errors="replace"))):
                return found[1]
    return "not stated"
