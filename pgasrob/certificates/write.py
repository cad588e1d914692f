"""Writing certificates: evidence for what the checker will ask.

Nothing here is trusted, and no engine is asked. Evidence is made by giving in to the checker: whatever it misses is put
there until it misses nothing. Sources that come out as infeasible are done with; for the others, and where some command
might have no value, the states of the attack search are listed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import inf
from time import monotonic
from typing import Any

from pgasrob.certificates.check.accept import Instantiable, sources_of, subjects
from pgasrob.certificates.check.format import FORMAT, Frame, Part, content_hash
from pgasrob.certificates.check.infeasible import E, Fixpoint, Infeasible, Phase, Source, Way
from pgasrob.certificates.check.names import Case, cutoff
from pgasrob.certificates.check.states import Closed, State
from pgasrob.certificates.check.values import Command, Commands, File, Files, Values
from pgasrob.program import core
from pgasrob.program.instance import Instance
from pgasrob.program.live_registers import live_registers
from pgasrob.program.program import Program
from pgasrob.program.reading import DEFAULT_READING, Reading

MOST_STATES = 20_000
"""States that a certificate may list."""
SMALL, FIRST = 400, 10_000
"""Commands of all ranks up to which infeasibility is asked first; in larger programs it takes longer, and states are
listed, if there are no more than so many."""
FILES = 64
"""Register files at one control state; of more, the register with the most values is unknown there."""
PHASES, PHASES_AFTER, WAYS = 16, 4, 4
"""Phases that are told apart, from the start and from the source's command; ways to a place."""
MOST_ACCESSES = 200_000
"""Accesses and places in the evidence for one source, and for all of them so many times that; beyond it is not
written."""


ROW = 64
"""Cells of memory in one list, of which states share those that are alike."""
SHORT = 12
"""Length of a text that is written again."""


class NoCertificate(Exception):
    """There is none; the text says why."""


class _TooMany(NoCertificate):
    pass


class _TooLittle(Exception):
    """A source, or a fault, that is not excluded by names of ranks."""


@dataclass(frozen=True, slots=True)
class Written:
    """A certificate: its ``text``, which evidence it has (``kind``), how many sources are ``infeasible`` and how many
    ``states`` are listed for the others."""

    text: str
    kind: str
    infeasible: int
    states: int


def write(
    program: Instantiable,
    nodes: int | None,
    reading: Reading = DEFAULT_READING,
    most_states: int = MOST_STATES,
    timeout: float | None = None,
) -> Written:
    """The certificate that ``program`` is robust on ``nodes`` nodes (its own count, or 2, when None), read so.

    Raises :class:`NoCertificate` when it would list more than ``most_states``, when making it takes more than
    ``timeout`` seconds, or when there is none since the program is not robust or may fault, and
    :class:`~pgasrob.diagnostics.SourceError` when it has no such nodes.
    """
    until = inf if timeout is None else monotonic() + timeout
    (case,) = subjects(program, nodes, None, reading)
    return _written(case.instance, case.instance.nodes, None, [_part(case, most_states, until)])


def write_for_every_count(
    program: Instantiable,
    reading: Reading = DEFAULT_READING,
    timeout: float | None = None,
    frame: Frame | None = None,
) -> Written:
    """The certificate that ``program`` is robust on every number of nodes, read so; with the names of ``frame``, None:
    of the first that do.

    Raises as :func:`write`, and :class:`NoCertificate` where the small checker knows less than the proof needs.
    """
    until = inf if timeout is None else monotonic() + timeout
    symbolic = program.for_every_count()
    if not any(process.ranks is None for process in symbolic.processes):
        raise NoCertificate("the program has blocks for ranks by number alone")
    for names in [frame] if frame else _frames(symbolic):
        with suppress(_TooLittle):
            about = list(subjects(program, None, names, reading))
            parts = [_part(case, MOST_STATES, until) for case in reversed(about)]  # of the cases first
            return _written(about[0].instance, "all", names, parts[::-1])
    raise NoCertificate("the proof needs more of values, or of two ranks at once, than the checker knows")


