"""Takes unknown values out of commands, and keeps track of the cells that may hold one.

A cell that may hold an unknown value is *uncertain*, on all ranks, and so is what transfers and atomics make of it.
What such a cell holds in the calculus decides nothing: what is loaded from it is an unknown value again, and an await
on it may go on at any time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from operator import not_
from typing import assert_never

from pgasrob.analysis.intervals import Interval
from pgasrob.frontends.c.asked import CELL, Questions, Scalar, about, answered, numbers_for, standing_for
from pgasrob.frontends.c.cells import Scalars
from pgasrob.frontends.c.graph import mapped
from pgasrob.frontends.c.nondeterminism import UNKNOWN, Bounds, Leaf, leaves, only_leaves, range_of, replaced, values_of
from pgasrob.frontends.c.problem import Beyond, TwoAnswers
from pgasrob.frontends.c.rank_position import Position
from pgasrob.frontends.c.registers import Registers
from pgasrob.frontends.c.roots import without_roots
from pgasrob.frontends.c.together import REPEATED, Bringing, Brought, answered_by, expanded, later
from pgasrob.frontends.c.types import CType
from pgasrob.frontends.c.undecided import FEW_CHOICES, Undecided
from pgasrob.frontends.c.values import Unknown, Value
from pgasrob.program import commands, core
from pgasrob.program.commands import Command, map_expressions
from pgasrob.program.core import Role
from pgasrob.program.expressions import Const, Expr, Register, registers_of, rewritten
from pgasrob.program.illegal_calls import Doubtful, Illegal, OpenAssertion
from pgasrob.program.outside_memory import Anything
from pgasrob.program.statements import (
    Block,
    Choose,
    Do,
    Goto,
    If,
    Labelled,
    Loop,
    Skip,
    Statement,
    While,
    statements_in,
)
from pgasrob.stop_points import stop_point

NEXT_PASS = "next pass"
"""What is loaded from a cell that has its place in the next pass only."""


class Flows:
    """Takes the unknown values out of commands. ``read``: the unknown values that the registers of the latest
    statements hold; ``loops``: whether there is a loop in these, which may read another one each time. ``ties``: the
    unknown values that the current instruction has loaded from cells, and what each is of the register that holds the
    number from there; ``wider``: those of them that are values of a type behind it. ``replies``: the answers that it
    has brought, and the conditions that these answer."""

    def __init__(self, position: Position, registers: Registers, undecided: Undecided) -> None:
        self.position = position
        self.registers = registers
        self.undecided = undecided
        self.world = position.world
        self.facts = position.facts
        self.questions = Questions(position.facts)
        self.read: dict[int, Leaf] = {}
        self.ties: dict[Leaf, Expr] = {}
        self.wider: set[Leaf] = set()
        self.replies: list[tuple[Expr, Expr]] = []
        self.loops = False

    def without_unknowns(self, statements: Sequence[Statement]) -> list[Statement]:
        """``statements`` with no unknown value in them."""
        self.read, self.undecided.chosen = {}, {}
        if not self.facts.unknowns:
            return list(statements)
        self.loops = any(isinstance(each, Loop | While) for each in statements_in(statements))
        self._look_for_doubts(statements)
        self._look_for_reads(statements)
        statements = [mapped(each, self._as_read) for each in statements]
        chosen = self.undecided.chosen
        for form in [core.lower(each.command) for each in statements_in(statements) if isinstance(each, Do)]:
            for role, expr in core.expressions(form):
                self._settle_place(role, rewritten(expr, chosen.get) if chosen else expr)
        return [new for each in statements for new in self._known(each)]

    def known_result(self, value: Value) -> Value:
        """``value``, a result of the latest statements, with the unknown values that they have read."""
        return Unknown(self.with_reads(value.expr)) if isinstance(value, Unknown) else value

    def with_reads(self, expr: Expr) -> Expr:
        """The same for an expression over the registers that they set."""
        chosen = self.undecided.chosen
        return rewritten(expr, lambda part: chosen.get(part) or self._as_read(part)) if self.read or chosen else expr

    # What is read

    def unknown_in(self, places: Scalars, type: Interval, own: Expr | None) -> Leaf | None:
        """An unknown value of a ``type`` that is drawn for what is in ``places``, if one of them may hold one. It comes
        of the ``own`` value that the rank gives."""
        if not any(self.facts.uncertain.has(*each) for each in places):
            return None
        if own is not None:
            self.undecided.give(own)
        leaf = self.undecided.new_leaf(UNKNOWN, type, exact=False, origins=frozenset(places))
        return self.undecided.loaded(leaf, places, drawn=True)

    def tied(self, read: Leaf, type: Interval, number: Expr | None, register: Register) -> Leaf:
        """The unknown value ``read``, which ``register`` holds, as one of a ``type``: what ``number`` says of it."""
        new = self.undecided.new_leaf(UNKNOWN, type, exact=False, of=[read])
        if number is None or not read.cells:
            return new
        found = rewritten(number, lambda part: CELL if part == register else None)
        new = replace(self.undecided.loaded(new, read.cells), found=found)
        if self.facts.asked:
            self.ties[new] = number
        return new

    def within(self, read: Leaf, type: Interval) -> Leaf:
        """The unknown value ``read``, which lies within a ``type``."""
        new = replace(read, low=type[0], high=type[1])
        if read in self.ties and new != read:
            self.ties[new] = self.ties[read]
            self.wider.add(read)
        return new

    @property
    def loaded(self) -> tuple[tuple[Leaf, Expr], ...]:
        """The unknown values of `ties` that the current instruction leaves behind, with what they are of registers."""
        return tuple((leaf, expr) for leaf, expr in self.ties.items() if leaf not in self.wider)

    def typed(self, value: Value, type: CType) -> Value:
        """``value``, which a call stores as one of ``type``; what it has loaded lies within that."""
        if isinstance(value, Unknown) and isinstance(value.expr, Leaf) and value.expr.cells:
            return Unknown(self.within(value.expr, range_of(type)))
        return value

    def _number(self, group: str) -> int:
        earlier = self.position.state.notes.get(group, 0)
        assert isinstance(earlier, int)
        return self.facts.number_of(group, earlier)

    def questions_to(self, group: str) -> tuple[Expr, ...]:
        """What the next collective is asked that brings values to ``group``."""
        return tuple(self.facts.questions.get((group, self._number(group)), ()))

    def answer(self, group: str, asked: Expr, values: Sequence[Expr | None]) -> Expr:
        """An answer to what the next collective is ``asked``, which brings ``values`` to ``group``: any, if it is not
        known."""
        number = self._number(group)
        known = later(self.position.state.brought, group, number, values)
        known |= {Brought(group, number, place): each for place, each in enumerate(values) if isinstance(each, Const)}
        condition = answered_by(asked, known)
        truth = None if condition is None else self.undecided.decided(condition)
        return self.undecided.one_of((0, 1)) if truth is None else Const(int(truth))

    def brought(self, by: Bringing, stores: Sequence[Value]) -> None:
        """Note the values that a collective has brought, which are in ``stores`` where it does not give them, and what
        its answers say of them."""
        state = self.position.state
        earlier = state.notes.get(by.group, 0)
        assert isinstance(earlier, int)
        number, frame = self.facts.number_of(by.group, earlier), self.position.frame
        if number >= 0:
            site = f"{by.group}.{frame.function.name}.{frame.pc}"
            passed = state.notes.get(site, 0)
            assert isinstance(passed, int)
            state.notes |= {by.group: earlier + 1, site: passed + 1}
            if passed >= REPEATED:
                self.facts.count_less(by.group, earlier)
        values: list[Expr | None] = [*map(self.with_reads, by.values)]
        values = values or [each.expr if isinstance(each, Unknown) else None for each in stores]
        state.brought = later(state.brought, by.group, number, values)
        for asked, answer in by.answers:
            condition = answered_by(asked, state.brought)
            if condition is not None and leaves(condition):
                self.replies.append((answer, condition))

    def _look_for_doubts(self, statements: Sequence[Statement]) -> None:
        """Note the cells of collectives that get an unknown value: what these fetch afterwards is no register that the
        program would keep in a cell."""
        for each in statements_in(statements):
            if isinstance(each, Do) and isinstance(each.command, commands.Store) and leaves(each.command.value):
                value, bounds = each.command.value, self.undecided.bounds(each.command.value)
                many = isinstance(value, Leaf) and bounds is not None and bounds.count > FEW_CHOICES
                for place in self._laid_out(each.command.address):
                    if place[0].of_api and (many or not self.facts.decisive_cells.has(*place)):
                        self.facts.doubt(*place)

    def _laid_out(self, address: Expr) -> Scalars:
        """The cells that ``address`` may be that of, but those named first in this pass. What comes to them is
        found in the next one, by which it has been learned where values decide."""
        cells = self.world.cells
        if not cells.is_new(address):
            return cells.named_by(address)
        self._wait_for_next_pass()
        return []

    def _wait_for_next_pass(self) -> None:
        self.facts.again = True
        self.facts.changed()

    def _look_for_reads(self, statements: Sequence[Statement]) -> None:
        forms = [core.lower(each.command) for each in statements_in(statements) if isinstance(each, Do)]
        set_by = Counter(map(core.register_set, forms))
        self.ties = {leaf: expr for leaf, expr in self.ties.items() if registers_of(expr).isdisjoint(set_by)}
        named = {
            each.command.register.index: each.command.register
            for each in statements
            if isinstance(each, Do) and isinstance(each.command, commands.Load | commands.Fetch)
        }
        more = True
        while more:
            stop_point()
            more = False
            for form in forms:
                register = core.register_set(form)
                leaf = None if register is None or register in self.read else self._as_leaf(form)
                if register is not None and leaf is not None:
                    if isinstance(form, core.Immediate) and set_by[register] == 1 and register in named:
                        cells = self.world.cells.named_by(form.access.cell.address)
                        leaf = self.undecided.loaded(leaf, cells)
                        if self.facts.asked:
                            self.ties[leaf] = named[register]
                    self.read[register], more = leaf, True

    def _as_leaf(self, form: core.Form) -> Leaf | None:
        """The unknown value that a command gives its register; None when it gives a known one."""
        if isinstance(form, core.Assign):
            found = leaves(rewritten(form.value, self._as_read))
            return self.undecided.new_leaf(UNKNOWN, exact=False, of=found) if found else None
        accesses = core.accesses_of(form)
        named = [access.cell.address for access in accesses]
        if any(map(self.world.cells.is_new, named)):
            # What it holds is known in the next pass; a register would put into cells what is stored of it.
            self._wait_for_next_pass()
            return self.undecided.new_leaf(NEXT_PASS, exact=False)
        cells = [cell for access in accesses for cell in self._uncertain(access)]
        return self.undecided.new_leaf(UNKNOWN, exact=False, origins=frozenset(cells)) if cells else None

    def _uncertain(self, access: core.Access[core.Place]) -> Scalars:
        return [each for each in self.world.cells.named_by(access.cell.address) if self.facts.uncertain.has(*each)]

    def _as_read(self, part: Expr) -> Expr | None:
        if isinstance(part, Register) and not isinstance(part, Leaf):
            return self.read.get(part.index)
        return None

    # Places

    def _settle_place(self, role: Role, expr: Expr) -> None:
        if role is not Role.VALUE and leaves(expr):
            what = {Role.RANK: "the rank", Role.QUEUE: "the queue"}.get(role, "the address") + " of this command"
            self._check_one_reading(expr, what)
            self.undecided.settled(expr, what, (0, self.world.nodes - 1) if role is Role.RANK else None)

    def _check_one_reading(self, expr: Expr, what: str) -> None:
        if self.loops and set(leaves(expr)) & set(self.read.values()):
            raise Beyond(f"{what} is an unknown value, read in a loop")

    # Commands

    def _known(self, statement: Statement) -> list[Statement]:
        """``statement``, whose places are known, without unknown values."""
        statement = mapped(statement, self.undecided.chosen.get, deep=False)
        match statement:
            case Do():
                return self._command(statement)
            case If(condition, then, otherwise, span):
                yes, no = self._block(then), self._block(otherwise or Block(()))
                if not leaves(condition):
                    return [If(condition, yes, no if otherwise else None, span)]
                truth = self.undecided.decision(condition)
                if truth is not None:
                    return [*(yes if truth else no).statements]
                free = self.undecided.is_free(condition)
                commits = [self.undecided.commit(condition, truth, free) for truth in (True, False)]
                ways = zip(commits, (yes, no), strict=True)
                return [Choose(tuple(Block((commit, *each.statements)) for commit, each in ways))]
            case While(condition, body, span):
                inner = self._block(body)
                if not leaves(condition):
                    return [While(condition, inner, span)]
                return [] if self.undecided.decision(condition) is False else [Loop(inner)]
            case Choose(branches):
                return [Choose(tuple(self._block(branch) for branch in branches))]
            case Loop(body):
                return [Loop(self._block(body))]
            case Labelled(label, inner):
                first, *rest = self._known(inner) or [Skip()]
                return [Labelled(label, first), *rest]
            case Skip() | Goto():
                return [statement]
            case _:
                assert_never(statement)

    def _block(self, block: Block) -> Block:
        return Block(tuple(new for each in block.statements for new in self._known(each)))

    def _command(self, do: Do) -> list[Statement]:
        form = core.lower(do.command)
        match form:
            case core.Assign(_, value):
                return [] if leaves(value) else [do]
            case core.Test(condition, blocks):
                return self._test(do, condition, blocks)
            case core.Immediate(access, condition):
                if condition is not None and self._looks_at_unknown(access, condition.value):
                    do = replace(do, command=self._without_condition(do.command))
                cells = self._laid_out(access.cell.address)
                if access.writes and not _sets(do.command):
                    self.questions.lose(cells)
                return [self._with_known_values(do, cells)]
            case core.Transfer():
                passed: Scalars = []
                update = form.update
                for made in core.accesses_of(form):
                    cells = self._laid_out(made.cell.address)
                    if made.writes:
                        if update is not None and update.operation != "set":
                            self.questions.lose(cells)
                        do = self._with_known_values(do, cells)
                        self._flow(passed, cells)
                    passed += cells
                return [do]
            case core.Wait() | core.Fence() | core.Bundle() | core.Barrier():
                return [do]
            case _:
                assert_never(form)

    def _test(self, do: Do, condition: Expr, blocks: bool) -> list[Statement]:
        """An assume or assert."""
        if not leaves(condition):
            return [do]
        truth = self.undecided.decision(condition)
        if truth is True:
            return [replace(do, command=map_expressions(do.command, lambda expr: Const(1)))]
        if blocks:
            return [] if truth is None else [replace(do, command=map_expressions(do.command, lambda expr: Const(0)))]
        fails = replace(do, command=map_expressions(do.command, lambda expr: Const(0)))
        if not isinstance(do.command, Illegal) and not self._is_drawn(condition, truth):
            fails = replace(do, command=Doubtful(Const(0), OpenAssertion(do.span)))
        return [fails] if truth is False else [Choose((Block((fails,)), Block(())))]

    def _is_drawn(self, condition: Expr, truth: bool | None) -> bool:
        """Whether it is certain that ``condition``, whose ``truth`` is this on the way here, is false in some run."""
        if values_of(condition, {}) == Bounds(0, 0):
            return True
        if len(leaves(expanded(condition))) > 1 or any(each.made for each in leaves(condition)):
            return False
        if truth is None:
            return bool(self.undecided.drawn(condition, lambda value: value == 0))
        answered = self.position.state.answered
        return all(
            each.exact or (each in answered and not any(self.facts.guessed.has(*cell) for cell in each.cells))
            for each in leaves(condition)
        )

    def _without_condition(self, command: Command) -> Command:
        match command:
            case commands.Await(address):
                return commands.Load(self.registers.register("ignored"), address, atomic=command.atomic, polling=True)
            case commands.AwaitAdd(rank, address, _, _, operand, type):
                atomic = command.atomic
                return commands.FetchAdd(
                    self.registers.register("ignored"), rank, address, operand, type, atomic=atomic
                )
        raise AssertionError(f"{command.kind} has a condition that cannot be left out")

    def _with_known_values(self, do: Do, cells: Scalars) -> Do:
        """The command with what it gives to ``cells``; all its unknown values are such."""
        return replace(do, command=map_expressions(do.command, lambda expr: self._given(expr, cells)))

    def _given(self, value: Expr, cells: Scalars) -> Expr:
        """``value`` without unknown values, given to ``cells``: 0 in place of one, and the cells are uncertain then."""
        value = rewritten(value, self.undecided.chosen.get)
        if not leaves(value):
            return value
        known = self.undecided.bounds(value) if only_leaves(value) else None
        if known is not None and known.low == known.high:
            for each in cells if self.questions.of(cells) else ():
                self.facts.doubt(*each)
            return Const(known.low)
        if any(self.facts.decisive_cells.has(*each) for each in cells):
            self.undecided.decisive([value])
            answered_before = self.position.state.answered.intersection(leaves(value))
            if not answered_before and not (self.loops and set(leaves(value)) & set(self.read.values())):
                value = self.undecided.exactly(value)
        if not leaves(value):
            return value
        number = self._standing_for(value, cells)
        self.undecided.give(value)
        for each in cells:
            self.facts.doubt(*each)
        return number or (Anything(0) if self.world.outside else Const(0))

    def _standing_for(self, value: Expr, cells: Scalars) -> Expr | None:
        """The number that stands for the unknown ``value`` in ``cells``, by what they are asked; None where nothing
        is asked. Raises :class:`TwoAnswers` for what this way does not answer."""
        asked = self.questions.of(cells)
        if not asked or any(each.name == NEXT_PASS for each in leaves(value)):
            return None
        read = leaves(value)[0]
        if only_leaves(value) and len(leaves(value)) == 1 and read in self.ties and read.found is not None:
            of_read = replaced(value, read, read.found)
            self.questions.pass_on(read.cells, tuple(about(each, of_read) for each in asked))
            if self.questions.of(read.cells):
                self._guess(read.cells, cells)
                return replaced(value, read, self.ties[read])
        elif isinstance(value, Leaf) and value.drawn and value.site not in self.facts.sites:
            if numbers := numbers_for(asked):
                self.ties[value] = register = self.undecided.one_of(numbers)
                self._guess(None, cells)
                return register
        elif only_leaves(value) and not set(leaves(value)) & set(self.read.values()):
            of_value = {each: without_roots(about(each, value)) for each in asked}
            answers, open = answered(asked, lambda each: self.undecided.decided(of_value[each]))
            if not all(each.exact for each in leaves(value)):
                self._guess(None, cells)
            if open is not None:
                if not all(self.undecided.drawn(of_value[open], wanted) for wanted in (bool, not_)):
                    self._guess(None, cells)
                raise TwoAnswers(of_value[open])
            self.undecided.assume_all(self.position.state, dict(zip(of_value.values(), answers, strict=True)))
            number = standing_for(asked, answers)
            if number is not None:
                return Const(number)
        self.questions.lose(cells)
        return None

    def _guess(self, of: Sequence[Scalar] | None, to: Scalars) -> None:
        """Note that the answers in the cells ``to`` may be those of no run, as those in the cells ``of`` may, if
        given."""
        if of is None or any(self.facts.guessed.has(*each) for each in of):
            for each in to:
                self.facts.guess(*each)

    def _flow(self, of: Scalars, to: Scalars) -> None:
        """What is in the cells ``of`` may come to the cells ``to``."""
        self._guess(of, to)
        if asked := self.questions.of(to):
            self.questions.pass_on(of, asked)
            if not all(self.questions.of([each]) for each in of):
                self.questions.lose(to)
        if any(self.facts.uncertain.has(*each) for each in of):
            for each in to:
                self.facts.doubt(*each)
        if any(self.facts.decisive_cells.has(*each) for each in to):
            for each in of:
                self.facts.decide(each)

    def _looks_at_unknown(self, access: core.Access[core.Place], value: Expr) -> bool:
        """Whether an await compares what is unknown."""
        cells = self._uncertain(access)
        for each in cells:
            self.facts.decide(each)
        self.undecided.decisive([value])
        if not cells and not leaves(value):
            return False
        self.world.blind_awaits = True
        return True


def _sets(command: Command) -> bool:
    """Whether a command with one access sets its cell to a value, all of it."""
    match command:
        case commands.Store(ends=False, bytes=()):
            return True
        case commands.FetchUpdate("set", bytes=()):
            return True
    return False
