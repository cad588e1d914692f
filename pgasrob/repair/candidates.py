"""The candidates that would make one violation impossible: its clause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

from pgasrob.program import core
from pgasrob.repair import remedies
from pgasrob.repair.edits import Edit, Origins
from pgasrob.repair.remedies import CallText, Kind
from pgasrob.repair.statements import Statement, Statements
from pgasrob.robustness.diagnosis import issued_operands
from pgasrob.semantics.replay import Run

ORDERS: dict[Kind, int] = {"order": 0, "local completion": 1, "completion": 2, "barrier": 3, "notification": 4}


@dataclass(frozen=True, slots=True)
class Costs:
    """What the kinds of candidates cost; ``loop``: how many times as much it is for each loop around the place."""

    order: int = 1
    local_completion: int = 2
    completion: int = 4
    notification: int = 6
    barrier: int = 8
    loop: int = 3

    @classmethod
    def read(cls, given: Mapping[str, object]) -> Costs:
        """The costs that ``given`` names, the others as they are. Raises ValueError, with a sentence."""
        names = [field.name for field in fields(cls)]
        for name, value in given.items():
            if name.replace("-", "_") not in names:
                raise ValueError(f"{name!r} is no cost; there is {', '.join(names)}")
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} is {value!r}; a cost is a whole number from 1 on")
        return cls(**{name.replace("-", "_"): value for name, value in given.items()})  # type: ignore[arg-type]

    def of(self, kind: Kind, loops: int) -> int:
        cost: int = getattr(self, kind.replace(" ", "_"))
        return cost * int(self.loop**loops)


@dataclass(frozen=True, slots=True, order=True)
class Candidate:
    """Edits that go together; ``line`` is where the first of them is, ``text`` what is inserted or put there, and
    ``inserted`` says which of both."""

    edits: tuple[Edit, ...]
    kind: Kind
    cost: int
    line: int
    text: str
    inserted: bool

    @property
    def acts_in_sc(self) -> bool:
        """Whether it does anything in SC runs, in which nothing is ever late."""
        return self.kind in ("barrier", "notification")

    @property
    def adds_runs(self) -> bool:
        """Whether there may be runs with it that there are not without: an operation in another queue is no more
        ordered as it was, and so with a wait that is moved."""
        taken = any(edit.end > edit.start and not edit.text for edit in self.edits)
        return taken or self.kind == "notification" or (self.kind == "order" and not self.inserted)


class Clauses:
    """The clauses of the violations of a source and of what it becomes by edits.

    A run is one of the program with a candidate too unless the candidate makes some step of the run come too late, or
    stand in another order than it has. So every operation is looked at some of whose steps are late, and all places
    that its rank passes before they come.
    """

    def __init__(self, statements: Statements, costs: Costs) -> None:
        self._statements, self._costs = statements, costs

    def clause(self, run: Run, edits: Sequence[Edit]) -> frozenset[Candidate]:
        """The candidates of which one has to be in every repair, for ``run`` is a run of the source with ``edits``."""
        return frozenset(_Clause(self._statements, self._costs, run, Origins(edits), edits).candidates())


@dataclass(frozen=True, slots=True)
class _Passed:
    """A command that a rank has issued: the place in the computation, and the statement that it comes from."""

    place: int
    statement: Statement | None
    start: int
    end: int


class _Clause:
    def __init__(self, statements: Statements, costs: Costs, run: Run, origins: Origins, edits: Sequence[Edit]) -> None:
        from pgasrob.repair.edits import applied

        self._statements, self._costs, self._run, self._origins = statements, costs, run, origins
        self._edited = Statements(applied(statements.text, edits), [])
        self._operands = issued_operands(run)

    def candidates(self) -> Iterator[Candidate]:
        events = self._run.computation
        for rank in range(self._run.instance.nodes):
            passed = [
                self._passed(place) for place, each in enumerate(events) if each.rank == rank and not each.is_step
            ]
            for first, issued in enumerate(passed):
                yield from self._behind(issued)
                operation = self._operands[events[issued.place].issued]
                if isinstance(operation, core.Transfer):
                    yield from self._against(operation, passed, first)
            yield from self._meeting(passed)

    def _meeting(self, passed: list[_Passed]) -> Iterator[Candidate]:
        """A barrier wherever the rank passes: which of them has to do with the run is not looked at."""
        text: str | None = "barrier;"
        if self._in_c:
            calls = filter(None, map(self._call, passed))
            text = next(filter(None, map(remedies.barrier, calls)), None)
        if text is not None:
            yield from self._between(passed, 0, len(passed) - 1, "barrier", text)

    def _against(self, operation: core.Transfer[int, int], passed: list[_Passed], first: int) -> Iterator[Candidate]:
        """What makes the steps of the command ``passed[first]`` come earlier than they do."""
        events = self._run.computation
        issued = events[passed[first].place].issued
        for place, event in enumerate(events):
            if not event.is_step or event.issued != issued:
                continue
            step = next(each for each in operation.steps if each.kind == event.kind)
            last = max(number for number, each in enumerate(passed) if each.place < place)
            if last == first:
                continue
            yield from self._completing(passed, first, last, step.local)
            yield from self._ordering(operation, step, place, passed, first, last)
            yield from self._notifying(passed[first], place)

    def _completing(self, passed: list[_Passed], first: int, last: int, local: bool) -> Iterator[Candidate]:
        issued = passed[first]
        for kind, text in self._insertions(issued):
            if kind != "order" and (kind != "local completion" or local):
                yield from self._between(passed, first, last, kind, text)
        yield from self._moving(passed, first, last)
        for kind, text in self._changes(issued):
            if kind != "local completion" or local:
                yield from self._instead(issued, kind, text)
        for number in range(first + 1, last + 1):
            for kind, text in self._changes(passed[number]):
                if kind == "completion":
                    yield from self._instead(passed[number], kind, text)

    def _ordering(
        self, operation: core.Transfer[int, int], step: core.Step[int], place: int, passed: list[_Passed], first: int,
        last: int,
    ) -> Iterator[Candidate]:  # fmt: skip
        """What orders it before the operations behind it that have overtaken it."""
        events = self._run.computation
        for number in range(first + 1, last + 1):
            later = self._operands[events[passed[number].place].issued]
            if not isinstance(later, core.Transfer) or later.rank != operation.rank:
                continue
            ahead = [
                each for at, each in enumerate(events[:place])
                if each.is_step and each.issued == events[passed[number].place].issued
            ]  # fmt: skip
            if not ahead:
                continue
            for kind, text in self._insertions(passed[first]):
                if kind == "order":
                    yield from self._between(passed, first, number, kind, text)
            yield from self._one_queue(passed[first], passed[number])
            yield from self._as_signal(passed[first], passed[number])

    def _as_signal(self, put: _Passed, flag: _Passed) -> Iterator[Candidate]:
        """The flag as the signal of the put."""
        one, other = (self._call(put), self._call(flag)) if self._in_c else (None, None)
        if one is None or other is None or flag.statement is None or flag.statement.start != flag.start:
            return
        if text := remedies.signalled(one, other, self._statements.text):
            for candidate in self._instead(put, "order", text):
                yield replace(candidate, edits=(*candidate.edits, self._statements.without(flag.statement)))

    def _notifying(self, late: _Passed, place: int) -> Iterator[Candidate]:
        """A notification behind it, for which those wait that access its cell too early."""
        events = self._run.computation
        call = self._call(late)
        told = None if call is None else remedies.notified(call, self._statements.text)
        if told is None:
            return
        write, wait = told
        for ahead in range(late.place, place):
            early = events[ahead]
            if early.cell != events[place].cell or early.rank == events[place].rank or early.is_step:
                continue
            reader = self._passed(ahead).statement
            if reader is not None and late.statement is not None and reader.insertable:
                waiting = self._statements.before(reader, wait, ORDERS["notification"])
                edits = (Edit(late.start, late.end, 0, write), *waiting)
                cost = self._costs.of("notification", max(late.statement.loops, reader.loops))
                line = self._statements.line(late.start)
                yield Candidate(edits, "notification", cost, line, write, inserted=False)

    def _moving(self, passed: list[_Passed], first: int, last: int) -> Iterator[Candidate]:
        """A wait for its handle that comes too late, earlier."""
        call = self._call(passed[first]) if self._in_c else None
        if call is None or not (names := remedies.waits_by_handle(call)):
            return
        for wait in self._statements.calling(names):
            text, taken = self._statements.text[wait.start : wait.end], self._statements.without(wait)
            for candidate in self._between(passed, first, last, "completion", text):
                if all(edit.end <= taken.start or taken.end <= edit.start for edit in candidate.edits):
                    yield replace(candidate, edits=(*candidate.edits, taken))

    def _behind(self, passed: _Passed) -> Iterator[Candidate]:
        """What makes a later wait of the rank one for something new."""
        call = self._call(passed)
        told = remedies.behind(call) if call is not None and self._in_c else None
        if told is not None and passed.statement is not None:
            yield self._inserted(passed.statement, *told, behind=True)

    # Places

    def _between(self, passed: list[_Passed], first: int, last: int, kind: Kind, text: str) -> Iterator[Candidate]:
        """``text`` at each place between the commands ``passed[first]`` and ``passed[last]``."""
        for number in range(first, last):
            before, after = passed[number].statement, passed[number + 1].statement
            for statement in self._with_callers(before):
                if not statement.head and not statement.leaves:
                    yield self._inserted(statement, kind, text, behind=True)
            for statement in self._with_callers(after):
                if statement.insertable and (before != after or not statement.head):
                    yield self._inserted(statement, kind, text, behind=False)
            if before is not None and after is not None and before.function == after.function:
                for statement in self._statements.enclosing(before, after):
                    yield self._inserted(statement, kind, text, behind=True)
                for statement in self._statements.enclosing(after, before):
                    yield self._inserted(statement, kind, text, behind=False)

    def _with_callers(self, statement: Statement | None) -> list[Statement]:
        """``statement``, and the calls by which its function is reached: of several one may be meant."""
        return [] if statement is None else [statement, *self._statements.callers(statement)]

    def _inserted(self, statement: Statement, kind: Kind, text: str, behind: bool) -> Candidate:
        put = self._statements.after if behind else self._statements.before
        edits = put(statement, text, ORDERS[kind])
        line = self._statements.line(edits[0].start)
        return Candidate(edits, kind, self._costs.of(kind, statement.loops), line, text, inserted=True)

    def _instead(self, passed: _Passed, kind: Kind, text: str) -> Iterator[Candidate]:
        if passed.statement is not None:
            edit = Edit(passed.start, passed.end, 0, text)
            cost = self._costs.of(kind, passed.statement.loops)
            yield Candidate((edit,), kind, cost, self._statements.line(passed.start), text, inserted=False)

    # Commands

    def _passed(self, place: int) -> _Passed:
        span = self._run.events[place].span
        if not span.line:
            return _Passed(place, None, 0, 0)
        start, new = self._origins.of(self._edited.offset(span.line, span.column))
        end, _ = self._origins.of(self._edited.offset(span.end_line, span.end_column) - 1)
        return _Passed(place, None if new else self._statements.around(start), start, end + 1)

    @cached_property
    def _in_c(self) -> bool:
        return not self._run.instance.program.source.shows_commands

    def _call(self, passed: _Passed) -> CallText | None:
        if passed.statement is None:
            return None
        text = self._statements.text
        return CallText.read(text[passed.start : passed.end], text[passed.statement.start : passed.start])

    def _insertions(self, passed: _Passed) -> Iterator[remedies.Remedy]:
        if self._in_c:
            call = self._call(passed)
            yield from () if call is None else remedies.insertions(call, self._statements.text)
            return
        event = self._run.computation[passed.place]
        operation = self._operands[event.issued]
        assert isinstance(operation, core.Transfer)
        queue = self._run.instance.program.queue_name(operation.queue)
        yield "order", f"fence({queue});"
        yield "local completion", f"wait_local({queue});"
        yield "completion", f"wait({queue});"

    def _changes(self, passed: _Passed) -> Iterator[remedies.Remedy]:
        if self._in_c and (call := self._call(passed)) is not None:
            yield from remedies.changes(call)

    def _one_queue(self, first: _Passed, second: _Passed) -> Iterator[Candidate]:
        """Both operations in the queue of one of them."""
        for changed, other in ((first, second), (second, first)):
            one, two = self._call(changed), self._call(other)
            if one is None or two is None:
                continue
            place, like = self._queue_argument(one), self._queue_argument(two)
            if place is None or like is None or one.arguments[place] == two.arguments[like]:
                continue
            arguments = (*one.arguments[:place], two.arguments[like], *one.arguments[place + 1 :])
            yield from self._instead(changed, "order", str(CallText(one.name, arguments)))

    def _queue_argument(self, call: CallText) -> int | None:
        if self._in_c:
            return remedies.queue_argument(call)
        names = {queue.name for queue in self._run.instance.program.queues}
        found = [place for place, argument in enumerate(call.arguments) if argument in names]
        return found[0] if len(found) == 1 else None