def _frames(program: Program) -> list[Frame]:
    """How many ranks may have names, the least first; those with blocks of their own have to."""
    least = max((rank + 1 for process in program.processes for rank in process.ranks or ()), default=1)
    return sorted(product(range(3), range(least, least + 3)), key=lambda frame: cutoff(*frame))


def _part(case: Case, most_states: int, until: float) -> Part:
    if case.instance.program.gaps:
        raise NoCertificate("the program stands for more runs than its commands have")
    values = Values(case, [_files(case, rank) for rank in range(len(case.names))])
    for _ in values.demands():
        raise AssertionError("the register files are not closed")
    commands = values.commands()
    phases, back = _phases(commands)
    sources = sources_of(case, commands)
    settled: dict[Source, Fixpoint] = {}
    states: dict[State, tuple[int, ...] | None] = {}
    large = sum(map(len, (leaving for own in commands for leaving in own))) > SMALL
    if large and sources and not case.rest:
        with suppress(_TooMany):
            states = _states(Closed(values, commands, lambda *source: True), min(most_states, FIRST), until)
    if not states:
        settled = _settled(Infeasible(case, commands, phases), sources, until)
        if len(settled) < len(sources) or values.may_fault:
            if case.rest:
                raise _TooLittle
            states = _states(Closed(values, commands, lambda *source: source not in settled), most_states, until)
    return Part(values.files, phases, back, settled, list(states.items()))


def _written(instance: Instance, nodes: int | str, frame: Frame | None, parts: Sequence[Part]) -> Written:
    from pgasrob import __version__

    infeasible, states = sum(len(each.sources) for each in parts), sum(len(each.states) for each in parts)
    kind = " and ".join(["infeasibility"] * bool(infeasible) + ["states"] * bool(states)) or "no sources"
    certificate = {
        "format": FORMAT,
        "version": __version__,
        "program": content_hash(instance.program),
        "name": instance.program.name,
        "nodes": nodes,
        "frame": frame,
        "failed_polls": instance.reading.failed_polls,
        "conflicts": instance.reading.conflicts,
        "kind": kind,
    }
    return Written(_printed(certificate, [_part_to_json(each) for each in parts]), kind, infeasible, states)


def _files(case: Case, rank: int) -> list[Files]:
    """The register files of a rank, as far as they are few; registers that are dead or may hold what was read are
    unknown."""
    instance = case.instance
    automaton = instance.automata[rank]
    every = frozenset(range(len(instance.registers)))
    none = [Files(frozenset(), frozenset())] * len(automaton.out)
    values = Values(case, [none] * instance.nodes)
    found = [(every - live, set[File]()) for live in live_registers(automaton)]
    fresh: list[tuple[int, File]] = []

    def add(state: int, file: File) -> None:
        unknown, files = found[state]
        file = Files(unknown, frozenset()).hidden(file)
        if file in files:
            return
        files.add(file)
        more = {index for index in every - unknown if file[index] is None}
        if len(files) > FILES:
            several = [len({each[index] for each in files}) for index in range(len(file))]
            more.add(several.index(max(several)))
        if more:
            found[state] = unknown | more, set()
            for each in files:
                add(state, each)
        else:
            fresh.append((state, file))

    add(0, instance.registers)
    while fresh:
        state, file = fresh.pop()
        if file in found[state][1]:
            for place, transition in enumerate(automaton.out[state]):
                issued = values.issue(rank, state, place, file)
                for after in issued.files if issued else ():
                    add(transition.target, after)
    return [Files(unknown, frozenset(files)) for unknown, files in found]


def _phases(commands: Commands) -> tuple[list[Phase], int]:
    """The phases from one barrier to the next, and which one follows the last."""

    def closed(rank: int, states: Iterable[int]) -> frozenset[int]:
        found, fresh = set(states), list(states)
        while fresh:
            for command in commands[rank][fresh.pop()]:
                if command.possible and not _is_barrier(command) and command.target not in found:
                    found.add(command.target)
                    fresh.append(command.target)
        return frozenset(found)

    phases: list[Phase] = []
    starts: list[set[int]] = [{0} for _ in commands]
    while all(starts):
        phase: Phase = [closed(rank, states) for rank, states in enumerate(starts)]
        if len(phases) == PHASES:
            last = phases.pop()
            phase = [closed(rank, known | states) for rank, (known, states) in enumerate(zip(last, phase, strict=True))]
            if phase == last:
                return [*phases, last], len(phases)
        elif phase in phases:
            return phases, phases.index(phase)
        phases.append(phase)
        starts = [
            {each.target for state in states for each in commands[rank][state] if each.possible and _is_barrier(each)}
            for rank, states in enumerate(phase)
        ]
    return phases, 0


