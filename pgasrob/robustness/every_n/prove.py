"""Proving that a program has no violating computation on any number of nodes from a cutoff on, which assertions
hold there, and whether it has no deadlock.

In each case of where the source's rank is the infeasibility fixpoint is run on names of ranks, for every step that may
be the source. Where it finds no e in any, there is none on any such number of nodes (`proofs/every-n.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from pgasrob.program import core
from pgasrob.program.commands import show
from pgasrob.program.control import ControlAutomaton, TooManyWays, Transition, Ways
from pgasrob.program.expressions import Const, Expr, Me, Nodes, parts, render
from pgasrob.program.instance import MAX_WAYS, automata_of_blocks
from pgasrob.program.polls import has_one_control, with_polls
from pgasrob.program.program import Program
from pgasrob.program.reading import DEFAULT_READING, Reading
from pgasrob.program.statements import Span
from pgasrob.robustness.every_n import flow as flow_of
from pgasrob.robustness.every_n.counting_cells import with_counting_cells
from pgasrob.robustness.every_n.frame import MOST_NUMBERED, frame_of
from pgasrob.robustness.every_n.known import ZERO, Known
from pgasrob.robustness.every_n.known import Ranks as RanksOf
from pgasrob.robustness.every_n.linear import Value, exactly, number
from pgasrob.robustness.every_n.lock_tokens import lock_tokens
from pgasrob.robustness.every_n.memory import Layout
from pgasrob.robustness.every_n.named_commands import Ranks, rules_of
from pgasrob.robustness.every_n.named_views import views_of
from pgasrob.robustness.every_n.number_tokens import number_tokens
from pgasrob.robustness.every_n.pair_states import PairStates, TooMany
from pgasrob.robustness.every_n.private_cells import PrivateCells, private_cells
from pgasrob.robustness.every_n.proof import MOST_OPEN, CommandText, Obstacle, Proof
from pgasrob.robustness.every_n.proved_facts import BLIND, GROWS, Facts
from pgasrob.robustness.every_n.rank_cases import Case, Frame, Name
from pgasrob.robustness.every_n.sc_pairs import MOST_ROUNDS, ScPairs, TooManyPairs
from pgasrob.robustness.every_n.symbolic_values import File
from pgasrob.robustness.every_n.token_edges import Edges
from pgasrob.robustness.every_n.unfold import Unfolded
from pgasrob.robustness.reduction import fixpoint
from pgasrob.robustness.reduction.abstract_commands import Command
from pgasrob.robustness.reduction.fixpoint import Fixpoint
from pgasrob.robustness.reduction.setting import Setting

_CALLED = {
    core.Role.RANK: "its rank",
    core.Role.QUEUE: "its queue",
    core.Role.ADDRESS: "its address",
    core.Role.VALUE: "a value that it computes",
}


_Source = tuple[int, int, int]
"""A step that may be the source: its control state, the place of its transition there, and its number."""


class NotCovered(Exception):
    """The program is not one that proofs are about."""


def prove(
    program: Program,
    reading: Reading = DEFAULT_READING,
    look: Callable[[str], None] | None = None,
    most_open: int = MOST_OPEN,
) -> Proof:
    """A proof that ``program`` has no violating computation and no fault on any number of nodes from a cutoff on, with
    what is known of assertions and deadlocks, or the obstacles, ``most_open`` of them. ``look`` is called now and then
    with a text that says what is being done."""
    try:
        prover = Prover(program, reading, most_open=most_open)
    except NotCovered as problem:
        return Proof(obstacles=[Obstacle("program", str(problem))])
    proof = _followed(prover, look)
    if proof.obstacles and prover.frame.modulus > 1:  # more cases say more, but take longer, and begin later
        plain = _followed(Prover(program, reading, prover.plain, most_open), look)
        proof = plain if plain.holds else proof
    return proof


def _followed(prover: Prover, look: Callable[[str], None] | None) -> Proof:
    for doing in prover.run():
        if look is not None:
            look(doing)
    return prover.proof


class Prover:
    """Goes through the cases of a program."""

    def __init__(
        self, program: Program, reading: Reading, frame: Frame | None = None, most_open: int = MOST_OPEN
    ) -> None:
        self.program, self.reading, self._most_open = program, reading, most_open
        if program.gaps:
            raise NotCovered(f"it stands for more runs than these: {program.gaps[0]}")
        if program.has_threads:
            raise NotCovered("its ranks have several threads")
        if not any(process.ranks is None for process in program.processes):
            raise NotCovered("it has blocks for ranks by number alone, and none for all others")
        numbered = [rank for process in program.processes for rank in process.ranks or ()]
        if numbered and max(numbered) >= MOST_NUMBERED:
            raise NotCovered(
                f"rank {max(numbered)} has a block of its own; proofs are about those below {MOST_NUMBERED}"
            )
        ways = Ways(MAX_WAYS)
        try:
            self._blocks = automata_of_blocks(program, reading, ways)
        except TooManyWays:
            raise NotCovered("it has too many ways from one command to the next") from None
        self._layout = Layout.of(program)
        self._initial = [value for memory in program.memory for value in memory.initial] + [0] * len(program.growing)
        self._first: File = (ZERO,) * len(program.registers)
        self.plain = Frame(0, max([1, *(rank + 1 for rank in numbered)]), 1, program.most_nodes)
        self.frame = frame or frame_of(self._automata, len(self._first), numbered, program.most_nodes)
        self._written = {id(each): each for each in self._automata}
        self._private = PrivateCells({})
        self._read_in_registers(frame, numbered)
        automata = self._automata
        self._rules = rules_of(automata, (queue.id for queue in program.queues if queue.unordered))
        made = [
            access for automaton in automata for each in automaton.transitions for access in core.accesses_of(each.form)
        ]
        self._faulting: set[Span] = set()
        self._kinds = tuple(sorted({access.commutes for access in made} - {""}))
        self.proof = Proof(self.frame.cutoff, program.most_nodes, assumptions=program.assumptions)

    @property
    def _automata(self) -> list[ControlAutomaton]:
        return list({id(automaton): automaton for automaton in self._blocks.values()}.values())

    def _read_in_registers(self, frame: Frame | None, numbered: Sequence[int]) -> None:
        """Read private cells as registers. That they are private is known in the frame from the least number of nodes
        on that it is about; so is what is proved in another one that begins no earlier."""
        try:
            first = {case.nodes: case for case in reversed([*self.frame.cases()])}  # in which each rank has a name
            flows = [self.flow(case) for case in first.values()]
        except flow_of.TooLong:
            return
        self._private = private_cells(flows, self._layout.cells, len(self._first))
        if not self._private.registers:
            return
        read = {id(each): self._private.in_registers(each) for each in self._automata}
        self._written = {id(read[place]): each for place, each in self._written.items()}
        self._blocks = {rank: read[id(each)] for rank, each in self._blocks.items()}
        held = (exactly(number(self._initial[address])) for address in self._private.registers)
        self._first = (*self._first, *held)
        fitting = frame_of(self._automata, len(self._first), numbered, self.program.most_nodes)
        if frame is None and fitting.cutoff >= self.frame.cutoff:
            self.frame = fitting

    def run(self) -> Iterator[str]:
        """Go through all cases."""
        seen: set[tuple[object, ...]] = set()
        faults: dict[int, bool] = {}
        followed = 0
        flows_of: list[tuple[Case, flow_of.Flow]] = []
        for case in self.frame.cases():
            try:
                flow = self.flow(case, followed)
            except flow_of.TooLong:
                text = f"more than {flow_of.MOST_FOLLOWED:,} commands were followed"
                self.proof.obstacles.append(Obstacle("limit", text, case.text))
                return
            followed = flow.followed
            if case.nodes not in faults:  # in any case each rank has some name
                faults[case.nodes] = any(True for _ in flow.faults())
            if faults[case.nodes]:
                self._look_for_faults(case, flow)
            if len(self.proof.obstacles) >= self._most_open:
                return
            looked_at = 0
            for found in self._steps(case, flow):
                yield f"where the source is of {case.text}"
                looked_at += 1
                if found is None:
                    continue
                key = found.kind, found.source and str(found.source), found.number, found.closing and str(found.closing)
                if key not in seen and len(self.proof.obstacles) < self._most_open:
                    self.proof.obstacles.append(found)
                seen.add(key)
                if found.kind == "limit" or len(self.proof.obstacles) >= self._most_open:
                    return
            self.proof.cases.append((case.text, looked_at))
            flows_of.append((case, flow))
        if not self.proof.obstacles:
            known = self.facts()
            for case, flow in flows_of:
                yield f"what holds for {case.text}"
                known.look_at(case, flow)
            self.proof.assertions, self.proof.deadlock = known.assertions, known.deadlock
            self.proof.legal = known.legal

    def facts(self) -> Facts:
        """The search for what is known of assertions and deadlocks, case by case."""
        program = self.program
        unlooked = GROWS if program.growing else BLIND if program.blind_awaits else ""
        each_way = not program.source.shows_commands
        return Facts(self._automata, self._initial, self._rules, self._place, unlooked, each_way)

    def flow(self, case: Case, followed: int = 0) -> flow_of.Flow:
        """The values that registers and cells may have in ``case``; so many commands have been ``followed`` in other
        cases."""
        ranks = [RanksOf(name, self._automaton_of(name)) for name in case.names]

        def flow_with(known: Mapping[int, Value]) -> flow_of.Flow:
            return flow_of.Flow(ranks, self._layout, self._initial, self._first, followed, known)

        return with_counting_cells(flow_with, self.program.most_nodes)

    def sc_pairs(self, case: Case, flow: flow_of.Flow, looks: int) -> ScPairs:
        """Where two ranks may be at once in SC runs; so many commands have been followed in other cases. Raises
        :class:`~pgasrob.robustness.every_n.sc_pairs.TooManyPairs`."""
        unfolded = Unfolded(flow, [each.automaton for each in flow.ranks])
        return ScPairs(case, unfolded, self._initial, self._rules, looks)

    def setting(self, case: Case, known: Known, by_pairs: bool = False) -> Setting:
        """What the fixpoints for all sources share in ``case``; ``by_pairs``: with where two ranks may be at once.

        Raises :class:`~pgasrob.robustness.every_n.pair_states.TooMany`, with these.
        """
        ranks = Ranks(case, known, self._kinds, self._rules, self._polls_wait)
        commands = ranks.commands()
        if not isinstance(known, Unfolded):
            return Setting(commands)
        edges = Edges(known, ranks, commands)
        tokens = [*lock_tokens(edges, self._initial), *number_tokens(edges, self._initial, case)]
        views = views_of(known, ranks, commands, self._initial)
        pairs = PairStates(known, ranks, commands, self._initial) if by_pairs else None
        return Setting(commands, views, pairs, tokens)

    @property
    def _polls_wait(self) -> bool:
        return self.reading.failed_polls == "wait"

    def unfolded(self, flow: flow_of.Flow) -> Unfolded:
        """The values in automata that are unfolded by the contents of registers, in which reads may fail."""
        automata = [each.automaton for each in flow.ranks]
        if self._polls_wait:
            polled = {id(each): self._polled(each) for each in automata}
            automata = [polled[id(each)] for each in automata]
        return Unfolded(flow, automata)

    def _polled(self, automaton: ControlAutomaton) -> ControlAutomaton:
        """``automaton`` without those reads that fail on each rank and number of nodes. What is made of a C program for
        a number of nodes may have other control states. A round that stores to a private cell is no read that fails."""
        written = self._written[id(automaton)]
        if self.program.growing or not (self.program.source.shows_commands or has_one_control(written)):
            return automaton
        return self._private.in_registers(with_polls(written, Me(), self.program, Nodes()))

    def _automaton_of(self, name: Name) -> ControlAutomaton:
        """The control automaton of the ranks of ``name``. Those with blocks of their own are all among the first."""
        owned = (automaton for rank, automaton in self._blocks.items() if rank == name.me.c)
        others = self._blocks[None]
        return others if name.rest or name.me.x or name.me.n else next(owned, others)

    def _look_for_faults(self, case: Case, flow: flow_of.Flow) -> None:
        """Note the commands of the first rank of ``case`` that may fault."""
        possible = [(transition, role, expr) for rank, transition, role, expr in flow.faults() if rank == 0]
        left = self._may_fault(case, flow) if possible else set()
        for transition, role, expr in possible:
            if (
                (transition.span, expr) in left
                and transition.span not in self._faulting
                and len(self.proof.obstacles) < self._most_open
            ):
                text, place = self._why(role, expr), self._place(transition)
                self.proof.obstacles.append(Obstacle("fault", text, source=place, rank=case.text))
                self._faulting.add(transition.span)

    def _may_fault(self, case: Case, flow: flow_of.Flow) -> set[tuple[Span, Expr]]:
        """Where operands of the first rank may fault in SC runs, by what registers hold value by value, and where two
        ranks may be."""

        def faulting(known: Known) -> set[tuple[Span, Expr]]:
            return {(transition.span, expr) for rank, transition, _, expr in known.faults() if rank == 0}

        unfolded = Unfolded(flow, [each.automaton for each in flow.ranks])
        left = faulting(unfolded)
        if not left or self.program.growing:
            return left
        try:
            pairs = ScPairs(case, unfolded, self._initial, self._rules)
            for _ in range(MOST_ROUNDS):
                left &= faulting(pairs)
                if not left or not pairs.refine():
                    break
        except TooManyPairs:
            pass
        return left

    def _why(self, role: core.Role, expr: Expr) -> str:
        """Why a command may fault."""
        if self.program.source.shows_commands:
            return f"`{render(expr)}` may be out of range"
        numbers = [each.value for each in parts(expr) if role is core.Role.ADDRESS and isinstance(each, Const)]
        faults = [self.program.faults[-1 - each] for each in numbers if -len(self.program.faults) <= each < 0]
        return faults[0][0] if faults else f"{_CALLED[role]} may be out of range"

    def _place(self, transition: Transition) -> CommandText:
        return CommandText(self.program.source.shown(transition.span) or show(transition.command), transition)

    def _steps(self, case: Case, flow: flow_of.Flow) -> Iterator[Obstacle | None]:
        """For each step that may be the source the obstacle, or None."""
        places = enumerate(flow.ranks[0].automaton.out)
        if not any(core.steps_of(each.form) and flow.possible(0, at, each) for at, own in places for each in own):
            return
        left: list[_Source] = []
        for source, found in self._searched(case, flow):
            if found is None:
                yield None
            elif found.kind == "limit":
                yield found
                return
            else:
                left.append(source)
        if not left:
            return
        unfolded = self.unfolded(flow)
        obstacles: dict[_Source, Obstacle | None] = dict.fromkeys(left)
        for source, found in self._searched(case, unfolded, frozenset(left)):
            if found is not None and found.kind == "limit":
                yield found
                return
            obstacles[source] = obstacles[source] or found
        self.proof.views = True
        left = [source for source, found in obstacles.items() if found is not None]
        # With obstacles there is no proof anyway; and pairs of ranks are about cells, not elements of what grows.
        if left and not self.proof.obstacles and not self.program.growing:
            obstacles |= self._by_pairs(case, unfolded, left)
        yield from obstacles.values()

    def _by_pairs(self, case: Case, unfolded: Unfolded, left: Sequence[_Source]) -> dict[_Source, Obstacle | None]:
        """The obstacles that are left when it is known where two ranks may be at once; no new result where that takes
        too long."""
        found: dict[_Source, Obstacle | None] = dict.fromkeys(left)
        try:
            for source, obstacle in self._searched(case, unfolded, frozenset(left), by_pairs=True):
                if obstacle is not None and obstacle.kind == "limit":
                    return {}
                found[source] = found[source] or obstacle
        except TooMany:
            return {}
        return found

    def _searched(
        self, case: Case, known: Known, about: frozenset[_Source] | None = None, by_pairs: bool = False
    ) -> Iterator[tuple[_Source, Obstacle | None]]:
        """For each step that may be the source, or is one of those in ``about``, the obstacle, or None."""
        setting = self.setting(case, known, by_pairs)
        for state, leaving in enumerate(setting.commands[0]):
            states_of_others = setting.states_of_others(0, state)
            if not states_of_others:
                continue
            for place, command in enumerate(leaving):
                for step in range(len(command.in_steps) if command.possible else 0):
                    source = state, place, step
                    if isinstance(known, Unfolded):
                        source = *known.origins[0][state][place], step
                    if about is not None and source not in about:
                        continue
                    if setting.looks > fixpoint.LOOKS:
                        text = f"more than {fixpoint.LOOKS:,} commands were looked at"
                        yield source, Obstacle("limit", text, case.text)
                        return
                    search = Fixpoint(setting, states_of_others, 0, state, command, step)
                    if search.finds_e():
                        first = known.ranks[0].automaton.out[state][place]
                        yield source, self._obstacle(case, known, setting, first, step, search.closing)
                    else:
                        yield source, None

    def _obstacle(
        self,
        case: Case,
        known: Known,
        setting: Setting,
        source: Transition,
        step: int,
        closing: tuple[int, Command] | None,
    ) -> Obstacle:
        assert closing is not None
        rank, command = closing
        edge = next(
            transition
            for state, leaving in enumerate(setting.commands[rank])
            for each, transition in zip(leaving, known.ranks[rank].automaton.out[state], strict=True)
            if each is command
        )
        return Obstacle(
            "step",
            case=case.text,
            source=self._place(source),
            number=step,
            rank=case.names[rank].text,
            closing=self._place(edge),
        )
