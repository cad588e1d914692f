"""The command line: parse the options, call the library, print.

Only click is imported at the top, so that `--help` and `--version` cost little; everything else is imported where it
is used.
"""

from __future__ import annotations

import math
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pgasrob import __version__

if TYPE_CHECKING:
    from pgasrob.program.program import Program
    from pgasrob.render.json import Result
    from pgasrob.render.lines import Line
    from pgasrob.render.table import Table
    from pgasrob.robustness.verdict import Verdict

ROBUST, NOT_ROBUST, ERROR, UNKNOWN = 0, 1, 2, 3
INTERRUPTED = 130
"""As a shell reports a command that Ctrl-C ended."""
BROKEN_PIPE = 141
"""As a shell reports a command whose reader went away."""
GRAVEST_FIRST = (ERROR, UNKNOWN, NOT_ROBUST, ROBUST)
SUFFIXES = (".pgas", ".c")
MOST_STATES = 1_000_000  # robustness.check.DEFAULT_MAX_STATES, not imported for the help text

HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

EXAMPLES = """\b
Examples:
  pgasrob check ring.pgas                 one program on its own node count
  pgasrob check ring.pgas -n 2..5         on 2, 3, 4 and 5 nodes
  pgasrob check programs --expect         every program of a folder against its header
  pgasrob check ring.pgas --format json   one JSON object per line
  pgasrob explain-error PG010             what an error code means
"""

CHECK_EXAMPLES = """\b
Exit code:
  0  all robust
  1  some not robust
  2  a program with an error, or wrong usage
  3  unknown: a limit was hit
Of several the gravest, in the order 2, 3, 1, 0. With --expect: 0 all as
expected, 1 some not, 2 a header is missing or an error was not expected,
3 unknown. After Ctrl-C 130, once what is known so far has been printed.

\b
Examples:
  pgasrob check ring.pgas -n 2..5 --timeout 60
  pgasrob check programs --expect
  pgasrob check programs -v | less        with every counterexample
  pgasrob check programs --format json > verdicts.jsonl
"""

COMPLETION = {
    "bash": 'Add to ~/.bashrc:\n#     eval "$(pgasrob completion bash)"',
    "zsh": 'Add to ~/.zshrc, after compinit:\n#     eval "$(pgasrob completion zsh)"',
    "fish": "Run once:\n#     pgasrob completion fish > ~/.config/fish/completions/pgasrob.fish",
}


def main() -> None:
    """The entry point of the command `pgasrob`."""
    cli.main(prog_name="pgasrob")


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """A question that names what ``word`` may have been meant to be, empty when nothing is close."""
    close = get_close_matches(word, known, n=2)
    return f" Did you mean {' or '.join(close)}?" if close else ""


