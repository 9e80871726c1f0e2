"""What a treebank file holds: sizes, labels, tags, and the trees that a parser may stumble over."""

import re
from collections import Counter
from dataclasses import dataclass, field

from treebp.data.conll import read_conll
from treebp.data.files import PathOrStream, name_of
from treebp.data.projectivity import nonprojective_arcs
from treebp.data.sentence import Format, find_cycle

_MULTIWORD_TOKEN = re.compile(r"^[0-9]+-[0-9]+\t", re.MULTILINE)
_EMPTY_NODE = re.compile(r"^[0-9]+\.[0-9]+\t", re.MULTILINE)


@dataclass
class Inventory:
    """Counts over one treebank file, as `take_inventory` finds them.

    Attributes:
        path: the file's name.
        format: "conllx" or "conllu".
        lengths: how many sentences have how many words.
        labels: how many words have which label.
        coarse_tags: how many words have which tag in column 4.
        fine_tags: how many words have which tag in column 5.
        texts: how many sentences have which words; the words are joined by tabs.
        multiword_tokens: their number.
        empty_nodes: their number.
        incomplete: sentences in which a head is missing.
        cyclic: sentences with a cycle.
        several_roots: sentences in which more than one word hangs on the root.
        nonprojective: sentences with a non-projective arc, among those with a complete tree.
        nonprojective_arcs: the arcs in them.

    Example:
        >>> from collections import Counter
        >>> from treebp.data.inventory import Inventory
        >>> inventory = Inventory("dev.conllu", lengths=Counter({5: 2, 8: 1}))
        >>> inventory.sentences, inventory.words
        (3, 18)

    """

    path: str
    format: Format = "conllx"
    lengths: Counter[int] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    coarse_tags: Counter[str] = field(default_factory=Counter)
    fine_tags: Counter[str] = field(default_factory=Counter)
    texts: Counter[str] = field(default_factory=Counter, repr=False)
    multiword_tokens: int = 0
    empty_nodes: int = 0
    incomplete: int = 0
    cyclic: int = 0
    several_roots: int = 0
    nonprojective: int = 0
    nonprojective_arcs: int = 0

    @property
    def sentences(self) -> int:
        """The number of sentences."""
        return self.lengths.total()

    @property
    def words(self) -> int:
        """The number of words."""
        return sum(length * count for length, count in self.lengths.items())


def take_inventory(source: PathOrStream, *, encoding: str = "utf-8") -> Inventory:
    r"""Read a treebank and count what it holds; cycles and missing heads are counted, not refused.

    Args:
        source: a CoNLL-X or CoNLL-U file, as for `read_conll`.
        encoding: of the file.

    Raises:
        TreebankError: if the file cannot be read.

    Example:
        >>> import io
        >>> from treebp.data.inventory import take_inventory
        >>> text = b"1\tTrees\ttree\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tgrow\tgrow\tVERB\t_\t_\t0\troot\t_\t_\n"
        >>> inventory = take_inventory(io.BytesIO(text))
        >>> inventory.sentences, inventory.words, dict(inventory.labels)
        (1, 2, {'nsubj': 1, 'root': 1})

    """
    inventory = Inventory(name_of(source))
    for sentence in read_conll(source, encoding=encoding, check_trees=False):
        inventory.format = sentence.format
        inventory.lengths[len(sentence)] += 1
        inventory.labels.update(sentence.labels)
        inventory.coarse_tags.update(sentence.coarse_tags)
        inventory.fine_tags.update(sentence.fine_tags)
        inventory.texts["\t".join(sentence.forms)] += 1
        inventory.multiword_tokens += len(_MULTIWORD_TOKEN.findall(sentence.text))
        inventory.empty_nodes += len(_EMPTY_NODE.findall(sentence.text))
        inventory.several_roots += sentence.heads.count(0) > 1
        if -1 in sentence.heads:
            inventory.incomplete += 1
        elif find_cycle(sentence.heads):
            inventory.cyclic += 1
        elif arcs := int(nonprojective_arcs(sentence.heads).sum()):
            inventory.nonprojective += 1
            inventory.nonprojective_arcs += arcs
    return inventory
