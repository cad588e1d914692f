"""`pgasrob litmus`: list the outcomes that memory models allow of litmus tests."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from pgasrob.cli.declare import Rule, argument, check_rules, command, flag, group, option
from pgasrob.cli.exit_codes import ERROR, INTERRUPTED, NOT_ROBUST, ROBUST, UNKNOWN, gravest
from pgasrob.cli.option_groups import SearchLimits, format_option
from pgasrob.cli.parameter_types import GraphPath, ModelNames, OneOf, ValuesOfNames, listed, sentence
from pgasrob.cli.shared_steps import crashed, print_json, progress_display

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgasrob.models.litmus.expected_outcomes import LitmusTest
    from pgasrob.models.litmus_answers import Answer, Values
    from pgasrob.models.model_table import Options
    from pgasrob.render.litmus_json import LitmusResult
    from pgasrob.render.shared_json import Error
    from pgasrob.robustness.limits import Limits
    from pgasrob.robustness.watch import Watcher

GENERATE = "generate"
PROGRAMS = (".pgas", ".c")
A_TEST = "`pgasrob litmus 'x@1=0 :: 1: x = 1 || 1: a = x'` is a test in one line"
ONE_LINE = "<test>"
EXAMPLES = """\b
Exit code:
  0  all is as the tests expect, or they expect nothing
  1  some outcome is not as expected
  2  a test with an error, a model that does not know it, or wrong usage
  3  a limit was reached before all outcomes were known

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


class Litmus(click.Command):
    """A command that has another one of the name `generate`."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args[:1] == [GENERATE]:
            generate: click.Command = import_module("pgasrob.cli.litmus_generate").generate
            return generate.make_context(f"{info_name} {GENERATE}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


def _models_help() -> str:
    from pgasrob.models.model_table import MODELS

    entries = "; ".join(f"{name}: {entry.description}" for name, entry in MODELS.items())
    return (
        f"Models, separated by commas, each followed by the words for its variant, if any. {entries}. Can be repeated. "
        "Default: all that know the program."
    )


def _semantics_help() -> str:
    from pgasrob.models.model_table import MODELS

    having = [f"{listed(entry.semantics)} of {name}" for name, entry in MODELS.items() if entry.semantics]
    return f"The semantics of a model that has several: {'; '.join(having)}. The first is the default."


@dataclass(frozen=True)
class LitmusOptions:
    """The options of `pgasrob litmus`."""

    # fmt: off
    tests: tuple[str, ...] = argument(metavar="FILE...", nargs=-1)
    texts: tuple[str, ...] = option("-e", "--test", multiple=True, metavar="TEXT",
        help="A test in one line. A FILE with :: in its name is taken as such a test, too. Can be repeated.")
    models: tuple[tuple[str, ...], ...] = option("-m", "--model", type=ModelNames(), multiple=True, metavar="NAMES",
        help=_models_help)
    semantics: str | None = option("--semantics", metavar="NAME", help=_semantics_help)
    no_pcie: bool = flag("--no-pcie", help="rdma-tso: without the guarantee of PCI Express that reads push writes.")
    placed: bool = flag("--placed", help="rdma-tso: a put that has been polled has been placed.")
    glob: bool = flag("--glob", help="rdma-tso: remote atomics are atomic against everything (IBV_ATOMIC_GLOB).")
    vpi: bool = flag("--vpi", help="corerma: for adapters in which gets overtake puts.")
    hb: Literal["any", "least"] = option("--hb", type=OneOf(["any", "least"]), default="any", show_default=True,
        help="corerma: happens-before is any partial order that keeps the rules, or the least one.")
    no_repair: bool = flag("--no-repair", help="corerma: non-atomic reads literally as in the paper.")
    local_order: Literal["figure", "text"] = option(
        "--local-order", type=OneOf(["figure", "text"]), default="figure", show_default=True,
        help="corerma: rule LO as in its figure, or as in its text.")
    without: tuple[str, ...] = option("--without", multiple=True, metavar="RULES",
        help="corerma, rdma-tso: leave out these rules, separated by commas. Can be repeated.")
    forbidden: tuple[Values, ...] = option("--forbidden", type=ValuesOfNames(), multiple=True, metavar="VALUES",
        help="Say why no outcome has these values: 'a=0 b=1'. Can be repeated.")
    compare: tuple[str, ...] | None = option("--compare", type=ModelNames(), metavar="A,B",
        help="Show what each of two models allows that the other does not, with an execution.")
    expect: bool = flag("--expect",
        help="Print one line per test, which says whether the outcomes are as its lines expect, also in the models "
        "and variants that they name.")
    graphs: tuple[str, ...] = option("--graph", type=GraphPath(), multiple=True, metavar="PATH",
        help="Draw an execution for each outcome, and why others are forbidden: .svg or .dot. For several tests or "
        "models, PATH needs {name} or {model}. Can be repeated.")
    drawn: tuple[Values, ...] = option("--outcome", type=ValuesOfNames(), multiple=True, metavar="VALUES",
        help="Draw only outcomes with these values. Can be repeated.")
    executions: bool = flag("--executions", help="Also show an execution for each outcome.")
    format: str = format_option("json", help="json: one object for each model, one per line.")
    limits: Limits = group(
        SearchLimits,
        states="Give up on a model after so many states or executions",
        seconds="Give up on a model after SECONDS",
        memory="Give up on a model that takes so much memory",
    )
    # fmt: on

    @property
    def json(self) -> bool:
        return self.format == "json"

    @property
    def names(self) -> tuple[str, ...]:
        """The models that are named."""
        return self.compare or tuple(name for each in self.models for name in each)

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules to leave out."""
        return tuple(rule.strip() for each in self.without for rule in each.split(",") if rule.strip())


