"""The two decorators of all kernels, and the cache that keeps what they compile.

Numba's cache on disk looks at a kernel's own file, but what it keeps has the kernels of other files compiled in. So
ours has a folder for each state of all the sources: after an edit everything is compiled anew, and nothing is stale.
"""

import hashlib
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import caching
from numba.core.runtime import nrt

_numba: Any = caching  # typed in some versions only
_runtime: Any = nrt.rtsys
F = TypeVar("F", bound=Callable[..., Any])
_KEPT = 3  # states of the sources, this one included: going back to another branch costs nothing


def sources_digest() -> str:
    """A name for the sources that kernels are compiled from: this folder's, and the root's private ones."""
    folder = Path(__file__).parent
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted((*folder.rglob("*.py"), *folder.parent.glob("_[!_]*.py"))):
        source = path.read_bytes()
        digest.update(f"{path.relative_to(folder.parent)} {len(source)}\n".encode() + source)
    return digest.hexdigest()


_DIGEST = sources_digest()


class _Cache(_numba.FunctionCache):  # type: ignore[misc]
    """Numba's cache of one kernel, in a folder of the sources' own within the place that Numba chose."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._folder = Path(self.cache_path, f"kernels-{_DIGEST}")
        self._cache_path = str(self._folder)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _numba.IndexDataCacheFile(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Read a compiled kernel; None, so that it is compiled anew, if there is none or its file is damaged.

        Numba would load all that its compiler may need before, which takes a third of a second.
        """
        _runtime.initialize(target_context)
        try:
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)
        except Exception:  # what unpickling a damaged file raises can be anything
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write a compiled kernel; the first one of new sources takes the place of the oldest sources' kernels."""
        if sources_digest() != _DIGEST:
            return  # edited since this process began: who knows which sources it has read
        with suppress(OSError):  # a full disk only costs time; and another process may be clearing up too
            if not self._folder.exists():
                self._folder.mkdir(parents=True, exist_ok=True)
                folders = sorted(self._folder.parent.glob("kernels-*"), key=lambda folder: folder.stat().st_mtime)
                for old in folders[:-_KEPT]:
                    shutil.rmtree(old, ignore_errors=True)
            super().save_overload(sig, data)


def kernel(function: F) -> F:
    """Compile on first call, cache on disk, release the GIL; division by zero gives inf or NaN as in NumPy."""
    return _compiled(function, {"contract"})


def summing_kernel(function: F) -> F:
    """A kernel whose sums may be reordered, so that its dot products vectorise; inf and NaN keep their meaning.

    Products may be reordered too: only for code in which no order of multiplication can overflow.
    """
    return _compiled(function, {"contract", "reassoc"})


def _compiled(function: F, fastmath: set[str]) -> F:
    dispatcher: Any = numba.njit(nogil=True, error_model="numpy", fastmath=fastmath)(function)
    with suppress(RuntimeError, OSError):  # no folder can be written: it is compiled anew in every process
        dispatcher._cache = _Cache(function)
    return cast(F, dispatcher)


def inlined(function: F) -> F:
    """A few lines of arithmetic that are written into every kernel that calls them, so that its loops vectorise."""
    return cast(F, numba.njit(inline="always", error_model="numpy", fastmath={"contract"})(function))
