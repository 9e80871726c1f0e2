"""How fast the parts and the whole are: measured, stored, compared and drawn. Nothing else needs these modules."""

from treebp.benchmarks.measurement import Measurement
from treebp.benchmarks.run import Comparison, Run, compare
from treebp.benchmarks.suite import GROUPS, measure_groups
from treebp.benchmarks.workload import FULL, QUICK, Sizes, Workload

__all__ = [
    "FULL",
    "GROUPS",
    "QUICK",
    "Comparison",
    "Measurement",
    "Run",
    "Sizes",
    "Workload",
    "compare",
    "measure_groups",
]