def _is_barrier(command: Command) -> bool:
    return isinstance(command.operands, core.Barrier)


def _settled(asked: Infeasible, sources: Sequence[Source], until: float) -> dict[Source, Fixpoint]:
    """The evidence for those of the sources that are infeasible, as far as it is not too much."""
    found: dict[Source, Fixpoint] = {}
    left = 5 * MOST_ACCESSES
    for source in sources:
        _look_at_the_clock(until)
        fixpoint, size = _fixpoint(asked, source, min(left, MOST_ACCESSES))
        left -= size
        if fixpoint is not None:
            found[source] = fixpoint
    return found


def _fixpoint(asked: Infeasible, source: Source, most: int) -> tuple[Fixpoint | None, int]:
    """The evidence for a source, None when it may lead to Found or takes more than ``most``; and its size."""
    fixpoint = Fixpoint(PHASES_AFTER)
    size, missing = 0, True
    while missing:
        missing = False
        for demand in asked.demands(source, fixpoint):
            missing = True
            size += 1
            if demand == E or size > most:
                return None, size
            kind, at, what = demand
            if kind == "place":
                _add_way(fixpoint.places.setdefault(at, set()), what)
            else:
                (fixpoint.made if kind == "made" else fixpoint.done).setdefault(at, set()).add(what)
    return fixpoint, size


def _add_way(ways: set[Way], way: Way) -> None:
    """Add what is certain by one more way; by many, only what is certain by all."""
    ways.add(way)
    if len(ways) > WAYS:
        facts, delayed = (frozenset.intersection(*each) for each in zip(*ways, strict=True))
        ways.clear()
        ways.add(Way(facts, delayed))
    ways -= {one for one in ways if any(_says_less(other, one) for other in ways if other != one)}


def _says_less(one: Way, other: Way) -> bool:
    return one.facts <= other.facts and one.delayed <= other.delayed


def _states(closed: Closed, most: int, until: float = inf) -> dict[State, tuple[int, ...] | None]:
    """The states that the moves lead to, with the ranks that are followed alone there.

    A set of ranks is followed alone only where one of its moves leads to a state that is new, and so comes later.
    """
    found: dict[State, tuple[int, ...] | None] = {}
    reached: dict[State, tuple[int, ...]] = {closed.moves.initial: ()}  # with the ranks that have come there
    for state in _growing(reached):
        _look_at_the_clock(until)
        if closed.is_hopeless(state):
            found[state] = ()
            continue
        if state.attack is None and closed.faults(state):
            raise NoCertificate("a command may be reached that has no value")
        members = next(_sets(closed, state, reached), None)
        moves = list(closed.followed(state, members))
        if any(target is None for target, _ in moves):
            raise NoCertificate("the program is not robust")
        found[state] = members
        for target, _ in moves:
            if target is not None:
                reached.setdefault(target, members or ())
        if len(reached) > most:
            raise _TooMany(f"more than {most} states would have to be listed")
    return found


def _look_at_the_clock(until: float) -> None:
    if monotonic() > until:
        raise NoCertificate("the time limit was reached")


def _growing(reached: dict[State, tuple[int, ...]]) -> Iterator[State]:
    """The states, those that are added meanwhile among them."""
    done: list[State] = []
    while len(done) < len(reached):
        for state in list(reached)[len(done) :]:
            done.append(state)
            yield state


