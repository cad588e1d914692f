"""The functions of the library, which take a file, a text or a loaded program alike.

A text is a string with a line break, a brace or, for a litmus test, `::`; any other string names a file, and a
:class:`pathlib.Path` always does. A text that includes a header or defines `main` is C.

>>> import pgasrob
>>> pgasrob.check(pgasrob.example("barrier_halo"))
<Verdict barrier_halo.c: not correctly synchronised on 4 nodes: not robust>
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal

from pgasrob.program.instance import Instance
from pgasrob.program.program import Program
from pgasrob.program.reading import Reading

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.models.litmus_answers import Answers
    from pgasrob.races.race_verdict import RaceVerdict
    from pgasrob.repairs import Costs, Repair
    from pgasrob.robustness.limits import Limits
    from pgasrob.robustness.question import Question
    from pgasrob.robustness.verdict import Verdict
    from pgasrob.robustness.watch import Progress
    from pgasrob.runs.outcomes import Outcomes
    from pgasrob.runs.simulate import Bias, Simulated

    Given = str | PathLike[str] | Program | CProgram

C_TEXT = re.compile(r"^[ \t]*#[ \t]*include\b|\bmain[ \t]*\(", re.MULTILINE)
MOST_ANSWERS = 3


def load(program: Given, front_end: FrontEnd | None = None) -> Program | CProgram:
    """The program in a file or a text; one that is loaded already is given back.

    ``front_end`` says how C is read. Raises :class:`SourceError` when it is no program, with everything that is wrong.

    >>> pgasrob.load("memory x; process { mem[x] <- me; }").nodes is None
    True
    >>> pgasrob.load("process { mem[y] <- 1; }")
    Traceback (most recent call last):
    pgasrob.diagnostics.diagnostic.SourceError: <string>:1:15: error[PG050]: unknown name `y`...
    """
    from pgasrob.robustness.load import load as load_file

    if not isinstance(program, str | PathLike):
        return program
    if not isinstance(program, str) or not re.search(r"[\n{]", program):
        return load_file(fspath(program), front_end)
    if C_TEXT.search(program):
        from pgasrob.frontends.lower import parse_c

        return parse_c(program, "<string>", front_end)
    from pgasrob.program.parser import parse

    return parse(program)


def check(
    program: Given,
    nodes: int | Literal["all"] | None = None,
    engine: str = "portfolio",
    limits: Limits | None = None,
    progress: Callable[[Progress], None] | None = None,
    **options: Any,
) -> Verdict:
    """Decide whether ``program`` is robust on ``nodes`` nodes: its own count, or 2, when None; ``"all"``: every number.
    Of C all lines are asked: whether it is correctly synchronised; ``only=("robust", "progress")`` asks for some.

    ``engine``: "portfolio", "attack", "traces", "product", "definition" or "spin". ``limits``: states, seconds and
    bytes, after which the verdict is `unknown`. ``progress`` is called a few times a second. Of the ``options``
    ``failed_polls="count"`` and ``conflicts="all"`` take every read as an event and every two accesses of which one
    writes as a conflict, and ``waits="value"`` each change of a cell and each await of it; ``effect=False`` leaves out
    what it means that a program is not robust; ``heads``, ``reductions`` and ``threads`` are for single engines.
    Nothing is raised for a program that faults or has no block for some rank: the verdict is `error`. Raises
    :class:`SourceError` when it is no program, ValueError for an engine or a node count that there is not, and
    TypeError for an option.

    >>> verdict = pgasrob.check(pgasrob.example("one_to_one"), nodes=2)
    >>> verdict.verdict, verdict.effect.kind
    ('not robust', 'assertion')
    >>> len(verdict.witness.run.events), len(verdict.witness.cycle)
    (9, 5)
    >>> pgasrob.check(pgasrob.example("one_to_one_wait"), nodes="all")
    <Verdict one_to_one_wait.pgas: robust on every number of nodes>
    """
    from pgasrob.batch.answer import about_robustness
    from pgasrob.robustness.question import RobustnessOnEveryCount, Synchronisation
    from pgasrob.robustness.session import Session
    from pgasrob.robustness.verdict import LINES

    _refuse_others("check", options, "only", "effect", "heads", "reductions", "threads", *Reading._fields)
    every = nodes == "all"
    if every and progress is not None:
        raise ValueError("progress is reported for single node counts, not for all")
    effect, only = options.pop("effect", True), options.pop("only", None)
    for name in only or ():
        if name not in LINES:
            raise ValueError(f"no line {name!r}; there is {', '.join(LINES)}")
    if isinstance(nodes, str) and not every:
        raise ValueError(f'nodes is {nodes!r}; it is a number, or "all" for every number')
    question = _question(program, None if isinstance(nodes, str) else nodes, limits, engine=engine, **options)
    lines = None if only is None else tuple(line for line in LINES if line in only)
    asked = (RobustnessOnEveryCount if every else Synchronisation)(lines, effect)
    return about_robustness(Session(question, progress), asked)


def race(
    program: Given,
    nodes: int | None = None,
    strict: bool = False,
    all_: bool = False,
    limits: Limits | None = None,
    **options: Any,
) -> RaceVerdict:
    """Decide whether ``program`` has a race: two accesses to one cell that can be next at once.

    ``strict``: an await and a value that arrives are one, too. ``all_``: all pairs of lines, else the first. Other
    ``options`` are ``engine`` ("search" or "definition"), ``progress``, and ``threads``, ``failed_polls``,
    ``conflicts`` and ``waits`` as of :func:`check`. Errors are as of it.

    >>> pgasrob.race(pgasrob.example("one_to_one"), nodes=2).races[0].lines
    (11, 13)
    """
    from pgasrob.races.race_check import races
    from pgasrob.robustness.question import Races
    from pgasrob.robustness.session import Session

    progress, engine = options.pop("progress", None), options.pop("engine", "search")
    _refuse_others("race", options, "threads", *Reading._fields)
    asked = Races(strict, all_, engine=engine)
    return races(Session(replace(_question(program, nodes, limits, **options), asked=asked), progress))


def outcomes(
    program: Given | Instance,
    nodes: int | None = None,
    of: Iterable[str] | None = None,
    limits: Limits | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Outcomes:
    """With which values the runs of a program without loops end, on the network and under sequential consistency.

    ``of`` chooses registers and cells, ``["r@0", "x@1"]``, all when None. Raises ValueError for a program with a loop
    and for a name that nothing has, and :class:`SourceError`.

    >>> found = pgasrob.outcomes(pgasrob.example("store_buffering.pgas"), of=["r@0", "r@1"])
    >>> [outcome.values for outcome in found.network_only]
    [(0, 0)]
    """
    from pgasrob.runs.outcomes import outcomes as find

    return find(_instance(program, nodes), of, limits, progress)


def simulate(
    program: Given | Instance,
    seed: int,
    network: bool = True,
    bias: Bias = "even",
    steps: int = 1_000,
    nodes: int | None = None,
) -> Simulated:
    """One random run of ``program``, the same for the same ``seed``, on the network or under sequential consistency.

    ``bias``: whether pending operations are rather "late" or "early". It is cut after so many ``steps``. Raises
    ValueError for a seed below 0, and :class:`SourceError`.

    >>> pgasrob.simulate(pgasrob.example("one_to_one"), seed=7)
    <Simulated one_to_one.pgas: 12 events on 2 nodes, seed 7>
    """
    from pgasrob.runs.simulate import simulate as run

    return run(_instance(program, nodes), seed, network, bias, steps)


def repair(
    program: Given,
    nodes: int | Sequence[int] | None = None,
    costs: Costs | None = None,
    max_answers: int = MOST_ANSWERS,
    limits: Limits | None = None,
    goal: Literal["robust", "races"] | None = None,
) -> Repair:
    """The cheapest changes of the text that make ``program`` robust on ``nodes``, one count or several.

    Each answer is checked from the changed text; nothing is written. ``costs``: of the kinds of changes. ``limits`` are
    for each check. ``goal="races"``, that of C programs when None: of a robust program changes that leave no race that
    changes the result. Raises :class:`SourceError`, and ValueError for a program that was made without a text.

    >>> found = pgasrob.repair(pgasrob.example("message_passing_no_fence.c"))
    >>> found.answers[0].candidates[0].text
    'shmem_fence();'
    """
    from pgasrob.repairs import repair as find
    from pgasrob.repairs.read_again import reads_like

    loaded = load(program)
    if nodes is None:
        nodes = loaded.default_count
    counts = (nodes,) if isinstance(nodes, int) else tuple(nodes)
    return find(loaded, reads_like(loaded), counts, costs, max_answers, limits, goal)


def litmus(test: str | PathLike[str], models: Sequence[str] = (), limits: Limits | None = None) -> Answers:
    """The outcomes that memory ``models`` allow of a litmus test, a file or a text; none named: all that take the test.

    A model is called as on the command line: "pgas", "sc", "tso", "corerma", "rdma-tso", "corerma without IR". Raises
    :class:`SourceError` when it is no test, ValueError for a model that there is not.

    >>> answers = pgasrob.litmus("x@1=0, y@1=0 :: 1: x = 1; a = y || 1: y = 1; b = x", ["sc", "tso"])
    >>> answers.allowed("tso", a=0, b=0), answers.allowed("sc", a=0, b=0)
    (True, False)
    """
    from pgasrob.models.litmus.litmus_parser import parse, parse_file
    from pgasrob.models.litmus_answers import Answers, answer, models_of
    from pgasrob.robustness.limits import Limits

    is_text = isinstance(test, str) and ("::" in test or "\n" in test)
    parsed = parse(str(test)) if is_text else parse_file(fspath(test))
    chosen = models_of(parsed, models)
    return Answers(
        "<litmus>" if is_text else fspath(test), tuple(answer(parsed, model, limits or Limits()) for model in chosen)
    )


def _refuse_others(function: str, options: Iterable[str], *known: str) -> None:
    """Raise TypeError for the first of ``options`` that the ``function`` does not take, as Python does."""
    for name in options:
        if name not in known:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")


def _question(
    program: Given,
    nodes: int | None,
    limits: Limits | None,
    engine: str = "portfolio",
    **options: Any,
) -> Question:
    """The question about ``program`` with these options of :func:`check`."""
    from pgasrob.robustness.limits import Limits
    from pgasrob.robustness.question import EngineChoice, Question, Resources

    choice = EngineChoice(engine, options.pop("heads", None), options.pop("reductions", None))
    resources, reading = Resources(options.pop("threads", None)), Reading(**options)
    loaded = load(program)
    return Question(loaded, nodes, reading=reading, engine=choice, limits=limits or Limits(), resources=resources)


def _instance(program: Given | Instance, nodes: int | None) -> Instance:
    return program if isinstance(program, Instance) else load(program).instantiate(nodes)
