"""``treebp download``: a Universal Dependencies treebank by its name."""

from pathlib import Path
from typing import Annotated

import typer


def download(
    name: Annotated[str, typer.Argument(metavar="TREEBANK", help="Name of the treebank, such as UD_English-EWT.")],
    to: Annotated[Path | None, typer.Option(help="Folder for treebanks; by default ~/.cache/treebp.")] = None,
    revision: Annotated[str | None, typer.Option(help="Tag or branch, such as r2.14; by default the newest.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that were not downloaded.")] = False,
    base_url: Annotated[str | None, typer.Option(help="Mirror: address of a GitHub-like contents API.")] = None,
) -> None:
    """Download a Universal Dependencies treebank from its public GitHub repository.

    Interrupted downloads are continued, every file is checked, and what is there already is not fetched again.

    Example: treebp download UD_English-EWT --to treebanks
    """
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TransferSpeedColumn

    from treebp.cli._terminal import console
    from treebp.data.download import BASE_URL, download_treebank

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    screen = console(stderr=True)
    with Progress(*columns, console=screen, disable=not screen.is_terminal) as display:
        tasks: dict[str, TaskID] = {}

        def show(file: str, received: int, size: int) -> None:
            if file not in tasks:
                tasks[file] = display.add_task(file)
            display.update(tasks[file], completed=received, total=size)

        treebank = download_treebank(
            name, to=to, revision=revision, base_url=base_url or BASE_URL, force=force, progress=show
        )
    typer.echo(f"licence: {treebank.licence}")
    for path in treebank.files:
        typer.echo(str(path))
