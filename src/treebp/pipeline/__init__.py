"""The whole way from text to trees."""

from treebp.pipeline.document import Document, ParsedSentence, Word
from treebp.pipeline.pipeline import Pipeline, load

__all__ = ["Document", "ParsedSentence", "Pipeline", "Word", "load"]
