"""The question whether an instance is robust, as a Promela model for SPIN.

The attack search (`robustness.attack`) is a question about sequentially consistent runs: is there one, with a guess of
the delayed source and a few bits beside it, that reaches a command which closes the cycle? So the program with these
bits can be printed for any model checker of interleaving programs. The model is what one would write by hand:

- a process per rank, a command one transition, control states by labels and `goto`, ranks and addresses folded;
- a bit per cell or queue only where some command can set it and another can ask for it, the smallest types that hold
  the values, nothing stored that nobody reads;
- what only the rank itself can see (registers, what of its queues is delayed) is local to the process, so that SPIN's
  partial-order reduction and statement merging know it;
- the arrival at a barrier belongs to the command before it and the meeting to the last arrival, so that barriers cost
  neither states nor transitions;
- an operand that depends on registers becomes one alternative for each of its values.

A violation is the assertion `assert(false)`, which the search for safety errors finds. A command that faults is not
enabled. With ``moves`` every transition prints its move when a trail is replayed, by which the trail is understood
(`robustness.spin`); without, the model is shorter and SPIN some percent faster.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from pgasrob.export.values import PossibleValues, Values, reachable, united
from pgasrob.program.commands import ATOMIC, REMOTE, Command, expressions_of, show
from pgasrob.program.control import Transition
from pgasrob.program.core import Cell
from pgasrob.program.expressions import (
    CONVERSIONS,
    INT32,
    Binary,
    Conditional,
    Const,
    Expr,
    IntType,
    Register,
    Symbol,
    Unary,
    constant,
    registers_of,
    render,
)
from pgasrob.program.instance import Instance

MOST_PROCESSES = 255
"""SPIN has no more."""
MOST_CASES = 4_000
"""Alternatives at one control state; SPIN's parser keeps them on a stack."""
MOST_TEXT = 20_000
"""Characters of one expression, which can double with every division."""
MOST_NESTED = 8
"""Branches within branches before a label is used."""

STATE_BYTES = 1_024
"""The size of a state that SPIN is prepared for unless it is told otherwise."""


class Unsupported(Exception):
    """The instance has no exact model; the text says why."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model and how to read its trails.

    ``text``: the Promela text. ``edges``: the transitions of the control automata, rank by rank; a move names them by
    their place. ``before``: moves that the model does not make because they come first in every run. ``bytes``: not
    less than what SPIN needs for a state.
    """

    text: str
    edges: tuple[Transition, ...]
    before: tuple[str, ...]
    bytes: int


def to_promela(instance: Instance, moves: bool = False) -> str:
    """The Promela model of ``instance``: SPIN finds an error in it exactly when the instance is not robust.

    Raises :class:`Unsupported` where an exact model cannot be given.
    """
    for gap in instance.program.gaps:
        raise Unsupported(f"not all of its runs are known: {gap}")
    return promela_model(instance, moves).text


def promela_model(instance: Instance, moves: bool = True) -> Model:
    """The same with what it takes to understand a trail."""
    return _Writer(instance, moves).model()


COMMANDS = (
    "load", "store", "assign", "assume", "assert", "read", "write", "barrier", "wait", "wait_local", "fence", "await",
    "fetch_add", "swap", "compare_swap",
)  # fmt: skip
"""The kinds of commands that a model can have."""


def _only_modelled(instance: Instance) -> None:
    """Raise :class:`Unsupported` for a command or an operator that no model has."""
    for automaton in instance.automata:
        for transition in automaton.transitions:
            command = transition.command
            if command.kind not in COMMANDS:
                raise Unsupported(f"the command {show(command)} (line {transition.span.line})")
            for expr in expressions_of(command).values():
                _without_doubles(expr)


def _without_doubles(expr: Expr) -> None:
    """Raise :class:`Unsupported` for an operator on doubles and for a conversion."""
    match expr:
        case Unary(symbol, operand):
            if symbol in CONVERSIONS:
                raise Unsupported(f"the conversion in {render(expr)}")
            _without_doubles(operand)
        case Binary(symbol, left, right):
            if symbol.endswith("."):
                raise Unsupported(f"the operation on doubles {render(expr)}")
            _without_doubles(left)
            _without_doubles(right)
        case Conditional(condition, then, otherwise):
            for part in (condition, then, otherwise):
                _without_doubles(part)


# --- Expressions -----------------------------------------------------------------------------------------------------

Name = Callable[[Register], str]


def _number(value: int) -> str:
    if not -(1 << 31) <= value < 1 << 31:
        raise Unsupported(f"{value} is outside Promela's 32-bit integers")
    if value == -(1 << 31):
        return "(-2147483647 - 1)"  # its absolute value is no int
    return f"({value})" if value < 0 else str(value)


def _expression(expr: Expr, name: Name) -> str:
    """``expr`` in Promela, with C's meaning and wrap-around; where it faults it may mean anything."""
    text = _text(expr, name)
    if len(text) > MOST_TEXT:
        raise Unsupported(f"an expression takes {len(text):,} characters in Promela, which has no temporary values")
    return text


