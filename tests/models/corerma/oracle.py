"""coreRMA by trying everything: all partial orders of a tiny program's actions against Figure 4, read line by line.

Shares no code with `pgasrob.models.corerma`: actions, orders, rules and values are made anew here, as literally as the
figure allows. Happens-before and reads-from are sets of pairs of action names; nothing is pruned but orders that miss
an edge which the program alone asks for. A second oracle, :func:`by_total_orders`, is for atomic programs: one memory,
and all sequences of actions that keep those edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import permutations, product
from typing import Any

from pgasrob.models.litmus.instructions import Assign, Flush, Get, GetAccumulate, Load, Put, RemoteCompareAndSet, Store
from pgasrob.models.litmus.litmus_program import Outcome, Program
from pgasrob.program.expressions import INT32, Binary, Const, Expr, Register, Unary

T = "T"


class TooLarge(Exception):
    """More partial orders than the oracle is ready to look at."""


@dataclass(eq=False)
class Act:
    """An action of Table 3. ``of``: the actions of its statement; ``remote``: it is in the paper's set Remote."""

    type: str
    process: int
    src: int
    dst: int
    rloc: str | None = None
    wloc: str | None = None
    atomic: bool = True
    statement: str = ""
    remote: bool = False
    of: list[Act] = field(default_factory=list)
    register: tuple[int, int] | None = None
    """What a load sets: the process, and the number of the register's version."""
    expression: Any = None
    """What a store writes: an expression over versions of registers."""

    @property
    def reader(self) -> bool:
        return self.rloc is not None

    @property
    def writer(self) -> bool:
        return self.wloc is not None

    @property
    def local(self) -> bool:
        return self.type in ("r", "w")


