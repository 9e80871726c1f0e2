"""The paper's figures and tables as programs."""

from treebp.experiments.cells import Cell, CurvePoint, Result
from treebp.experiments.designs import EXPERIMENTS, Experiment
from treebp.experiments.plans import Plan, make_plan
from treebp.experiments.reports import ENDINGS, write_reports
from treebp.experiments.results_file import append_results, read_results
from treebp.experiments.treebanks import Treebank
from treebp.experiments.workers import News, run_cells, run_cells_on_cluster

__all__ = [
    "ENDINGS",
    "EXPERIMENTS",
    "Cell",
    "CurvePoint",
    "Experiment",
    "News",
    "Plan",
    "Result",
    "Treebank",
    "append_results",
    "make_plan",
    "read_results",
    "run_cells",
    "run_cells_on_cluster",
    "write_reports",
]
