"""What the compiler puts into the code of teams whose threads are processes of their own (`compiler/thread_teams.py`).

Where there is no team, one thread does all of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import Steps, least_free
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.c import code
from pgasrob.frontends.c.libc.library_calls import TABLE, machine_of
from pgasrob.frontends.c.libc.thread_calls import Alive
from pgasrob.frontends.c.problem import Problem
from pgasrob.frontends.c.rank_threads import (
    ASKED,
    BASE,
    LATER,
    LEFT,
    USUAL_THREADS,
    Threads,
    changed,
    notes_of_apis,
)
from pgasrob.frontends.c.thread_facts import ALIVE, INSIDE, MET, MOST_THREADS, OUTER, TEAM, Change
from pgasrob.frontends.c.values import UNDEFINED, Known, Unknown
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Await, AwaitAdd, Command, CompareSwap, FetchAdd, Store
from pgasrob.program.expressions import Binary, Const
from pgasrob.program.statements import Statement

calls = TABLE.calls
FREE, SET = Const(0), Const(1)
MOST_LOOPS = 64
"""How often threads pass a loop with `nowait` whose iterations they claim."""


def threads_of(call: Call) -> Threads:
    return machine_of(call).machine.threads


def size_of_team(call: Call) -> int:
    return threads_of(call).team[0]


@calls("void __omp_fork(long threads, int several);")
def fork(call: Call) -> Outcome:
    """The threads of a team begin behind this call. A team in another one has one thread, unless the program asks for
    more levels (OpenMP 5.2, 2.2: max-active-levels-var)."""
    machine, threads = machine_of(call).machine, threads_of(call)
    asked = call.known(0) or cast(int, call.state.get(ASKED, USUAL_THREADS))
    outer = cast("tuple[tuple[int, int], ...]", call.state.get(OUTER, ()))
    if outer or threads.team[0] > 1:
        return Outcome(state={TEAM: (1, threads.team[1]), OUTER: (*outer, threads.team)})
    if not call.known(1):
        return Outcome()
    if asked > MOST_THREADS:
        call.fail(
            Wrong.SIZE_LIMIT,
            f"a team of {asked} threads",
            f"at most {MOST_THREADS} are supported: ask for fewer by num_threads",
        )
    if asked <= 1:
        return Outcome()
    if machine.position.others:
        message = "a team of a thread that is created, or beside one, is not supported"
        raise Problem("PG104", message, "communicate in the threads that are created, or in the team", call.span)
    frame = machine.position.frame
    inner = [each for each in frame.function.regions if each.own is not None and each.first <= frame.pc < each.last]
    state = threads.snapshot()
    state.frames[-1].pc += 1
    base = frozenset(notes_of_apis(state.notes).items())
    state.notes[BASE] = base
    number, made, notes = threads.fork(state, range(1, asked), asked, inner[0].own)
    return Outcome(call.do(*made), state={**notes, TEAM: (asked, number), BASE: base})


@calls("void __omp_join(void);")
def join(call: Call) -> Outcome:
    """The end of the region of a team."""
    threads, size = threads_of(call), size_of_team(call)
    if outer := cast("tuple[tuple[int, int], ...]", call.state.get(OUTER, ())):
        return Outcome(state={TEAM: outer[-1], OUTER: outer[:-1] or None})
    if size == 1:
        return Outcome()
    tasks, _ = _tasks_ended(call)
    if threads.number:
        return Outcome(call.do(*tasks), ends=True)
    left = threads.left_by(range(1, size), threads.team[1], call.state.get(BASE), tasks=True)
    notes: dict[str, Hashable] = {**threads.meet("end", range(size)), BASE: None, MET: None, TEAM: None, LEFT: left}
    return Outcome(call.do(*tasks, *threads.serves(), *threads.ended(range(1, size))), state=notes)


@calls("void __omp_barrier(void);")
def barrier(call: Call) -> Outcome:
    """The first thread of the team waits for the others, and lets them go on then. They come in turns, even and odd
    ones: nobody comes to the next before all have left this one."""
    threads, size = threads_of(call), size_of_team(call)
    if size == 1:
        return Outcome()
    tasks, _ = _tasks_ended(call)
    place, phase = machine_of(call).machine.position.state.place, f"C.phase.{size}"
    others = [each for each in range(size) if each != threads.number]
    threads.tell_pending(what := f"pending {place}")
    left = threads.left_by(others, threads.team[1], call.state.get(BASE), what)
    state = {**threads.meet(place, range(size)), MET: place, LEFT: left}
    if serving := threads.serves():
        return Outcome(call.do(*tasks, *serving), state=state)
    turn = 1 - cast(int, call.state.get(phase, 0))
    go = threads.cell("barrier", size)
    if threads.number:
        steps = [Store(threads.cell("arrived", size, threads.number), Const(turn)), Await(go, "==", Const(turn))]
    else:
        arrived = (threads.cell("arrived", size, each) for each in range(1, size))
        steps = [*(Await(each, "==", Const(turn)) for each in arrived), Store(go, Const(turn))]
    return Outcome(call.do(*tasks, *steps), state={**state, phase: turn})


@calls("int __omp_task(int deferred);")
def task(call: Call) -> Outcome:
    """Whether this thread executes the task. The other arguments are values that are given to it."""
    threads, size = threads_of(call), size_of_team(call)
    if in_task(call):
        call.fail(Wrong.CALL_LIMIT, "a task that a task makes", "let the region of the team make all of them")
    if size == 1 or not call.known(0):
        return Outcome(result=Known(1))
    call.rests_on(Kind.TASKS_AT_ONCE)
    machine = machine_of(call).machine
    alive = cast(Alive, call.state.get(ALIVE, ()))
    thread = least_free({number for number, _, _ in alive}, size)
    if thread > MOST_THREADS:
        call.fail(
            Wrong.SIZE_LIMIT,
            f"more than {MOST_THREADS - size + 1} tasks at once",
            "verify a smaller case, with fewer tasks",
        )
    frame = machine.position.frame
    inner = next(each for each in frame.function.regions if each.name == "task" and each.first <= frame.pc < each.last)
    made = frame.function.code[frame.pc]
    assert isinstance(made, code.Call) and made.target is not None and inner.own is not None
    state = threads.snapshot()
    lost = (UNDEFINED == state.frames[-1].slots[slot] != frame.slots[slot] for slot in made.arguments)
    if any(lost):
        raise Problem("PG140", "what a task is given is not known here", "store it in a shared variable", call.span)
    state.frames[-1].slots[made.target] = Known(1)
    state.frames[-1].pc += 1
    base = frozenset(notes_of_apis(state.notes).items())
    state.notes[BASE] = base
    if thread not in machine.facts.threads.tasks:
        machine.facts.threads.tasks.add(thread)
        machine.facts.changed()
    number, steps, _ = threads.fork(state, (thread,), 1, inner.own)
    now = tuple(sorted((*alive, (thread, number, base)), key=lambda each: each[0]))
    return Outcome(call.do(*steps), Known(0), state={ALIVE: now})


@calls("void __omp_task_end(void);")
def end_of_task(call: Call) -> Outcome:
    return Outcome(ends=in_task(call))


def in_task(call: Call) -> bool:
    """Whether the thread executes a task, which it was forked for."""
    return call.thread in machine_of(call).machine.facts.threads.tasks and size_of_team(call) == 1


@calls("void __omp_taskwait(void);")
def wait_for_tasks(call: Call) -> Outcome:
    steps, state = _tasks_ended(call)
    return Outcome(call.do(*steps), state=state)


def _tasks_ended(call: Call) -> tuple[list[Command], dict[str, Hashable]]:
    """Wait for the tasks that this thread has made."""
    threads, alive = threads_of(call), cast(Alive, call.state.get(ALIVE, ()))
    if threads.team[0] == 1 or not alive:
        return [], {}
    state: dict[str, Hashable] = {ALIVE: None}
    notes = machine_of(call).machine.position.state.notes
    for thread, number, base in alive:
        found = threads.after_task(thread, number, base)
        state.update(found)
        notes.update(found)
        for key in [key for key, value in found.items() if value is None]:
            notes.pop(key, None)
    notes.pop(ALIVE)
    return threads.ended([thread for thread, _, _ in alive]), state


@calls("void __omp_lock(void); void __omp_unlock(void);")
def lock(call: Call) -> Outcome:
    """A critical region, or the end of one."""
    if not machine_of(call).machine.position.others:
        return Outcome()
    cell = threads_of(call).cell(*call.texts)
    if call.name == "__omp_unlock":
        return Outcome(call.do(Store(cell, FREE)))
    return Outcome(call.do(AwaitAdd(call.me, cell, "==", FREE, SET)))


@calls("int __omp_masked(long thread);")
def masked(call: Call) -> Outcome:
    return Outcome(result=Known(int(call.known(0) == _number(call))))


def _number(call: Call) -> int:
    """The number of the thread in its team."""
    return threads_of(call).number if size_of_team(call) > 1 else 0


# A block for one of the threads: who comes first swaps the number of how many there have been, and all notes that what
# it changes in what APIs remember is changed when they meet again.


@calls("int __omp_single(void);")
def single(call: Call) -> Outcome:
    if size_of_team(call) == 1:
        return Outcome(result=Known(1))
    place, _, nowait = call.texts[0].partition(" ")
    key = f"C.single {place}"
    before = cast(int, call.state.get(key, 0))
    after = before + 1 if nowait else 1 - before
    register = call.register("first")
    swap = CompareSwap(register, call.me, threads_of(call).cell("single", place), Const(before), Const(after))
    first = Unknown(Binary("==", register, Const(before)))
    before_it = frozenset(notes_of_apis(call.state).items())
    notes: dict[str, Hashable] = {key: after, "C.before": before_it, INSIDE: place}
    return Outcome(call.do(swap), first, state=notes)


@calls("void __omp_single_done(void);")
def single_done(call: Call) -> Outcome:
    """The thread that came first has done what is for one of them."""
    if size_of_team(call) == 1:
        return Outcome()
    return Outcome(state={**_done(call, "single"), "C.did": True, INSIDE: None})


@calls("void __omp_single_end(void);")
def single_end(call: Call) -> Outcome:
    if size_of_team(call) == 1:
        return Outcome()
    if call.state.get("C.did"):
        return Outcome(state={"C.did": None})
    change = threads_of(call).made(("single", call.texts[0]))
    return Outcome(state={"C.before": None, INSIDE: None, LATER: _later(call, [change])})


def _change(call: Call) -> Change:
    """What the thread has changed since the piece of work began that it does."""
    before = dict(cast("frozenset[tuple[str, Hashable]]", call.state["C.before"]))
    return changed(before, notes_of_apis(call.state))


def _done(call: Call, *what: Hashable) -> dict[str, Hashable]:
    """The notes of the thread that has done this work for all: the others get to know what it has changed."""
    change = _change(call)
    threads_of(call).tell((what[0], call.texts[0], *what[1:]), change)
    return {"C.before": None, LATER: _later(call, [change])}


def _later(call: Call, changes: Iterable[Change]) -> Hashable:
    """What is known of changes since the threads met last, with these ``changes`` of other things."""
    known = cast(Change, call.state.get(LATER, frozenset()))
    for change in changes:
        if twice := {key for key, _ in known} & {key for key, _ in change}:
            raise threads_of(call).unclear(twice)
        known |= change
    return known or None


# Pieces of work that one of the threads does: all know what each changes where all have come to the end of them.


@calls("void __omp_piece(long number); void __omp_piece_done(long number);")
def piece(call: Call) -> Outcome:
    if size_of_team(call) == 1:
        return Outcome()
    if call.name == "__omp_piece":
        return Outcome(state={"C.before": frozenset(notes_of_apis(call.state).items())})
    did, number = cast("tuple[int, ...]", call.state.get("C.did", ())), call.arguments[0]
    if not isinstance(number, Known):  # of a loop that is not gone through piece by piece
        if change := _change(call):
            raise threads_of(call).unclear({key for key, _ in change})
        return Outcome(state={"C.before": None})
    return Outcome(state={**_done(call, "piece", number.value), "C.did": (*did, number.value)})


def _after_pieces(call: Call) -> dict[str, Hashable]:
    did = cast("tuple[int, ...]", call.state.get("C.did", ()))
    others = (number for number in threads_of(call).pieces_made(call.texts[0]) if number not in did)
    changes = (threads_of(call).made(("piece", call.texts[0], number)) for number in others)
    return {"C.did": None, LATER: _later(call, changes)}


# Iterations and sections


@calls("int __omp_own(long iteration, long iterations, long chunk);")
def own(call: Call) -> Outcome:
    """Whether an iteration is one of this thread; without a chunk each gets as many in a row as the others, the first
    ones one more where they do not come out even."""
    size, thread = size_of_team(call), _number(call)
    if size == 1:
        return Outcome(result=Known(1))
    iteration, total, chunk = call.arguments
    assert isinstance(chunk, Known)
    if chunk.value:
        turn = Binary("%", Binary("/", call.expression(0), Const(chunk.value)), Const(size))
        if isinstance(iteration, Known):
            return Outcome(result=Known(int(iteration.value // chunk.value % size == thread)))
        return Outcome(result=Unknown(Binary("==", turn, Const(thread))))
    if not isinstance(iteration, Known) or not isinstance(total, Known):
        hint = "write `schedule(static, 1)`, by which no number of iterations has to be known"
        raise Problem("PG140", "it is not known here how many iterations threads share", hint, call.span)
    each, more = divmod(total.value, size)
    first = thread * each + min(thread, more)
    return Outcome(result=Known(int(first <= iteration.value < first + each + (thread < more))))


@calls("long __omp_claim(void);")
def claim(call: Call) -> Outcome:
    """The number of the next piece of work, from 0 on. Loops are counted in two cells in turns, and in ever new ones
    where the threads do not meet behind them."""
    place, _, nowait = call.texts[0].partition(" ")
    if size_of_team(call) == 1:
        steps = Steps(call)
        return steps.outcome(steps.count(f"C.alone.{place}"))
    register, turn = call.register("piece"), cast(int, call.state.get(f"C.claims {place}", 0))
    cell = threads_of(call).cell("piece", place, turn if nowait else turn % 2)
    return Outcome(call.do(FetchAdd(register, call.me, cell, Const(1))), Unknown(register))


@calls("int __omp_guided(long piece, long pieces, long least);")
def guided(call: Call) -> Outcome:
    """Which claim a piece belongs to: each takes as many of those that are left as there are threads (OpenMP 5.2,
    11.5.3); or, by the name, whether it is the last one of it."""
    number, left, least = (call.known(each) for each in range(3))
    call.rests_on(Kind.GUIDED_CHUNKS)
    first = claims = 0
    while True:
        size = max(least, -(-left // size_of_team(call)), 1)
        if number < first + size:
            return Outcome(result=Known(int(number == first + min(size, left) - 1) if call.texts else claims))
        first, left, claims = first + size, left - size, claims + 1


@calls("void __omp_claimed(void);")
def claimed(call: Call) -> Outcome:
    """All pieces are claimed. The cell of the loop before this one is not in use any more, and of the next one."""
    place, _, nowait = call.texts[0].partition(" ")
    if size_of_team(call) == 1:
        return Outcome(state={f"C.alone.{place}": None})
    turn = cast(int, call.state.get(f"C.claims {place}", 0))
    statements: tuple[Statement, ...] = ()
    if nowait:
        if turn == MOST_LOOPS:
            call.fail(
                Wrong.SIZE_LIMIT,
                f"a loop that threads pass more than {MOST_LOOPS} times without a barrier",
                "leave `nowait` away",
            )
        return Outcome(state={**_after_pieces(call), f"C.claims {place}": turn + 1})
    if turn and not threads_of(call).number:
        statements = call.do(Store(threads_of(call).cell("piece", place, 1 - turn % 2), FREE))
    notes = _after_pieces(call)
    return Outcome(statements, state={**notes, f"C.claims {place}": turn + 1 if turn < 3 else 2})


__all__ = ["fork", "size_of_team", "threads_of"]
