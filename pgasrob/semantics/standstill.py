"""States in which nothing changes any more: each rank stays where it is, or goes round a loop for ever.

`proofs/waiting.md`, section 6, has the definition and the argument. From such a state on nothing decides what a rank
does that another one still changes. So one rank is looked at after the other; only where they may pass a barrier
together do they have to be followed from one barrier to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from operator import or_
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar, cast, get_args

from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Cell
from pgasrob.program.deciding import Command, Deciding
from pgasrob.program.expressions import Fault
from pgasrob.program.graphs import components, reached_by
from pgasrob.program.instance import Instance, Memory, Registers
from pgasrob.program.walks import is_quiet, is_read
from pgasrob.semantics.computation import POPS
from pgasrob.semantics.effect import put
from pgasrob.semantics.state_space import Letter
from pgasrob.stop_points import stop_point

MOST, MOST_AFTER = 4_000, 64
"""Configurations of one rank that are looked at from a state, and ways to pass barriers; and once that was too few
somewhere, so that it is open anyway whether there is a deadlock."""
MOST_KNOWN, MOST_SETS = 50_000, 8
"""Configurations that are remembered, and for each rank sets of cells whose values make them different."""

How = Literal["waits", "spins", "stopped", "exits", "free", "ended"]
"""How a rank stays, the worst first: it waits, for a value or at a barrier; it goes round a loop; it is before false
assumes alone; before an exit; it goes round a loop that it may leave by ending, or for an assume that stops it, or
that has no way out and passes data to others or takes it from them, so that it is meant to run for ever; it has ended.
"""
WORST: tuple[How, ...] = get_args(How)


class Stay(NamedTuple):
    """How a rank stays. Of one that spins: the commands of its loop, the registers that these set and the cells that
    they change, by which the loop is not at the same place in all its states."""

    how: How
    loop: tuple[Transition, ...] = ()
    registers: frozenset[int] = frozenset()
    cells: frozenset[Cell] = frozenset()


class AnyState(Protocol):
    """The common part of states of X(P, N) and of SC runs."""

    @property
    def control(self) -> tuple[int, ...]: ...
    @property
    def registers(self) -> tuple[Registers, ...]: ...
    @property
    def memory(self) -> Memory: ...


S = TypeVar("S", bound=AnyState)
T = TypeVar("T")


class Space(Protocol[S]):
    """What a rank may do by itself in a state."""

    def issues_of(self, state: S, rank: int) -> Iterable[tuple[tuple[Letter, ...], S]]: ...


def without_polls(instance: Instance) -> Instance:
    """``instance`` with every read enabled, those of polls that fail among them."""
    if not instance.polls:
        return instance

    def reads(edge: Transition) -> tuple[Transition]:
        form = replace(edge.form, until=None) if isinstance(edge.form, core.Immediate) else edge.form
        return (edge.with_form(form, edge.variant),)

    return instance.with_automata(tuple(automaton.with_edges(reads) for automaton in instance.automata))


class _Open(Exception):
    """The state does not stay: something can still happen from which there is no way back."""


@dataclass(eq=False)
class _Round(Generic[S]):
    """What a rank can do by itself: ``states``, the first one that it begins in, are its configurations, with the other
    ranks standing still. By configuration: ``targets``, where it leads, ``edges``, by which commands (None: a step),
    ``arrivals``, its next barriers. ``commands``: the next commands there, with their cells, by occurrence and variant.
    ``used``, ``changed``, ``changes``: the cells at which it may look, that it may write, and whose values it changes.
    ``wrong``: the configurations in which an assume was a wrong guess, so that no run comes there.
    """

    states: list[S]
    targets: list[list[int]] = field(default_factory=list)
    edges: list[list[Transition | None]] = field(default_factory=list)
    arrivals: list[list[Transition]] = field(default_factory=list)
    commands: dict[tuple[int, int], Command] = field(default_factory=dict)
    used: set[Cell] = field(default_factory=set)
    changed: set[Cell] = field(default_factory=set)
    changes: set[Cell] = field(default_factory=set)
    wrong: set[int] = field(default_factory=set)

    @cached_property
    def real(self) -> list[int]:
        return [number for number in range(len(self.states)) if number not in self.wrong]

    @cached_property
    def names(self) -> frozenset[str]:
        """Those of the barriers to which it comes."""
        return frozenset(_names(each for arrivals in self.arrivals for each in arrivals))

    def alike(self, whole: _Whole[S], rank: int) -> tuple[dict[int, int], list[list[int]]]:
        """Numbers of the real configurations, the same for those in which what decides something is the same; and where
        those lead."""
        numbers: dict[tuple[object, ...], int] = {}
        of = {each: numbers.setdefault(whole.alike(self.states[each], rank), len(numbers)) for each in self.real}
        leads: list[list[int]] = [[] for _ in numbers]
        for each in self.real:
            leads[of[each]] += [of[target] for target in self.targets[each] if target in of]
        return of, leads


class _Whole(Generic[S]):
    """The rounds of all ranks, one for each time between barriers, and what decides what the ranks do in them.

    ``rounds``: those of each rank. ``registers``, ``reads``: for each rank the registers and cells that do. ``passes``:
    whether it passes other data on to another rank, or takes it from there. ``changing``: the cells that go on
    changing; where such data changes, all that are written and decide nothing.
    """

    def __init__(self, rounds: Sequence[Sequence[_Round[S]]]) -> None:
        """Raises `_Open` when a rank changes what decides what another one does."""
        self.rounds, ranks = rounds, range(len(rounds))
        deciding = Deciding((each for some in rounds for one in some for each in one.commands.values()), len(ranks))
        used = [set[Cell]().union(*(one.used for one in some)) for some in rounds]
        changed = [set[Cell]().union(*(one.changed for one in some)) for some in rounds]
        changes = [set[Cell]().union(*(one.changes for one in some)) for some in rounds]
        decides = {cell for cell in set[Cell]().union(*used) if deciding.cells >> cell & 1}
        self.registers, self.reads = deciding.registers, [each & decides for each in used]
        pairs = [(one, other) for one in ranks for other in ranks if one != other]
        if any(self.reads[one] & changes[other] for one, other in pairs):
            raise _Open
        passing = [pair for pair in pairs if (used[pair[0]] & changed[pair[1]]) - decides]
        self.passes = [any(rank in pair for pair in passing) for rank in ranks]
        alone = not any(used[one] & changes[other] for one, other in pairs)
        self.changing = changes if alone else [changes[rank] | changed[rank] - decides for rank in ranks]

    def alike(self, state: S, rank: int) -> tuple[object, ...]:
        """What decides what ``rank`` does from a configuration on."""
        registers = [state.registers[rank][index] for index in self.registers[rank]]
        memory = [state.memory[cell] for cell in self.reads[rank]]
        return state.control[rank], *registers, *memory, getattr(state, "pending", None)


class Standstill(Generic[S]):
    """Finds out of states whether they stay, for the program with every read enabled.

    ``space``: makes what ranks may do, of `instance`; in runs on the network only states are asked about in which
    nothing is pending. ``guesses``: whether assumes are guesses of a front end. ``live``: for each rank and control
    state the registers whose values count there; those that are live when None. ``undecided``: whether there was too
    much to look at from some state, which is then taken not to stay.
    """

    def __init__(
        self,
        space: Callable[[Instance], Space[S]],
        instance: Instance,
        guesses: bool,
        live: Sequence[Sequence[frozenset[int]]] | None = None,
    ) -> None:
        self._instance = without_polls(instance)
        self._space, self._with_polls, self._polling = space(self._instance), space(instance), instance
        self._guesses, self._given = guesses, live
        self._endless = instance.endless
        self.undecided = False
        self._sets: list[list[tuple[Cell, ...]]] = [[] for _ in instance.automata]
        self._known: dict[tuple[object, ...], _Round[S] | Literal["leaves", "open"]] = {}
        self._answers: dict[tuple[object, ...], tuple[Stay, ...] | None] = {}

    @cached_property
    def _live(self) -> Sequence[Sequence[frozenset[int]]]:
        return self._given or [automaton.live for automaton in self._instance.automata]

    def stays(self, state: S, there: bool = False) -> tuple[Stay, ...] | None:
        """How each rank stays from ``state`` on; None when it is not a state that stays.

        A rank that can do nothing but read in vain (a poll that fails) may have to go on to where it stays. With
        ``there`` nothing but assumes and assigns may come between that read and the wait or loop in which it stays.
        """
        ranks = range(self._instance.processes)
        moving = [self._endless[rank][state.control[rank]] for rank in ranks]
        idle = [not any(True for _ in self._with_polls.issues_of(state, rank)) for rank in ranks]
        if not all(map(or_, moving, idle)):
            return None
        try:
            rounds = [self._round(self._forgotten(state, rank), rank, idle[rank]) for rank in ranks]
        except _Open:
            return None
        key = *rounds, *idle, there
        if key not in self._answers:
            if len(self._answers) > MOST_KNOWN:
                self._answers.clear()
            try:
                self._answers[key] = self._stays(rounds, idle, there)
            except _Open:
                self._answers[key] = None
        return self._answers[key]

    def _stays(self, rounds: list[_Round[S]], idle: Sequence[bool], there: bool) -> tuple[Stay, ...]:
        names = self._instance.by_rank([list(one.names) for one in rounds])
        if frozenset.intersection(*map(frozenset, names)):
            if self._instance.has_threads:
                # Threads that pass no barrier go on while others do, which `_past_barriers` does not follow.
                self.undecided |= any(one.targets[0] for one in rounds)
                raise _Open
            return self._past_barriers(rounds)
        whole = _Whole([[one] for one in rounds])
        return tuple(self._stay(whole, rank, idle[rank], there) for rank in range(self._instance.processes))

    def _forgotten(self, state: S, rank: int, control: int | None = None) -> S:
        """``state`` with 0 in the registers of ``rank`` that do not count; at another ``control`` state, if given."""
        control = state.control[rank] if control is None else control
        live = self._live[rank][control]
        own = tuple(value if index in live else 0 for index, value in enumerate(state.registers[rank]))
        changed: Any = state
        return cast(
            S, changed._replace(control=put(state.control, rank, control), registers=put(state.registers, rank, own))
        )

    # One rank by itself

    def _round(self, start: S, rank: int, away: bool) -> _Round[S]:
        """All that ``rank`` can do by itself. Raises `_Open` when it may end in a fault, when it is too much, and where
        it need not come back to its place, if it may not go ``away``.

        It is found once, for all states in which the rank is there and the cells that it accesses have the same values.
        """
        known = next(filter(None, (self._known.get(self._key(start, rank, cells)) for cells in self._sets[rank])), None)
        if known == "open" or (known == "leaves" and not away):
            raise _Open
        if isinstance(known, _Round):
            return known
        found = _Round([start])
        try:
            self._follow(found, rank)
        except _Open:
            beyond = range(len(found.targets), len(found.states))
            self._remember(found, rank, "open", _leading(found.targets, beyond))
            raise
        leaving = self._leaving(found, rank)
        self._remember(found, rank, "leaves", leaving)
        # Where all its configurations lead to each other it makes no difference in which of them it begins.
        goes_round = not found.wrong and len(set(components(found.targets))) == 1
        self._remember(found, rank, found, range(len(found.states)) if goes_round else [0])
        if 0 in leaving and not away:
            raise _Open
        return found

    def _leaving(self, found: _Round[S], rank: int) -> set[int]:
        """The configurations from which the rank comes to where it cannot come back from, whatever else the values
        decide that decide something here, and to no barrier."""
        alone: list[list[_Round[S]]] = [[] for _ in self._instance.automata]
        alone[rank] = [found]
        of, leads = found.alike(_Whole(alone), rank)
        component, left = _left_for_good(leads)
        leaving = {each for each, node in of.items() if component[node] in left}
        return leaving - _leading(found.targets, [each for each in found.real if found.arrivals[each]])

    def _key(self, state: S, rank: int, cells: tuple[Cell, ...]) -> tuple[object, ...]:
        memory = tuple(state.memory[cell] for cell in cells)
        return rank, cells, state.control[rank], state.registers[rank], memory, getattr(state, "pending", None)

    def _remember(
        self, found: _Round[S], rank: int, known: _Round[S] | Literal["leaves", "open"], of: Iterable[int]
    ) -> None:
        cells = tuple(sorted(found.used | found.changed))
        if cells not in self._sets[rank]:
            if len(self._sets[rank]) == MOST_SETS:
                return
            self._sets[rank].append(cells)
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        self._known.update((self._key(found.states[each], rank, cells), known) for each in of)

    def _follow(self, found: _Round[S], rank: int) -> None:
        """Completes ``found``, which has the state that the rank begins in."""
        numbers = {found.states[0]: 0}
        for number, state in enumerate(_growing(found.states)):
            stop_point()
            self._count(number)
            leaving = self._instance.automata[rank].out[state.control[rank]]
            self._note_cells(found, leaving, state, rank)
            moves = list(self._moves(state, rank))
            for word, after in moves:
                cells = {letter.cell for letter in word if letter.cell is not None}
                found.changes |= {cell for cell in cells if after.memory[cell] != state.memory[cell]}
            kept = [self._forgotten(after, rank) for _, after in moves]
            found.states += dict.fromkeys(after for after in kept if after not in numbers)
            for after in kept:
                numbers.setdefault(after, len(numbers))
            found.arrivals.append([each for each in leaving if isinstance(each.form, core.Barrier)])
            issued = {each.occurrence: each for each in leaving}
            found.edges.append([None if word[0].kind in POPS else issued[word[0].which] for word, _ in moves])
            if self._guesses and not moves and _kinds(leaving) == {"assume"}:
                found.wrong.add(number)
            found.targets.append([numbers[after] for after in kept])
        if found.wrong and len(found.states) > len(found.wrong):
            self._leave_out_wrong_guesses(found)

    def _count(self, number: int) -> None:
        if number > (MOST_AFTER if self.undecided else MOST):
            self.undecided = True
            raise _Open

    def _moves(self, state: S, rank: int) -> Iterator[tuple[tuple[Letter, ...], S]]:
        """What it can issue, and the steps of what it has pending."""
        yield from self._space.issues_of(state, rank)
        steps_of: Any = getattr(self._space, "steps_of", None)
        if steps_of is not None:
            yield from steps_of(state, rank)

    def _note_cells(self, found: _Round[S], leaving: Iterable[Transition], state: S, rank: int) -> None:
        """Notes what the next commands look at and write, whether they can be issued or not."""
        for transition in leaving:
            try:
                operands = self._instance.operands(rank, transition, state.registers[rank])
            except Fault:
                raise _Open from None
            made = core.accesses_of(operands)
            used = {
                each.cell for each, seen in zip(made, core.observed(operands), strict=True) if seen or each.commutes
            }
            changed = {each.cell for each in made if each.writes}
            found.used |= used
            found.changed |= changed
            bits = [sum(1 << cell for cell in cells) for cells in (used, changed)]
            known = found.commands.get((transition.occurrence, transition.variant))
            if known is not None:
                bits = [bits[0] | known.used, bits[1] | known.changed]
            found.commands[transition.occurrence, transition.variant] = Command(rank, transition.form, *bits)

    def _leave_out_wrong_guesses(self, found: _Round[S]) -> None:
        """What can only lead to wrong guesses is none of the program's runs either."""
        changed = True
        while changed:
            stop_point()
            changed = False
            for number, targets in enumerate(found.targets):
                doomed = targets and not found.arrivals[number] and all(each in found.wrong for each in targets)
                if doomed and number not in found.wrong:
                    found.wrong.add(number)
                    changed = True

    def _stay(self, whole: _Whole[S], rank: int, idle: bool, there: bool) -> Stay:
        """How ``rank`` stays: where it cannot get away from, the worst if there are several. It must be there now
        unless it is ``idle``; then with ``there`` it must be as good as there (`stays`), or it gathers flags."""
        (one,) = whole.rounds[rank]
        if 0 in one.wrong:
            if len(one.states) > 1:
                raise _Open
            return Stay("stopped")
        of, leads = one.alike(whole, rank)
        component, left = _left_for_good(leads)
        begins = component[of[0]] in left
        if begins and not idle:
            raise _Open
        on_the_way = [each for each in one.real if component[of[each]] in left]
        if begins and there and not (self._gathers(one.states[0], rank) or _goes_silently(one, on_the_way)):
            raise _Open
        found: list[Stay] = []
        for last in dict.fromkeys(each for each in component if each not in left):
            inside = [each for each in one.real if component[of[each]] == last]
            if any(target not in one.wrong for each in inside for target in one.targets[each]):
                found.append(self._spinning(whole, [(one, inside)], rank))
            else:
                found.append(Stay(self._how_it_stands(one.states[inside[0]], rank)))
        worst = min(found, key=lambda stay: WORST.index(stay.how))
        if begins and there and worst.how not in ("waits", "spins"):
            raise _Open
        return worst

    def _gathers(self, state: S, rank: int) -> bool:
        """Whether ``rank`` looks at a flag here and may go on to others: nothing but that stands for where it stays."""
        return any(
            isinstance(edge.form, core.Immediate) and edge.form.until is not None and edge.form.until.gathers
            for edge in self._polling.automata[rank].out[state.control[rank]]
        )

    def _how_it_stands(self, state: S, rank: int) -> How:
        """How a rank stands that cannot move."""
        kinds = _kinds(self._instance.automata[rank].out[state.control[rank]])
        if not kinds:
            return "ended"
        return "exits" if "exit" in kinds else "stopped" if kinds == {"assume"} else "waits"

    def _spinning(self, whole: _Whole[S], parts: Iterable[tuple[_Round[S], Sequence[int]]], rank: int) -> Stay:
        """The stay of a rank that goes round these configurations."""
        loop, free = dict[tuple[int, int], Transition](), False
        places, ahead = set[int](), set[int]()
        for one, inside in parts:
            for number in inside:
                places.add(one.states[number].control[rank])
                leaving = self._instance.automata[rank].out[one.states[number].control[rank]]
                ahead.update(edge.target for edge in leaving)
                if "exit" in _kinds(leaving):
                    raise _Open  # it may end the run
                issued = [edge for edge in one.edges[number] if edge is not None]
                free |= self._may_stop(leaving, len(issued) + len(one.arrivals[number]))
                made = zip(one.edges[number], one.targets[number], strict=True)
                taken = [edge for edge, target in made if edge is not None and target not in one.wrong]
                loop |= {(edge.occurrence, edge.variant): edge for edge in taken + one.arrivals[number]}
        commands = tuple(loop[key] for key in sorted(loop))
        free |= any(each.last for each in commands) or (whole.passes[rank] and ahead <= places)
        changed = (core.register_set(each.form) for each in commands)
        registers = frozenset(each for each in changed if each is not None)
        return Stay("free" if free else "spins", commands, registers, frozenset(whole.changing[rank]))

    def _may_stop(self, leaving: Sequence[Transition], possible: int) -> bool:
        """Whether a rank has the choice between an assume that is false and other commands, and so may stop by its own
        will; ``possible``: how many of its next commands can be issued."""
        kinds = _kinds(leaving)
        return not self._guesses and "assume" in kinds and kinds != {"assume"} and possible < len(leaving)

    # Barriers that all ranks pass

    def _past_barriers(self, first: list[_Round[S]]) -> tuple[Stay, ...]:
        """How the ranks stay when they can pass a barrier from some of the configurations in ``first``.

        They stay in their loops when each of them cannot but come to the next barrier, again and again, and when from
        every barrier on they can come back to where they are now.
        """
        ranks = range(self._instance.processes)
        numbers: dict[tuple[S, ...], int] = {tuple(one.states[0] for one in first): 0}
        order = list(numbers)
        phases, leads = [first], list[list[int]]()
        for number, starts in enumerate(_growing(order)):
            self._count(number)
            if number:
                phases.append([self._round(own, rank, away=True) for rank, own in enumerate(starts)])
            for one in phases[number]:
                arriving = [each for each in one.real if one.arrivals[each]]
                if not _leading(one.targets, arriving).issuperset(one.real):
                    raise _Open
            _Whole(list(zip(*phases, strict=True)))  # none changes what another one sees, so far
            after = list(self._behind_barriers(phases[number]))
            order += dict.fromkeys(each for each in after if each not in numbers)
            leads.append([numbers.setdefault(each, len(numbers)) for each in after])
        whole = _Whole(list(zip(*phases, strict=True)))
        now = [whole.alike(one.states[0], rank) for rank, one in enumerate(first)]
        back = [
            number
            for number, phase in enumerate(phases)
            if all(
                any(whole.alike(phase[rank].states[each], rank) == now[rank] for each in phase[rank].real)
                for rank in ranks
            )
        ]
        if len(_leading(leads, back)) < len(phases):
            raise _Open
        return tuple(self._spinning(whole, [(one, one.real) for one in whole.rounds[rank]], rank) for rank in ranks)

    def _behind_barriers(self, phase: Sequence[_Round[S]]) -> Iterator[tuple[S, ...]]:
        """Where the ranks may be behind the next barrier."""
        waiting = [
            {frozenset(_names(one.arrivals[each])) for each in one.real if not one.targets[each]} for one in phase
        ]
        if any(not frozenset.intersection(*names) for names in product(*waiting)):
            raise _Open  # they may wait at different barriers
        arrivals = [
            [(each.form.name, one.states[number], each.target) for number in one.real for each in one.arrivals[number]
             if isinstance(each.form, core.Barrier)]
            for one in phase
        ]  # fmt: skip
        for number, chosen in enumerate(product(*arrivals)):
            self._count(number)
            if len({name for name, _, _ in chosen}) == 1:
                yield tuple(self._forgotten(state, rank, target) for rank, (_, state, target) in enumerate(chosen))


