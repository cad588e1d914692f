"""`pgasrob litmus`: what memory models allow of small programs."""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from pgasrob.cli.exit_codes import ERROR, NOT_ROBUST, ROBUST, UNKNOWN, gravest
from pgasrob.cli.options import HELP, MOST_STATES, FromTable, Size, listed, memory_for, print_json, seconds, sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgasrob.models.answers import Answer, Values
    from pgasrob.models.known import Options
    from pgasrob.models.litmus.expectation import LitmusTest
    from pgasrob.models.model import Model
    from pgasrob.render.litmus_json import LitmusResult
    from pgasrob.robustness.limits import Limits

GENERATE = "generate"
PROGRAMS = (".pgas", ".c")
A_TEST = "`pgasrob litmus 'x@1=0 :: 1: x = 1 || 1: a = x'` is a test in one line"
ONE_LINE = "<test>"
EXAMPLES = """\b
Exit code:
  0  all is as the tests expect, or they expect nothing
  1  some outcome is not as expected
  2  a test with an error, a model that does not know it, or wrong usage
  3  a limit was hit before all outcomes were known

\b
Examples:
  pgasrob litmus sb.litmus                    in every model that takes it
  pgasrob litmus sb.litmus --model rdma-tso,sc
  pgasrob litmus 'x@1=0 z@2=0 :: 1: z^2 = x; poll(2); x = 1 || 2: a = z'
  pgasrob litmus sb.litmus --model 'rdma-tso no-pcie' --model corerma:without:IR
  pgasrob litmus sb.litmus --model rdma-tso --forbidden 'a=0 b=0'
  pgasrob litmus sb.litmus --compare corerma,rdma-tso
  pgasrob litmus sb.litmus --model rdma-tso --graph sb.svg
  pgasrob litmus programs/litmus --expect
  pgasrob litmus generate --model corerma --rule IR --size 9
"""


