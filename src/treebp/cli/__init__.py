"""The command line: ``treebp COMMAND``. One file per command, registered here."""

import sys
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from treebp.cli.bench import bench
from treebp.cli.convert import convert
from treebp.cli.debug_data import debug_data
from treebp.cli.demo import demo
from treebp.cli.download import download
from treebp.cli.evaluate import evaluate
from treebp.cli.experiment import experiment
from treebp.cli.init_config import init_config
from treebp.cli.inspect import inspect
from treebp.cli.parse import parse
from treebp.cli.train import train

# The panels of `treebp --help`, in the order in which their first command is registered.
PARSER, DATA = "Parser", "Data"


class _Commands(TyperGroup):
    """Turns a mistake in the user's data into one line on standard error, unless --debug asks for the traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (ValueError, OSError) as error:
            # A reader that stops early (`treebp ... | head`) is no mistake; typer ends the program quietly.
            if ctx.params["debug"] or isinstance(error, BrokenPipeError):
                raise
            _complain(_one_line(error))
            raise typer.Exit(1) from error
        except SystemError as error:
            # This is how Ctrl-C looks when it comes while a compiled kernel runs.
            cause: BaseException | None = error
            while cause is not None:
                if isinstance(cause, KeyboardInterrupt):
                    raise KeyboardInterrupt from error
                cause = cause.__cause__
            raise


app = typer.Typer(cls=_Commands, rich_markup_mode="rich", pretty_exceptions_enable=False, add_completion=False)
# A command's module imports what is slow to load inside its function: `treebp --help` loads all the modules.
app.command(rich_help_panel=PARSER)(demo)
app.command(rich_help_panel=PARSER)(train)
app.command(rich_help_panel=PARSER)(parse)
app.command(rich_help_panel=PARSER)(evaluate)
app.command(rich_help_panel=PARSER)(inspect)
app.command(rich_help_panel=PARSER)(init_config)
app.command(rich_help_panel=PARSER)(experiment)
app.command(rich_help_panel=PARSER)(bench)
app.command(rich_help_panel=DATA)(debug_data)
app.command(rich_help_panel=DATA)(convert)
app.command(rich_help_panel=DATA)(download)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"treebp {version('treebp')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def treebp(
    ctx: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Dependency parsers trained for their own approximations, by structured belief propagation.

    Example: treebp convert wsj_0001.mrg -o wsj_0001.conll
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def main() -> NoReturn:
    """Run the command line and leave with 0, 1 for bad data, 2 for wrong usage or 130 after Ctrl-C."""
    try:
        status = app(prog_name="treebp", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        status = 130
    except Exception as error:
        # Usage errors have no common public class across the versions of typer, but they know what to say.
        if not hasattr(error, "format_message"):
            raise
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "treebp"
        _complain(f"{error.format_message()} See: {command} --help")
        status = 2
    if status == 130:
        _complain("interrupted")
    sys.exit(status if isinstance(status, int) else 0)


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def _complain(message: str) -> None:
    typer.echo(f"treebp: {message}", err=True)
