"""Read 10,000 mutated CoNLL-U files (or as many as the argument says): see tests/data/test_fuzz.py."""

import sys
import time
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "data"))

from test_fuzz import check, mutated_files

if __name__ == "__main__":
    examples = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    sizes: Counter[int] = Counter()

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(mutated_files())
    def fuzz(data: bytes) -> None:
        sizes[len(data)] += 1
        check(data)

    start = time.perf_counter()
    fuzz()
    seconds = time.perf_counter() - start
    print(f"{sizes.total():,} mutated files read exactly or refused in {seconds:.0f} s")
