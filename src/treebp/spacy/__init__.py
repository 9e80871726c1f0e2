"""treebp in spaCy's pipelines: ``nlp.add_pipe("treebp", config={"model": "en"})``."""

try:
    import spacy as _  # noqa: F401
except ImportError:
    raise ImportError("treebp.spacy needs spaCy: pip install 'treebp[spacy]'") from None

from treebp.spacy.component import TreeParser, make_component
from treebp.spacy.converting import from_doc, to_doc

__all__ = ["TreeParser", "from_doc", "make_component", "to_doc"]
