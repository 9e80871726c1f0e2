"""``treebp serve``: trees over HTTP."""

from pathlib import Path
from typing import Annotated

import typer

from treebp.cli._files import check_files
from treebp.cli._signals import hand_over
from treebp.models import find_model


def serve(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file, as treebp train writes it, or en.")],
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all of this machine's.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any that is free.")] = 8000,
    token: Annotated[
        str | None, typer.Option(envvar="TREEBP_TOKEN", help="That clients must send as Authorization: Bearer TOKEN.")
    ] = None,
    max_size: Annotated[int, typer.Option(min=1, metavar="BYTES", help="Of a request.")] = 1 << 20,
    max_seconds: Annotated[float, typer.Option(min=0.1, metavar="S", help="For a request and its answer.")] = 60.0,
    max_requests: Annotated[int, typer.Option(min=1, metavar="N", help="At a time; others hear 429.")] = 256,
    max_length: Annotated[int, typer.Option(min=1, metavar="N", help="Words of a sentence.")] = 500,
    processes: Annotated[
        int | None, typer.Option(min=1, help="That answer; by default one per core, and four at most.")
    ] = None,
) -> None:
    """Answer requests over HTTP, and show a page on which to parse, and to change trees, in a browser.

    What clients send is never written or logged. Needs the extra serve: pip install 'treebp[serve]'.

    Example: treebp serve en --port 8000
    """
    check_files(inputs=[find_model(model)])
    try:
        from treebp.serving.questions import Limits
        from treebp.serving.running import serve as run
    except ImportError:
        raise ValueError("this command needs more packages: pip install 'treebp[serve]'") from None

    from treebp._threads import thread_count
    from treebp.cli._progress import announce_compilation
    from treebp.cli._terminal import console
    from treebp.kernels.tree_group import send_trees
    from treebp.pipeline import load

    pipeline = load(model)
    announce_compilation(console(stderr=True), send_trees)
    hand_over()
    run(
        pipeline,
        name=model.name,
        host=host,
        port=port,
        limits=Limits(size=max_size, seconds=max_seconds, in_flight=max_requests, words=max_length),
        token=token,
        processes=processes or min(thread_count(None), 4),
        tell=lambda address: typer.echo(f"listening on {address}", err=True),
    )
