"""What the ranks of a case do, for the fixpoint: which cells of which names their commands access.

A cell is a pair of a name and an address. Those of the rest have two: one for what a rank of the rest accesses in its
own memory, where no other rank of the rest accesses the same cell in this way, and one for all other accesses. Where
memory grows with the number of nodes, an element as it is named by an access (`memory.Element`) takes the place of an
address; two of these may be the same cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pgasrob.analysis.touched import Planes, Touched, touching
from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.core import Place
from pgasrob.program.walks import is_read
from pgasrob.robustness.every_n.again import Again
from pgasrob.robustness.every_n.known import Known
from pgasrob.robustness.every_n.linear import NODES, Linear, Value, number
from pgasrob.robustness.every_n.memory import Element
from pgasrob.robustness.every_n.rank_cases import Case, Name
from pgasrob.robustness.every_n.symbolic_values import constant
from pgasrob.robustness.reduction.abstract_commands import Access, Command, Commands, known_operands


@dataclass(frozen=True)
class Rules:
    """What completion rules ask of a program (:class:`~pgasrob.analysis.placement.Completion`)."""

    notifies_everywhere: bool
    signals: bool
    unordered: frozenset[int]

    def is_unordered(self, queue: int) -> bool:
        return queue in self.unordered


def rules_of(automata: Iterable[ControlAutomaton], unordered: Iterable[int]) -> Rules:
    """The completion rules of a program with these control automata and queues."""
    forms = [each.form for automaton in automata for each in automaton.transitions]
    transfers = [form for form in forms if isinstance(form, core.Transfer)]
    return Rules(
        any(transfer.everywhere for transfer in transfers),
        any(step.after_bundle for transfer in transfers for step in transfer.steps),
        frozenset(unordered),
    )


class Target(NamedTuple):
    """The ranks that an operand may be.

    ``names``: by number. ``form``: the one that it is, if it is always the same of a rank. ``own``: the rank
    itself. ``single``: it is the only rank of the only name.
    """

    names: tuple[int, ...]
    form: Linear | None = None
    own: bool = False
    single: bool = False


class Ranks:
    """The ranks of a case with the values of their operands: what they access, command by command."""

    def __init__(self, case: Case, flow: Known, kinds: tuple[str, ...], rules: Rules, polls_wait: bool) -> None:
        self.names, self.flow, self.rules, self.polls_wait = case.names, flow, rules, polls_wait
        self.rest = [number for number, name in enumerate(case.names) if name.rest]
        self._domain = case.names[0].domain
        self._elements = {each: place for place, each in enumerate(self._elements_named(), flow.layout.cells)}
        self._may_be_one: dict[tuple[Element, bool], int] = {}
        self.slots = [*range(flow.layout.cells), *(each.slot for each in self._elements)]
        """Of the cells of a name, by number."""
        self.size = len(self.slots)
        self.planes = Planes((len(self.names) + len(self.rest)) * self.size, kinds)
        self._keys: dict[Linear, int] = {}
        self._waited_for = 0  # cells
        self._again: dict[int, Again] = {}
        self._targets: dict[tuple[int, Value], Target] = {}

    def commands(self) -> Commands:
        """The commands of all ranks, as the fixpoint takes them."""
        of = [
            [
                [self._command(rank, state, transition) for transition in leaving]
                for state, leaving in enumerate(ranks.automaton.out)
            ]
            for rank, ranks in enumerate(self.flow.ranks)
        ]
        kinds = tuple((kind, self._waited_for) for kind in self.planes.kinds) if self._waited_for else ()
        waited_for = self.planes.bits(Touched(updated=kinds))
        return Commands(of, self.rules, self.planes.cells, len(self.planes.kinds), waited_for, frozenset(self.rest))

    def _command(self, rank: int, state: int, transition: Transition) -> Command:
        form, flow = transition.form, self.flow
        if not flow.possible(rank, state, transition):
            return Command(transition.target, None, (), None, possible=False)
        accesses = core.accesses_of(form)
        made = [
            self._access(rank, state, access, reads)
            for access, reads in zip(accesses, core.observed(form), strict=True)
        ]
        if isinstance(form, core.Immediate) and (form.condition is not None or (self.polls_wait and is_read(form))):
            self._waited_for |= self.cells(rank, state, form.access.cell)[1]
        steps = core.steps_of(form)
        named = core.target(form)
        target = None if named is None else self._target(rank, flow.operand(rank, state, named))
        key = self._key(target) if target is not None else 0
        located = [self._location(rank, state, step.access.cell, key) for step in steps]
        queues = [flow.operand(rank, state, expr) for role, expr in core.expressions(form) if role is core.Role.QUEUE]
        operands = known_operands(form, constant(queues[0]) if queues and queues[0] else None, key, located)
        first = len(accesses) - len(steps)
        apart = frozenset[int]()
        if steps and not self.names[rank].rest:
            if rank not in self._again:
                self._again[rank] = Again(flow, rank)
            apart = self._again[rank].apart(transition.occurrence)
        return Command(
            transition.target, made[0] if first else None, tuple(made[first:]), operands, True, transition.occurrence,
            apart,
        )  # fmt: skip

    # Operands

    def _key(self, target: Target) -> int | None:
        """A number for the rank, the same for every operand that names the rank in this way."""
        return None if target.form is None else self._keys.setdefault(target.form, len(self._keys))

    def _location(self, rank: int, state: int, place: Place, key: int | None) -> int | None:
        """A number for the cell, the same for every operand that names the cell in this way."""
        numbered, elements = self._cells(rank, state, place)
        if key is None or place.rank is None or elements or len(numbered) != 1:
            return None
        return key * self.size + numbered[0]

    def _target(self, rank: int, value: Value | None) -> Target:
        """The ranks that an operand of a rank may be."""
        if value is None:
            return Target(())
        if (rank, value) not in self._targets:
            self._targets[rank, value] = self._target_of(rank, value)
        return self._targets[rank, value]

    def _target_of(self, rank: int, value: Value) -> Target:
        name, (low, high) = self.names[rank], value
        if low == high:
            return self._exactly(rank, name, low)
        low, high = name.domain.without_rank(value) if name.rest else value
        return Target(tuple(number for number, other in enumerate(self.names) if self._may_lie(other, low, high)))

    def _exactly(self, rank: int, name: Name, form: Linear) -> Target:
        if form == name.me:
            return Target((rank,), form, own=True, single=not name.rest)
        about_rest = name.rest and form.x
        if not about_rest:  # over the domain of those that are named
            for number_, other in enumerate(self.names):
                if not other.rest and other.me == form:
                    return Target((number_,), form, single=True)
        low, high = name.domain.without_rank((form, form)) if about_rest else (form, form)
        found = [
            number_
            for number_, other in enumerate(self.names)
            if self._may_lie(other, low, high)
            and (
                name.domain.remainder(form, name.domain.modulus) in (other.domain.x, None)
                if other.rest
                else (
                    self._may_come_from_rest(name, form, other.me)
                    if about_rest
                    else not self._domain.differ(form, other.me)
                )
            )
        ]
        return Target(tuple(found), form)

    def _may_lie(self, name: Name, low: Linear, high: Linear) -> bool:
        """Whether a rank of ``name`` may lie between two bounds, over the domain of those that are named."""
        ends = (number(name.domain.low), NODES.shifted(-1 - name.domain.high)) if name.rest else (name.me, name.me)
        domain = self._domain
        return domain.range(ends[1].minus(low))[1] >= 0 and domain.range(high.minus(ends[0]))[1] >= 0

    def _may_come_from_rest(self, rest: Name, form: Linear, other: Linear) -> bool:
        """Whether some rank of the ``rest`` may be such that ``form`` is ``other``, one over those that are named."""
        # form = a x + n N + c, so x = (other - n N - c) / a
        origin = other.minus(form._replace(x=0)).over(form.x)
        if any(origin == each.me for each in self.names if not each.rest):
            return False
        remainder = self._domain.remainder(origin, self._domain.modulus)
        return self._may_lie(rest, origin, origin) and remainder in (rest.domain.x, None)

    # Accesses

    def _access(self, rank: int, state: int, access: core.Access[Place], reads: bool) -> Access:
        place = access.cell
        target = self.place(rank, state, place)
        numbered, elements = self._cells(rank, state, place)
        own = target.own and self.names[rank].rest and not access.commutes
        if access.commutes:  # whoever updates a cell has one access to it
            elements = [self.flow.layout.whole(each.slot) for each in elements]
        here = self._here(numbered, elements, apart=True)
        made, against = self._made(rank, target, *here, own)

        def touched(cells: int) -> Touched:
            return touching(cells, reads, access.writes, access.commutes)

        certain = target.single and len(numbered) == 1 and not elements
        return Access(self.planes.bits(touched(made)), self.planes.against(touched(against)), certain)

    def place(self, rank: int, state: int, place: Place) -> Target:
        """The ranks whose memory a command before ``state`` may access."""
        if place.rank is None:
            return Target((rank,), self.names[rank].me, own=True, single=not self.names[rank].rest)
        return self._target(rank, self.flow.operand(rank, state, place.rank))

    def _cells(self, rank: int, state: int, place: Place) -> tuple[Sequence[int], list[Element]]:
        """The numbered cells that an access may be to, and the elements of growing objects."""
        layout, name = self.flow.layout, self.names[rank]
        address = self.flow.operand(rank, state, place.address)
        return layout.numbered(name.domain, address), [
            Element(slot, low, high, rank if name.rest and (low.x or high.x) else None)
            for slot, (low, high) in layout.elements(name.domain, address)
        ]

    def _elements_named(self) -> dict[Element, None]:
        """The elements of growing objects that some access names."""
        found: dict[Element, None] = {}
        for rank, ranks in enumerate(self.flow.ranks if self.flow.layout.growing else ()):
            for state, leaving in enumerate(ranks.automaton.out):
                for transition in leaving:
                    for access in core.accesses_of(transition.form):
                        found.update(dict.fromkeys(self._cells(rank, state, access.cell)[1]))
        found.update(dict.fromkeys(self.flow.layout.whole(each.slot) for each in [*found]))
        return found

    def _here(self, numbered: Sequence[int], elements: Iterable[Element], apart: bool) -> tuple[int, int]:
        """The cells of one name that an access is to, and those of accesses that may conflict with it: of other ranks
        alone, if it is ``apart``."""
        made = against = sum(1 << address for address in numbered)
        for element in elements:
            made |= 1 << self._elements[element]
            against |= self._in_conflict_with(element, apart)
        return made, against

    def _in_conflict_with(self, element: Element, apart: bool) -> int:
        """The elements that may be the same cell."""
        key = element, apart
        if key not in self._may_be_one:
            self._may_be_one[key] = sum(
                1 << place for other, place in self._elements.items() if self._may_be(element, other, apart)
            )
        return self._may_be_one[key]

    def _may_be(self, one: Element, other: Element, apart: bool) -> bool:
        """Whether two elements may be the same cell; ``apart``: by two ranks."""
        if one.slot != other.slot:
            return False
        if one.rest is None and other.rest is not None:
            one, other = other, one
        exact = one.exact and other.exact
        if one.rest is None:
            if exact and self._domain.differ(one.low, other.low):
                return False
        elif other.rest is None:
            if exact and not self._may_come_from_rest(self.names[one.rest], one.low, other.low):
                return False
        elif exact:
            # a x + n N + c of one rank, a y + n N + d of another: then a (x - y) is d - c
            alike, by = one.low[:2] == other.low[:2], other.low.c - one.low.c
            if alike and ((by == 0 and (apart or one.rest != other.rest)) or by % one.low.x):
                return False
        (low, high), (least, most) = (
            each[1:3] if each.rest is None else self.names[each.rest].domain.without_rank((each.low, each.high))
            for each in (one, other)
        )
        return self._domain.range(most.minus(low))[1] >= 0 and self._domain.range(high.minus(least))[1] >= 0

    def _made(self, rank: int, target: Target, here: int, there: int, own: bool) -> tuple[int, int]:
        """The cells that an access to ``here`` may be to, and those of other accesses that may conflict with it, by the
        cells of one name that do."""
        if own:
            return here << self._own(rank), there << rank * self.size
        made = against = 0
        for name in target.names:
            made |= here << name * self.size
            against |= there << name * self.size
            if self.names[name].rest:
                against |= there << self._own(name)
        return made, against

    def _own(self, rank: int) -> int:
        """The number from which on cells are those that ranks of the rest access in their own memory."""
        return (len(self.names) + self.rest.index(rank)) * self.size

    def cells(self, rank: int, state: int, place: Place) -> tuple[int, int]:
        """The cells that an access may be to, and the cells of accesses that may conflict with it, those of its own
        rank among them."""
        here = self._here(*self._cells(rank, state, place), apart=False)
        return self._made(rank, self.place(rank, state, place), *here, own=False)

    def located(self, rank: int, state: int, place: Place) -> tuple[int, bool]:
        """The cells of accesses that may conflict with an access, and whether it is to a single cell of a single
        rank."""
        numbered, elements = self._cells(rank, state, place)
        single = self.place(rank, state, place).single and len(numbered) == 1 and not elements
        return self.cells(rank, state, place)[1], single
