"""From a unit of C to a program of the calculus on N nodes: the machine for every rank, until no fact is new."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Literal

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.c import merge_points
from pgasrob.frontends.c.arrivals import into_registers
from pgasrob.frontends.c.assemble import assemble
from pgasrob.frontends.c.calls import MachineCall
from pgasrob.frontends.c.compiled import Compiled
from pgasrob.frontends.c.doubles import doubles
from pgasrob.frontends.c.facts import Facts
from pgasrob.frontends.c.followed import Followed
from pgasrob.frontends.c.graph import go_round, of_rank
from pgasrob.frontends.c.machine import Machine
from pgasrob.frontends.c.moved import FOLDING, NotLaid
from pgasrob.frontends.c.problem import Problem, StillLong, TryAgain
from pgasrob.frontends.c.symbolic import Path
from pgasrob.frontends.c.world import Budget, Classes, World
from pgasrob.program.assumptions import Assumption, Kind
from pgasrob.program.declaration_rules import MAX_CELLS
from pgasrob.program.declarations import MemoryObject, Process, Queue
from pgasrob.program.expressions import Apart
from pgasrob.program.files import name_of
from pgasrob.program.program import Program
from pgasrob.program.statements import FlowGraph, Line

MOST_PASSES = 300
SHORTER = 6
"""By how much shorter than long code it is where loops are kept soon."""
Marks = Literal["none", "calls", "outside"]
"""What calls are marked with (:class:`~pgasrob.program.commands.Mark`)."""


def lower(
    compiled: Compiled,
    nodes: int | None,
    marks: Marks = "none",
    *,
    followed: dict[int, Followed] | None = None,
    leaving: frozenset[Path] = frozenset(),
    budget: Budget | None = None,
) -> Program:
    """The program that ``compiled`` is on ``nodes`` nodes, or on every number of them when None; with marks of the
    calls that say what they are, or what they do outside of memory, where these are asked for. What each rank does is
    noted in ``followed``, if given. ``leaving``, ``budget``: as of a
    :class:`~pgasrob.frontends.c.world.World`.

    Raises :class:`pgasrob.diagnostics.SourceError` for what is not supported, not known here, or too large.
    """
    first: tuple[Program, dict[int, Followed]] | Problem | None = None
    classes = Classes()
    for folding in FOLDING:
        if nodes is not None and (folding or followed is not None):
            classes.begin(nodes)
            classes.apart()  # what each rank does is noted for itself
        facts = Facts("late" if nodes is None else "soon", folding, nodes or MAX_CELLS)
        ways = dict[int, Followed]()
        noted = None if followed is None else ways
        marked, outside = marks == "calls", marks == "outside"
        world = partial(
            World,
            compiled,
            nodes,
            marked=marked,
            outside=outside,
            followed=noted,
            leaving=leaving,
            budget=budget,
            classes=classes,
        )
        try:
            program, facts = _with_loops(world, facts)
        except Problem as problem:
            first, again = first or problem, problem.code in (Wrong.UNKNOWN_LIMIT, Wrong.UNSET)
        else:
            again = facts.lacks_number
            if not again or first is None or isinstance(first, Problem):
                first = program, ways
        if not again or nodes is None or not facts.moved.seen:
            break
    assert first is not None
    if isinstance(first, Problem):
        raise first.at(compiled.unit) from None
    if followed is not None:
        followed.update(first[1])
    return first[0]


def _with_loops(world: Callable[..., World], facts: Facts) -> tuple[Program, Facts]:
    """The program of a ``world`` with ``facts``, in which long loops are kept if possible, and what has been found out.
    Raises :class:`Problem`.

    Loops that are not very long are kept only where little code is left: what is computed in many registers makes more
    states than the iterations that are written out.
    """
    with_gaps: tuple[Program, Facts] | None = None
    while True:
        try:
            program = _lowered(world(facts=facts))
        except Problem:
            if not facts.loops_kept:
                if with_gaps is not None:
                    return with_gaps
                raise
            # Something may be known of each iteration that is not known of all of them.
        except StillLong:
            pass
        else:
            if not facts.loops_kept or (not program.gaps and (facts.keeps_loops == "late" or _is_short(program))):
                return program, facts
            if facts.keeps_loops == "late":
                with_gaps = program, facts
        facts = Facts("late" if facts.keeps_loops == "soon" else "never", facts.moved.folding, facts.units)


def _is_short(program: Program) -> bool:
    """Whether there is little code for each rank."""
    most = merge_points.LONG_CODE // SHORTER
    return all(
        isinstance(each.body, FlowGraph) and sum(len(piece.statements) for piece in each.body.pieces) <= most
        for each in program.processes
    )


def _lowered(world: World) -> Program:
    facts = world.facts
    for _ in range(MOST_PASSES):
        version = facts.version
        processes = _one_pass(world, version)
        if processes is not None:
            if not facts.threads.any:  # else a variable of the rank is no register
                processes = into_registers(world, processes)
            return Program(
                world.program.name,
                world.number_of_nodes,
                tuple(_declared(world)),
                tuple(world.registers),
                tuple(Queue(each, id, unordered) for id, each, unordered in world.queues.values()),
                processes,
                world.program.unit.source,
                doubles(world, processes),
                tuple(world.gaps),
                tuple(_uncertain(world)),
                world.blind_awaits,
                tuple(_assumptions(world)),
                {name: world.variables.get(name) for name in world.registers},
                tuple(world.faults),
                world.exposed(),
                world.most_nodes,
                tuple(
                    replace(each, given_back=facts.objects[world.cells.at[each.address][0]].is_gone)
                    for each in world.cells.growing
                ),
                ends=tuple(world.ends),
                looked_at={key: looked for key, looked in world.looked_at.items() if looked is not None},
                moves_data=world.moves_data,
                shows_more=world.returns_more or any(each.kind is Kind.NO_EFFECT for each in _assumptions(world)),
                shown=world.program.shown,
            )
    raise Problem("PG141", f"after {MOST_PASSES} passes something new is still learned", "verify a smaller case")


def _declared(world: World) -> Iterator[MemoryObject]:
    """The memory, of which it is only known now what has been given back."""
    for memory in world.cells.memory:
        id, _ = world.cells.at[memory.address]
        yield replace(memory, given_back=world.facts.objects[id].is_gone)


def _uncertain(world: World) -> Iterator[str]:
    """The names of the memory objects that may hold unknown values."""
    at, uncertain = world.cells.at, world.facts.uncertain
    for growing in world.cells.growing if uncertain.offsets else ():
        if uncertain.has(at[growing.address][0], None):
            yield growing.name
    for memory in world.cells.memory if uncertain.offsets else ():
        if any(uncertain.has(*at[cell]) for cell in range(memory.address, memory.address + memory.cells)):
            yield memory.name


def _assumptions(world: World) -> Iterator[Assumption]:
    """What the pass over all ranks has noted, and what every program in C rests on."""
    noted, program = world.assumptions, world.program
    for kind in Kind:
        if kind.scope == "C" and kind not in (Kind.SPECIFICATION, Kind.CALLS_ALLOWED):
            noted.add(kind)
    noted.add(
        Kind.SIZES, *(f"-U {name}" if text is None else f"-D {name}={text}" for name, text in program.unit.macros)
    )
    dialects = (*sorted(program.dialects), "")
    chosen = (next(filter(None, map(api.specifications.get, dialects)), None) for api in program.apis)
    specifications = [each for each in chosen if each is not None]
    if specifications:
        noted.add(Kind.SPECIFICATION, *specifications)
        noted.add(Kind.CALLS_ALLOWED)
    if len(specifications) > 1:
        noted.add(Kind.SAME_RANKS, *specifications)
    for header, line in program.unit.unread:
        noted.add(Kind.UNREAD_HEADERS, f"<{header}>", line=line)
    for name, error in program.unit.broken.items():
        wrong, file = error.diagnostics[0], program.unit.file
        line = wrong.line if wrong.file == file else Line(wrong.line, wrong.file, name_of(wrong.file, file))
        noted.add(Kind.UNREAD_FUNCTIONS, f"{name}()", line=line)
    if names := tuple(_uncertain(world)):
        noted.add(Kind.UNKNOWN_MEMORY, *names)
    return iter(noted)


def _one_pass(world: World, version: int) -> tuple[Process, ...] | None:
    """The processes of all ranks; None when they have to be made again, since something has been learned.

    A mistake that shows while something was still unknown is none: it may go away with what has been learned since.
    """
    world.begin()
    machines: list[Machine] = []
    mistake: Problem | None = None
    again = False
    executed: set[int] = set()
    waiting = [(rank, 0) for rank in reversed(world.ranks)]
    while waiting:
        rank, thread = waiting.pop()
        machine = Machine(world, rank, MachineCall, thread)
        try:
            machine.run()
        except TryAgain:
            if world.facts.keeps_loops == "soon" and world.facts.loops_kept and not world.facts.shortened:
                return None  # one rank shows whether little code is left
            again = True  # what the other ranks do and publish may be needed for more than this pass
        except NotLaid:
            pass
        except Apart as apart:
            # What these ranks have noted and published before, they all have.
            world.classes.part(rank.numbers, apart.values)
            waiting = [(each, 0) for each in reversed(world.ranks) if executed.isdisjoint(each.numbers)]
            continue
        except Problem as problem:
            # Another rank may add a fact with which this is no mistake in the next pass.
            mistake = mistake or problem
        finally:
            if world.budget is not None:
                world.budget.left -= machine.position.instructions
        machines.append(machine)
        if not thread and not rank.is_symbol:
            executed.update(rank.numbers)
            forked = [max(world.forks[each].threads, default=0) for each in rank.numbers if each in world.forks]
            waiting += ((rank, each) for each in range(max(forked, default=0), 0, -1))
    facts = world.facts
    threads = facts.learns_of_threads()
    if again or facts.version != version or facts.gives_up() or facts.learns_of_free_ways() or threads:
        return None
    if mistake is not None:
        raise mistake
    processes = [each for machine in machines for each in _processes(machine)]
    return tuple(sorted(processes, key=lambda each: (each.ranks or (0,), each.thread)))


def _processes(machine: Machine) -> Iterator[Process]:
    """What ``machine`` has written, as the processes of its thread of each rank that it has executed."""
    rank, nodes, thread = machine.position.rank, machine.writer.nodes, machine.position.thread
    go_round(nodes)
    if rank.is_symbol:
        machine.parts.agreements.check()
        yield Process(None, assemble(nodes), thread=thread)
    elif len(rank.numbers) == 1:
        yield Process(rank.numbers, assemble(nodes), thread=thread)
    else:
        for place, number in enumerate(rank.numbers):
            its = {label: of_rank(node, place) for label, node in nodes.items()}
            yield Process((number,), assemble(its), thread=thread)
