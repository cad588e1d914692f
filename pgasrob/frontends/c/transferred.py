"""The cells that transfers move: pairs of those in two regions, of one size each."""

from __future__ import annotations

from math import gcd

from pgasrob.frontends.c.extended import LARGEST_SCALAR
from pgasrob.frontends.c.facts import LARGEST_CELL
from pgasrob.frontends.c.issuing import Issuer
from pgasrob.frontends.c.pointers import Pointers
from pgasrob.frontends.c.problem import Problem
from pgasrob.frontends.c.registers import Registers
from pgasrob.frontends.c.values import Address, Known, Unknown
from pgasrob.program.expressions import Const, Expr, Register

MOST_ELEMENTS = 4096
"""Of one transfer."""
LONG_TRANSFER = 256
"""Elements of a transfer, beyond which it is a loop over them."""
MOST_BETWEEN = 16
"""Cells of a transfer in which no scalar is known, beyond which it is in pieces: as many as are needed."""
Pairs = list[tuple[Expr, Expr]]


class Transferred:
    """The cells of the transfers of one rank."""

    def __init__(self, registers: Registers, issuer: Issuer, pointers: Pointers) -> None:
        self.position = pointers.position
        self.registers = registers
        self.issuer = issuer
        self.pointers = pointers
        self.objects = pointers.objects
        self.facts = pointers.facts
        self.world = pointers.world

    def paired(self, first: Address, second: Address, bytes: int, element: int | None) -> Pairs:
        """The pairs of cells that a transfer of ``bytes`` bytes between two regions copies to each other, by address.
        ``element``: the size of the elements, if the call says it."""
        for address in (first, second):
            self.objects.object(address.object)
        if bytes <= 0:
            return []
        if element is not None and bytes % element:
            raise Problem("PG142", f"{bytes} bytes are no whole number of elements of {element}", "transfer elements")
        if any(self.facts.objects[each.object].pieces is not None for each in (first, second)):
            return self._of_pieces(first, second, bytes)
        if element is None and isinstance(first.offset, int) and isinstance(second.offset, int):
            return self._of_scalars(first, second, bytes)
        if element is None:
            element = gcd(bytes, LARGEST_CELL)
            for address in (first, second):
                element = gcd(element, self.facts.objects[address.object].granule)
        return self._of_elements(first, second, bytes, element)

    def _moved(self, address: Address, bytes: int) -> Address:
        moved = self.pointers.offset(address, Known(bytes), 1)
        assert isinstance(moved, Address)
        return moved

    def _of_elements(self, first: Address, second: Address, bytes: int, element: int) -> Pairs:
        """The cells of elements that have one size."""
        self._check_length(bytes // element)
        return [
            (self.pointers.cell(self._moved(first, place), element, at_once=False),
             self.pointers.cell(self._moved(second, place), element, at_once=False))
            for place in range(0, bytes, element)
        ]  # fmt: skip

    def _of_pieces(self, first: Address, second: Address, bytes: int) -> Pairs:
        """The cells of regions one of which lies in pieces: both do from now on, with the same borders."""
        regions = first, second
        for each in regions:
            if isinstance(each.offset, int) and not self.objects.within(each, bytes):
                nowhere = self.world.nowhere(self.objects.outside(each, bytes))
                return [(nowhere, nowhere)]
            self.facts.split(each.object)
        if any(self.facts.objects[each.object].dense for each in regions):
            return self._of_granules(first, second, bytes)
        for each in regions:
            self._move(each, bytes)
        self.pointers.pair(first, second, bytes)
        ours, theirs = ([*self.pointers.pieces(each, bytes).items()] for each in regions)
        self._check_length(len(ours))
        assert isinstance(first.offset, int) and isinstance(second.offset, int)
        shift = second.offset - first.offset
        there = [(offset + shift, size) for offset, size in ours]
        if there != theirs or ours[0][0] != first.offset or sum(size for _, size in ours) != bytes:
            raise self._torn(first, second, bytes)
        return [
            (self.pointers.placed(Address(first.object, offset, first.owner), size),
             self.pointers.placed(Address(second.object, offset + shift, second.owner), size))
            for offset, size in ours
        ]  # fmt: skip

    def _of_granules(self, first: Address, second: Address, bytes: int) -> Pairs:
        """The cells of regions in pieces, in one of which an index that is not known may name any."""
        regions, granule = (first, second), gcd(bytes, LARGEST_CELL)
        for each in (*regions, *regions):
            if isinstance(each.offset, int):
                granule = gcd(granule, each.offset)
            if self.facts.objects[each.object].dense:
                at = (each.offset,) if isinstance(each.offset, int) else each.steps
                granule = self.facts.finer(each.object, granule, *at)
        for each in regions:
            if isinstance(each.offset, int) and not self.facts.objects[each.object].dense:
                for place in range(0, bytes, granule):
                    self._move(self._moved(each, place), granule)
                if any(size != granule for size in self.pointers.pieces(each, bytes).values()):
                    raise self._torn(first, second, bytes)
        return self._of_elements(first, second, bytes, granule)

    def _move(self, address: Address, bytes: int) -> None:
        facts = self.facts.objects[address.object]
        assert facts.pieces is not None and isinstance(address.offset, int)
        self.facts.learn(facts.pieces.move(address.offset, bytes))

    def _torn(self, first: Address, second: Address, bytes: int) -> Problem:
        names = " or ".join(dict.fromkeys(f"`{self.facts.objects[each.object].name}`" for each in (first, second)))
        return Problem(
            "PG142",
            f"a transfer of {bytes} bytes covers a part of a variable in {names} that another call accesses as a whole",
            "transfer whole variables where calls are atomic, wait, or take a value",
            self.position.span,
        )

    def _of_scalars(self, first: Address, second: Address, bytes: int) -> Pairs:
        """Scalar by scalar where loads, stores or typed transfers name them, the rest in pieces that are large."""
        facts = self.facts
        named: set[tuple[int, int]] = set()
        granule = gcd(bytes, LARGEST_CELL)
        for address in (first, second):
            assert isinstance(address.offset, int)
            object = facts.objects[address.object]
            if not self.objects.within(address, bytes):
                nowhere = self.world.nowhere(self.objects.outside(address, bytes))
                return [(nowhere, nowhere)]
            granule = gcd(granule, address.offset, object.granule)
            start, end = address.offset, address.offset + bytes
            accessed = object.accesses.sizes(start - LARGEST_SCALAR, end)
            for offset, size in sorted({**accessed, **object.overlapping(object.shared, start, end)}.items()):
                place = offset - start
                if -size < place < bytes:
                    if place < 0 or place + size > bytes:
                        return self._of_pieces(first, second, bytes)
                    named.add((place, size))
                    granule = gcd(granule, place, size)
        scalars: dict[int, int] = {}
        end = 0
        for place, size in sorted(named, key=lambda each: (each[0], -each[1])):
            # What lies in a larger one is a part of it.
            if place >= end:
                scalars[place], end = size, place + size
            elif place + size > end:
                return self._of_pieces(first, second, bytes)
        between = (bytes - sum(scalars.values())) // granule
        if between > MOST_BETWEEN:
            return [] if facts.look_again(first.object, second.object) else self._of_pieces(first, second, bytes)
        self._check_length(len(scalars) + between)
        pairs, place = [], 0
        while place < bytes:
            size = scalars.get(place) or granule
            cells = []
            for address in (first, second):
                at = self._moved(address, place)
                assert isinstance(at.offset, int)
                if place in scalars:
                    cells.append(self.pointers.cell(at, size, at_once=False))
                else:
                    facts.finer(at.object, granule)
                    facts.share_filler(at.object, at.offset, size)
                    cells.append(self._filler_cell(at, size))
            pairs.append((cells[0], cells[1]))
            place += size
        named_by = self.world.cells.named_by
        for pair in pairs:
            self.issuer.look_for_mixing([each for cell in pair for each in named_by(cell)])
        return pairs

    def _filler_cell(self, address: Address, size: int) -> Expr:
        assert isinstance(address.offset, int)
        if self.facts.objects[address.object].filler.get(address.offset) == size:
            return self.pointers.placed(address, size)
        return self.pointers.cell(address, size, at_once=False)

    def walked(
        self, first: Address, second: Address, bytes: int, element: int | None
    ) -> tuple[Register, int, Expr, Expr] | None:
        """The cells of a long transfer, for a loop: a register, the number of elements, and the two cells of the one
        that the register counts. None where they have to be named one by one."""
        facts = self.facts
        if bytes // (element or LARGEST_CELL) <= LONG_TRANSFER:
            return None
        for address in (first, second):
            if not isinstance(address.offset, int) or not self.objects.within(address, bytes):
                return None
            if facts.objects[address.object].pieces is not None:
                return None
        sizes = {size for address in (first, second) for size in facts.sizes(address.object)} | ({element} - {None})
        if not sizes:
            if facts.look_again(first.object, second.object):
                return self.registers.keep("element"), 0, Const(0), Const(0)
            sizes = {
                gcd(bytes, LARGEST_CELL, *(each.offset for each in (first, second) if isinstance(each.offset, int)))
            }
        size = sizes.pop() or 1
        if sizes or any(each % size for each in (bytes, first.offset, second.offset) if isinstance(each, int)):
            return None
        register = self.registers.keep("element")
        cells = []
        for address in (first, second):
            place = self.pointers.offset(address, Unknown(register), size)
            assert isinstance(place, Address)
            cells.append(self.pointers.cell(place, size))
        return register, bytes // size, cells[0], cells[1]

    def _check_length(self, elements: int) -> None:
        if elements > MOST_ELEMENTS:
            raise Problem(
                "PG141",
                f"a transfer of {elements:,} elements",
                f"at most {MOST_ELEMENTS:,} are supported, and few are enough to show a mistake; verify a smaller case",
                self.position.span,
            )
