"""RESULTS.md from a record: the measured figures and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from tests.bench.growth_report import growth_section
from tests.bench.measure import ALL, SPIN_LONG_ENOUGH, Comparison, FamilyRecord, Measurement, Record
from tests.bench.pan import NoSpin, options
from tests.bench.reading import reading_section
from tests.bench.repairs import repair_table, repair_targets
from tests.bench.scaling_report import scaling_sections, scaling_targets
from tests.bench.tables import NOTHING, Target
from tests.bench.tables import count as _count
from tests.bench.tables import seconds as _seconds
from tests.bench.tables import table as _table
from tests.bench.tables import times as _times

FASTER, FAMILIES_FASTER = 10, 6
"""How many times faster than SPIN the search with reductions is to be, and on how many families."""


def report(record: Record) -> str:
    """The whole of RESULTS.md."""
    parts = [
        "# Benchmark\n\nMade by `python -m tests.bench`: do not edit. The programs are in `families.py`, how it is"
        " measured in `measure.py`.",
        f"{record.machine}.  \nLimits: {record.limits}.",
        _section("Targets", _targets(record)),
        *(_section(title, lines) for title, lines in scaling_sections(record.scaling)),
        _section("Growth: codes that compete, wait and go wrong", growth_section(record.growth)),
        _section("Recorded runs", reading_section(record.reading)),
        _section("Repairs", repair_table(record.repairs)),
        _section("Against SPIN: the attack search", _against_spin(record)),
        _section("Per stored state, without reductions", _per_state(record)),
        _section("Time to a counterexample", _counterexamples(record)),
        _section("Growth: the attack search", _growth(record)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(title: str, lines: Sequence[str]) -> str:
    return "\n".join([f"## {title}", "", *lines]) if lines else ""


# Figures


def _bytes(number: float | None) -> str:
    return NOTHING if number is None else f"{number:.0f}"


def _more(measured: Measurement | None, text: Callable[[Measurement], str]) -> str:
    """``text``, marked as a lower bound when the run was stopped."""
    if measured is None:
        return NOTHING
    if measured.ended == "failed":
        return "failed"
    shown = text(measured)
    return shown if measured.done or shown == NOTHING else f"> {shown}"


def _ratio(one: float | None, other: float | None) -> float | None:
    return None if one is None or not other else one / other


def _per(measured: Measurement) -> float | None:
    """Microseconds per stored state."""
    return None if measured.seconds is None or not measured.states else 1e6 * measured.seconds / measured.states


def _compared(record: Record) -> Iterator[tuple[str, int, Comparison, Measurement, Measurement, Measurement]]:
    """The families that have been compared: name, size, comparison, SPIN, without and with reductions."""
    for name, family in record.families.items():
        found = family.comparison
        if found.nodes is not None and found.spin and found.plain and found.reduced:
            yield name, found.nodes, found, found.spin, found.plain, found.reduced


# Against SPIN


def _against_spin(record: Record) -> list[str]:
    rows = []
    for name, nodes, found, spin, plain, reduced in _compared(record):
        rows.append([
            name,
            str(nodes),
            _more(spin, lambda run: _count(run.states)),
            _more(spin, lambda run: _seconds(run.seconds)),
            _more(plain, lambda run: _count(run.states)),
            _more(plain, lambda run: _seconds(run.seconds)),
            _bound(spin, plain, _ratio(spin.seconds, plain.seconds)),
            _more(reduced, lambda run: _count(run.states)),
            _more(reduced, lambda run: _seconds(run.seconds)),
            _bound(spin, reduced, _ratio(spin.seconds, reduced.seconds)),
            _more(found.command, lambda run: _seconds(run.wall)),
            _bound(spin, found.command, _ratio(spin.seconds, found.command.wall if found.command else None)),
        ])  # fmt: skip
    head = [
        "family", "N", "SPIN states", "s", "plain states", "s", "SPIN / plain",
        "reduced states", "s", "SPIN / reduced", "command s", "SPIN / command",
    ]  # fmt: skip
    missing = [
        f"{name} is not compared: {family.comparison.reason}."
        for name, family in record.families.items()
        if family.comparison.nodes is None and family.comparison.reason
    ]
    if not rows:
        return missing
    return [
        f"SPIN on the exported model ({_options()}) at the first N at which pan takes"
        f" {SPIN_LONG_ENOUGH:g} s or more. Seconds are each search's own, those of pan without building it; those of"
        " the command are the whole process of `pgasrob check`. Plain is the native search without reductions, reduced"
        " with all. `>` marks what was stopped.",
        "",
        *_table(head, rows),
        *(["", *missing] if missing else []),
    ]


def _options() -> str:
    try:
        compiler, search = options()
    except NoSpin as problem:
        return str(problem)
    return f"`cc {' '.join(compiler)}`, `pan {' '.join(search)}`, its own partial-order reduction on"


def _bound(spin: Measurement, ours: Measurement | None, ratio: float | None) -> str:
    """SPIN's time divided by ours: a lower bound when SPIN was stopped, an upper bound when we were."""
    if ratio is None or ours is None or (not spin.done and not ours.done):
        return NOTHING
    return f"{'' if spin.done else '> '}{'' if ours.done else '< '}{_times(ratio)}"