RULES: tuple[Rule[LitmusOptions], ...] = (
    Rule("Missing argument 'FILE...'.", lambda o: not o.tests and not o.texts),
    Rule(
        "--compare takes two models, as in --compare corerma,rdma-tso, and no --model.",
        lambda o: o.compare is not None and (len(o.compare) != 2 or o.models),
    ),
    Rule("--outcome says which outcomes --graph draws: add --graph PATH.", lambda o: o.drawn and not o.graphs),
    Rule(
        "--expect prints a line a test: leave {names} out, or --expect.",
        "--expect",
        ("--compare", "--executions", "--forbidden"),
    ),
    Rule("--without names no rule, as in --without IR.", lambda o: o.without and not o.rules),
)


@command(LitmusOptions, cls=Litmus, examples=EXAMPLES)
def litmus(options: LitmusOptions) -> int:
    """List what memory models allow in litmus tests.

    A test (FILE.litmus, or a text in one line) is a small program of loads, stores, puts and gets, and lines that say
    which outcomes are allowed or forbidden. Every model is asked for all of its outcomes. Folders are searched for
    .litmus files. `pgasrob litmus generate` makes tests.
    """
    return ask_about_tests(options)


def ask_about_tests(options: LitmusOptions) -> int:
    """Ask the models about each test, and print; the gravest exit code."""
    from pgasrob.models.model_table import Options
    from pgasrob.robustness.watch import unwatched

    check_rules(options, RULES)
    variant = Options(
        options.semantics, not options.no_pcie, options.placed, "glob" if options.glob else "hca", options.vpi,
        options.hb, not options.no_repair, options.local_order, options.rules,
    )  # fmt: skip
    if _number_of_models(options.names, variant) < 2 and options.compare is not None:
        raise click.UsageError(f"--compare takes two models: {' and '.join(options.compare)} are one.")
    found, problems = _tests_and_problems(options.tests, options.texts)
    for problem in problems:
        click.echo(f"pgasrob: {problem}", err=True)
    asking = _Asking(options, options.names, variant, progress_display(options.limits.max_states) or unwatched)
    codes = [ERROR] * len(problems)
    for number, (file, text) in enumerate(found):
        if number and not options.json and not options.expect:
            click.echo()
        try:
            codes.append(asking.test(file, text))
        except KeyboardInterrupt:
            click.echo("pgasrob: interrupted", err=True)
            return INTERRUPTED
        except Exception as error:
            codes.append(crashed(error, file, partial(_none, file) if options.json else None))
    if options.graphs and not asking.draw():
        codes.append(ERROR)
    return gravest(codes)


def _none(file: str, errors: list[Error], reason: str | None) -> LitmusResult:
    from pgasrob.render.litmus_json import no_litmus

    return no_litmus(file, errors)


def _number_of_models(names: Sequence[str], options: Options) -> int:
    """The number of models that ``names`` stand for (all, when empty). Ends the command when one is no model, or one of
    the ``options`` is about none of them."""
    from pgasrob.models.model_table import NAMES, UnknownModel, all_asked

    try:
        return len(all_asked(names or NAMES, options))
    except UnknownModel as error:
        raise click.UsageError(sentence(str(error))) from None


def _tests_and_problems(tests: Sequence[str], texts: Sequence[str]) -> tuple[list[tuple[str, str | None]], list[str]]:
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


