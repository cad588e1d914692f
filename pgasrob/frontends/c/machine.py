"""Runs a C program for one rank with everything known folded; what is left is statements of the calculus.

An online partial evaluator. At merge points (heads of loops, and where branches come together) the state is compared
with those seen before: an equal one has a label already, and code goes there. Variables whose values would tell too
many states apart are generalised: they become registers (scalars in memory become cells) at that point, which is a fact
for all ranks, and the machine begins anew (see `facts.py`). Loops whose conditions are known unroll. A loop in which
nothing happens any more is left out: the rank has ended there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

from pgasrob.frontends.apis.interface import Call, Look, Outcome, Way
from pgasrob.frontends.c import arithmetic, code
from pgasrob.frontends.c.code import CompiledFunction
from pgasrob.frontends.c.contents import Contents
from pgasrob.frontends.c.facts import SOME
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.merging import Merging
from pgasrob.frontends.c.nondeterminism import RANDOM, Leaf, leaves, leaves_of, only_leaves, range_of
from pgasrob.frontends.c.output import LEFT_OPEN, disturbed, registers_in
from pgasrob.frontends.c.parts import scalars_of
from pgasrob.frontends.c.problem import Beyond, Faults, Problem, Several
from pgasrob.frontends.c.snapshots import Frame, State
from pgasrob.frontends.c.symbolic import NumberNeeded
from pgasrob.frontends.c.types import CHAR, INT, Array, CType, Integer, Pointer, Void
from pgasrob.frontends.c.undecided import committed
from pgasrob.frontends.c.values import UNDEFINED, Address, Entry, Known, ObjectId, Undefined, Unknown, Value, no_pointer
from pgasrob.frontends.c.world import World
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import Expr, Unary, folded
from pgasrob.program.statements import Span, Statement

MADE = "machine.made"
"""What the state holds what has been made on the way under, where the program is made for every number of nodes."""
ON_STACK = "machine.stack"
"""What the state holds what calls that have not returned have allocated on the stack under."""
MOST_INSTRUCTIONS = 200_000_000
"""For one rank in one pass."""
MOST_FRAMES = 500


@dataclass(slots=True)
class _Pending:
    """A node to be filled: from which state on, and what comes first: a statement; a way of the call at hand, or the
    call ``again``, whose node that is."""

    label: str
    state: State
    way: Way | None = None
    first: Statement | None = None
    again: str | None = None


class _OnStack(NamedTuple):
    """What the call ``depth`` calls deep has allocated, and the slot that its address has gone to."""

    depth: int
    slot: code.Slot | None
    object: ObjectId


class Machine(Merging):
    """One rank in one pass. After ``run`` its ``nodes`` are what its process does."""

    def __init__(
        self, world: World, rank: int | None, seen_by_handlers: Callable[[Machine, code.Call, str], Call]
    ) -> None:
        super().__init__(world, rank)
        self.seen_by_handlers = seen_by_handlers
        self.pending: list[_Pending] = []
        self.instructions = 0
        self.ways: list[frozenset[str]] = []
        self.made: dict[str, tuple[str, Span]] = {}

    def by_all(self, key: str, name: str, span: Span) -> None:
        """What function ``name`` makes here under ``key``, others take to be there on every rank."""
        self.made[key] = name, span
        known = cast("frozenset[str]", self.state.notes.get(MADE, frozenset()))
        self.state.notes[MADE] = known | {key}

    def _end(self) -> None:
        """The rank ends."""
        if isinstance(open := self.state.notes.get(LEFT_OPEN), str):
            self.facts.publish(SOME if self.number is None else self.number, open, True)
        self.ways.append(cast("frozenset[str]", self.state.notes.get(MADE, frozenset())))
        self.close()

    def check_ways(self) -> None:
        """Raises :class:`NumberNeeded` where some ways have not made what others have: which ranks go there, on which
        numbers of nodes, is not known."""
        for key, (name, span) in self.made.items():
            if any(key not in way for way in self.ways):
                raise NumberNeeded(f"`{name}` is called on some ways only, and so perhaps not by all ranks", span)

    def run(self) -> None:
        main = self.unit.functions.get("main")
        if main is None:
            raise Problem("PG144", "there is no function `main`", "add one: it is where every rank begins")
        self.frame = Frame(main, self.world.live_slots(main), 0, None, INT)
        self.state = State([self.frame])
        self._give_arguments()
        self.pending.append(_Pending(self.fresh().label, self.state))
        while self.pending:
            self._fill(self.pending.pop())

    def _give_arguments(self) -> None:
        """`argc` is 1 and `argv[0]` the program's name: programs use their defaults."""
        frame = self.frame
        values: tuple[Value, ...] = (Known(1),)
        if frame.function.parameters:
            self.world.assumptions.add(Kind.ARGUMENTS)
        if len(frame.function.parameters) > 1:
            id = ObjectId("argv", 0)
            self.declare(id, "argv", 16, Array(Pointer(CHAR), 2), Contents(0))
            self.contents(id, write=True).store(0, Address(ObjectId("string", ("program",)), 0), Pointer(CHAR))
            values += (Address(id, 0), Known(0))
        for slot, value in zip(frame.function.parameters, values, strict=False):
            frame.slots[slot] = value

    def _fill(self, pending: _Pending) -> None:
        self.node, self.state = self.nodes[pending.label], pending.state
        self.open, self.quiet, self.branched, self.silent = True, False, True, 0
        self.frame = self.state.frames[-1]
        try:
            if pending.first is not None:
                self.emit(pending.first)
            if pending.again is not None:
                self._go_on(pending.way, pending.again)
            while self.open:
                self.step()
        except Faults as fault:
            self.fault(str(fault))
        except Beyond as gap:
            self.gap(str(gap))
            self.close()
        except Problem as problem:
            if problem.span is None:
                problem.span = self.span
            raise

    def count(self, instructions: int) -> None:
        self.instructions += instructions
        if self.instructions > MOST_INSTRUCTIONS:
            raise self.too_large(f"{self.who} executes more than {MOST_INSTRUCTIONS:,} instructions")

    def step(self) -> None:
        """Execute one instruction."""
        frame = self.frame
        if frame.pc >= len(frame.function.code):
            self._leave(UNDEFINED)
            return
        self.count(1)
        instruction: Any = frame.function.code[frame.pc]
        values = VALUES.get(type(instruction))
        if values is None:
            CONTROL[type(instruction)](self, instruction)
            return
        value = values(self, instruction, frame.slots)
        if not self.open:
            return
        if value is not None:
            frame.slots[instruction.target] = value
            if isinstance(value, Unknown):
                frame.set_at[instruction.target] = self.span
            elif isinstance(value, Address) and value.object.nameless:
                variable = frame.function.slots[instruction.target]
                self._points(variable.name, variable.type, value)
        frame.pc += 1

    def _points(self, name: str | None, type: CType, value: Address) -> None:
        """The variable ``name`` points to what has no name of its own."""
        if name is None or not isinstance(type, Pointer):
            return
        if value.owner is not None:
            self.facts.elsewhere.add(name)
        elif value.offset == 0:
            self.facts.point(value.object, name, type.to)

    # Instructions that touch memory; None: there is no meaning to it, so that a run that gets here faults

    def _load(self, load: code.Load, slots: list[Value]) -> Value | None:
        entry = self.entry(slots[load.pointer])
        if entry is not None:
            return self.from_table(entry, load.type)
        address = self.followed(slots[load.pointer], "read")
        if address is not None:
            return self.load(address, load.type)
        self.fault(self._no_pointer(load.pointer))
        return None

    def _no_pointer(self, slot: int) -> str:
        """Why the pointer in ``slot`` cannot be followed."""
        name = self.frame.function.slots[slot].name
        return no_pointer(self.frame.slots[slot], f"`{name}`" if name else "a pointer")

    def _store(self, store: code.Store, slots: list[Value]) -> None:
        address = self.followed(slots[store.pointer], "set")
        if address is None:
            self.fault(self._no_pointer(store.pointer))
        else:
            value = slots[store.source]
            self._put_pointer(address, value)
            self.store(address, value, store.type)

    def _put_pointer(self, to: Address, value: Value) -> None:
        """A variable in memory, no element of a table, may be what the program knows some memory by."""
        if isinstance(value, Address) and value.object.nameless and isinstance(to.offset, int):
            name, type = self.facts.expression(to.object, to.offset), self.facts.pointer_type(to.object, to.offset)
            if isinstance(type, Array) and name is not None and "[" not in name:
                self._points(name, Pointer(type.of), value)

    def _copy(self, copy: code.Copy, slots: list[Value]) -> None:
        if (entry := self.entry(slots[copy.source])) is not None:
            self._copy_entry(slots[copy.pointer], entry, copy.type)
            return
        to, of = self.followed(slots[copy.pointer], "set"), self.followed(slots[copy.source], "read")
        if to is None or of is None:
            self.fault(self._no_pointer(copy.pointer if to is None else copy.source))
        elif self.whose(to) or self.whose(of):
            for offset, type in scalars_of(copy.type):
                target, source = (self.offset(each, Known(offset), 1) for each in (to, of))
                assert isinstance(target, Address) and isinstance(source, Address)
                self.store(target, self.load(source, type), type)
        else:
            self.copy(to, of, size_of(copy.type))

    def _copy_entry(self, pointer: Value, entry: Entry, type: CType) -> None:
        to = self.followed(pointer, "set")
        if to is None:
            raise NumberNeeded("a struct is set through what is no pointer", self.span)
        for offset, each in scalars_of(type):
            target = self.offset(to, Known(offset), 1)
            assert isinstance(target, Address)
            self.store(target, self.from_table(self.moved_entry(entry, Known(offset), 1), each), each)

    def _clear(self, clear: code.Clear, slots: list[Value]) -> None:
        address = self.followed(slots[clear.pointer], "set")
        if address is None:
            self.fault(self._no_pointer(clear.pointer))
        else:
            self.fill(address, 0, clear.size)

    # Control

    def _jump(self, jump: code.Jump) -> None:
        if jump.to <= self.frame.pc:
            self.turn()
        self.frame.pc = jump.to

    def _branch(self, branch: code.Branch) -> None:
        frame = self.frame
        condition = frame.slots[branch.condition]
        if isinstance(condition, Undefined):
            name = frame.function.slots[branch.condition].name
            self.fault(f"a condition depends on {f'`{name}`' if name else 'a variable'}, which has not been set")
            return
        if not isinstance(condition, Unknown):
            taken = not isinstance(condition, Known) or condition.value != 0
            frame.pc = branch.yes if taken else branch.no
            return
        for loop in branch.leaves:
            self.facts.leave(frame.function.name, loop)
        settled = self._settled_condition(condition.expr)
        if isinstance(settled, bool):
            frame.pc = branch.yes if settled else branch.no
            return
        ways = []
        for place in (branch.yes, branch.no):
            state = self.state.copy()
            state.frames[-1].pc = place
            ways.append(_Pending(self.fresh().label, state))
        self._fork(settled, *ways)

    def _settled_condition(self, expr: Expr) -> Expr | bool:
        """``expr`` as a condition to go two ways by, or whether it holds where that is known."""
        expr = expr if only_leaves(expr) else self.exactly(expr)
        if leaves(expr):
            decided = self.decided(expr)
            if decided is not None:
                return decided
            self.decisive([expr])
        return expr

    def _fork(self, condition: Expr, yes: _Pending, no: _Pending) -> None:
        """Go on at ``yes`` when ``condition`` holds, else at ``no``."""
        any_way = bool(leaves(condition))
        for way in (yes, no):
            disturbed(way.state)
        if any_way:
            for truth, way in ((True, yes), (False, no)):
                self.assume(way.state, condition, truth)
                way.first = committed(self.span)
        # What is done when the condition holds is made first, so that programs read as they are written.
        self.pending += (no, yes)
        self.close(yes.label, no.label, condition=None if any_way else condition)

    def _loop_head(self, head: code.LoopHead) -> None:
        self.turn()
        self.loop_head()

    def _join(self, join: code.Join) -> None:
        self.join()

    def _leave_block(self, leave: code.Leave) -> None:
        self.end_of_lives(leave.objects)
        self.frame.pc += 1

    def end_of_lives(self, names: Iterable[str]) -> None:
        """The life of these objects of the call at hand ends."""
        sized = self.frame.function.sized
        for name in names:
            if name in sized:
                self._end_on_stack(sized[name])
            else:
                self.end_of_life(self.frame.local(name))

    def _on_stack(self) -> tuple[_OnStack, ...]:
        return cast("tuple[_OnStack, ...]", self.state.notes.get(ON_STACK, ()))

    def put_on_stack(self, id: ObjectId) -> None:
        """The object that the call at hand has allocated lives as long as the variable for its address, or until the
        function returns."""
        call = self.frame.function.code[self.frame.pc]
        assert isinstance(call, code.Call)
        self.state.notes[ON_STACK] = (*self._on_stack(), _OnStack(len(self.state.frames), call.target, id))

    def _end_on_stack(self, slot: code.Slot | None) -> None:
        """The life ends of what this call has allocated for ``slot``, or (None) for any."""
        ended = [
            each for each in self._on_stack() if each.depth == len(self.state.frames) and slot in (None, each.slot)
        ]
        for each in ended:
            self.end_of_life(each.object)
        if ended:
            self.state.notes[ON_STACK] = tuple(each for each in self._on_stack() if each not in ended)

    def _return(self, instruction: code.Return) -> None:
        self._leave(UNDEFINED if instruction.source is None else self.frame.slots[instruction.source])

    def _leave(self, value: Value) -> None:
        """Return ``value`` to the caller; main's return ends the rank."""
        if len(self.state.frames) == 1:
            self._end()
            return
        self.end_of_lives(self.frame.function.lasting)
        self._end_on_stack(None)
        done = self.state.frames.pop()
        self.frame = self.state.frames[-1]
        if done.target is not None:
            self.frame.slots[done.target] = value
            self.frame.set_at[done.target] = self.frame.function.spans[self.frame.pc - 1]

    # Calls

    def _call(self, call: code.Call) -> None:
        frame = self.frame
        name = self.called
        function = self.unit.functions.get(name)
        if function is not None:
            self._enter(function, call)
            return
        handler = self.world.handler(name)
        if handler is None:
            if name not in self.world.pure:
                raise self._unknown_function(name)
            self.rests_on(Kind.ASSUMED_PURE, f"{name}()")
            self._pure(call)
            return
        self.taken = set()
        before = self.state.copy() if any(leaves_of(frame.slots[slot]) for slot in call.arguments) else None
        issued = len(self.node.statements)
        self._look_at_pointers(call)
        try:
            outcomes = handler(self.seen_by_handlers(self, call, name))
        except NumberNeeded as needed:
            if needed.span is None:
                needed.message = f"what `{name}` does here is another thing on every number of nodes"
            raise
        except Several as several:
            assert before is not None
            del self.node.statements[issued:]
            self.state, self.frame = before, before.frames[-1]
            self._try_each(several)
            return
        if not self.open:
            return
        ways = [outcomes] if isinstance(outcomes, Outcome | Look) else outcomes
        match ways:
            case [Outcome() as outcome]:
                self._finish(outcome)
            case []:
                raise NumberNeeded(f"how `{name}` may end is another thing on every number of nodes", self.span)
            case _:
                self._choose(ways)

    def _look_at_pointers(self, call: code.Call) -> None:
        """A call may take integers with a sign for such without, which are other numbers there."""
        for slot, type in zip(call.arguments, call.types, strict=False):
            value = self.frame.slots[slot]
            if not isinstance(value, Address) or not isinstance(type, Pointer) or not isinstance(type.to, Integer):
                continue
            if value.object in self.facts.objects and not value.object.of_api:
                self.used_as(value, size_of(type.to), type.to.type.signed)

    def used_as(self, address: Address, size: int, signed: bool) -> None:
        """The integer at ``address`` is taken for one with a sign, or without."""
        offset = address.offset if isinstance(address.offset, int) else None
        if self.facts.signs(address.object, offset, size) - {signed}:
            self.facts.mix(address.object)

    def _pure(self, call: code.Call) -> None:
        """What a function computes that is assumed to be pure is not known; 0 would decide branches by a guess."""
        if call.texts[:1] == ("",) and isinstance(call.types[0], Pointer):
            # A struct: the first argument, which is not written in the source, says where it goes to.
            to = self.followed(self.frame.slots[call.arguments[0]], "set")
            assert to is not None and isinstance(to.offset, int)
            stores = tuple(
                (Address(to.object, to.offset + offset), Unknown(self.new_leaf(RANDOM, range_of(type))), type)
                for offset, type in scalars_of(call.types[0].to)
            )
            self._finish(Outcome(stores=stores))
            return
        known = isinstance(call.result, Void)
        self._finish(Outcome(result=UNDEFINED if known else Unknown(self.new_leaf(RANDOM, range_of(call.result)))))

    def _try_each(self, several: Several) -> None:
        """Make the call at hand once for each value of what must be known in it."""
        ways = []
        for term, value in self.each_value(several.expr, several.what):
            state = self.state.copy()
            self.substitute(state, term, value)
            disturbed(state)
            ways.append(_Pending(self.fresh().label, state, first=committed(self.span)))
        self.pending += ways[::-1]
        self.close(*(way.label for way in ways))

    def _choose(self, ways: Sequence[Way]) -> None:
        """The call at hand does any of ``ways``."""
        if any(isinstance(way, Look) for way in ways):
            again = self.fresh()
            self.close(again.label)
            self.node = again
        found = [self._way(way, self.node.label) for way in ways]
        self.pending += found[::-1]
        self.close(*(way.label for way in found))

    def _look(self, look: Look, again: str) -> None:
        """The rest of the call at hand, which begins with ``look``; the node ``again`` makes it again."""
        self.read = {}
        self.emit(*look.statements)
        condition = self._settled_condition(self.with_reads(look.condition))
        if not isinstance(condition, bool) and leaves(condition) and None in (look.yes, look.no):
            # It may be either; to make the call again does nothing but find this out.
            truth = look.no is None
            self.assume(self.state, condition, truth)
            condition = truth
        if isinstance(condition, bool):
            self._go_on(look.yes if condition else look.no, again)
            return
        self._fork(condition, *(self._way(way, again) for way in (look.yes, look.no)))

    def _way(self, way: Way | None, again: str) -> _Pending:
        state = self.state.copy()
        disturbed(state)
        return _Pending(self.fresh().label, state, way, again=again)

    def _go_on(self, way: Way | None, again: str) -> None:
        if way is None:
            self.close(again)
        elif isinstance(way, Look):
            self._look(way, again)
        else:
            self._finish(way)

    def _finish(self, outcome: Outcome) -> None:
        """The rest of the call at hand, of which ``outcome`` is what it does."""
        frame = self.frame
        call = frame.function.code[frame.pc]
        assert isinstance(call, code.Call)
        self.read = {}
        if outcome.statements:
            self.emit(*outcome.statements)
        result = self.known_result(outcome.result)
        if isinstance(result, Unknown) and isinstance(result.expr, Leaf) and result != outcome.result:
            low, high = range_of(call.result)
            result = Unknown(replace(result.expr, low=low, high=high))
        stores = [(address, self.known_result(value), type) for address, value, type in outcome.stores]
        given = (result, *(value for _, value, _ in stores))
        if any(isinstance(value, Unknown) for value in given) and self.in_mixed_cells(outcome.statements):
            result = _as_type(result, call.result)
            stores = [(address, _as_type(value, type), type) for address, value, type in stores]
        self.taken |= registers_in(result)
        for address, value, type in stores:
            followed = self.followed(address, "set")
            if followed is None:
                self.fault(no_pointer(address, "a pointer argument"))
            else:
                self._put_pointer(followed, value)
                self.store(followed, value, type)
            if not self.open:
                return
        if outcome.after:
            self.emit(*outcome.after)
        self.state.notes.update(outcome.state)
        self.taken = set()
        if outcome.ends:
            self._end()
            return
        if call.target is not None:
            frame.slots[call.target] = result
            if isinstance(result, Address) and result.object.nameless:
                variable = frame.function.slots[call.target]
                self._points(variable.name, variable.type, result)
            frame.set_at[call.target] = self.span
        frame.pc += 1

    def _enter(self, function: CompiledFunction, call: code.Call) -> None:
        self._look_at_more(function, call)
        if len(self.state.frames) >= MOST_FRAMES:
            raise Problem(
                "PG145",
                f"calls nest more than {MOST_FRAMES} deep, in `{function.name}`",
                "a recursion must end by what is known on each rank; make it a loop",
            )
        depth = sum(frame.function is function for frame in self.state.frames)
        caller = self.frame
        frame = Frame(function, self.world.live_slots(function), depth, call.target, call.result)
        for slot, argument in zip(function.parameters, call.arguments, strict=False):
            frame.slots[slot] = caller.slots[argument]
            frame.set_at[slot] = self.span
        caller.pc += 1
        self.state.frames.append(frame)
        self.frame = frame
        self.turn()

    def _look_at_more(self, function: CompiledFunction, call: code.Call) -> None:
        """What a function with `...` is given beyond its parameters, it can only hand on to be printed, and so read."""
        for slot in call.arguments[len(function.parameters) :]:
            value = self.frame.slots[slot]
            object = self.facts.objects.get(value.object) if isinstance(value, Address) else None
            if object is not None and object.in_cells:
                raise Problem(
                    "PG143",
                    f"a pointer into `{object.name}`, memory that other ranks access, is given to the `...` of "
                    f"`{function.name}`, and it is not known what is done with it",
                    "print it with the functions of the C library, or copy to memory of the rank's own",
                )

    def _unknown_function(self, name: str) -> Problem:
        from pgasrob.diagnostics.suggestions import did_you_mean

        hint = did_you_mean(name, self.unit.functions)
        pure = f"define it in this file, or, if it accesses no memory of the program, give `--assume-pure {name}`"
        return Problem("PG144", f"nothing is known of the function `{name}`", f"{hint} {pure}".strip())


