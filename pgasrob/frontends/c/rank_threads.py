"""The threads of a rank: where they are forked and joined, and what one of them knows of the others.

A thread of a rank is lowered by a machine of its own, behind that of the rank's first thread in the same pass, from the
states that this has had at its forks. Thread ``t`` waits at its mailbox, a cell of the rank, for the number of a fork,
executes what it is forked for, and clears the mailbox.

What APIs remember of the rank (`State.notes`) each thread has for itself until threads meet, at a barrier of the team
or at the end of its region: then all get to know what each has changed. What two have changed meanwhile is refused.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import cast

from pgasrob.frontends.apis.call_steps import NUMBERED, Alike
from pgasrob.frontends.apis.interface import Call, Outcome, Way
from pgasrob.frontends.apis.thread_levels import (
    EPOCHS_AT_ONCE,
    MPI,
    MULTIPLE,
    SERIALIZED,
    Alone,
    alone,
    epoch,
    knows_threads,
    levels_of,
)
from pgasrob.frontends.c.arithmetic import expression
from pgasrob.frontends.c.branching import Branch, Branching
from pgasrob.frontends.c.nondeterminism import leaves_of
from pgasrob.frontends.c.pointers import Pointers
from pgasrob.frontends.c.problem import Problem, TryAgain
from pgasrob.frontends.c.registers import Registers, registers_in
from pgasrob.frontends.c.snapshots import Items, Place, State
from pgasrob.frontends.c.symbolic import NumberNeeded
from pgasrob.frontends.c.thread_facts import ALIVE, BEGIN, END, INSIDE, MET, OUTER, TEAM, Change, Forks, Part
from pgasrob.frontends.c.thread_memory import KEPT, Kept, cell_of_threads
from pgasrob.frontends.c.values import UNDEFINED, Handle, Known, Undefined, Unknown, Value, of_registers
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Await, AwaitAdd, Command, Fence, FetchAdd, Guess, Load, Store, Wait, WaitLocal
from pgasrob.program.expressions import Binary, Const, Expr
from pgasrob.program.illegal_calls import Illegal, IllegalCall
from pgasrob.program.statements import Block, Do, If, Statement, While

USUAL_THREADS = 2
LAST, BASE, LATER = "C.forks", "C.base", "C.later"
"""Keys in `State.notes`: the numbers of the latest forks of the other threads; what APIs remembered when the threads
met last; what is known since then of what one of them has changed for all."""
LEFT, ISSUED = "C.left", "C.issued"
"""Keys in `State.notes`: the threads and queues in which they may have left operations pending when they met this one
last; those in which this thread has issued some since it was forked."""
MANY = 1 << 8
"""More threads than there are: as often as that the first one's cell holds who asks it to wait, and else how many have
come."""
ASKED = "C.asked"
"""Key in `State.notes` of the number of threads that the program has asked for."""
_OWN = re.compile(r"C\.|machine\.|\w+\.(ahead|lead)\.")
"""How the keys of notes begin that each thread has for itself: how far it is ahead of others, too."""


def notes_of_apis(notes: Mapping[str, Hashable]) -> dict[str, Hashable]:
    """The notes that are of the whole rank, without those of nothing: no request, say, as none has been made yet."""
    return {key: value for key, value in notes.items() if value not in ((), frozenset()) and not _OWN.match(key)}


def changed(before: Mapping[str, Hashable], after: Mapping[str, Hashable]) -> Change:
    """What is other in ``after`` than ``before``."""
    keys = {*before, *after}
    return frozenset((key, after.get(key)) for key in keys if before.get(key) != after.get(key))


def merged(key: str, base: Hashable, values: Sequence[Hashable]) -> Hashable:
    """What an API remembers under ``key`` after several threads have made it ``values``, where it was ``base``. Raises
    ValueError where that is another thing by which of them comes first."""
    if len(values) == 1:
        return values[0]
    if len(set(values)) == 1 and isinstance(values[0], bool | Alike):
        return values[0]
    before = base or (frozenset() if any(isinstance(each, frozenset) for each in values) else ())
    sets = [each or type(before)() for each in values]
    kind = frozenset if isinstance(before, frozenset) else tuple
    if not all(isinstance(each, kind) for each in (before, *sets)) or ".order" in key:
        raise ValueError(key)
    first, *rest = (frozenset(cast("frozenset[Hashable]", each)) for each in (before, *sets))
    added = [each - first for each in rest]
    if NUMBERED in key and any(_numbers(one) & _numbers(other) for one, other in combinations(added, 2)):
        raise ValueError(key)
    found = first.union(*added) - frozenset[Hashable]().union(*(first - each for each in rest))
    return (found if kind is frozenset else tuple(sorted(found, key=repr))) or None


def _numbers(made: frozenset[Hashable]) -> set[Hashable]:
    """What has been ``made``, without the calls that have."""
    return {each[:-1] if isinstance(each, tuple) else each for each in made}


def _object(call: Call, one: Alone) -> tuple[str, ...]:
    """The object that ``call`` has to be ``alone`` with, by a name that is the same in all calls with it."""
    for each in call.arguments:
        if isinstance(each, Handle) and each.kind in one.handles:
            data = (each.data[0], each.data[-1]) if each.kind == "context" else each.data[:1]
            return one.rule.code, *map(str, data)
    if not one.handles and (place := call.pointer(0)) is not None:
        return one.rule.code, str(place.object.number), str(place.offset)
    return (one.rule.code,)


class Threads:
    """What one thread of a rank does about the others."""

    def __init__(self, registers: Registers, branching: Branching, pointers: Pointers) -> None:
        self.position = position = pointers.objects.position
        self.world = position.world
        self.facts = position.facts
        self.writer = branching.writer
        self.branching = branching
        self.registers = registers
        self.objects = pointers.objects
        self.pointers = pointers
        self.number = position.thread
        self._items = Items()
        self._waiting: dict[int, str] = {}
        self._begun: dict[int, str] = {}

    @property
    def notes(self) -> dict[str, Hashable]:
        return self.position.state.notes

    @property
    def forks(self) -> Forks:
        return self.world.forks.setdefault(self.position.rank.number, Forks())

    @property
    def team(self) -> tuple[int, int]:
        """The size of the team, and the number of its fork; 1 and 0 where there is none."""
        return self.position.team

    def cell(self, *what: int | str) -> Expr:
        """A cell of the rank that its threads have for themselves."""
        return cell_of_threads(self.pointers, *what)

    # Forks

    def fork(
        self, state: State, threads: Sequence[int], size: int, own: frozenset[str] | None = None
    ) -> tuple[int, list[Command], dict[str, Hashable]]:
        """Have the ``threads`` go on from ``state`` in a team of that ``size``, each with objects of the frame
        for its ``own``: the number of the fork, the commands, and the notes of this thread."""
        if self.position.rank.is_symbol:
            raise NumberNeeded("threads of a rank that communicate", self.position.span)
        if not self.facts.threads.any:
            self.facts.threads.any = True
            self.facts.changed()
        self._have_one_value(threads)
        forks, rank = self.forks, self.position.rank.number
        number = forks.numbers.setdefault((state.key(self._items), tuple(threads)), len(forks.numbers) + 1)
        state.notes[TEAM] = size, number
        forks.states[number], forks.spans[number] = state, self.position.span
        forks.own[number] = own
        last = dict(cast("tuple[tuple[int, int], ...]", self.notes.get(LAST, ())))
        made: list[Command] = []
        for thread in threads:
            forks.threads.add(thread)
            self.facts.threads.way(rank, thread, last.get(thread, BEGIN), number)
            made.append(Store(self.cell("thread", thread), Const(number)))
            last[thread] = number
        return number, made, {LAST: tuple(sorted(last.items()))}

    def _have_one_value(self, threads: Sequence[int]) -> None:
        """What is unknown of memory that ``threads`` look at is one value for all: it lies in cells, which say it."""
        for id, contents in self.position.state.memory.items():
            for offset in contents.unknown:
                held = contents.get(offset)
                size = 0 if held is None else held[0]
                if self.facts.threads.touching(id, Part(offset, size)).intersection(threads):
                    self.facts.share(id, offset, size)
                    self.facts.unsettle(id, offset)

    def snapshot(self) -> State:
        """The state of this thread, as another one may begin with it: without what is in registers of this one."""
        state = self.position.state.copy()
        state.frames, state.heads = [state.frames[-1]], []
        for frame in state.frames:
            frame.set_at = {}
            for slot, value in enumerate(frame.slots):
                if registers_in(value) or of_registers(value):
                    frame.slots[slot] = UNDEFINED
        if issued := cast("frozenset[Expr]", state.notes.get(ISSUED, frozenset())):
            left = cast("frozenset[tuple[int, Expr]]", state.notes.get(LEFT) or frozenset())
            state.notes[LEFT] = left | {(self.number, queue) for queue in issued}
        for key in (LAST, LATER, ALIVE, ISSUED, MET, INSIDE, "C.locks", "C.before", "C.did"):
            state.notes.pop(key, None)
        return state

    def after_task(self, thread: int, fork: int, base: frozenset[tuple[str, Hashable]]) -> dict[str, Hashable]:
        """What this thread remembers after a task has ended that it has made."""
        found = self.after_end_of(thread, fork, base)
        return {key: value for key, value in found.items() if key not in (BASE, LATER)}

    def ended(self, threads: Sequence[int]) -> list[Command]:
        """Wait until the ``threads`` have come to their ends."""
        return [Await(self.cell("thread", each), "==", Const(0)) for each in threads]

    def end_of_rank(self) -> list[Command]:
        """The rank ends: its other threads, which wait for another fork where there may be one."""
        if self.number or self.position.rank.is_symbol:
            return []
        if self.notes.get(ALIVE):
            hint = "join every thread before main returns"
            raise Problem(
                "PG104", "main ends while other threads run, which is not supported", hint, self.position.span
            )
        known = self.facts.threads.ways
        if not known:
            return []
        rank = self.position.rank.number
        last = dict(cast("tuple[tuple[int, int], ...]", self.notes.get(LAST, ())))
        made: list[Command] = []
        for thread in sorted({thread for of, thread in known if of == rank}):
            before = last.get(thread, BEGIN)
            self.facts.threads.way(rank, thread, before, END)
            if len(self._after(known[rank, thread], thread, before)) > 1:
                made.append(Store(self.cell("thread", thread), Const(END)))
        return made

    # Which calls they may make

    def by_level(self, call: Call, ways: Sequence[Way]) -> Sequence[Way]:
        """``ways`` as those of a call of a rank that has several threads, now or at other times."""
        found = epoch(call.name, call.arguments)
        if found and len(ways) == 1 and isinstance(ways[0], Outcome) and MPI.granted(self.notes)[0] == MULTIPLE:
            ways = [self._epoch(call, ways[0], *found)]
        if not self.position.others:
            return ways
        if not knows_threads(call.name):
            hint = "communicate before the region or after it"
            raise Problem("PG104", f"`{call.name}` where a rank has several threads is not supported", hint)
        levels = levels_of(call.name)
        if levels is None:
            return ways
        level, opened = levels.granted(self.notes)
        way = ways[0] if len(ways) == 1 else None
        if level == MULTIPLE:
            one = alone(call.name, call.arguments)
            if one is None or not isinstance(way, Outcome):
                return ways
            illegal = IllegalCall(
                one.rule, call.span, f"`{call.name}` while another thread of the rank is in such a call"
            )
            return [self._alone(call, way, self.cell("in", *_object(call, one)), illegal)]
        if level < SERIALIZED:
            if not self.number:
                return ways
            by = "without a thread level" if opened is None else f"with {levels.shown(level)}"
            sentence = f"`{call.name}` in another thread than the main one, {by}"
            self.writer.write(*call.do(Illegal(Const(0), IllegalCall(levels.off_main, call.span, sentence, opened))))
            return ways
        if not isinstance(way, Outcome):
            # Which way it goes depends on its first command, before which no other may stand.
            self.position.rests_on(Kind.THREADS_SERIALIZED, self.position.called)
            return ways
        sentence = f"`{call.name}` while another thread of the rank is in a call, with {levels.shown(level)}"
        illegal = IllegalCall(levels.at_once, call.span, sentence, opened)
        return [self._alone(call, way, self.cell("in", levels.name), illegal)]

    def _epoch(self, call: Call, outcome: Outcome, way: int, target: int | None, window: str) -> Outcome:
        """``outcome`` of a call that opens an epoch of the ``window`` at a ``target``, or closes one: a cell for each
        target says whether one is open. Not of one that is no epoch, as the thread may not open or close it."""
        if any(isinstance(each, Do) and isinstance(each.command, Illegal) for each in outcome.statements):
            return outcome
        illegal = IllegalCall(EPOCHS_AT_ONCE, call.span, f"`{call.name}` while another thread of the rank has an epoch")
        made: list[object] = []
        for rank in range(call.nodes) if target is None else [target]:
            register = call.register("epochs")
            made.append(FetchAdd(register, call.me, self.cell("epoch", window, rank), Const(way)))
            made += [Illegal(Binary("==", register, Const(0)), illegal)] * (way > 0)
        if way > 0:
            return replace(outcome, statements=(*call.do(*made), *outcome.statements))
        return replace(outcome, after=(*outcome.after, *call.do(*made)))

    def _alone(self, call: Call, way: Outcome, cell: Expr, otherwise: IllegalCall) -> Outcome:
        """``way``, during which ``cell`` says that a thread is in such a call; ``otherwise``: if one is already."""
        inside = call.register("inside")
        enter = call.do(FetchAdd(inside, call.me, cell, Const(1)), Illegal(Binary("==", inside, Const(0)), otherwise))
        leave = call.do(FetchAdd(call.register("inside"), call.me, cell, Const(-1)))
        return replace(way, statements=(*enter, *way.statements), after=(*way.after, *leave))

    # Operations that other threads have issued

    def waiting(self, statements: Sequence[Statement]) -> list[Statement]:
        """``statements`` of a call, in which this thread has those wait that have issued operations and stand idle. A
        wait is one for all operations of the rank, and those of each thread wait for themselves."""
        if not self.facts.threads.any:
            return [*statements]
        found: list[Statement] = []
        for each in statements:
            found.append(each)
            command = each.command if isinstance(each, Do) else None
            if isinstance(command, Wait | WaitLocal | Fence):
                found += self._waits_of_others(command)
        return found

    def _waits_of_others(self, command: Wait | WaitLocal | Fence) -> list[Statement]:
        issued = self.facts.threads.issued.get(command.queue, set()) - {self.number}
        left = cast("frozenset[tuple[int, Expr]]", self.notes.get(LEFT) or frozenset())
        asked = {thread for thread, queue in left if queue == command.queue} - {self.number}
        if not issued or not (asked or self.position.others):
            return []
        standing = self.standing(issued, asked, command)
        if standing is None or (isinstance(command, Fence) and asked):
            self.position.rests_on(Kind.THREADS_COMPLETE, self.position.called)
            waited = command.queue.value if isinstance(command.queue, Const) else None
            return [Do(Guess(Const(1), waited=waited), self.position.span)]
        made = [each for thread in standing for each in self._asks_in_team(thread, command)]
        idle = sorted(asked - set(standing))
        last, forks = dict(cast("tuple[tuple[int, int], ...]", self.notes.get(LAST, ()))), self.forks
        for thread in idle:
            before, mail = last.get(thread, BEGIN), self.cell("thread", thread)
            number = forks.numbers.setdefault(("wait", before, command), len(forks.numbers) + 1)
            forks.requests[number], forks.spans[number] = (before, command), self.position.span
            self.facts.threads.way(self.position.rank.number, thread, before, number)
            made += Store(mail, Const(number)), Await(mail, "==", Const(0))
        if isinstance(command, Wait) and asked:
            self.notes[LEFT] = frozenset(each for each in left if each[1] != command.queue) or None
        return [Do(each, self.position.span) for each in made]

    def standing(self, issued: set[int], asked: set[int], command: Command) -> list[int] | None:
        """Those of the threads ``asked`` that are in the team of this one, and that do nothing until it meets again;
        None where it is not known what the others do that have ``issued`` something."""
        size, _ = self.team
        if OUTER in self.notes or ALIVE in self.notes or (size == 1 and self.number):
            return None if issued & self.position.others else []
        team = {*range(size)} - {self.number} if size > 1 else set[int]()
        if self.position.others and issued & self.facts.threads.tasks:
            return None
        if self.number and asked - team:
            return None
        within = self.notes.get(INSIDE)
        for thread in issued & team:
            did = self.facts.threads.busy.get((self.position.interval, thread), {})
            queues = {queue for (queue, inside) in did if inside is None or inside != within}
            if queues and (thread in asked or getattr(command, "queue", None) in queues):
                return None
        return sorted(asked & team)

    def left_by(
        self, threads: Sequence[int], fork: int, base: Hashable, what: str = "pending", *, tasks: bool = False
    ) -> Hashable:
        """What these ``threads`` may have left pending at the end of a fork, or where they have met, with what earlier
        ones have, and perhaps ``tasks``."""
        found = cast("frozenset[tuple[int, Expr]]", self.notes.get(LEFT) or frozenset())
        for thread in threads:
            key = self.position.rank.number, fork, (what, thread), base
            for change in self.facts.threads.changes.get(key, ()):
                found |= {(thread, cast(Expr, queue)) for _, queue in change}
        if tasks:
            known = self.facts.threads
            found |= {(thread, queue) for queue, issued in known.issued.items() for thread in issued & known.tasks}
        return found or None

    def issues(self, queue: Expr) -> None:
        """This thread issues an operation that may be pending for a while."""
        if self.facts.threads.any and self.number not in self.facts.threads.issued[queue]:
            self.facts.threads.issued[queue].add(self.number)
            self.facts.changed()
        if self.facts.threads.any:
            self.notes[ISSUED] = cast("frozenset[Expr]", self.notes.get(ISSUED, frozenset())) | {queue}
            self.position.does(queue)

    def completes(self, queue: Expr) -> None:
        """This thread has waited for what it has issued in a queue."""
        if rest := cast("frozenset[Expr]", self.notes.pop(ISSUED, frozenset())) - {queue}:
            self.notes[ISSUED] = rest

    # Threads of a team that stand at the next barrier, or at the end of their region, may be asked to wait

    def _asks_in_team(self, thread: int, command: Command) -> Iterator[Command]:
        asks = self.facts.threads.asks.setdefault(self.position.interval, {}).setdefault(thread, {})
        if command not in asks:
            asks[command] = len(asks) + 2
            self.facts.changed()
        size, number = self.team[0], asks[command]
        box = self.cell("box", size, thread)
        if thread:
            yield AwaitAdd(self.position.me, box, "==", Const(0), Const(number))
            yield Await(box, "==", Const(0))
            return
        turn = self.cell("box", size, "turn")
        yield AwaitAdd(self.position.me, turn, "==", Const(0), Const(1))
        yield FetchAdd(self.world.register("box"), self.position.me, box, Const(number * MANY))
        yield Await(box, "<", Const(MANY))
        yield Store(turn, Const(0))

    def serves(self) -> list[Statement]:
        """What this thread does where its team meets, if one of it is asked to wait there; nothing if none is."""
        asks, size = self.facts.threads.asks.get(self.position.interval), self.team[0]
        if asks is None:
            return []
        box, first = self.cell("box", size, self.number), self.cell("box", size, 0)
        register, before = self.world.register("box"), self.world.register("box")
        me, span, known = self.position.me, self.position.span, asks.get(self.number, {})
        come, end, taken = list[Command](), list[Command](), dict[int, Command]()
        if self.number:
            come.append(FetchAdd(before, me, first, Const(1)))
            waits: list[Command] = [Await(box, "!=", Const(0)), Load(register, box)]
            asked: Expr = register
            taken = {number: Store(box, Const(0)) for number in known.values()}
            end.append(Store(box, Const(0)))
        else:
            waits = [Await(box, ">=", Const(size - 1)), Load(register, box)]
            asked = Binary("/", register, Const(MANY))
            taken = {number: FetchAdd(before, me, box, Const(-number * MANY)) for number in known.values()}
            end += [Store(self.cell("box", size, each), Const(int(each > 0))) for each in range(size)]
        rounds: list[Statement] = []
        for command, number in known.items():
            served = Block((Do(command, span), Do(taken[number], span)))
            rounds.append(If(Binary("==", asked, Const(number)), served, Block(()), span))
        again = [*rounds, *(Do(each, span) for each in waits)]
        loop = [While(Binary(">", asked, Const(1)), Block(tuple(again)), span)] if known else []
        return [*(Do(each, span) for each in (*come, *waits)), *loop, *(Do(each, span) for each in end)]

    # What APIs remember

    def done(self) -> Change:
        """What this thread has changed since threads met last."""
        later = cast(Change, self.notes.get(LATER, frozenset()))
        return changed(dict(self._base), notes_of_apis(self.notes)) - later

    @property
    def _base(self) -> Mapping[str, Hashable]:
        return dict(cast("frozenset[tuple[str, Hashable]]", self.notes.get(BASE, frozenset())))

    def tell(self, what: Hashable, change: Change) -> None:
        """Have the other threads know a ``change`` at the place ``what``."""
        self.facts.threads.new_changes.setdefault(self._key(what), set()).add(change)

    def made(self, what: Hashable, fork: int | None = None, base: Hashable = None) -> Change:
        """The change that another thread has made at the place ``what``; of a team that is not this one's if given."""
        key = self._key(what) if fork is None else (self.position.rank.number, fork, what, base)
        found = self.facts.threads.changes.get(key, set())
        if len(found) > 1:
            raise self.unclear({key for each in found for key, _ in each})
        return next(iter(found), frozenset())

    def pieces_made(self, place: str) -> list[int]:
        """The numbers of the pieces of work of the loop at ``place`` in which threads of the team change something."""
        found = []
        for key in self.facts.threads.changes:
            _, _, (*what, number), _ = cast("tuple[int, int, tuple[Hashable, ...], Hashable]", key)
            if what == ["piece", place] and key == self._key((*what, number)):
                found.append(cast(int, number))
        return sorted(found)

    def _key(self, what: Hashable) -> Hashable:
        return self.position.rank.number, self.team[1], what, self.notes.get(BASE)

    def unclear(self, keys: set[str]) -> Problem:
        """The error that what APIs remember under ``keys`` is another thing by which thread comes first."""
        if self.position.facts_changed:
            raise TryAgain
        what = ", ".join(sorted(keys))
        return Problem(
            "PG104",
            f"threads of a rank make calls here whose order decides what they do ({what})",
            "let one thread make them, or give each thread a tag, a window, a context or a communicator of its own",
            self.position.span,
        )

    def tell_pending(self, what: str) -> None:
        """Have the other threads know in which queues this one may have something pending."""
        issued = cast("frozenset[Expr]", self.notes.get(ISSUED, frozenset()))
        self.tell((what, self.number), frozenset(("queue", each) for each in issued))

    def meet(self, place: Place | str, threads: Sequence[int]) -> dict[str, Hashable]:
        """All ``threads`` come together at ``place``: what this one remembers from then on."""
        own = self.done()
        self.tell((place, self.number), own)
        changes = [own, *(self.made((place, each)) for each in threads if each != self.number)]
        return self.together([*changes, cast(Change, self.notes.get(LATER, frozenset()))])

    def after_end_of(self, thread: int, fork: int, base: frozenset[tuple[str, Hashable]]) -> dict[str, Hashable]:
        """What this thread remembers after another one has ended that began with ``base`` by a fork."""
        own = changed(dict(base), notes_of_apis(self.notes))
        change = self.made(("end", thread), fork, base)
        return {**self.together([own, change], dict(base)), BASE: None, LEFT: self.left_by((thread,), fork, base)}

    def together(self, changes: Sequence[Change], base: Mapping[str, Hashable] | None = None) -> dict[str, Hashable]:
        """The notes after all ``changes`` of what APIs remembered when threads met last."""
        new, made = dict(self._base if base is None else base), dict[str, list[Hashable]]()
        for key, value in (each for change in changes for each in change):
            made.setdefault(key, []).append(value)
        for key, values in made.items():
            try:
                new[key] = merged(key, new.get(key), values)
            except ValueError:
                raise self.unclear({key}) from None
        for key in [key for key in new if key.startswith(KEPT)]:
            kept = cast(Kept, new.pop(key))
            self.objects.object(kept.object)
            self.objects.contents(kept.object, write=True).store(kept.offset, kept.value, kept.type)
        known = {key: value for key, value in new.items() if value is not None}
        before = notes_of_apis(self.notes)
        return {**dict.fromkeys(before), **known, BASE: frozenset(known.items()), LATER: None}

    # The way of a thread that is not the first

    def begin(self) -> None:
        """Put this thread at the beginning, where it waits for its first fork."""
        self._wait_behind(BEGIN)

    def returns(self, value: Value) -> None:
        """What this thread, which is not the first one, was forked for has the result ``value``."""
        if not self.facts.threads.has_results or self.team[0] > 1:
            return
        if isinstance(value, Known | Unknown) and not leaves_of(value):
            self.writer.write(Do(Store(self.cell("result", self.number), expression(value)), self.position.span))
        elif registers_in(value) or leaves_of(value):
            value = UNDEFINED
        self.tell(("result", self.number), frozenset({("value", value)}))

    def result_of(self, thread: int, fork: int, base: Hashable) -> tuple[list[Command], Value | Expr]:
        """The result of another thread, which has ended, and how it is read."""
        if not self.facts.threads.has_results:
            self.facts.threads.has_results = True
            self.facts.changed()
        key = self.position.rank.number, fork, ("result", thread), base
        found = {value for change in self.facts.threads.changes.get(key, ()) for _, value in change}
        if found and all(isinstance(each, Known | Unknown) for each in found):
            register = self.world.register("result")
            only = next(iter(found)) if len(found) == 1 else None
            read = Load(register, self.cell("result", thread))
            return ([], only) if isinstance(only, Known) else ([read], register)
        if len(found) == 1 and not isinstance(value := cast(Value, next(iter(found))), Undefined):
            return [], value
        if self.position.facts_changed or not found:
            return [], UNDEFINED
        hint = "store it in a shared variable, and join with a null pointer"
        raise Problem("PG140", "the result of a thread is not known here", hint, self.position.span)

    def finish(self) -> None:
        """This thread has come to the end of what it was forked for, and waits for another fork."""
        self.tell(("end", self.number), self.done())
        self.tell_pending("pending")
        _, fork = self.team
        self.writer.write(*self.serves())
        self.writer.write(Do(Store(self.cell("thread", self.number), Const(0)), self.position.span))
        self.writer.close(self._wait_behind(fork))

    def _wait_behind(self, before: int) -> str:
        """The label of where this thread waits behind fork ``before``."""
        if before in self._waiting:
            return self._waiting[before]
        node = self.writer.fresh()
        self._waiting[before] = node.label
        ways = self.facts.threads.new_ways.get((self.position.rank.number, self.number), {})
        found = self._after(ways, self.number, before)
        after, mail = sorted(found - {END}), self.cell("thread", self.number)
        if not after:
            return node.label
        node.span = span = self.forks.spans[after[0]]
        if len(found) == 1:
            node.statements.append(Do(Await(mail, "==", Const(after[0])), span))
            node.goes_to = (self._begin_at(after[0]),)
            return node.label
        register = self.world.register("fork")
        node.statements += [Do(Await(mail, "!=", Const(0)), span), Do(Load(register, mail), span)]
        labels = [*map(self._begin_at, after), *([self.writer.fresh().label] if END in found else [])]
        first = node.label
        for number, label in zip(after, labels[:-1], strict=False):
            rest = self.writer.fresh() if label is not labels[-2] else None
            node.condition, node.span = Binary("==", register, Const(number)), span
            node.goes_to = (label, labels[-1] if rest is None else rest.label)
            node = rest or node
        return first

    def _after(self, ways: Mapping[int, set[int]], thread: int, before: int) -> set[int]:
        """What may follow fork ``before`` of a ``thread``: anything, of one for tasks, which several threads create."""
        if thread in self.facts.threads.tasks:
            return set[int]().union(*ways.values())
        return ways.get(before, set())

    def _begin_at(self, number: int) -> str:
        """The label of where this thread begins what fork ``number`` is for."""
        if number in self.forks.requests:
            before, command = self.forks.requests[number]
            node, span = self.writer.fresh(), self.forks.spans[number]
            mail = self.cell("thread", self.number)
            node.statements += [Do(command, span), Do(Store(mail, Const(0)), span)]
            node.goes_to = (self._wait_behind(before),)
            return node.label
        if number not in self._begun:
            self._begun[number] = self.writer.fresh().label
            state = self.forks.states[number].copy()
            state.frames[-1].thread, state.frames[-1].own = self.number, self.forks.own[number]
            self.branching.pending.append(Branch(self._begun[number], state))
        return self._begun[number]
