"""Checks a JSON witness against the semantics (the design: sections 2 and 6). Raises AssertionError with a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .ends import leads_to_a_deadlock
from .happens_before import commands, conflicts, event_json
from .operations import STEPS
from .readings import DEFAULT, Reading
from .semantics import Event, Machine, Run
from .syntax import Program, numbered

JsonEvent = Mapping[str, Any]
JsonEdge = Mapping[str, Any]


def check_run(
    program: Program,
    nodes: int | None,
    events: Sequence[JsonEvent],
    lines: bool = True,
    reading: Reading = DEFAULT,
) -> list[Run]:
    """`events` is a run of the program, complete or not. Gives the runs that it can be: more than one where control
    is nondeterministic. With `lines`, every line is that of the command in `to_pgas(program)`. A failed read is
    possible only where `reading` counts failed polls."""
    machine = Machine(numbered(program), nodes, reading)
    runs = [machine.initial()]
    position = 0
    while position < len(events):
        width = machine.nodes if events[position].get("event") == "barrier" else 1
        group = events[position : position + width]
        _check_keys(group, position)
        found = {}
        expected = []
        for run in runs:
            for after in machine.successors(run):
                new = [event_json(machine, event) for event in after.history[len(run.history) :]]
                expected.append(new[0])
                if len(new) == len(group) and all(map(lambda a, b: _same(a, b, lines), new, group)):
                    found[_state(after)] = after
        assert found, (
            f"event {position} {_short(events[position])} is not possible here"
            + (f" (a barrier is {width} events in rank order)" if width > 1 else "")
            + f"; possible: {'; '.join(dict.fromkeys(map(_short, expected))) or 'nothing'}"
        )
        runs = list(found.values())
        position += width
    return runs


def check_witness(
    program: Program,
    nodes: int | None,
    events: Sequence[JsonEvent],
    cycle: Sequence[JsonEdge] | None,
    lines: bool = True,
    reading: Reading = DEFAULT,
) -> list[Run]:
    """A complete computation with a cycle in its happens-before relation; without a cycle, just a run."""
    runs = check_run(program, nodes, events, lines, reading)
    if cycle is None:
        return runs
    runs = [run for run in runs if not run.pending()]
    assert runs, "the computation ends with pending steps"
    check_cycle(runs[0].history, cycle)
    return runs


def check_cycle(history: Sequence[Event], cycle: Sequence[JsonEdge]) -> None:
    """Every edge is right, the edges close up, and one is a conflict between two different commands."""
    assert cycle, "the cycle has no edges"
    classes = commands(history)
    for number, edge in enumerate(cycle):
        i, j, relation = edge["from"], edge["to"], edge["relation"]
        name = f"edge {number} ({i} {relation} {j})"
        for end in (i, j):
            assert type(end) is int and 0 <= end < len(history), f"{name}: {end!r} is no event of the computation"
        first, second = history[i], history[j]
        match relation:
            case "po":
                issued = not first.is_step and not second.is_step
                assert issued and first.rank == second.rank and i < j, (
                    f"{name}: not two issued events of a rank in order"
                )
            case "cf":
                assert conflicts(history, i, j), f"{name}: not two accesses that conflict with no write between"
            case "id":
                assert i != j and classes[i] == classes[j], f"{name}: not two events of one command"
            case _:
                raise AssertionError(f"{name}: no relation {relation!r}")
        following = cycle[(number + 1) % len(cycle)]["from"]
        assert j == following, f"{name}: the next edge begins at {following}"
    assert any(edge["relation"] == "cf" and classes[edge["from"]] != classes[edge["to"]] for edge in cycle), (
        "no conflict between two different commands: program order and identity alone make no cycle"
    )


CHAINS: dict[str, tuple[tuple[str, ...], ...]] = {
    "read": (("popa", "popb"),),
    "write": (("popa", "popb"),),
    "put": (("popb",),),
    "update": (("popb",), ("popb", "popc")),
    "update_from": tuple(
        (*operands, *rest)
        for operands in (("popa",), ("popa", "popd"))
        for rest in (("popb",), ("popb", "popc"), ("popc",))
    ),
    "notify": (("popb",),),
    "signal": (("popb",),),
}
"""The steps that an operation may have, by its kind."""


def check_sc(events: Sequence[JsonEvent]) -> None:
    """Every step directly follows its issue. The last operation may have its steps still to come.

    Which of the `CHAINS` of its kind an operation has is for `check_run` to say.
    """
    ways: Sequence[tuple[str, ...]] = ((),)  # what may be left of the chain of `last`
    last: tuple[int, int] | None = None
    for position, event in enumerate(events):
        name, found = event["event"], (event["rank"], event["operation"])
        if name in STEPS:
            assert found == last, f"event {position} {_short(event)} does not follow its issue: not an SC run"
            ways = [way[1:] for way in ways if way[:1] == (name,)]
            assert ways, f"event {position} {_short(event)} is not the next step: not an SC run"
        else:
            assert () in ways, f"event {position} {_short(event)} comes before the steps of {last}: not an SC run"
            ways, last = CHAINS.get(name, ((),)), found


def _check_sc_run(program: Program, nodes: int | None, events: Sequence[JsonEvent], lines: bool) -> list[Run]:
    """The SC runs that `events` can be. Only the last operation may be pending."""
    check_sc(events)
    try:
        runs = check_run(program, nodes, events, lines, Reading("count", waits="value"))
    except AssertionError:  # some commands are others where waits are read by condition
        runs = check_run(program, nodes, events, lines, Reading("count"))
    last = [(event["rank"], event["operation"]) for event in events[-1:]]
    runs = [run for run in runs if run.pending() in ([], last)]
    assert runs, "an operation has steps still to come and is not the last: not an SC run"
    return runs


def check_fault(
    program: Program, nodes: int | None, events: Sequence[JsonEvent], lines: bool = True
) -> list[tuple[int, int, str]]:
    """An SC run after which some command faults: rank, line and text of each that does."""
    machine = Machine(numbered(program), nodes)
    runs = _check_sc_run(program, nodes, events, lines)
    faults = [(rank, command.line, text) for run in runs for rank, command, text in machine.faults(run)]
    assert faults, "no command faults after the run"
    return faults


def check_failed_assert(program: Program, nodes: int | None, events: Sequence[JsonEvent], lines: bool = True) -> None:
    """An SC run in which an assert is false."""
    runs = _check_sc_run(program, nodes, events, lines)
    assert any(not event.holds for run in runs for event in run.history), "no assert of the run is false"


def check_deadlock(program: Program, nodes: int | None, events: Sequence[JsonEvent], lines: bool = True) -> None:
    """An SC run to a state from which nothing but a deadlock can come, and no memory changes on the way."""
    machine = Machine(numbered(program), nodes, Reading("count", "all"))
    runs = [run for run in _check_sc_run(program, nodes, events, lines) if not run.pending()]
    assert any(leads_to_a_deadlock(machine, run) for run in runs), "the run does not end in a deadlock"


def _check_keys(events: Sequence[JsonEvent], position: int) -> None:
    for offset, event in enumerate(events):
        missing = {"event", "rank", "operation", "address", "line"} - event.keys()
        assert not missing, f"event {position + offset} has no {', '.join(sorted(missing))}"


def _same(ours: JsonEvent, theirs: JsonEvent, lines: bool) -> bool:
    """Equal in every key that the design names; more keys may be there."""
    if any(ours[key] != theirs[key] for key in ("event", "rank", "operation")) or (
        lines and ours["line"] != theirs["line"]
    ):
        return False
    mine, other = ours["address"], theirs["address"]
    if mine is None or other is None:
        return mine is other
    return all(mine[key] == other.get(key) for key in ("rank", "index", "name"))


def _state(run: Run) -> object:
    return run.control, run.registers, run.memory, run.issued, tuple(sorted(run.done.items()))


def _short(event: JsonEvent) -> str:
    address = event["address"]
    place = f" {address['name']}@{address['rank']}" if address else ""
    return f"{event['event']}{place} of rank {event['rank']} (operation {event['operation']}, line {event['line']})"
