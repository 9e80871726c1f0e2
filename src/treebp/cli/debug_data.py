"""``treebp debug-data``: look at treebank files before training on them."""

from typing import Annotated

import typer

from treebp.cli._files import check_files


def debug_data(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="The training file, then those to parse.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    encoding: Annotated[str, typer.Option(help="Encoding of the files.")] = "utf-8",
) -> None:
    """Show sizes, labels, tags and oddities of treebanks, and what the parser will do about them.

    The first file is the one to train on. The exit code is 1 if the parser would refuse one of them.

    Example: treebp debug-data train.conllu dev.conllu test.conllu
    """
    check_files(inputs=files)

    from treebp.cli._inventory_report import inventories_as_json, print_report
    from treebp.data.findings import find_problems
    from treebp.data.inventory import take_inventory

    inventories = [take_inventory(path, encoding=encoding) for path in files]
    findings = find_problems(*inventories)
    if json:
        typer.echo(inventories_as_json(inventories, findings))
    else:
        print_report(inventories, findings)
    if any(finding.level == "error" for finding in findings):
        raise typer.Exit(1)
