"""The cache of compiled kernels notices an edit of a kernel that others call; all else stays compiled."""

import shutil
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import pytest

from treebp.kernels import _jit, log_sums

CALLEE = """\
from package.kernels._jit import kernel
from package._constants import OFFSET

@kernel
def callee(x):
    return {factor} * x + OFFSET
"""
CALLER = """\
from package.kernels._jit import summing_kernel
from package.kernels.callee import callee

@summing_kernel
def caller(x):
    return callee(x) + 1.0
"""
RUN = """\
from package.kernels.caller import caller
print(caller(10.0), len(caller.stats.cache_hits), caller.stats.cache_path)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The root of a package of two kernels with our decorators; one calls the other."""
    kernels = tmp_path / "package/kernels"
    kernels.mkdir(parents=True)
    for folder in (kernels.parent, kernels):
        (folder / "__init__.py").touch()
    shutil.copy(_jit.__file__, kernels)
    (kernels.parent / "_constants.py").write_text("OFFSET = 0.0\n")
    (kernels / "callee.py").write_text(CALLEE.format(factor=2.0))
    (kernels / "caller.py").write_text(CALLER)
    return kernels.parent


def run(package: Path, first: str = "", **environment: str) -> tuple[float, int, Path]:
    """What the caller gives in a fresh process, how often it came from the cache, and where that is."""
    result = subprocess.run(
        [sys.executable, "-B", "-c", first + RUN],
        cwd=package.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    value, hits, path = result.stdout.split()
    return float(value), int(hits), Path(path)


def test_an_edited_callee_or_constant_is_noticed_and_nothing_else_is_compiled_again(package: Path) -> None:
    value, hits, cache = run(package)
    assert (value, hits) == (21.0, 0)
    assert run(package) == (21.0, 1, cache)
    written = {path: path.stat().st_mtime_ns for path in cache.iterdir()}
    assert {path.suffix for path in written} == {".nbi", ".nbc"}

    (package / "kernels/callee.py").write_text(CALLEE.format(factor=3.0))
    assert run(package)[:2] == (31.0, 0)
    assert run(package)[:2] == (31.0, 1)
    (package / "_constants.py").write_text("OFFSET = 5.0\n")
    assert run(package)[:2] == (36.0, 0)

    # Back to the first sources: their kernels are still there.
    (package / "kernels/callee.py").write_text(CALLEE.format(factor=2.0))
    (package / "_constants.py").write_text("OFFSET = 0.0\n")
    assert run(package) == (21.0, 1, cache)
    assert {path: path.stat().st_mtime_ns for path in cache.iterdir()} == written


def test_a_process_whose_sources_were_edited_meanwhile_leaves_nothing_behind(package: Path) -> None:
    edit = "import pathlib; pathlib.Path('package/_constants.py').write_text('OFFSET = 7.0'); "
    assert run(package, "import package.kernels._jit; " + edit)[:2] == (28.0, 0)
    (package / "_constants.py").write_text("OFFSET = 0.0\n")
    assert run(package)[:2] == (21.0, 0)


def test_old_kernels_do_not_pile_up(package: Path) -> None:
    caches = []
    for factor in range(5):
        (package / "kernels/callee.py").write_text(CALLEE.format(factor=float(factor)))
        caches.append(run(package)[2])
    assert len(set(caches)) == 5
    assert set(caches[0].parent.glob("kernels-*")) == set(caches[-3:])


def test_kernels_of_a_folder_that_cannot_be_written_are_cached_elsewhere(package: Path, tmp_path: Path) -> None:
    (package / "kernels/__pycache__").touch()  # no folder can be made there, whoever runs this
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    _, hits, cache = run(package, **home)
    assert hits == 0
    assert cache.is_relative_to(tmp_path)
    assert not cache.is_relative_to(package)
    assert run(package, **home) == (21.0, 1, cache)


def test_our_own_kernels_are_cached_by_all_their_sources() -> None:
    folder = f"kernels-{_jit.sources_digest()}"
    for kernel in (log_sums.log_add, log_sums.log_sum):
        assert Path(kernel.stats.cache_path).name == folder


def test_looking_at_the_sources_takes_no_time() -> None:
    seconds = []
    for _ in range(5):
        began = perf_counter()
        _jit.sources_digest()
        seconds.append(perf_counter() - began)
    assert min(seconds) < 0.02  # about 2 ms; others may be using the machine


ALL = """\
import importlib, pkgutil, sys
import treebp.kernels
from numba.core.registry import cpu_target

for module in pkgutil.iter_modules(treebp.kernels.__path__):
    for dispatcher in vars(importlib.import_module(f"treebp.kernels.{module.name}")).values():
        cache = getattr(dispatcher, "_cache", None)
        if hasattr(cache, "_cache_file") and cache._cache_file._load_index():
            for (signature, *_) in cache._cache_file._load_index():
                assert cache.load_overload(signature, cpu_target.target_context) is not None, (dispatcher, signature)
                print(dispatcher)
print("numba.experimental.jitclass.base" in sys.modules)
"""


def test_all_our_kernels_are_read_without_numbas_compiler() -> None:
    log_sums.log_add(0.0, 0.0)  # so that there is one at least
    done = subprocess.run([sys.executable, "-c", ALL], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *read, compiler = done.stdout.splitlines()
    assert read
    assert compiler == "False"
