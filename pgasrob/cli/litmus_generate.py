"""`pgasrob litmus generate`: generate litmus tests whose outcome depends on a rule, or on which of two models it is."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pgasrob.cli.declare import Rule, check_rules, command, flag, group, option, typed
from pgasrob.cli.exit_codes import ROBUST, UNKNOWN
from pgasrob.cli.option_groups import TimeAndMemory, format_option
from pgasrob.cli.parameter_types import OneOf, sentence
from pgasrob.cli.shared_steps import print_json, progress_display

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pgasrob.models.generate.conventions import Conventions
    from pgasrob.models.generate.rdma_shapes import Bounds
    from pgasrob.render.generated import Generated
    from pgasrob.robustness.limits import Limits
    from pgasrob.robustness.watch import Watch

    Note = Callable[[int, int], None]
    Tests = Iterator[tuple[str, Generated]]
    """Tests, each with the kind that was wanted."""

ALL = "all"
PHASE = "while generating tests"
DEFAULT_ACTIONS, DEFAULT_STATEMENTS = 8, 4
OPTIONS_OF = {
    "corerma": {"model", "processes", "conventions"},
    "rdma-tso": {"model", "threads", "nodes", "locations"},
    "distinguish": {"threads", "nodes", "locations", "waits"},
}
"""The options that have a meaning for rules of a model or for --distinguish; all others always have one."""
EXAMPLES = """\b
Exit code:
  0  all tests up to the size have been generated, or as many as --count says
  2  wrong usage
  3  a limit was reached before it was done

\b
Examples:
  pgasrob litmus generate --model corerma --rule IR --size 9
  pgasrob litmus generate --model corerma --rule all --processes 1 --output tests
  pgasrob litmus generate --model corerma --rule R1 --convention minimal=yes
  pgasrob litmus generate --model rdma-tso --rule G8 --size 3
  pgasrob litmus generate --model rdma-tso --rule all --count 1
  pgasrob litmus generate --distinguish rdma-tso,corerma --count 1
  pgasrob litmus generate --distinguish 'rdma-tso,rdma-tso no-pcie' --size 4