def _growing(items: list[T]) -> Iterator[T]:
    """The items, those among them that are added on the way."""
    return iter(items)


def _goes_silently(one: _Round[S], on_the_way: Iterable[int]) -> bool:
    """Whether a rank issues nothing but assumes and assigns in the configurations ``on_the_way``, after a read in the
    first one."""
    return all(
        edge is not None and (is_read(edge.form) if number == 0 else is_quiet(edge.form, silently=True))
        for number in on_the_way
        for edge in one.edges[number]
    )


def _names(arrivals: Iterable[Transition]) -> set[str]:
    return {each.form.name for each in arrivals if isinstance(each.form, core.Barrier)}


def _kinds(leaving: Iterable[Transition]) -> set[str]:
    return {each.command.kind for each in leaving}


def _left_for_good(leads: Sequence[Sequence[int]]) -> tuple[list[int], set[int]]:
    """The component of each node, and the components that an edge leaves."""
    of = components(leads)
    return of, {of[node] for node, to in enumerate(leads) if any(of[node] != of[each] for each in to)}


def _leading(targets: Sequence[Sequence[int]], to: Iterable[int]) -> set[int]:
    """The nodes that lead to one of ``to``."""
    return reached_by(((target, node) for node, leads in enumerate(targets) for target in leads), to)
