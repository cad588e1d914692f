"""The candidates that would make one violation impossible: its clause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

from pgasrob.program import core
from pgasrob.repairs import remedies
from pgasrob.repairs.edits import Edit, Origins
from pgasrob.repairs.remedies import CallText, Kind
from pgasrob.repairs.statements import Statement, Statements
from pgasrob.robustness.late_operations import issued_operands
from pgasrob.semantics.replay import Run

NEW_CALL, WIDE, MOST_EARLY = 30, 25, 20
"""The burden of a call that is inserted, that it waits for more than the operation, and that it comes early."""
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
    ``inserted`` says which of both. ``takes``: it also takes away an order that there was. Of candidates of one cost
    those with the smallest ``burden`` come first. ``repeats``: it may be done again and again by a rank."""

    edits: tuple[Edit, ...]
    kind: Kind
    cost: int
    line: int
    text: str
    inserted: bool
    takes: bool = False
    burden: int = field(default=0, compare=False)
    repeats: bool = field(default=True, compare=False)

    @property
    def acts_in_sc(self) -> bool:
        """Whether it does anything in SC runs, in which nothing is ever late."""
        return self.kind in ("barrier", "notification")

    @property
    def adds_runs(self) -> bool:
        """Whether there may be runs with it that there are not without."""
        return self.takes or self.kind == "notification"


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
    """A command that a rank has issued: the place in the computation, and the statement that it comes from, with where
    its call stands in the source; ``instead`` is the call that an edit has put there."""

    place: int
    statement: Statement | None
    start: int
    end: int
    instead: str = ""