"""


def _conventions_help() -> str:
    from pgasrob.models.generate.conventions import choices

    choices_ = ", ".join(f"{name} ({'|'.join(values)})" for name, values in choices().items())
    return (
        "coreRMA: a choice that its paper leaves open, for example minimal=yes; the first value is the default. "
        f"{choices_}. proofs/models.md explains each one. Can be repeated."
    )


@dataclass(frozen=True)
class GenerateOptions:
    """The options of `pgasrob litmus generate`."""

    # fmt: off
    model: str = option(
        "-m", "--model", type=OneOf(["corerma", "rdma-tso"]), default="corerma", show_default=True,
        help="The model whose rules --rule names.")
    rules: tuple[str, ...] = option("--rule", multiple=True, metavar="RULES",
        help="The rules that outcomes have to depend on, separated by commas: rules of coreRMA (IR, WS...), cells of "
        "Figure 9 of RDMA-TSO (oppo.B1, or G8 for both tables); all. Can be repeated.")
    distinguish: str | None = option("--distinguish", metavar="A,B",
        help="Programs with an outcome in one of two models and not in the other, in either direction; a model as "
        "`pgasrob litmus --model` takes it.")
    size: int | None = option("--size", type=click.IntRange(min=1), metavar="N",
        help="At most N actions, including initial writes (rules of coreRMA), or N statements. Default: "
        f"{DEFAULT_ACTIONS} and {DEFAULT_STATEMENTS}.")
    processes: tuple[int, ...] = option("--processes", type=click.IntRange(1, 2), multiple=True,
        help="coreRMA: the number of processes of a test. Default: 1 and 2.")
    threads: int = option("--threads", type=click.IntRange(min=1), default=2, show_default=True, metavar="N",
        help="At most N threads (cells of RDMA-TSO, --distinguish).")
    nodes: int = option("--nodes", type=click.IntRange(min=1), default=2, show_default=True, metavar="N",
        help="So many nodes.")
    locations: int = option("--locations", type=click.IntRange(1, 14), default=3, show_default=True, metavar="N",
        help="So many locations.")
    waits: bool = flag("--waits",
        help="--distinguish: also with a statement that waits for all operations to a node, which is a flush or as "
        "many polls.")
    conventions: tuple[str, ...] = option("--convention", multiple=True, metavar="NAME=VALUE", help=_conventions_help)
    count: int | None = option("--count", type=click.IntRange(min=1), metavar="N",
        help="At most N tests for each rule, or in each direction.")
    output: str | None = option("-o", "--output", type=click.Path(file_okay=False), metavar="FOLDER",
        help="Write a .litmus file for each test there. A file of the same name is overwritten.")
    format: str = format_option("litmus", "json",
        help="litmus: what --output writes; json: one object per test, one per line.")
    limits: Limits = group(TimeAndMemory, beside="")
    # fmt: on


RULES: tuple[Rule[GenerateOptions], ...] = (
    Rule(
        "say which --rule the outcomes hang on, or which two models to --distinguish.",
        lambda o: (o.distinguish is None) == (not o.rules),
    ),
)


@command(GenerateOptions, examples=EXAMPLES)
def generate(options: GenerateOptions) -> int:
    """Generate litmus tests.

    The tests are all programs up to a size, one for each class of symmetry, for which a rule matters. For coreRMA: some
    execution has a cycle only because of an edge of the rule. For RDMA-TSO: the outcomes change if one cell of Figure 9
    is changed. With --distinguish: one of two models has an outcome that the other one does not have.
    """
    from pgasrob.robustness.stopping import Stopped, within_limits

    check_rules(options, RULES)
    _check_options("distinguish" if options.distinguish is not None else options.model)
    display = progress_display(None)
    out = _Out(options.format, options.output, display.clear if display else None)

    def generated(watch: Watch) -> list[str]:
        def note(looked: int, found: int) -> None:
            watch.look_around(PHASE, looked, f"{found} tests")

        wanted, found = _tests(options, note)
        return out.each(found, wanted, options.count)

    with display("litmus tests") if display else nullcontext() as progress:
        lacking = within_limits(options.limits, PHASE, generated, progress)
    click.echo(f"pgasrob: {out.summary()}", err=True)
    if isinstance(lacking, Stopped):
        click.echo(f"pgasrob: {lacking.reason}", err=True)
        return UNKNOWN
    if lacking:
        click.echo(f"pgasrob: none of this size for {', '.join(lacking)}", err=True)
    return ROBUST


def _check_options(kind: str) -> None:
    """End the command where an option is given that has no meaning for what is to be generated."""
    of_some = {name for names in OPTIONS_OF.values() for name in names}
    for parameter in typed():
        if parameter.name in of_some - OPTIONS_OF[kind]:
            what = "--distinguish" if kind == "distinguish" else f"rules of {kind}"
            raise click.UsageError(f"{parameter.opts[-1]} has no meaning for {what}.")


class _Out:
    """Prints or writes tests as they are found, and counts them."""

    def __init__(self, format_: str, folder: str | None, clear: Callable[[], None] | None) -> None:
        """``clear``: takes the display away that is on the terminal, before something is printed there."""
        self._format, self._folder = format_, None if folder is None else Path(folder)
        self._clear = clear
        self._numbers: dict[str, int] = {}
        self._files = 0

    def each(self, found: Iterator[tuple[str, Generated]], wanted: Sequence[str], count: int | None) -> list[str]:
        """Print or write the tests; which of ``wanted`` there is none for. Ends when there are ``count`` for each."""
        numbers = dict.fromkeys(wanted, 0)
        for kind, test in found:
            if count is None or numbers[kind] < count:
                numbers[kind] += 1
                self._one(test)
            if count is not None and min(numbers.values()) >= count:
                break
        return [kind for kind, number in numbers.items() if not number]

    def _one(self, test: Generated) -> None:
        from pgasrob.render.generated import files_of, generated_row, generated_to_json
        from pgasrob.whole_files import replace_file

        number = self._numbers[test.name] = self._numbers.get(test.name, 0) + 1
        if self._folder is not None:
            for name, text in files_of(test, number):
                replace_file(self._folder / name, text, make_folders=True)
                self._files += 1
        if self._clear is not None and (self._folder is None or self._format == "json"):
            self._clear()
        if self._format == "json":
            print_json(generated_to_json(test, number))
        elif self._format == "litmus" and self._folder is None:
            click.echo("\n".join(text for _, text in files_of(test, number)))
        elif self._folder is None:
            click.echo("\n".join(generated_row(generated_to_json(test, number))))

    def summary(self) -> str:
        count = sum(self._numbers.values())
        tests = f"{count} test{'' if count == 1 else 's'}"
        return tests if self._folder is None else f"{tests}, {self._files} files in {self._folder}"


def _wanted(rules: Sequence[str], known: Sequence[str], default: Sequence[str], of: str) -> list[str]:
    from pgasrob.diagnostics.suggestions import did_you_mean

    wanted: list[str] = []
    named = [rule for rule in (rule.strip() for each in rules for rule in each.split(",")) if rule]
    if not named:
        raise click.BadParameter("it names no rule.", param_hint="'--rule'")
    for rule in named:
        if rule == ALL:
            wanted += default
        elif rule in known:
            wanted.append(rule)
        else:
            other = next((model for model, has in _rules().items() if rule in has), None)
            hint = f"it is one of --model {other}." if other else did_you_mean(rule, known, 0.4)
            hint = hint or f"there is {', '.join(default[:12])}..."
            raise click.BadParameter(f"{of} has no rule {rule!r}; {hint}", param_hint="'--rule'")
    return list(dict.fromkeys(wanted))


def _rules() -> dict[str, Sequence[str]]:
    """The rules that --rule can name, by the model."""
    from pgasrob.models.generate.rdma_tests import RULES as RDMA_TSO
    from pgasrob.models.generate.static_order import RULES as CORERMA

    return {"corerma": CORERMA, "rdma-tso": RDMA_TSO}


def _tests(options: GenerateOptions, note: Note) -> tuple[list[str], Tests]:
    """The kinds of tests that are wanted, and the tests as they are found, of which ``note`` gets the numbers."""
    from pgasrob.models.generate.rdma_shapes import Bounds

    bounds = Bounds(options.threads, options.nodes, options.locations)
    if options.distinguish is not None:
        return _distinguishing(options, options.distinguish, bounds, note)
    return _of_corerma(options, note) if options.model == "corerma" else _of_rdma_tso(options, bounds, note)


def _of_corerma(options: GenerateOptions, note: Note) -> tuple[list[str], Tests]:
    from itertools import islice

    from pgasrob.models.generate.corerma_tests import generate as tests
    from pgasrob.models.generate.static_order import RULES

    conventions = _conventions(options.conventions)
    size, processes = options.size or DEFAULT_ACTIONS, tuple(dict.fromkeys(options.processes or (1, 2)))
    kinds = {
        f"{rule} with {number} process{'es' if number > 1 else ''}": (rule, number)
        for rule in _wanted(options.rules, RULES, RULES, "coreRMA")
        for number in processes
    }
    return list(kinds), (
        (kind, test)
        for kind, (rule, number) in kinds.items()
        for test in islice(tests(rule, size, number, conventions, note), options.count)
    )


def _of_rdma_tso(options: GenerateOptions, bounds: Bounds, note: Note) -> tuple[list[str], Tests]:
    from pgasrob.models.generate.rdma_tests import RULES
    from pgasrob.models.generate.rdma_tests import generate as tests

    wanted, size = _wanted(options.rules, RULES, RULES, "RDMA-TSO"), options.size or DEFAULT_STATEMENTS
    return wanted, ((test.rule, test) for test in tests(wanted, size, bounds, note, options.count))


def _distinguishing(options: GenerateOptions, names: str, bounds: Bounds, note: Note) -> tuple[list[str], Tests]:
    from pgasrob.models.generate.distinguish import distinguish
    from pgasrob.models.model_table import UnknownModel, asked, label, parted

    try:
        models = [asked(part) for part in parted(names)]
    except UnknownModel as error:
        raise click.BadParameter(sentence(str(error)), param_hint="'--distinguish'") from None
    if len(models) != 2 or label(models[0]) == label(models[1]):
        raise click.BadParameter("it takes two models that differ, as rdma-tso,corerma.", param_hint="'--distinguish'")

    def direction(first: Any, second: Any) -> str:
        return f"what {label(first)} has and {label(second)} has not"

    kinds = [direction(*models), direction(*reversed(models))]
    found = distinguish(models[0], models[1], options.size or DEFAULT_STATEMENTS, bounds, options.waits, note)
    return kinds, ((direction(test.first, test.second), test) for test in found)


def _conventions(given: Sequence[str]) -> Conventions:
    from pgasrob.models.generate.conventions import UnknownConvention, conventions

    try:
        return conventions(given)
    except UnknownConvention as error:
        raise click.BadParameter(str(error), param_hint="'--convention'") from None
