"""Searches for the effect of a violation: a run on the network with an outcome that no SC run has.

The SC runs are all looked at, and then runs on the network: first those that go on from the witness, then all others. A
run of which an end, or something on the way, can be seen that no SC run has is the answer, after the replay has
confirmed it. Where the search comes to its end without one, no run has one; where a limit ends it, none was found.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain

from pgasrob.program import core
from pgasrob.program.expressions import Const
from pgasrob.program.instance import Instance
from pgasrob.program.walks import Walks
from pgasrob.robustness.counterexample import Counterexample
from pgasrob.robustness.engine import Violation
from pgasrob.robustness.maximal_runs import (
    SHOWN_LATER,
    At,
    End,
    Faulting,
    Found,
    Node,
    Read,
    Runs,
    Sight,
    Viewer,
    Word,
    shows_more,
    unknown_memory,
    words_of,
)
from pgasrob.robustness.reasons import AnyValue, EffectLimit, InternalError, Reason, RunsLeftOut, ScRunsLeft
from pgasrob.robustness.sc_traces import ScTraces
from pgasrob.robustness.verdict import Effect, EndValue, Witness
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.endings import FailedAssertion, with_failure
from pgasrob.semantics.happens_before import Edge, HappensBefore, is_violating
from pgasrob.semantics.replay import ReplayError, Run, replay
from pgasrob.semantics.sequential import assumes_are_guesses
from pgasrob.semantics.standstill import without_polls
from pgasrob.semantics.state_space import Operation, State, StateSpace, computation_of
from pgasrob.stop_points import stop_point

MOST_SC_STATES = 5_000
MOST_EFFORT, MOST_EFFORT_AFTER_WITNESS = 8_000, 4_000
"""What the search for a run may take, among all runs and among those that go on from one violation."""
MANY_PROCESSES = 64
MOST_EFFORT_FOR_ASSERTIONS, MOST_EFFORT_TO_AN_END = 500, 1_000
"""How much more, when an outcome has been found, to find an assertion that fails; and from there to an end."""


class EffectSearch:
    """The search for what ``witness`` means, a violation of ``instance`` that ``engine`` has found. ``traces``: of its
    SC runs.

    ``run`` yields now and then. Afterwards ``effect`` is what has been found, and ``witness`` the violation to show:
    another one, where that changes an outcome and the first does not.
    """

    def __init__(self, instance: Instance, engine: str, witness: Witness, traces: ScTraces) -> None:
        self.witness = witness
        self.effect = Effect("none found")
        self._instance, self._engine = instance, engine
        self._viewer = Viewer(instance)
        self._sc, self._traces, self._sc_states = Runs.under_sc(self._viewer), traces, 0
        # To look at a state takes longer where there are more processes than usual: of each it is asked what others do.
        self._weight = 1 + (instance.processes // MANY_PROCESSES) ** 2
        self._network: Runs[State] | None = None
        self._ends: set[End] = set()
        self._sights: set[Sight] = set()
        self._commands: set[tuple[int, int | None]] = set()  # the next ones of ranks, and None at their ends
        self._latest: tuple[Run, list[Sight], End | None] | None = None  # what was looked at last
        self._unsure = False  # whether it was not found out of some place if SC runs come there

    @property
    def states(self) -> int:
        """The states of the search that is going on."""
        return max(self._sc.states, self._sc_states) if self._network is None else self._network.states

    def ended(self, reason: Reason | None) -> None:
        """Note that the search has come to nothing; ``reason``: what has ended it before it had seen all runs."""
        network = 0 if self._network is None else self._network.states
        states = max(self._sc.states, self._sc_states)
        self.effect = Effect("none" if reason is None else "none found", reason, states, network)

    def run(self, *most: int) -> Iterator[None]:
        """Search; each of ``most`` bounds the states of the SC runs."""
        most_sc_states = min((max(1, MOST_SC_STATES // self._weight), *most))
        program = self._instance.program
        if program.gaps or program.blind_awaits:
            gaps = program.gaps or ("nobody can say whether an await blocks that looks at an unknown value",)
            return self.ended(ScRunsLeft(RunsLeftOut(gaps)))
        yield from self._traces.explore()
        only = self._traces.only()
        if only is not None:
            self._see_the_only(only)
        else:
            left = yield from self._see_all(most_sc_states)
            if left is not None:
                return self.ended(ScRunsLeft(EffectLimit(left)))
        self._commands = {each for sight in self._sights if isinstance(sight, At) for each in self._before(sight)}
        found = yield from self._continuation_of(self.witness)
        if found is None:
            self._network = Runs.on_the_network(self._viewer)
            found = yield from self._search(self._network, *self._network.begin(), MOST_EFFORT)
            if found is None:
                complete = self._network.complete and not self._unsure
                if complete and shows_more(self._instance):
                    return self.ended(RunsLeftOut((SHOWN_LATER,)))
                if complete and (names := unknown_memory(self._instance)):
                    return self.ended(AnyValue(names))
                return self.ended(None if complete else EffectLimit(self._network.states))
            found = yield from self._with_witness(found)
        self._report(found)
        return None

    def _see_the_only(self, computation: Computation) -> None:
        """See what all SC runs show: they are one but for the order of what is independent."""
        _, sights, end = self._look_at(computation)
        assert end is not None, "it goes on to its end"
        self._sights.update([*self._sc.begin()[1], *sights])
        self._ends.add(end)
        self._sc_states = len(computation) + 1

    def _see_all(self, most: int) -> Generator[None, None, int | None]:
        """See what the SC runs show, state by state. None, or where there are too many how many have been looked at."""
        self._sights.update(self._sc.begin()[1])
        for seen in self._sc.explore():
            if self._sc.states > most:
                return most
            if seen is None:
                yield
            elif isinstance(seen[1], End):
                self._ends.add(seen[1])
            else:
                self._sights.add(seen[1])
        return self._sc.states if self._sc.undecided else None

    @cached_property
    def _behind_polls(self) -> set[tuple[int, int | None]]:
        """The commands to which reads that fail may lead from where ranks come in SC runs, whatever these reads
        give."""
        places = {sight for sight in self._sights if isinstance(sight, At)}
        found = set[At]()
        for rank, automaton in enumerate(self._instance.automata):
            walks = Walks(automaton, Const(self._instance.home[rank]), self._instance.size, Const(self._instance.nodes))
            for state, leaving in enumerate(automaton.out):
                for edge in leaving:
                    if At(rank, state) in places and isinstance(edge.form, core.Immediate) and edge.form.until:
                        found.update(At(rank, each) for each in walks.after_failed(state, edge))
        return {each for place in found for each in self._before(place)}

    @cached_property
    def _with_polls(self) -> set[tuple[int, int | None]] | None:
        """The commands that are next for some rank in SC runs in which polls that fail are made; None when there is too
        much to look at."""
        runs = Runs.under_sc(Viewer(without_polls(self._instance)))
        sights = set(runs.begin()[1])
        for seen in runs.explore():
            if runs.states > MOST_SC_STATES:
                return None
            if seen is not None and isinstance(seen[1], At):
                sights.add(seen[1])
        return {each for sight in sights if isinstance(sight, At) for each in self._before(sight)}

    def _is_new_place(self, place: At) -> bool:
        """Whether no SC run has the rank before any of the commands that are next at ``place``, be it in a round of a
        poll that fails. A control state alone does not count: readers see commands."""
        commands = set(self._before(place))
        if commands & self._commands:
            return False
        if not commands & self._behind_polls:
            return True
        # Only values say whether a read ever fails, and where its rank goes then.
        if self._with_polls is None:
            self._unsure = True
            return False
        return not commands & self._with_polls

    def _before(self, place: At) -> list[tuple[int, int | None]]:
        """The commands that are next for a rank at ``place``."""
        leaving = self._instance.automata[place.rank].out[place.control]
        return [(place.rank, edge.occurrence) for edge in leaving] or [(place.rank, None)]

    def _is_new(self, sight: Sight) -> bool:
        """Whether no SC run shows it."""
        return self._is_new_place(sight) if isinstance(sight, At) else sight not in self._sights

    def _is_new_end(self, end: End) -> bool:
        return end not in self._ends and not any(map(end.is_like, self._ends))

    def _continuation_of(self, witness: Witness) -> Generator[None, None, Computation | None]:
        """A run that goes on from ``witness`` and shows something that no SC run does."""
        self._network = Runs.on_the_network(self._viewer)
        words, straight = words_of(witness.run.computation), None
        if self._weight > 1:  # then only what is near can be looked at in all ways
            straight, failed = self._straight_on(words, witness.run)
            if straight is not None and (failed or not self._instance.has_assertions):
                return straight
        start, before = self._network.begin(words)
        found = yield from self._search(self._network, start, before, MOST_EFFORT_AFTER_WITNESS)
        return straight if found is None else found

    def _straight_on(self, words: Sequence[Word], after: Run) -> tuple[Computation | None, bool]:
        """The run ``words`` with nothing pending ``after`` it, and straight on to an end, if it shows something that no
        SC run does; and whether that is an assertion that fails."""
        state = State(after.control, after.registers, after.memory, ((),) * self._instance.processes)
        run = self._straight_to_an_end(words, state)
        if run is None:
            return None, False
        _, sights, end = self._look_at(run)
        new = [sight for sight in sights if self._is_new(sight)]
        shows = bool(new) or (end is not None and self._is_new_end(end))
        return run if shows else None, any(isinstance(sight, FailedAssertion) for sight in new)

    def _search(
        self, runs: Runs[State], start: Node[State], before: Iterable[Sight], most: int
    ) -> Generator[None, None, Computation | None]:
        """A run of ``runs`` that shows something that no SC run does, preferably a failing assertion; ``before`` was
        shown before ``start``."""
        first: Computation | None = None
        for sight in before:
            if self._is_new(sight) and (run := self._to_its_end(runs, start)) is not None:
                first = first or run
                if isinstance(sight, FailedAssertion):
                    return run
        hopeless: set[Sight] = set()
        most = max(1, most // self._weight)
        for seen in runs.explore():
            if runs.effort > most or (first is not None and not self._instance.has_assertions):
                break
            if seen is None:
                yield
                continue
            node, what = seen
            if isinstance(what, End):
                if first is None and self._is_new_end(what):
                    first, most = runs.computation(node), runs.effort + MOST_EFFORT_FOR_ASSERTIONS
                continue
            if not self._is_new(what) or what in hopeless:
                continue
            if first is not None and not isinstance(what, FailedAssertion):
                continue
            run = self._to_its_end(runs, node)
            if run is None:
                hopeless.add(what)
            elif isinstance(what, FailedAssertion):
                return run
            else:
                first, most = run, runs.effort + MOST_EFFORT_FOR_ASSERTIONS
        return first

    def _to_its_end(self, runs: Runs[State], node: Node[State]) -> Computation | None:
        """The run to ``node`` and on to an end; where none is near, until nothing is pending. None: with a wrong guess
        it may be no run."""
        words = runs.words(node)
        if self._weight > 1 and (run := self._straight_to_an_end(words, node.state)) is not None:
            return run
        further = Runs.on_the_network(self._viewer)
        further.begin(words)
        for seen in further.explore():
            if seen is not None and isinstance(seen[1], End):
                return further.computation(seen[0])
            if further.effort > max(1, MOST_EFFORT_TO_AN_END // self._weight):
                break
        if assumes_are_guesses(self._instance):
            return None
        space, state = StateSpace(self._instance), node.state
        while any(state.pending):
            stop_point()
            word, state = next(
                edge
                for rank, pending in enumerate(state.pending)
                for position, entry in enumerate(pending)
                if isinstance(entry, Operation) and (edge := space.step(state, rank, position)) is not None
            )
            words.append(word)
        return computation_of(words)

    def _straight_to_an_end(self, words: Sequence[Word], state: State) -> Computation | None:
        """The run ``words`` to ``state``, and on with the ranks one after the other, each as far as it comes; None
        where that leads to no end."""
        space, words = StateSpace(self._instance), [*words]
        most = len(words) + 2 * self._instance.commands

        def moves(rank: int | None) -> Iterator[tuple[Word, State]]:
            if rank is None:
                return space.barriers(state)
            return chain(space.steps_of(state, rank), space.issues_of(state, rank))

        going = True
        while going:
            going = False
            for rank in (*range(self._instance.processes), None):
                while (edge := next(moves(rank), None)) is not None:
                    stop_point()
                    words.append(edge[0])
                    state, going = edge[1], True
                    if len(words) > most:
                        return None
        computation = computation_of(words)
        return computation if self._look_at(computation)[2] is not None else None

    def _with_witness(self, found: Computation) -> Generator[None, None, Computation]:
        """A run like ``found`` that goes on from an irreducible violation, which becomes the witness, where there is
        one."""
        counterexample = Counterexample(
            self._instance, self._engine, Violation(_earliest_violation(self._instance, found))
        )
        yield from counterexample.leave_out()
        judged = counterexample.judged()
        if isinstance(judged, Witness) and judged.irreducible:
            run = yield from self._continuation_of(judged)
            if run is not None:
                self.witness = judged
                return run
        return found

    def _report(self, computation: Computation) -> None:
        """Replay the run, and note what no SC run has of it."""
        try:
            run, sights, end = self._look_at(computation)
        except ReplayError as error:
            return self.ended(InternalError.of_run("effect", f"does not replay: {error}"))
        new = [sight for sight in sights if self._is_new(sight)]
        failed = [sight for sight in new if isinstance(sight, FailedAssertion)]
        differs = end is not None and self._is_new_end(end)
        if not run.complete or not (new or differs):
            return self.ended(InternalError.of_run("effect", "has nothing that no SC run has"))
        assert self._network is not None
        effect = Effect(
            "assertion" if failed else "outcome",
            None,
            max(self._sc.states, self._sc_states),
            self._network.states,
            Witness("violation", run, self._cycle(run)),
        )
        if computation == self.witness.run.computation:
            effect = replace(effect, run=self.witness)
        found = [sight for sight in new if isinstance(sight, Found)]
        if failed:
            effect = replace(effect, assertion=failed[0])
        elif found:
            values = {sight.value for sight in self._sights if isinstance(sight, Found) and sight.read == found[0].read}
            effect = replace(effect, values=(self._value(found[0].read, found[0].value, values),))
        elif end is not None and differs:
            effect = self._reported(effect, end)
        elif any(isinstance(sight, Faulting) for sight in new):
            effect = replace(effect, ending="fault")
        else:
            effect = replace(effect, place=next(sight for sight in new if isinstance(sight, At)))
        self.effect = effect
        return None

    def _cycle(self, run: Run) -> tuple[Edge, ...] | None:
        """The cycle to show of a run that shows the effect: that of the violation, where it goes on from it and is so
        long that to look for another one takes as long as all else."""
        first = self.witness.run.computation
        goes_on = self._weight > 1 and run.computation[: len(first)] == first
        return self.witness.cycle if goes_on else HappensBefore.of(run).cycle

    def _look_at(self, computation: Computation) -> tuple[Run, list[Sight], End | None]:
        """The run, replayed, with what it shows; no end where it is not maximal."""
        if self._latest is None or self._latest[0].computation != computation:
            run = replay(self._instance, computation)
            self._latest = (run, *self._seen_of(run))
        return self._latest

    def _seen_of(self, run: Run) -> tuple[list[Sight], End | None]:
        control = [0] * self._instance.processes
        sights: list[Sight] = []
        failed: tuple[FailedAssertion, ...] = ()
        found: dict[Read, int] = {}
        for replayed in run.events:
            event = replayed.event
            if event.is_step:
                continue
            rank = event.rank
            leaving = self._instance.automata[rank].out[control[rank]]
            control[rank] = next(edge.target for edge in leaving if edge.occurrence == event.occurrence)
            sights.append(At(rank, control[rank]))
            if replayed.holds is False:
                broken = FailedAssertion(rank, replayed.span.line, event.occurrence)
                failed = with_failure(failed, broken)
                sights.append(broken)
            read = None if event.cell is None else self._viewer.read(rank, event.occurrence, event.cell)
            if read is not None:
                assert replayed.read is not None
                found[read] = replayed.read
                sights.append(Found(read, replayed.read))
        for rank, (at, registers) in enumerate(zip(run.control, run.registers, strict=True)):
            sights += self._viewer.sights_at(rank, at, registers)
        state = State(run.control, run.registers, run.memory, ((),) * self._instance.processes)
        goes_on = any(True for _ in StateSpace(self._instance).successors(state))
        node = Node(state, failed, tuple(sorted(found.items())))
        return sights, Runs.on_the_network(self._viewer).end(node, goes_on)

    def _reported(self, effect: Effect, end: End) -> Effect:
        """``effect`` with a few values at the ``end`` that no SC run has together."""
        items: list[tuple[object, object]] = [("", end.ending), (None, end.failed), *end.values]
        others: list[dict[object, object]] = [
            dict([("", other.ending), (None, other.failed), *other.values]) for other in self._ends
        ]
        chosen = _telling(items, others)
        values = tuple(
            self._value(of, value, {other[of] for other in others if of in other} if len(chosen) == 1 else ())
            for of, value in end.values
            if of in chosen
        )
        return replace(
            effect,
            values=values,
            ending=end.ending if "" in chosen else None,
            failed=end.failed if None in chosen else None,
        )

    def _value(self, of: str | Read, value: int, in_sc: Iterable[object]) -> EndValue:
        others = tuple(sorted(each for each in in_sc if isinstance(each, int)))
        if isinstance(of, str):
            at = of.rpartition("@")[2]
            return EndValue(of, int(at) if at.isdecimal() else self._instance.process_named(at), value, others)
        return EndValue(self._instance.cell_name(of.cell), of.rank, value, others, of.occurrence)


def _telling(items: list[tuple[object, object]], others: list[dict[object, object]]) -> set[object]:
    """A few of ``items`` that none of ``others`` has all of."""
    chosen: list[object] = []
    left = others
    while left:
        stop_point()
        differing = {of: sum(other.get(of) != value for other in left) for of, value in items}
        best = max(differing, key=lambda of: differing[of])  # the first of them
        if not differing[best]:
            break  # one of the others has them all, and more
        chosen.append(best)
        value = dict(items)[best]
        left = [other for other in left if other.get(best) == value]
    for of in list(chosen):
        rest = [(name, value) for name, value in items if name in chosen and name != of]
        if rest and not any(all(other.get(name) == value for name, value in rest) for other in others):
            chosen.remove(of)
    return set(chosen)


def _earliest_violation(instance: Instance, computation: Computation) -> Computation:
    """The first commands of ``computation`` that are violating, with all their steps."""
    ends = [
        place + 1
        for place, event in enumerate(computation)
        if not event.is_step and not (event.kind == "barrier" and _is_barrier(computation, place + 1))
    ]

    def upto(end: int) -> Computation:
        issued = {event.issued for event in computation[:end] if not event.is_step}
        return tuple(event for event in computation if event.issued in issued)

    return upto(ends[bisect_left(ends, True, key=lambda end: is_violating(instance, upto(end)))])


def _is_barrier(computation: Computation, place: int) -> bool:
    return place < len(computation) and computation[place].kind == "barrier" and computation[place].of_rank > 0
