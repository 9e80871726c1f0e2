"""The dependency parser: features, pruning, training, model files."""

from treebp.parsing.config import Config
from treebp.parsing.inspection import Inspection
from treebp.parsing.parse import Parse
from treebp.parsing.parser import Parser
from treebp.parsing.preparation import Prepared, prepare
from treebp.parsing.training import EpochReport, Progress

__all__ = ["Config", "EpochReport", "Inspection", "Parse", "Parser", "Prepared", "Progress", "prepare"]
