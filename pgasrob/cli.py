"""The command line: parse the options, call the library, print.

Only click is imported at the top, so that `--help` and `--version` cost little; everything else is imported where it
is used.
"""

from __future__ import annotations

import math
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pgasrob import __version__
from pgasrob.diagnostics.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pgasrob.frontends.options import FrontEnd
    from pgasrob.render.json import Result
    from pgasrob.render.progress import Display

ROBUST, NOT_ROBUST, ERROR, UNKNOWN = 0, 1, 2, 3
CRASHED = 70
"""As sysexits.h has it for an error of the software itself."""
INTERRUPTED = 130
"""As a shell reports a command that Ctrl-C ended."""
BROKEN_PIPE = 141
"""As a shell reports a command whose reader went away."""
GRAVEST_FIRST = (ERROR, UNKNOWN, NOT_ROBUST, ROBUST)
DEFAULT_ENGINE = "attack"  # those of robustness.check, which is not imported for the help text
MOST_STATES = 1_000_000
NO_KERNEL = (
    "pgasrob: the native kernel is not installed; searching in Python, some 50 times slower (installing pgasrob with a "
    "Rust toolchain at hand builds it)"
)

HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

EXAMPLES = """\b
Examples:
  pgasrob check ring.pgas                 one program on its own node count
  pgasrob check ring.pgas -n 2..5         on 2, 3, 4 and 5 nodes
  pgasrob check programs --expect         all programs of a folder, with headers
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

SHOW_EXAMPLES = """\b
Examples:
  pgasrob show ring.pgas --stage control
  pgasrob show ring.pgas --stage state-space --dot | dot -Tsvg > ring.svg
"""

EXPORT_EXAMPLES = """\b
Examples:
  pgasrob export ring.pgas --to promela -n 4 -o ring.pml
"""

COMPLETION = {
    "bash": 'Add to ~/.bashrc:\n#     eval "$(pgasrob completion bash)"',
    "zsh": 'Add to ~/.zshrc, after compinit:\n#     eval "$(pgasrob completion zsh)"',
    "fish": "Run once:\n#     pgasrob completion fish > ~/.config/fish/completions/pgasrob.fish",
}


def main() -> None:
    """The entry point of the command `pgasrob`. Whatever goes wrong, the exit code is that of no verdict."""
    if sys.stderr is None:  # closed by the caller
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        sys.stderr.write("pgasrob: cannot write the output: it is closed\n")
        sys.exit(ERROR)
    try:
        cli.main(prog_name="pgasrob")
    except MemoryError:
        sys.stderr.write("pgasrob: out of memory\n")
        sys.exit(UNKNOWN)
    except Exception as error:
        import traceback

        traceback.print_exc()
        sys.stderr.write(f"pgasrob: internal error, please report it: {error}\n")
        sys.exit(CRASHED)


class _Commands(click.Group):
    """A group that suggests a command for a mistyped one, and ends quietly when nobody reads on or Ctrl-C is hit."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            file = name.endswith((".pgas", ".c")) or Path(name).exists()
            hint = f"did you mean `pgasrob check {name}`?" if file else did_you_mean(name, self.list_commands(ctx))
            ctx.fail(f"no such command '{name}'{hint and '; '}{hint}")
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


