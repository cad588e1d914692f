"""What the report says of how the default engine grows, and of it against SPIN."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median

from tests.bench.families import ONE_TRACE
from tests.bench.measure import Decided, Measurement, ScalingRecord
from tests.bench.scaling import SECONDS, exponent
from tests.bench.tables import NOTHING, Target, count, seconds, table, times

Records = Mapping[str, ScalingRecord]
WITH_ONE_TRACE = tuple(family.__name__ for family in ONE_TRACE)
MOST_SECONDS = {
    **{name: {64: 10.0} for name in WITH_ONE_TRACE},
    "two_sided_halo": {1024: 10.0, 4096: 60.0},
    "mcs_lock": {8: 60.0},
    "work_sharing": {6: 60.0},
    "cas_counter": {16: 60.0},
}
"""By family and size: in how many seconds the command is to decide."""
QUADRATIC, FASTER = 2.0, 100


def scaling_targets(records: Records) -> Iterator[Target]:
    for name, sizes in MOST_SECONDS.items():
        for nodes, most in sizes.items():
            wanted = f"{name}: decided on {nodes:,} ranks within {most:g} s"
            found = records[name].sizes.get(nodes) if name in records else None
            if found is not None:
                run = found.command
                yield Target(wanted, f"{run.ended}, {seconds(run.wall)} s", run.done and run.wall <= most)
            elif name in records and records[name].sizes:
                last, stopped = list(records[name].sizes.items())[-1]
                yield Target(wanted, f"stopped ({stopped.command.ended}) on {last:,} ranks", False)
            else:
                yield Target(wanted, "not measured", None)
    yield _grows(records)
    for what, ratios in (("search", _ratios(records, whole=False)), ("whole command", _ratios(records, whole=True))):
        wanted = f"{FASTER} times faster than SPIN in the median of families, {what}"
        if not ratios:
            yield Target(wanted, "not measured", None)
            continue
        middle = median(ratios.values())
        shown = ", ".join(f"{name} {times(ratio)}" for name, ratio in ratios.items())
        yield Target(wanted, f"median {times(middle)} of {len(ratios)} families: {shown}", middle >= FASTER)


def _grows(records: Records) -> Target:
    """Between sizes that are a doubling or less apart time is mostly noise where it is short: first to last."""
    wanted = "one trace, and barriers: time of search and of the command at most quadratic in ranks, first to last size"
    measured = {name: list(records[name].sizes.items()) for name in WITH_ONE_TRACE if name in records}
    found = {
        name: max(
            exponent((sizes[0][0], time(sizes[0][1])), (sizes[-1][0], time(sizes[-1][1]))) or 0.0
            for time in (_search, _command)
        )
        for name, sizes in measured.items()
        if len(sizes) > 1
    }
    if not found:
        return Target(wanted, "not measured", None)
    shown = ", ".join(f"{name} {power:.1f}" for name, power in found.items())
    finished = all(run.command.done for sizes in measured.values() for _, run in sizes)
    return Target(wanted, f"exponents at most {shown}", finished and max(found.values()) <= QUADRATIC)


def _search(found: Decided) -> float:
    return found.search.seconds or 0.0


def _command(found: Decided) -> float:
    return found.command.wall


def _ratios(records: Records, whole: bool) -> dict[str, float]:
    """SPIN's seconds by ours. ``whole``: with what is built before pan runs, and the whole of our command."""
    found = {}
    for name, record in records.items():
        against = record.against_spin
        if against.spin and against.ours and against.built is not None and against.ours.search.seconds:
            spins = against.spin.wall + against.built if whole else against.spin.seconds or against.spin.wall
            found[name] = spins / (against.ours.command.wall if whole else against.ours.search.seconds)
    return found


def scaling_sections(records: Records) -> Iterator[tuple[str, list[str]]]:
    """Titles and lines."""
    yield "Growth: the default engine", _growth(records)
    yield "Against SPIN: the default engine", _against_spin(records)


def _stopped(run: Measurement, text: str) -> str:
    return text if run.done else f"> {text}" if run.ended != "failed" else "failed"


