"""What a rank does, as it is written down: nodes of statements, and registers."""

from __future__ import annotations

from dataclasses import replace

from pgasrob.frontends.c import code
from pgasrob.frontends.c.code import Slot
from pgasrob.frontends.c.graph import Node
from pgasrob.frontends.c.problem import Problem
from pgasrob.frontends.c.snapshots import Frame, State
from pgasrob.frontends.c.symbolic import NumberNeeded
from pgasrob.frontends.c.values import Address, Code, Entry, Unknown, Value, of_registers
from pgasrob.frontends.c.world import World
from pgasrob.frontends.options import NO_SHARED_MEMORY
from pgasrob.program import commands
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import Const, Expr, Me, Register, registers_of
from pgasrob.program.statements import NOWHERE, Do, Span, Statement

UNDISTURBED = "machine.undisturbed"
"""What the state holds true from where a call notes it, as long as nothing is issued but assignments to registers, and
the rank goes on in one way."""
LEFT_OPEN = "machine.left_open"
"""What the state holds a fact under that a rank publishes if it ends before a call has taken that away."""
MOST_STATEMENTS = 100_000
"""For one rank."""


class Writer:
    """The code of one rank while it is made: ``node`` is open as long as there is more to come.

    ``state`` is where the rank is, ``frame`` its innermost call. ``quiet``: nothing has been written since the latest
    merge point or branch.
    """

    def __init__(self, world: World, rank: int | None) -> None:
        self.world = world
        self.facts = world.facts
        self.unit = world.unit
        self.number = rank
        self.version = world.facts.version
        self.nodes: dict[str, Node] = {}
        self.statements = 0
        self.turns = 0
        self.open = False
        self.quiet = True
        self.taken: set[int] = set()
        self.state: State
        self.frame: Frame
        self.node: Node

    @property
    def rank(self) -> int:
        """The rank. Raises :class:`NumberNeeded` for what every rank does."""
        if self.number is None:
            raise NumberNeeded("what is done here is another thing on every rank")
        return self.number

    @property
    def me(self) -> Const | Me:
        """The rank in commands."""
        return Me() if self.world.symbolic else Const(self.rank)

    @property
    def who(self) -> str:
        """The rank for messages."""
        return "one rank" if self.world.symbolic else f"rank {self.rank}"

    @property
    def span(self) -> Span:
        """What is executed; where that is no text of the program, the call that leads there."""
        calls = (frame.function.spans[frame.pc - 1] for frame in self.state.frames[-2::-1])
        span = self.frame.span if self.frame.span.line else next((each for each in calls if each.line), NOWHERE)
        return replace(span, turn=self.frame.turn)

    def turn(self) -> None:
        """What is executed from here on in this call is not what may have been executed there before."""
        self.turns += 1
        self.frame.turn = self.turns

    @property
    def facts_changed(self) -> bool:
        """Whether something has been learned in this pass, so that there will be another one."""
        return self.facts.version != self.version

    def fresh(self) -> Node:
        label = f"s{len(self.nodes)}"
        node = self.nodes[label] = Node(label)
        return node

    def close(self, *goes_to: str, condition: Expr | None = None) -> None:
        """The node ends: the rank goes on at one of ``goes_to``, or has ended."""
        self.node.goes_to, self.node.condition, self.node.span = goes_to, condition, self.span
        self.open = False

    def emit(self, *statements: Statement) -> None:
        if any(not isinstance(each, Do) or not isinstance(each.command, commands.Assign) for each in statements):
            disturbed(self.state)
        self.node.statements += statements
        self.quiet = False
        self.statements += len(statements)
        if self.statements > MOST_STATEMENTS:
            raise self.too_large(f"more than {MOST_STATEMENTS:,} commands for {self.who}")

    def issue(self, command: commands.Command, span: Span | None = None) -> None:
        self.emit(Do(command, span or self.span))

    def fault(self, why: str) -> None:
        """The rank comes to something without meaning: a run that gets here is in error, and goes no further."""
        self.issue(commands.Load(self.register("undefined"), self.world.nowhere(why)))
        self.close()

    def too_large(self, what: str) -> Problem:
        return Problem("PG141", what, "verify a smaller case: fewer iterations, or smaller arrays")

    @property
    def called(self) -> str:
        """The name of the function that is called by the instruction at hand."""
        call = self.frame.function.code[self.frame.pc]
        assert isinstance(call, code.Call)
        if isinstance(call.function, str):
            return call.function
        pointed = self.frame.slots[call.function]
        if not isinstance(pointed, Code):
            raise Problem("PG140", "it is not known which function is called", "call it by its name")
        return pointed.name

    def rests_on(self, kind: Kind, *about: str) -> None:
        """What is done here is what the program does as far as an assumption holds."""
        self.world.assumptions.add(kind, *about, line=self.span.line)

    def rests_on_memory(self, about: str) -> None:
        """What is done here, by ``about``, depends on which ranks share memory."""
        shared = self.world.shared_memory
        if shared == NO_SHARED_MEMORY:
            self.rests_on(Kind.SEPARATE_MEMORY, about)
        else:
            self.rests_on(Kind.SHARED_MEMORY, "all ranks" if shared == "all" else f"blocks of ranks ({shared})")

    # Registers

    def live(self, before: bool) -> list[tuple[Frame, list[Slot]]]:
        """The live slots of all frames, ``before`` or after the instruction at hand."""
        if before:
            return self.state.live()
        frame = self.frame
        frame.pc += 1
        *others, (_, here) = self.state.live()
        frame.pc -= 1
        target = getattr(frame.function.code[frame.pc], "target", None)
        return [*others, (frame, [slot for slot in here if slot != target])]

    def mentioned(self, before: bool) -> set[int]:
        """The registers that live values need."""
        found = set(self.taken)
        for frame, live in self.live(before):
            for slot in live:
                found |= registers_in(frame.slots[slot])
        return found

    def home(self, frame: Frame, slot: Slot) -> Register:
        """The register of a variable wherever ways come together."""
        name = self.world.slot_names(frame.function)[slot]
        home = self.world.register(f"{name}^{frame.depth}" if frame.depth else name)
        variable = frame.function.slots[slot].name
        if variable is not None:
            self.world.variables[home.name] = variable
        return home

    def destination(self) -> Slot | None:
        """The variable that the result of the instruction at hand is moved to right after it."""
        function, pc = self.frame.function, self.frame.pc
        slot = getattr(function.code[pc], "target", None)
        for instruction in function.code[pc + 1 : pc + 4]:
            if slot is None or function.slots[slot].name is not None:
                return slot
            match instruction:
                case code.Move(target, source) | code.Convert(target, source) if source == slot:
                    slot = target
                case _:
                    return None
        return slot if slot is not None and function.slots[slot].name is not None else None

    def register(self, hint: str = "t", before: bool = True) -> Register:
        """A register that nothing needs, if possible that of the variable which the result goes to.

        No variable has the name of another register: reports show the one and not the other.
        """
        mentioned = self.mentioned(before)
        variable = self.destination()
        if variable is not None:
            home = self.home(self.frame, variable)
            if home.index not in mentioned:
                return home
        number = 1
        while True:
            name = hint if number == 1 else f"{hint}_{number}"
            if name not in self.world.named and (found := self.world.register(name)).index not in mentioned:
                return found
            number += 1


def disturbed(state: State) -> None:
    if state.notes.get(UNDISTURBED):
        state.notes[UNDISTURBED] = False


def registers_in(value: Value) -> frozenset[int]:
    """The indexes of the registers that ``value`` depends on."""
    if isinstance(value, Unknown):
        return registers_of(value.expr)
    if isinstance(value, Address | Entry):
        offset = value.offset if isinstance(value, Address) else 0
        return of_registers(value) | (frozenset() if isinstance(offset, int) else registers_of(offset))
    return frozenset()
