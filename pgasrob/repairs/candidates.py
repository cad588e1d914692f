"""Finds the clause of a violation: all candidates (edits of the source) that would make it impossible."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

from pgasrob.program import core
from pgasrob.repairs import remedies
from pgasrob.repairs.edits import Edit, Origins, applied
from pgasrob.repairs.remedies import CallText, Kind
from pgasrob.repairs.source_statements import Statement, Statements
from pgasrob.robustness.late_operations import issued_operands
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import Run

NEW_CALL, WIDE, MOST_EARLY = 30, 25, 20
"""The burdens of an inserted call, of one that waits for further operations, and, at most, of one that comes early."""
QUEUE_COMMANDS = ("wait", "wait_local", "fence")
"""The commands of the core language that name a queue and put nothing into it."""
ORDERS: dict[Kind, int] = {"order": 0, "local completion": 1, "completion": 2, "barrier": 3, "notification": 4}


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs of the kinds of candidates; ``loop``: the factor for each loop around the place of a candidate."""

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
    """Edits that go together; ``line`` is that of the first, ``text`` is ``inserted`` or replaces other text.
    ``takes``: it may also remove an order that the source has. Of candidates of one cost those with the smallest
    ``burden`` come first. ``repeats``: a rank may execute it more than once. ``beside``: the statement that an
    insertion is before or behind."""

    edits: tuple[Edit, ...]
    kind: Kind
    cost: int
    line: int
    text: str
    inserted: bool
    takes: bool = False
    burden: int = field(default=0, compare=False)
    repeats: bool = field(default=True, compare=False)
    beside: Statement | None = field(default=None, compare=False)

    @property
    def acts_in_sc(self) -> bool:
        """Whether it has an effect on SC runs, in which all operations complete at once."""
        return self.kind in ("barrier", "notification")

    @property
    def is_collective(self) -> bool:
        """Whether all ranks have to call it together."""
        return self.kind == "barrier" or self.text in remedies.CHANGED_BARRIERS.values()

    @property
    def adds_runs(self) -> bool:
        """Whether it may allow runs that the program without it does not have."""
        return self.takes or self.kind == "notification"


class Clauses:
    """The clauses of the violations of a source and of its edited versions.

    A candidate leaves a run possible unless it forces some step of the run to come earlier, or in another order. So the
    candidates of a clause are about operations with late steps, at all places that the rank passes before these steps.
    """

    def __init__(self, statements: Statements, costs: Costs) -> None:
        self._statements, self._costs = statements, costs

    def clause(self, run: Run, edits: Sequence[Edit]) -> frozenset[Candidate]:
        """The candidates of which every repair needs one to exclude ``run``, a run of the source with ``edits``."""
        return frozenset(_Clause(self._statements, self._costs, run, Origins(edits), edits).candidates())

    def barriers(self, run: Run) -> frozenset[Candidate]:
        """A barrier at each place that some rank passes in ``run``, a run of the source."""
        return frozenset(_Clause(self._statements, self._costs, run, Origins(()), ()).all_barriers())

    def needs_barriers(self, run: Run, edits: Sequence[Edit]) -> bool:
        """Whether ``run`` is violating only by barriers that ``edits`` insert, which join what their ranks do."""
        places, origins = Statements(applied(self._statements.text, edits), []), Origins(edits)
        commands = HappensBefore(run.computation).commands
        barriers: dict[bool, set[int]] = {True: set(), False: set()}  # by whether they are inserted
        for command, each in zip(commands, run.events, strict=True):
            if each.event.kind == "barrier":
                span = each.span
                inserted = bool(span.line) and origins.kept(places.offset(span.line, span.column)) is None
                barriers[inserted].add(command)
        if barriers[True] & barriers[False]:
            return True
        rest = (each for command, each in zip(commands, run.computation, strict=True) if command not in barriers[True])
        return bool(barriers[True]) and HappensBefore(tuple(rest)).cycle is None


@dataclass(frozen=True, slots=True)
class _Passed:
    """A command that a rank has issued: its place in the computation, its statement, and the ``start`` and ``end`` of
    its call in the source; ``instead`` is the call that an edit has put there."""

    place: int
    statement: Statement | None
    start: int
    end: int
    instead: str = ""


