"""An instance as flat tables of integers, which is all that the native kernel knows of a program.

A table of rows has them one after the other; a table of pieces has where each piece begins, and the end of the last.
The kernel checks the tables and refuses what it cannot trust (`pgasrob/kernel/src/tables.rs`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

from pgasrob.analysis.remembered import remembered
from pgasrob.program import core
from pgasrob.program.commands import UPDATES
from pgasrob.program.control import Transition
from pgasrob.program.core import Form, Place
from pgasrob.program.deciding import deciding_expressions
from pgasrob.program.expressions import (
    INT32,
    RELATIONS,
    Binary,
    Conditional,
    Const,
    Expr,
    IntType,
    Register,
    Symbol,
    Unary,
    registers_of,
    render,
)
from pgasrob.program.float_functions import FUNCTIONS, FUNCTIONS_OF_TWO
from pgasrob.program.illegal_calls import Claim
from pgasrob.program.instance import Instance
from pgasrob.robustness.access_tables import of_futures, pieces, touchable, waited
from pgasrob.semantics.tested_conditions import Conditions, conditions_of

FORMAT = 19
"""Changes with the format, so that a kernel and a package that do not belong together refuse each other."""

SHAPES = ("assign", "test", "immediate", "transfer", "wait", "fence", "bundle", "barrier")
"""The shapes of commands by number (`program.core`)."""
STEPS = ("popa", "popd", "popb", "popc")
"""The kinds of steps by number."""

INSTRUCTIONS = (
    "push", "register", "jump_if_zero", "jump", "truth", "!", "~", "negate", "cast", "float", "int", "float32",
    "bits32", "of_bits32", "negate.", "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "+.", "-.", "*.", "/.",
)  # fmt: skip
"""The instructions of the stack code by number. The relations come after them, those with a dot last, and then the
functions of doubles."""

_SHAPE = {name: number for number, name in enumerate(SHAPES)}
_STEP = {name: number for number, name in enumerate(STEPS)}
_RELATION = {symbol: number for number, symbol in enumerate(RELATIONS)}
_OPERATION = {name: number for number, name in enumerate(UPDATES)}
_ON_DOUBLES = (f"{each}." for each in (*RELATIONS, *FUNCTIONS, *FUNCTIONS_OF_TWO))
_INSTRUCTION = {name: number for number, name in enumerate((*INSTRUCTIONS, *RELATIONS, *_ON_DOUBLES))}
_NEGATION = {"-": "negate", "-.": "negate."}
"""The unary operators that are called as binary ones."""

BLOCKS, READS, WRITES, EVERYWHERE, LOCAL, ENDS = 1, 2, 4, 8, 16, 32
"""The flags of a command: of a test, of an immediate access, of a transfer, of a wait, of an exit."""
AT_TARGET, STEP_READS, STEP_WRITES, STEP_LOCAL, FENCED, AFTER_WRITES, AFTER_BUNDLE, LOCATED = (1 << k for k in range(8))
"""The flags of a step."""
OPERANDS = 6
"""Expressions of a command, at most, the addresses of its steps not counted."""
MOST_STEPS = 4
NO_STEP = (-1, -1, 0, -1, 0)


@dataclass(frozen=True, slots=True)
class Tables:
    """What :class:`pgasrob._kernel.Search` takes, and ``edges``, by which its moves are understood.

    - ``format``: :data:`FORMAT`.
    - ``nodes``, ``home``, ``size``, ``registers``: ranks; the rank of each process, which is called a rank below; cells
      per node; registers per process.
    - ``values``: constants and initial values. Other tables name them by their place.
    - ``memory``: for every cell of every node the value it starts with.
    - ``touchable``: for every cell the sum of the ways (:data:`READ` and so on) in which it may be touched. What stands
      in no record, because no command changes it, is left out by this table.
    - ``waited``: for every cell 1 when some command may wait for its value and updates of it commute.
    - ``unordered``: the ids of the unordered queues.
    - ``states``: for every rank the number of its control states.
    - ``leaving``: the pieces of ``transitions``, one for every control state, rank by rank.
    - ``transitions``: rows (command, target, 1 if the process may end behind it, else 0).
    - ``endless``: for every control state 1 if a rank may come back to it without an end, else 0.
    - ``kept``: for every control state the registers whose values make a difference between two times that the rank is
      there: those that are live, or of them those that decide anything where liveness is a reduction.
    - ``sources``: for every transition the steps of its command that may be chosen as a source, as bits.
    - ``commands``: rows (shape, register, relation, operation, bits, signed, flags, :data:`OPERANDS` expressions,
      :data:`MOST_STEPS` steps), -1 where there is none. Bits and signed give the type that an update computes in; flags
      are the sum of :data:`BLOCKS` and so on. Expressions are those of the shape: value or condition alone; address,
      rank, what is compared, what has to hold then, operand, what is expected; of a transfer captured address, rank,
      queue, none, operand, what is expected; queue, rank. The register of a barrier is the number of its name, that of
      an assert its place in ``claims``. A step is (kind, address, stage, kind of update that commutes or -1, flags),
      with flags as :data:`AT_TARGET`.
    - ``uses``: for every command rows (register, 1 if its value decides something by itself, else 0), those of its
      expressions; but for what a read has to give not to fail.
    - ``expressions``: the pieces of ``code``, one for every expression.
    - ``code``: rows (instruction, argument, bits, signed). The argument is a value, a register, or the instruction of
      the same expression to jump to; bits and signed give the type of an operation.
    - ``sets``: pieces with rows (cell, :data:`READ` and so on). ``soon``, ``ever``: for every control state the piece
      that holds what the rank may access before its next barrier, and at all.
    - ``barrier_later``: for every control state whether a barrier may come.
    - ``live``: for every control state the registers that may be read before they are set, and decide anything.
    - ``relevant``: the cells whose values may decide anything.
    - ``queues``: for every control state rows (queue, :data:`ANY_QUEUE` or :data:`NO_QUEUE`; how it is used), as in
      `analysis.futures`.
    - ``classes``: pieces of interchangeable ranks. ``moving``: the addresses of cells that move with their rank.
      ``rank_registers``, ``rank_cells``: rows (register or address, k) for those that hold a rank plus k.
      ``moving_targets``: whether the targets of operations are ranks that move.
    - ``landmarks``: values at which an interval that grows comes to rest, ascending. ``most``: for every address what a
      counter there does not exceed (`analysis.meanwhile`).
    - ``conditions``: rows (cell, relation, value) of the conditions that awaits test, where the search reads awaits so.
      ``counted``: the cells to which tested adds add. ``tests``: for every transition 0, or 1 where an await tests a
      condition, or where an add does, 2 and the number of its kind, behind those of updates, or where a poll does, -1
      and the place of the condition taken away.
    - ``kinds``: how many kinds of updates there are that commute with their own.
    - ``edges``: the transitions, in the order of their rows. ``claims``: what is wrong where an assert does not hold: a
      call that is not allowed, or None for all assertions of the program.

    The analyses for the reductions stand in what comes after the code; without those reductions it is empty.
    """

    format: int
    nodes: int
    home: list[int]
    size: int
    registers: int
    values: list[int]
    memory: list[int]
    touchable: list[int]
    waited: list[int]
    unordered: list[int]
    states: list[int]
    leaving: list[int]
    transitions: list[int]
    endless: list[int]
    kept_starts: list[int]
    kept: list[int]
    sources: list[int]
    commands: list[int]
    uses_starts: list[int]
    uses: list[int]
    expressions: list[int]
    code: list[int]
    set_starts: list[int]
    sets: list[int]
    soon: list[int]
    ever: list[int]
    barrier_later: list[int]
    live_starts: list[int]
    live: list[int]
    relevant: list[int]
    queue_starts: list[int]
    queues: list[int]
    class_starts: list[int]
    classes: list[int]
    moving: list[int]
    rank_registers: list[int]
    rank_cells: list[int]
    moving_targets: int
    conditions: list[int]
    counted: list[int]
    tests: list[int]
    kinds: int
    landmarks: list[int]
    most: list[int]
    edges: list[Transition]
    claims: list[Claim]


ALL_STEPS = 255
"""The bits of a command whose every step may be a source."""


def tables(
    instance: Instance,
    reductions: Collection[str] = (),
    sources: Sequence[int] | None = None,
    stores_states: bool = True,
    by_condition: bool = False,
) -> Tables:
    """The tables of ``instance``, with the analyses that ``reductions`` need, and with the conditions of awaits if they
    are read ``by_condition``.

    ``sources`` are the steps that may be chosen as a source, by transition as bits; None: all. Who stores no states has
    no use for ``touchable`` and ``waited``, which take longer to find than all other tables together: they say nothing.
    """
    conditions = conditions_of(instance) if by_condition else None
    return _compiler(instance).tables(instance, reductions, sources, stores_states, conditions)


@remembered
def _compiler(instance: Instance) -> _Compiler:
    return _Compiler(instance)


class _Compiler:
    """Collects the rows; equal values, expressions and commands get one number. (It is remembered by its instance, so
    it does not keep that.)"""

    def __init__(self, instance: Instance) -> None:
        self.update_kinds = instance.update_kinds
        self.values: dict[int, int] = {}
        self.commands: dict[tuple[int, ...], int] = {}
        self.uses: list[list[int]] = []
        self.expressions: dict[Expr, int] = {}
        self.barriers: dict[str, int] = {}
        self.claims: dict[Claim, int] = {None: 0}
        self.starts = [0]
        self.code: list[int] = []
        self.memory = [self.value(value) for value in instance.memory]
        self.leaving = [0]
        self.transitions: list[int] = []
        self.edges: list[Transition] = []
        for automaton in instance.automata:
            for out in automaton.out:
                for transition in out:
                    self.transitions += [self.command(transition.form), transition.target, int(transition.last)]
                    self.edges.append(transition)
                self.leaving.append(len(self.edges))
        self.live = [sorted(each) for automaton in instance.automata for each in automaton.live]

    def tables(
        self,
        instance: Instance,
        reductions: Collection[str],
        sources: Sequence[int] | None,
        stores_states: bool,
        conditions: Conditions | None,
    ) -> Tables:
        rows, tests = self.tested(instance, conditions) if conditions else ([], [0] * len(self.edges))
        counted = list(conditions.counted) if conditions else []
        nothing, analyses = [0] * len(instance.memory), _analyses(instance, reductions)
        kept, uses = pieces("kept", self.live, 1), pieces("uses", self.uses, 2)
        if "liveness" in reductions:
            kept = {"kept_starts": analyses["live_starts"], "kept": analyses["live"]}
        return Tables(
            FORMAT,
            instance.nodes,
            list(instance.home),
            instance.size,
            len(instance.registers),
            list(self.values),
            self.memory,
            touchable(instance) if stores_states else nothing,
            waited(instance) if stores_states else nothing,
            sorted(instance.unordered),
            [len(automaton.out) for automaton in instance.automata],
            self.leaving,
            self.transitions,
            [int(each) for rank in instance.endless for each in rank],
            kept["kept_starts"],
            kept["kept"],
            [ALL_STEPS] * len(self.edges) if sources is None else list(sources),
            [entry for row in self.commands for entry in row],
            uses["uses_starts"],
            uses["uses"],
            self.starts,
            self.code,
            **analyses,
            conditions=rows,
            counted=counted,
            tests=tests,
            kinds=len(instance.update_kinds),
            edges=self.edges,
            claims=list(self.claims),
        )

    def tested(self, instance: Instance, conditions: Conditions) -> tuple[list[int], list[int]]:
        """The rows of conditions, and for every transition what it tests."""
        kinds, tests = dict[str, int](), list[int]()
        forms = ((rank, each.form) for rank, own in enumerate(instance.automata) for each in own.transitions)
        for rank, form in forms:
            access, polled = core.at_issue(form), conditions.polled(instance, rank, form)
            if access is None or not access.tests:
                tests.append(0)
            elif polled is not None:
                tests.append(len(instance.memory) - polled - 1)
            elif access.counts:
                tests.append(2 + len(self.update_kinds) + kinds.setdefault(access.counts, len(kinds)))
            else:
                tests.append(1)
        rows = [(each.cell, _RELATION[each.relation], self.value(each.value)) for each in conditions]
        return [entry for row in rows for entry in row], tests

    def value(self, value: int) -> int:
        return self.values.setdefault(value, len(self.values))

    def command(self, form: Form) -> int:
        row = self.row(form)
        if row not in self.commands:
            self.uses.append([entry for use in _uses(form) for entry in use])
        return self.commands.setdefault(row, len(self.commands))

    def row(self, form: Form) -> tuple[int, ...]:
        """The row of a command."""
        match form:
            case core.Assign(register, value):
                return self._row("assign", register=register, operands=(value,))
            case core.Test(condition, blocks, ends, claim):
                number = -1 if blocks else self.claims.setdefault(claim, len(self.claims))
                return self._row("test", register=number, flags=BLOCKS * blocks + ENDS * ends, operands=(condition,))
            case core.Immediate(access, compared, update, loaded, until):
                return self._row(
                    "immediate",
                    register=-1 if loaded is None else loaded,
                    relation=None if compared is None else compared.relation,
                    update=update,
                    flags=READS * access.reads + WRITES * access.writes,
                    operands=(
                        *access.cell,
                        None if compared is None else compared.value,
                        None if until is None else until.holds,
                    ),
                )
            case core.Transfer(rank, queue, steps, captured, update, everywhere):
                return self._row(
                    "transfer",
                    update=update,
                    flags=EVERYWHERE * everywhere,
                    operands=(None if captured is None else captured.cell.address, rank, queue, None),
                    steps=steps,
                )
            case core.Wait(queue, local):
                return self._row("wait", flags=LOCAL * local, operands=(queue,))
            case core.Fence(queue, to):
                return self._row("fence", operands=(queue, to))
            case core.Bundle():
                return self._row("bundle")
            case core.Barrier(name):
                return self._row("barrier", register=self.barriers.setdefault(name, len(self.barriers)))
            case _:
                assert_never(form)

    def _row(
        self,
        shape: str,
        register: int = -1,
        relation: str | None = None,
        update: core.Update[Expr] | None = None,
        flags: int = 0,
        operands: Sequence[Expr | None] = (),
        steps: Sequence[core.Step[Place]] = (),
    ) -> tuple[int, ...]:
        type = INT32 if update is None else update.type
        given = () if update is None else (update.operand, update.expected)
        exprs = [*operands, *given, *[None] * (OPERANDS - len(operands) - len(given))]
        chain = [*map(self.step, steps), *[NO_STEP] * (MOST_STEPS - len(steps))]
        return (
            _SHAPE[shape],
            register,
            -1 if relation is None else _RELATION[relation],
            -1 if update is None else _OPERATION[update.operation],
            type.bits,
            int(type.signed),
            flags,
            *(-1 if expr is None else self.expression(expr) for expr in exprs),
            *(entry for step in chain for entry in step),
        )

    def step(self, step: core.Step[Place]) -> tuple[int, int, int, int, int]:
        """The entries of a step."""
        (address, rank), reads, writes, commutes, *_ = step.access
        flags = (
            AT_TARGET * (rank is not None)
            + STEP_READS * reads
            + STEP_WRITES * writes
            + STEP_LOCAL * step.local
            + FENCED * step.fenced
            + AFTER_WRITES * step.after_writes
            + AFTER_BUNDLE * step.after_bundle
            + LOCATED * step.located
        )
        kind = self.update_kinds.index(commutes) if commutes else -1
        return _STEP[step.kind], self.expression(address), step.stage, kind, flags

    def expression(self, expr: Expr) -> int:
        number = self.expressions.get(expr)
        if number is None:
            number = self.expressions[expr] = len(self.expressions)
            for instruction in self.compiled(expr):
                self.code += instruction
            self.starts.append(len(self.code) // 4)
        return number

    def compiled(self, expr: Expr) -> list[tuple[int, int, int, int]]:
        """The code of ``expr``, with places to jump to counted from its beginning."""
        code: list[tuple[int, int, int, int]] = []

        def emit(name: str, argument: int = 0, type: IntType = INT32) -> int:
            code.append((_INSTRUCTION[name], argument, type.bits, int(type.signed)))
            return len(code) - 1

        def land(*jumps: int) -> None:
            """Let jumps that were emitted earlier go to the instruction that comes next."""
            for jump in jumps:
                instruction, _, bits, signed = code[jump]
                code[jump] = (instruction, len(code), bits, signed)

        def add(expr: Expr) -> None:
            match expr:
                case Const(value) | Symbol(_, value):
                    emit("push", self.value(value))
                case Register(_, index):
                    emit("register", index)
                case Unary(symbol, operand, type):
                    add(operand)
                    emit(_NEGATION.get(symbol, symbol), type=type)
                case Binary("&&", left, right):
                    add(left)
                    decided = emit("jump_if_zero")
                    add(right)
                    emit("truth")
                    end = emit("jump")
                    land(decided)
                    emit("push", self.value(0))
                    land(end)
                case Binary("||", left, right):
                    add(left)
                    undecided = emit("jump_if_zero")
                    emit("push", self.value(1))
                    end = emit("jump")
                    land(undecided)
                    add(right)
                    emit("truth")
                    land(end)
                case Binary(symbol, left, right, type):
                    add(left)
                    add(right)
                    emit(symbol, type=type)
                case Conditional(condition, then, otherwise):
                    add(condition)
                    no = emit("jump_if_zero")
                    add(then)
                    end = emit("jump")
                    land(no)
                    add(otherwise)
                    land(end)
                case _:
                    raise ValueError(f"{render(expr)} must be specialised for a rank before it is compiled")

        add(expr)
        return code


def _uses(form: Form) -> list[tuple[int, int]]:
    """The registers that a command computes with, each with 1 if its value decides something by itself, else 0."""
    if isinstance(form, core.Immediate):
        form = replace(form, until=None)
    decides = frozenset[int]().union(*map(registers_of, deciding_expressions(form, assertions=True)))
    return [(register, int(register in decides)) for register in sorted(core.registers_read(form))]


def _analyses(instance: Instance, reductions: Collection[str]) -> dict[str, Any]:
    """The tables that only reductions need."""
    return {
        **of_futures(instance, reductions),
        **_of_interchangeable_ranks(instance, "symmetry" in reductions),
        **_of_counters(instance, "persistent" in reductions),
    }


def _of_interchangeable_ranks(instance: Instance, wanted: bool) -> dict[str, Any]:
    classes: list[list[int]] = []
    moving: list[int] = []
    registers: list[int] = []
    cells: list[int] = []
    targets = False
    if wanted:
        from pgasrob.analysis.symmetry import symmetry

        found = symmetry(instance)
        if found.classes:
            classes, moving, targets = [list(ranks) for ranks in found.classes], list(found.moving), found.targets
            registers = [entry for index, k in enumerate(found.registers) if k is not None for entry in (index, k)]
            cells = [entry for index, k in enumerate(found.cells) if k is not None for entry in (index, k)]
    return {
        **pieces("classes", classes, 1, "class_starts"),
        "moving": moving,
        "rank_registers": registers,
        "rank_cells": cells,
        "moving_targets": int(targets),
    }


def _of_counters(instance: Instance, wanted: bool) -> dict[str, Any]:
    if not wanted:
        return {"landmarks": [], "most": []}
    from pgasrob.analysis.meanwhile import landmarks
    from pgasrob.analysis.ranges import ranges

    return {
        "landmarks": landmarks(instance),
        "most": [ranges(instance).most(address) for address in range(instance.size)],
    }
