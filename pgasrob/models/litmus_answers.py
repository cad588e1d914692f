"""Asks a model about a litmus test: its outcomes, whether its expectations hold, why an outcome is forbidden."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from pgasrob.display import Result
from pgasrob.models.litmus.expected_outcomes import Compared, LitmusTest, compare
from pgasrob.models.litmus.litmus_program import Value
from pgasrob.models.model_interface import Axiomatic, Forbidden, Model, Outcomes, Refusal, Refused
from pgasrob.models.model_table import STOCK, Options, all_asked, label, models_for
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.reasons import Reason
from pgasrob.robustness.stopping import until_limit
from pgasrob.robustness.watch import Progress, Watch

Values = tuple[tuple[str, Value], ...]
"""Some names with a value each."""
PHASE, REASONS = "in the search for outcomes", "in the search for rules"
LONGEST_WHY, LONGEST_UNASKED = 10.0, 1.0
"""Seconds for the search for the rules that forbid one outcome, which may try all sets of rules: when a user asked for
them, and when only a line of the test forbids that outcome."""


@dataclass(frozen=True)
class Why:
    """Why no outcome has these ``values``: ``by`` is None where one has (``allowed``), where the model has no reasons,
    or where it did not find them for a ``reason``. ``asked``: by the user, not by a line of the test."""

    values: Values
    by: Forbidden | None = None
    allowed: bool = False
    reason: Reason | None = None
    asked: bool = True


@dataclass(frozen=True)
class Answer:
    """The outcomes of ``test`` in ``model``. ``refusals``: why there are no outcomes. ``reason``: why some may be
    missing.

    ``compared``: the lines of the test that are about this model, in their order. ``why``: the reason why an outcome is
    forbidden, for each that the user asked about and each that a line of the test rightly forbids.
    """

    test: LitmusTest
    model: Model
    outcomes: Outcomes = field(default_factory=lambda: Outcomes({}))
    refusals: tuple[Refusal, ...] = ()
    compared: tuple[Compared, ...] = ()
    why: tuple[Why, ...] = ()
    seconds: float = 0.0

    @property
    def reason(self) -> Reason | None:
        return self.outcomes.reason

    @property
    def complete(self) -> bool:
        return not self.refusals and self.reason is None

    @property
    def as_expected(self) -> bool | None:
        """Whether every line that is about the model holds; None where a limit or a refusal leaves that open, or where
        no line is about it."""
        holds = [each.holds for each in self.compared]
        if not holds or self.refusals:
            return None
        return False if False in holds else None if None in holds else True


@dataclass(frozen=True, repr=False)
class Answers(Result):
    """The answers of several models about the test in ``file``, in the order in which they were asked."""

    file: str
    answers: tuple[Answer, ...]

    def items(self) -> Iterator[tuple[str, Answer]]:
        """Each answer with the label of its model."""
        return ((label(each.model), each) for each in self.answers)

    def __getitem__(self, name: str) -> Answer:
        """The answer of the model with this label. Raises KeyError, which lists those that were asked."""
        found = dict(self.items())
        if name not in found:
            raise KeyError(f"{name!r} was not asked; there is {', '.join(found)}")
        return found[name]

    def allowed(self, name: str, **values: Value) -> bool | None:
        """Whether the model ``name`` has an outcome with these values; None where a limit or a refusal left that open.

        Raises KeyError for a model that was not asked and a name that the test does not have.
        """
        asked = self[name]
        names = asked.test.program.names
        wanted = {names.index(each): value for each, value in values.items() if each in names}
        if len(wanted) < len(values):
            raise KeyError(f"the test has {', '.join(names)}, not all of {', '.join(values)}")
        if any(all(found[place] == value for place, value in wanted.items()) for found in asked.outcomes.found):
            return True
        return False if asked.complete else None


def answer(
    test: LitmusTest,
    model: Model,
    limits: Limits,
    asked: Iterable[Values] = (),
    *,
    explain: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> Answer:
    """The answer of ``model`` about ``test``. It says why an outcome is forbidden for each set of values in ``asked``,
    and, if ``explain``, for those that the test forbids. ``progress`` is called a few times a second."""
    started = time.monotonic()
    program = test.program
    concerning = tuple(Compared(line, None) for line in test.expectations if line.concerns(model.name, model.variant))
    if refused := model.refusals(program):
        return Answer(test, model, refusals=refused, compared=concerning)
    watch = Watch(limits, progress, started)
    outcomes = None
    try:
        with until_limit(memory=True) as stopped:
            outcomes = watch.within(PHASE, lambda: model.outcomes(program, watch), looks=True)
    except Refused as error:
        return Answer(test, model, refusals=error.refusals, compared=concerning)
    outcomes = outcomes or Outcomes({}, stopped.reason)
    lines = compare(test, model.name, model.variant, outcomes.found, complete=outcomes.reason is None)
    compared = tuple(each for each in lines if each.expectation.concerns(model.name, model.variant))
    wanted = [
        each.expectation.values
        for each in compared
        if explain and each.holds and not each.expectation.allowed and not each.expectation.otherwise
    ]
    if not isinstance(model, Axiomatic) or not program.bounded:
        wanted = []
    asked = tuple(asked)
    why = tuple(
        _why(test, model, outcomes, values, limits, values in asked) for values in dict.fromkeys((*asked, *wanted))
    )
    return Answer(test, model, outcomes, (), compared, why, time.monotonic() - started)


def _why(test: LitmusTest, model: Model, outcomes: Outcomes, values: Values, limits: Limits, asked: bool) -> Why:
    names = test.program.names
    if any(dict(values).items() <= dict(zip(names, found, strict=True)).items() for found in outcomes.found):
        return Why(values, allowed=True, asked=asked)
    if outcomes.reason is not None or not isinstance(model, Axiomatic) or not test.program.bounded:
        return Why(values, reason=outcomes.reason, asked=asked)
    longest = LONGEST_WHY if asked else LONGEST_UNASKED
    seconds = longest if limits.timeout is None else min(limits.timeout, longest)
    watch = Watch(replace(limits, timeout=seconds), None, time.monotonic())
    by = None
    with until_limit(memory=True) as stopped:
        by = watch.within(REASONS, lambda: model.forbidden(test.program, dict(values)))
    return Why(values, by, reason=stopped.reason, asked=asked)


def lines_about_none(test: LitmusTest, models: Sequence[Model]) -> list[tuple[int, str]]:
    """The lines of ``test`` that are about none of the ``models``, with their numbers."""
    about = {line for line in test.expectations for model in models if line.concerns(model.name, model.variant)}
    return [(line.span.line, str(line)) for line in test.expectations if line not in about]


def models_of(
    test: LitmusTest, asked: Sequence[str], options: Options = STOCK, *, expected: bool = False
) -> list[Model]:
    """The models to ask: those that ``asked`` names, or else all that know the program's instructions. ``expected``:
    also those that lines of the test name, with their variants."""
    if asked:
        return all_asked(asked, options)
    found = models_for(test.program, options)
    if expected:
        found += all_asked([" ".join(filter(None, pair)) for pair in test.models])
    return list({label(model): model for model in found}.values())
