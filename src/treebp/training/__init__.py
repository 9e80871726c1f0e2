"""Training: from treebank sentences to a parser."""

from treebp.training.data import Prepared, prepare
from treebp.training.fit import fit
from treebp.training.pipeline import fit_pipeline
from treebp.training.progress import Progress

__all__ = ["Prepared", "Progress", "fit", "fit_pipeline", "prepare"]
