"""The exact answers for a recorded trace by the native kernel: those of `reference.recordings`, for millions of events.

The kernel is given the commands alone, as a row of numbers. What it reports is a pair of accesses, or a source and the
command that closes the cycle, and the events that have to be there before. These few are a recording of their own, of
which the run is made and replayed as for any program.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, assert_never

from pgasrob.analysis.placement import DELAYED, NOW
from pgasrob.program import commands, core
from pgasrob.program.core import Place
from pgasrob.program.expressions import Expr
from pgasrob.program.instance import Instance
from pgasrob.program.reading import DEFAULT_READING, Reading
from pgasrob.program.unknown_value import Unknown
from pgasrob.races.access_facts import Fact, atomic_together, command_facts, made_up, overlap
from pgasrob.recording.events import Recorded, Recording, value_of
from pgasrob.recording.straight import form_of, in_turn, straight_line, trace_of
from pgasrob.robustness.moves import Move, Rerun, in_two_parts
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.mazurkiewicz_trace import Trace, passes
from pgasrob.stop_points import stop_point

if TYPE_CHECKING:
    from pgasrob._kernel import Recorded as Kernel

LIMIT = 2_000_000_000
"""What the kernel may look at before it gives up."""
FEW = 2_000
"""Events among which the slow way looks for updates of which a command may wait for some."""

_BARRIER, _IMMEDIATE, _TRANSFER, _WAIT, _FENCE, _BUNDLE = range(6)
_NOT_ISSUED = 16


class Shown(NamedTuple):
    """A run of few of the events, as a program of its own."""

    instance: Instance
    run: Computation


class ShownRace(NamedTuple):
    """Two accesses that are next after a run: the rank of each, its command among those of the rank, its place in the
    chain of that; ``steps``: whether it is that of a pending operation."""

    sides: tuple[tuple[int, int, int], tuple[int, int, int]]
    steps: tuple[bool, bool]
    shown: Shown


class Undecided(Exception):
    """There are too many updates of one cell of which a command may wait for some."""


SlowAttack = Callable[[Instance, Trace], list[Move] | None]
"""Looks for an attack in a trace by the definition; may raise :class:`Undecided`."""


class NativeExact:
    """One recorded trace. ``strict``: an await and a value that arrives race, too. ``slow`` is asked about a short
    recording that the kernel leaves undecided."""

    def __init__(
        self,
        recording: Recording,
        strict: bool = False,
        reading: Reading = DEFAULT_READING,
        slow: SlowAttack | None = None,
        limit: int = LIMIT,
    ) -> None:
        from pgasrob._kernel import Recorded as Kernel

        self._recording, self._reading, self._slow = recording, reading, slow
        self._turns = [*in_turn(recording), *((event,) for event in recording.next_commands)]
        self._words = Encoder(recording, reading)
        words = array("q")
        been = len(self._turns) - len(recording.next_commands)
        for number, events in enumerate(self._turns):
            stop_point()
            words.extend(self._words.of(events[0], number < been))
        self._size = self._words.size
        excluded = self._words.excluded(strict)
        cells = self._size * recording.nodes
        self._kernel: Kernel = Kernel(words.tobytes(), recording.nodes, cells, strict, excluded, limit)

    @property
    def has_commuting_updates(self) -> bool:
        """Whether some accesses do not conflict because they commute."""
        return self._words.commuting

    def forget_values(self) -> bool:
        """What memory held before is not known from here on; False: it was not."""
        if self._recording.held is None or self._recording.held is _nothing_known:
            return False
        self._recording = replace(self._recording, held=_nothing_known)
        return True

    def look(self, races: bool, attacks: bool, seconds: float | None = None) -> bool:
        """Look for these, for so many seconds; whether all has been looked at."""
        return self._kernel.look(races, attacks, seconds)

    def races(self) -> Iterator[ShownRace]:
        """One for each pair of lines."""
        for one, other in self._kernel.races:
            found = self._kernel.before(*((side[0], self._step(side)) for side in (one, other)))
            delayed = dict(found)
            part = self._part([number for number, _ in found], [side[0] for side in (one, other) if not side[2]])
            instance = straight_line(part, self._reading)
            moves = self._moves(instance, delayed)
            computation, parts = in_two_parts(Rerun(instance).words(moves))
            run = tuple(event for event, when in zip(computation, parts, strict=True) if when == NOW)
            sides = (self._side(one), self._side(other))
            yield ShownRace(sides, (one[2], other[2]), Shown(instance, run))

    def attack(self) -> Shown | None:
        """A run with a happens-before cycle; None when there is none. Raises :class:`Undecided`."""
        undecided = False
        for source, step, last, taken, through, waits, alone in self._kernel.attacks:
            if waits and not (alone and self._knows(last)):
                undecided = True
                continue
            roots = [(source, True), (last, False), *([] if through is None else [(through, True)])]
            found = self._kernel.ideal(roots, (source, step))
            part = self._part([number for number, _ in found], [last])
            instance = straight_line(part, self._reading)
            if waits and not self._passes(instance, part, source, step, last):
                continue
            moves = self._moves(instance, dict(found))
            (event,) = self._turns[last]
            transition = instance.automata[event.rank].out[self._index(last)][0]
            steps = len(core.steps_of(transition.form))
            moves.append((event.rank, (transition,), [NOW] * taken + [DELAYED] * (steps - taken)))
            computation, _ = in_two_parts(Rerun(instance).words(moves))
            return Shown(instance, computation)
        if undecided:
            if self._slow is None or len(self._turns) > FEW or not self._recording.values:
                raise Undecided
            instance = straight_line(self._recording, self._reading)
            moves_of_all = self._slow(instance, trace_of(instance, self._recording))
            if moves_of_all is not None:
                return Shown(instance, in_two_parts(Rerun(instance).words(moves_of_all))[0])
        return None

    def _knows(self, number: int) -> bool:
        """Whether it is known what the cell held that an event waits for, as of what a library has for itself."""
        if self._recording.values:
            return True
        (event,) = self._turns[number]
        access = core.at_issue(core.lower(event.command))
        return access is not None and value_of(access.cell.address) in self._words.made_up

    def _passes(self, instance: Instance, part: Recording, source: int, step: int, last: int) -> bool:
        """Whether the cell of a source lets the last command pass before the source."""
        trace = trace_of(instance, part)
        (event,), (waiting,) = self._turns[source], self._turns[last]
        at = trace.of_rank[event.rank][self._index(source)]
        position = trace.positions[waiting.rank][self._index(last)]
        before = at.chain[step + self._bound(source)].before
        return passes(position.commands[0].operands, position, before)

    def _part(self, numbers: Sequence[int], next: Sequence[int]) -> Recording:
        """The events with these numbers, and the ``next`` commands of ranks then."""
        events = [event for number in numbers for event in self._turns[number]]
        unissued = [event for number in next for event in self._turns[number]]
        return replace(self._recording, events=events, next_commands=unissued)

    def _moves(self, instance: Instance, delayed: dict[int, int]) -> list[Move]:
        """The moves of the events, in each of which the steps from that number on are delayed."""
        moves: list[Move] = []
        for number in sorted(delayed):
            stop_point()
            events, index = self._turns[number], self._index(number)
            if events[0].command.kind == "barrier":
                places = self._indexes[number]
                at = tuple(instance.automata[rank].out[place][0] for rank, place in enumerate(places))
                moves.append((None, at, []))
                continue
            transition = instance.automata[events[0].rank].out[index][0]
            count = len(core.steps_of(transition.form))
            first = min(delayed[number], count)
            moves.append((events[0].rank, (transition,), [NOW] * first + [DELAYED] * (count - first)))
        return moves

    def _side(self, entry: tuple[int, int, bool]) -> tuple[int, int, int]:
        (event,) = self._turns[entry[0]]
        return event.rank, self._index(entry[0]), entry[1]

    def _step(self, entry: tuple[int, int, bool]) -> int | None:
        return entry[1] - self._bound(entry[0]) if entry[2] else None

    def _bound(self, number: int) -> int:
        return core.at_issue(core.lower(self._turns[number][0].command)) is not None

    def _index(self, number: int) -> int:
        return self._indexes[number][0]

    @cached_property
    def _indexes(self) -> list[tuple[int, ...]]:
        """For each event its place among those of its rank, of a barrier for each rank."""
        counts, found = [0] * self._recording.nodes, []
        for events in self._turns:
            stop_point()
            found.append(tuple(counts[event.rank] for event in events))
            for event in events:
                counts[event.rank] += 1
        return found


def _nothing_known(rank: int, cell: int) -> int:
    """A value that is not known and is computed with as 0."""
    return Unknown(0)


class Encoder:
    """The events of a recording as rows of numbers, as `kernel/src/recorded/events.rs` reads them."""

    def __init__(self, recording: Recording, reading: Reading = DEFAULT_READING) -> None:
        program = straight_line(replace(recording, events=(), next_commands=())).program
        self._begin(reading)
        self.size = max(1, program.cells)
        self._unordered: Container[int] = {queue.id for queue in recording.queues if queue.unordered}
        self.made_up = made_up(program)

    def _begin(self, reading: Reading) -> None:
        self._reading = reading
        self._kinds: dict[str, int] = {"": 0}
        self._facts: dict[Fact, int] = {}
        self._lines: dict[object, int] = {}
        self._alike: dict[tuple[object, ...], tuple[int, ...]] = {}
        self._known: dict[int, tuple[Recorded, tuple[int, ...]]] = {}

    @property
    def commuting(self) -> bool:
        """Whether some of the events so far are updates that commute."""
        return len(self._kinds) > 1

    def of(self, event: Recorded, issued: bool = True) -> tuple[int, ...]:
        """The row of an event, of a barrier of any one of its ranks."""
        known = self._known.get(id(event))
        if known is None:
            known = self._known[id(event)] = event, self._like(event) or tuple(self._row(event))
        row = known[1]
        return row if issued else (row[0] | _NOT_ISSUED, *row[1:])

    def _like(self, event: Recorded) -> tuple[int, ...] | None:
        """The row of a load or store like one that has been before, but for where; None for all else."""
        command = event.command
        if not isinstance(command, commands.Load | commands.Store) or event.seen is not None or command.bytes:
            return None
        polling = isinstance(command, commands.Load) and command.polling
        owner = event.rank if command.rank is None else value_of(command.rank)
        address = value_of(command.address)
        made_up = address in self.made_up
        key = (type(command), event.rank, owner, command.atomic, polling, made_up, event.span.line)
        like = self._alike.get(key)
        if like is None:
            like = self._alike[key] = tuple(self._row(event))
        return (*like[:4], owner * self.size + address, like[5])

    def excluded(self, strict: bool) -> bytes:
        """A square with 1 for two facts of which no accesses race."""
        return bytes(
            atomic_together(one, other, strict) or not overlap(one, other)
            for one in self._facts
            for other in self._facts
        )

    def _row(self, event: Recorded) -> Iterator[int]:
        form = form_of(event, self._reading)
        line = self._lines.setdefault(event.span.line, len(self._lines))
        facts = list(command_facts(event.command))
        if event.seen is not None:
            facts = [fact._replace(waits=True) for fact in facts]
        match form:
            case core.Barrier():
                yield from (_BARRIER, event.rank, line)
            case core.Immediate(access):
                yield from (_IMMEDIATE, event.rank, line, int(form.may_block))
                yield from self._access(event.rank, access, facts[0])
            case core.Transfer():
                yield from (_TRANSFER, event.rank, line)
                yield from self._transfer(event.rank, form, facts)
            case core.Wait(queue, local):
                yield from (_WAIT, event.rank, line, value_of(queue), int(local))
            case core.Fence(queue, to):
                number = value_of(queue)
                yield from (_FENCE, event.rank, line, number, -1 if to is None else value_of(to))
                yield int(number in self._unordered)
            case core.Bundle():
                yield from (_BUNDLE, event.rank, line)
            case core.Assign() | core.Test():
                raise AssertionError("it is not recorded")
            case _:
                assert_never(form)

    def _transfer(self, rank: int, form: core.Transfer[Place, Expr], facts: list[Fact]) -> Iterator[int]:
        queue = value_of(form.queue)
        captured = form.captured
        yield from (value_of(form.rank), queue)
        yield (queue in self._unordered) | form.everywhere << 1 | (captured is not None) << 2
        yield len(form.steps)
        if captured is not None:
            yield from self._access(rank, captured, facts.pop(0))
        for step, fact in zip(form.steps, facts, strict=True):
            flags = step.local, step.fenced, step.after_writes, step.after_bundle, step.located
            yield sum(flag << place for place, flag in enumerate(flags)) | step.stage << 8
            yield from self._access(rank, step.access, fact)

    def _access(self, rank: int, access: core.Access[Place], fact: Fact) -> tuple[int, int]:
        owner = rank if access.cell.rank is None else value_of(access.cell.rank)
        address = value_of(access.cell.address)
        remote = owner != rank
        flags = access.reads, access.writes, fact.waits, self._is_made_up(address), remote, bool(fact.atomic)
        word = sum(flag << place for place, flag in enumerate(flags))
        kind = self._kinds.setdefault(access.commutes, len(self._kinds))
        number = self._facts.setdefault(fact, len(self._facts))
        return self._cell(owner, address), word | kind << 8 | number << 16

    def _cell(self, owner: int, address: int) -> int:
        return owner * self.size + address

    def _is_made_up(self, address: int) -> bool:
        return address in self.made_up
