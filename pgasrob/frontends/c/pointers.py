"""Pointers: where they point to, and which cells that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import gcd

from pgasrob.analysis.intervals import Interval
from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.c import arithmetic
from pgasrob.frontends.c.arithmetic import LONG
from pgasrob.frontends.c.evaluation import Evaluation
from pgasrob.frontends.c.extended import LARGEST_SCALAR
from pgasrob.frontends.c.nondeterminism import leaves_of
from pgasrob.frontends.c.objects import Objects
from pgasrob.frontends.c.parts import part_name
from pgasrob.frontends.c.problem import Beyond, Problem
from pgasrob.frontends.c.rank_tables import Tables
from pgasrob.frontends.c.symbolic import NumberNeeded
from pgasrob.frontends.c.types import Integer
from pgasrob.frontends.c.undecided import Undecided
from pgasrob.frontends.c.values import UNDEFINED, Address, Entry, Known, ObjectId, Undefined, Unknown, Value
from pgasrob.program.expressions import Binary, Conditional, Const, Expr, IntType, Nodes, Symbol, folded
from pgasrob.stop_points import stop_point


class Pointers:
    """Arithmetic on pointers, and the cells at addresses."""

    def __init__(self, objects: Objects, tables: Tables, undecided: Undecided, evaluation: Evaluation) -> None:
        self.position = objects.position
        self.objects = objects
        self.tables = tables
        self.undecided = undecided
        self.evaluation = evaluation
        self.world = self.position.world
        self.facts = self.position.facts

    def offsets(self, address: Address, size: int) -> Sequence[int]:
        """Where the scalar of ``size`` bytes at ``address`` may begin in its object, in the first period of one that
        grows."""
        if isinstance(address.offset, int):
            return (address.offset,)
        start, step = address.steps
        object = self.facts.objects[address.object]
        if object.grows:
            if object.size % size or start % size or step % size:
                what = f"where a scalar of {size} bytes lies in `{object.name}`"
                raise NumberNeeded(f"{what} differs between numbers of nodes")
            return range(start % step, object.size, step)
        return range(start, self.facts.objects[address.object].size - size + 1, step) if step else (start,)

    def offset(self, pointer: Value, index: Value, size: int) -> Value:
        """``pointer`` moved by ``index`` elements of ``size`` bytes."""
        if isinstance(pointer, Address) and isinstance(index, Known) and isinstance(pointer.offset, int):
            distance = LONG.wrap(index.value) * size
            return Address(pointer.object, pointer.offset + distance, pointer.owner, pointer.mapped)
        if isinstance(pointer, Undefined) or isinstance(index, Undefined):
            return UNDEFINED
        if isinstance(pointer, Known) and isinstance(index, Known):
            return Known(IntType(64, False).wrap(pointer.value + index.value * size))
        if leaves_of(pointer):
            raise Beyond("arithmetic on a pointer that is an unknown value")
        entry = self.tables.entry(pointer) if isinstance(index, Unknown) or isinstance(pointer, Entry) else None
        if entry is not None and isinstance(index, Known | Unknown):
            return self.tables.moved_entry(entry, index, size)
        if not isinstance(pointer, Address) or not isinstance(index, Known | Unknown):
            raise Problem("PG143", "arithmetic on a pointer that is not known well enough", "index an array instead")
        if isinstance(index, Known):
            distance = LONG.wrap(index.value) * size
            assert not isinstance(pointer.offset, int)
            if not distance:
                return pointer
            granule = self.facts.finer(pointer.object, distance)
            moved = arithmetic.binary("+", Unknown(pointer.offset), Known(distance // granule), Integer(LONG))
            steps = pointer.steps[0] + distance, pointer.steps[1]
        else:
            index = Unknown(self.undecided.settled(index.expr, "an index", self._inside(pointer, size)))
            start = pointer.offset if isinstance(pointer.offset, int) else 0
            granule = self.facts.index(pointer.object, start, size)
            base: Value = Known(start // granule) if isinstance(pointer.offset, int) else Unknown(pointer.offset)
            scaled = arithmetic.binary("*", index, Known(size // granule), Integer(LONG))
            moved = arithmetic.binary("+", scaled, base, Integer(LONG))
            steps = (
                (start, size) if isinstance(pointer.offset, int) else (pointer.steps[0], gcd(pointer.steps[1], size))
            )
        moved = self.evaluation.materialised(moved, "index")
        assert isinstance(moved, Known | Unknown)
        grows = self.facts.objects[pointer.object].grows
        if isinstance(moved, Known) and not grows:
            return Address(pointer.object, moved.value * granule, pointer.owner, pointer.mapped)
        first, step = steps
        return replace(pointer, offset=arithmetic.expression(moved), steps=(first % step if step else first, step))

    def _inside(self, pointer: Address, size: int) -> Interval | None:
        """The indices of elements of ``size`` bytes with which ``pointer`` stays in its object."""
        if not isinstance(pointer.offset, int) or not size:
            return None
        return -(pointer.offset // size), self.objects.room(pointer) // size - 1

    def difference(self, left: Value, right: Value, size: int) -> Value:
        if isinstance(left, Undefined) or isinstance(right, Undefined):
            return UNDEFINED
        if isinstance(left, Address) and isinstance(right, Address) and left.place == right.place and size:
            if isinstance(left.offset, int) and isinstance(right.offset, int):
                return Known((left.offset - right.offset) // size)
            granule = self.facts.finer(left.object, size)
            cells = [
                Known(each.offset // granule) if isinstance(each.offset, int) else Unknown(each.offset)
                for each in (left, right)
            ]
            distance = arithmetic.binary("-", cells[0], cells[1], Integer(LONG))
            return arithmetic.binary("/", distance, Known(max(1, size // granule)), Integer(LONG))
        raise Problem(Wrong.POINTER, "the difference of pointers into different objects", "subtract indices instead")

    def alike(self, left: Value, right: Value) -> tuple[Value, Value]:
        """Two operands; of pointers into one object of which one is known and one is not, the known one is in cells,
        too."""
        if not (isinstance(left, Address) and isinstance(right, Address) and left.place == right.place):
            return left, right
        if isinstance(left.offset, int) == isinstance(right.offset, int):
            return left, right
        first, second = (
            replace(
                each, offset=Const(each.offset // self.facts.finer(each.object, each.offset)), steps=(each.offset, 0)
            )
            if isinstance(each.offset, int)
            else each
            for each in (left, right)
        )
        return first, second

    def followed(self, pointer: Value, what: str) -> Address | None:
        """``pointer`` where it is followed; None when that has no meaning (a null pointer), so that a run faults."""
        if isinstance(pointer, Address):
            pointer = self._in_its_row(pointer)
            if self.position.whose(pointer) is None:
                return pointer
            if self.position.rank.is_symbol:
                raise NumberNeeded(f"whose memory is {what} through a pointer here differs between ranks")
            self.position.rests_on_memory("a pointer")
            if not pointer.mapped or not self.position.rank.each(
                lambda rank: pointer.owner in self.world.neighbours(rank)
            ):
                say = ", or, where the ranks share memory, say so: `--shared-memory all`" if pointer.mapped else ""
                raise Problem(
                    Wrong.ELSEWHERE,
                    f"memory of rank {pointer.owner} is {what} through a pointer by rank {self.position.rank.number}",
                    f"use a put or get of the API{say}",
                )
            return pointer
        if isinstance(pointer, Known | Undefined):
            return None
        if leaves_of(pointer):
            raise Beyond(f"memory is {what} through a pointer that is an unknown value")
        raise Problem(
            "PG143", "a pointer is followed, and it is not known where it points", "use an index into one array"
        )

    def _in_its_row(self, pointer: Address) -> Address:
        """``pointer`` as one into the memory of the rank in whose part it points, where these lie in a row."""
        row, rank = self.facts.rows.get(pointer.object, ()), self.position.rank
        if not row or rank.is_symbol or not isinstance(pointer.offset, int):
            return pointer
        owner = rank.number if pointer.owner is None else pointer.owner
        at = sum(begin + pointer.offset for other, begin, _ in row if other == owner)
        for other, begin, bytes in row:
            if begin <= at < begin + bytes:
                return replace(pointer, offset=at - begin, owner=None if other == rank.number else other)
        return pointer

    def cell(self, address: Address, size: int, at_once: bool = True) -> Expr:
        """The address in the calculus of the scalar at ``address``, which lies in a cell from now on. ``at_once``: in
        one, whatever else is accessed there."""
        self.objects.object(address.object)
        id, cells = address.object, self.world.cells
        if isinstance(address.offset, int):
            if not self.objects.within(address, size):
                return self.world.nowhere(self.objects.outside(address, size))
            facts = self.facts.objects[id]
            if facts.pieces is None:
                self.facts.share(id, address.offset, size)
            if facts.pieces is None and facts.shared.get(address.offset) != size:
                self.facts.split(id)
            if facts.pieces is not None and at_once:
                self._keep_whole(address, size)
            return self.placed(address, size)
        self.facts.share_each(id, self.offsets(address, size), size)
        if at_once and self.facts.objects[id].pieces is not None and self.facts.objects[id].granule != size:
            self._keep_whole(replace(address, offset=self.offsets(address, size)[0]), size)
        if id not in cells.granule:
            return Symbol(self.facts.objects[id].name, cells.new(id, None))
        name, base, count = self.facts.objects[id].name, cells.base[id], self.cells_of(id)
        inside = Binary("&&", Binary(">=", address.offset, Const(0), LONG),
                        Binary("<", address.offset, count, LONG))  # fmt: skip
        outside = self.world.nowhere(f"an index is outside of {self.objects.sized(address)}")
        return Conditional(inside, Binary("+", Symbol(name, base), address.offset, LONG), outside)

    def _keep_whole(self, address: Address, size: int) -> None:
        """A call accesses all ``size`` bytes at ``address``, in an object that lies in pieces, at once."""
        assert isinstance(address.offset, int)
        facts = self.facts.objects[address.object]
        if not facts.dense and facts.pieces is not None:
            self.facts.learn(facts.pieces.keep_whole(address.offset, size))
        elif self.facts.finer(address.object, address.offset, size) != size:
            raise Problem(
                "PG142",
                f"a call accesses {size} bytes of `{facts.name}` at once, which has cells of {facts.granule}",
                "use one type for what an index that is not known may name",
            )

    def cells_of(self, id: ObjectId) -> Expr:
        """How many cells a dense object has."""
        object, granule = self.facts.objects[id], self.world.cells.granule[id]
        if object.grows is None:
            return Const(self.objects.size(Address(id, 0)) // granule)
        each, more = (bytes // granule for bytes in object.grows)
        return folded(Binary("+", folded(Binary("*", Nodes(), Const(each), LONG)), Const(more), LONG))

    def placed(self, address: Address, size: int) -> Symbol:
        """The cell at ``address``, which is known to be one; it may not be laid out before the next run."""
        assert isinstance(address.offset, int)
        key = address.object, address.offset, size
        symbols = self.world.cells.symbols
        found = symbols.get(key)
        if found is None:
            found = symbols[key] = self._symbol(*key)
        return found

    def _symbol(self, id: ObjectId, offset: int, size: int) -> Symbol:
        """The cell of the scalar of ``size`` bytes at ``offset`` in an object, by its name."""
        cells = self.world.cells
        place = cells.cells.get((id, offset))
        if place is None and id in cells.granule:
            place = cells.base[id] + offset // cells.granule[id]
        object = self.facts.objects[id]
        if place is None and object.hidden:
            place = cells.add(id)
        name = part_name(object.name, object.type, offset, size) if object.size > size else object.name
        return Symbol(name, cells.new(id, offset) if place is None else place)

    def piece_at(self, address: Address, most: int) -> tuple[int, int]:
        """How many bytes of a cell there are from ``address``, which is known, to its end, 0 if none does; and how far
        it is to that, or to the next cell, ``most`` at most."""
        facts, start = self.facts.objects[address.object], address.offset
        assert isinstance(start, int)
        if facts.dense:
            granule = max(1, facts.granule)
            rest = granule - start % granule
            return rest, min(rest, most)
        begin = facts.covered.get(start)
        if begin is not None:
            rest = begin + self.facts.size_at(address.object, begin) - start
            return rest, min(rest, most)
        return 0, next((each for each in range(1, min(most, LARGEST_SCALAR)) if start + each in facts.covered),
                       min(most, LARGEST_SCALAR))  # fmt: skip

    def pair(self, first: Address, second: Address, bytes: int) -> None:
        """``bytes`` bytes are moved between two places that are known: where both lie in pieces, these have the same
        borders."""
        regions = [each for each in (first, second) if self.facts.objects[each.object].pieces is not None]
        known, found = set[int](), {0, bytes}
        while known != found:
            stop_point()
            known = found
            self._same_whole(regions, bytes)
            for each in regions:
                facts, start = self.facts.objects[each.object], each.offset
                assert facts.pieces is not None and isinstance(start, int)
                for border in sorted(found) if not facts.dense else ():
                    self.facts.learn(facts.pieces.cut(start + border))
            found = found | {place for each in regions for place in self._borders(each, bytes)}

    def _same_whole(self, regions: Sequence[Address], bytes: int) -> None:
        """What calls access at once in one of ``regions`` is moved at once, and so is one scalar in the other, too."""
        if len(regions) < 2 or any(self.facts.objects[each.object].dense for each in regions):
            return
        for here, there in (regions, reversed(regions)):
            pieces, others = (self.facts.objects[each.object].pieces for each in (here, there))
            assert pieces is not None and others is not None
            assert isinstance(here.offset, int) and isinstance(there.offset, int)
            for begin, size in pieces.whole_within(here.offset, here.offset + bytes):
                self.facts.learn(others.keep_whole(begin - here.offset + there.offset, size))

    def _borders(self, address: Address, bytes: int) -> set[int]:
        """Where pieces begin among ``bytes`` bytes from ``address`` on, but the parts of a run, which the other end has
        by itself."""
        start, pieces = address.offset, self.facts.objects[address.object].pieces
        assert isinstance(start, int)
        found = (begin for begin in self.pieces(address, bytes) if start < begin < start + bytes)
        return {begin - start for begin in found if pieces is None or not pieces.is_in_run(begin)}

    def pieces(self, address: Address, bytes: int) -> dict[int, int]:
        """The scalars that lie in cells among ``bytes`` bytes from ``address``, which is known: offset -> size."""
        assert isinstance(address.offset, int)
        start, end = address.offset, address.offset + bytes
        facts = self.facts.objects[address.object]
        if facts.dense and facts.pieces is not None:
            granule = self.facts.finer(address.object, address.offset, bytes)
            self.facts.few(address.object, range(start, end, granule))
            return dict.fromkeys(range(start, end, granule), granule)
        if facts.dense:
            offsets = range(start, end, max(1, facts.granule))
            self.facts.few(address.object, offsets)
            for offset in offsets:
                if offset not in facts.covered:
                    self.facts.share(address.object, offset, min(facts.granule, end - offset))
        found = facts.overlapping(facts.filler, start, end) | facts.overlapping(facts.shared, start, end)
        return dict(sorted(found.items()))