@dataclass
class _Asking:
    """Asks the models about one test after the other and prints what they say; keeps the ``results`` to draw."""

    options: LitmusOptions
    names: Sequence[str]
    variant: Options
    watch: Watcher
    results: list[LitmusResult] = field(default_factory=list)

    def test(self, file: str, text: str | None) -> int:
        """Ask about the test in ``file``, or in ``text`` where it was given so; the exit code."""
        from pgasrob.models.litmus_answers import answer, lines_about_none, models_of
        from pgasrob.models.model_table import NAMES, idle, label
        from pgasrob.render.litmus_json import compared_to_json, litmus_to_json

        options = self.options
        test = self._parsed(file, text)
        if test is None:
            return ERROR
        self._check_names(test, file)
        models = models_of(test, self.names, self.variant, expected=options.expect)
        others = [] if self.names else [name for name in NAMES if name not in {model.name for model in models}]
        for idling in [] if self.names else idle(self.variant, [name for name in NAMES if name not in others]):
            click.echo(f"pgasrob: {file}: {idling}, which is not asked about this program", err=True)
        ask = partial(answer, test, limits=options.limits, asked=options.forbidden, explain=not options.expect)
        answers = []
        for model in models:
            with self.watch(f"{file}: {label(model)}") as progress:
                answers.append(ask(model, progress=progress))
        executions = options.executions or bool(options.graphs)
        if options.compare:
            results = compared_to_json(file, *answers, executions=executions or not options.json)
        else:
            results = [litmus_to_json(file, each, executions=executions) for each in answers]
        if options.graphs:
            self.results += results
        if options.json:
            for result in results:
                print_json(result)
        elif not results:
            click.echo(f"{file}: no model takes this program; --model NAME says why", err=True)
        else:
            self._print(results, others, [] if self.names else lines_about_none(test, models))
        if all(each.refusals for each in answers):
            return ERROR
        return gravest([self._code(each) for each in answers])

    def _parsed(self, file: str, text: str | None) -> LitmusTest | None:
        from pgasrob.diagnostics import SourceError
        from pgasrob.models.litmus.litmus_parser import parse, parse_file
        from pgasrob.render.litmus_json import no_litmus
        from pgasrob.render.shared_json import errors_to_json

        try:
            return parse_file(file) if text is None else parse(text, file)
        except SourceError as error:
            if self.options.json:
                print_json(no_litmus(file, errors_to_json(error.diagnostics, file)))
            else:
                click.echo(str(error), err=True)
            return None

    def _check_names(self, test: LitmusTest, file: str) -> None:
        from pgasrob.diagnostics.suggestions import did_you_mean

        names = test.program.names
        for values in (*self.options.forbidden, *self.options.drawn):
            for name, _ in values:
                if name not in names:
                    hint = did_you_mean(name, names) or f"there is {', '.join(names)}"
                    raise click.UsageError(sentence(f"{file} has no register or location {name!r}; {hint}"))

    def _print(
        self, results: Sequence[LitmusResult], others: Sequence[str], left_out: Sequence[tuple[int, str]]
    ) -> None:
        from pgasrob.render.lines import glyphs_for, terminal_width, write
        from pgasrob.render.litmus_text import comparison_report, executions_report, litmus_report, summary

        width, glyphs = terminal_width(), glyphs_for(sys.stdout)
        if self.options.expect:
            line = summary(results)
            write([line], sys.stdout)
            if all(style in ("", "good", "faint") for _, style in line):
                return
        lines = litmus_report(results, width, glyphs, others=others, left_out=left_out)
        if "only" in results[0]:
            lines += comparison_report(results[0], results[1], width)
        for result in results if self.options.executions else []:
            lines += executions_report(result, width)
        write(lines, sys.stdout)

    def _code(self, answer: Answer) -> int:
        """The exit code of one model; a model that a line or an option names has to know the program."""
        if answer.refusals:
            return ERROR if self.names or answer.compared else ROBUST
        if answer.as_expected is False:
            return NOT_ROBUST
        return UNKNOWN if answer.reason is not None else ROBUST

    def draw(self) -> bool:
        """Write the graphs; whether all could be written."""
        from pgasrob.render.execution_files import NothingToDraw, write_graphs
        from pgasrob.whole_files import CannotWrite

        options = self.options
        try:
            for path in write_graphs(options.graphs, self.results, list(map(dict, options.drawn))):
                click.echo(f"pgasrob: {path} has been drawn", err=True)
        except (NothingToDraw, CannotWrite) as error:
            click.echo(f"pgasrob: {error}", err=True)
            return False
        return True
