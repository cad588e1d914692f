"""The catalogue of a corpus: a Markdown table for each family, from the programs and their verdicts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby, takewhile
from pathlib import PurePath

from pgasrob.program.expectation import read_expectation
from pgasrob.render.synchronised_json import synchronised_to_json
from pgasrob.render.synchronised_text import cell
from pgasrob.robustness.verdict import Verdict

TIME_CLASSES = ((0.1, "< 0.1 s"), (1.0, "< 1 s"), (10.0, "< 10 s"), (60.0, "< 1 min"))
SLOWER = "> 1 min"
OTHERWISE = ("expect with ", "tso:")
SETTINGS = ("nodes:", "api:", "races:", "synchronised:", "illegal:", *OTHERWISE, "rdma-tso", "corerma")
"""What comments at the beginning of a file may set, besides what they say in words."""

BEGINNING = """\
# The corpus

Made by `pgasrob catalogue`: do not edit.\
"""
"""By which a catalogue is known, whichever version has made it."""
HEADING = f"""\
{BEGINNING} The first line of every program states its expected verdict, and the next lines the
reason; `pgasrob check --expect` compares the verdict. A family varies one idea: read its programs side by side. The
column *verdict* has the verdict with the default options. If it is different with `--failed-polls count` or
`--conflicts all`, or on processors with store buffers (`--cpu tso`), that verdict follows. *SC runs* says what else is
wrong: `illegal` calls, ranks that are `stuck`, an assertion that `fails`, in C a `race` that changes the result.
*Races* are the pairs of lines that race, as the header of the program says (`pgasrob race --expect` compares them); the
column is empty if the header says nothing. *States* is the number of states that the engine stored. *Time* is a class,
not a measurement.
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One program of the corpus: its path below the corpus, its text, and the verdict on it."""

    path: PurePath
    text: str
    verdict: Verdict

    @property
    def family(self) -> str:
        return self.path.parent.as_posix()


def make_catalogue(entries: Iterable[Entry], command: str) -> str:
    """The catalogue as Markdown; ``command`` is what made it, for the reader who wants to make it again."""
    ordered = sorted(entries, key=lambda entry: (entry.family, entry.path.name))
    verdicts = [entry.verdict.verdict for entry in ordered]
    counts = ", ".join(f"{verdicts.count(answer)} {answer}" for answer in dict.fromkeys(sorted(verdicts)))
    lines = [HEADING, f"{len(ordered)} programs: {counts}. Made with `{command}`.", ""]
    for family, members in groupby(ordered, key=lambda entry: entry.family):
        lines += [
            f"## {family}",
            "",
            "| program | nodes | verdict | SC runs | races | states | time | why |",
            "|---|---|---|---|---|---|---|---|",
        ]
        lines += [_row(entry) for entry in members]
        lines.append("")
    return "\n".join(lines)


def _row(entry: Entry) -> str:
    verdict = entry.verdict
    link = f"[{entry.path.stem}]({entry.path.as_posix()})"
    known = verdict.verdict in ("robust", "not robust")
    cells = [
        link,
        "" if verdict.nodes is None else str(verdict.nodes),
        "; ".join([verdict.verdict, *other_readings(entry.text)]),
        cell(synchronised_to_json(verdict), verdict.assertions, verdict.deadlock)[0] if known else "",
        races(entry.text, verdict.nodes),
        f"{verdict.stats.states:,}" if known else "",
        time_class(verdict.stats.seconds),
        reason(entry.text).replace("|", "\\|"),
    ]
    return f"| {' | '.join(cells)} |"


def time_class(seconds: float) -> str:
    """A coarse class of ``seconds``."""
    return next((name for bound, name in TIME_CLASSES if seconds < bound), SLOWER)


def without_times(text: str) -> str:
    """A catalogue with the time column blanked, to compare two that were made on different machines."""
    classes = "|".join(re.escape(name) for name in (*(name for _, name in TIME_CLASSES), SLOWER))
    return re.sub(rf"\| (?:{classes}) \|", "|  |", text)


def reason(text: str) -> str:
    """Why the expected verdict holds: the comment after the first line of a corpus program."""
    return " ".join(comment for comment in _comments(text) if not comment.startswith(SETTINGS))


def other_readings(text: str) -> list[str]:
    """What is expected under other options: ``with all conflicts: not robust``, ``tso: not robust``."""
    return [comment.removeprefix("expect ") for comment in _comments(text) if comment.startswith(OTHERWISE)]


def races(text: str, nodes: int | None) -> str:
    """How many pairs of lines race on ``nodes`` nodes by the header of the program; "" where it does not say."""
    expectation = read_expectation(text)
    return (expectation.races_at(nodes) if expectation and expectation.races else None) or ""


def _comments(text: str) -> list[str]:
    """The comment lines that follow the first line."""
    lines = takewhile(lambda line: line.startswith("//"), text.splitlines()[1:])
    return [line.removeprefix("//").strip() for line in lines]
