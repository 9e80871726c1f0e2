"""Clusters of English words, for `treebp train --word-clusters`, from what the package spacy-lookups-data has of them.

    pip install spacy-lookups-data==1.0.5
    python benchmarks/english_clusters.py english.clusters

These are Brown clusters (1992) that spaCy's English models had until version 2.2: about 1,000 for 190,000 words. The
package is licensed under the MIT licence, Copyright (c) 2019 ExplosionAI GmbH.
"""

import gzip
import json
import sys
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    spec = find_spec("spacy_lookups_data")
    if spec is None or spec.origin is None or len(sys.argv) != 2:
        sys.exit(__doc__)
    clusters = json.loads(gzip.decompress((Path(spec.origin).parent / "data/en_lexeme_cluster.json.gz").read_bytes()))
    with open(sys.argv[1], "w", encoding="utf-8") as output:
        for word, cluster in clusters.items():
            if cluster and not any(mark.isspace() for mark in word):  # 0: none
                output.write(f"{cluster:b}"[::-1] + f"\t{word}\n")  # the lowest bit is the first turn from the root


if __name__ == "__main__":
    main()