class _Clause:
    def __init__(self, statements: Statements, costs: Costs, run: Run, origins: Origins, edits: Sequence[Edit]) -> None:
        from pgasrob.repairs.edits import applied

        self._statements, self._costs, self._run, self._origins = statements, costs, run, origins
        self._edited = Statements(applied(statements.text, edits), [])
        self._replaced = {edit.start: edit for edit in edits if edit.end > edit.start}
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
            yield from self._between(passed, -1, len(passed), "barrier", text)

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
        yield from self._moving(passed, first, last, local)
        yield from self._redirecting(passed, first, last, local)
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
                if kind == "order" and (self._in_c or self._may_be_fenced(operation, later)):
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
                without = self._statements.without(flag.statement)
                yield replace(candidate, edits=(*candidate.edits, without), takes=True)

    def _may_be_fenced(self, first: core.Transfer[int, int], second: core.Transfer[int, int]) -> bool:
        """Whether a fence may order both: it is for one queue, and a FIFO queue keeps the order of writes anyway."""
        queues = self._run.instance.program.queues
        return first.queue == second.queue and any(each.id == first.queue and each.unordered for each in queues)

    def _notifying(self, late: _Passed, place: int) -> Iterator[Candidate]:
        """A notification behind it, for which those wait that access its cell too early."""
        events = self._run.computation
        call = self._call(late)
        notifying = None if call is None else remedies.notified(call, self._statements.text)
        if notifying is None:
            return
        write, wait = notifying
        wait = remedies.checked(wait, self._macro(late))
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

    def _moving(self, passed: list[_Passed], first: int, last: int, local: bool) -> Iterator[Candidate]:
        """A wait that comes too late, earlier, but not before what it may be for."""
        call = self._call(passed[first])
        for kind, operations, names in remedies.waits(call) if call is not None else ():
            issued = [each.start for each, _, _ in self._statements.calls(operations)]
            for wait, _, _ in self._statements.calls(names):
                if kind == "local completion" and not local:
                    continue
                text, taken = self._statements.text[wait.start : wait.end], self._statements.without(wait)
                for each in self._between(passed, first, last, kind, text, wait):
                    if all(edit.end < taken.start for edit in each.edits) and not any(
                        max(edit.end for edit in each.edits) <= other < wait.start for other in issued
                    ):
                        burden = each.burden - NEW_CALL
                        yield replace(each, edits=(*each.edits, taken), takes=True, burden=burden)

    def _redirecting(self, passed: list[_Passed], first: int, last: int, local: bool) -> Iterator[Candidate]:
        """A call that waits for something else."""
        for kind, text in self._insertions(passed[first]):
            call = CallText.read(text)
            if call is not None and call.name == self._macro(passed[first]):
                call = CallText.read(call.arguments[0])
            if kind == "order" or (kind == "local completion" and not local) or call is None or not call.arguments:
                continue
            for statement, start, end in self._statements.calls(re.escape(call.name)):
                there = CallText.read(self._statements.text[start:end])
                if there is not None and there.arguments != call.arguments:
                    cost, line = self._costs.of(kind, statement.loops), self._statements.line(start)
                    edits = (Edit(start, end, 0, str(call)),)
                    yield Candidate(edits, kind, cost, line, str(call), inserted=False, takes=True)

    def _behind(self, passed: _Passed) -> Iterator[Candidate]:
        """What makes a later wait of the rank one for something new."""
        call = self._call(passed)
        remedy = remedies.behind(call) if call is not None and self._in_c else None
        if remedy is not None and passed.statement is not None:
            yield self._inserted(passed.statement, *remedy, behind=True)

    # Places

    def _between(
        self, passed: list[_Passed], first: int, last: int, kind: Kind, text: str, ahead_of: Statement | None = None
    ) -> Iterator[Candidate]:
        """``text`` at each place between the commands ``passed[first]`` and ``passed[last]``, which need not be there;
        only those before ``ahead_of`` in its function, if it is given."""
        statements = [None, *(each.statement for each in passed), None]
        for number in range(first, last):
            before, after = statements[number + 1], statements[number + 2]
            early = min(last - number - 1, MOST_EARLY)
            for statement in self._with_callers(before):
                if not statement.head and not statement.leaves and _is_ahead(statement, ahead_of):
                    yield replace(self._inserted(statement, kind, text, behind=True), burden=_burden(text) + early)
            for statement in self._with_callers(after):
                if statement.insertable and (before != after or not statement.head) and _is_ahead(statement, ahead_of):
                    yield replace(self._inserted(statement, kind, text, behind=False), burden=_burden(text) + early)
            known = before is not None and after is not None and before.function == after.function
            if before is not None and (known or number + 1 == len(passed)):
                for statement in self._statements.enclosing(before, after):
                    if _is_ahead(statement, ahead_of):
                        yield replace(self._inserted(statement, kind, text, behind=True), burden=_burden(text) + early)
            if after is not None and (known or number < 0):
                for statement in self._statements.enclosing(after, before):
                    if statement.insertable and _is_ahead(statement, ahead_of):
                        yield replace(self._inserted(statement, kind, text, behind=False), burden=_burden(text) + early)

    def _with_callers(self, statement: Statement | None) -> list[Statement]:
        """``statement``, and the calls by which its function is reached: of several one may be meant."""
        return [] if statement is None else [statement, *self._statements.callers(statement)]

    def _inserted(self, statement: Statement, kind: Kind, text: str, behind: bool) -> Candidate:
        put = self._statements.after if behind else self._statements.before
        edits = put(statement, text, ORDERS[kind])
        line = self._statements.line(edits[0].start)
        cost, repeats = self._costs.of(kind, statement.loops), self._statements.repeats(statement)
        return Candidate(edits, kind, cost, line, text, inserted=True, repeats=repeats)

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
        if new and (edit := self._replaced.get(start)):
            return _Passed(place, self._statements.around(start), edit.start, edit.end, edit.text)
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
        event = self._run.computation[passed.place]
        operation = self._operands[event.issued]
        queue = self._run.instance.program.queue_name(operation.queue) if isinstance(operation, core.Transfer) else ""
        if self._in_c:
            source, macro = self._statements.text, self._macro(passed)
            calls = [each for each in (self._call(passed), CallText.read(passed.instead)) if each is not None]
            each_way = [same for call in calls for same in (call, remedies.with_queue_number(call, queue))]
            found = [remedy for call in each_way for remedy in remedies.insertions(call, source)]
            for kind, text in found or remedies.for_hidden_calls(source, queue):
                if not self._is_once_and_there(text):
                    yield kind, remedies.checked(text, macro)
            return
        assert queue
        yield "order", f"fence({queue});"
        yield "local completion", f"wait_local({queue});"
        yield "completion", f"wait({queue});"

    def _is_once_and_there(self, text: str) -> bool:
        """Whether ``text`` waits for a handle that is waited for already, which then can only be done earlier."""
        call = CallText.read(text)
        if call is None or call.name not in remedies.ONCE:
            return False
        handle = rf"\b{re.escape(call.arguments[0])}\b"
        there = self._statements.calls(rf"{call.name}\w*")
        return any(re.search(handle, self._statements.text[start:end]) for _, start, end in there)

    def _macro(self, passed: _Passed) -> str:
        """The macro or function that the status of the call is given to; "" where it is not."""
        text = self._statements.text
        if passed.statement is None or not re.fullmatch(r"\s*\)\s*;", text[passed.end : passed.statement.end]):
            return ""
        match = re.fullmatch(r"(\w+)\s*\(\s*", text[passed.statement.start : passed.start])
        return match[1] if match else ""

    def _changes(self, passed: _Passed) -> Iterator[remedies.Remedy]:
        if (call := self._call(passed)) is not None:
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
            # What is waited for later on is the queue of the data rather than that of the flag.
            for each in self._instead(changed, "order", str(CallText(one.name, arguments))):
                yield replace(each, takes=True, burden=int(changed is first))

    def _queue_argument(self, call: CallText) -> int | None:
        if self._in_c:
            return remedies.queue_argument(call)
        names = {queue.name for queue in self._run.instance.program.queues}
        found = [place for place, argument in enumerate(call.arguments) if argument in names]
        return found[0] if len(found) == 1 else None


def _is_ahead(statement: Statement, other: Statement | None) -> bool:
    return other is None or (statement.function == other.function and statement.end <= other.start)


def _burden(text: str) -> int:
    return NEW_CALL + (WIDE if re.search(r"_all\b|All|Win_fence", text) else 0)
