"""Gets that are waited for at once, in loops that do nothing else: their values arrive in registers.

    loop: read(v, 1, x, q); wait(q); r <- mem[v]; if (r == 0) goto loop

looks at ``x`` as a load does, but goes through memory: `MPI_Get` and `MPI_Win_flush`, every API's blocking get. When
nobody but its own rank ever accesses ``v``, and no more than this, it is the same to fetch the value into a register:

- Between the issue of the get and the end of the wait the rank does nothing; so its issue may be moved to where it
  reads ``x``, and its arrival too. What else is pending goes on as before.
- All conflicts on ``v`` are between commands of one rank, in program order, and say nothing that program order does
  not say. So a cycle is there in both programs or in none.

A queue that keeps its order, or an atomic that keeps its place among others, is not waited for by the fetch: then
nothing may be pending that the get comes after. Other programs would stay what they are as well; they are left alone
because people look for their own gets and variables in what is shown.

Without a get the same is so of a cell whose memory is given back in the end, and that loops use which do nothing but
read: what has become of a struct that counts the rounds of a poll, and keeps what was seen last.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import NamedTuple, TypeGuard

from pgasrob.frontends.c.cells import places_in
from pgasrob.frontends.c.world import World
from pgasrob.program import commands, core
from pgasrob.program.commands import Command, Fetch, Load, Mark, Read, Store, Update, UpdateFrom, Wait, WaitLocal
from pgasrob.program.declarations import MemoryObject, Process
from pgasrob.program.expressions import Expr, constant
from pgasrob.program.graphs import reached_by
from pgasrob.program.statements import Do, FlowGraph, Piece, Statement, statements_in
from pgasrob.stop_points import stop_point


class Get(NamedTuple):
    """A command that brings the cell ``remote`` at ``rank`` into the cell ``local`` here; ``located``: in its turn."""

    local: int
    rank: Expr
    remote: Expr
    queue: Expr
    located: bool


class Posted(NamedTuple):
    """A transfer that may be pending. None: the queue, rank or address is not known."""

    queue: int | None
    rank: int | None
    address: int | None
    located: bool


def into_registers(world: World, processes: Sequence[Process]) -> tuple[Process, ...]:
    """``processes`` with the gets of polling loops as fetches into registers that are new in ``world``."""
    unordered = {id for id, _, unordered in world.queues.values() if unordered}
    graphs = [process.body for process in processes if isinstance(process.body, FlowGraph)]
    assert len(graphs) == len(processes)
    waited = {id(get) for graph in graphs for get in _waited_for(graph, unordered)}
    gone = {address for address, (id, _) in world.cells.at.items() if world.facts.objects[id].is_gone}
    if not waited and not gone:
        return tuple(processes)
    memory, exposed = world.cells.memory, frozenset[int]().union(*world.exposed().values())
    private = {
        each.address + place: each.name if each.size is None else f"{each.name}_{place}"
        for each in memory
        for place, initial in enumerate(each.initial)
        if not initial and each.address + place not in exposed
        if waited or each.address + place in gone
    }
    for cell in _accessed_otherwise(graphs, waited, memory):
        private.pop(cell, None)
    while len(polled := {cell for graph in graphs for cell in _polled(graph, waited, private)}) < len(private):
        stop_point()
        private = {cell: name for cell, name in private.items() if cell in polled}
    held = {cell: world.register(_fresh(name, world.registers)) for cell, name in private.items()}
    world.variables |= {register.name: private[cell] for cell, register in held.items()}

    def changed(statement: Statement) -> Statement:
        command = statement.command if isinstance(statement, Do) else None
        match command:
            case Load(register, address, None) if constant(address) in held:
                command = commands.Assign(register, held[_known(address)])
            case Store(address, value, None) if constant(address) in held:
                command = commands.Assign(held[_known(address)], value)
            case Read() | UpdateFrom() | Update() if (get := _get(command)) is not None and get.local in held:
                atomic = "" if isinstance(command, Read) else command.atomic
                command = Fetch(held[get.local], get.rank, get.remote, atomic=atomic)
            case _:
                return statement
        assert isinstance(statement, Do)
        return replace(statement, command=command)

    return tuple(
        replace(process, body=FlowGraph(tuple(_changed(piece, changed) for piece in graph.pieces)))
        for process, graph in zip(processes, graphs, strict=True)
    )


def _changed(piece: Piece, change: Callable[[Statement], Statement]) -> Piece:
    return replace(piece, statements=tuple(map(change, piece.statements)))


def _fresh(name: str, taken: Collection[str]) -> str:
    return next(each for each in chain((name,), (f"{name}_{number}" for number in count(2))) if each not in taken)


def _known(address: Expr) -> int:
    number = constant(address)
    assert number is not None
    return number


def _is_own(command: Command | None) -> TypeGuard[Load | Store]:
    """Whether it is a load or store of a cell of the rank's own that is known."""
    return isinstance(command, Load | Store) and command.rank is None and constant(command.address) is not None


def _get(command: Command) -> Get | None:
    match command:
        case Read(local, rank, remote, queue):
            located = False
        case UpdateFrom("fetch", _, rank, remote, queue, local, _, located) if local is not None:
            pass
        case Update("fetch", _, rank, remote, queue, local, _, located) if local is not None:
            pass
        case _:
            return None
    number = constant(local)
    return None if number is None else Get(number, rank, remote, queue, located)