class Small:
    """A program as actions; ``po`` is the list of each process."""

    def __init__(self, program: Program) -> None:
        self.program = program
        node = {location.name: location.node for location in program.locations}
        self.initial = {
            location.name: Act("w", -1, location.node, location.node, None, location.name, statement="initial")
            for location in program.locations
        }
        self.po: list[list[Act]] = []
        self.versions: list[list[Any]] = []  # of each process: what a version of a register is
        self.final: list[list[int]] = []
        for process, thread in enumerate(program.threads):
            own: list[Act] = []
            versions: list[Any] = [0]
            current = [0] * len(thread.registers)
            for edges in thread.graph.out:
                for instruction, _ in edges:
                    here = thread.node

                    def external(type: str, cell: Any, reads: bool, writes: bool, remote: bool, kind: str) -> Act:
                        return Act(
                            type,
                            process,  # noqa: B023
                            here,  # noqa: B023
                            node[cell.name],
                            cell.name if reads else None,
                            cell.name if writes else None,
                            cell.atomic,
                            kind,
                            remote,
                        )

                    new: list[Act] = []
                    match instruction:
                        case Load(register, cell):
                            act = Act("r", process, here, here, cell.name, None, cell.atomic, "load")
                            versions.append(act)
                            current[register] = len(versions) - 1
                            new = [act]
                        case Store(cell, value):
                            act = Act("w", process, here, here, None, cell.name, cell.atomic, "store")
                            act.expression = (value, tuple(current))
                            new = [act]
                        case Assign(register, value):
                            versions.append((value, tuple(current)))
                            current[register] = len(versions) - 1
                        case Get(local, remote):
                            new = [
                                external("er", remote, True, False, True, "get"),
                                external("ew", local, False, True, False, "get"),
                            ]
                        case Put(remote, local):
                            new = [
                                external("er", local, True, False, False, "put"),
                                external("ew", remote, False, True, True, "put"),
                            ]
                        case GetAccumulate(local, remote, operand):
                            new = [
                                external("er", operand, True, False, False, "rga"),
                                external("erw", remote, True, True, True, "rga"),
                                external("ew", local, False, True, False, "rga"),
                            ]
                        case RemoteCompareAndSet(local, remote, expected, wanted):
                            new = [
                                external("er", expected, True, False, False, "cas"),
                                external("er", wanted, True, False, False, "cas"),
                                external("erw", remote, True, True, True, "cas"),
                                external("ew", local, False, True, False, "cas"),
                            ]
                        case Flush(target):
                            new = [Act("flush", process, here, target, statement="flush")]
                        case _:
                            raise AssertionError(instruction)
                    for act in new:
                        act.of = new
                    own += new
            self.po.append(own)
            self.versions.append(versions)
            self.final.append(current)
        self.acts = [act for own in self.po for act in own]
        self.number = {id(act): place for place, act in enumerate(self.acts)}

    def before_in_po(self, first: Act, second: Act) -> bool:
        return first.process == second.process and self.number[id(first)] < self.number[id(second)]

    # --- what Figure 4 asks of happens-before whatever is read -------------------------------------------------------

    def fixed(self, without: frozenset[str], vpi: bool, local_order: str) -> set[tuple[Act, Act]]:
        edges = set()
        for one, two in product(self.acts, repeat=2):
            po = self.before_in_po(one, two)
            both_remote = one.remote and two.remote and one.dst == two.dst and one.dst != one.src and po
            same = one.of is two.of
            kind = one.statement
            by = {
                "IR": both_remote and not vpi,
                "VPI": both_remote and vpi and kind == two.statement and kind in ("put", "get"),
                "PG": same and po and kind in ("put", "get"),
                "GA": same and po and kind == "rga",
                "F1": one.type == "flush" and two.local and po,
                "F2": two.type == "flush"
                and any(e.remote and e.dst == two.dst and self.before_in_po(e, two) for e in one.of),
                "F3": one.type == "flush"
                and any(e.remote and e.dst == one.dst and self.before_in_po(one, e) for e in two.of),
                "LO": one.local and po and (two.local or local_order == "figure"),
            }
            if any(holds and rule not in without for rule, holds in by.items()):
                edges.add((one, two))
        return edges

    def cas(self) -> Iterator[list[Act]]:
        yield from (act.of for act in self.acts if act.statement == "cas" and act is act.of[0])

    # --- values ------------------------------------------------------------------------------------------------------

    def solve(self, rf: dict[int, Act], given: Callable[[Act], bool]) -> Callable[[Act, str], Any] | None:
        """Values from reads-from; ``given``: a read gives T. None where a value needs itself."""
        known: dict[tuple[int, str], Any] = {}
        working: set[tuple[int, str]] = set()

        class Circle(Exception):
            pass

        def version(process: int, number: int) -> Any:
            what = self.versions[process][number]
            if isinstance(what, int):
                return what
            if isinstance(what, Act):
                return value(what, "r")
            return expression(process, *what)

        def expression(process: int, expr: Expr, current: tuple[int, ...]) -> Any:
            match expr:
                case Const(number):
                    return number
                case Register(_, index):
                    return version(process, current[index])
                case Unary(symbol, operand):
                    inner = expression(process, operand, current)
                    assert symbol == "-"
                    return inner if inner == T else INT32.wrap(-inner)
                case Binary(symbol, left, right):
                    one, two = expression(process, left, current), expression(process, right, current)
                    if T in (one, two):
                        return T
                    return INT32.wrap({"+": one + two, "-": one - two, "*": one * two}[symbol])
            raise AssertionError(expr)

        def value(act: Act, side: str) -> Any:
            key = (id(act), side)
            if key not in known:
                if key in working:
                    raise Circle
                working.add(key)
                known[key] = computed(act, side)
            return known[key]

        def computed(act: Act, side: str) -> Any:
            if side == "r":
                return T if given(act) else value(rf[id(act)], "w")
            if act.statement == "initial":
                return next(x.initial for x in self.program.locations if x.name == act.wloc)
            if act.type == "w":
                return expression(act.process, *act.expression)
            if act.statement in ("put", "get"):
                return value(act.of[0], "r")
            if act.type == "ew":
                return value(act.of[-2], "r")
            if act.statement == "rga":
                one, two = value(act.of[0], "r"), value(act, "r")
                return T if T in (one, two) else INT32.wrap(one + two)
            expected, wanted, held = (value(act.of[0], "r"), value(act.of[1], "r"), value(act, "r"))
            if T in (expected, held):
                return T
            return wanted if expected == held else held

        try:
            for act in self.acts:
                for side, has in (("r", act.reader), ("w", act.writer)):
                    if has:
                        value(act, side)
        except Circle:
            return None
        self._version = version
        return value

    def outcome(self, last: dict[str, Any]) -> Outcome:
        registers = tuple(
            tuple(self._version(process, number) for number in final) for process, final in enumerate(self.final)
        )
        return self.program.outcome(tuple(last[x.name] for x in self.program.locations), registers)