def _text(expr: Expr, name: Name) -> str:
    match expr:
        case Const(value) | Symbol(_, value):
            return _number(value)
        case Register():
            return name(expr)
        case Conditional(condition, then, otherwise):
            return f"({_text(condition, name)} -> {_text(then, name)} : {_text(otherwise, name)})"
        case Unary(symbol, operand, type):
            _only_int(type)
            return f"({symbol}{_text(operand, name)})"
        case Binary(symbol, left, right, type):
            _only_int(type)
            first, second = _expression(left, name), _expression(right, name)
            plain = f"({first} {symbol} {second})"
            divisor = constant(right)
            if symbol in ("/", "%") and divisor in (None, -1):
                # The processor traps at INT_MIN / -1.
                by_minus_one = f"(-{first})" if symbol == "/" else "0"
                return by_minus_one if divisor == -1 else f"({second} == (-1) -> {by_minus_one} : {plain})"
            return plain
    raise ValueError(f"{expr} must be specialised for a rank")


def _only_int(type: IntType) -> None:
    if type != INT32:
        raise Unsupported(f"an operation on {type.bits}-bit {'' if type.signed else 'un'}signed integers")


def _has_value(expr: Expr, name: Name) -> str | None:
    """A condition under which ``expr`` does not fault, itself without fault; None when it never does."""
    match expr:
        case Unary(_, operand):
            return _has_value(operand, name)
        case Binary("&&" | "||" as symbol, left, right):
            rest = _has_value(right, name)
            if rest is not None:
                test = _expression(left, name)
                rest = f"({f'!{test}' if symbol == '&&' else test} || {rest})"
            return _all([_has_value(left, name), rest])
        case Binary(symbol, left, right, type):
            own = None
            value = constant(right)
            if symbol in ("/", "%") and not value:
                own = "false" if value == 0 else f"{_expression(right, name)} != 0"
            elif symbol in ("<<", ">>"):
                if value is None:
                    amount = _expression(right, name)
                    own = f"({amount} >= 0 && {amount} < {type.bits})"
                elif not 0 <= value < type.bits:
                    own = "false"
            return _all([_has_value(left, name), _has_value(right, name), own])
        case Conditional(condition, then, otherwise):
            yes, no = _has_value(then, name), _has_value(otherwise, name)
            branch = None
            if yes is not None or no is not None:
                branch = f"({_expression(condition, name)} -> {yes or 'true'} : {no or 'true'})"
            return _all([_has_value(condition, name), branch])
    return None


def _all(conditions: Sequence[str | None]) -> str | None:
    known = [condition for condition in conditions if condition is not None]
    text = " && ".join(known) or None
    if text and len(text) > MOST_TEXT:
        raise Unsupported("the condition under which an expression has a value is too long for Promela")
    return text


# --- Statements ------------------------------------------------------------------------------------------------------

Lines = list[str]


def _if(condition: Iterable[str], then: Lines, otherwise: Lines) -> Lines:
    """A choice by the disjunction of ``condition``."""
    terms = list(dict.fromkeys(condition))
    if not terms:
        return otherwise
    if not then and not otherwise:
        return []
    return [
        "if",
        f":: {' || '.join(terms)} ->" if then else f":: {' || '.join(terms)}",
        *_indented(then),
        ":: else ->" if otherwise else ":: else",
        *_indented(otherwise),
        "fi;",
    ]


def _indented(lines: Lines, by: int = 1) -> Lines:
    return ["  " * by + line for line in lines]


def _set(bits: Iterable[str]) -> Lines:
    """Set some bits, each once; "" is none."""
    text = " ".join(f"{bit} = 1;" for bit in dict.fromkeys(bits) if bit)
    return [text] if text else []


@dataclass(frozen=True, slots=True)
class _Option:
    """One way of taking a command: enabled under all ``guards``, then ``body``, in one transition.

    ``private``: it concerns nobody but the rank. ``ends``: the model stops here, with a violation.
    """

    guards: tuple[str, ...]
    body: Lines
    private: bool = False
    ends: bool = False

    @property
    def is_free(self) -> bool:
        """Whether it can belong to the transition before it."""
        return self.private and not self.guards

    def lines(self, after: Lines) -> Lines:
        """As one statement; ``after``: what happens in the same transition."""
        guard = " && ".join(self.guards)
        if self.private and not after:
            return [f"{guard};", *self.body] if guard else self.body or ["skip;"]
        inside = [f"{guard} ->" if guard else "true ->", *self.body, *([] if self.ends else after)]
        return [f"d_step {{ {inside[0]}", *_indented(inside[1:]), "};"]


# --- The model -------------------------------------------------------------------------------------------------------


@dataclass
class _Ways:
    """In which ways the commands may access cells, as far as values can be told.

    An atomic is a write: whatever conflicts with its read conflicts with its write too.
    """

    read: set[Cell] = field(default_factory=set)
    written: set[Cell] = field(default_factory=set)
    delayed_read: set[Cell] = field(default_factory=set)
    delayed_written: set[Cell] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Case:
    """A command with numbers for the operands that say where it works, under the ``guards``."""

    guards: tuple[str, ...]
    cell: Cell | None = None
    source: Cell | None = None
    destination: Cell | None = None
    queue: int | None = None
    target: int | None = None


Feature = tuple[object, ...]
"""What a command has to do with the bits: ("remote", queue), ("put", queue, target), ("wait", queue), ("wait_local",
queue), ("fence", queue, target), ("access",) or ("barrier",)."""


