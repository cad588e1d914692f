"""Runs a C program for one rank with everything known folded; what is left is statements of the calculus.

An online partial evaluator: it executes the compiled code instruction by instruction. A value is known, or it is an
expression over registers that the statements set. At merge points (heads of loops, and where branches come together) a
state that equals an earlier one goes on at its label. Variables with too many values there are generalised: they become
registers (scalars in memory become cells), which is a fact for all ranks, and the driver runs all machines again (see
`facts.py`). Loops whose conditions are known unroll. A loop in which nothing is written any more is left out: the rank
has ended there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.interface import Way
from pgasrob.frontends.c import arithmetic, by_rank, code
from pgasrob.frontends.c.branching import Branch
from pgasrob.frontends.c.calling import Calling, MakesCalls
from pgasrob.frontends.c.contents import Contents
from pgasrob.frontends.c.followed import Followed
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.machine_parts import Parts
from pgasrob.frontends.c.objects import string_bytes, text_contents
from pgasrob.frontends.c.parts import scalars_of
from pgasrob.frontends.c.problem import Beyond, Faults, Problem, TwoAnswers
from pgasrob.frontends.c.snapshots import Frame, State
from pgasrob.frontends.c.symbolic import NumberNeeded, Path, Rank
from pgasrob.frontends.c.types import CHAR, INT, Array, CType, Pointer
from pgasrob.frontends.c.values import UNDEFINED, Address, Entry, Known, ObjectId, Undefined, Unknown, Value, no_pointer
from pgasrob.frontends.c.world import World
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Mark
from pgasrob.program.expressions import Apart, Const, Expr
from pgasrob.program.outside_memory import ENDING
from pgasrob.stop_points import stop_point

ZERO = Known(0)
PROGRAM = "program"
"""What stands for the name of the program in `argv[0]`."""


class Machine:
    """A thread of one rank in one pass. After ``run`` the nodes of its writer are what its process does."""

    def __init__(self, world: World, rank: Rank, seen_by_handlers: MakesCalls, thread: int = 0) -> None:
        self.world = world
        self.facts = world.facts
        self.parts = parts = Parts(world, rank, thread)
        self.calling = Calling(parts, seen_by_handlers)
        self.position = parts.position
        self.writer = parts.writer
        self.branching = parts.branching
        self.issuer = parts.issuer
        self.objects = parts.objects
        self.tables = parts.tables
        self.pointers = parts.pointers
        self.memory = parts.memory
        self.followed = None if world.followed is None or thread else Followed()
        self.path: Path | None = () if world.leaving else None
        """By which conditions on the number of nodes the rank comes here; None where it has branched otherwise."""
        self.answering = False
        """Whether an instruction is executed that may depend on the answer to what a cell is asked."""

    def run(self) -> None:
        """Execute the program to the end of all its branches."""
        self.begin()
        followed = self.followed
        while self.branching.pending:
            path = self.path
            self.execute(self.branching.pending.pop())
            if self.path == path:  # it has not gone on behind a check of the number
                self.path = None
            self.followed = None  # from here on it may go on in several ways
        if followed is not None and self.world.followed is not None:
            followed.statements = [each for node in self.writer.nodes.values() for each in node.statements]
            self.world.followed[self.position.rank.number] = followed

    def begin(self) -> None:
        """Put the rank at the beginning of the program, the first branch that is to be executed; or a thread of it that
        is not the first where it waits to be forked."""
        if self.position.thread:
            self.parts.threads.begin()
            return
        program = self.world.program
        main = program.unit.functions.get("main")
        if main is None:
            raise Problem("PG144", "there is no function `main`", "add one: it is where every rank begins")
        self.position.rests_on_regions(main)
        self.position.go_to(State([Frame(main, program.live_slots(main), 0, None, INT)]))
        self._give_arguments()
        self.branching.pending.append(Branch(self.writer.fresh().label, self.position.state))

    def _give_arguments(self) -> None:
        """Set the parameters of `main`: `argv[0]` is the name of the program, and the arguments follow that were given.
        Without any programs use their defaults."""
        frame, program = self.position.frame, self.world.program
        texts = (PROGRAM, *(program.arguments or ()))
        values: tuple[Value, ...] = (Known(len(texts)),)
        if frame.function.parameters:
            self.world.assumptions.add(Kind.ARGUMENTS, *program.given_arguments)
        if len(frame.function.parameters) > 1:
            id = ObjectId("argv", 0)
            self.objects.declare(id, "argv", 8 * len(texts) + 8, Array(Pointer(CHAR), len(texts) + 1), Contents(0))
            argv = self.objects.contents(id, write=True)
            for number, text in enumerate(texts):
                # Programs may write to their arguments (C11, 5.1.2.2.1).
                string, data = ObjectId("argv", number + 1), string_bytes(text)
                self.objects.declare(string, f"argv[{number}]", len(data), Array(CHAR, len(data)), text_contents(data))
                argv.store(8 * number, Address(string, 0), Pointer(CHAR))
            values += (Address(id, 0), Known(0))
        for slot, value in zip(frame.function.parameters, values, strict=False):
            frame.slots[slot] = value

    def execute(self, branch: Branch) -> None:
        """Write the node of ``branch``, and those that follow it without another branch."""
        position, writer, merge_points = self.position, self.writer, self.parts.merge_points
        position.go_to(branch.state)
        writer.node, writer.open, writer.quiet = writer.nodes[branch.label], True, False
        merge_points.branched, merge_points.silent = True, 0
        try:
            if branch.first is not None:
                self.issuer.emit(branch.first)
            if branch.loaded or branch.replies:
                self.branching.by_loaded(branch.loaded, branch.replies)
            if branch.again is not None:
                self._by_answers(partial(self.calling.go_on, branch.way, branch.again), branch.way, branch.again)
            while writer.open:
                stop_point()
                self.step()
        except Faults as fault:
            self.issuer.fault(str(fault))
        except Beyond as gap:
            position.gap(str(gap))
            writer.close()
        except Problem as problem:
            if problem.span is None:
                problem.span = position.span
            raise

    def step(self) -> None:
        """Execute one instruction."""
        position = self.position
        frame = position.frame
        function, slots = frame.function, frame.slots
        if frame.pc >= len(function.code):
            self._leave(UNDEFINED)
            return
        position.instructions += 1
        instruction: Any = function.code[frame.pc]
        if (self.facts.asked or self.facts.together) and not self.answering and isinstance(instruction, ACCESSES):
            self._by_answers(self.step)
            return
        values = VALUES.get(type(instruction))
        if values is None:
            CONTROL[type(instruction)](self, instruction)
            return
        try:
            value = values(self, instruction, slots)
        except Apart:
            if not isinstance(instruction, COMPUTES):
                raise
            value = self._on_each_rank(values, instruction, slots)
        if not self.writer.open:
            return
        if value is not None:
            slots[instruction.target] = value
            if isinstance(value, Known):
                pass  # most of them
            elif isinstance(value, Unknown):
                frame.set_at[instruction.target] = position.span
            elif isinstance(value, Address) and value.object.nameless:
                variable = function.slots[instruction.target]
                self.facts.points(variable.name, variable.type, value)
        frame.pc += 1

    def _on_each_rank(
        self, values: Callable[[Machine, Any, list[Value]], Value | None], instruction: Any, slots: list[Value]
    ) -> Value | None:
        """What a computing ``instruction`` gives where that needs the numbers of each rank."""

        def compute(place: int) -> Value | None:
            value = values(self, instruction, [by_rank.on_rank(each, place) for each in slots])
            return None if value is None else by_rank.on_rank(value, place)

        return by_rank.each_rank(self.parts, compute)[0]

    def _by_answers(self, action: Callable[[], None], way: Way | None = None, again: str | None = None) -> None:
        """Do ``action``, which is to execute an instruction or to go on with a call by ``way`` and ``again``; where it
        depends on the answer to what a cell is asked, for each answer."""
        flows, writer, node = self.parts.flows, self.writer, self.writer.node
        before, issued = self.position.state.copy(), len(node.statements)
        self.answering, flows.ties, flows.wider, flows.replies = True, {}, set(), []
        try:
            action()
        except TwoAnswers as asked:
            del node.statements[issued:]
            self.branching.either(asked, before, way, again)
            return
        finally:
            self.answering = False
        if writer.open and (flows.ties or flows.replies):
            self.branching.by_loaded(flows.loaded, flows.replies)

    # Instructions that compute

    def _set(self, instruction: code.Set, slots: list[Value]) -> Value:
        return instruction.value

    def _move(self, move: code.Move, slots: list[Value]) -> Value:
        return slots[move.source]

    def _convert(self, convert: code.Convert, slots: list[Value]) -> Value:
        return self.parts.evaluation.materialised(arithmetic.convert(slots[convert.source], convert.of, convert.to))

    def _unary(self, unary: code.Unary, slots: list[Value]) -> Value:
        return self.parts.evaluation.materialised(arithmetic.unary(unary.operator, slots[unary.source], unary.type))

    def _binary(self, binary: code.Binary, slots: list[Value]) -> Value:
        left, right = slots[binary.left], slots[binary.right]
        if isinstance(left, Address) and isinstance(right, Address):
            left, right = self.pointers.alike(left, right)
        return self.parts.evaluation.materialised(arithmetic.binary(binary.operator, left, right, binary.type))

    def _offset(self, offset: code.Offset, slots: list[Value]) -> Value:
        index = Known(offset.constant) if offset.index is None else slots[offset.index]
        return self.pointers.offset(slots[offset.pointer], index, offset.size)

    def _stride(self, stride: code.Stride, slots: list[Value]) -> Value:
        size = slots[stride.size]
        if not isinstance(size, Known):
            hint = "compute the lengths of arrays from ranks and constants"
            raise Problem("PG140", "the length of the elements of this array is not known here", hint)
        return self.pointers.offset(slots[stride.pointer], slots[stride.index], stride.sign * size.value)

    def _difference(self, difference: code.Difference, slots: list[Value]) -> Value:
        return self.pointers.difference(slots[difference.left], slots[difference.right], difference.size)

    def _global(self, instruction: code.Global, slots: list[Value]) -> Value:
        return Address(self.objects.global_object(instruction.name), 0)

    def _local(self, local: code.Local, slots: list[Value]) -> Value:
        return Address(self.objects.local_object(self.position.frame, local.name), 0)

    def _string(self, string: code.String, slots: list[Value]) -> Value:
        return Address(self.objects.string_object(string.text), 0)

    # Instructions that touch memory; None: there is no meaning to it, so that a run that gets here faults

    def _load(self, load: code.Load, slots: list[Value]) -> Value | None:
        entry = self.tables.entry(slots[load.pointer])
        if entry is not None:
            return self.tables.from_table(entry, load.type)
        address = self.pointers.followed(slots[load.pointer], "read")
        if address is not None:
            value = self.memory.load(address, load.type)
            self.parts.registers.note_what_is_read(value)
            return value
        self.issuer.fault(*self._no_pointer(load.pointer))
        return None

    def _no_pointer(self, slot: int) -> tuple[str, Wrong]:
        """Why the pointer in ``slot`` cannot be followed, and the code for it."""
        name = self.position.frame.function.slots[slot].name
        return no_pointer(self.position.frame.slots[slot], f"`{name}`" if name else "a pointer")

    def _store(self, store: code.Store, slots: list[Value]) -> None:
        address = self.pointers.followed(slots[store.pointer], "set")
        if address is None:
            self.issuer.fault(*self._no_pointer(store.pointer))
        else:
            value = slots[store.source]
            self.facts.stored(address, value)
            self.memory.store(address, value, store.type)

    def _copy(self, copy: code.Copy, slots: list[Value]) -> None:
        if (entry := self.tables.entry(slots[copy.source])) is not None:
            self._copy_entry(slots[copy.pointer], entry, copy.type)
            return
        to, of = self.pointers.followed(slots[copy.pointer], "set"), self.pointers.followed(slots[copy.source], "read")
        if to is None or of is None:
            self.issuer.fault(*self._no_pointer(copy.pointer if to is None else copy.source))
        elif self.position.whose(to) or self.position.whose(of):
            for offset, type in scalars_of(copy.type):
                target, source = (self.pointers.offset(each, Known(offset), 1) for each in (to, of))
                assert isinstance(target, Address) and isinstance(source, Address)
                self.memory.store(target, self.memory.load(source, type), type)
        else:
            self.memory.copy(to, of, size_of(copy.type))

    def _copy_entry(self, pointer: Value, entry: Entry, type: CType) -> None:
        to = self.pointers.followed(pointer, "set")
        if to is None:
            raise NumberNeeded("a struct is set through something that is not a pointer", self.position.span)
        for offset, each in scalars_of(type):
            target = self.pointers.offset(to, Known(offset), 1)
            assert isinstance(target, Address)
            moved = self.tables.moved_entry(entry, Known(offset), 1)
            self.memory.store(target, self.tables.from_table(moved, each), each)

    def _clear(self, clear: code.Clear, slots: list[Value]) -> None:
        address = self.pointers.followed(slots[clear.pointer], "set")
        if address is None:
            self.issuer.fault(*self._no_pointer(clear.pointer))
        else:
            self.memory.fill(address, 0, clear.size)

    # Control

    def _jump(self, jump: code.Jump) -> None:
        if jump.to <= self.position.frame.pc:
            self.position.turn()
        self.position.frame.pc = jump.to

    def _branch(self, branch: code.Branch) -> None:
        frame = self.position.frame
        condition = frame.slots[branch.condition]
        if isinstance(condition, Undefined):
            name = frame.function.slots[branch.condition].name
            self.issuer.fault(
                f"a condition depends on {f'`{name}`' if name else 'a variable'}, which has not been set", Wrong.UNSET
            )
            return
        if not isinstance(condition, Unknown):
            taken = not isinstance(condition, Known) or condition != ZERO
            if self.followed is not None:
                written, span = self.writer.statements, self.position.span
                self.followed.branch(frame.function.name, frame.pc, taken, written, span)
            frame.pc = branch.yes if taken else branch.no
            return
        for loop in branch.leaves:
            self.facts.leave(frame.function.name, loop)
        settled = self.branching.settled(condition.expr)
        if isinstance(settled, bool):
            frame.pc = branch.yes if settled else branch.no
            return
        ways = []
        for place in (branch.yes, branch.no):
            state = self.position.state.copy()
            state.frames[-1].pc = place
            ways.append(Branch(self.writer.fresh().label, state))
        self.branching.fork(settled, *ways)
        if self.path is not None:
            self._leave_out(self.path, settled, ways)

    def _leave_out(self, path: Path, condition: Expr, ways: Sequence[Branch]) -> None:
        """End that one of two ``ways``, by whether the ``condition`` holds, on which every rank leaves at once."""
        for way, holds in zip(ways, (True, False), strict=True):
            if (*path, (condition, holds)) in self.world.leaving:
                self.branching.pending.remove(way)
                self.path = (*path, (condition, not holds))
                return

    def _call(self, call: code.Call) -> None:
        self._show()
        self.calling.call(call)

    def _show(self) -> None:
        """Tell what the current instruction shows, where the program does that."""
        displayed, frame = self.world.program.displayed.at, self.position.frame
        if displayed and (found := displayed.get((frame.function.name, frame.pc))) is not None:
            self.parts.display.show(found)

    def _loop_head(self, head: code.LoopHead) -> None:
        self.position.turn()
        self.parts.merge_points.loop_head()

    def _join(self, join: code.Join) -> None:
        self.parts.merge_points.join()

    def _leave_block(self, leave: code.Leave) -> None:
        self.parts.lifetimes.end_of_block(leave.objects)
        self.position.frame.pc += 1

    def _return(self, instruction: code.Return) -> None:
        if instruction.source is not None and self.position.frame.slots[instruction.source] != Known(0):
            self._show()
        self._leave(UNDEFINED if instruction.source is None else self.position.frame.slots[instruction.source])

    def _leave(self, value: Value) -> None:
        """Return ``value`` to the caller; main's return ends the rank."""
        frames = self.position.state.frames
        if len(frames) == 1:
            if self.position.thread:
                self.parts.threads.returns(value)
                self.parts.lifetimes.end_of_call()
                self.calling.end(refuses=False)
                return
            self.world.returns_more |= not isinstance(value, Undefined) and value != Known(0)
            if self.world.outside and not isinstance(value, Undefined) and value != Known(0):
                self.issuer.issue(Mark(Const(1), ENDING))
            self.parts.lifetimes.end_of_rank()
            self.calling.end(refuses=isinstance(value, Known) and value.value != 0)
            return
        self.parts.lifetimes.end_of_call()
        done = frames.pop()
        self.position.frame = caller = frames[-1]
        if done.target is not None:
            caller.slots[done.target] = value
            caller.set_at[done.target] = caller.function.spans[caller.pc - 1]