class _Commands(click.Group):
    """A group that suggests a command for a mistyped one, and ends quietly when nobody reads on or Ctrl-C is hit."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            file = name.endswith(SUFFIXES) or Path(name).exists()
            hint = f" Did you mean `pgasrob check {name}`?" if file else did_you_mean(name, self.list_commands(ctx))
            ctx.fail(f"No such command '{name}'.{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except OSError as error:
            # What is still buffered has nowhere to go either; without this the interpreter complains at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if isinstance(error, BrokenPipeError):
                ctx.exit(BROKEN_PIPE)
            click.echo(f"pgasrob: cannot write the output: {error.strerror}", err=True)
            ctx.exit(ERROR)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)


@click.group(cls=_Commands, context_settings=HELP, epilog=EXAMPLES)
@click.version_option(__version__, prog_name="pgasrob", message="%(prog)s %(version)s")
def cli() -> None:
    """Decide whether one-sided communication code (PGAS: OpenSHMEM, GASPI, ARMCI, ...) is correctly synchronised.

    A program is robust when every run on the network looks like a sequentially consistent run.
    """


class EngineName(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 on
    """The name of an engine; the engines are looked up when the option is used or explained."""

    name = "engine"

    def names(self) -> list[str]:
        from pgasrob.robustness.check import ENGINES

        return list(ENGINES)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"[{'|'.join(self.names())}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.names():
            names = self.names()
            self.fail(f"{value!r} is not one of {', '.join(names)}.{did_you_mean(value, names)}", param, ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in self.names() if name.startswith(incomplete)]


class NodeCounts(click.ParamType):  # type: ignore[type-arg]
    """Node counts: ``2``, ``2..5``, ``2,4``, or ranges and numbers mixed."""

    name = "nodes"
    form = re.compile(r"(\d{1,9})(?:\.\.(\d{1,9}))?", re.ASCII)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        from pgasrob.program.instance import MAX_NODES

        if isinstance(value, tuple):
            return value
        counts: list[int] = []
        for piece in str(value).split(","):
            match = self.form.fullmatch(piece.strip())
            if not match:
                self.fail(f"{piece.strip()!r} is no node count; write 2, 2..5 or 2,4.", param, ctx)
            first, last = int(match[1]), int(match[2] or match[1])
            if not 1 <= first <= MAX_NODES or not 1 <= last <= MAX_NODES:
                self.fail(f"{piece.strip()}: a program runs on 1..{MAX_NODES} nodes.", param, ctx)
            if last < first:
                self.fail(f"{piece.strip()}: the range is empty; write {last}..{first}.", param, ctx)
            counts += range(first, last + 1)
        return tuple(dict.fromkeys(counts))


def _seconds(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise click.BadParameter("it takes a number of seconds.", ctx, param)
    return value


@dataclass(frozen=True)
class Options:
    """The options of `check`."""

    nodes: tuple[int, ...] | None
    engine: str
    max_states: int
    timeout: float | None
    expect: bool
    strict: bool
    verbose: bool
    json: bool


@cli.command(context_settings=HELP, epilog=CHECK_EXAMPLES)
@click.argument("paths", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@click.option("-n", "--nodes", type=NodeCounts(), metavar="COUNTS",
              help="Node counts: 2, 2..5 or 2,4. Default: the program's own, or 2.")  # fmt: skip
@click.option("--engine", type=EngineName(), default="product", show_default=True,
              help="How to decide: product is the paper's procedure, definition tries every computation.")  # fmt: skip
@click.option("--max-states", type=click.IntRange(min=0), default=MOST_STATES, show_default=True, metavar="N",
              help="Give up on a program (unknown) after so many states; 0: never.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), callback=_seconds, metavar="SECONDS",
              help="Give up on a program (unknown) after so many seconds. Default: never.")  # fmt: skip
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="json: one object per program and node count, one per line.")  # fmt: skip
@click.option("--expect", is_flag=True, help="Compare every verdict with the program's header `// expect: ...`.")
@click.option("--strict", is_flag=True, help="A failing assertion or a deadlock makes the exit code 1.")
@click.option("-v", "--verbose", is_flag=True, help="Show every counterexample, also of several programs.")
@click.pass_context
def check(ctx: click.Context, /, paths: tuple[str, ...], format_: str, **options: Any) -> None:
    """Decide whether programs are robust.

    For a program that is not, a run on the network is shown that no sequentially consistent run looks like. Folders
    are searched for .pgas and .c files; hidden ones are left out. Several programs give a table of their verdicts.
    """
    chosen = Options(json=format_ == "json", **options)
    files, problems = find_programs(paths)
    for problem in problems:
        click.echo(f"pgasrob: {problem}", err=True)
    outcomes = [ERROR] * len(problems)
    printer = _printer(files, chosen)
    interrupted = False
    try:
        for result in _results(files, chosen):
            printer.result(result)
            outcomes.append(outcome(result, chosen.expect, chosen.strict))
    except KeyboardInterrupt:
        interrupted = True
    printer.end()
    if interrupted:
        left = len(files) - len({result["file"] for result in printer.results})
        click.echo(f"pgasrob: interrupted{f', {left} of {len(files)} files not reached' if left else ''}", err=True)
        ctx.exit(INTERRUPTED)
    ctx.exit(next(code for code in GRAVEST_FIRST if code in outcomes))


def find_programs(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """The files that ``paths`` stand for, each once, in order; and what is wrong with folders among them."""
    files: list[str] = []
    problems: list[str] = []
    for path in paths:
        if not os.path.isdir(path):
            files.append(str(Path(path)))
            continue
        refused: list[OSError] = []
        found = sorted(_programs_below(Path(path), refused))
        problems += [f"cannot read the folder {error.filename}: {error.strerror}" for error in refused]
        if not found and not refused:
            problems.append(f"no .pgas or .c file in the folder {path}")
        files += map(str, found)
    return list(dict.fromkeys(files)), problems


def _programs_below(folder: Path, refused: list[OSError]) -> Iterator[Path]:
    for where, folders, names in os.walk(folder, onerror=refused.append):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(where, name) for name in names if name.endswith(SUFFIXES) and not name.startswith("."))


def _results(files: Sequence[str], options: Options) -> Iterator[Result]:
    """The result for every file and node count. Ctrl-C gives what is known of the one at work and is raised again."""
    from pgasrob.program.program import DEFAULT_NODES
    from pgasrob.render.json import to_json
    from pgasrob.robustness.check import Interrupted
    from pgasrob.robustness.verdict import Verdict

    for number, file in enumerate(files, start=1):
        program = _load(file, options.engine)
        if isinstance(program, Verdict):
            yield _compared(to_json(program), file, options)
            continue
        for nodes in options.nodes or (program.nodes or DEFAULT_NODES,):
            try:
                verdict = _decide(program, nodes, f"[{number}/{len(files)}] {file}, {nodes} nodes", options)
            except Interrupted as interrupt:
                yield _compared(to_json(interrupt.verdict), file, options)
                raise
            yield _compared(to_json(verdict), file, options)


def _load(file: str, engine: str) -> Program | Verdict:
    """The program in ``file``, or the verdict `error` that says why there is none."""
    from pgasrob.diagnostics import SourceError
    from pgasrob.robustness.check import load
    from pgasrob.robustness.verdict import Verdict

    if file.endswith(".c") and os.path.exists(file):
        return Verdict(file, None, None, engine, "error", "C sources are not supported yet, only .pgas programs")
    try:
        return load(file)
    except SourceError as error:
        found = tuple(error.diagnostics)
        return Verdict(file, None, None, engine, "error", found[0].message, errors=found)


def _decide(program: Program, nodes: int, title: str, options: Options) -> Verdict:
    """The verdict, with a progress display where stderr is a terminal."""
    from pgasrob.robustness import check as library

    limits = library.Limits(options.max_states or None, options.timeout)
    if not sys.stderr.isatty():
        return library.check(program, nodes, options.engine, limits)
    from pgasrob.render.progress import Display

    with Display(sys.stderr, title, limits.max_states) as display:
        return library.check(program, nodes, options.engine, limits, display)


def _compared(result: Result, file: str, options: Options) -> Result:
    """``result``; under --expect with what the file's header expects of it, or what is wrong with the header."""
    if not options.expect:
        return result
    from pgasrob.diagnostics import SourceError
    from pgasrob.program.expectation import read_expectation
    from pgasrob.render.json import errors_to_json

    expected = None
    try:
        expectation = read_expectation(_text(file), file)
        expected = expectation.at(result["nodes"]) if expectation else None
    except SourceError as error:
        result["errors"] += errors_to_json(error.diagnostics)
    result["expected"] = expected
    result["as_expected"] = result["verdict"] == expected
    return result