def _sets(closed: Closed, state: State, reached: Mapping[State, tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """Sets of ranks that may be followed alone, and lead to something new: single ones first, of these the one that has
    moved last."""
    nodes = closed.instance.nodes
    leaving = [automaton.out[at] for automaton, at in zip(closed.instance.automata, state.control, strict=True)]
    at_barrier = [any(isinstance(each.form, core.Barrier) for each in own) for own in leaving]
    begun = [
        [rank]
        for rank in dict.fromkeys((*reached[state], *range(nodes)))
        if any(ordinary and target not in reached for target, ordinary in closed.moves.of_rank(state, rank))
    ]
    for most in (1, nodes - 1):
        for members in begun:
            if len(members) == most == 1 and at_barrier[members[0]]:
                continue
            while len(members) <= most and (other := closed.disturber(state, members)) is not None:
                members.append(other)
            if len(members) <= most and not all(at_barrier[each] for each in members):
                yield tuple(sorted(members))


# JSON


def _sorted(found: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(sorted(found, key=repr))


def _fixpoint_to_json(found: Fixpoint) -> tuple[Any, ...]:
    accesses = (tuple((*at, _sorted(ranks)) for at, ranks in sorted(each.items())) for each in (found.done, found.made))
    places = (
        (at, *((_sorted(way.facts), _sorted(way.delayed)) for way in _sorted(ways)))
        for at, ways in sorted(found.places.items())
    )
    return found.last, *accesses, tuple(places)


def _state_to_json(state: State) -> tuple[Any, ...]:
    attack = state.attack
    begun = None
    if attack is not None:
        begun = attack.source, _sorted(attack.tainted), _sorted(attack.done), _sorted(attack.delayed)
    rows = tuple(state.memory[first : first + ROW] for first in range(0, len(state.memory), ROW))
    return state.control, state.registers, rows, tuple(map(_sorted, state.facts)), begun


def _part_to_json(part: Part) -> dict[str, Any]:
    """Lists of what is made of tuples."""
    return {
        "registers": [tuple((_sorted(each.unknown), _sorted(each.files)) for each in own) for own in part.files],
        "phases": [tuple(map(_sorted, phase)) for phase in part.phases],
        "back": part.back,
        "infeasible": [(source, *_fixpoint_to_json(each)) for source, each in part.sources.items()],
        "states": [(*_state_to_json(state), members) for state, members in part.states],
    }


class _Shared:
    """Tuples as JSON; what is in several of them is written once."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int | str, ...], int] = {}
        self._inside: list[tuple[int | str, ...]] = []  # numbers of lists, and the texts of all else
        self._uses: Counter[int | str] = Counter()
        self._marked: dict[int, int] = {}
        self.add = cache(self._add)

    def _add(self, value: Any) -> int | str:
        """The number of a tuple; of all else its text."""
        if not isinstance(value, tuple):
            return json.dumps(value)
        inside = tuple(map(self.add, value))
        number = self._numbers.setdefault(inside, len(self._inside))
        if number == len(self._inside):
            self._inside.append(inside)
            self._uses.update(inside)
        return number

    def text(self, number: int | str) -> str:
        """What has been added, once everything has."""
        if isinstance(number, str):
            return number
        if number in self._marked:
            return f'{{"=":{self._marked[number]}}}'
        found = f"[{','.join(map(self.text, self._inside[number]))}]"
        if self._uses[number] > 1 and len(found) > SHORT:
            self._marked[number] = len(self._marked)
            return f'{{"+":{found}}}'
        return found


def _printed(certificate: dict[str, Any], parts: Sequence[dict[str, Any]]) -> str:
    """The certificate with ``parts``, with a line for each element of their lists."""
    shared = _Shared()
    added = [[(name, _each(shared.add, value)) for name, value in part.items()] for part in parts]
    texts = [_object((name, _each(shared.text, value)) for name, value in part) for part in added]
    head = [(name, json.dumps(value)) for name, value in certificate.items()]
    return _object([*head, ("parts", texts)]) + "\n"


def _each(do: Callable[[Any], Any], value: Any) -> Any:
    return [do(each) for each in value] if isinstance(value, list) else do(value)


def _object(entries: Iterable[tuple[str, Any]]) -> str:
    lines = ((name, "[" + ",\n ".join(value) + "]" if isinstance(value, list) else value) for name, value in entries)
    return "{" + ",\n".join(f'"{name}": {value}' for name, value in lines) + "}"
