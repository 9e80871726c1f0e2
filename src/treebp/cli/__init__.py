"""The command line: ``treebp COMMAND``. One file per command, registered here."""

import gc
import sys
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from treebp.cli._errors import complain, errors_told, open_standard_streams, usage_message
from treebp.cli._signals import Stopped, ignore, listen
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
from treebp.cli.serve import serve
from treebp.cli.train import train

# The panels of `treebp --help`, in the order in which their first command is registered.
PARSER, DATA = "Parser", "Data"


class _Commands(TyperGroup):
    """Runs a command so that its errors become messages."""

    def invoke(self, ctx: Any) -> Any:
        with errors_told(debug=ctx.params["debug"]):
            return super().invoke(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, whose flags its help shows as such and not as options with a <bool>."""
        command = super().get_command(ctx, cmd_name)
        _bare_flags(command, ctx)
        return command

    def get_help(self, ctx: Any) -> str:
        _bare_flags(self, ctx)
        return super().get_help(ctx)


def _bare_flags(command: Any, ctx: Any) -> None:
    for option in command.get_params(ctx) if command else ():
        if getattr(option, "is_flag", False):
            option.metavar = ""


app = typer.Typer(
    cls=_Commands,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# A command's module imports what is slow to load inside its function: `treebp --help` loads all the modules.
app.command(rich_help_panel=PARSER)(demo)
app.command(rich_help_panel=PARSER)(train)
app.command(rich_help_panel=PARSER)(parse)
app.command(rich_help_panel=PARSER)(serve)
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
    """Run the command line and leave with 0, 1 for bad data, 2 for wrong usage, or 128 and the number of a signal."""
    open_standard_streams()
    gc.set_threshold(50_000, 20, 50)  # to look for garbage at every 700 objects costs a short run a tenth of its time
    status: Any = 0
    try:
        with errors_told(debug="--debug" in sys.argv):  # of help and version; a command has its own
            listen()
            status = app(prog_name="treebp", standalone_mode=False)
            ignore()
    except typer.Exit as leaving:
        status = leaving.exit_code
    except Stopped as stop:  # a second signal
        status = stop.status
    except Exception as error:
        # Usage errors have no common public class across the versions of typer, but they know what to say.
        if not hasattr(error, "format_message"):
            raise
        complain(usage_message(error))
        status = 2
    sys.exit(status if isinstance(status, int) else 0)