def _growth(records: Records) -> list[str]:
    if not records:
        return []
    lines = [
        "`pgasrob check` with what it does by default. Search: analyses, tables, traces and whatever else it takes,"
        " from the instance to the answer; prepared: from the text to the instance; command: the whole process, with"
        " the start of Python and all imports. Seconds, medians. An exponent k: time grows with the kth power of N from"
        " the size before to this one. Events: those of traces and states of the attack search together. Load: mean"
        " number of waiting processes in the minute before and after.",
        "",
        "; ".join(sorted({record.machine for record in records.values()})) + ".",
    ]
    for name, record in records.items():
        sizes = list(record.sizes.items())
        powers = [("exponent of search", _search), ("exponent of command", _command)]
        rows = [
            ["events and states", *(count(found.search.states) for _, found in sizes)],
            ["prepared, s", *(seconds(found.prepared) for _, found in sizes)],
            ["search, s", *(_stopped(found.search, _fine(found.search.seconds)) for _, found in sizes)],
            ["command, s", *(_stopped(found.command, seconds(found.command.wall)) for _, found in sizes)],
            *(
                [title, NOTHING, *(_power(smaller, larger, time) for smaller, larger in pairwise(sizes))]
                for title, time in powers
            ),
            ["MiB", *(count(found.command.rss >> 20) for _, found in sizes)],
            ["settled by", *(found.settled_by or NOTHING for _, found in sizes)],
        ]  # fmt: skip
        idiom, (before, after) = record.idiom.rstrip("."), record.load
        head = f"**{name}** ({record.measured}, load {before:.1f} to {after:.1f}). {idiom}."
        lines += ["", head, "", *table(["N", *(f"{nodes:,}" for nodes, _ in sizes)], rows)]
    return lines


def _power(smaller: tuple[int, Decided], larger: tuple[int, Decided], time: object) -> str:
    assert callable(time)
    power = exponent((smaller[0], time(smaller[1])), (larger[0], time(larger[1])))
    return NOTHING if power is None or not larger[1].command.done else f"{power:.1f}"


def _fine(number: float | None) -> str:
    return NOTHING if number is None else f"{number:.3f}" if number < 1 else seconds(number)


def _against_spin(records: Records) -> list[str]:
    rows: list[Sequence[str]] = []
    for name, record in records.items():
        found = record.against_spin
        if found.nodes is None or found.spin is None or found.ours is None:
            continue
        ours, search, whole = found.ours, _ratios(records, whole=False), _ratios(records, whole=True)
        rows.append([
            name,
            str(found.nodes),
            count(found.spin.states),
            seconds(found.spin.seconds),
            seconds(found.built),
            count(ours.search.states),
            _stopped(ours.search, _fine(ours.search.seconds)),
            _stopped(ours.command, seconds(ours.command.wall)),
            times(search.get(name)),
            times(whole.get(name)),
            times(found.spin.cpu / ours.command.cpu if ours.command.cpu else None),
        ])  # fmt: skip
    if not rows:
        return []
    head = [
        "family",
        "N",
        "SPIN states",
        "pan, s",
        "built, s",
        "ours",
        "search, s",
        "command, s",
        "search",
        "whole",
        "CPU",
    ]
    reasons = [f"{name}: {each.against_spin.reason}." for name, each in records.items() if each.against_spin.reason]
    return [
        f"At the largest N that pan finishes within {SECONDS:g} s, its own partial-order reduction on. pan: its run"
        " alone; built: export, `spin -a` and the compiler. Ours: events and states, search and command as above. The"
        " ratio of search is pan's time by that of our search: neither counts how the question is prepared, here from"
        " the text to the instance, there export and compiler. The ratio of the whole is all of SPIN's by our whole"
        " command, start-up, replay and printing among it. CPU: the processor time of pan by that of our whole command;"
        " it depends less on what else the machine does.",
        "",
        *table(head, rows),
        "",
        "Why SPIN goes no further. " + " ".join(reasons),
    ]
