"""What lowering has found out about a program, on all ranks: which scalars lie in cells, how objects are laid out,
which variables are generalised. Facts only grow; a pass over all ranks that adds none is the last one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import gcd
from typing import Literal

from pgasrob.frontends.c.contents import Contents
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.moved import Folding, Moved
from pgasrob.frontends.c.parts import part_name, pointed_name, pointed_to, scalar_at
from pgasrob.frontends.c.pieces import Pieces
from pgasrob.frontends.c.problem import Problem
from pgasrob.frontends.c.scalars_named import Accesses, CellSet
from pgasrob.frontends.c.symbolic import Extent, NumberNeeded
from pgasrob.frontends.c.thread_facts import ThreadFacts
from pgasrob.frontends.c.together import COUNTED, LATEST
from pgasrob.frontends.c.types import Array, CType, Pointer
from pgasrob.frontends.c.values import Address, ObjectId, Value, addresses_of
from pgasrob.program.declaration_rules import MAX_CELLS
from pgasrob.program.expressions import Expr
from pgasrob.program.statements import NOWHERE, Span
from pgasrob.stop_points import stop_point

MOST_ASKED = 16
"""So many conditions a cell, or a collective, is asked; what more depends on it goes either way."""
KeepsLoops = Literal["soon", "late", "never"]
LARGEST_OBJECT = 1 << 62
"""Bytes: more than any machine gives, and offsets in it are counted by Python's ranges."""
LARGEST_CELL = 8
"""Bytes: cells hold values of at most 64 bits."""


@dataclass(slots=True)
class ObjectFacts:
    """One object of the program: an :class:`ObjectId`, the same on every rank."""

    name: str
    size: int
    type: CType | None
    initial: Contents
    span: Span = NOWHERE
    shared: dict[int, int] = field(default_factory=dict)
    """The scalars (offset -> size) that something but loads and stores of their own rank names: each has a cell."""
    filler: dict[int, int] = field(default_factory=dict)
    """Pieces of transfers in which no load or store has named a scalar."""
    dense: bool = False
    """Whether it is indexed by what is not known, so that all of it lies in cells of ``granule`` bytes."""
    granule: int = 0
    accesses: Accesses = field(default_factory=Accesses)
    """What loads and stores have named."""
    mixed: bool = False
    """Whether cells may hold values of other types than these, or parts of values."""
    lent: bool = False
    """Whether operations read or write it here after they have been issued."""
    reached: bool = False
    """Whether commands that name a rank write it."""
    given_back: bool = False
    """Whether its life ends before the program does."""
    hidden: bool = False
    """Whether it is a cell of an API, which no pointer of the program leads to: what else is true of it changes nothing
    but its commands."""
    of_main: bool = False
    """Whether it is a variable of main, which has returned."""
    each: int = 0
    """How many bytes it has for each rank, where the number of ranks is a symbol; ``size`` is 0 then."""
    restless: set[int] = field(default_factory=set)
    """The shared scalars that something but stores of known values by their own rank may change."""
    all_restless: bool = False
    indexed: set[tuple[Sequence[int], CType | int]] = field(default_factory=set)
    """The offsets that an unknown index may have reached, with the types or sizes that were accessed there."""
    declared: dict[Sequence[int], frozenset[CType | None]] = field(default_factory=dict)
    """The types of the declaration at such offsets."""
    covered: dict[int, int] = field(default_factory=dict)
    """For each byte in a cell, where the shared scalar or filler around it begins."""
    floats: set[int] = field(default_factory=set)
    """Where cells begin that have floats only because transfers move them there, or from there."""
    pieces: Pieces | None = None
    """What is known of its accesses, where it lies in pieces (:mod:`~pgasrob.frontends.c.pieces`)."""
    pointers: dict[str, CType] = field(default_factory=dict)
    """The variables that point to all of it, and to what, where the program has no name for it."""
    seen_as: tuple[str, CType | None] | None = None
    """What it is called otherwise, and the type of memory that it is shown as."""
    grows: Extent | None = None
    """Its size, where that depends on the number of nodes. It is dense then, and offsets and ``size`` are those of one
    period: what is said of a place holds for all places at that distance."""

    @property
    def is_gone(self) -> bool:
        """Whether what it holds at the end is no result. Variables of main that others write are one: small programs
        have windows of MPI in them, and end where a larger one would go on."""
        return self.given_back or (self.of_main and not self.reached)

    @property
    def in_cells(self) -> bool:
        return self.dense or bool(self.shared or self.filler)

    def is_only_moved(self, offset: int) -> bool:
        """Whether no load or store, and no call that needs it whole, has the cell at ``offset``."""
        if self.pieces is None:
            return offset in self.filler
        return offset not in self.pieces.named and offset not in self.pieces.whole

    def overlapping(self, pieces: dict[int, int], start: int, end: int) -> dict[int, int]:
        """Those of ``pieces``, which are `shared` or `filler`, of which a byte lies from ``start`` to ``end``."""
        if end - start < len(pieces):
            begins = (self.covered.get(place) for place in range(start, end))
            return {offset: pieces[offset] for offset in begins if offset in pieces}
        return {offset: size for offset, size in pieces.items() if offset < end and offset + size > start}


