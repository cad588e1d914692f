"""Merge points: equal states go on as one, and variables with too many values become registers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace

from pgasrob.frontends.c import arithmetic, code
from pgasrob.frontends.c.code import Label, Slot
from pgasrob.frontends.c.initialised import PERHAPS
from pgasrob.frontends.c.issuing import Issuer
from pgasrob.frontends.c.memory_access import Memory
from pgasrob.frontends.c.nondeterminism import Leaf, leaves, only_leaves, range_of, replaced
from pgasrob.frontends.c.problem import Problem, StillLong, TryAgain
from pgasrob.frontends.c.rank_position import MOST_INSTRUCTIONS
from pgasrob.frontends.c.registers import Registers
from pgasrob.frontends.c.snapshots import Frame, Items, Variables, various
from pgasrob.frontends.c.symbolic import NumberNeeded
from pgasrob.frontends.c.undecided import Undecided
from pgasrob.frontends.c.values import Address, Known, Unknown, of_registers
from pgasrob.frontends.c.writer import Writer
from pgasrob.program import commands
from pgasrob.program.expressions import Const, Expr, Register, is_of_rank, registers_of
from pgasrob.program.statements import Span

MOST_SNAPSHOTS = 30_000
LOOP_VALUES, KNOWN_LOOP_VALUES, JOIN_VALUES = 64, 4096, 4
"""So many values a variable may take at the head of a loop that is left by what is not known, at another, at a join,
before it is generalised."""
LONG_CODE, FEW_VALUES = 1_000, 8
"""Commands of a rank from which on a loop is no longer written out iteration by iteration, and so many values that a
variable may still take at its head: what takes more becomes a register."""
SOONER = 3
"""From so many times fewer commands on loops are kept where that leaves little code."""
KEPT_STATES = 256
"""So many states there may be at the head of a loop that ends by an unknown condition, once loops are kept. What they
differ in then cannot be a register (a list that grows), and with its counter in one the loop would never end."""
JOIN_STATES = 16
"""So many states there may be at a join, since the latest head of a loop, before whatever differs is generalised."""
MANY_STATES = 512
"""From twice so many states of a rank on it is looked whether the pass is outdated."""
SILENT_HEADS, SILENT_STRIDE = 4000, 997
"""From so many iterations on in which nothing is written, every so many-th is compared with the others."""
LARGEST_KEPT = 8
"""Operations and leaves of what is computed from `me` and `nodes` alone, up to which it is kept as it is."""
HOT = 16
"""So many iterations are executed instruction by instruction before a loop is translated."""


class MergePoints:
    """Merge points of one rank. ``labels``: of the states that have been met so far; ``seen``: their variables, by
    place. ``branched``: a branch on an unknown condition has been taken since the latest merge point. ``silent`` counts
    the iterations in which nothing has been written. ``milestone``: the number of labels at which it is looked next
    whether the pass is ``outdated``: something had been learned when there were half as many."""

    def __init__(
        self, writer: Writer, registers: Registers, undecided: Undecided, issuer: Issuer, memory: Memory
    ) -> None:
        self.position = writer.position
        self.writer = writer
        self.registers = registers
        self.undecided = undecided
        self.issuer = issuer
        self.memory = memory
        self.world = self.position.world
        self.facts = self.position.facts
        self.labels: dict[Hashable, str] = {}
        self.seen: dict[Hashable, list[Variables]] = defaultdict(list)
        self._items = Items()
        self.silent = 0
        self.branched = False
        self.milestone, self.outdated = MANY_STATES, False

    def join(self) -> None:
        """Merge at the end of a statement with branches, if a branch on an unknown condition has been taken."""
        if self.branched:
            self.merge(JOIN_VALUES)
        else:
            self.position.frame.pc += 1

    def loop_head(self) -> None:
        """Begin an iteration: merge, or run iterations in which everything is known and nothing is written."""
        frame = self.position.frame
        key = (frame.function.name, frame.pc)
        self.position.heads[key] += 1
        unknown = self.is_left_unknown(frame, frame.pc)
        silent = self.writer.quiet and not self.branched and not unknown
        if silent:
            self.silent += 1
            if self.silent < SILENT_HEADS or self.silent % SILENT_STRIDE:
                if self.position.heads[key] <= HOT or not self._run_known(key):
                    frame.pc += 1
                return
            self._look_at_the_end(key)
        most = LOOP_VALUES if unknown else KNOWN_LOOP_VALUES
        if self.facts.keeps_loops != "never" and self._is_to_be_kept():
            most = FEW_VALUES
        self.merge(most, head=True, silent=silent)

    def _look_at_the_end(self, head: tuple[str, Label]) -> None:
        """Raises :class:`Problem` where the loop at ``head`` is certain to come to too many instructions."""
        frame, position = self.position.frame, self.position
        loop = self.world.program.counted_loop(frame.function, frame.pc)
        left = 0 if loop is None else loop.left(frame.slots)
        if loop is not None and position.instructions + left * loop.instructions > MOST_INSTRUCTIONS:
            passes = position.heads[head] + left
            raise position.too_large(f"{position.rank} goes through a loop at least {passes:,} times")

    def _run_known(self, head: tuple[str, Label]) -> bool:
        """Run iterations in which everything is known, until one is to be compared with others. Whether there were
        any."""
        frame = self.position.frame
        loop = self.world.program.known_loop(frame.function, frame.pc)
        if (
            loop is None
            or self.position.others
            or any((frame.function.name, each) in self.facts.left_unknown for each in loop.loops)
        ):
            return False
        compared = max(SILENT_HEADS - 1, self.silent) // SILENT_STRIDE * SILENT_STRIDE + SILENT_STRIDE
        most = compared - self.silent  # this time, and so many more less one
        ran = loop.run(self.memory, frame.slots, most)
        if ran is None:
            return False
        frame.pc, left, *counts = ran
        passed = most - left - 1
        self.silent += passed
        self.position.heads[head] += passed - sum(counts)
        self.position.heads.update(
            {(frame.function.name, each): count for each, count in zip(loop.heads, counts, strict=True)}
        )
        self.position.instructions += passed * loop.instructions // (1 + len(counts))
        self.position.turn()
        return True

    def is_left_unknown(self, frame: Frame, head: Label) -> bool:
        """Whether a branch on an unknown condition leaves the loop with this ``head`` in the function of ``frame``."""
        instruction = frame.function.code[head]
        return (
            isinstance(instruction, code.LoopHead)
            and (frame.function.name, instruction.loop) in self.facts.left_unknown
        )

    @property
    def in_open_loop(self) -> bool:
        """Whether the rank is in a loop that is left by an unknown condition."""
        return any(
            head < frame.pc <= end and self.is_left_unknown(frame, head)
            for frame in self.position.state.frames
            for head, end in self.world.program.loops(frame.function).items()
        )

    def _is_to_be_kept(self) -> bool:
        """Whether this loop is no longer to be unrolled, since the code is long; a loop around it that repeats comes
        first."""
        soon = self.facts.keeps_loops == "soon"
        long = LONG_CODE // SOONER if soon else LONG_CODE
        if self.writer.statements <= long:
            return False
        if soon and self.facts.shortened and self.writer.statements > 2 * long:
            raise StillLong
        return self.writer.statements > 4 * long or not any(
            self.position.heads[frame.function.name, head] > 1
            for frame in self.position.state.frames
            for head, end in self.world.program.loops(frame.function).items()
            if head < frame.pc <= end
        )

    def merge(self, most: int, head: bool = False, silent: bool = False) -> None:
        """Go to the label of this state, a new one if there is none yet. In ``silent`` iterations nothing is written:
        however many there are, the code gets no longer, and no variable is generalised for them."""
        self.settle_variables()
        state = self.position.state
        state.initialised.update(dict.fromkeys(self.facts.merged_unset, PERHAPS))
        place = state.place
        if head:
            for number, (passed, _) in enumerate(state.heads):
                if passed == place:
                    del state.heads[number:]
                    break
        group = place, state.heads[-1][1] if state.heads else ""
        if self.facts.unknowns:
            if len(self.seen[group]) >= JOIN_VALUES:
                self.undecided.forget(answers=len(self.seen[group]) >= LOOP_VALUES)
            self.undecided.renumber()
        key = state.key(self._items)
        label = self.labels.get(key)
        if label is not None:
            self.writer.close(label)
            return
        if len(self.labels) >= MOST_SNAPSHOTS:
            raise self.position.too_large(f"more than {MOST_SNAPSHOTS:,} states of {self.position.rank}")
        if not silent:
            self._look_for_variables(group, most, head)
        if len(self.labels) >= self.milestone:
            self._look_back()
        node = self.writer.fresh()
        self.labels[key] = node.label
        self.writer.close(node.label)
        if head:
            state.heads.append((place, node.label))
        self.writer.node, self.writer.open = node, True
        self.writer.quiet, self.branched = True, False
        self.position.frame.pc += 1

    def _look_back(self) -> None:
        """Raises :class:`TryAgain` where this pass goes on and on although something was learned in its first half, by
        which there may be far fewer states. It has learned what there is to learn of the second half, too."""
        if self.outdated:
            raise TryAgain
        self.outdated = self.position.facts_changed
        self.milestone *= 2

    def _look_for_variables(self, group: Hashable, most: int, head: bool) -> None:
        """Generalise what takes too many values in the states of ``group``."""
        states = self.seen[group]
        states.append(self.position.state.variables())
        # At powers of two beyond the bound is often enough, and does not look at all pairs again and again.
        if len(states) <= most or (len(states) - most - 1) % most:
            return
        values = various(states)
        varied = sorted(((len(found), str(variable), variable) for variable, found in values.items()), reverse=True)
        chosen = [variable for count, _, variable in varied if count > most]
        # Of states that differ in what APIs remember of the rank alone there would be as many.
        if not chosen and len({each.key for each in states}) > (4 * most if head else JOIN_STATES):
            chosen = [variable for count, _, variable in varied if count > 1]
        for variable in chosen:
            assert isinstance(variable, tuple)
            if variable[0] == "memory":
                _, id, offset, size = variable
                if self.facts.is_shared(id, offset, size):
                    self.facts.unsettle(id, offset)
                self.facts.share(id, offset, size)
            elif variable[0] == "initialised":
                self.facts.merge_unset(variable[1])
            else:
                self.facts.generalise(variable)
        if chosen:
            self.facts.loops_kept |= self.facts.keeps_loops != "never" and most == FEW_VALUES
            raise TryAgain
        if head and len(states) > KEPT_STATES and self.is_left_unknown(self.position.frame, self.position.frame.pc):
            if self.position.rank.is_symbol:
                raise self._endless(states)
            if states[-1].allocated - states[0].allocated >= KEPT_STATES:
                raise self._allocates()
            if self.facts.loops_kept:
                raise self.position.too_large(f"more than {KEPT_STATES} states at the head of a loop that is kept")

    def _allocates(self) -> Problem:
        """It is unknown how often a loop is passed, which allocates memory each time: what counts its iterations is in
        registers by now, and it would be written out without an end."""
        if self.position.facts_changed:
            raise TryAgain
        return Problem(
            "PG141",
            "it is not known how often this loop is passed, and it allocates memory each time",
            "allocate the memory before the loop",
            self.position.span,
        )

    def _endless(self, states: Sequence[Variables]) -> Problem:
        """It is unknown how often a loop is passed, and what it changes each time can be in no register: it would be
        written out without an end."""
        if self.position.facts_changed:
            raise TryAgain
        before, now = states[-2:]
        slots = {variable for variable, value in now.slots.items() if before.slots.get(variable) != value}
        names = (
            frame.function.slots[slot].name
            for frame, live in self.position.state.live()
            for slot in live
            if ("slot", frame.function.name, frame.depth, frame.pc, slot) in slots
        )
        name = next((f"the pointer `{each}`" for each in names if each is not None), "memory")
        return NumberNeeded(
            f"it is not known how often this loop is passed, and it changes {name} each time", self.position.span
        )

    def settle_variables(self) -> None:
        """Put every unknown value into the register of its variable, and the generalised ones that are known."""
        # First, for choosing a value sets registers, and no move to one may be pending then.
        live_slots = self.position.state.live()
        for frame, live in live_slots:
            for slot in live:
                value = frame.slots[slot]
                if isinstance(value, Unknown) and leaves(value.expr):
                    frame.slots[slot] = Unknown(self._settled_variable(frame, slot, value.expr))
        self.registers.release()
        moves: dict[Register, tuple[Expr, Span]] = {}
        for frame, live in live_slots:
            for slot in live:
                value = frame.slots[slot]
                if of_registers(value):
                    raise NumberNeeded("to whose memory a pointer points differs each time", self.position.span)
                # What has not been set yet stays so, for a run that uses it faults: such a state is another one.
                if isinstance(value, Known):
                    variable = ("slot", frame.function.name, frame.depth, frame.pc, slot)
                    if variable not in self.facts.generalised:
                        continue
                    value = Unknown(Const(value.value))
                expr = value.expr if isinstance(value, Unknown) else getattr(value, "offset", 0)
                if isinstance(expr, int):
                    continue
                if isinstance(expr, Const) and isinstance(value, Address) and not self._is_generalised(frame, slot):
                    continue
                if leaves(expr) or self._stays(frame, slot, expr):
                    continue
                home = self.registers.home(frame, slot)
                if isinstance(value, Address):
                    frame.slots[slot] = replace(value, offset=home)
                else:
                    frame.slots[slot] = Unknown(home)
                if expr != home:
                    moves[home] = (expr, frame.set_at.get(slot, self.position.span))
        self._move(moves)

    def _is_generalised(self, frame: Frame, slot: Slot) -> bool:
        return ("slot", frame.function.name, frame.depth, frame.pc, slot) in self.facts.generalised

    def _stays(self, frame: Frame, slot: Slot, expr: Expr) -> bool:
        """Whether the value of a variable is the same in all runs of a rank, and is kept as a number would be."""
        variable = ("slot", frame.function.name, frame.depth, frame.pc, slot)
        small = is_of_rank(expr) and not isinstance(expr, Const) and arithmetic.size(expr) <= LARGEST_KEPT
        return small and variable not in self.facts.generalised

    def _settled_variable(self, frame: Frame, slot: Slot, expr: Expr) -> Expr:
        """``expr``, with unknown values, as the value of a variable here: of registers alone, or of none."""
        variable = ("slot", frame.function.name, frame.depth, frame.pc, slot)
        generalised = variable in self.facts.generalised
        if only_leaves(expr) and not (generalised and not isinstance(expr, Leaf)):
            return expr
        if variable in self.facts.decisive_variables:
            expr = self.undecided.exactly(expr)
        if not leaves(expr):
            return expr
        interval = range_of(frame.function.slots[slot].type) if generalised else None
        return self.undecided.blurred(expr, interval, frozenset({variable}))

    def _move(self, moves: dict[Register, tuple[Expr, Span]]) -> None:
        """Assign all ``moves`` at once."""
        while moves:
            needed = Counter(index for expr, _ in moves.values() for index in registers_of(expr))
            for target, (expr, span) in moves.items():
                if needed[target.index] - (target.index in registers_of(expr)) == 0:
                    self.issuer.issue(commands.Assign(target, expr), span)
                    del moves[target]
                    break
            else:
                target = next(iter(moves))
                self.registers.taken |= set(needed) | {each.index for each in moves}
                aside = self.registers.register("aside")
                self.registers.release()
                self.issuer.issue(commands.Assign(aside, target), moves[target][1])
                for other, (expr, span) in moves.items():
                    moves[other] = (replaced(expr, target, aside), span)
