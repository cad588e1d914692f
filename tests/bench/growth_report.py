"""What the report says of how families of programs grow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tests.bench.growth import MOST_RANKS, seconds, states, whole
from tests.bench.measure import Grown, GrowthRecord
from tests.bench.tables import NOTHING, count, table, times
from tests.bench.tables import seconds as shown_seconds
from tests.bench.templates import TEMPLATES

STEEP = 2.5
"""The power of N from which a polynomial has its reason shown, too."""


def growth_section(records: Mapping[str, GrowthRecord]) -> list[str]:
    if not records:
        return []
    limits = " or ".join(f"{each:g}" for each in sorted({record.seconds for record in records.values()}))
    lines = [
        "Programs that resemble codes, in `families/`, each asked for more and more ranks N until a run of `pgasrob"
        f" check` takes more than {limits} s of a processor, or up to {MOST_RANKS:,}. States: those of the whole check;"
        " \\* marks a run in which a limit of its own ended the search of SC runs, which is left out of the law. Law: a"
        " power of N, or a number to the power of N, by least squares of logarithms, the one that fits better first;"
        " that of time is for runs of over a second. Seconds: processor time of the last run that gave a verdict. SPIN:"
        " states of its own exploration of the export, at the largest N that it finishes; what stopped it is below.",
        "",
        "; ".join(sorted({f"{record.machine} ({record.measured})" for record in records.values()})) + ".",
        "",
        *table(
            ["family", "verdict", "states at N", "law", "time", "last N", "s", "SPIN's N", "SPIN's states"],
            [_row(name, record) for name, record in records.items()],
        ),
    ]
    against = list(_against(records))
    if against:
        head = ["family", "largest N of the base", "of this", "CPU s at N", "base", "this", "ratio"]
        lines += ["", f"Against {_bases(records)}, in turns:", "", *table(head, against)]
    reasons = [f"- {name}: {_reason(name)}" for name, record in records.items() if _steep(record)]
    if reasons:
        lines += ["", "Why those grow that are not polynomial, or steeply:", "", *reasons]
    stopped = [f"{name}: {each.without_spin}." for name, each in records.items() if each.without_spin]
    return [*lines, "", "Why SPIN goes no further. " + " ".join(stopped)] if stopped else lines


def _row(name: str, record: GrowthRecord) -> Sequence[str]:
    sizes = record.sizes
    nodes, last = next(((n, each) for n, each in reversed(sizes.items()) if each.ours.done), (None, None))
    spin = [(n, each.spin) for n, each in sizes.items() if each.spin and each.spin.done]
    return [
        name,
        last.ours.ended if last else "unknown",
        _some(sizes),
        str(states(record) or NOTHING),
        str(seconds(record) or NOTHING),
        count(nodes),
        shown_seconds(last.ours.cpu if last else None),
        count(spin[-1][0]) if spin else NOTHING,
        count(spin[-1][1].states) if spin else NOTHING,
    ]


def _some(sizes: Mapping[int, Grown]) -> str:
    """The first three sizes and the last three that gave a verdict."""
    done = [f"{n:,}: {_marked(each)}" for n, each in sizes.items() if each.ours.done]
    return ", ".join(done if len(done) <= 6 else [*done[:3], "...", *done[-3:]])


def _marked(size: Grown) -> str:
    return count(size.ours.states) + ("" if whole(size.ours) else "\\*")


def _steep(record: GrowthRecord) -> bool:
    law = states(record)
    cut = any(each.ours.done and not whole(each.ours) for each in record.sizes.values())
    return cut or (law is not None and (not law.polynomial or law.power > STEEP))


def _reason(name: str) -> str:
    return (name in TEMPLATES and TEMPLATES[name].grows) or "not known."


def _bases(records: Mapping[str, GrowthRecord]) -> str:
    return " and ".join(sorted({record.base for record in records.values() if record.base}))


def _against(records: Mapping[str, GrowthRecord]) -> Iterator[Sequence[str]]:
    """Largest sizes, and processor time at the largest that both decide."""
    for name, record in records.items():
        base = {nodes: each.base for nodes, each in record.sizes.items() if each.base and each.base.done}
        ours = {nodes: each.ours for nodes, each in record.sizes.items() if each.ours.done}
        both = base.keys() & ours.keys()
        if both:
            nodes = max(both)
            one, other = base[nodes].cpu, ours[nodes].cpu
            yield [
                name,
                count(max(base)),
                count(max(ours)),
                count(nodes),
                shown_seconds(one),
                shown_seconds(other),
                times(other / one if one else None),
            ]