class Facts:
    """All facts. ``version`` counts the changes that make another pass necessary.

    ``unknowns``: whether there are unknown values. ``uncertain``: the cells that may hold one. ``decisive``: the cells
    and the variables in which a value was given up as unknown and then decided something; from then on what goes there
    is chosen, as far as there are few values to choose from. ``asked``: by object and offset, the conditions that ranks
    branch by on what cells hold, in order; ``lost``: the cells of which the answers are not known all the same;
    ``guessed``: the cells of which the answers may be those of no run; ``asks``: how many a cell is asked at most;
    ``together``: whether ranks branch by several values that collectives have brought; ``questions``: what these are
    asked, by group and number (:mod:`~pgasrob.frontends.c.together`); ``sites``: the places of the program at which
    values are loaded by which ranks branch later (:class:`~pgasrob.frontends.c.asked.Questions`). ``free_ways``:
    whether a rank goes ways that are free (:class:`~pgasrob.program.commands.Guess`), ``goes_free``: whether one does
    in this pass, ``lacks_number``: by a condition that also looks at what is known on other ranks. ``moved``: the
    numbers that collectives move. ``keeps_loops``: when long loops are kept as loops; ``loops_kept``: whether there
    are any; ``shortened``: since a pass before. ``rank``: the first variable that a rank keeps its number in.
    ``elsewhere``: the pointers that have pointed to memory of other ranks. ``merged_unset``: the objects for which
    states that differ only in what has been set are merged, for there would be too many states. ``units``: how many
    parts of what is only moved stand for all of it, however long it is. ``rows``: the objects of which the parts of
    ranks lie one behind the other, as ranks with the bytes before and in their part. ``threads``: what is known of
    the threads of ranks.
    """

    def __init__(self, keeps_loops: KeepsLoops = "late", folding: Folding = 0, units: int = MAX_CELLS) -> None:
        self.keeps_loops = keeps_loops
        self.units = units
        self.moved = Moved(folding)
        self.loops_kept = self.shortened = False
        self.objects: dict[ObjectId, ObjectFacts] = {}
        self.generalised: set[Hashable] = set()
        self.left_unknown: set[tuple[str, int]] = set()
        self.published: dict[str, dict[int, Hashable]] = {}
        self.noted: dict[tuple[int, str], set[int]] = {}
        self.noted_by: dict[tuple[int, str], set[int]] = {}
        self.unknowns = False
        self.uncertain = CellSet()
        self.decisive_cells = CellSet()
        self.decisive_variables: set[Hashable] = set()
        self.asked: dict[ObjectId, dict[int | None, dict[Expr, None]]] = {}
        self.lost = CellSet()
        self.guessed = CellSet()
        self.asks = MOST_ASKED
        self.together = False
        self.questions: dict[tuple[str, int], dict[Expr, None]] = {}
        self.counted: dict[str, int] = {}
        self.sites: set[Hashable] = set()
        self.free_ways = self.goes_free = self.lacks_number = False
        self.again = False
        self.version = 0
        self.looked_again: set[ObjectId] = set()
        self.rank: str | None = None
        self.elsewhere: set[str] = set()
        self.merged_unset: set[ObjectId] = set()
        self.threads = ThreadFacts()
        self.rows: dict[ObjectId, tuple[tuple[int, int, int], ...]] = {}

    def begin(self) -> None:
        """Begin another pass. When more values are chosen in it, fewer cells may be uncertain."""
        self.moved.awaited.clear()
        self.shortened = self.loops_kept
        self.threads.begin()
        self.goes_free = self.lacks_number = False
        if self.again:
            self.uncertain, self.again = CellSet(), False

    def gives_up(self) -> bool:
        """Whether ranks have waited in this pass for what nobody lays out, and do so no longer."""
        given_up = self.moved.give_up()
        if given_up:
            self.changed()
        return given_up

    def learns_of_free_ways(self) -> bool:
        """Whether ranks have gone ways that are free in this pass, and in none before: then ways by the number
        in a cell are marked, too."""
        new = self.goes_free and not self.free_ways
        if new:
            self.free_ways = True
            self.changed()
        return new

    def learns_of_threads(self) -> bool:
        """Whether this pass has found out something else than the one before about what threads do to each other."""
        new = self.threads.settle()
        if new:
            self.changed()
        return new

    def ask_less(self) -> None:
        """Ask cells and collectives less from now on, nothing in the end: it makes too many ways."""
        self.asks //= 4
        self.together, self.asked, self.questions = False, {}, {}
        self.changed()

    def number_of(self, group: str, earlier: int) -> int:
        """The number of a collective of ``group`` before which there have been so many ``earlier`` ones."""
        return earlier if earlier < self.counted.get(group, COUNTED) else LATEST

    def count_less(self, group: str, most: int) -> None:
        """No more than so many collectives of ``group`` have numbers of their own."""
        if most < self.counted.get(group, COUNTED):
            self.counted[group] = most
            self.changed()

    def doubt(self, id: ObjectId, offset: int | None) -> None:
        """Note that the scalar at ``offset`` (None: any of the object) may hold an unknown value."""
        if self.uncertain.add(id, offset):
            self.changed()

    def guess(self, id: ObjectId, offset: int | None) -> None:
        """Note that the answers to what the scalar at ``offset`` is asked may be those of no run."""
        if self.guessed.add(id, offset):
            self.changed()

    def decide(self, origin: Hashable) -> None:
        """Note that something depends on the unknown value in ``origin``: a cell (object and offset) or a variable."""
        match origin:
            case (ObjectId() as id, int() | None as offset):
                new = self.decisive_cells.add(id, offset)
            case _:
                new = origin not in self.decisive_variables
                self.decisive_variables.add(origin)
        if new:
            self.again = True
            self.changed()

    def changed(self) -> None:
        self.version += 1

    def generalise(self, variable: Hashable) -> None:
        """Keep ``variable`` in its register at merge points from the next pass on."""
        if variable not in self.generalised:
            self.generalised.add(variable)
            self.changed()

    def merge_unset(self, id: ObjectId) -> None:
        """Merge states from now on that differ only in what has been set of the object."""
        if id not in self.merged_unset:
            self.merged_unset.add(id)
            self.changed()

    def leave(self, function: str, loop: int) -> None:
        """A branch on an unknown condition leaves the loop: its head is a merge point from the first iteration on."""
        if (function, loop) not in self.left_unknown:
            self.left_unknown.add((function, loop))
            self.changed()

    def publish(self, rank: int, key: str, value: Hashable) -> None:
        """Have all ranks know ``value`` under ``key`` of ``rank``, in the next pass at the latest."""
        published = self.published.setdefault(key, {})
        if published.get(rank) != value:
            published[rank] = value
            self.changed()

    def note_at(self, rank: int, key: str, by: int) -> None:
        """Have ``rank`` know under ``key`` of the rank ``by``, in the next pass at the latest."""
        noted = self.noted.setdefault((rank, key), set())
        if by not in noted:
            noted.add(by)
            self.noted_by.setdefault((by, key), set()).add(rank)
            self.changed()

    def declare(
        self,
        id: ObjectId,
        name: str,
        size: int,
        type: CType | None,
        initial: Contents,
        span: Span = NOWHERE,
        grows: Extent | None = None,
    ) -> ObjectFacts:
        """The facts about ``id``, of which this much is known from its declaration."""
        if size > LARGEST_OBJECT:
            raise Problem("PG141", f"`{name}` has {size:,} bytes", f"an object has at most {LARGEST_OBJECT:,} bytes")
        known = self.objects.get(id)
        if known is None:
            known = self.objects[id] = ObjectFacts(name, size, type, initial, span)
            if grows is not None:
                known.grows, known.dense, known.granule, known.all_restless = grows, True, size, True
        elif size > known.size:
            known.size = size
            if known.dense:
                self.changed()
        return known

    def hide(self, id: ObjectId) -> None:
        """The object is a cell of an API, which only commands access."""
        facts = self.objects[id]
        if not facts.hidden:
            facts.hidden, facts.shared, facts.covered = True, {0: facts.size}, dict.fromkeys(range(facts.size), 0)

    def point(self, id: ObjectId, name: str, to: CType) -> None:
        """The variable ``name``, a pointer ``to`` something, points to the beginning of an object."""
        object = self.objects.get(id)
        if object is not None and size_of(to) > 1:
            object.pointers.setdefault(name, to)

    def points(self, name: str | None, type: CType, value: Address) -> None:
        """The variable ``name`` of ``type`` is set to ``value``, the address of memory without a name of its own."""
        if name is None or not isinstance(type, Pointer):
            return
        for each in addresses_of(value):
            if each.owner is not None:
                self.elsewhere.add(name)
            elif each.offset == 0:
                self.point(each.object, name, type.to)

    def stored(self, to: Address, value: Value) -> None:
        """The variable at ``to``, unless it is an element of a table, is set to ``value``."""
        if isinstance(value, Address) and value.object.nameless and isinstance(to.offset, int):
            name, type = self.expression(to.object, to.offset), self.pointer_type(to.object, to.offset)
            if isinstance(type, Array) and name is not None and "[" not in name:
                self.points(name, Pointer(type.of), value)

    def expression(self, id: ObjectId, offset: int, size: int = 8) -> str | None:
        """What C calls the scalar of ``size`` bytes at ``offset`` in a variable: ``p``, ``s.next``, ``both[1]``."""
        object = self.objects.get(id)
        return None if object is None else naming(id, object)(shortest(id, object), object.type, offset, size)

    def pointer_type(self, id: ObjectId, offset: int) -> CType | None:
        """The array that the pointer at ``offset`` in an object points to, as far as its declaration says so."""
        object = self.objects.get(id)
        pointer = scalar_at(object.type, offset) if object is not None and object.type is not None else None
        return pointed_to(pointer) if pointer is not None else None

    def note(self, id: ObjectId, offset: int, type: CType) -> None:
        """A load or store names the scalar of ``type`` at ``offset``."""
        facts = self.objects[id]
        if facts.accesses.note(offset, type) and (offset in facts.shared or facts.dense):
            self.changed()

    def note_each(self, id: ObjectId, offsets: Sequence[int], type: CType) -> None:
        """A load or store names any of the scalars of ``type`` at ``offsets``, by an index that is not known."""
        facts = self.objects[id]
        if (offsets, type) not in facts.indexed:
            self.few(id, offsets)
            facts.indexed.add((offsets, type))
            for offset in offsets:
                stop_point()
                self.note(id, offset, type)

    def few(self, id: ObjectId, offsets: Sequence[int]) -> None:
        """An index that is not known may name any of the scalars at ``offsets``: no more than cells may be."""
        if len(offsets) > MAX_CELLS:
            name = self.objects[id].name
            raise Problem(
                "PG141",
                f"{len(offsets):,} cells of shared memory per node with `{name}`, any of which an index may name",
                f"a node has at most {MAX_CELLS} cells; index it by what is known on each rank, or make it smaller",
            )

    def declared(self, id: ObjectId, offsets: Sequence[int]) -> frozenset[CType | None]:
        """What the declaration says of the scalars at ``offsets``; None: nothing."""
        facts = self.objects[id]
        if offsets not in facts.declared:
            found = (scalar_at(facts.type, offset) if facts.type else None for offset in offsets)
            facts.declared[offsets] = frozenset(found)
        return facts.declared[offsets]

    def is_shared(self, id: ObjectId, offset: int, size: int) -> bool:
        """Whether the scalar lies in a cell, or in a part of one."""
        facts = self.objects[id]
        if facts.dense:
            self.share(id, offset, size)
            return True
        if not facts.covered:
            return False
        if facts.shared.get(offset) == size:
            return True
        if not facts.covered.keys().isdisjoint(range(offset, offset + size)):
            self.share(id, offset, size)
            return True
        return False

    def share(self, id: ObjectId, offset: int, size: int) -> None:
        """The scalar of ``size`` bytes at ``offset`` lies in a cell, or in a part of one."""
        facts = self.objects[id]
        if facts.pieces is not None:
            if facts.dense:
                self.finer(id, offset, size)
            else:
                self.learn(facts.pieces.load_or_store(offset, size))
            return
        if facts.shared.get(offset) == size:
            return
        covered = {begin for place in range(offset, offset + size) if (begin := facts.covered.get(place)) is not None}
        parts = covered & facts.shared.keys()
        for begin in covered - parts:
            self._drop_filler(facts, begin)
        if parts:
            if not self._is_part(facts, parts, offset, size):
                self.split(id)
                self.share(id, offset, size)
            return
        facts.shared[offset] = size
        facts.covered.update((place, offset) for place in range(offset, offset + size))
        if facts.dense or facts.granule:
            facts.granule = gcd(facts.granule, size, offset)
        self.changed()

    def share_each(self, id: ObjectId, offsets: Sequence[int], size: int) -> None:
        """Any of the scalars of ``size`` bytes at ``offsets`` is accessed, by an index that is not known. These lie in
        cells; how fine the cells are is a matter of how far apart the offsets are alone."""
        facts = self.objects[id]
        if (offsets, size) in facts.indexed:
            return
        self.few(id, offsets)
        granule = facts.granule
        for offset in offsets:
            stop_point()
            self.share(id, offset, size)
        if facts.pieces is None:
            facts.granule = granule
        facts.indexed.add((offsets, size))

    def split(self, id: ObjectId) -> None:
        """The object is accessed in sizes that do not fit each other, or as integers and floats: it lies in pieces."""
        facts = self.objects[id]
        if facts.pieces is not None:
            return
        if facts.grows is not None or facts.hidden:
            raise NumberNeeded(f"how `{facts.name}` lies in cells differs between numbers of nodes")
        self._new_pieces(facts)
        self.changed()

    def _new_pieces(self, facts: ObjectFacts) -> None:
        """Have the object in pieces. It is found in the next pass which ones."""
        facts.pieces = Pieces(facts.name, facts.shared, facts.covered, facts.restless, facts.accesses, self.units)
        facts.filler.clear()
        facts.mixed = True
        facts.all_restless |= facts.dense

    def learn(self, new: bool) -> None:
        """There are other pieces, if that is ``new``."""
        if new:
            self.changed()

    def _is_part(self, facts: ObjectFacts, begins: set[int], offset: int, size: int) -> bool:
        """Have one cell for the scalar and those that begin at ``begins``, which it overlaps, where all are parts of
        one of them. Whether they are."""
        intervals = {(offset, offset + size), *((begin, begin + facts.shared[begin]) for begin in begins)}
        whole = min(first for first, _ in intervals), max(end for _, end in intervals)
        if whole not in intervals or whole[1] - whole[0] > LARGEST_CELL or facts.dense:
            return False
        begin, end = whole
        if begins == {begin} and facts.mixed and facts.shared[begin] == end - begin:
            return True
        facts.mixed = True
        for each in begins:
            del facts.shared[each]
        facts.shared[begin] = end - begin
        facts.covered.update((place, begin) for place in range(begin, end))
        if facts.restless & begins:
            facts.restless.add(begin)
        if facts.granule:
            facts.granule = gcd(facts.granule, begin, end - begin)
        self.changed()
        return True

    def carry_floats(self, id: ObjectId, offset: int | None) -> None:
        """A transfer moves a `float` between a cell and that at ``offset``, which nothing else says the kind of."""
        if offset is not None and offset not in self.objects[id].floats:
            self.objects[id].floats.add(offset)
            self.changed()

    def mix(self, id: ObjectId) -> None:
        """Cells of the object may hold what is no value of the types that it has here."""
        if not self.objects[id].mixed:
            self.objects[id].mixed = True
            self.changed()

    def share_filler(self, id: ObjectId, offset: int, size: int) -> None:
        """A piece of a transfer, in which no scalar is known, lies in a cell."""
        facts = self.objects[id]
        if facts.pieces is not None:
            self.learn(facts.pieces.move(offset, size))
            return
        if facts.filler.get(offset) == size or offset in facts.shared:
            return
        for place in range(offset, offset + size):
            begin = facts.covered.get(place)
            if begin is not None and begin in facts.filler:
                self._drop_filler(facts, begin)
            elif begin is not None:
                return  # the pieces are made anew around it in the next run
        facts.filler[offset] = size
        facts.covered.update((place, offset) for place in range(offset, offset + size))
        self.changed()

    def _drop_filler(self, facts: ObjectFacts, begin: int) -> None:
        size = facts.filler.pop(begin)
        facts.granule = gcd(facts.granule, size)
        for place in range(begin, begin + size):
            del facts.covered[place]

    def is_steady(self, id: ObjectId, offset: int) -> bool:
        """Whether the shared scalar holds what its own rank stored last: transfers may read it and do not set it."""
        facts = self.objects[id]
        return not facts.all_restless and facts.covered.get(offset, offset) not in facts.restless

    def unsettle(self, id: ObjectId, offset: int | None) -> None:
        """What the scalar at ``offset`` holds (None: any of the object) is not known from now on."""
        facts = self.objects[id]
        if offset is not None:
            offset = facts.covered.get(offset, offset)
        if facts.hidden or facts.all_restless or offset in facts.restless:
            return
        if offset is None:
            facts.all_restless = True
        else:
            facts.restless.add(offset)
        self.changed()

    def lend(self, id: ObjectId) -> None:
        """Operations may use the object after they have been issued."""
        if not self.objects[id].lent:
            self.objects[id].lent = True
            self.changed()

    def reach(self, id: ObjectId) -> None:
        """Other ranks may set what is in the object."""
        if not self.objects[id].reached and not self.objects[id].hidden:
            self.objects[id].reached = True
            self.changed()

    def size_at(self, id: ObjectId, offset: int) -> int:
        """The size of the scalar with a cell at ``offset``."""
        facts = self.objects[id]
        return facts.shared.get(offset) or facts.filler.get(offset) or facts.granule

    def sizes(self, id: ObjectId) -> set[int]:
        """The sizes of all scalars of the object that anybody has named."""
        facts = self.objects[id]
        found = {*facts.accesses.lengths, *facts.shared.values()}
        return found | {facts.granule} if facts.dense and facts.granule else found

    def look_again(self, *objects: ObjectId) -> bool:
        """Whether another run, which there is then, may say more of how large the scalars of ``objects`` are."""
        if self.looked_again.issuperset(objects):
            return False
        self.looked_again.update(objects)
        self.changed()
        return True

    def finer(self, id: ObjectId, *sizes: int) -> int:
        """The granule of the object, which all ``sizes`` are multiples of from now on."""
        facts = self.objects[id]
        granule = gcd(facts.granule, *sizes, *([LARGEST_CELL] if facts.pieces is not None else []))
        if granule != facts.granule:
            facts.granule = granule
            self.changed()
        return granule

    def index(self, id: ObjectId, offset: int, stride: int) -> int:
        """The object is indexed by something unknown, in steps of ``stride`` bytes from ``offset`` on; its granule."""
        facts = self.objects[id]
        if not facts.dense:
            facts.dense = True
            facts.granule = gcd(facts.granule, *facts.shared, *facts.shared.values())
            if facts.pieces is not None:
                self._new_pieces(facts)
            self.changed()
        return self.finer(id, offset, stride)


def shortest(id: ObjectId, object: ObjectFacts) -> str:
    """The name of an object without the function that it is local to."""
    return object.name if id.allocated else object.name.rpartition(".")[2]


def naming(id: ObjectId, object: ObjectFacts) -> Callable[[str, CType | None, int, int], str]:
    """How what is in an object is called by the name of the object, its type, the offset and the size."""
    return partial(pointed_name, object.size) if id.allocated or object.type is None else part_name