def _text(file: str) -> str:
    """The text of ``file`` as far as it can be read; a file that is no program may still say so in its header."""
    try:
        return Path(file).read_bytes().decode(errors="replace")
    except (OSError, ValueError):
        return ""


def outcome(result: Result, expect: bool, strict: bool) -> int:
    """The exit code that ``result`` alone stands for (the design, section 6)."""
    verdict = result["verdict"]
    fails = strict and (result["assertions"] == "violated" or result["deadlock"] is True)
    if not expect:
        codes = {"robust": ROBUST, "not robust": NOT_ROBUST, "error": ERROR, "unknown": UNKNOWN}
        return codes[verdict] or (NOT_ROBUST if fails else ROBUST)
    expected = result.get("expected")
    if expected is None or (verdict == "error" and expected != "error"):
        return ERROR
    if verdict == "unknown":
        return UNKNOWN
    return ROBUST if verdict == expected and not fails else NOT_ROBUST


# --- Printing --------------------------------------------------------------------------------------------------------


class _Printer:
    """Prints results as they come; ``end`` prints what is about all of them."""

    def __init__(self, files: Sequence[str], options: Options) -> None:
        from pgasrob.render.lines import glyphs_for, terminal_width

        self.files = files
        self.options = options
        self.width = terminal_width()
        self.glyphs = glyphs_for(sys.stdout)
        self.results: list[Result] = []
        self.began = time.monotonic()

    def result(self, result: Result) -> None:
        raise NotImplementedError

    def end(self) -> None:
        pass

    def table(self) -> Table:
        from pgasrob.render.table import Table

        return Table(self.files, self.width, self.options.expect, self.glyphs)

    def write(self, lines: Iterable[Line]) -> None:
        from pgasrob.render.lines import write

        write(lines, sys.stdout)

    def keep(self, result: Result) -> None:
        """Note ``result`` for the end, without its runs: of thousands of programs they would fill the memory."""
        self.results.append({**result, "witness": None, "assertion_run": None, "deadlock_run": None})

    def summary(self, table: Table) -> None:
        self.write(table.end(self.results, time.monotonic() - self.began))


