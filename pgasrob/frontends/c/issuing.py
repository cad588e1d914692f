"""What the commands of a rank do to what is known of memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.c.facts import ObjectFacts
from pgasrob.frontends.c.flows import Flows
from pgasrob.frontends.c.moved_memory import MovedMemory
from pgasrob.frontends.c.number_kinds import kinds, signs
from pgasrob.frontends.c.rank_position import Position
from pgasrob.frontends.c.registers import Registers
from pgasrob.frontends.c.types import Array, CType, Floating, Integer
from pgasrob.frontends.c.unset import Accesses, Unset
from pgasrob.frontends.c.values import ObjectId
from pgasrob.frontends.c.writer import Writer
from pgasrob.frontends.options import NO_SHARED_MEMORY
from pgasrob.program import commands, core
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import Apart, Expr, constant, on_rank, rewritten
from pgasrob.program.statements import Do, Span, Statement, statements_in
from pgasrob.stop_points import stop_point

PUT, FENCED = "machine.put", "machine.fenced"
"""Keys in `State.notes` of the pairs of a queue and a rank (None: any) to which puts may be pending, and of those of
which puts have been fenced."""
MOST_KNOWN = 64
"""Scalars in cells of one object, up to which what they hold is kept: programs do not branch on large buffers."""


class Issuer:
    """Issues the commands of a rank: takes unknown values out of them, and notes what they do to memory before they are
    written. What commands write is not known any more, unless it is a store of the rank itself."""

    def __init__(
        self,
        position: Position,
        writer: Writer,
        registers: Registers,
        flows: Flows,
        unset: Unset,
        moved: MovedMemory,
    ) -> None:
        self.position = position
        self.moved = moved
        self.writer = writer
        self.registers = registers
        self.flows = flows
        self.unset = unset
        self.world = position.world
        self.facts = position.facts

    def issue(self, command: commands.Command, span: Span | None = None) -> None:
        """Issue ``command``, by default at the current instruction."""
        self.emit(Do(command, span or self.position.span))

    def fault(self, why: str, code: str = Wrong.BOUNDS) -> None:
        """End the rank with a command in error: what the program does here has no meaning, for the reason ``why``."""
        self.issue(commands.Load(self.registers.register("undefined"), self.world.nowhere(why, code)))
        self.writer.close()

    def emit(self, *statements: Statement) -> None:
        """Issue ``statements``."""
        stop_point()
        known = self.flows.without_unknowns(statements)
        outside = set(map(id, known))  # what a block within a statement stores may not be stored when that ends
        accesses: Accesses = {}
        for each in statements_in(known):
            if isinstance(each, Do):
                form = core.lower(each.command)
                accesses[id(each)] = made = core.accesses_of(form)
                self.moved.note(each.command, form)
                if id(each) in outside and self.moved.stored(each.command):
                    self.unset.look_for_reached(made)
                else:
                    self._look_for_fences(form)
                    self._look_at_each(each.command, form, made)
        if any(accesses.values()):
            self.unset.look_for_initialised(known, accesses)
        self.writer.write(*known)

    def issue_store(self, store: commands.Store | commands.FetchUpdate) -> None:
        """Issue a store of the program itself. The caller notes what it stores, unless in the memory of another
        rank."""
        stop_point()
        read, chosen = self.flows.read, self.flows.undecided.chosen
        known = self.flows.without_unknowns((Do(store, self.position.span),))
        for each in known:
            if isinstance(each, Do):
                self.moved.note(each.command, core.lower(each.command))
        if store.rank not in (None, self.position.me):
            self._unsettle(core.accesses_of(core.lower(store)))
        self.writer.write(*known)
        self.flows.read, self.flows.undecided.chosen = read, chosen

    def _look_at_each(
        self, command: commands.Command, form: core.Form, accesses: tuple[core.Access[core.Place], ...]
    ) -> None:
        """As :meth:`_look_at`, on each rank where ranks that are executed at once access different memory."""
        try:
            self._look_at(form, accesses)
        except Apart:
            for place in range(len(self.position.rank.numbers)):
                with self.position.at_rank(place):
                    its = core.lower(commands.map_expressions(command, partial(rewritten, change=on_rank(place))))
                    self._look_at(its, core.accesses_of(its))

    def _look_at(self, form: core.Form, accesses: tuple[core.Access[core.Place], ...]) -> None:
        """Note what a command does to memory by its ``accesses``, at its issue and later."""
        if not accesses:
            return
        self._unsettle(accesses)
        named_by = self.world.cells.named_by
        for step in core.steps_of(form):
            if step.access.cell.rank is None:
                for id, _ in named_by(step.access.cell.address):
                    self.facts.lend(id)
        if isinstance(form, core.Transfer):
            self.look_for_mixing([place for each in accesses for place in named_by(each.cell.address)])
        computed = (
            access.cell.address
            for access, learns in zip(accesses, core.observed(form), strict=True)
            if access.writes and learns
        )
        if any(not id.of_api for address in computed for id, _ in named_by(address)):
            self.position.rests_on(Kind.ATOMIC_TO_ALL, self.position.called)

    def _unsettle(self, accesses: tuple[core.Access[core.Place], ...]) -> None:
        """Note which scalars ``accesses`` may change, now or later: they are not what their rank has stored there."""
        self.unset.look_for_reached(accesses)
        for access in accesses:
            if access.writes:
                for id, offset in self.world.cells.named_by(access.cell.address):
                    large = len(self.facts.objects[id].shared) > MOST_KNOWN
                    self.facts.unsettle(id, None if large else offset)

    @property
    def fenced(self) -> frozenset[tuple[Expr, int | None]]:
        """The queues, and the ranks, with puts that a fence has ordered and that may be pending."""
        return cast("frozenset[tuple[Expr, int | None]]", self.position.state.notes.get(FENCED, frozenset()))

    def look_for_mixing(self, places: Sequence[tuple[ObjectId, int | None]]) -> None:
        """Note that a transfer moves values between the scalars at ``places``: those of signed and unsigned integers
        are mixed, and where one of them lies in pieces, or they are floats and integers, all do."""
        key = tuple(id for id, _ in places)
        if key in self.world.compared:
            return
        known = [(id, offset, self.facts.objects[id]) for id, offset in places if not id.of_api]
        if _are_alike([object for _, _, object in known]):
            if all(_has_one_type(object) for _, _, object in known):
                self.world.compared.add(key)
            return
        mixed: set[bool] = set()
        for id, offset, object in known:
            size = object.granule if offset is None else object.shared.get(offset, object.granule)
            mixed |= signs(self.facts, id, offset, size)
        found = {kind for id, offset, _ in known for kind in kinds(self.facts, id, offset)}
        if len(found) > 1:
            for id, _, _ in known:
                self.facts.split(id)
        elif Floating in found:
            for id, offset, _ in known:
                if not kinds(self.facts, id, offset):
                    self.facts.carry_floats(id, offset)
        if any(object.pieces is not None for _, _, object in known):
            for id, _, _ in known:
                self.facts.split(id)
        if len(mixed) > 1 or any(object.mixed for _, _, object in known):
            for id, _, _ in known:
                self.facts.mix(id)
        if all(_has_one_type(object) for _, _, object in known):
            self.world.compared.add(key)

    def in_mixed_cells(self, statements: Sequence[Statement]) -> bool:
        """Whether commands read what may be no value of its type."""
        forms = (core.lower(each.command) for each in statements_in(statements) if isinstance(each, Do))
        places = (
            place
            for form in forms
            for made in core.accesses_of(form)
            for place in self.world.cells.named_by(made.cell.address)
        )
        return any(self.facts.objects[id].mixed for id, _ in places)

    def _look_for_fences(self, form: core.Form) -> None:
        """Keep track of fences, which order what a rank stores later in the memory of others after its earlier puts."""
        if self.world.program.shared_memory == NO_SHARED_MEMORY:
            return
        put, fenced = self.position.state.notes.get(PUT, frozenset()), self.fenced
        assert isinstance(put, frozenset)
        match form:
            case core.Transfer(rank, queue, steps) if any(step.fenced for step in steps):
                put |= {(queue, constant(rank))}
            case core.Fence(queue, rank):
                to = None if rank is None else constant(rank)
                fenced |= {each for each in put if each[0] == queue and (to is None or each[1] in (None, to))}
            case core.Wait(queue, local=False):
                put, fenced = (frozenset(each for each in queues if each[0] != queue) for queues in (put, fenced))
        self.position.state.notes.update({key: queues for key, queues in ((PUT, put), (FENCED, fenced)) if queues})
        for key, queues in ((PUT, put), (FENCED, fenced)):
            if not queues:
                self.position.state.notes.pop(key, None)


def _are_alike(objects: Sequence[ObjectFacts]) -> bool:
    """Whether nothing but integers of one type is in ``objects``, arrays or what has no type of its own, as in most: no
    scalars in them are mixed."""
    types: set[CType] = set()
    for each in objects:
        if each.mixed or each.floats:  # as is what lies in pieces
            return False
        types |= each.accesses.numbers
        if isinstance(each.type, Array):
            types.add(each.type.of)
        elif each.type is not None:
            return False
    return len(types) < 2 and all(isinstance(each, Integer) for each in types)


def _has_one_type(object: ObjectFacts) -> bool:
    """Whether it is an array of numbers that are accessed as what they are declared as."""
    of = object.type.of if isinstance(object.type, Array) else None
    return isinstance(of, Integer | Floating) and object.accesses.numbers <= {of}
