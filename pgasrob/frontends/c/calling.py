"""Calls: of functions of the program, and of those that the handlers of an API or of the C library know."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from pgasrob.diagnostics import SourceError
from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import CallFirst, NotAllowed
from pgasrob.frontends.apis.communicating import moves_data
from pgasrob.frontends.apis.interface import Call, Handler, Look, Outcome, Way
from pgasrob.frontends.apis.lent import LENT
from pgasrob.frontends.c import arithmetic, by_rank, code
from pgasrob.frontends.c.branching import Branch
from pgasrob.frontends.c.code import CompiledFunction, Unit
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.linking import errors_of
from pgasrob.frontends.c.machine_parts import Parts
from pgasrob.frontends.c.nondeterminism import RANDOM, Bounds, Leaf, leaves, leaves_of, only_leaves, range_of
from pgasrob.frontends.c.number_kinds import signs
from pgasrob.frontends.c.parts import scalars_of
from pgasrob.frontends.c.problem import Problem, Several
from pgasrob.frontends.c.registers import registers_in
from pgasrob.frontends.c.snapshots import Frame
from pgasrob.frontends.c.symbolic import NumberNeeded
from pgasrob.frontends.c.types import CType, Integer, Pointer, Void
from pgasrob.frontends.c.values import UNDEFINED, Address, Code, Known, Unknown, Value, addresses_of, no_pointer
from pgasrob.frontends.c.writer import LEFT_OPEN, disturbed
from pgasrob.program import core
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Exit
from pgasrob.program.count_note import RankEnd
from pgasrob.program.expressions import Apart, Binary, Unary, folded
from pgasrob.program.statements import Do, Statement, statements_in

MOST_FRAMES = 500

MakesCalls = Callable[[Parts, code.Call, str], Call]
"""Makes what a handler sees of the machine at a call of the named function."""


class CannotBeCalled(Problem):
    """A call of a function that the compiler could not read."""

    def __init__(self) -> None:
        super().__init__("PG125", "a function that cannot be read is called")

    def at(self, unit: Unit) -> SourceError:
        return errors_of(unit)


class Calling:
    """Executes the calls of one rank, and ends it."""

    def __init__(self, parts: Parts, seen_by_handlers: MakesCalls) -> None:
        self.parts = parts
        self.seen_by_handlers = seen_by_handlers
        self.world = parts.world
        self.facts = parts.facts
        self.program = parts.world.program
        self.unit = parts.world.program.unit
        self.position = parts.position
        self.writer = parts.writer
        self.registers = parts.registers
        self.undecided = parts.undecided
        self.branching = parts.branching
        self.flows = parts.flows
        self.issuer = parts.issuer
        self.threads = parts.threads
        self.pointers = parts.pointers
        self.memory = parts.memory

    def end(self, *, refuses: bool, of_all: bool = False) -> None:
        """End the rank, or what a further thread of it was forked for; ``refuses`` and ``of_all`` as of a
        :class:`RankEnd`."""
        if self.position.thread:
            self.threads.finish()
            return
        for each in self.threads.end_of_rank():
            self.issuer.issue(each)
        if not self.position.rank.is_symbol:
            places = [(frame.function, frame.pc) for frame in reversed(self.position.state.frames)]
            function, place = places[0]  # of the call or the `return` itself; the callers are behind their calls
            places[0] = function, place + 1
            before = (each for each in places if self.program.has_calls_from(*each))
            left, behind = next(before, (function, 0))
            span = left.spans[behind - 1] if behind else self.position.span
            self.world.ends += (
                RankEnd(rank, span, bool(behind), refuses, of_all) for rank in self.position.rank.numbers
            )
        if isinstance(open := self.position.state.notes.get(LEFT_OPEN), str):
            for rank in self.position.rank.publishers:
                self.facts.publish(rank, open, True)
        self.parts.agreements.end()
        self.writer.close()

    def call(self, call: code.Call) -> None:
        frame = self.position.frame
        name = self.position.called
        function = self.unit.functions.get(name)
        if function is not None:
            self._enter(function, call)
            return
        if name in self.unit.broken:
            raise CannotBeCalled()
        handler = self.program.handler(name)
        if handler is None:
            if name not in self.program.pure:
                raise self._unknown_function(name)
            self.position.rests_on(Kind.ASSUMED_PURE, f"{name}()")
            self._pure(call)
            return
        self.world.moves_data = self.world.moves_data or moves_data(name)
        self.registers.release()
        before = self.position.state.copy() if any(leaves_of(frame.slots[slot]) for slot in call.arguments) else None
        issued = len(self.writer.node.statements)
        self._look_at_pointers(call)
        seen = self.seen_by_handlers(self.parts, call, name)
        try:
            outcomes = self._ways(handler, seen, call)
        except NotAllowed as forbidden:
            del self.writer.node.statements[issued:]
            outcomes = forbidden.outcome(seen)
        except CallFirst as first:
            self._remember(first.state)
            self._begin(self._function(first.function), first.arguments, None, call.result)
            return
        except NumberNeeded as needed:
            if needed.span is None:
                needed.message = f"what `{name}` does here differs between numbers of nodes"
            raise
        except Several as several:
            assert before is not None
            del self.writer.node.statements[issued:]
            self.position.go_to(before)
            self._try_each(several)
            return
        if not self.writer.open:
            return
        ways = [outcomes] if isinstance(outcomes, Outcome | Look) else outcomes
        if frame.function.regions or len(self.position.state.frames) > 1:
            self._check_alone(name, ways)
        if self.facts.threads.any and not self.program.is_of_library(name):
            ways = self.threads.by_level(seen, ways)
        match ways:
            case [Outcome() as outcome]:
                self._finish(outcome)
            case []:
                raise NumberNeeded(f"how `{name}` may end differs between numbers of nodes", self.position.span)
            case _:
                self._choose(ways)

    def _ways(self, handler: Handler, seen: Call, call: code.Call) -> Way | Sequence[Way]:
        """How a call may end; put together of how it may on each rank, where those that are executed at once differ."""
        if self.position.rank.is_symbol or len(self.position.rank.numbers) == 1:
            return handler(seen)
        if seen.name not in self.world.classes.by_rank:
            found = by_rank.attempt(self.parts, lambda: handler(seen))
            if found is not None:
                return found
            self.world.classes.by_rank.add(seen.name)

        def ways(_: int) -> Way | Sequence[Way]:
            self._look_at_pointers(call)
            return handler(self.seen_by_handlers(self.parts, call, seen.name))

        try:
            together, done = by_rank.each_rank(self.parts, ways)
        except (NotAllowed, CallFirst, Several, Problem):
            raise Apart(self.position.rank.numbers) from None
        if done:
            raise Apart(self.position.rank.numbers)
        return together

    def _check_alone(self, name: str, ways: Sequence[Way]) -> None:
        """Raises :class:`Problem` where the call communicates and other threads of the rank run beside it."""
        teams = self.position.teams
        if not teams or self.program.is_of_library(name):
            return
        quiet = all(isinstance(way, Outcome) and not (way.statements or way.after or way.ends) for way in ways)
        if moves_data(name) or not quiet:
            raise Problem(
                "PG104",
                f"`{name}` in the region of `#pragma omp {teams[0].name}` in line {teams[0].span.line}: threads that "
                "communicate are not supported",
                "communicate before the region or after it",
            )

    def _look_at_pointers(self, call: code.Call) -> None:
        """Note for each pointer argument as integers of which sign the call takes what is there."""
        for slot, type in zip(call.arguments, call.types, strict=False):
            value = self.position.frame.slots[slot]
            if not isinstance(value, Address) or not isinstance(type, Pointer) or not isinstance(type.to, Integer):
                continue
            for each in addresses_of(value):
                if each.object in self.facts.objects and not each.object.of_api:
                    self.used_as(each, size_of(type.to), type.to.type.signed)

    def used_as(self, address: Address, size: int, signed: bool) -> None:
        """Note that the integer at ``address`` is taken for a signed one or an unsigned one: it is mixed if it is
        both."""
        offset = address.offset if isinstance(address.offset, int) else None
        if signs(self.facts, address.object, offset, size) - {signed}:
            self.facts.mix(address.object)

    def _pure(self, call: code.Call) -> None:
        """Call a function that is assumed to be pure: its result is an unknown value, for any number would decide
        branches by a guess."""
        if call.texts[:1] == ("",) and isinstance(call.types[0], Pointer):
            # A struct: the first argument, which is not written in the source, says where it goes to.
            to = self.pointers.followed(self.position.frame.slots[call.arguments[0]], "set")
            assert to is not None and isinstance(to.offset, int)
            stores = tuple(
                (Address(to.object, to.offset + offset), Unknown(self.undecided.new_leaf(RANDOM, range_of(type))), type)
                for offset, type in scalars_of(call.types[0].to)
            )
            self._finish(Outcome(stores=stores))
            return
        known = isinstance(call.result, Void)
        self._finish(
            Outcome(result=UNDEFINED if known else Unknown(self.undecided.new_leaf(RANDOM, range_of(call.result))))
        )

    def _try_each(self, several: Several) -> None:
        """Make the current call once for each value of what must be known in it."""
        ways = []
        for term, value in self.undecided.each_value(several.expr, several.what):
            state = self.position.state.copy()
            disturbed(state)
            first = self.undecided.commit(Binary("==", term, value), True, self.undecided.is_free(term), state)
            self.undecided.substitute(state, term, value)
            if only_leaves(term) and not isinstance(term, Leaf):
                state.assumed[term] = Bounds(value.value, value.value)  # it may be computed again
            ways.append(Branch(self.writer.fresh().label, state, first=first))
        self.branching.any_of(ways)

    def _choose(self, ways: Sequence[Way]) -> None:
        """End the current call like any of ``ways``."""
        if any(isinstance(way, Look) for way in ways):
            again = self.writer.fresh()
            self.writer.close(again.label)
            self.writer.node = again
        self.branching.any_of([self.branching.branch(way, self.writer.node.label) for way in ways])

    def _look(self, look: Look, again: str) -> None:
        """Go on with the current call by ``look``; the node ``again`` makes the call again."""
        self.flows.read = {}
        self.issuer.emit(*look.statements)
        condition = self.branching.settled(self.flows.with_reads(look.condition))
        if not isinstance(condition, bool) and leaves(condition) and None in (look.yes, look.no):
            # It may be either; to make the call again does nothing but find this out.
            truth = look.no is None
            self.undecided.assume(self.position.state, condition, truth)
            condition = truth
        if isinstance(condition, bool):
            self.go_on(look.yes if condition else look.no, again)
            return
        self.branching.fork(condition, *(self.branching.branch(way, again) for way in (look.yes, look.no)))

    def go_on(self, way: Way | None, again: str) -> None:
        """Go on with the current call like ``way``; None: at the node ``again``, which makes the call again."""
        if way is None:
            self.writer.close(again)
        elif isinstance(way, Look):
            self._look(way, again)
        else:
            self._finish(way)

    def _finish(self, outcome: Outcome) -> None:
        """End the current call: write what ``outcome`` says it does, and set its result."""
        frame = self.position.frame
        call = frame.function.code[frame.pc]
        assert isinstance(call, code.Call)
        self.flows.read = {}
        outcome = self.memory.sharing.lent_by(outcome)
        if outcome.statements:
            self.issuer.emit(*self.threads.waiting(outcome.statements))
            self._note_pending(outcome.statements)
        result = self.flows.known_result(outcome.result)
        self.registers.note_what_is_read(outcome.result, result)
        if isinstance(result, Unknown) and isinstance(result.expr, Leaf) and result != outcome.result:
            result = Unknown(self.flows.within(result.expr, range_of(call.result)))
        stores = [(address, self.flows.known_result(value), type) for address, value, type in outcome.stores]
        given = (result, *(value for _, value, _ in stores))
        if any(isinstance(value, Unknown) for value in given) and self.issuer.in_mixed_cells(outcome.statements):
            result = _as_type(result, call.result)
            stores = [(address, _as_type(value, type), type) for address, value, type in stores]
        else:
            stores = [(address, self.flows.typed(value, type), type) for address, value, type in stores]
        if outcome.brought is not None and self.facts.together:
            self.flows.brought(outcome.brought, [value for _, value, _ in stores])
        self.registers.taken |= registers_in(result)
        if LENT in outcome.state:  # a call that receives stores in what was lent to it
            self._remember({LENT: outcome.state[LENT]})
        for address, value, type in stores:
            followed = self.pointers.followed(address, "set")
            if followed is None:
                self.issuer.fault(*no_pointer(address, "a pointer argument"))
            else:
                self.facts.stored(followed, value)
                self.memory.store(followed, value, type)
            if not self.writer.open:
                return
        if outcome.after:
            self.issuer.emit(*outcome.after)
        self._remember(outcome.state)
        self.registers.release()
        if outcome.ends:
            name, arguments = self.position.called.lower(), call.arguments
            fine = "exit" in name and arguments and frame.slots[arguments[0]] == Known(0)
            of_all = any(isinstance(each, Do) and isinstance(each.command, Exit) for each in outcome.statements)
            self.end(refuses=not fine, of_all=of_all)
            return
        if call.target is not None:
            if isinstance(result, Unknown) and not leaves(result.expr):
                result = self.parts.evaluation.materialised(result)
            frame.slots[call.target] = result
            if isinstance(result, Address) and result.object.nameless:
                variable = frame.function.slots[call.target]
                self.facts.points(variable.name, variable.type, result)
            frame.set_at[call.target] = self.position.span
        frame.pc += 1

    def _note_pending(self, statements: Sequence[Statement]) -> None:
        """Note in which queues the call has issued operations, and for which it has waited, if there are threads."""
        for each in statements_in(statements) if self.facts.threads.any else ():
            form = core.lower(each.command) if isinstance(each, Do) else None
            if isinstance(form, core.Transfer):
                self.threads.issues(form.queue)
            elif isinstance(form, core.Wait) and not form.local and not self.position.called.startswith("__omp_"):
                self.threads.completes(form.queue)  # where they meet they wait only if they are asked

    def _remember(self, state: Mapping[str, Hashable]) -> None:
        """Replace the notes that APIs keep; those with None are taken away."""
        notes = self.position.state.notes
        notes.update(
            (key, each.onto(notes.get(key)) if isinstance(each, by_rank.NoteByRank) else each)
            for key, each in state.items()
        )
        for key in [key for key, value in state.items() if value is None]:
            notes.pop(key, None)

    def _function(self, value: Value) -> CompiledFunction:
        """The function of the program that ``value`` points to."""
        name = value.name if isinstance(value, Code) else ""
        if name in self.unit.broken:
            raise CannotBeCalled()
        if name not in self.unit.functions:
            raise Problem(
                Wrong.UNKNOWN_LIMIT, "a function is called back that is not known here", "pass the name of a function"
            )
        return self.unit.functions[name]

    def _enter(self, function: CompiledFunction, call: code.Call) -> None:
        """Begin a call of a ``function`` of the program."""
        self._look_at_more(function, call)
        caller = self.position.frame
        self._begin(function, [caller.slots[slot] for slot in call.arguments], call.target, call.result)
        caller.pc += 1

    def _begin(
        self, function: CompiledFunction, arguments: Sequence[Value], target: code.Slot | None, result: CType
    ) -> None:
        if len(self.position.state.frames) >= MOST_FRAMES:
            raise Problem(
                "PG145",
                f"calls nest more than {MOST_FRAMES} deep, in `{function.name}`",
                "a recursion must end by what is known on each rank; make it a loop",
            )
        self.position.rests_on_regions(function)
        tasks = (each for each in function.regions if "task" in each.name and each.own is None)
        if self.position.others and (task := next(tasks, None)):
            hint = "write the task into the region of the team"
            raise Problem("PG104", "a task of a function that threads which communicate call", hint, task.span)
        depth = sum(frame.function is function for frame in self.position.state.frames)
        frame = Frame(function, self.program.live_slots(function), depth, target, result)
        frame.thread = self.position.thread
        for slot, argument in zip(function.parameters, arguments, strict=False):
            frame.slots[slot] = argument
            frame.set_at[slot] = self.position.span
        self.position.state.frames.append(frame)
        self.position.frame = frame
        self.position.turn()

    def _look_at_more(self, function: CompiledFunction, call: code.Call) -> None:
        """Raises :class:`Problem` when a pointer to shared memory is given to `...`: it is not known who accesses
        it."""
        for slot in call.arguments[len(function.parameters) :]:
            value = self.position.frame.slots[slot]
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
        return Problem("PG125", f"nothing is known of the function `{name}`", f"{hint} {pure}".strip())


def _as_type(value: Value, type: CType) -> Value:
    """``value``, which may come from a cell with one of another type, as one of ``type``."""
    if not isinstance(value, Unknown) or not isinstance(type, Integer) or leaves_of(value):
        return value
    return arithmetic.value_of(folded(Unary("cast", value.expr, type.type)))
