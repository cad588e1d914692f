"""Writes certificates: collects the evidence that the checker demands for a robust verdict.

Nothing here is trusted, and no engine is used: the writer asks the checker what is missing, and adds it, until the
checker demands nothing more. Sources found infeasible need no states; for the others, and where some command
might have no value, the states of the attack search are listed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import lcm
from typing import Any, NamedTuple

from pgasrob.certificates.check.accept import FORMAT, subjects
from pgasrob.certificates.check.command_effects import Command, Held, Touch, Values
from pgasrob.certificates.check.infeasible import E, Fixpoint, Infeasible, Place, Way
from pgasrob.certificates.check.names import Case, File, cutoff
from pgasrob.certificates.check.states import Look, Source, State, States
from pgasrob.program import core
from pgasrob.program.expressions import Binary, Const, parts
from pgasrob.program.graphs import reached
from pgasrob.program.instance import automata_of_blocks
from pgasrob.program.program import Instantiable, Program
from pgasrob.program.reading import DEFAULT_READING, Reading

MOST_STATES = 20_000
"""States that a certificate may list."""
SMALL, FIRST = 400, 4_000
"""Commands of all ranks up to which infeasibility is tried first; it takes longer in larger programs, for which states
are listed first, up to the second number of them."""
FILES = 64
"""Register files at one control state; of more, the register with the most values is unknown there."""
PHASES, PHASES_AFTER, WAYS = 16, 4, 4
"""Phases that are distinguished, from the start and from the source's command; ways to a place."""
MOST_ACCESSES = 200_000
"""Accesses and places in the evidence for one source; the evidence for all sources has at most five times as many."""
MOST_VALUES = 8
"""Values of the cells of an address that are distinguished; cells with more may hold anything."""
ANYTHING: frozenset[None] = frozenset({None})
MOST_MODULUS = 8
"""The greatest modulus by which ranks are distinguished."""
Members = Sequence[int] | None
"""The ranks whose moves are followed at a state; None: all; (): none, for no move leads to Found."""
Frame = tuple[int, int, int]
"""The number of named ranks on each side of the source's rank and at each end, and the modulus."""
Files = tuple[frozenset[int], frozenset[File]]
"""For a control state the registers that are unknown in all its register files, and the files."""
Phase = Sequence[frozenset[int]]


class Part(NamedTuple):
    """Evidence about one number of nodes, or a case of every number."""

    values: Values
    infeasible: Mapping[Source, Fixpoint]
    states: Mapping[State, Members]


class NoCertificate(Exception):
    """Raised where no certificate can be written; the text says why."""


class _TooMany(NoCertificate):
    pass


class _TooLittle(Exception):
    """Raised for a source or a fault that evidence by names of ranks does not exclude."""


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
    look: Look = str,
) -> Written:
    """The certificate that ``program`` is robust on ``nodes`` nodes (its own count, or 2, when None), read so. ``look``
    is called with what is being written.

    Raises :class:`NoCertificate` when it would list more than ``most_states``, or when there is none since the program
    is not robust or may fault, and :class:`~pgasrob.diagnostics.SourceError` when it has no such nodes.
    """
    reading = reading.by_value  # it is robust in either reading of waits then
    if program.instantiate(nodes, reading).has_threads:
        raise NoCertificate("its ranks have several threads, of which the checker knows nothing")
    (case,) = subjects(program, nodes, None, reading)
    return _written(case.instance.nodes, None, [_part(case, most_states, look)])


def write_for_every_count(
    program: Instantiable, reading: Reading = DEFAULT_READING, frame: Frame | None = None, look: Look = str
) -> Written:
    """The certificate that ``program`` is robust on every number of nodes, read so; with the names of ``frame``, None:
    of the first that do.

    Raises as :func:`write`, and :class:`NoCertificate` where the small checker knows less than the proof needs.
    """
    symbolic, reading = program.for_every_count(), reading.by_value
    if not any(process.ranks is None for process in symbolic.processes):
        raise NoCertificate("the program has blocks for ranks by number alone")
    if symbolic.growing:
        raise NoCertificate("the checker knows nothing of memory that grows with the number of nodes")
    for names in [frame] if frame else _frames(symbolic, reading):
        about = list(subjects(program, None, names, reading))[::-1]  # of the cases first
        for by_values in (False, True):
            with suppress(_TooLittle):
                parts = [_part(case, MOST_STATES, look, by_values and case.rest) for case in about]
                return _written("all", names, parts[::-1])
    raise NoCertificate("the proof needs more of values, or of two ranks at once, than the checker knows")


