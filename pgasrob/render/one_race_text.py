"""One race in words: its lines, its two accesses, and the places in the source. Made from the JSON object alone
(`one_race_json`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pgasrob.diagnostics import blank, visible
from pgasrob.program.statements import place_of
from pgasrob.render import english, words
from pgasrob.render.lines import Line, wrap
from pgasrob.render.one_race_json import Race, RacingAccess, with_accesses
from pgasrob.render.source_places import located

WHAT: dict[str, str] = {"local buffer": "local buffer", "remote": "remote memory", "local": "own memory"}
"""Whose memory a race of a kind is about."""


def distinct(race: Race) -> list[int]:
    """The lines of ``race``, each once."""
    return list(dict.fromkeys(race["lines"]))


def lines_race(race: Race) -> str:
    """The clause that names the lines and memory of a race: ``lines 16 and 20 race for x of rank 1 (remote
    memory)``."""
    lines, address = distinct(race), race["accesses"][0]["address"]
    races = "race" if len(lines) > 1 else "races with itself"
    where = f" for {visible(address['name'])} of rank {address['rank']}" if address else ""
    return f"{english.lines(lines)} {races}{where} ({WHAT[race['kind']]})"


def sentence(race: Race) -> str:
    """The clause that names the lines of a race and its two accesses."""
    one, other = phrases(race)
    return f"{lines_race(race)}: {one}, and {other}, in either order"


def phrases(race: Race) -> tuple[str, str]:
    """The two accesses in words: `the shmem_put of rank 0 arrives at x@1`, `rank 1 reads x@1`."""
    computation = with_accesses(race)["computation"]
    one, other = (
        _phrase(words.phrase(len(computation) - 2 + each, computation), race["accesses"][each]) for each in (0, 1)
    )
    return one, other


def _phrase(issued: str, access: RacingAccess) -> str:
    """What an access does. Where a command is made at once that writes behind its issue, it is not the issue that
    counts: ``the shmem_int_p of rank 0 writes x@1``."""
    whole = re.fullmatch(r"rank (\d+) issues the (\w+)( of .*)?", issued)
    if whole is None or access["pending"] or access["access"] != "write":
        return visible(issued)
    return visible(f"the {whole[2]} of rank {whole[1]} writes {access['cell']}")


def excerpts(file: str, race: Race, width: int) -> Iterator[Line]:
    """The lines of the source, whose first file is ``file``, with both accesses marked and described."""
    known: RacingAccess | None = None
    gutter = max(len(str(int(access["line"]))) for access in race["accesses"]) + 6
    for access, phrase in zip(race["accesses"], phrases(race), strict=True):
        other, number = place_of(access["line"])
        source = race.get("sources", {}).get(other, "") if other else race["source"]
        texts = source.split("\n")
        if number < 1 or number > len(texts):
            continue
        text = texts[number - 1].rstrip("\r")
        if known is None or known["line"] != access["line"]:
            if other:
                yield [(f"{' ' * gutter}{visible(located(file, access['line']))}", "faint")]
            yield [(f"{number:>{gutter}} | ", "faint"), (text, "")]
        known = access
        start = access["column"] - 1
        lead = blank(text[:start])
        one_line = int(access["end_line"]) == number
        end = access["end_column"] - 1 if one_line else len(text)
        carets = "^" * max(1, min(end, len(text)) - start)
        note = f"{phrase}{f' ({atomic(access)})' if access['atomic'] else ''}"
        yield [(f"{' ' * gutter} | ", "faint"), (f"{lead}{carets}", "cycle")]
        yield from ([(f"{' ' * gutter} | ", "faint"), (line, "")] for line in wrap(note, width - gutter - 3))


def atomic(access: RacingAccess) -> str:
    """The words for the type in which an access is atomic."""
    return f"atomic, {access['atomic']}"
