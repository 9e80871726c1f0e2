"""``treebp evaluate``: score a parsed file against the gold standard."""

from enum import Enum
from typing import Annotated

import typer

from treebp.cli._errors import complain
from treebp.cli._files import check_files


class Punctuation(str, Enum):
    """The punctuation rules, as ``treebp.data.punctuation`` names them."""

    include = "include"
    unicode = "unicode"
    ptb = "ptb"
    ud = "ud"


def evaluate(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="CoNLL-X or CoNLL-U file with the right trees.")],
    system: Annotated[str, typer.Argument(metavar="SYSTEM", help="The same sentences as parsed.")],
    punctuation: Annotated[
        Punctuation | None,
        typer.Option(
            help="What not to score: nothing (include), forms of Unicode punctuation (unicode, as CoNLL-2006), "
            "the tags `` '' : , . (ptb), the tag PUNCT (ud). Default: ud if column 4 has PUNCT, ptb if NN and "
            "the comma are tags, else unicode."
        ),
    ] = None,
    against: Annotated[str | None, typer.Option(help="Another system's output, to compare.")] = None,
    details: Annotated[bool, typer.Option("--details", help="Add scores per length, label, distance.")] = False,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Score the way from raw text: words and sentences may differ from the gold ones."),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, details included.")] = False,
    encoding: Annotated[str, typer.Option(help="Encoding of the files.")] = "utf-8",
) -> None:
    """Score heads and labels: UAS, LAS, label accuracy and exact match.

    UAS and LAS come with 95 % bootstrap confidence intervals, a comparison with p-values. With --raw, the measures of
    the CoNLL 2018 shared task, from Tokens to BLEX, each as precision, recall and F1.

    Example: treebp evaluate gold.conllu parsed.conllu --punctuation ud --against baseline.conllu
    """
    check_files(inputs=[gold, system, against])

    from treebp.cli._score_report import print_tables, scores_as_json
    from treebp.data.conll import read_conll
    from treebp.data.evaluation import evaluate as score
    from treebp.data.evaluation import usual_punctuation

    if raw:
        if punctuation or against or details:
            raise typer.BadParameter("--raw has no --punctuation, --against or --details.", param_hint="--raw")
        _evaluate_raw(gold, system, json=json, encoding=encoding)
        return
    sentences = list(read_conll(gold, encoding=encoding, require_heads=True))
    rule = punctuation.value if punctuation else usual_punctuation(sentences)
    paths = [system, against] if against else [system]
    systems = [list(read_conll(path, encoding=encoding)) for path in paths]
    results = [score(sentences, parsed, punctuation=rule) for parsed in systems]
    for path, parsed in zip(paths, systems, strict=True):
        if missing := sum(sentence.heads.count(-1) for sentence in parsed):
            complain(
                f"warning: {path}: {missing:,} of {sum(map(len, parsed)):,} words have no head, and count as wrong"
            )
    if json:
        typer.echo(scores_as_json(gold, paths, results))
    else:
        print_tables(paths, results, details=details)


def _evaluate_raw(gold: str, system: str, *, json: bool, encoding: str) -> None:
    from treebp.cli._score_report import print_raw_table, raw_as_json
    from treebp.data.conll import read_conll
    from treebp.data.raw_evaluation import evaluate_raw

    right, found = (read_conll(path, format="conllu", encoding=encoding) for path in (gold, system))
    scores = evaluate_raw(right, found)
    if json:
        typer.echo(raw_as_json(gold, system, scores))
    else:
        print_raw_table(system, scores)