def _per_state(record: Record) -> list[str]:
    rows = []
    for name, nodes, _, spin, plain, _ in _compared(record):
        time, size = _ratio(_per(spin), _per(plain)), _ratio(spin.stored, plain.stored)
        rows.append([
            name,
            str(nodes),
            _figure(_per(spin)),
            _figure(_per(plain)),
            _times(time),
            _bytes(spin.vector),
            _bytes(spin.stored),
            _bytes(plain.stored),
            _times(size),
            _count(spin.rss // 2**20),
            _count(plain.rss // 2**20),
        ])  # fmt: skip
    head = [
        "family", "N", "SPIN µs", "plain µs", "SPIN / plain", "SPIN vector", "SPIN bytes", "plain bytes",
        "SPIN / plain", "SPIN MiB", "plain MiB",
    ]  # fmt: skip
    if not rows:
        return []
    return [
        "The same runs. SPIN's bytes are pan's \"actual memory usage for states\" (state vectors compressed, with their"
        ' list elements) and "memory used for hash table", divided by the states; its search stack is not counted. The'
        " kernel's bytes are all that it stores (records, the way back, hash table, whatever else grows), divided by"
        " the states. The vector is SPIN's before compression. MiB are peak resident sets of the processes.",
        "",
        *_table(head, rows),
        "",
        "Where the kernel takes longer per state there are three reasons. SPIN compiles the model of this one program"
        " to machine code, and the kernel reads tables. SPIN's partial-order reduction is on and the kernel's is off,"
        " so it follows more edges to each state that it stores. And its records are packed to bits, which is why they"
        " are smaller. Plain runs are by one thread, as pan's are.",
    ]


def _figure(number: float | None) -> str:
    return NOTHING if number is None else f"{number:.2f}"


def _counterexamples(record: Record) -> list[str]:
    rows = [
        [
            name,
            str(each.nodes),
            each.command.ended,
            _count(each.command.states),
            _seconds(each.command.seconds),
            _seconds(each.command.wall),
            *(
                [_count(each.spin.states), _seconds(each.spin.seconds), _seconds(each.spin.wall)]
                if each.spin
                else [NOTHING] * 3
            ),
        ]
        for name, family in record.families.items()
        for each in family.counterexamples
    ]
    head = ["family", "N", "verdict", "states", "check s", "process s", "SPIN states", "SPIN s", "SPIN process s"]
    if not rows:
        return []
    return [
        "Variants that are not robust: `pgasrob check`, with the counterexample replayed and printed, and pan up to its"
        " first error.",
        "",
        *_table(head, rows),
    ]


# Growth


def _growth(record: Record) -> list[str]:
    lines = [
        "States stored by the attack search, per set of reductions and N; in the last rows those of the product engine,"
        " and seconds of the whole process of `pgasrob check`. A row ends where a run was stopped.",
    ]
    for name, family in record.families.items():
        sizes = sorted({nodes for runs in [*family.growth.values(), family.command] for nodes in runs})
        if not sizes:
            continue
        rows = [
            [search, *(_more(runs.get(nodes), lambda run: _count(run.states)) for nodes in sizes)]
            for search, runs in family.growth.items()
            if runs
        ]
        seconds = [_more(family.command.get(nodes), lambda run: _seconds(run.wall)) for nodes in sizes]
        rows.append(["check, s", *seconds])
        idiom = family.idiom.rstrip(".")
        lines += ["", f"**{name}** ({family.measured}). {idiom}.", "", *_table(["N", *map(str, sizes)], rows)]
        failures = {
            f"{search} failed on {nodes} ranks: {run.reason}."
            for search, runs in [*family.growth.items(), ("check", family.command)]
            for nodes, run in runs.items()
            if run.ended == "failed"
        }
        lines += ["", *sorted(failures)] if failures else []
    return lines if len(lines) > 1 else []


# Targets


def targets(record: Record) -> list[Target]:
    """The targets of the project, against the record."""
    return [
        _states(record, "halo", 32, 2_200),
        _decided(record, "halo", 64, 10),
        _states(record, "chain", 32, 700),
        _states(record, "ticket_lock", 6, 60),
        _faster(record),
        _no_worse(record, "slower", "µs", lambda run: _per(run)),
        _no_worse(record, "larger", "bytes", lambda run: run.stored),
        *scaling_targets(record.scaling),
        *repair_targets(record.repairs),
    ]


def _states(record: Record, name: str, nodes: int, most: int) -> Target:
    wanted = f"{name}: at most {most:,} states on {nodes} ranks, with all reductions"
    run = record.families.get(name, FamilyRecord("")).growth.get(ALL, {}).get(nodes)
    if run is None or run.states is None:
        return Target(wanted, "not measured", None)
    return Target(
        wanted, f"{run.states:,}{'' if run.done else f', stopped ({run.ended})'}", run.done and run.states <= most
    )


def _decided(record: Record, name: str, nodes: int, seconds: float) -> Target:
    wanted = f"{name}: decided on {nodes} ranks within {seconds:g} s"
    run = record.families.get(name, FamilyRecord("")).command.get(nodes)
    if run is None:
        return Target(wanted, "not measured", None)
    return Target(wanted, f"{run.ended}, {_seconds(run.wall)} s", run.done and run.wall <= seconds)


def _faster(record: Record) -> Target:
    wanted = (
        f"{FASTER} times faster than SPIN with reductions, in the median of {FAMILIES_FASTER} families or more at sizes"
        f" where SPIN takes {SPIN_LONG_ENOUGH:g} s"
    )
    # A search that was stopped has not been faster.
    ratios = {
        name: spin.seconds / reduced.seconds if reduced.seconds and reduced.done else 0.0
        for name, _, _, spin, _, reduced in _compared(record)
        if spin.seconds and spin.seconds >= SPIN_LONG_ENOUGH
    }
    if not ratios:
        return Target(wanted, "not measured", None)
    enough = sum(ratio >= FASTER for ratio in ratios.values())
    slower = [f"{name} {_times(ratio) if ratio else 'not decided'}" for name, ratio in ratios.items() if ratio < FASTER]
    return Target(
        wanted,
        f"median {_times(median(ratios.values()))} of {len(ratios)} families, {FASTER} or more on {enough}"
        + (f"; below: {', '.join(slower)}" if slower else ""),
        len(ratios) >= FAMILIES_FASTER and enough >= FAMILIES_FASTER and median(ratios.values()) >= FASTER,
    )


def _no_worse(record: Record, worse: str, unit: str, figure: Callable[[Measurement], float | None]) -> Target:
    """Per stored state and without reductions."""
    wanted = f"no {worse} than SPIN per stored state, without reductions"
    pairs = {name: (figure(spin), figure(plain)) for name, _, _, spin, plain, _ in _compared(record)}
    known = {name: (spins, ours) for name, (spins, ours) in pairs.items() if spins is not None and ours is not None}
    if not known:
        return Target(wanted, "not measured", None)
    missed = [
        f"{name} ({ours:.2f} against {spins:.2f} {unit})" for name, (spins, ours) in known.items() if ours > spins
    ]
    measured = f"on {len(known) - len(missed)} of {len(known)} families"
    return Target(wanted, measured + (f"; not on {', '.join(missed)}" if missed else ""), not missed)


def _targets(record: Record) -> list[str]:
    answers = {True: "met", False: "**missed**", None: "–"}
    return [
        "| target | measured | |",
        "|---|---|---|",
        *(f"| {target.wanted} | {target.measured} | {answers[target.met]} |" for target in targets(record)),
    ]