def partial_orders(size: int, fixed: set[tuple[int, int]], limit: int) -> list[list[int]]:
    """All strict partial orders of so many elements with the pairs ``fixed``: rows of bits, element by element."""
    found: list[list[int]] = [[]]
    for new in range(size):
        larger = []
        below = sum(1 << a for a, b in fixed if b == new and a < new)
        above = sum(1 << b for a, b in fixed if a == new and b < new)
        for rows in found:
            for down in range(1 << new):
                if below & ~down or any(
                    down >> b & 1 and not down >> a & 1 for a in range(new) for b in _bits(rows[a])
                ):
                    continue
                for up in range(1 << new):
                    if up & down or above & ~up:
                        continue
                    if any(up >> a & 1 and rows[a] & ~up for a in range(new)):
                        continue
                    if any(down >> a & 1 and up & ~rows[a] for a in range(new)):
                        continue
                    larger.append([row | 1 << new if down >> a & 1 else row for a, row in enumerate(rows)] + [up])
                    if len(larger) > limit:
                        raise TooLarge
        found = larger
    return found


def _bits(row: int) -> list[int]:
    return [place for place in range(row.bit_length()) if row >> place & 1]


def executions(
    program: Program,
    without: frozenset[str] = frozenset(),
    vpi: bool = False,
    hb: str = "any",
    repair: bool = True,
    local_order: str = "figure",
    limit: int = 20_000,
) -> Iterator[tuple[Outcome, set[str]]]:
    """The outcome of every consistent execution, with what happens in it: "T", "cas true", "cas false".

    Raises :class:`TooLarge`, and for the least order where that depends on values, with one of CAS-F and CAS-T."""
    if hb == "least" and len({"CAS-F", "CAS-T"} & without) == 1:
        raise TooLarge
    small = Small(program)
    acts = small.acts
    fixed = small.fixed(without, vpi, local_order)
    if not {"CAS-F", "CAS-T"} & without:
        fixed |= {pair for parts in small.cas() for pair in _chain(parts)}
    numbers = {(small.number[id(a)], small.number[id(b)]) for a, b in fixed}
    orders = partial_orders(len(acts), numbers, limit)
    writers = list(small.initial.values()) + [act for act in acts if act.writer]
    readers = [act for act in acts if act.reader]
    on = {act.wloc: [w for w in writers if w.wloc == act.wloc] for act in writers}
    sources = [[w for w in on[r.rloc] if w is not r] for r in readers]
    if len(orders) * _product(map(len, sources)) > 30 * limit:
        raise TooLarge
    least: dict[Any, list[tuple[set[tuple[int, int]], list[tuple[Outcome, set[str]]]]]] = {}
    for rows in orders:

        def lt(one: Act, two: Act) -> bool:
            if one.process < 0 or two.process < 0:
                return one.process < 0 <= two.process
            return bool(rows[small.number[id(one)]] >> small.number[id(two)] & 1)  # noqa: B023

        def conflict(one: Act, two: Act) -> bool:
            if one is two or lt(one, two) or lt(two, one):
                return False
            places = {one.rloc, one.wloc} & {two.rloc, two.wloc} - {None}
            return bool(places) and (one.writer or two.writer) and not (one.atomic and two.atomic)

        def raced(act: Act) -> bool:
            return any(conflict(act, w) for w in writers)

        atomic = [w for w in writers if w.atomic]
        if "WS" not in without and any(
            not (lt(a, b) or lt(b, a)) for a in atomic for b in atomic if a is not b and a.wloc == b.wloc
        ):
            continue
        for chosen in product(*sources):
            rf = {id(r): w for r, w in zip(readers, chosen, strict=True)}
            pairs = list(zip(readers, chosen, strict=True))
            if "R2" not in without and any(r.atomic and w.atomic and not lt(w, r) for r, w in pairs):
                continue
            if "R1" not in without and any(
                r.atomic and w.atomic and lt(w, w2) and r is not w2 and not lt(r, w2)
                for r, w in pairs
                for w2 in atomic
                if w2.wloc == w.wloc
            ):
                continue
            if repair and any(
                (not (r.atomic and w.atomic) and lt(r, w))
                or any(
                    lt(w, w2) and lt(w2, r) and not (r.atomic and w.atomic and w2.atomic)
                    for w2 in on[w.wloc]
                    if w2 is not w and w2 is not r
                )
                for r, w in pairs
            ):
                continue
            if _has_circle(rf, acts):
                continue

            def given(act: Act) -> bool:
                return _is_t(raced(act) or raced(rf[id(act)]), without)  # noqa: B023

            value = small.solve(rf, given)
            if value is None:
                continue
            happens = set()
            fine = True
            for parts in small.cas():
                expected, held = value(parts[0], "r"), value(parts[2], "r")
                success = None if T in (expected, held) else expected == held
                happens.add(f"cas {success}".lower())
                in_force = [rule not in without for rule in ("CAS-T", "CAS-F")]
                by = any(in_force) if success is None else in_force[0] if success else in_force[1]
                fine = fine and (not by or all(lt(a, b) for a, b in _chain(parts)))
            if not fine:
                continue
            if any(value(act, "r") == T for act in readers):
                happens.add("T")
            ends: list[list[Any]] = []
            for location in program.locations:
                lasts = [w for w in on[location.name] if not any(lt(w, other) for other in on[location.name])]
                ends.append(
                    list(dict.fromkeys(T if _is_t(raced(w), without) else value(w, "w") for w in lasts))
                )  # what a read after everything would give
            outcomes = [
                (small.outcome(dict(zip((x.name for x in program.locations), values, strict=True))), happens)
                for values in product(*ends)
            ]
            if hb == "any":
                yield from outcomes
            else:
                # What is least is so among those with the same choices: reads-from, and the order of writes by WS.
                order = frozenset((id(a), id(b)) for a in atomic for b in atomic if a.wloc == b.wloc and lt(a, b))
                order = frozenset() if "WS" in without else order
                key = (tuple(id(w) for w in chosen), order)
                least.setdefault(key, []).append(({(a, b) for a, row in enumerate(rows) for b in _bits(row)}, outcomes))
    for group in least.values():
        for relation, outcomes in group:
            if not any(other < relation for other, _ in group):
                yield from outcomes