class _Writer:
    """Writes the model of one instance."""

    def __init__(self, instance: Instance, moves: bool) -> None:
        self.instance = instance
        self.moves = moves
        if instance.nodes > MOST_PROCESSES:
            raise Unsupported(f"{instance.nodes} ranks, and SPIN has no more than {MOST_PROCESSES} processes")
        _only_modelled(instance)
        self.values = PossibleValues(instance)
        self.edges: list[Transition] = []
        self.numbers: list[list[list[int]]] = []  # rank -> control state -> numbers of the transitions
        for automaton in instance.automata:
            self.numbers.append([])
            for out in automaton.out:
                self.numbers[-1].append(list(range(len(self.edges), len(self.edges) + len(out))))
                self.edges += out
        self.cell_names = self._cell_names()
        self.cases: list[dict[tuple[int, int], list[_Case]]] = []  # rank -> (state, edge) -> cases
        for rank in range(instance.nodes):
            self.cases.append(dict(self._all_cases(rank)))
        self.ways = self._ways()
        self.live_cells = self._live()
        self.read_later = [self._read_later(rank) for rank in range(instance.nodes)]
        around = [self._around(rank) for rank in range(instance.nodes)]
        self.earlier = [earlier for earlier, _ in around]
        self.later = [later for _, later in around]
        self.sources = self._sources()
        self.used: set[str] = set()  # bits of all processes
        self.locals: list[set[str]] = [set() for _ in range(instance.nodes)]
        self.scratch = False
        self.has_barriers = False

    def model(self) -> Model:
        starts, waiting, before = self._starts()
        processes = [_Process(self, rank, starts[rank]).lines() for rank in range(self.instance.nodes)]
        declarations = self._declarations(waiting)
        size = 64 + sum(16 + 4 * (len(names) + len(self.instance.registers)) for names in self.locals)
        size += 4 * (len(self.live_cells) + len(self.used) + self.instance.nodes)
        lines = [*self._heading(size), *declarations, *(line for process in processes for line in process)]
        return Model("\n".join(lines) + "\n", tuple(self.edges), tuple(before), size)

    # Names

    def _cell_names(self) -> list[str]:
        program, taken = self.instance.program, set[str]()
        names = []
        for index in range(self.instance.size):
            name = re.sub(r"\W", "_", program.cell_name(index)).rstrip("_")
            while name in taken:
                name += "_"
            taken.add(name)
            names.append(name)
        return [f"{name}_{rank}" for rank in range(self.instance.nodes) for name in names]

    def register(self, register: Register) -> str:
        return f"r_{register.name}"

    def queue(self, queue: int) -> str:
        return f"q_{self.instance.program.queue_name(queue)}"

    def expression(self, expr: Expr) -> str:
        return _expression(expr, self.register)

    def has_value(self, expr: Expr) -> str | None:
        return _has_value(expr, self.register)

    def bit(self, name: str) -> str:
        """The bit ``name`` of all processes, declared because it is named."""
        self.used.add(name)
        return name

    def cell(self, cell: Cell) -> str:
        """The value of ``cell``."""
        if cell not in self.ways.written:
            return _number(self.instance.memory[cell])
        return f"m_{self.cell_names[cell]}"

    # What there is

    def _all_cases(self, rank: int) -> Iterator[tuple[tuple[int, int], list[_Case]]]:
        for state, out in enumerate(self.instance.automata[rank].out):
            if self.values.registers(rank, state) is None:
                continue
            total = 0
            for transition, number in zip(out, self.numbers[rank][state], strict=True):
                found = []
                for case in self._command_cases(rank, state, transition.command):
                    found.append(case)
                    total += 1
                    if total > MOST_CASES:
                        line = transition.span.line
                        raise Unsupported(
                            f"the operands of {show(transition.command)} (line {line}) may have too many values"
                        )
                yield (state, number), found

    def _command_cases(self, rank: int, state: int, command: Command) -> Iterator[_Case]:
        """The command with every choice of its rank, addresses and queue."""
        exprs, size = expressions_of(command), self.instance.size
        bounds = {"rank": self.instance.nodes, "local": size, "remote": size, "address": size, "queue": None}
        where = [name for name in exprs if name in bounds]
        choices = []
        for name in where:
            values = self.values.choices(rank, state, exprs[name], bounds[name])
            if values is None:
                raise Unsupported(f"the queue of {show(command)} may have too many values")
            choices.append(values)
        defined = [self.has_value(expr) for expr in exprs.values()]
        known = tuple(condition for condition in defined if condition is not None)
        if "false" in known:
            return
        for chosen in product(*choices):
            at = dict(zip(where, chosen, strict=True))
            guards = (
                *known,
                *(
                    f"{self.expression(exprs[name])} == {value}"
                    for name, value in at.items()
                    if constant(exprs[name]) is None
                ),
            )
            target = at.get("rank", rank)
            if command.kind in REMOTE:
                here, there = rank * size + at["local"], target * size + at["remote"]
                source, destination = (here, there) if command.kind == "write" else (there, here)
                yield _Case(guards, source=source, destination=destination, queue=at["queue"], target=target)
            elif "address" in at:
                yield _Case(guards, cell=target * size + at["address"])
            else:
                yield _Case(guards, queue=at.get("queue"), target=at.get("rank"))

    def commands(self) -> Iterator[tuple[int, int, Transition, _Case]]:
        """Every command that may be issued: rank, control state, transition, case."""
        for rank, cases in enumerate(self.cases):
            for (state, number), found in cases.items():
                for case in found:
                    yield rank, state, self.edges[number], case

    def _ways(self) -> _Ways:
        ways = _Ways()
        for _, _, transition, case in self.commands():
            kind = transition.command.kind
            if case.source is not None and case.destination is not None:
                ways.read.add(case.source)
                ways.delayed_read.add(case.source)
                ways.written.add(case.destination)
                ways.delayed_written.add(case.destination)
            elif case.cell is not None:
                if kind == "store" or kind in ATOMIC:
                    ways.written.add(case.cell)
                else:
                    ways.read.add(case.cell)
        return ways

    def _live(self) -> set[Cell]:
        """The cells whose value may ever matter; found with the registers (rank, index) of which that is true."""
        registers: set[tuple[int, int]] = set()
        cells: set[Cell] = set()
        while True:
            before = len(registers), len(cells)
            for rank, _, transition, case in self.commands():
                command = transition.command
                sets = hasattr(command, "register") and (rank, command.register.index) in registers
                if command.kind == "await" or (sets and command.kind in ("load", *ATOMIC)):
                    cells.add(_known(case.cell))
                if case.destination in cells:
                    cells.add(_known(case.source))
                registers.update((rank, index) for index in self._asked(command, case, sets, cells))
            if (len(registers), len(cells)) == before:
                return cells

    def _asked(self, command: Command, case: _Case, sets: bool, cells: set[Cell]) -> set[int]:
        """The registers that ``command`` looks at when its own register matters (``sets``) and so do ``cells``."""
        exprs, kind = expressions_of(command), command.kind
        if (
            kind in ("assume", "await")
            or (kind == "assign" and sets)
            or (case.cell in cells and kind in ("store", *ATOMIC))
        ):
            used = list(exprs.values())
        else:
            places = ("rank", "local", "remote", "address", "queue")
            used = [expr for name, expr in exprs.items() if name in places or self.has_value(expr) is not None]
        return {index for expr in used for index in registers_of(expr)}

    def _read_later(self, rank: int) -> list[set[int]]:
        """For every control state the registers that are read before they are set."""
        out = self.instance.automata[rank].out
        found: list[set[int]] = [set() for _ in out]
        changed = True
        while changed:
            changed = False
            for (state, number), cases in self.cases[rank].items():
                transition = self.edges[number]
                command = transition.command
                later = set(found[transition.target])
                own = command.register.index if hasattr(command, "register") else None
                for case in cases:
                    read = self._asked(command, case, own in later, self.live_cells)
                    read |= later - {own}
                    if not read <= found[state]:
                        found[state] |= read
                        changed = True
        return found

    def _features(self, rank: int, edge: int, cases: Iterable[_Case]) -> set[Feature]:
        kind, found = self.edges[edge].command.kind, set[Feature]()
        for case in cases:
            if case.cell is not None or case.source is not None:
                found.add(("access",))
            if kind in REMOTE:
                found.add(("remote", case.queue))
                if kind == "write":
                    found.add(("put", case.queue, case.target))
            elif kind in ("wait", "wait_local"):
                found.add((kind, case.queue))
            elif kind == "fence":
                ranks = range(self.instance.nodes) if case.target is None else (case.target,)
                found.update(("fence", case.queue, target) for target in ranks)
            elif kind == "barrier":
                found.add(("barrier",))
        return found

    def _around(self, rank: int) -> tuple[list[set[Feature]], list[set[Feature]]]:
        """For every control state the features of the commands that may come before it, and after it."""
        after = reachable(self.instance.automata[rank].out)
        earlier: list[set[Feature]] = [set() for _ in after]
        later: list[set[Feature]] = [set() for _ in after]
        here: list[set[Feature]] = [set() for _ in after]
        for (state, edge), cases in self.cases[rank].items():
            features = self._features(rank, edge, cases)
            here[state] |= features
            for follower in after[self.edges[edge].target]:
                earlier[follower] |= features
        for state, states in enumerate(after):
            later[state].update(*(here[each] for each in states))
        return earlier, later

    def _sources(self) -> dict[tuple[Cell, str], int]:
        """Numbers for the steps that can be a source: those that some access conflicts with."""
        ways = self.ways
        steps = sorted(
            {(cell, "read") for cell in ways.delayed_read & ways.written}
            | {(cell, "write") for cell in ways.delayed_written}
        )
        return {step: number for number, step in enumerate(steps, start=1)}

    def _starts(self) -> tuple[list[int], set[int], Lines]:
        """Where the ranks start, who stands in a barrier there, and the moves before that.

        A barrier that is all a rank can begin with is none of the model's business.
        """
        automata = self.instance.automata
        control = [0] * self.instance.nodes
        before: Lines = []
        seen = set()
        while tuple(control) not in seen:
            seen.add(tuple(control))
            single = {
                rank: edge for rank in range(len(automata)) if (edge := self.barrier(rank, control[rank])) is not None
            }
            before += [f"barrier {rank} {edge}" for rank, edge in single.items()]
            for rank, edge in single.items():
                control[rank] = self.edges[edge].target
            if len(single) < len(automata):
                return control, set(single), before
        # The ranks meet at barriers for ever.
        return control, set(), []

    def barrier(self, rank: int, state: int) -> int | None:
        """The transition that leaves ``state`` when it is a barrier and the only one."""
        leaving = self.numbers[rank][state]
        return leaving[0] if len(leaving) == 1 and self.edges[leaving[0]].command.kind == "barrier" else None

    # Text

    def _heading(self, size: int) -> Lines:
        program, instance = self.instance.program, self.instance
        sources = [
            f"{number} the {kind} of {instance.cell_name(cell)}" for (cell, kind), number in self.sources.items()
        ]
        room = f" -DVECTORSZ={size}" if size > STATE_BYTES else ""
        return [
            f"/* {_comment(program.name)} on {instance.nodes} nodes: is it robust? Written by pgasrob export.",
            "",
            "   An assertion is violated exactly when it is not. The runs of this model are the sequentially",
            "   consistent runs of the program without the steps that a violation delays, and a violation ends them.",
            "",
            f"     spin -a model.pml && cc -O2 -DSAFETY{room} -fwrapv -o pan pan.c && ./pan -E -m1000000",
            "",
            "   -E: a rank may end, or wait for ever, anywhere. -fwrapv: integers wrap around.",
            "   m_x_0 is the value of cell x of rank 0, r_s the register s. The rest is 0 until a source is chosen:",
            "   source      the first step that is delayed: 0 none",
            *_wrapped("               ", sources),
            "   tainted_0   what rank 0 does from now on happens after the source's command",
            "   tr_ tw_     cells that commands which happen after it have read, written",
            "   dr_ dw_     cells that delayed steps read, write",
            "   q_          what of this rank's operations in a queue is delayed: _src reads of sources, _dst writes",
            "               of destinations, _any either, _loc what wait_local waits for, _to_1 puts to rank 1,",
            "               _bound_1 those that a fence puts before later ones",
            "   arrived_0   rank 0 stands in a barrier",
            *(
                ["   A move is printed as rank, transition, and the part of each step: 1 now, 2 delayed."]
                if self.moves
                else []
            ),
            "*/",
            "",
        ]

    def _declarations(self, waiting: set[int]) -> Lines:
        lines = []
        for cell in sorted(self.live_cells & self.ways.written):
            start = self.instance.memory[cell]
            initial = f" = {_number(start)}" if start else ""
            lines.append(f"{_type(self.values.cells[cell])} {self.cell(cell)}{initial};")
        if self.sources:
            lines.append(
                f"{'bit' if len(self.sources) == 1 else 'byte' if len(self.sources) < 256 else 'short'} source;"
            )
            if len(self.sources) >= 1 << 15:
                raise Unsupported(f"{len(self.sources):,} cells that an operation may access")
        if self.scratch:
            lines.append("hidden int old;  /* scratch, no part of a state */")
        lines += [f"bit {name};" for name in sorted(self.used)]
        if self.has_barriers or waiting:
            ranks = range(self.instance.nodes)
            lines += [f"bit arrived_{rank}{' = 1' if rank in waiting else ''};" for rank in ranks]
            lines += ["", *self._meet()]
        return [*lines, ""]

    def _meet(self) -> Lines:
        """What the last rank to arrive at a barrier does."""
        ranks = range(self.instance.nodes)
        arrived = " && ".join(f"arrived_{rank}" for rank in ranks)
        leave = [" ".join(f"arrived_{rank} = 0;" for rank in ranks)]
        tainted = _set(f"tainted_{rank}" for rank in ranks if f"tainted_{rank}" in self.used)
        if self.sources:
            leave += _if(["source != 0"], tainted, [])
        return [
            "/* A rank has arrived at the barrier; the last one lets all of them go on, tainted if anybody is. */",
            "inline arrive() {",
            *_indented(_if([arrived], leave, [])),
            "}",
        ]


