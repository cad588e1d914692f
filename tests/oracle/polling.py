"""Failed reads, from their definition: by what a rank has been through and every way on that it has.

A rank's *configuration* is its control state and the values of the registers that are live there. A read *fails* when
all ways on, whatever further reads give, come back by quiet commands to a configuration in which the rank has been
since its last command that is not quiet, and of which no live register has been set since, the read's among them. It
also fails when assumes and assigns alone lead to an await of the same cell (or to a read of it that fails for some
values) and each value that ends that wait would have led, had the read given it, by assumes and assigns alone to where
those lead to from the end of the wait. And it fails where it gathers flags (`gathering`). Nothing but which cells are
flags is worked out beforehand: each read is judged where it happens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .control import Edge
from .expressions import Binary, Conditional, Expr, Fault, Int, Name, Unary, compare, evaluate, may_fault
from .gathering import Flags, Gathers
from .operations import Place
from .syntax import (
    Assign,
    Assume,
    Await,
    FailedCompareSwap,
    Fence,
    Fetch,
    Load,
    Program,
    Statement,
    Wait,
    WaitLocal,
    statements,
)

QUIET = Load | Fetch | FailedCompareSwap | Assign | Assume | Wait | WaitLocal | Fence
Configuration = tuple[int, tuple[int, ...]]  # control state, and the registers with 0 for those that are not live
Looking = frozenset[tuple[Configuration, Statement]]  # the reads of which it is being told whether they only look
Operands = Callable[[Statement, int, tuple[int, ...]], dict[str, int]]

MOST, MOST_NESTED = 1_000, 20
"""Configurations looked at for one read, and reads behind it that are judged for it; how many of them one for another.
"""


class Polls:
    """Which reads of a program fail. `cut` says that a bound was hit, and a read may have been taken not to fail."""

    def __init__(
        self,
        program: Program,
        automata: list[list[list[Edge]]],
        names: dict[str, int],
        registers: dict[str, int],
        operands: Operands,
        homes: list[int],
    ) -> None:
        """`homes`: the rank of each process; "rank" below is a process."""
        self.homes = homes
        self.registers, self.operands = registers, operands
        self.values = _values(program)
        self.cut = False
        # by rank; what a rank can never do, whatever the registers are, is no way on
        self.edges = [
            _merged([[edge for edge in edges if not _is_dead(edge.command, names | {"me": home})] for edges in table])
            for home, table in zip(homes, automata, strict=True)
        ]
        self.classes = [classes for _, classes in self.edges]
        self.out = [out for out, _ in self.edges]
        self.live = [_live(out, names | {"me": home}) for home, out in zip(homes, self.out, strict=True)]
        self.ahead = [_quietly_ahead(out) for out in self.out]
        self.gathering: Gathers | None = None  # None: none gathers
        if len(set(homes)) == len(homes):
            self.flags = Flags(program, automata, names)
            self.gathering = Gathers(self.flags, self.out, self._ways, self._at, self._with)
        self._failed: dict[object, bool] = {}
        self._judged = 0  # reads judged for the one at hand

    # What a run keeps

    def configuration(self, rank: int, control: int, registers: tuple[int, ...]) -> Configuration:
        return self._at(rank, self.classes[rank][control], registers)

    def _at(self, rank: int, state: int, registers: tuple[int, ...]) -> Configuration:
        live = self.live[rank][state]
        return state, tuple(
            value if name in live else 0 for name, value in zip(self.registers, registers, strict=True)
        )  # fmt: skip

    def after(
        self, rank: int, been: frozenset[Configuration], command: Statement, control: int, registers: tuple[int, ...]
    ) -> frozenset[Configuration]:
        """Where the rank has been since its last command that is not quiet, after `command` that led to `control`, and
        has set no register since that is live there. What no quiet command can lead back to is left out."""
        now = self.configuration(rank, control, registers)
        if not isinstance(command, QUIET):
            return frozenset({now})
        ahead = self.ahead[rank][now[0]]
        return frozenset(each for each in self._kept(rank, been, command) if each[0] in ahead) | {now}

    def _kept(self, rank: int, been: frozenset[Configuration], command: Statement) -> frozenset[Configuration]:
        """Those of `been` at which the register that `command` sets, if any, is not live."""
        register = getattr(command, "register", None)
        return frozenset(each for each in been if register not in self.live[rank][each[0]])

    # Failed reads

    def fails(
        self, rank: int, been: frozenset[Configuration], here: Configuration, read: Statement, target: int,
        place: Place, value: int,
    ) -> bool:  # fmt: skip
        """Whether `read` of `place`, the next command of the rank in `here`, fails when it gives `value`.

        `target` is the control state of the automaton that it leads to, `been` has `here` in it.
        """
        key = (rank, been, here, read, target, place, value)
        if key not in self._failed:
            merged = self.classes[rank][target]
            self._judged = 0
            found = self._fails(rank, been, here, read, merged, place, value, frozenset())
            self._failed[key] = found or self._gathers(rank, here, read, merged, place, value)
        return self._failed[key]

    def _gathers(
        self, rank: int, here: Configuration, read: Statement, target: int, place: Place, value: int
    ) -> bool:  # fmt: skip
        if self.gathering is None or isinstance(read, FailedCompareSwap) or place not in self.flags.of[rank]:
            return False
        early, there = (self._given(rank, here, read, target, each) for each in (value, self.flags.of[rank][place][0]))
        found = self.gathering.gathers(rank, place, value, early, there)
        self.cut |= self.gathering.cut
        return found

    def _fails(
        self, rank: int, been: frozenset[Configuration], here: Configuration, read: Statement, target: int,
        place: Place, value: int, looking: Looking,
    ) -> bool:  # fmt: skip
        self._judged += 1
        if self._judged > MOST or len(looking) > MOST_NESTED:
            self.cut = True
            return False
        after = self._given(rank, here, read, target, value)
        if self.comes_back(rank, been, read, after):
            return True
        if isinstance(read, FailedCompareSwap):  # with another value it would have swapped
            return False
        if (here, read) in looking:  # what leads to itself alone is no wait
            return False
        looking |= {(here, read)}
        return self._only_looks(rank, self._kept(rank, been, read), here, read, target, place, after, looking)

    def _given(self, rank: int, here: Configuration, read: Statement, target: int, value: int) -> Configuration:
        """The configuration after `read` in `here` gave `value`."""
        return self._at(rank, target, self._with(here[1], read.register, value))

    def _with(self, registers: tuple[int, ...], register: str, value: int) -> tuple[int, ...]:
        index = self.registers[register]
        return (*registers[:index], value, *registers[index + 1 :])

    def _ways(self, rank: int, here: Configuration) -> Iterator[tuple[Statement, int, dict[str, int]]] | None:
        """The commands that may come next, with the states they lead to and their operands; None: one of them
        faults."""
        ways = []
        for edge in self.out[rank][here[0]]:
            try:
                values = self.operands(edge.command, rank, here[1])
            except Fault:
                return None
            if not isinstance(edge.command, Assume) or values["condition"] != 0:
                ways.append((edge.command, edge.target, values))
        return ways

    def _successors(self, rank: int, here: Configuration) -> list[Configuration] | None:
        """Where quiet commands lead at once, for all values of reads; None: a way ends here, or is not quiet."""
        ways = self._ways(rank, here)
        if not ways:
            return None
        found = []
        for command, target, values in ways:
            match command:
                case Load() | Fetch() | FailedCompareSwap():
                    found += [self._given(rank, here, command, target, value) for value in self.values]
                case Assign():
                    found.append(self._at(rank, target, self._with(here[1], command.register, values["value"])))
                case Assume() | Wait() | WaitLocal() | Fence():
                    found.append(self._at(rank, target, here[1]))
                case _:
                    return None
        return list(dict.fromkeys(found))

    def comes_back(
        self, rank: int, been: frozenset[Configuration], read: Statement, start: Configuration
    ) -> bool:  # fmt: skip
        """Whether every way from `start`, behind `read`, comes to where the rank has been: none ends, and none goes on
        for ever."""
        been = self._kept(rank, been, read)
        if start in been:
            return True
        ahead: dict[Configuration, list[Configuration]] = {}
        unread = [start]
        while unread:
            here = unread.pop()
            if here in ahead:
                continue
            if len(ahead) >= MOST:
                self.cut = True
                return False
            successors = self._successors(rank, here)
            if successors is None:
                return False
            ahead[here] = [each for each in successors if each not in been]
            unread += ahead[here]
        # all come back unless some go round: take away those that lead to nothing left
        while gone := [here for here, after in ahead.items() if not any(each in ahead for each in after)]:
            for here in gone:
                del ahead[here]
        return not ahead

    def _only_looks(
        self, rank: int, been: frozenset[Configuration], here: Configuration, read: Statement, target: int,
        place: Place, after: Configuration, looking: Looking,
    ) -> bool:  # fmt: skip
        """Whether `read`, given what leads to `after`, is bound to lead to a wait for `place` that it could have been
        itself."""

        def would_have_led(value: int) -> frozenset[Configuration]:
            return self._led_to(rank, self._given(rank, here, read, target, value))

        def leads(start: Configuration, value: int) -> bool:
            """Whether all ways from `start`, where the wait for `value` ends, come to where the look would have led."""
            return self._comes_to(rank, start, would_have_led(value), frozenset())

        def waits(command: Statement, to: int, values: dict[str, int], at: Configuration, seen: frozenset) -> bool:
            match command:
                case Await(relop=relop):
                    if (self.homes[rank], values["address"]) != place:
                        return False
                    ended = [value for value in self.values if compare(relop, value, values["value"])]
                    # With what ends the wait the look has to lead past it, with all else to it: else one of them is
                    # stuck where the other is not.
                    return all(leads(self._at(rank, to, at[1]), value) for value in ended) and all(
                        self._comes_to(rank, self._given(rank, here, read, target, value), frozenset({at}), frozenset())
                        != (value in ended)
                        for value in self.values
                    )
                case Load() | Fetch():
                    if (values.get("rank", self.homes[rank]), values["address"]) != place:
                        return False
                    ended = [
                        value
                        for value in self.values
                        if not self._fails(rank, seen, at, command, to, place, value, looking)
                    ]
                    return len(ended) < len(self.values) and all(
                        leads(self._given(rank, at, command, to, value), value) for value in ended
                    )
            return False

        def bound(at: Configuration, seen: frozenset[Configuration], path: tuple[Configuration, ...]) -> bool:
            if at in path or len(path) > 200:
                return False
            seen |= {at}
            ways = self._ways(rank, at)
            if not ways or not all(isinstance(way[0], Assume | Assign | Await | Load | Fetch) for way in ways):
                return False
            return all(
                bound(
                    self._at(rank, to, self._moved(at, command, values)), self._kept(rank, seen, command), (*path, at)
                )
                if isinstance(command, Assume | Assign)
                else waits(command, to, values, at, seen)
                for command, to, values in ways
            )

        return bound(after, been, ())

    def _moved(self, at: Configuration, command: Statement, values: dict[str, int]) -> tuple[int, ...]:
        return self._with(at[1], command.register, values["value"]) if isinstance(command, Assign) else at[1]

    def _led_to(self, rank: int, start: Configuration) -> frozenset[Configuration]:
        """Where assumes and assigns may lead."""
        found: set[Configuration] = set()
        unread = [start]
        while unread:
            each = unread.pop()
            if each not in found:
                found.add(each)
                if len(found) > MOST:
                    self.cut = True
                    return frozenset()
                unread += self._by_itself(rank, each)
        return frozenset(found)

    def _comes_to(
        self, rank: int, start: Configuration, goal: frozenset[Configuration], seen: frozenset[Configuration]
    ) -> bool:
        """Whether each way by assumes and assigns comes to `goal`."""
        if start in goal:
            return True
        ways = self._ways(rank, start)
        if not ways or start in seen or len(seen) > 200:
            return False
        return all(
            isinstance(command, Assume | Assign)
            and self._comes_to(rank, self._at(rank, to, self._moved(start, command, values)), goal, seen | {start})
            for command, to, values in ways
        )

    def _by_itself(self, rank: int, at: Configuration) -> list[Configuration]:
        """Where an assume or an assign leads at once."""
        return [
            self._at(rank, to, self._moved(at, command, values))
            for command, to, values in self._ways(rank, at) or ()
            if isinstance(command, Assume | Assign)
        ]


# Control states and live registers


def _merged(table: list[list[Edge]]) -> tuple[list[list[Edge]], list[int]]:
    """States with the same future are one: the edges of each, and for each old state the one that it is."""
    classes = [0] * len(table)
    while True:
        kinds = [frozenset((edge.command, classes[edge.target]) for edge in edges) for edges in table]
        numbers = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
        finer = [numbers[kind] for kind in kinds]
        if len(numbers) == len(set(classes)):
            break
        classes = finer
    out: list[list[Edge]] = [[] for _ in numbers]
    for state, edges in enumerate(table):
        out[finer[state]] = list(dict.fromkeys(Edge(edge.command, finer[edge.target]) for edge in edges))
    return out, finer


def _live(out: list[list[Edge]], names: dict[str, int]) -> list[set[str]]:
    """For each state the registers that some way on uses before it sets them. An assign to a register that nobody uses
    uses nothing, unless it can fault."""
    live: list[set[str]] = [set() for _ in out]
    changed = True
    while changed:
        changed = False
        for state, edges in enumerate(out):
            for edge in edges:
                command, later = edge.command, live[edge.target]
                needed = later - {getattr(command, "register", None)}
                if not isinstance(command, Assign) or command.register in later or may_fault(command.value):
                    needed |= {
                        name
                        for field in command.exprs
                        if (expr := getattr(command, field)) is not None
                        for name in _mentioned(expr, names)
                    }
                if not needed <= live[state]:
                    live[state] |= needed
                    changed = True
    return live


def _quietly_ahead(out: list[list[Edge]]) -> list[set[int]]:
    """For each state those that quiet commands lead to, itself among them."""
    ahead = [{state} for state in range(len(out))]
    changed = True
    while changed:
        changed = False
        for state, edges in enumerate(out):
            for edge in edges:
                if isinstance(edge.command, QUIET) and not ahead[edge.target] <= ahead[state]:
                    ahead[state] |= ahead[edge.target]
                    changed = True
    return ahead


def _is_dead(command: Statement, names: dict[str, int]) -> bool:
    """An assume that is false whatever the registers are."""
    return isinstance(command, Assume) and _constant(command.condition, names) == 0


def _constant(expr: Expr, names: dict[str, int]) -> int | None:
    """The value of `expr` if no register has a say in it."""
    if _mentioned(expr, names):
        return None
    try:
        return evaluate(expr, names)
    except (Fault, KeyError):
        return None


def _mentioned(expr: Expr, names: dict[str, int]) -> set[str]:
    """The registers that `expr` depends on. What `&&`, `||` and `?:` always skip does not count."""
    match expr:
        case Name(name):
            return set() if name in names else {name}
        case Unary(_, operand):
            return _mentioned(operand, names)
        case Binary("&&" | "||" as symbol, left, right):
            known = _constant(left, names)
            if known is not None and (known != 0) == (symbol == "||"):
                return set()
            return _mentioned(left, names) | _mentioned(right, names)
        case Binary(_, left, right):
            return _mentioned(left, names) | _mentioned(right, names)
        case Conditional(test, yes, no):
            known = _constant(test, names)
            if known is not None:
                return _mentioned(yes if known else no, names)
            return _mentioned(test, names) | _mentioned(yes, names) | _mentioned(no, names)
    return set()


def _values(program: Program) -> list[int]:
    """Values that a read may give: those about which the program's tests can tell apart, and some far from them."""
    numbers = {0, 1, program.nodes}
    for cell in program.memory:
        numbers |= set(cell.initial)
    for process in program.processes:
        for statement in statements(process.body):
            for field in statement.exprs:
                if (expr := getattr(statement, field)) is not None:
                    numbers |= set(_numbers(expr))
    near = {sign * number + offset for number in numbers for sign in (1, -1) for offset in (-1, 0, 1)}
    return sorted(value for value in near | {-(2**31), 2**31 - 1, 2**30} if -(2**31) <= value < 2**31)


def _numbers(expr: Expr) -> Iterator[int]:
    match expr:
        case Int(value):
            yield value
        case Unary(_, operand):
            yield from _numbers(operand)
        case Binary(_, left, right):
            yield from _numbers(left)
            yield from _numbers(right)
        case Conditional(test, yes, no):
            for each in (test, yes, no):
                yield from _numbers(each)