def _as_type(value: Value, type: CType) -> Value:
    """``value``, which may come from a cell with one of another type, as one of ``type``."""
    if not isinstance(value, Unknown) or not isinstance(type, Integer) or leaves_of(value):
        return value
    return arithmetic.value_of(folded(Unary("cast", value.expr, type.type)))


VALUES: dict[type, Callable[[Machine, Any, list[Value]], Value | None]] = {
    code.Set: lambda machine, each, slots: each.value,
    code.Move: lambda machine, each, slots: slots[each.source],
    code.Convert: lambda machine, each, slots: machine.materialised(
        arithmetic.convert(slots[each.source], each.of, each.to)
    ),
    code.Unary: lambda machine, each, slots: machine.materialised(
        arithmetic.unary(each.operator, slots[each.source], each.type)
    ),
    code.Binary: lambda machine, each, slots: machine.materialised(
        arithmetic.binary(each.operator, *machine.alike(slots[each.left], slots[each.right]), each.type)
    ),
    code.Offset: lambda machine, each, slots: machine.offset(
        slots[each.pointer], Known(each.constant) if each.index is None else slots[each.index], each.size
    ),
    code.Difference: lambda machine, each, slots: machine.difference(slots[each.left], slots[each.right], each.size),
    code.Global: lambda machine, each, slots: Address(machine.global_object(each.name), 0),
    code.Local: lambda machine, each, slots: Address(machine.local_object(machine.frame, each.name), 0),
    code.String: lambda machine, each, slots: Address(machine.string_object(each.text), 0),
    code.Load: Machine._load,
    code.Store: Machine._store,
    code.Copy: Machine._copy,
    code.Clear: Machine._clear,
}
"""What an instruction gives for its target, if it has one."""
CONTROL: dict[type, Callable[[Machine, Any], None]] = {
    code.Jump: Machine._jump,
    code.Branch: Machine._branch,
    code.LoopHead: Machine._loop_head,
    code.Join: Machine._join,
    code.Call: Machine._call,
    code.Leave: Machine._leave_block,
    code.Return: Machine._return,
}
