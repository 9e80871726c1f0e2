"""The dependency parser: features, pruning, inference, labels, model files."""

from treebp.parsing.config import Config
from treebp.parsing.inspection import Inspection
from treebp.parsing.parse import Parse
from treebp.parsing.parser import Parser

__all__ = ["Config", "Inspection", "Parse", "Parser"]