def _frames(program: Program, reading: Reading) -> list[Frame]:
    """The frames to try, the cheapest first: ranks with blocks of their own are named, and the modulus is that of the
    program's own divisions."""
    least = max((rank + 1 for process in program.processes for rank in process.ranks or ()), default=1)
    modulus = _modulus(program, reading)
    names = range(3), range(least, least + max(3, modulus)), {1, modulus}
    return sorted(product(*names), key=lambda frame: cutoff(*frame))


def _modulus(program: Program, reading: Reading) -> int:
    """A common multiple of the numbers by which the program divides, and of powers of two for its operations on bits; 1
    if that exceeds :data:`MOST_MODULUS`."""
    found = 1
    for automaton in automata_of_blocks(program, reading).values():
        forms = (transition.form for transition in automaton.transitions)
        for part in (part for form in forms for _, expr in core.expressions(form) for part in parts(expr)):
            match part:
                case Binary("%" | "/", _, Const(value)) if value > 0:
                    found = lcm(found, value)
                case Binary("&" | "|" | "^", _, Const(value)):
                    found = lcm(found, 1 << max(value, ~value).bit_length())
                case Binary("&", left, Binary("-", right, Const(1))) if left == right:
                    found = lcm(found, 2)
    return found if found <= MOST_MODULUS else 1


def _part(case: Case, most_states: int, look: Look, by_values: bool = False) -> Part:
    if case.instance.program.gaps:
        raise NoCertificate("the program stands for more runs than its commands have")
    values = _values(case, _held(case) if by_values else None)
    every = [(*command.at, step) for command, step in values.sources]
    states: dict[State, Members] = {}
    settled: dict[Source, Fixpoint] = {}
    large = case.instance.commands > SMALL
    if large and every and not case.rest:
        with suppress(_TooMany):
            states = _states(States(values, every), min(most_states, FIRST), look)
    if not states:
        settled = _settled(Infeasible(values), look)
        left = [source for source in every if source not in settled]
        if left or not all(each.legal for each in values.commands):
            if case.rest:
                raise _TooLittle
            states = _states(States(values, left), most_states, look)
    return Part(values, settled, states)


def _held(case: Case) -> Held:
    """The values that the cells of each address may hold; :data:`ANYTHING` where they are many."""
    size = case.instance.size
    found: list[Set[int | None]] = [frozenset[int]() for _ in range(size)]
    stores: set[tuple[int, int | None]] = {(cell % size, value) for cell, value in enumerate(case.instance.memory)}
    while stores:
        for address, value in stores:
            found[address] |= {value}
            if len(found[address]) > MOST_VALUES or value is None:
                found[address] = ANYTHING
        files = [_files(case, rank, found) for rank in range(len(case.names))]
        made = (pair for each in Values(case, files, found, [], 0).commands for pair in each.stores)
        stores = {(address, value) for address, value in made if found[address].isdisjoint({value, None})}
    return found


def _values(case: Case, held: Held | None = None) -> Values:
    """The control states that ranks reach, with register files, if memory holds values of ``held`` (None: any)."""
    memory = held or [ANYTHING] * case.instance.size
    files = [_files(case, rank, memory) for rank in range(len(case.names))]
    phases, back = _phases(Values(case, files, memory, [], 0))
    reached = [frozenset().union(*states) for states in zip(*phases, strict=True)]
    files = [
        [each if state in states else (each[0], frozenset()) for state, each in enumerate(own)]
        for own, states in zip(files, reached, strict=True)
    ]
    values = Values(case, files, memory, phases, back)
    for missing in values.demands():
        raise AssertionError(f"{missing} is left out")
    return values