class _Name(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 on
    """One of some names, which are looked up when the option is used or explained."""

    def names(self) -> Sequence[str]:
        raise NotImplementedError

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        names = self.names()
        if value not in names:
            hint = did_you_mean(value, names)
            self.fail(f"{value!r} is not one of {', '.join(names)}{hint and '; '}{hint}", param, ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in self.names() if name.startswith(incomplete)]


class EngineName(_Name):
    """The name of an engine."""

    name = "engine"

    def names(self) -> Sequence[str]:
        from pgasrob.robustness.check import ENGINES

        return list(ENGINES)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"[{'|'.join(self.names())}]"


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


class Reduction(_Name):
    """The name of a reduction of the attack engine."""

    name = "reduction"

    def names(self) -> Sequence[str]:
        from pgasrob.robustness.reduction import REDUCTIONS

        return REDUCTIONS


class Dialect(_Name):
    """A version of an API."""

    name = "dialect"

    def names(self) -> Sequence[str]:
        from pgasrob.frontends.options import DIALECTS

        return DIALECTS


class Macro(click.ParamType):  # type: ignore[type-arg]
    """A macro of the C preprocessor: ``NAME`` (which is 1) or ``NAME=VALUE``."""

    name = "macro"
    form = re.compile(r"([A-Za-z_]\w*)(?:=(.*))?", re.ASCII | re.DOTALL)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        match = self.form.fullmatch(value)
        if not match:
            self.fail(f"{value!r} is no macro; write -D NAME or -D NAME=VALUE.", param, ctx)
        return match[1], "1" if match[2] is None else match[2]


def _c_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options about C files."""
    options = (
        click.option("--api", "dialects", type=Dialect(), multiple=True, metavar="DIALECT",
                     help="C: which version of an API is meant where versions differ: gaspi-17 (the default) or "
                     "gaspi-1.01. Can be repeated."),
        click.option("--assume-pure", "pure", multiple=True, metavar="NAME",
                     help="C: the function NAME, which is not in the file, touches no shared memory; it returns "
                     "any of 0..3. Can be repeated."),
        click.option("-D", "defines", type=Macro(), multiple=True, metavar="NAME[=VALUE]",
                     help="C: define a macro. Can be repeated."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def _front_end(dialects: tuple[str, ...], pure: tuple[str, ...], defines: tuple[tuple[str, str], ...]) -> FrontEnd:
    from pgasrob.frontends.options import FrontEnd

    return FrontEnd(dialects, pure, defines)


class Size(click.ParamType):  # type: ignore[type-arg]
    """An amount of memory in bytes: ``500M``, ``1.5G``; ``0`` for none."""

    name = "size"
    form = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?([KMGT])B?", re.ASCII | re.IGNORECASE)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int) or value == "0":
            return int(value)
        match = self.form.fullmatch(value)
        size = int(float(match[1]) * 1000 ** (1 + "KMGT".index(match[2].upper()))) if match else 0
        if not size:
            self.fail(f"{value!r} is no amount of memory; write 500M or 2G, or 0 for no limit.", param, ctx)
        return size


def _seconds(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise click.BadParameter("it takes a number of seconds.", ctx, param)
    return value


@cli.command(context_settings=HELP, epilog=CHECK_EXAMPLES)
@click.argument("paths", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@click.option("-n", "--nodes", type=NodeCounts(), metavar="COUNTS",
              help="Node counts: 2, 2..5 or 2,4. Default: the program's own, or 2.")  # fmt: skip
@click.option("--engine", type=EngineName(), default=DEFAULT_ENGINE, show_default=True,
              help="How to decide: attack is one search without cycle types, product the paper's procedure, "
              "definition tries every computation, spin asks the model checker SPIN.")  # fmt: skip
@click.option("--max-states", type=click.IntRange(min=0), default=MOST_STATES, show_default=True, metavar="N",
              help="Give up on a check (unknown) after so many states; 0: never.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), callback=_seconds, metavar="SECONDS",
              help="Give up on a check (unknown) after so many seconds. Default: never.")  # fmt: skip
@click.option("--memory-limit", type=Size(), metavar="SIZE",
              help="Give up on a check (unknown) that takes so much memory: 500M, 2G; 0: never. Default: three "
              "quarters of what is available, shared by the jobs.")  # fmt: skip
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N",
              help="Check so many at a time, each in a process of its own. Default: one per core.")  # fmt: skip
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="json: one object per program and node count, one per line.")  # fmt: skip
@click.option("--expect", is_flag=True, help="Compare every verdict with the program's header `// expect: ...`.")
@click.option("--strict", is_flag=True, help="A failing assertion or a deadlock makes the exit code 1.")
@click.option("-v", "--verbose", is_flag=True, help="Show every counterexample, also of several programs.")
@click.option("--heads", type=click.IntRange(2, 4), metavar="2|3|4",
              help="Heads of the product engine: 2 suffice, 4 are the paper to the letter.  [default: 2]")  # fmt: skip
@click.option("--no-reduction", is_flag=True,
              help="The plain search of the attack engine, which passes more states, for comparison.")  # fmt: skip
@click.option("--without", type=Reduction(), multiple=True, metavar="NAME",
              help="The attack engine without one of its reductions: infeasibility, persistent, merging, liveness or "
              "symmetry. Can be repeated.")  # fmt: skip
@_c_options
@click.pass_context
def check(
    ctx: click.Context,
    /,
    paths: tuple[str, ...],
    nodes: tuple[int, ...] | None,
    engine: str,
    max_states: int,
    timeout: float | None,
    memory_limit: int | None,
    jobs: int | None,
    format_: str,
    expect: bool,
    strict: bool,
    verbose: bool,
    heads: int | None,
    no_reduction: bool,
    without: tuple[str, ...],
    dialects: tuple[str, ...],
    pure: tuple[str, ...],
    defines: tuple[tuple[str, str], ...],
) -> None:
    """Decide whether programs are robust.

    For a program that is not, a run on the network is shown that no sequentially consistent run looks like. Folders
    are searched for .pgas and .c files, hidden ones left out. Several programs give a table of their verdicts.
    """
    from pgasrob.render.json import checked_to_json
    from pgasrob.render.printers import printer
    from pgasrob.robustness.batch import Job, convert_all, find_programs
    from pgasrob.robustness.limits import Limits, available_cores

    if heads is not None and engine != "product":
        raise click.UsageError("--heads is for the product engine: add --engine product.")
    for option, given in (("--no-reduction", no_reduction), ("--without", without)):
        if given and engine != "attack":
            raise click.UsageError(f"{option} is for the attack engine.")
    files, problems = find_programs(paths)
    for problem in problems:
        click.echo(f"pgasrob: {problem}", err=True)
    _mention_a_missing_kernel(engine)
    if engine == "spin":
        _require_spin()
    outcomes = [ERROR] * len(problems)
    jobs = min(jobs or available_cores(), max(len(files) * len(nodes or (None,)), 1))
    limits = Limits(max_states or None, timeout, _memory(memory_limit, jobs))
    reductions, front_end = _reductions(no_reduction, without), _front_end(dialects, pure, defines)
    job = Job(nodes, engine, limits, heads, expect, reductions, front_end=front_end)
    printing = printer(files, expect, format_ == "json", verbose, strict)
    display = _display(limits.max_states)
    interrupted = False
    try:
        for result in convert_all(files, job, checked_to_json, jobs, *filter(None, [display])):
            if display:
                display.clear()
            printing.result(result)
            outcomes.append(outcome(result, expect, strict))
    except KeyboardInterrupt:
        interrupted = True
    printing.end()
    if interrupted:
        left = len(files) - len({result["file"] for result in printing.results})
        unreached = f", {left} of {len(files)} files not reached" if left else ""
        several = " at the node count above" if nodes and len(nodes) > 1 else ""
        click.echo(f"pgasrob: interrupted{several}{unreached}", err=True)
        ctx.exit(INTERRUPTED)
    ctx.exit(next(code for code in GRAVEST_FIRST if code in outcomes))


def _memory(given: int | None, jobs: int) -> int | None:
    """The bytes that a check may take when ``jobs`` run at a time; None for as many as it likes."""
    from pgasrob.robustness.limits import spare_memory

    return spare_memory(jobs) if given is None else given or None


def _reductions(none: bool, without: tuple[str, ...]) -> tuple[str, ...] | None:
    """The reductions to use; None for all there are."""
    if none or not without:
        return () if none else None
    from pgasrob.robustness.reduction import REDUCTIONS

    return tuple(name for name in REDUCTIONS if name not in without)


def _mention_a_missing_kernel(engine: str) -> None:
    from pgasrob.robustness import native

    if engine == "attack" and not native.available():
        click.echo(NO_KERNEL, err=True)


def _require_spin() -> None:
    from pgasrob.robustness.spin import MissingProgram, needed_programs

    try:
        needed_programs()
    except MissingProgram as error:
        click.echo(f"pgasrob: {error}", err=True)
        raise click.exceptions.Exit(ERROR) from None


def _display(max_states: int | None) -> Display | None:
    """A progress display where stderr is a terminal."""
    if not sys.stderr.isatty():
        return None
    from pgasrob.render.progress import Display

    return Display(sys.stderr, max_states)


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


@cli.command(context_settings=HELP, epilog=SHOW_EXAMPLES)
@click.argument("file", type=click.Path())
@click.option("--stage", type=click.Choice(["program", "control", "state-space", "normal-form", "cycle-types"]),
              default="program", show_default=True,
              help="What to show: one of the steps from the program to the answer.")  # fmt: skip
@click.option("-n", "--nodes", type=click.IntRange(min=1), help="Node count. Default: the program's own, or 2.")
@click.option("--heads", type=click.IntRange(2, 4), default=2, show_default=True,
              help="Heads of the normal-form automaton.")  # fmt: skip
@click.option("--dot", is_flag=True, help="Only the graph, in the DOT language: pgasrob show ... --dot | dot -Tsvg.")
@_c_options
def show(
    file: str,
    stage: str,
    nodes: int | None,
    heads: int,
    dot: bool,
    dialects: tuple[str, ...],
    pure: tuple[str, ...],
    defines: tuple[tuple[str, str], ...],
) -> None:
    """Show a stage of the decision procedure: its counts, and its graph while it is small.

    program: the program itself, for a C file what it means, as a .pgas text. control: the control automata of the
    ranks, guards simplified. state-space: X(P, N), what the network can do. normal-form: Y(P, N), the computations the
    search has to look at. cycle-types: the automata Z that recognise cycles.
    """
    from pgasrob.diagnostics import SourceError
    from pgasrob.render.dot import to_dot
    from pgasrob.render.stage import stage_lines
    from pgasrob.robustness import stages
    from pgasrob.robustness.check import load

    try:
        instance = load(file, _front_end(dialects, pure, defines)).instantiate(nodes)
    except SourceError as error:
        click.echo(str(error), err=True)
        raise click.exceptions.Exit(ERROR) from None
    if stage == "program":
        from pgasrob.program.printer import to_source

        click.echo(to_source(instance.program), nl=False)
        return
    if stage == "control":
        from pgasrob.render.algebra import simplify_guard

        shown = stages.control(instance, simplify_guard)
    elif stage == "normal-form":
        shown = stages.normal_form(instance, heads)
    else:
        shown = stages.STAGES[stage](instance)
    for line in [] if dot else stage_lines(shown):
        click.echo(line)
    if shown.graphs:
        click.echo(to_dot(shown.graphs), nl=False)
    elif dot:
        click.echo("\n".join(f"pgasrob: {remark}" for remark in shown.remarks or ["nothing to draw"]), err=True)
        raise click.exceptions.Exit(NOT_ROBUST)


@cli.command(context_settings=HELP, epilog=EXPORT_EXAMPLES)
@click.argument("file", type=click.Path())
@click.option("--to", "language", type=click.Choice(["promela"]), required=True, help="The language to write.")
@click.option("-n", "--nodes", type=click.IntRange(min=1), help="Node count. Default: the program's own, or 2.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), metavar="FILE", help="Default: standard output.")
@_c_options
def export(
    file: str,
    language: str,
    nodes: int | None,
    output: str | None,
    dialects: tuple[str, ...],
    pure: tuple[str, ...],
    defines: tuple[tuple[str, str], ...],
) -> None:
    """Write the question whether a program is robust for another tool.

    promela: a model in which SPIN finds a violated assertion exactly when the program is not robust. Its first comment
    says how to run SPIN on it. (`pgasrob check --engine spin` does all of that and shows the counterexample.)
    """
    from pgasrob.diagnostics import SourceError
    from pgasrob.export.promela import Unsupported, to_promela
    from pgasrob.robustness.check import load

    try:
        text = to_promela(load(file, _front_end(dialects, pure, defines)).instantiate(nodes))
    except SourceError as error:
        click.echo(str(error), err=True)
        raise click.exceptions.Exit(ERROR) from None
    except Unsupported as error:
        click.echo(f"pgasrob: {file} has no {language} model: {error}", err=True)
        raise click.exceptions.Exit(ERROR) from None
    if output is None:
        click.echo(text, nl=False)
    else:
        Path(output).write_text(text, encoding="utf-8")


@cli.command(context_settings=HELP)
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit code 1 when the catalogue is stale.")
def catalogue(folder: str, only_check: bool) -> None:
    """Write FOLDER/README.md, the list of a corpus: verdict, states, time class and reason of every program.

    The programs are checked for it, so it takes as long as that.
    """
    from pgasrob.render.catalogue import HEADING, Entry, make_catalogue, without_times
    from pgasrob.robustness.batch import Checked, Job, convert_all, find_programs, read_text
    from pgasrob.robustness.limits import Limits, available_cores

    files, problems = find_programs([folder])
    if problems:
        raise click.UsageError("; ".join(problems))
    _mention_a_missing_kernel(DEFAULT_ENGINE)
    jobs = available_cores()
    job = Job(limits=Limits(memory=_memory(None, jobs)))
    display = _display(job.limits.max_states)
    entries = [
        Entry(Path(checked.file).relative_to(Path(folder)), read_text(checked.file), checked.verdict)
        for checked in convert_all(files, job, Checked.without_runs, jobs, *filter(None, [display]))
    ]
    text = make_catalogue(entries, f"pgasrob catalogue {Path(folder).resolve().name}")
    target = Path(folder, "README.md")
    before = read_text(str(target))
    stale = without_times(before) != without_times(text)
    if only_check:
        click.echo(f"{target} is {'stale: make it again without --check' if stale else 'up to date'}")
        raise click.exceptions.Exit(NOT_ROBUST if stale else ROBUST)
    if before and not before.startswith(HEADING):
        raise click.UsageError(f"{target} is not a catalogue; it is left as it is. Move it away first.")
    target.write_text(text, encoding="utf-8")
    click.echo(f"{target}: {len(entries)} programs{'' if stale else ', nothing new but times'}")