# Gets that are waited for at once


def _waited_for(graph: FlowGraph, unordered: Collection[int]) -> Iterator[Command]:
    """The gets that a rank waits for before it does anything else, and that come after nothing that is pending."""
    if not any(isinstance(each, Do) and _get(each.command) for piece in graph.pieces for each in piece.statements):
        return
    pending = _pending(graph)
    for piece in graph.pieces:
        posted = pending[piece.label]
        for place, statement in enumerate(piece.statements):
            get = _get(statement.command) if isinstance(statement, Do) else None
            if isinstance(statement, Do) and get is not None and _waits(piece.statements[place + 1 :], get.queue):
                ordered = constant(get.queue) not in unordered
                if not any(_comes_before(each, get, ordered) for each in posted):
                    yield statement.command
            posted = _after(posted, statement)


def _waits(statements: Iterable[Statement], queue: Expr) -> bool:
    """Whether nothing but waits comes before one for ``queue``."""
    for statement in statements:
        command = statement.command if isinstance(statement, Do) else None
        if isinstance(command, Mark):
            continue
        if not isinstance(command, Wait | WaitLocal):
            return False
        if command.queue == queue:
            return True
    return False


def _comes_before(posted: Posted, get: Get, ordered: bool) -> bool:
    """Whether the get may have to come after a step of a transfer that is pending."""
    if ordered and posted.queue in (None, constant(get.queue)):
        return True
    rank, address = constant(get.rank), constant(get.remote)
    known = None not in (posted.rank, posted.address, rank, address)
    return get.located and posted.located and not (known and (posted.rank, posted.address) != (rank, address))


def _pending(graph: FlowGraph) -> dict[str, frozenset[Posted]]:
    """What may be pending where each piece begins."""
    pending = {piece.label: frozenset[Posted]() for piece in graph.pieces}
    changed = True
    while changed:
        stop_point()
        changed = False
        for piece in graph.pieces:
            posted = pending[piece.label]
            for statement in piece.statements:
                posted = _after(posted, statement)
            for label in piece.goes_to:
                if not posted <= pending[label]:
                    pending[label], changed = pending[label] | posted, True
    return pending


def _after(posted: frozenset[Posted], statement: Statement) -> frozenset[Posted]:
    if isinstance(statement, Do) and isinstance(statement.command, Wait):
        queue = constant(statement.command.queue)
        return frozenset(each for each in posted if queue is None or each.queue != queue)
    if isinstance(statement, Do) and not isinstance(core.lower(statement.command), core.Transfer):
        return posted
    forms = [core.lower(each.command) for each in statements_in((statement,)) if isinstance(each, Do)]
    return posted.union(
        Posted(constant(form.queue), constant(form.rank), constant(step.access.cell.address), step.located)
        for form in forms
        if isinstance(form, core.Transfer)
        for step in form.steps
    )


# Cells that only their own rank accesses


def _accessed_otherwise(
    graphs: Iterable[FlowGraph], waited: Collection[int], memory: Sequence[MemoryObject]
) -> set[int]:
    """The cells that something accesses but loads and stores of their own rank, and gets that are waited for."""
    found: set[int] = set()
    for graph in graphs:
        for statement in (each for piece in graph.pieces for each in piece.statements):
            command = statement.command if isinstance(statement, Do) else None
            if _is_own(command):
                continue
            own = _get(command) if command is not None and id(command) in waited else None
            for each in statements_in((statement,)):
                for access in core.accesses_of(core.lower(each.command)) if isinstance(each, Do) else ():
                    if own is None or not access.writes:
                        found |= _cells(access.cell.address, memory)
    return found


def _cells(address: Expr, memory: Sequence[MemoryObject]) -> set[int]:
    """The cells that may be meant."""
    number = constant(address)
    if number is not None:
        return {number}
    inside = {place for place in places_in(address) if place >= 0}
    objects = [each for each in memory if inside & {*range(each.address, each.address + each.cells)}] or memory
    return {cell for each in objects for cell in range(each.address, each.address + each.cells)}


# Loops


def _polled(graph: FlowGraph, waited: Collection[int], private: Collection[int]) -> Iterator[int]:
    """The cells of ``private`` that loops use which do nothing but read, when these cells are registers."""
    quiet = {piece.label: piece for piece in graph.pieces if _is_quiet(piece, waited, private)}
    edges = [(label, target) for label, piece in quiet.items() for target in piece.goes_to]
    for piece in quiet.values():
        if piece.label in reached_by(edges, piece.goes_to):
            for statement in statements_in(piece.statements):
                command = statement.command if isinstance(statement, Do) else None
                if _is_own(command) and constant(command.address) in private:
                    yield _known(command.address)
                elif command is not None and (get := _get(command)) is not None:
                    yield get.local


def _is_quiet(piece: Piece, waited: Collection[int], private: Collection[int]) -> bool:
    for statement in statements_in(piece.statements):
        if not isinstance(statement, Do):
            continue
        command = statement.command
        match command:
            case Load() | Fetch() | commands.Assign() | commands.Assume() | Wait() | WaitLocal() | commands.Fence():
                continue
            case Store(address, _, None) if constant(address) in private:
                continue
        get = _get(command)
        if get is None or id(command) not in waited or get.local not in private:
            return False
    return True