def _written(nodes: int | str, frame: Frame | None, parts: Sequence[Part]) -> Written:
    from pgasrob import __version__

    instance = parts[0].values.instance
    infeasible, states = sum(len(each.infeasible) for each in parts), sum(len(each.states) for each in parts)
    kind = " and ".join(["infeasibility"] * bool(infeasible) + ["states"] * bool(states)) or "no sources"
    head = {
        "format": FORMAT,
        "version": __version__,
        "program": instance.program.source.digest,
        "name": instance.program.name,
        "nodes": nodes,
        "frame": frame,
        "failed_polls": instance.reading.failed_polls,
        "conflicts": instance.reading.conflicts,
        "kind": kind,
    }
    printed = "[" + ",\n ".join(map(_printed, parts)) + "]"
    text = _object(**{name: json.dumps(value) for name, value in head.items()}, parts=printed) + "\n"
    return Written(text, kind, infeasible, states)


def _files(case: Case, rank: int, memory: Held) -> list[Files]:
    """The register files of a rank at each control state. Registers that are dead or may hold anything are unknown, and
    so is the one with the most values where files are many."""
    instance = case.instance
    automaton = instance.automata[rank]
    every = frozenset(range(len(instance.registers)))
    none: list[Files] = [(frozenset(), frozenset())] * len(automaton.out)
    values = Values(case, [none] * instance.nodes, memory, [], 0)
    found = [(every - live, set[File]()) for live in automaton.live]
    fresh: list[tuple[int, File]] = []

    def add(state: int, file: File) -> None:
        unknown, files = found[state]
        file = tuple(None if index in unknown else value for index, value in enumerate(file))
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
            for command in values.issued(rank, state, file):
                for left in command.left:
                    add(command.transition.target, left)
    return [(unknown, frozenset(files)) for unknown, files in found]


def _phases(values: Values) -> tuple[list[Phase], int]:
    """The phases between barriers, and the number of the one that follows the last."""

    def closed(rank: int, states: Iterable[int]) -> frozenset[int]:
        def after(state: int) -> Iterator[int]:
            return (each.transition.target for each in values.possible(rank, state) if not each.is_barrier)

        return frozenset(reached(states, after))

    def after_barriers(rank: int, states: Iterable[int]) -> set[int]:
        leaving = (each for state in states for each in values.possible(rank, state))
        return {each.transition.target for each in leaving if each.is_barrier}

    phases: list[Phase] = []
    starts: list[set[int]] = [{0} for _ in values.files]
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
        starts = [after_barriers(rank, states) for rank, states in enumerate(phase)]
    return phases, 0


def _settled(asked: Infeasible, look: Look = str) -> dict[Source, Fixpoint]:
    """The evidence for the infeasible sources, up to a bound on its size."""
    found: dict[Source, Fixpoint] = {}
    left = 5 * MOST_ACCESSES
    sources: dict[Source, list[Command]] = {}
    for command, step in asked.values.sources:
        sources.setdefault((*command.at, step), []).append(command)
    for number, (source, commands) in enumerate(sources.items(), 1):
        look(f"source {number} of {len(sources)}")
        fixpoint, size = _fixpoint(asked, commands, source[3], min(left, MOST_ACCESSES))
        left -= size
        if fixpoint is not None:
            found[source] = fixpoint
    return found


def _fixpoint(asked: Infeasible, commands: Sequence[Command], step: int, most: int) -> tuple[Fixpoint | None, int]:
    """The evidence for a step of some commands, None when it may lead to Found or takes more than ``most``; and its
    size."""
    done, made = ([set[Touch]() for _ in asked.ranks] for _ in "td")
    places: dict[Place, set[Way]] = {}
    known = Fixpoint(done, made, places)
    size, missing = 0, True
    while missing:
        missing = False
        for demand in (each for command in commands for each in asked.demands(command, step, known)):
            missing = True
            size += 1
            if demand == E or size > most:
                return None, size
            kind, at, what = demand
            if kind == "place":
                _add_way(places.setdefault(at, set()), what)
            else:
                (made if kind == "made" else done)[at].add(what)
    return known, size


def _add_way(ways: set[Way], way: Way) -> None:
    """Add a way to those of a place; many ways are replaced by one with the facts that are certain by all of them."""
    ways.add(way)
    if len(ways) > WAYS:
        facts, delayed = (frozenset.intersection(*each) for each in zip(*ways, strict=True))
        ways.clear()
        ways.add(Way(facts, delayed))
    # A way with fewer facts covers those with more.
    ways -= {
        one
        for one in ways
        if any(other != one and other.facts <= one.facts and other.delayed <= one.delayed for other in ways)
    }


