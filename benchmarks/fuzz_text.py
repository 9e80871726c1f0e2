"""Take 10,000 mutated texts (or as many as the second argument says) through a model of the whole way, and back.

    python benchmarks/fuzz_text.py en.model [10000] [text.txt]

Without a file, the text is the embedded treebank's. The output, written as CoNLL-U and read again, must have the very
text that went in; see tests/tokenising/mutations.py.
"""

import io
import random
import sys
import time
from pathlib import Path

import treebp
from treebp.data.conll import read_conll
from treebp.data.embedded import embedded_treebank
from treebp.data.plain_text import plain_text

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "tokenising"))

from mutations import mutated

if __name__ == "__main__":
    nlp = treebp.load(sys.argv[1])
    texts = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    source = Path(sys.argv[3]).read_text("utf-8") if len(sys.argv) > 3 else plain_text(embedded_treebank("dev")).text
    dice = random.Random(1)
    empty = words = 0
    start = time.process_time()
    for number in range(texts):
        text = mutated(source, dice)
        doc = nlp(text)
        words += len(doc.words)
        if doc.sentences:
            again = plain_text(list(read_conll(io.BytesIO(doc.to_conllu().encode()), format="conllu"))).text
            assert again == text, f"text {number}: {text!r} came out as {again!r}"
        else:
            empty += 1
            assert not text.strip("\ufeff" + "".join(filter(str.isspace, text))), (
                f"text {number}: {text!r} has no words"
            )
    seconds = time.process_time() - start
    print(f"{texts:,} mutated texts of {words:,} words came out whole, {empty} of them empty, in {seconds:.0f} CPU s")