VALUES: dict[type, Callable[[Machine, Any, list[Value]], Value | None]] = {
    code.Set: Machine._set,
    code.Move: Machine._move,
    code.Convert: Machine._convert,
    code.Unary: Machine._unary,
    code.Binary: Machine._binary,
    code.Offset: Machine._offset,
    code.Stride: Machine._stride,
    code.Difference: Machine._difference,
    code.Global: Machine._global,
    code.Local: Machine._local,
    code.String: Machine._string,
    code.Load: Machine._load,
    code.Store: Machine._store,
    code.Copy: Machine._copy,
    code.Clear: Machine._clear,
}
"""Instructions that go on at the next one. What they give is for their target, if they have one."""
CONTROL: dict[type, Callable[[Machine, Any], None]] = {
    code.Jump: Machine._jump,
    code.Branch: Machine._branch,
    code.LoopHead: Machine._loop_head,
    code.Join: Machine._join,
    code.Call: Machine._call,
    code.Leave: Machine._leave_block,
    code.Return: Machine._return,
}
"""Instructions that set the place of the next one."""
COMPUTES = (code.Convert, code.Unary, code.Binary, code.Offset, code.Stride, code.Difference, code.Load)
"""Instructions that change nothing but what is in a slot."""
ACCESSES = (code.Load, code.Store, code.Copy, code.Clear, code.Call, code.Leave, code.Return)
"""Instructions that may access cells."""
