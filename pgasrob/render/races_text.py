"""Races in sentences, with excerpts of the source, in a report, and in a line each. Made from the JSON object alone
(`races_json`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from pgasrob.diagnostics import visible
from pgasrob.render import assumptions_text, english, words
from pgasrob.render.errors import error_lines
from pgasrob.render.lines import UNICODE, Glyphs, Line, headline, paragraph, paragraphs
from pgasrob.render.one_race_json import Race, with_accesses
from pgasrob.render.one_race_text import distinct, excerpts, lines_race, sentence
from pgasrob.render.run_json import Witness
from pgasrob.render.verdict_json import RaceResult, Result
from pgasrob.render.verdict_text import LIMITS, section, verdict_report
from pgasrob.robustness.verdict import RECORDED

NOTHING_EXPECTED = "no `// races:` says how many pairs are expected"
"""Why nothing can be compared with an answer."""


def race_report(
    result: RaceResult,
    width: int = 80,
    glyphs: Glyphs = UNICODE,
    list_assumptions: bool = False,
    full: bool = False,
    every_run: bool = False,
) -> list[Line]:
    """The report of ``result`` in lines of at most ``width`` characters (a long line of the source may be longer).

    ``list_assumptions``: name all that it rests on. ``full``: show every event of a run. ``every_run``: show a run to
    each race, and not to the first alone.
    """
    lines = headline(f"{visible(result['file'])}: ", _headline(result), width)
    lines += error_lines(result["file"], result["errors"])
    lines += _body(result, width)
    if list_assumptions:
        lines += assumptions_text.listed(result, width)
    if fault := result.get("witness"):
        lines += [[], *_section(result, fault, width, glyphs, "", full)]
    for race in result["races"][: None if every_run else 1]:
        several = f" to the race of {english.lines(distinct(race))}" if len(result["races"]) > 1 else ""
        title = f"{words.title(race)}{several}"
        lines += [[], *_section(result, with_accesses(race), width, glyphs, title, full)]
    return lines


def _section(result: RaceResult, run: Witness, width: int, glyphs: Glyphs, title: str, full: bool) -> list[Line]:
    return section(drawable(result), run, width, glyphs, title, full)


def with_races(
    result: Result, width: int = 80, glyphs: Glyphs = UNICODE, list_assumptions: bool = False, full: bool = False
) -> list[Line]:
    """The report of a verdict, with the answer about races below it if that was asked; see `text.verdict_report`."""
    races = result.get("races")
    return verdict_report(result, width, glyphs, list_assumptions, full, _beside(races, width) if races else ())


def _beside(result: RaceResult, width: int) -> list[Line]:
    """The answer about races below a verdict, without runs."""
    heading = [("Races: ", "heading"), (result["verdict"], result["verdict"]), (_number(result), "heading")]
    said = cast(RaceResult, {key: value for key, value in result.items() if key != "count_note"})  # by the verdict
    lines: list[Line] = [[("  ", ""), *heading], *_body(said, width)]
    if result["races"]:
        lines += paragraph(f"`{_command('race', result)}` shows the way there.", width, "faint", "  ")
    return lines


def _headline(result: RaceResult) -> Line:
    line: Line = [(result["verdict"], result["verdict"])]
    if result["nodes"] is not None:
        line.append((english.on_nodes(result["nodes"]), "heading"))
    line.append((_number(result), "heading"))
    if "as_expected" in result:
        right = result["as_expected"]
        line.append((" (as expected)" if right else f" ({wrong(result)})", "good" if right else "bad"))
    return line


def _number(result: RaceResult) -> str:
    """The number of racing pairs, where all were asked for."""
    return f": {english.count(len(result['races']), 'pair')} of lines" if result["all"] and result["races"] else ""


def wrong(result: RaceResult) -> str:
    """A note that the header expects another number of racing pairs, or none; "" where it does not."""
    expected = result.get("expected")
    return f"expected {expected}" if expected else NOTHING_EXPECTED


def _body(result: RaceResult, width: int) -> list[Line]:
    lines: list[Line] = []
    if result["reason"] and not (result["verdict"] == "error" and (result["errors"] or result.get("witness"))):
        lines += paragraph(result["reason"], width, "", "  ")
    if result["stats"]["seconds"]:
        lines += paragraph(cost(result), width, "faint", "  ")
    if counts := result.get("alike"):
        lines += paragraph(words.alike(counts), width, "faint", "  ")
    for race in result["races"]:
        lines += paragraph(f"{english.capital(lines_race(race))}:", width, "bad", "  ")
        lines += excerpts(result["file"], race, width)
    return lines + paragraphs(sentences(result), width)


def cost(result: RaceResult) -> str:
    """What the search for races cost."""
    stats = result["stats"]
    return f"{result['engine']} for races: {english.count(stats['states'], 'state')}, {stats['seconds']:.2f} s"


def sentences(result: RaceResult) -> Iterator[tuple[str, str]]:
    """The conclusions from the answer about races and the verdict on robustness, each with a style."""
    verdict = result["verdict"]
    note = result.get("count_note")
    if note and not note["nothing"]:  # the reason of the answer says that
        yield note["sentence"], "faint" if note["chosen"] else "open"
    if verdict == "no race":
        where = english.in_runs(result["engine"], result["nodes"])
        yield f"{where} no two accesses to one cell can be next at once, unless both read or are atomic.", "good"
        if not result["strict"]:
            yield "A wait and the value that it waits for are no race here (--strict: they are).", "faint"
        if result["engine"] == RECORDED:
            yield english.NOT_RECORDED, "open"
    if verdict == "unknown":
        yield "This says nothing about races.", "open"
    if result["limit"]:
        yield LIMITS, "open"
    if answer := robustness(result):
        yield answer
    if rests_on := assumptions_text.sentence(result):
        yield rests_on, "faint"


def robustness(result: RaceResult) -> tuple[str, str] | None:
    """The verdict on robustness in a sentence, with a style; None where it was not asked."""
    other = result.get("robustness")
    race = result["verdict"] == "race"
    if other is None or result["verdict"] == "error":
        return None
    match other["verdict"]:
        case "robust":
            all_the_same = "robust all the same" if race else "robust, too"
            turns = ", in which one of the two comes first" if race else ""
            what = "What was recorded" if other["engine"] == RECORDED else "The program"
            runs = "Each of these runs" if other["engine"] == RECORDED else "Every run on the network"
            answer = f"{what} is {all_the_same}. {runs} looks like a {english.SC} run{turns}."
            return (f"{answer} {_ends(other)}".rstrip(), "open") if race else (answer, "good")
        case "not robust":
            why = words.diagnosis(other["witness"]) or f"A run on the network looks like no {english.SC} run."
            same = "" if race else " all the same"
            return f"The program is not robust{same}: {why} `{_command('check', result)}` shows the run.", "bad"
        case "unknown" | "error":
            known = "in error" if other["verdict"] == "error" else "robust"
            if known == "robust":
                return f"Whether the program is robust is unknown: {other['reason']}.", "open"
            return f"The program is in error: {other['reason']}.", "bad"


def _ends(other: Result) -> str:
    """Whether SC runs of a robust program with a race end differently depending on which access comes first; "" where
    that was not asked, or all races are on purpose."""
    found = other.get("consequences")
    if found is None or found["answer"] == "none":
        return ""
    if found["matters"]:
        race, differs = found["matters"][0]["race"], visible("; ".join(found["matters"][0]["differs"]))
        where = english.lines(sorted(set(race["lines"])))
        return f"The race in {where} changes the result: {differs}."
    if found["answer"] == "harmless":
        return "How SC runs end does not depend on which."
    why = f": {visible(found['reason'])}" if found["reason"] else ""
    return f"Whether SC runs end differently depending on which is unknown{why}."


def _command(name: str, result: RaceResult) -> str:
    """The command ``name`` (`race`, `check`) that shows the run to a race, or the counterexample."""
    nodes = "" if result["nodes"] is None or result["engine"] == RECORDED else f" -n {result['nodes']}"
    return f"pgasrob {name} {visible(result['file'])}{nodes}"


def drawable(result: RaceResult) -> Result:
    """``result`` in the form that pictures are drawn from: with the run to its first race, at whose end are the two
    accesses, and under ``race_sentences`` all sentences about it."""
    races: Sequence[Race] = result["races"]
    pairs = [(f"{english.capital(sentence(race))}.", "bad") for race in races]
    drawn = {
        **result,
        "assertions": None,
        "deadlock": None,
        "communicates": None,
        "witness": with_accesses(races[0]) if races else result.get("witness"),
        "assertion_run": None,
        "deadlock_run": None,
        "race_sentences": [*pairs, *sentences(result)],
    }
    del drawn["races"]
    return drawn  # type: ignore[return-value]
