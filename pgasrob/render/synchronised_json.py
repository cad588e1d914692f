"""Makes the JSON object that says whether a program is correctly synchronised: a line for each way in which it may not
be, what sums them up, and the races on which depends how SC runs end."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Literal, TypedDict

from pgasrob.render import english
from pgasrob.render.one_race_json import Race, race_to_json
from pgasrob.render.run_json import Witness, witness_to_json
from pgasrob.render.shared_json import Stats, stats_to_json
from pgasrob.robustness import verdict as library
from pgasrob.robustness.synchronisation import LineAnswer, synchronised
from pgasrob.robustness.verdict import LineName
from pgasrob.robustness.verdict import Witness as FoundWitness
from pgasrob.semantics.race import Race as FoundRace
from pgasrob.semantics.race import RacingAccess
from pgasrob.semantics.replay import Run

FOUND: dict[LineName, str] = {
    "legal": "illegal call",
    "progress": "deadlock",
    "assertions": "failing assertion",
    "faults": "fault",
    "robust": "",
    "races": "race that changes the result/races that change the result",
}
"""What is counted where a line is not as it should be."""
OPEN: dict[LineName, str] = {
    "legal": "illegal calls",
    "progress": "deadlocks",
    "assertions": "assertions",
    "faults": "faults",
    "robust": "robustness",
    "races": "races",
}
"""What could not be decided where a line is open."""
NONE: dict[LineName, str] = {
    "legal": "no illegal call",
    "progress": "no deadlock",
    "assertions": "no failing assertion",
    "faults": "no fault",
    "robust": "robust",
    "races": "no race that changes the result",
}
RIGHT, WRONG, NOT_KNOWN = (
    "correctly synchronised",
    "not correctly synchronised",
    "not known to be correctly synchronised",
)


NOT_ROBUST, NOTHING = "not robust", "nothing was checked"
HARMLESS = "not robust, but harmless"
NO_MATTER = "every run on the network ends as some SC run does"


class SynchronisedLine(TypedDict):
    """One way in which a program may be wrong: an illegal call, a rank that gets stuck, an assertion that fails, a run
    on the network that looks like no SC run, a race on which depends how SC runs end.

    ``answer`` is "yes" where all is as it should be, "no" with the number of findings that were ``found``, "unknown"
    where a limit left it open, "harmless" where it is not robust but every run on the network ends as some SC run does.
    ``asked``: it counts where it is unknown, too.
    """

    line: LineName
    answer: LineAnswer
    asked: bool
    found: int


class Synchronised(TypedDict):
    """Whether the program is correctly synchronised, as far as was asked: by all ``lines`` together.

    ``whole``: all lines were asked. A line that does not apply, as assertions of a program that has none, is left out.
    ``summary`` says it in words. ``nothing``: nothing was checked, since no rank comes to a call by which it
    communicates.
    """

    answer: LineAnswer
    whole: bool
    nothing: bool
    summary: str
    lines: list[SynchronisedLine]


class ConsequentialRace(TypedDict):
    """A ``race`` on which depends how SC runs end: what ``differs``, and two SC ``runs``, one for each order of the two
    accesses, that end differently."""

    race: Race
    differs: list[str]
    runs: list[Witness]


class Consequences(TypedDict):
    """The races of a program: those on which depends how SC runs end, and the ``harmless`` ones.

    ``answer``: "none" (there is no race), "harmless", "matters", or "unknown". ``reason``: why that is unknown, or why
    there may be more races than are listed.
    """

    answer: Literal["none", "harmless", "matters", "unknown"]
    matters: list[ConsequentialRace]
    harmless: list[Race]
    reason: str | None
    reason_code: str | None
    limit: str | None
    stats: Stats


def synchronised_to_json(verdict: library.Verdict) -> Synchronised | None:
    """Whether the program of ``verdict`` is correctly synchronised; None where that is in error."""
    found = synchronised(verdict)
    if found is None:
        return None
    lines: list[SynchronisedLine] = [
        {"line": line.name, "answer": line.answer, "asked": line.asked, "found": line.found} for line in found.lines
    ]
    made: Synchronised = {
        "answer": found.answer,
        "whole": found.whole,
        "nothing": found.nothing,
        "summary": "",
        "lines": lines,
    }
    return made | {"summary": summary(made)}


def consequences_to_json(found: library.RaceConsequences) -> Consequences:
    """The races of a program by what depends on them, as an object."""
    reason = found.reason
    return {
        "answer": found.answer,
        "matters": [consequential_to_json(each) for each in found.matters],
        "harmless": [race_to_json(race) for race in found.harmless],
        "reason": None if reason is None else str(reason),
        "reason_code": None if reason is None else reason.code,
        "limit": None if reason is None else reason.option,
        "stats": stats_to_json(found.stats),
    }


def consequential_to_json(found: library.ConsequentialRace) -> ConsequentialRace:
    """A race that matters, as an object."""
    return {
        "race": race_to_json(found.race),
        "differs": list(found.differs),
        "runs": [_order(found.race, run) for run in found.runs],
    }


def _order(race: FoundRace, run: Run) -> Witness:
    """The SC ``run``, with the two accesses of ``race`` marked, which come after the run that leads to that."""
    made = witness_to_json(FoundWitness("order", run))
    assert made is not None
    first = len(race.run.events)
    marked = [place for access in race.accesses for place in islice(_accesses(access, run, first), 1)]
    return {**made, "marked": sorted(marked)}


def _accesses(access: RacingAccess, run: Run, first: int) -> Iterator[int]:
    """The places from ``first`` on where ``access`` happens in ``run``."""
    issued: set[tuple[int, int]] = set()
    for place, replayed in enumerate(run.events):
        event = replayed.event
        if place >= first and event.rank == access.rank and event.occurrence == access.occurrence:
            issued.add((event.rank, event.operation))
        if event.cell == access.cell and (event.rank, event.operation) in issued:
            yield place


def summary(found: Synchronised, where: str = "") -> str:
    """What ``found`` says in one clause, ``where`` it holds (`` on 2 nodes``): ``not correctly synchronised on 2 nodes:
    1 deadlock, 1 race that changes the result``; where not all lines were asked, what each of them says."""
    if found["nothing"] and found["answer"] == "unknown":
        return NOTHING + where
    bad, open_ = wrong(found), left_open(found)
    could_not = f"{english.listed(open_)} could not be decided" if open_ else ""
    if not found["whole"]:
        good = [NONE[line["line"]] for line in found["lines"] if line["answer"] == "yes" and line["asked"]]
        good += [HARMLESS] * is_harmless(found)
        return ", ".join(filter(None, (*good, *bad, could_not))) + where
    match found["answer"]:
        case "yes":
            return RIGHT + where
        case "no":
            return f"{WRONG}{where}: {', '.join(bad)}{'; ' * bool(could_not)}{could_not}"
        case "unknown":
            return f"{NOT_KNOWN}{where}: {could_not}"
        case "harmless":
            return f"{HARMLESS}{where}: {NO_MATTER}"


def in_brief(found: Synchronised | None, verdict: str, where: str) -> str:
    """The answer without places: the summary where all lines were asked or robustness was not, else the ``verdict`` and
    what is wrong beside it; ``where`` it holds."""
    robust = found and line_of(found, "robust")
    if found and (found["whole"] or not (robust and robust["asked"])):
        return summary(found, where)
    others = [each for each in wrong(found) if each != NOT_ROBUST] if found else []
    verdict = HARMLESS if found and is_harmless(found) else verdict
    link = "and" if verdict.startswith(NOT_ROBUST) else "but"
    return f"{verdict}{where}{f', {link} with {english.listed(others)}' if others else ''}"


def wrong(found: Synchronised) -> list[str]:
    """What was found in the lines that are not as they should be: ``1 deadlock``, ``not robust``."""
    return [
        english.count(line["found"], FOUND[line["line"]]) if FOUND[line["line"]] else NOT_ROBUST
        for line in found["lines"]
        if line["answer"] == "no"
    ]


def left_open(found: Synchronised) -> list[str]:
    """What could not be decided although it was asked."""
    return [OPEN[line["line"]] for line in found["lines"] if line["answer"] == "unknown" and line["asked"]]


def is_harmless(found: Synchronised) -> bool:
    """Whether the program is not robust, but every run on the network ends as some SC run does."""
    return any(line["answer"] == "harmless" for line in found["lines"])


def line_of(found: Synchronised, name: LineName) -> SynchronisedLine | None:
    """The line called so; None where it was not asked or does not apply."""
    return next((line for line in found["lines"] if line["line"] == name), None)
