"""Labels along sequences: tags and lemmas of words, and whatever else a chain over hashed features can tell."""

from treebp.tagging.model import SequenceModel
from treebp.tagging.sequences import LabelSet, Sequences
from treebp.tagging.tagger import Tagged, Tagger, TaggerOptions

__all__ = ["LabelSet", "SequenceModel", "Sequences", "Tagged", "Tagger", "TaggerOptions"]
