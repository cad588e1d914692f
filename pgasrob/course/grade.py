"""Grading: compares programs that students hand in with a key, a folder of programs whose headers say what is expected.

    // expect: robust at 2..3
    // points: 2
    // asks: program
    // changes: insertions

A program of the key that ``asks: program`` (or says nothing) wants one of the same name with the expected verdict on
the node counts of the key, whatever the program handed in says of them. Where that is `robust` its SC runs have to end
as those of the key, too, with the same values in the memory that the key has, and with no failing assertion or deadlock
that the key does not have: a program that does nothing is robust. With ``changes: insertions`` all lines that were
handed out are still there, in order. One that ``asks: verdict`` wants the program as it is, with a first comment in
which the student says what to expect, `// expect: not robust`.

A limit that is hit is neither right nor wrong: ``undecided``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from pgasrob.batch.headers import BadKey
from pgasrob.course.handout import ENDINGS, handed_out, head
from pgasrob.diagnostics import SourceError
from pgasrob.diagnostics.internal_error import internal_error
from pgasrob.diagnostics.suggestions import closest
from pgasrob.program.expectation import Expectation, read_expectation
from pgasrob.program.files import DISK, files_below
from pgasrob.program.parser import read_source
from pgasrob.repairs.sc_outcomes import Before, Compared
from pgasrob.robustness.check import check
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.load import load
from pgasrob.robustness.question import Question, Robustness
from pgasrob.robustness.session import Session
from pgasrob.robustness.stopping import Stopped, within_limits
from pgasrob.robustness.verdict import Verdict

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.program.program import Program

T = TypeVar("T")

ENTRY = re.compile(
    r"^[ \t]*(?://|/?\*)[ \t]*(points|asks|changes)[ \t]*:[ \t]*(.*?)[ \t]*(?:\*/)?[ \t]*$", re.MULTILINE
)
VALUES = {"points": r"[1-9][0-9]{0,3}", "asks": "program|verdict", "changes": "any|insertions"}
DEFAULTS = {"points": "1", "asks": "program", "changes": "any"}
State = Literal["right", "wrong", "undecided", "missing", "no program"]


@dataclass(frozen=True, slots=True)
class Exercise:
    """A program of the key. ``file``: its path below the key; ``counts``: the node counts that are graded."""

    file: str
    text: str
    expectation: Expectation
    counts: tuple[int, ...]
    points: int
    asks: str
    insertions: bool


@dataclass(frozen=True, slots=True)
class Mark:
    """The mark of one exercise; ``why`` it is not right, "" where it is; ``verdict``: the one that decided it."""

    exercise: Exercise
    state: State
    why: str = ""
    verdict: Verdict | None = None

    @property
    def points(self) -> int:
        return self.exercise.points if self.state == "right" else 0

    @property
    def undecided(self) -> int:
        return self.exercise.points if self.state == "undecided" else 0


@dataclass(frozen=True, slots=True)
class Graded:
    """The marks of a ``student``, whose folder has that name; ``others``: files there that belong to no exercise."""

    student: str
    marks: tuple[Mark, ...]
    others: tuple[str, ...]

    @property
    def points(self) -> int:
        return sum(mark.points for mark in self.marks)

    @property
    def undecided(self) -> int:
        return sum(mark.undecided for mark in self.marks)


class _Known:
    """A program of the key with its verdicts and the ends of its SC runs."""

    def __init__(self, program: Program | CProgram, verdicts: dict[int, Verdict]) -> None:
        self.verdicts, self.ends = verdicts, Before(program)


class Grader:
    """Grades by the programs in the folder ``key``, within ``limits`` for each program and node count. ``handout``: the
    folder that was handed out, where that is not the key without its headers.

    Raises :class:`BadKey`.
    """

    def __init__(self, key: Path, limits: Limits, handout: Path | None = None) -> None:
        self._key, self._limits, self._handout = key, limits, handout
        self._known: dict[str, _Known | str] = {}
        files = sorted(files_below(key, ENDINGS))
        if not files:
            raise BadKey(f"{key} is no folder with {' and '.join(ENDINGS)} files")
        self.exercises = tuple(self._exercise(file) for file in files)

    @property
    def points(self) -> int:
        """The points of all exercises."""
        return sum(exercise.points for exercise in self.exercises)

    def grade(self, folder: Path) -> Graded:
        """The marks of what is in the ``folder`` of a student. Raises :class:`BadKey` where a verdict on the key is not
        as its header says."""
        names = {exercise.file for exercise in self.exercises}
        there = sorted(Path(file).relative_to(folder).as_posix() for file in files_below(folder, ENDINGS))
        others = tuple(name for name in there if name not in names)
        marks = tuple(self._marked(each, folder, others) for each in self.exercises)
        return Graded(folder.resolve().name, marks, others)

    def _exercise(self, path: Path) -> Exercise:
        try:
            text = read_source(path, DISK)
            expectation, program = read_expectation(text, str(path)), load(path)
        except SourceError as error:
            raise BadKey(str(error)) from None
        if expectation is None or not expectation.cases:
            raise BadKey(f"{path}: the key says of each program what is expected, as in `// expect: robust`")
        given = dict(DEFAULTS)
        for name, value in ENTRY.findall(text[: head(text)]):
            if not re.fullmatch(VALUES[name], value):
                raise BadKey(
                    f"{path}: `{name}: {value}` is not `{name}: {VALUES[name].replace('|', '` or `' + name + ': ')}`"
                )
            given[name] = value
        counts = expectation.counts or (program.default_count,)
        insertions = given["changes"] == "insertions"
        file = path.relative_to(self._key).as_posix()
        return Exercise(file, text, expectation, counts, int(given["points"]), given["asks"], insertions)

    def _marked(self, exercise: Exercise, folder: Path, others: Sequence[str]) -> Mark:
        try:
            return self._mark(exercise, folder, others)
        except BadKey:
            raise
        except Exception as error:
            found = internal_error(error, str(folder / exercise.file))
            return Mark(exercise, "undecided", f"{found.message} ({', '.join(found.notes)}): please report it")

    def _mark(self, exercise: Exercise, folder: Path, others: Sequence[str]) -> Mark:
        path = folder / exercise.file
        if not path.is_file():
            alike = closest(exercise.file, others)
            return Mark(exercise, "missing", f"there is no such file{f'; there is {alike}' if alike else ''}")
        if not path.resolve().is_relative_to(folder.resolve()):
            return Mark(exercise, "wrong", "the file is a link that leads out of what was handed in")
        try:
            text = read_source(path, DISK)
            if exercise.asks == "verdict":
                return self._answer(exercise, text)
            if exercise.insertions and (gone := self._gone(exercise, text)):
                return Mark(exercise, "wrong", f"a line that was handed out is gone: {gone}")
            program = self._within(exercise, lambda: load(path))
        except SourceError as error:
            first = error.diagnostics[0]
            return Mark(exercise, "no program", f"line {first.line}: {first.message}" if first.line else first.message)
        return program if isinstance(program, Mark) else self._program(exercise, program)

    def _answer(self, exercise: Exercise, text: str) -> Mark:
        """The mark of a verdict that a student gives."""
        if text[head(text) :].split() != exercise.text[head(exercise.text) :].split():
            return Mark(exercise, "wrong", "the program is not the one that was handed out")
        said = read_expectation(text, exercise.file)
        if said is None or not said.cases:
            return Mark(exercise, "missing", "the first comment says nothing: write `// expect: robust`, or what it is")
        for count in exercise.counts:
            answer, right = said.at(count), exercise.expectation.at(count)
            if answer != right:
                return Mark(
                    exercise, "wrong", f"it is {right} on {count} nodes, and the answer is {answer or 'nothing'}"
                )
        return Mark(exercise, "right")

    def _gone(self, exercise: Exercise, text: str) -> str:
        """The first line of the hand-out that is missing in ``text``, or not in its order; "" for none."""
        given = exercise.text
        if self._handout is not None:
            try:
                given = read_source(self._handout / exercise.file, DISK)
            except SourceError as error:
                raise BadKey(str(error)) from None
        lines = iter([" ".join(line.split()) for line in text.splitlines()])
        for line in handed_out(given, exercise.file).splitlines():
            wanted = " ".join(line.split())
            if wanted and wanted not in lines:
                return wanted
        return ""

    def _program(self, exercise: Exercise, program: Program | CProgram) -> Mark:
        known = self._key_of(exercise)
        if isinstance(known, str):
            return Mark(exercise, "undecided", f"of the key: {known}")
        for count in exercise.counts:
            right = known.verdicts[count]
            verdict = self._check(program, count)
            where = f"on {count} nodes"
            if verdict.verdict == "unknown":
                return Mark(exercise, "undecided", f"{where}: {verdict.reason}", verdict)
            if verdict.verdict != right.verdict:
                found = f"in error ({verdict.reason})" if verdict.verdict == "error" else verdict.verdict
                return Mark(exercise, "wrong", f"it is {found} {where}, and should be {right.verdict}", verdict)
            if verdict.assertions == "violated" and right.assertions != "violated":
                return Mark(exercise, "wrong", f"an assertion fails in an SC run {where}", verdict)
            if verdict.deadlock is True and right.deadlock is not True:
                return Mark(exercise, "wrong", f"there is a deadlock {where}", verdict)
            for fact, asked in (("the assertions hold", verdict.assertions), ("there is a deadlock", verdict.deadlock)):
                if asked == "unknown" and right.verdict == "robust":
                    return Mark(exercise, "undecided", f"it is not known whether {fact} {where}", verdict)
        robust = [count for count in exercise.counts if known.verdicts[count].verdict == "robust"]
        return self._within(exercise, lambda: _ending(exercise, known.ends, program, robust))

    def _key_of(self, exercise: Exercise) -> _Known | str:
        """The program of the key with its verdicts, or a text about the limit that was hit."""
        if exercise.file not in self._known:
            program = load(self._key / exercise.file)
            verdicts = {count: self._check(program, count) for count in exercise.counts}
            known: _Known | str = _Known(program, verdicts)
            for count, verdict in verdicts.items():
                expected = exercise.expectation.at(count)
                if verdict.verdict == "unknown":
                    known = f"on {count} nodes: {verdict.reason}"
                elif verdict.verdict != expected:
                    found = f"is {verdict.verdict} on {count} nodes, and says that {expected} is expected"
                    raise BadKey(f"{self._key / exercise.file} {found}")
            self._known[exercise.file] = known
        return self._known[exercise.file]

    def _check(self, program: Program | CProgram, nodes: int) -> Verdict:
        return check(Session(Question(program, nodes, Robustness(effect=False), limits=self._limits)))

    def _within(self, exercise: Exercise, work: Callable[[], T]) -> T | Mark:
        """What ``work`` gives, or at a limit the mark that says so."""
        found = within_limits(self._limits, "while grading", lambda watch: work())
        return Mark(exercise, "undecided", str(found.reason)) if isinstance(found, Stopped) else found


def _ending(exercise: Exercise, key: Before, program: Program | CProgram, counts: Sequence[int]) -> Mark:
    """The mark of a program that is robust on ``counts``, by whether its SC runs end like those of the key."""
    if missing := key.missing(program, counts):
        return Mark(exercise, "wrong", f"it has no {', '.join(sorted(missing))}, which the key has")
    same = key.compared(program, counts, acts_in_sc=True, reads=False, registers=False)
    if same.undecided:
        return Mark(exercise, "undecided", same.why)
    if same.compared is Compared.DIFFERENT:
        return Mark(exercise, "wrong", "its SC runs end with other values in memory than they should")
    return Mark(exercise, "right")
