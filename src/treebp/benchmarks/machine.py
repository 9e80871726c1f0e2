"""What a measurement depends on: processor and versions. No host name, no path."""

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path


def machine_facts() -> dict[str, str | int]:
    """Processor, cores, operating system, versions, and the commit if this code is in a repository.

    Example:
        >>> sorted(machine_facts())
        ['commit', 'cores', 'numba', 'numpy', 'processor', 'python', 'system', 'treebp']

    """
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{package: version(package) for package in ("numpy", "numba", "treebp")},
        "commit": _commit(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def _commit() -> str:
    """The commit that is checked out, with a "+" if files differ from it; "" if this file is in no repository."""
    here = Path(__file__)

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(here.parent), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        # An installed copy may lie within a repository that has nothing to do with it.
        git("ls-files", "--error-unmatch", here.name)
        return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", ".") else "")
    except (OSError, subprocess.CalledProcessError):
        return ""