def _known(cell: Cell | None) -> Cell:
    assert cell is not None
    return cell


def _comment(text: str) -> str:
    """``text`` within a comment of a model."""
    return text.replace("*/", "* /").replace("/*", "/ *")


def _wrapped(indent: str, items: Sequence[str], width: int = 110) -> Lines:
    lines: Lines = []
    for item in items:
        if lines and len(lines[-1]) + len(item) + 2 <= width:
            lines[-1] += f", {item}"
        else:
            lines.append(indent + item)
    return lines


def _type(values: Values) -> str:
    """The smallest type for the values."""
    if values is None:
        return "int"
    low, high = min(values, default=0), max(values, default=0)
    for name, least, most in (("bit", 0, 1), ("byte", 0, 255), ("short", -(1 << 15), (1 << 15) - 1)):
        if least <= low and high <= most:
            return name
    return "int"


class _Process:
    """Writes the process of one rank."""

    def __init__(self, writer: _Writer, rank: int, start: int) -> None:
        self.writer = writer
        self.instance = writer.instance
        self.rank = rank
        self.start = start
        self.out = writer.instance.automata[rank].out
        # Behind a barrier the rank has to be let go first.
        self.behind = {
            edge.target for edge in writer.instance.automata[rank].transitions if edge.command.kind == "barrier"
        }
        self.options: dict[int, list[_Option]] = {}
        self.landing: dict[int, tuple[Lines, int]] = {}
        self.labels: set[int] = set()
        self.pending: list[int] = []
        self.written: set[int] = set()
        self.settable: set[str] | None = None  # bits of the rank that some command sets, once that is known

    def lines(self) -> Lines:
        bits = self.writer.locals[self.rank]
        self._visit()
        while bits != self.settable:
            # A bit that nobody sets is not asked for, and that may spare another one.
            self.settable = set(bits)
            bits.clear()
            self._visit()
        body = self._code(self.start, 0)
        while self.pending:
            state = self.pending.pop()
            if state not in self.written:
                body += self._code(state, 0)
        writer, rank = self.writer, self.rank
        read = set[int]().union(*writer.read_later[rank])
        registers = [
            f"{_type(self._register_values(index))} r_{name};"
            for index, name in enumerate(self.instance.program.registers)
            if index in read
        ]
        return [
            f"active proctype rank_{rank}() {{",
            *_indented([*registers, *(f"bit {name};" for name in sorted(bits))]),
            *([""] if registers or bits else []),
            *(line if re.match(r"\w+:$", line) else f"  {line}" for line in body),
            "end_of_rank:",
            "  false  /* a process that ended would be one more transition */",
            "}",
            "",
        ]

    def _register_values(self, index: int) -> Values:
        files = (self.writer.values.registers(self.rank, state) for state in range(len(self.out)))
        return united(*(file[index] for file in files if file is not None))

    # Control

    def _visit(self) -> None:
        """Find the options of every control state that can be reached, and the states that need a label."""
        incoming: dict[int, int] = {}
        seen, stack = {self.start}, [self.start]
        while stack:
            state = stack.pop()
            for edge in self._leaving(state):
                _, target = self.landing[edge] = self._landed(edge)
                self.options[edge] = self._options(state, edge, target)
                if not self.options[edge]:
                    continue
                incoming[target] = incoming.get(target, 0) + 1
                if target not in seen:
                    seen.add(target)
                    stack.append(target)
        self.labels = {state for state, count in incoming.items() if count > 1 or state == self.start}

    def _leaving(self, state: int) -> list[int]:
        reached = self.writer.values.registers(self.rank, state) is not None
        return self.writer.numbers[self.rank][state] if reached else []

    def _landed(self, edge: int) -> tuple[Lines, int]:
        """Where a transition leads, and the arrival at a barrier that belongs to it."""
        target = self.writer.edges[edge].target
        if self.writer.edges[edge].command.kind == "barrier":
            return self._arrival(edge), target
        barrier = self.writer.barrier(self.rank, target)
        if barrier is None or target in self.behind:
            return [], target
        return self._arrival(barrier), self.writer.edges[barrier].target

    def _arrival(self, edge: int) -> Lines:
        self.writer.has_barriers = True
        printed = [f'printf("barrier {self.rank} {edge}\\n");'] if self.writer.moves else []
        return [f"arrived_{self.rank} = 1;  {self._at(edge)}", *printed, "arrive();"]

    def _at(self, edge: int) -> str:
        transition = self.writer.edges[edge]
        return f"/* {transition.span.line}: {_comment(show(transition.command))} */"

    def _code(self, state: int, depth: int) -> Lines:
        """The code from ``state`` on, up to a place that is or will be written elsewhere."""
        lines: Lines = []
        while True:
            label = state in self.labels
            if label:
                if state in self.written:
                    return [*lines, f"goto state_{state};"]
                lines.append(f"state_{state}:")
            self.written.add(state)
            edges = [edge for edge in self._leaving(state) if self.options[edge]]
            if not edges:
                return [*lines, "goto end_of_rank;"]
            if len(edges) > 1:
                return lines + self._branches(edges, depth)
            statements, state = self._taken(edges[0])
            lines.append(self._at(edges[0]))
            if len(statements) == 1 and not (label and statements[0][0].startswith("d_step")):
                lines += statements[0]
                continue
            lines.append("if")
            for statement in statements:
                lines += _alternative(statement)
            lines.append("fi;")

    def _branches(self, edges: list[int], depth: int) -> Lines:
        lines = ["if"]
        for edge in edges:
            statements, target = self._taken(edge)
            inside = len(statements) == 1 and target not in self.labels and depth < MOST_NESTED
            if not inside:
                self.labels.add(target)
                self.pending.append(target)
            for statement in statements:
                comment = [self._at(edge)] if statement is statements[0] else []
                lines += comment + _alternative(statement)
                lines += _indented(self._code(target, depth + 1), 2) if inside else [f"   goto state_{target};"]
        return [*lines, "fi;"]

    def _taken(self, edge: int) -> tuple[list[Lines], int]:
        """The alternatives of taking a transition, with what belongs to it, and where it leads."""
        after, target = self.landing[edge]
        options = self.options[edge]
        if not all(option.is_free or option.private for option in options) or after:
            extra = list(after)
            while not after and (follower := self._follower(target)) is not None:
                self.written.add(target)
                extra += [self._at(follower), *self.options[follower][0].body]
                after, target = self.landing[follower]
                extra += after
            return [option.lines(extra) for option in options], target
        return [option.lines([]) for option in options], target

    def _follower(self, state: int) -> int | None:
        """The transition that leaves ``state`` when it is the only one, is always enabled and nobody sees it."""
        edges = [edge for edge in self._leaving(state) if self.options[edge]]
        if state in self.labels or len(edges) != 1:
            return None
        options = self.options[edges[0]]
        return edges[0] if len(options) == 1 and options[0].is_free else None

    # Commands

    def _options(self, state: int, edge: int, target: int) -> list[_Option]:
        transition = self.writer.edges[edge]
        found: list[_Option] = []
        for case in self.writer.cases[self.rank].get((state, edge), []):
            guards = case.guards
            if state in self.behind:
                self.writer.has_barriers = True
                guards = (f"!arrived_{self.rank}", *guards)
            if case.source is not None:
                found += self._remote(edge, transition.command, case, guards, state, target)
            elif case.cell is not None:
                found += self._access(edge, transition.command, case, guards, target)
            else:
                found += self._private(edge, transition.command, case, guards, state, target)
        return found

    def _printed(self, edge: int, parts: str = "-") -> Lines:
        return [f'printf("move {self.rank} {edge} {parts}\\n");'] if self.writer.moves else []

    def _private(
        self, edge: int, command: Command, case: _Case, guards: tuple[str, ...], state: int, target: int
    ) -> Iterator[_Option]:
        """Commands that access no cell."""
        exprs, writer, body = expressions_of(command), self.writer, list[str]()
        match command.kind:
            case "barrier":
                # Its arrival is part of landing.
                yield _Option(guards, [])
                return
            case "assume":
                value = constant(exprs["condition"])
                if value == 0:
                    return
                if value is None:
                    guards += (writer.expression(exprs["condition"]),)
            case "assign":
                body = self._into(command, writer.expression(exprs["value"]), target)
            case "wait":
                guards += tuple(f"!{bit}" for bit in self._asked("wait", _known(case.queue), state))
            case "wait_local":
                guards += tuple(f"!{bit}" for bit in self._asked("wait_local", _known(case.queue), state))
            case "fence" if self.instance.is_unordered(_known(case.queue)):
                body = self._fence(_known(case.queue), case.target, state, target)
        private = not any(guard.startswith("!arrived") for guard in guards)
        yield _Option(guards, [*body, *self._printed(edge)], private)

    def _into(self, command: Command, value: str, target: int) -> Lines:
        """Set the register of ``command``, when anybody will read it."""
        register: Register = command.register  # type: ignore[union-attr]
        if register.index not in self.writer.read_later[self.rank][target]:
            return []
        name = self.writer.register(register)
        return [f"{name} = {value};"] if name != value else []

    def _access(
        self, edge: int, command: Command, case: _Case, guards: tuple[str, ...], target: int
    ) -> Iterator[_Option]:
        """Commands that access a cell at issue."""
        cell = _known(case.cell)
        writes = command.kind == "store" or command.kind in ATOMIC
        delayed, done, effect = (
            self._delayed(cell, writes),
            self._done(cell, writes),
            self._effect(command, cell, target),
        )
        if command.kind == "await":
            value = self.writer.expression(expressions_of(command)["value"])
            guards += (f"{self.writer.cell(cell)} {command.relation} {value}",)
        me = self._me()
        # In sigma it would come after what is delayed, so it can only be the command that closes the cycle.
        marks = _set([*self._taint(target), self._mark("tw" if writes else "tr", cell)])
        body = _if([*me, *done], marks, []) + effect
        yield _Option((*guards, *(f"!{bit}" for bit in delayed)), [*body, *self._printed(edge)])
        closing = self._conflicts(cell, writes)
        if delayed and closing:
            entering = _any([*me, *done])
            yield self._closed(edge, (*guards, _any(delayed), _any(closing), entering), "-")

    def _effect(self, command: Command, cell: Cell, target: int) -> Lines:
        """What a load, store, await or atomic does to its register and cell."""
        exprs, writer = expressions_of(command), self.writer
        if command.kind == "await":
            return []
        name, live = writer.cell(cell), cell in writer.live_cells
        if command.kind == "load":
            return self._into(command, name, target)
        texts = {
            key: writer.expression(expr)
            for key, expr in exprs.items()
            if key in ("value", "operand", "expected", "new")
        }
        if command.kind == "store":
            return [f"{name} = {texts['value']};"] if live else []
        if command.kind == "fetch_add":
            _only_int(command.type)
        change: Lines = []
        if live:
            match command.kind:
                case "fetch_add" if constant(exprs["operand"]) != 0:
                    change = [f"{name} = {name} + {texts['operand']};"]
                case "swap":
                    change = [f"{name} = {texts['value']};"]
                case "compare_swap":
                    change = _if([f"{name} == {texts['expected']}"], [f"{name} = {texts['new']};"], [])
        loaded = self._into(command, name, target)
        index = command.register.index  # type: ignore[union-attr]
        if change and loaded and any(index in registers_of(expr) for expr in exprs.values()):
            # The register is an operand too: it changes last.
            writer.scratch = True
            return [f"old = {name};", *change, *self._into(command, "old", target)]
        return loaded + change

    def _remote(
        self, edge: int, command: Command, case: _Case, guards: tuple[str, ...], state: int, target: int
    ) -> Iterator[_Option]:
        """A command with steps: in sigma, or as the source, or as the command that closes the cycle."""
        writer, source, destination = self.writer, _known(case.source), _known(case.destination)
        queue, peer = _known(case.queue), _known(case.target)
        me, bounds = self._me(), self._bounds(command, queue, peer, state)
        taint = self._taint(target)

        def marked(first: str, second: str) -> list[str]:
            return [*taint, self._mark(f"{first}r", source), self._mark(f"{second}w", destination)]

        first = _set([*marked("d", "d"), *self._placed(command, queue, peer, 0, target)]) + self._printed(edge, "22")
        second = _set([*marked("t", "d"), *self._placed(command, queue, peer, 1, target)]) + self._printed(edge, "12")
        done = [*self._done(source, False), *self._done(destination, True)]
        now = _if([*me, *done], _set(marked("t", "t")), [])
        if destination in writer.live_cells and source != destination:
            now.append(f"{writer.cell(destination)} = {writer.cell(source)};")
        now += self._printed(edge, "11")
        rest = _if([*bounds[1], *self._delayed(destination, True)], second, now)
        yield _Option(guards, _if([*bounds[0], *self._delayed(source, False)], first, rest))

        for body, step in ((first, (source, "read")), (second, (destination, "write"))):
            number = writer.sources.get(step)
            if number is not None:
                yield _Option((*guards, "source == 0"), [f"source = {number};", *body])

        # It closes the cycle by its first step, and the second comes last of all; or by the second.
        closing = self._conflicts(source, False)
        entering = [*me, *done, *self._delayed(destination, True)]
        if closing and entering:
            free = tuple(f"!{bit}" for bit in bounds[0])
            yield self._closed(edge, (*guards, *free, _any(closing), _any(entering)), "12")
        closing, entering = self._conflicts(destination, True), [*me, *done]
        if closing and entering:
            free = tuple(f"!{bit}" for bit in dict.fromkeys([*bounds[0], *bounds[1]]))
            yield self._closed(edge, (*guards, *free, _any(closing), _any(entering)), "11")

    def _closed(self, edge: int, guards: tuple[str, ...], parts: str) -> _Option:
        return _Option(guards, [*self._printed(edge, parts), "assert(false);"], ends=True)

    # Bits of all processes

    def _me(self) -> list[str]:
        return [self.writer.bit(f"tainted_{self.rank}")] if self.writer.sources else []

    def _taint(self, target: int) -> list[str]:
        """The taint of this rank, when it does anything any more."""
        later = self.writer.later[self.rank][target]
        return self._me() if ("access",) in later or ("barrier",) in later else []

    def _mark(self, set: str, cell: Cell) -> str:
        """A bit to set: ``tr``, ``tw``, ``dr`` or ``dw`` of ``cell``; the empty text when nobody asks for it."""
        ways = self.writer.ways
        asked = {
            "tr": cell in ways.read & ways.written,
            "tw": cell in ways.written,
            "dr": cell in ways.delayed_read & ways.written,
            "dw": cell in ways.delayed_written,
        }
        return self.writer.bit(f"{set}_{self.writer.cell_names[cell]}") if asked[set] and self.writer.sources else ""

    def _done(self, cell: Cell, writes: bool) -> list[str]:
        """The bits of what tainted commands have done that conflicts with an access to ``cell``."""
        return [bit for bit in (self._mark("tw", cell), self._mark("tr", cell) if writes else "") if bit]

    def _delayed(self, cell: Cell, writes: bool) -> list[str]:
        """The bits of what is delayed that conflicts with an access to ``cell``."""
        return [bit for bit in (self._mark("dw", cell), self._mark("dr", cell) if writes else "") if bit]

    def _conflicts(self, cell: Cell, writes: bool) -> list[str]:
        """The sources that an access to ``cell`` conflicts with."""
        kinds = ("read", "write") if writes else ("write",)
        numbers = [self.writer.sources.get((cell, kind)) for kind in kinds]
        return [f"source == {number}" for number in numbers if number is not None]

    # Bits of the rank

    def _sets(self, name: str) -> str:
        self.writer.locals[self.rank].add(name)
        return name

    def _asks(self, queue: int, suffix: str, state: int) -> list[str]:
        """A bit of a queue, when it can be set in ``state``."""
        if ("remote", queue) not in self.writer.earlier[self.rank][state]:
            return []
        name = f"{self.writer.queue(queue)}_{suffix}"
        return [name] if self.settable is None or name in self.settable else []

    def _asked(self, asks: str, queue: int, state: int) -> list[str]:
        """The bits that a wait or wait_local looks at."""
        if asks == "wait_local":
            return self._asks(queue, "loc", state)
        return self._asks(queue, "any" if self.instance.is_unordered(queue) else "dst", state)

    def _bounds(self, command: Command, queue: int, peer: int, state: int) -> tuple[list[str], list[str]]:
        """For each step the bits that put it after what is delayed."""
        if not self.instance.is_unordered(queue):
            return self._asks(queue, "src", state), self._asks(queue, "dst", state)
        return [], self._asks(queue, f"bound_{peer}", state) if command.kind == "write" else []

    def _placed(self, command: Command, queue: int, peer: int, first: int, target: int) -> Iterator[str]:
        """The bits to set when the steps from ``first`` on are delayed, those that anybody will look at."""
        later, name = self.writer.later[self.rank][target], self.writer.queue(queue)
        waits, again = ("wait", queue) in later, ("remote", queue) in later
        if not self.writer.sources:
            return
        if not self.instance.is_unordered(queue):
            if first == 0 and again:
                yield self._sets(f"{name}_src")
            if waits or again:
                yield self._sets(f"{name}_dst")
        else:
            if waits:
                yield self._sets(f"{name}_any")
            if command.kind == "write" and {("fence", queue, peer), ("put", queue, peer)} <= later:
                yield self._sets(f"{name}_to_{peer}")
        if ("wait_local", queue) in later and (command.kind == "read" or first == 0):
            yield self._sets(f"{name}_loc")

    def _fence(self, queue: int, peer: int | None, state: int, target: int) -> Lines:
        """Where puts to a rank are delayed, later ones cannot come before."""
        later, name = self.writer.later[self.rank][target], self.writer.queue(queue)
        return [
            f"{self._sets(f'{name}_bound_{rank}')} = {name}_to_{rank};"
            for rank in (range(self.instance.nodes) if peer is None else (peer,))
            if ("put", queue, rank) in later and self._asks(queue, f"to_{rank}", state)
        ]


def _any(terms: Iterable[str]) -> str:
    unique = list(dict.fromkeys(terms))
    return unique[0] if len(unique) == 1 else f"({' || '.join(unique)})"


def _alternative(statement: Lines) -> Lines:
    return [f":: {statement[0]}", *(f"   {line}" for line in statement[1:])]
