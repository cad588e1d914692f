"""The command line: parse the options, call the library, print.

A command is a module of this package, imported when it is used. At the top they import click and each other's options
alone, so that `--help` costs little; everything else is imported where it is used. The body of a command checks its
options (`declare`), builds the question, has it answered, prints, and returns the exit code.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from pgasrob import __version__, file_input
from pgasrob.cli.declare import HELP
from pgasrob.cli.exit_codes import BROKEN_PIPE, CRASHED, ERROR, INTERRUPTED, ROBUST, UNKNOWN
from pgasrob.cli.parameter_types import Size
from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.whole_files import CannotWrite

EXAMPLES = """\b
Examples:
  pgasrob check ring.pgas                 one program on its own node count
  pgasrob check ring.pgas -n 2..5         on 2, 3, 4 and 5 nodes
  pgasrob check programs --expect         all programs of a folder, with headers
  pgasrob check ring.pgas --witness ring.html
                                          the run that shows it, step by step
  pgasrob explore ring.pgas               choose a run step by step in a browser
  pgasrob race ring.pgas                  accesses that nothing orders
  pgasrob outcomes ring.pgas              what it can compute, and how often
  pgasrob litmus sb.litmus                what memory models allow of a small program
  pgasrob explain ring.pgas               the theory behind the answer
  pgasrob examples                        programs to try all this on
  pgasrob explain-error PG010             what an error code means
"""


def main() -> None:
    """The entry point of the command `pgasrob`. Whatever goes wrong, the exit code is that of no verdict."""
    if sys.stderr is None:  # closed by the caller
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        sys.stderr.write("pgasrob: cannot write the output: it is closed\n")
        sys.exit(ERROR)
    warnings.formatwarning = lambda message, *_: f"pgasrob: {message}\n"
    try:
        cli.main(prog_name="pgasrob")
    except MemoryError:
        sys.stderr.write("pgasrob: out of memory\n")
        sys.exit(UNKNOWN)
    except Exception as error:
        from pgasrob.diagnostics.internal_error import internal_error

        files = (each for each in sys.argv[1:] if not each.startswith("-") and Path(each).is_file())
        sys.stderr.write(f"{internal_error(error, next(files, 'pgasrob')).render()}\n")
        sys.exit(CRASHED)


class _Commands(click.Group):
    """A group that imports a command when it is used, suggests one for a mistyped one, and alone says with which exit
    code what ends a command ends it."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            file = name.endswith((".pgas", ".c")) or Path(name).exists()
            hint = f"did you mean `pgasrob check {name}`?" if file else did_you_mean(name, self.list_commands(ctx))
            ctx.fail(f"no such command '{name}'{hint and '; '}{hint}")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return command_named(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # As click's, but from the table: to import every command takes longer than all the rest.
        room = formatter.width - 6 - max(map(len, COMMANDS))
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, click.Command(name, help=text).get_short_help_str(room)) for name, text in COMMANDS.items()]
            )

    def main(self, *arguments: Any, standalone_mode: bool = True, **options: Any) -> Any:
        run: Any = super().main
        if not standalone_mode:
            return run(*arguments, standalone_mode=False, **options)
        # Click ends with 1, which is "not robust", where a prompt is aborted, and for some errors.
        try:
            code = run(*arguments, standalone_mode=False, **options)
        except click.ClickException as error:
            error.show()
            code = ERROR
        except click.Abort:
            code = INTERRUPTED
        sys.exit(code if isinstance(code, int) else ROBUST)

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        with _ending():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: click.Context) -> Any:
        with _ending():
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result


@contextmanager
def _ending() -> Iterator[None]:
    """Within, Ctrl-C ends the command, and what cannot be written does, quietly when nobody reads on."""
    try:
        yield
    except CannotWrite as error:
        click.echo(f"pgasrob: {error}", err=True)
        raise click.exceptions.Exit(ERROR) from None
    except OSError as error:
        # What is still buffered has nowhere to go either; without this the interpreter complains at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise click.exceptions.Exit(BROKEN_PIPE) from None
        click.echo(f"pgasrob: cannot write the output: {error.strerror}", err=True)
        raise click.exceptions.Exit(ERROR) from None
    except KeyboardInterrupt:
        raise click.exceptions.Exit(INTERRUPTED) from None
    except EOFError as error:
        raise RuntimeError("data that is read ends too early") from error  # for click it would be Ctrl-D at a prompt


@click.group(cls=_Commands, context_settings=HELP, epilog=EXAMPLES)
@click.version_option(__version__, prog_name="pgasrob", message="%(prog)s %(version)s")
@click.option(
    "--max-file",
    type=Size(),
    metavar="SIZE",
    help="Read files up to this size, where that is more than usual: 16M of a source, 268M of what programs write.",
)
def cli(max_file: int | None) -> None:
    """Decide whether one-sided communication code (PGAS: OpenSHMEM, GASPI, ARMCI, ...) is correctly synchronised.

    A program is robust when every run on the network looks like a sequentially consistent run.
    """
    if max_file is not None:
        os.environ[file_input.RAISED] = str(max_file)  # for the processes that are started, too


COMMANDS = {
    "check": "Decide whether programs are correctly synchronised.",
    "certify": "Check a certificate that `pgasrob check --certificate` has written.",
    "race": "Decide whether programs have races.",
    "outcomes": "List the final values of a program's runs.",
    "litmus": "List what memory models allow of litmus tests.",
    "run": "Simulate one random run of a program.",
    "explore": "Explore a program live in the browser.",
    "lsp": "Tell an editor what is wrong while a program is written.",
    "repair": "Find the cheapest changes that make a program robust.",
    "thrift": "Find the waits, fences, barriers and blocking calls that a robust program can do without.",
    "reproduce": "Run a program that is not robust so that it shows.",
    "explain": "Explain the theory on one program, step by step.",
    "draw": "Draw a run that was kept as JSON.",
    "show": "Show a stage of the decision procedure.",
    "export": "Write the question for another tool.",
    "build": "Compile and link a program with a compiler of OpenSHMEM or MPI so that `pgasrob record` can record it.",
    "record": "Run a program that `pgasrob build` made, and write its accesses and calls to a trace.",
    "examples": "List, print or copy example programs.",
    "catalogue": "Write FOLDER/README.md, the list of a corpus.",
    "schema": "Print the JSON Schema of what COMMAND prints with --format json.",
    "course": "Teach with the lectures: slides, notebooks, hand-outs, marks.",
    "explain-error": "Explain an error code, or list them all.",
    "explain-assumption": "Explain what a verdict rests on, or list all that one may rest on.",
    "completion": "Print a shell's completion script.",
    "man": "Print the manual page, which has the help texts of all commands.",
}
"""Of each command the first sentence of its help. `pgasrob --help` shows these, in this order, and imports no command.

Each command is a function of the same name in the module of its name.
"""


def command_named(name: str) -> click.Command:
    """The command of a name that is one of `COMMANDS`."""
    module = name.replace("-", "_")
    found: click.Command = getattr(import_module(f"pgasrob.cli.{module}"), module)
    return found