def _is_t(raced: bool, without: frozenset[str]) -> bool:
    return "no-C" in without or (raced and "C" not in without)


def _chain(parts: list[Act]) -> Iterator[tuple[Act, Act]]:
    expected, wanted, update, write = parts
    yield from ((expected, update), (wanted, update), (update, write))


def _has_circle(rf: dict[int, Act], acts: list[Act]) -> bool:
    for act in acts:
        seen = []
        place: Act | None = act
        while place is not None and id(place) not in seen:
            seen.append(id(place))
            place = rf.get(id(place))
        if place is not None:
            return True
    return False


def _product(sizes: Any) -> int:
    result = 1
    for size in sizes:
        result *= size
    return result


def by_total_orders(
    program: Program, without: frozenset[str] = frozenset(), vpi: bool = False, local_order: str = "figure"
) -> set[Outcome]:
    """The outcomes of an atomic program when its actions take effect on one memory in any order that keeps what the
    program alone asks for."""
    small = Small(program)
    fixed = small.fixed(without, vpi, local_order) | {pair for parts in small.cas() for pair in _chain(parts)}
    found = set()
    for sequence in permutations(small.acts):
        place = {id(act): number for number, act in enumerate(sequence)}
        if any(place[id(a)] > place[id(b)] for a, b in fixed):
            continue
        last: dict[str, Act] = dict(small.initial)
        rf = {}
        for act in sequence:
            if act.rloc is not None:
                rf[id(act)] = last[act.rloc]
            if act.wloc is not None:
                last[act.wloc] = act
        value = small.solve(rf, lambda act: False)
        assert value is not None
        found.add(small.outcome({name: value(act, "w") for name, act in last.items()}))
    return found