class ModelNames(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 on
    """Names of models, parted by commas: ``corerma,rdma-tso``."""

    name = "models"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        from pgasrob.models.known import parted

        found = parted(str(value))
        if not found:
            self.fail("it names no model.", param, ctx)
        return found

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        from pgasrob.models.known import NAMES

        before, comma, last = incomplete.rpartition(",")
        return [CompletionItem(f"{before}{comma}{name}") for name in NAMES if name.startswith(last)]


class ValuesOfNames(click.ParamType):  # type: ignore[type-arg]
    """Values of registers and locations, as expectations have them: ``a=0 b=T``."""

    name = "values"
    form = re.compile(r"([A-Za-z_]\w*)=(-?\d{1,10}|T)", re.ASCII)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Values:
        if isinstance(value, tuple):
            return value
        found: dict[str, int | Literal["T"]] = {}
        for piece in str(value).replace(",", " ").split():
            match = self.form.fullmatch(piece)
            if match is None:
                self.fail(f"{piece!r} is no value of a name; write a=0 b=1 or a=T.", param, ctx)
            if match[1] in found:
                self.fail(f"the value of `{match[1]}` stands twice; drop one of them.", param, ctx)
            found[match[1]] = "T" if match[2] == "T" else int(match[2])
        if not found:
            self.fail("it takes values like a=0 b=1.", param, ctx)
        return tuple(found.items())


class GraphPath(click.ParamType):  # type: ignore[type-arg]
    """A file for execution graphs, whose ending says the format."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if Path(value).suffix not in (".svg", ".dot"):
            self.fail(f"{value}: the ending says the format, .svg or .dot.", param, ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


class Litmus(click.Command):
    """A command that has another one of the name `generate`."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args[:1] == [GENERATE]:
            generate: click.Command = import_module("pgasrob.cli.litmus_generate").generate
            return generate.make_context(f"{info_name} {GENERATE}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


def _models_told() -> str:
    from pgasrob.models.known import MODELS

    told = "; ".join(f"{name}: {entry.told}" for name, entry in MODELS.items())
    return (
        f"Models, parted by commas, each with words for its variant behind it if need be. {told}. Can be repeated. "
        "Default: all that know the program."
    )


def _semantics_told() -> str:
    from pgasrob.models.known import MODELS

    having = [f"{listed(entry.semantics)} of {name}" for name, entry in MODELS.items() if entry.semantics]
    return f"Which semantics of a model that has several: {'; '.join(having)}. The first is the default."


@click.command(cls=Litmus, context_settings=HELP, epilog=EXAMPLES)
@click.argument("tests", metavar="FILE...", nargs=-1)
@click.option("-e", "--test", "texts", multiple=True, metavar="TEXT",
              help="A test in one line. A FILE with :: in it is taken for one, too. Can be repeated.")  # fmt: skip
@click.option("-m", "--model", "models", type=ModelNames(), multiple=True, metavar="NAMES",
              cls=FromTable, told=_models_told)  # fmt: skip
@click.option("--semantics", metavar="NAME", cls=FromTable, told=_semantics_told)
@click.option("--no-pcie", is_flag=True, help="rdma-tso: without the guarantee of PCI Express that reads push writes.")
@click.option("--placed", is_flag=True, help="rdma-tso: a put that has been polled has been placed.")
@click.option("--vpi", is_flag=True, help="corerma: for adapters in which gets overtake puts.")
@click.option("--hb", type=click.Choice(["any", "least"]), default="any", show_default=True,
              help="corerma: happens-before is any partial order that keeps the rules, or the least one.")  # fmt: skip
@click.option("--no-repair", is_flag=True, help="corerma: non-atomic reads as its letter has them.")
@click.option("--local-order", type=click.Choice(["figure", "text"]), default="figure", show_default=True,
              help="corerma: rule LO as in its figure, or as in its text.")  # fmt: skip
@click.option("--without", "without", multiple=True, metavar="RULES",
              help="corerma, rdma-tso: leave out these rules, parted by commas. Can be repeated.")  # fmt: skip
@click.option("--forbidden", "asked", type=ValuesOfNames(), multiple=True, metavar="VALUES",
              help="Say why no outcome has these values: 'a=0 b=1'. Can be repeated.")  # fmt: skip
@click.option("--compare", type=ModelNames(), metavar="A,B",
              help="What each of two models allows that the other one does not, with an execution.")  # fmt: skip
@click.option(
    "--expect",
    is_flag=True,
    help="A line a test: are the outcomes as its lines say, also for the models and variants that they name?",
)
@click.option("--graph", "graphs", type=GraphPath(), multiple=True, metavar="PATH",
              help="Draw an execution for each outcome, and why others are forbidden: .svg or .dot. Of several tests "
              "or models say {name} or {model} in PATH. Can be repeated.")  # fmt: skip
@click.option("--outcome", "drawn", type=ValuesOfNames(), multiple=True, metavar="VALUES",
              help="Draw only outcomes with these values. Can be repeated.")  # fmt: skip
@click.option("--executions", is_flag=True, help="Also an execution for each outcome.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="json: one object for each model, one per line.")  # fmt: skip
@click.option("--max-states", type=click.IntRange(min=0), default=MOST_STATES, show_default=True, metavar="N",
              help="Give up on a model after so many states or executions; 0: never.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), callback=seconds, metavar="SECONDS",
              help="Give up on a model after so many seconds. Default: never.")  # fmt: skip
@click.option("--memory-limit", type=Size(), metavar="SIZE",
              help="Give up on a model that takes so much memory: 500M, 2G; 0: never. Default: three quarters of what "
              "is available.")  # fmt: skip
@click.pass_context
def litmus(
    ctx: click.Context,
    /,
    tests: tuple[str, ...],
    texts: tuple[str, ...],
    models: tuple[tuple[str, ...], ...],
    semantics: str | None,
    no_pcie: bool,
    placed: bool,
    vpi: bool,
    hb: Literal["any", "least"],
    no_repair: bool,
    local_order: Literal["figure", "text"],
    without: tuple[str, ...],
    asked: tuple[Values, ...],
    compare: tuple[str, ...] | None,
    expect: bool,
    graphs: tuple[str, ...],
    drawn: tuple[Values, ...],
    executions: bool,
    format_: str,
    max_states: int,
    timeout: float | None,
    memory_limit: int | None,
) -> None:
    """List what memory models allow of litmus tests.

    A test (FILE.litmus, or a text in one line) is a small program of loads, stores, puts and gets, and lines that say
    which outcomes are allowed or forbidden. Every model is asked for all of its outcomes. Folders are searched for
    .litmus files. `pgasrob litmus generate` makes tests.
    """
    from pgasrob.models.known import Options
    from pgasrob.robustness.limits import Limits

    if not tests and not texts:
        raise click.UsageError("Missing argument 'FILE...'.")
    if compare is not None and (len(compare) != 2 or models):
        raise click.UsageError("--compare takes two models, as in --compare corerma,rdma-tso, and no --model.")
    if drawn and not graphs:
        raise click.UsageError("--outcome says which outcomes --graph draws: add --graph PATH.")
    _check_brief(expect, {"--compare": compare is not None, "--executions": executions, "--forbidden": bool(asked)})
    names = compare or tuple(name for each in models for name in each)
    rules = tuple(rule.strip() for each in without for rule in each.split(",") if rule.strip())
    if without and not rules:
        raise click.UsageError("--without names no rule, as in --without IR.")
    options = Options(semantics, not no_pcie, placed, vpi, hb, not no_repair, local_order, rules)
    if _check_options(names, options) < 2 and compare is not None:
        raise click.UsageError(f"--compare takes two models: {' and '.join(compare)} are one.")
    limits = Limits(max_states or None, timeout, memory_for(memory_limit, 1))
    found, problems = _found(tests, texts)
    for problem in problems:
        click.echo(f"pgasrob: {problem}", err=True)
    run = _Run(names, options, limits, asked, drawn, expect, compare is not None, executions, format_, graphs)
    codes = [ERROR] * len(problems)
    several = len(found) > 1
    for number, (file, text) in enumerate(found):
        if number and format_ == "text" and not expect:
            click.echo()
        codes.append(run.test(file, text, several))
    if graphs and not run.draw(several):
        codes.append(ERROR)
    ctx.exit(gravest(codes))


def _check_brief(expect: bool, given: dict[str, bool]) -> None:
    """End the command where options are ``given`` of which a line a test cannot tell."""
    if expect and (wrong := [option for option, is_given in given.items() if is_given]):
        raise click.UsageError(f"--expect prints a line a test: leave {listed(wrong, 'and')} out, or --expect.")


def _check_options(names: Sequence[str], options: Options) -> int:
    """How many models these are. It ends the command where ``names`` are none, or ``options`` none of theirs."""
    from pgasrob.models.known import NAMES, UnknownModel, all_asked

    try:
        return len(all_asked(names or NAMES, options))
    except UnknownModel as error:
        raise click.UsageError(sentence(str(error))) from None


def _found(tests: Sequence[str], texts: Sequence[str]) -> tuple[list[tuple[str, str | None]], list[str]]:
    """The tests, each with its file and, where it was given as one, its text; and what is wrong with folders."""
    from pgasrob.program.files import files_below

    found: list[tuple[str, str | None]] = []
    problems = []
    for test in tests:
        if "::" in test and not os.path.exists(test):  # False, too, for what is too long for a name
            found.append((ONE_LINE, test))
        elif os.path.isdir(test):
            files = sorted(files_below(test, (".litmus",)))
            found += [(str(path), None) for path in files]
            if not files:
                problems.append(f"no .litmus file in the folder {test}")
        elif test.endswith(PROGRAMS) and Path(test).is_file():
            problems.append(
                f"{test} is a program: `pgasrob outcomes` lists how it ends, `pgasrob check` says whether it is robust"
            )
        elif not test or (re.search(r"[\s=]", test) and not Path(test).exists()):
            problems.append(f"{test!r} is no file, and no test: its locations stand first, with `::`; {A_TEST}")
        else:
            found.append((str(Path(test)), None))
    return [*dict.fromkeys(found), *((ONE_LINE, text) for text in texts)], problems


class _Run:
    """What is asked of every test."""

    def __init__(
        self,
        names: Sequence[str],
        options: Options,
        limits: Limits,
        asked: Sequence[Values],
        drawn: Sequence[Values],
        expect: bool,
        compare: bool,
        executions: bool,
        format_: str,
        graphs: Sequence[str],
    ) -> None:
        self._names, self._options, self._limits = names, options, limits
        self._asked, self._drawn, self._expect, self._compare = asked, drawn, expect, compare
        self._executions, self._json, self._graphs = executions, format_ == "json", graphs
        self._results: list[LitmusResult] = []

    def test(self, file: str, text: str | None, several: bool) -> int:
        """Ask, print, and give the exit code."""
        from pgasrob.models.answers import answer

        test = self._parsed(file, text)
        if test is None:
            return ERROR
        self._check_names(test, file)
        models, others = self._models(test)
        for idle in [] if self._names else self._idle(others):
            click.echo(f"pgasrob: {file}: {idle}", err=True)
        answers = [answer(test, model, self._limits, self._asked, explain=not self._expect) for model in models]
        results = self._told(file, answers)
        if self._graphs:
            self._results += results
        if self._json:
            for result in results:
                print_json(result)
        else:
            asked = [line for line in test.expectations if any(line.concerns(m.name, m.variant) for m in models)]
            left_out = [(line.span.line, str(line)) for line in test.expectations if line not in asked]
            self._print(file, results, others, [] if self._names else left_out)
        if all(each.refusals for each in answers):
            return ERROR
        return gravest([self._code(each) for each in answers])

    def _parsed(self, file: str, text: str | None) -> LitmusTest | None:
        from pgasrob.diagnostics import SourceError
        from pgasrob.models.litmus.parser import parse, parse_file
        from pgasrob.render.litmus_json import no_litmus
        from pgasrob.render.shared_json import errors_to_json

        try:
            if text is not None:
                return parse(text, file)
            return parse_file(file)
        except SourceError as error:
            if self._json:
                print_json(no_litmus(file, errors_to_json(error.diagnostics, file)))
            else:
                click.echo(str(error), err=True)
            return None

    def _check_names(self, test: LitmusTest, file: str) -> None:
        from pgasrob.diagnostics.suggestions import did_you_mean

        names = test.program.names
        for values in (*self._asked, *self._drawn):
            for name, _ in values:
                if name not in names:
                    hint = did_you_mean(name, names) or f"there is {', '.join(names)}"
                    raise click.UsageError(sentence(f"{file} has no register or location {name!r}; {hint}"))

    def _models(self, test: LitmusTest) -> tuple[list[Model], list[str]]:
        """The models to ask, and those that do not take the program, where nobody has asked for them."""
        from pgasrob.models.answers import models_of
        from pgasrob.models.known import NAMES

        models = models_of(test, self._names, self._options, expected=self._expect)
        others = [name for name in NAMES if name not in {model.name for model in models}] if not self._names else []
        return models, others

    def _idle(self, others: Sequence[str]) -> list[str]:
        """Options that have no effect, for the models that take them are among the ``others``."""
        from pgasrob.models.known import NAMES, idle

        told = idle(self._options, [name for name in NAMES if name not in others])
        return [f"{each}, which is not asked about this program" for each in told]

    def _told(self, file: str, answers: Sequence[Answer]) -> list[LitmusResult]:
        from pgasrob.render.litmus_json import litmus_to_json

        wanted = self._executions or bool(self._graphs) or (self._compare and not self._json)
        results = [litmus_to_json(file, each, executions=wanted) for each in answers]
        if self._compare and not any(result["refusals"] for result in results):
            one, other = results
            for result, against in ((one, other), (other, one)):
                result["only"] = [each for each in result["outcomes"] if each not in against["outcomes"]]
        return results

    def _print(
        self, file: str, results: Sequence[LitmusResult], others: Sequence[str], left_out: Sequence[tuple[int, str]]
    ) -> None:
        from pgasrob.render.lines import glyphs_for, terminal_width, write
        from pgasrob.render.litmus import comparison_report, execution_report, litmus_report, summary
        from pgasrob.render.litmus_json import values_text

        width, glyphs = terminal_width(), glyphs_for(sys.stdout)
        if not results:
            click.echo(f"{file}: no model takes this program; --model NAME says why", err=True)
            return
        if self._expect:
            line = summary(results, width)
            write([line], sys.stdout)
            if all(style in ("", "good", "faint") for _, style in line):
                return
        write(litmus_report(results, width, glyphs, others=others, left_out=left_out), sys.stdout)
        if self._compare and not any(result["refusals"] for result in results):
            write(comparison_report(results[0], results[1], width), sys.stdout)
        if self._executions:
            for result in results:
                for outcome, execution in zip(result["outcomes"], result["executions"], strict=True):
                    title = f"An execution of {result['label']} with {values_text(outcome)}:"
                    write([[], *execution_report(title, execution, width)], sys.stdout)

    def _code(self, answer: Answer) -> int:
        """A model that a line or an option names has to know the program."""
        if answer.refusals:
            return ERROR if self._names or answer.compared else ROBUST
        if answer.as_expected is False:
            return NOT_ROBUST
        return UNKNOWN if answer.reason is not None else ROBUST

    def draw(self, several: bool) -> bool:
        """Write the graphs; whether all could be written."""
        from pgasrob.render.execution_files import NothingToDraw, write_graphs

        try:
            for path in write_graphs(self._graphs, self._results, [dict(values) for values in self._drawn]):
                click.echo(f"pgasrob: {path} has been drawn", err=True)
        except NothingToDraw as error:
            click.echo(f"pgasrob: {error}", err=True)
            return False
        return True
