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
  pgasrob check halo.c                    check a C program on its own node count
  pgasrob check halo.c -n 2..5            check it on 2, 3, 4 and 5 nodes
  pgasrob check halo.c --witness run.html write the run that shows the mistake as a page
  pgasrob repair halo.c                   find the cheapest repair
  pgasrob explore halo.c                  choose a run step by step in a browser
  pgasrob race halo.c                     list accesses that nothing orders
  pgasrob check programs --expect         compare a folder of programs with their headers
  pgasrob outcomes ring.pgas              list what a program can compute, and how often
  pgasrob litmus sb.litmus                list what memory models allow of a small program
  pgasrob explain ring.pgas               explain the theory behind the answer
  pgasrob examples                        list programs to try all this on
  pgasrob explain-error PG010             say what an error code means
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
        # As click's, but in groups, and from the table: to import every command takes longer than all the rest.
        width = max(map(len, COMMANDS))
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in group.items()])

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
    help="Read files up to this size. By default sources may have 16M, and files that programs write 268M.",
)
def cli(max_file: int | None) -> None:
    """Decide whether one-sided communication code (MPI, OpenSHMEM, GASPI, ...) is correctly synchronised.

    C programs are checked for illegal calls, deadlocks, failing assertions and races that change the result, and for
    robustness: a program is robust when every run on the network looks like a sequentially consistent run.
    """
    if max_file is not None:
        os.environ[file_input.RAISED] = str(max_file)  # for the processes that are started, too


GROUPS = {
    "Check": {
        "check": "Decide whether programs are correctly synchronised.",
        "race": "Decide whether programs have races.",
        "certify": "Check the certificate of a robust program.",
    },
    "Repair": {
        "repair": "Find the cheapest changes that make a program robust.",
        "thrift": "Find calls that a robust program does not need.",
    },
    "Look": {
        "explore": "Explore a program live in the browser.",
        "run": "Simulate one random run of a program.",
        "outcomes": "List the final values of a program's runs.",
        "draw": "Draw a run that was saved as JSON.",
        "explain": "Explain the theory on one program, step by step.",
        "show": "Show one stage of the decision procedure.",
    },
    "Real runs": {
        "reproduce": "Reproduce a violation on an installed library.",
        "build": "Build a program so that it can be recorded.",
        "record": "Run a program and record its accesses and calls.",
    },
    "Models": {
        "litmus": "List what memory models allow in litmus tests.",
    },
    "Teaching": {
        "course": "Make slides and notebooks, and mark exercises.",
        "examples": "List, print or copy example programs.",
        "catalogue": "Write the list of a folder of programs.",
        "serve": "Serve a page on which many can try pgasrob.",
    },
    "Work with other tools": {
        "lsp": "Start the language server for editors.",
        "export": "Write the question for another tool.",
        "schema": "Print the JSON Schema of a command's output.",
        "completion": "Print a shell's completion script.",
    },
    "Help": {
        "explain-error": "Explain an error code, or list them all.",
        "explain-assumption": "Explain an assumption, or list them all.",
        "man": "Print the manual page.",
    },
}
"""The commands in the groups of `pgasrob --help`, which imports none of them: of each the first sentence of its help.

Each command is a function of the same name in the module of its name.
"""
COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}


def command_named(name: str) -> click.Command:
    """The command of a name that is one of `COMMANDS`."""
    module = name.replace("-", "_")
    found: click.Command = getattr(import_module(f"pgasrob.cli.{module}"), module)
    return found