class _JsonLines(_Printer):
    """One object per line and nothing else."""

    def result(self, result: Result) -> None:
        import json

        click.echo(json.dumps(result))
        self.keep(result)


class _Reports(_Printer):
    """A report per result, and a table when there are several."""

    def result(self, result: Result) -> None:
        from pgasrob.render.text import report

        self.write([[]] * bool(self.results) + report(result, self.width, self.glyphs))
        self.keep(result)

    def end(self) -> None:
        if len(self.results) > 1:
            table = self.table()
            self.write([[], table.header(), *map(table.row, self.results)])
            self.summary(table)


class _Rows(_Printer):
    """A row per result."""

    def result(self, result: Result) -> None:
        table = self.table()
        self.write([table.header()] * (not self.results) + [table.row(result)])
        self.keep(result)

    def end(self) -> None:
        if not self.results:
            return
        self.summary(self.table())
        if any(result["verdict"] == "not robust" for result in self.results):
            self.write([[("Counterexamples are shown for a single program or with --verbose.", "faint")]])


def _printer(files: Sequence[str], options: Options) -> _Printer:
    if hasattr(sys.stdout, "reconfigure"):
        # A file name or source text that the encoding does not have is no reason to fail.
        sys.stdout.reconfigure(errors="backslashreplace")
    if options.json:
        return _JsonLines(files, options)
    return (_Reports if options.verbose or len(files) == 1 else _Rows)(files, options)


# --- The other commands ----------------------------------------------------------------------------------------------


@cli.command("explain-error", context_settings=HELP)
@click.argument("code", required=False)
def explain_error(code: str | None) -> None:
    """Explain an error code, or list them all."""
    from pgasrob.diagnostics.catalogue import CATALOGUE, UnknownCode, explain, known_codes

    if code is None:
        for each in known_codes():
            click.echo(f"{each}  {CATALOGUE[each].title}")
        return
    try:
        click.echo(explain(code))
    except UnknownCode as error:
        raise click.UsageError(str(error)) from None


@cli.command(context_settings=HELP)
@click.argument("shell", type=click.Choice(list(COMPLETION)))
def completion(shell: str) -> None:
    """Print a shell's completion script.

    Its last lines say how to install it.
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(cli, {}, "pgasrob", "_PGASROB_COMPLETE").source())
    click.echo(f"\n# {COMPLETION[shell]}")