def _states(asked: States, most: int, look: Look) -> dict[State, Members]:
    """The states to which the moves lead, each with the ranks whose moves alone are followed there.

    A set of ranks is followed alone only where one of its moves leads to a state that is new, and so comes later.
    """
    found: dict[State, Members] = {}
    reached: dict[State, tuple[int, ...]] = {asked.initial: ()}  # with the ranks whose move first led there
    for state in _growing(reached):
        look(f"{len(found)} states, and {len(reached) - len(found)} to come")
        if asked.may_go_alone(state, ()):
            found[state] = ()
            continue
        if not state.source and asked.faults(state):
            raise NoCertificate("a command may be reached that has no value")
        members = next(_sets(asked, state, reached), None)
        found[state] = members
        for target in asked.followed(state, members):
            if target is None:
                raise NoCertificate("the program is not robust with waits read by value, as certificates have them")
            reached.setdefault(target, members or ())
        if len(reached) > most:
            raise _TooMany(f"more than {most} states would have to be listed")
    return found


def _growing(reached: dict[State, tuple[int, ...]]) -> Iterator[State]:
    """The states of ``reached``, including those that are added during the iteration."""
    done: list[State] = []
    while len(done) < len(reached):
        for state in list(reached)[len(done) :]:
            done.append(state)
            yield state


def _sets(asked: States, state: State, reached: Mapping[State, tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """The sets of ranks that may be followed alone and lead to a new state: single ranks first, and of these the one
    that moved last."""

    def leads_on(rank: int) -> bool:
        targets = (target for target in asked.of_rank(state, rank) if target is not None)
        return any(bool(each.source) == bool(state.source) and each not in reached for each in targets)

    nodes = asked.instance.nodes
    begun = [[rank] for rank in dict.fromkeys((*reached[state], *range(nodes))) if leads_on(rank)]
    at_barrier = [any(each.is_barrier for each in asked.before(state, rank)) for rank in range(nodes)]
    for most in (1, nodes - 1):
        for members in begun:
            if len(members) == most == 1 and at_barrier[members[0]]:
                continue
            while len(members) <= most and (other := asked.disturber(state, members)) is not None:
                members.append(other)
            if len(members) <= most and not all(at_barrier[each] for each in members):
                yield tuple(sorted(members))


# JSON


@dataclass(frozen=True)
class _Map:
    pairs: tuple[tuple[Any, Any], ...]


def _printed(part: Part) -> str:
    """A part as JSON."""

    def fixpoint(done: Any, made: Any, places: Any) -> tuple[Any, ...]:
        ways = _Map(tuple((place, frozenset(found)) for place, found in sorted(places.items())))
        return tuple(map(frozenset, done)), tuple(map(frozenset, made)), ways

    def state(control: Any, registers: Any, memory: Any, *rest: Any) -> tuple[Any, ...]:
        cells = enumerate(zip(part.values.instance.memory, memory, strict=True))
        changed = tuple((cell, now) for cell, (first, now) in cells if now != first)
        return control, registers, changed, *rest

    return _object(
        files=_json(tuple(map(tuple, part.values.files))),
        memory=_json(tuple(map(frozenset, part.values.memory))),
        phases=_json(tuple(map(tuple, part.values.phases))),
        back=_json(part.values.back),
        infeasible=_json(_Map(tuple((source, fixpoint(*found)) for source, found in part.infeasible.items()))),
        states=_json(_Map(tuple((state(*found), members) for found, members in part.states.items()))),
    )


@cache
def _json(value: Any) -> str:
    """Tuples, sets and mappings as JSON, which is the same in every run."""
    match value:
        case _Map(pairs):
            lines = ",\n ".join(map(_json, pairs))
            return f'{{"map":[{lines}]}}'
        case frozenset():
            return f'{{"set":[{",".join(sorted(map(_json, value)))}]}}'
        case tuple():
            return f"[{','.join(map(_json, value))}]"
    return json.dumps(value)


def _object(**entries: str) -> str:
    return "{" + ",\n".join(f'"{name}": {value}' for name, value in entries.items()) + "}"