class _Clause:
    def __init__(self, statements: Statements, costs: Costs, run: Run, origins: Origins, edits: Sequence[Edit]) -> None:
        self._statements, self._costs, self._run, self._origins = statements, costs, run, origins
        self._edited = Statements(applied(statements.text, edits), [])
        self._replaced = {edit.start: edit for edit in edits if edit.end > edit.start}
        self._operands = issued_operands(run)

    def candidates(self) -> Iterator[Candidate]:
        for passed in self._ways():
            for first, issued in enumerate(passed):
                yield from self._after(issued)
                operation = self._operands[self._run.computation[issued.place].issued]
                if isinstance(operation, core.Transfer):
                    yield from self._against(operation, passed, first)
            yield from self._barriers(passed)

    def all_barriers(self) -> Iterator[Candidate]:
        """The barriers alone, those of the library of the program that also complete operations among them."""
        for passed in self._ways():
            yield from self._barriers(passed)
            texts = {text for each in passed for kind, text in self._remedies(each) if kind == "barrier"}
            for text in sorted(texts):
                yield from self._between(passed, -1, len(passed), "barrier", text)

    def _remedies(self, passed: _Passed) -> Iterator[remedies.Remedy]:
        call = self._call(passed) if self._in_c else None
        yield from remedies.insertions(call, self._statements.text) if call is not None else ()

    def _ways(self) -> Iterator[list[_Passed]]:
        """What each process has issued, in its order."""
        events = self._run.computation
        for rank in range(self._run.instance.processes):
            yield [self._passed(place) for place, each in enumerate(events) if each.rank == rank and not each.is_step]

    def _barriers(self, passed: list[_Passed]) -> Iterator[Candidate]:
        """A barrier at each place that the rank passes, whether or not it could exclude the run."""
        text: str | None = "barrier;"
        if self._in_c:
            calls = filter(None, map(self._call, passed))
            text = next(filter(None, map(remedies.barrier, calls)), None)
        if text is not None:
            yield from self._between(passed, -1, len(passed), "barrier", text)

    def _against(self, operation: core.Transfer[int, int], passed: list[_Passed], first: int) -> Iterator[Candidate]:
        """The candidates that force late steps of the command ``passed[first]`` to come earlier."""
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
            yield from self._ordering(operation, place, passed, first, last)
            yield from self._queueing(place, passed, first, last)
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

    def _queueing(self, place: int, passed: list[_Passed], first: int, last: int) -> Iterator[Candidate]:
        """It, or one of the later operations that have overtaken it, put into another queue.

        In a FIFO queue all steps of one stage are in order, whatever their targets: reads of sources and gets, too. And
        a wait that the source has may be for that queue.
        """
        events = self._run.computation
        ahead = {each.issued for each in events[:place] if each.is_step}
        yield from self._other_queues(passed[first], burden=1)
        for later in passed[first + 1 : last + 1]:
            # The flag moves rather than the data: later waits are for the queue of the data.
            if events[later.place].issued in ahead:
                yield from self._other_queues(later, burden=0)

    def _ordering(
        self, operation: core.Transfer[int, int], place: int, passed: list[_Passed], first: int, last: int
    ) -> Iterator[Candidate]:
        """The candidates that order it before the later operations that have overtaken it."""
        events = self._run.computation
        unordered = self._run.instance.unordered
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
                # A fence is for one queue, and a FIFO queue keeps the order of writes anyway.
                fenced = self._in_c or (operation.queue == later.queue and operation.queue in unordered)
                if kind == "order" and fenced:
                    yield from self._between(passed, first, number, kind, text)
            yield from self._as_signal(passed[first], passed[number])

    def _as_signal(self, put: _Passed, flag: _Passed) -> Iterator[Candidate]:
        """The put made one with a signal, which replaces the operation that sets the flag."""
        one, other = (self._call(put), self._call(flag)) if self._in_c else (None, None)
        if one is None or other is None or flag.statement is None or flag.statement.start != flag.start:
            return
        if text := remedies.signalled(one, other, self._statements.text):
            for candidate in self._instead(put, "order", text):
                without = self._statements.without(flag.statement)
                yield replace(candidate, edits=(*candidate.edits, without), takes=True)

    def _notifying(self, late: _Passed, place: int) -> Iterator[Candidate]:
        """A notification after it, for which the ranks wait that access its cell too early."""
        events, home = self._run.computation, self._run.instance.home
        call = self._call(late)
        notifying = None if call is None else remedies.notified(call, self._statements.text)
        if notifying is None:
            return
        write, wait = notifying
        wait = remedies.checked(wait, self._macro(late))
        for ahead in range(late.place, place):
            early = events[ahead]
            if early.cell != events[place].cell or home[early.rank] == home[events[place].rank] or early.is_step:
                continue
            reader = self._passed(ahead).statement
            if reader is not None and late.statement is not None and reader.insertable:
                waiting = self._statements.before(reader, wait, ORDERS["notification"])
                edits = (Edit(late.start, late.end, 0, write), *waiting)
                cost = self._costs.of("notification", max(late.statement.loops, reader.loops))
                line = self._statements.line(late.start)
                yield Candidate(edits, "notification", cost, line, write, inserted=False)

    def _moving(self, passed: list[_Passed], first: int, last: int, local: bool) -> Iterator[Candidate]:
        """A wait of the source moved to an earlier place, but not before the operations that it may wait for."""
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
        """A wait of the source with other arguments, so that it waits for this operation."""
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

    def _after(self, passed: _Passed) -> Iterator[Candidate]:
        """A reset after a notification has arrived, so that the next wait is for a new one."""
        call = self._call(passed)
        remedy = remedies.reset(call) if call is not None and self._in_c else None
        if remedy is not None and passed.statement is not None:
            yield self._inserted(passed.statement, *remedy, after=True)

    # Places

    def _between(
        self, passed: list[_Passed], first: int, last: int, kind: Kind, text: str, ahead_of: Statement | None = None
    ) -> Iterator[Candidate]:
        """``text`` at each place between the commands ``passed[first]`` and ``passed[last]``, or from the start or to
        the end where these are out of range; only before ``ahead_of`` in its function, if it is given.

        Commands that edits have put in have no place in the source: they are looked past.
        """
        known = [each.statement for each in passed]
        for number in range(first, last):
            before = next(filter(None, reversed(known[: number + 1])), None)
            after = next(filter(None, known[number + 1 :]), None)
            early = min(last - number - 1, MOST_EARLY)
            behind = [each for each in self._with_callers(before) if not each.head and not each.leaves]
            behind += self._around(before, after)
            ahead = [each for each in self._with_callers(after) if before != after or not each.head]
            ahead += self._around(after, before)
            for statement, is_behind in (*((each, True) for each in behind), *((each, False) for each in ahead)):
                if (is_behind or statement.insertable) and _is_ahead(statement, ahead_of):
                    new = self._inserted(statement, kind, text, after=is_behind)
                    yield replace(new, burden=_burden(text) + early)

    def _around(self, statement: Statement | None, other: Statement | None) -> list[Statement]:
        """The `if` statements and loops around ``statement`` that a rank may leave, or enter, between it and ``other``,
        the command before or after it.

        Loops whose rounds are known test nothing: between two commands of one there may be the end of a loop inside.
        """
        if statement is None:
            return []
        if other is None or statement.function != other.function:
            return self._statements.enclosing(statement, None)
        again = [each for each in self._statements.enclosing(statement, None) if each.loops] if self._in_c else []
        return list(dict.fromkeys([*self._statements.enclosing(statement, other), *again]))

    def _with_callers(self, statement: Statement | None) -> list[Statement]:
        """``statement``, and all calls that may lead to its function."""
        return [] if statement is None else [statement, *self._statements.callers(statement)]

    def _inserted(self, statement: Statement, kind: Kind, text: str, after: bool) -> Candidate:
        put = self._statements.after if after else self._statements.before
        edits = put(statement, text, ORDERS[kind])
        line = self._statements.line(edits[0].start)
        cost, repeats = self._costs.of(kind, statement.loops), self._statements.repeats(statement)
        return Candidate(edits, kind, cost, line, text, inserted=True, repeats=repeats, beside=statement)

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
                if not self._waits_again(text):
                    yield kind, remedies.checked(text, macro)
            return
        assert queue
        yield "order", f"fence({queue});"
        yield "local completion", f"wait_local({queue});"
        yield "completion", f"wait({queue});"

    def _waits_again(self, text: str) -> bool:
        """Whether ``text`` waits for a handle that the source waits for already, which may be done only once."""
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

    def _other_queues(self, passed: _Passed, burden: int) -> Iterator[Candidate]:
        """The operation put into each of the queues that operations of the source use.

        Into all of them, since two operations may have to be put into a third queue, of which each alone does nothing.
        """
        call = self._call(passed)
        place = None if call is None else self._queue_argument(call)
        if call is None or place is None:
            return
        for queue in self._queues:
            if queue != call.arguments[place]:
                arguments = (*call.arguments[:place], queue, *call.arguments[place + 1 :])
                for each in self._instead(passed, "order", str(CallText(call.name, arguments))):
                    yield replace(each, takes=True, burden=burden)

    @cached_property
    def _queues(self) -> list[str]:
        """The queues of the operations of the source, as they are written, in the order of the text."""
        text = self._statements.text
        if self._in_c:
            starts = [match.start() for match in re.finditer(rf"\b({remedies.WITH_QUEUE})\s*\(", text)]
        else:
            starts = [each.start for each in self._statements.all() if not each.head]
        calls = [call for start in starts if (call := CallText.read(text[start:])) and call.name not in QUEUE_COMMANDS]
        places = [(call, self._queue_argument(call)) for call in calls]
        return list(dict.fromkeys(call.arguments[place] for call, place in places if place is not None))

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
