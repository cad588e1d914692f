"""Whether a program is correctly synchronised, in words: the headline of a report, and a sentence for each line. Made
from the JSON object alone (`synchronised_json`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from pgasrob.diagnostics import visible
from pgasrob.render import english, every_count_text, words
from pgasrob.render.illegal_calls_json import IllegalCall
from pgasrob.render.lines import Line, paragraph
from pgasrob.render.one_race_text import sentence as race_sentence
from pgasrob.render.run_json import Standing, Witness
from pgasrob.render.strict_waits_json import because as stuck_because
from pgasrob.render.synchronised_json import (
    HARMLESS,
    NO_MATTER,
    ConsequentialRace,
    Synchronised,
    SynchronisedLine,
    in_brief,
    is_harmless,
    line_of,
    summary,
    wrong,
)
from pgasrob.render.verdict_json import Result
from pgasrob.robustness.synchronisation import WRONG
from pgasrob.robustness.verdict import LINES, RECORDED, Assertions, Deadlock, LineName

STYLES = {"yes": "good", "no": "bad", "unknown": "open", "harmless": "open"}
HEADLINES = {"yes": "robust", "no": "not robust", "unknown": "unknown", "harmless": "unknown"}
MARKS = {"yes": "ok", "no": "bad", "unknown": "?", "harmless": "note"}
"""What stands before a line."""


def is_whole(result: Result) -> bool:
    """Whether it was asked whether the program is correctly synchronised, or for lines of that beside robustness."""
    found = result.get("synchronised")
    asked = [line["line"] for line in found["lines"] if line["asked"]] if found else []
    return found is not None and (found["whole"] or any(name != "robust" for name in asked))


def headline(result: Result) -> Line:
    """The answer in short, with the node count."""
    return answer(result, every_count_text.on(result) if result["nodes"] else "")


def in_short(result: Result) -> str:
    """The answer in short, without the node count."""
    return "".join(text for text, _ in answer(result, ""))


def answer(result: Result, where: str) -> Line:
    """Whether the program is correctly synchronised, where all lines of that were asked; else the verdict, with what
    else was found; what was found alone where robustness was not asked. ``where`` it holds."""
    found, verdict = result.get("synchronised"), result["verdict"]
    robust = found and line_of(found, "robust")
    if not found or (not found["whole"] and robust and robust["asked"]):
        others = list(_but(result, found)) if found else []
        if found and is_harmless(found):
            why = [] if others else [(f": {NO_MATTER}", "heading")]
            return [(HARMLESS, HEADLINES["harmless"]), (where, "heading"), *why, *others]
        return [(verdict, verdict), (where, "heading"), *others]
    if not found["lines"]:
        return [("nothing of what was asked is there to answer", "open"), (where, "heading")]
    if found["answer"] == "no" and every_count_text.is_about_all(result):
        where = english.on_range(sorted({run["nodes"] for run in _of_lines(result)}))
    style, text = HEADLINES[found["answer"]], summary(found, where)
    first, behind, rest = text.partition(where) if where else (text, "", "")
    return [(first, style), (behind, "heading"), (rest, style if found["answer"] == "no" else "heading")]


def on_all_counts(results: Sequence[Result]) -> str:
    """The answers about one program on several node counts: ``correctly synchronised on 2..4 nodes``."""
    pieces = []
    for _, group in groupby(results, lambda each: in_brief(each.get("synchronised"), each["verdict"], "")):
        same = [*group]
        where = english.on_range([each["nodes"] for each in same if isinstance(each["nodes"], int)])
        pieces.append(in_brief(same[0].get("synchronised"), same[0]["verdict"], where))
    return "; ".join(pieces)


def _but(result: Result, found: Synchronised) -> Iterator[tuple[str, str]]:
    """What is wrong beside robustness, as the end of a headline."""
    lines = [line for line in found["lines"] if line["line"] != "robust" and line["answer"] == "no"]
    link = ", and" if result["verdict"] == "not robust" else ", but"
    match [line["line"] for line in lines]:
        case []:
            return
        case ["progress"]:
            yield f"{link} {deadlock(result)}", "bad"
        case ["legal"]:
            yield f"{link} {illegal_call(result['illegal_calls'][0])}", "bad"
        case ["assertions"]:
            yield f"{link} {failing_assertion(result)}", "bad"
        case ["races"]:
            yield f"{link} {_counted_races(lines[0]['found'])}{where_they_race(result)}", "bad"
        case _:
            others: Synchronised = {**found, "lines": lines}
            yield f"{link} with {english.listed(wrong(others))}", "bad"


def _of_lines(result: Result) -> Iterator[Witness]:
    """A run for each line in which something was found."""
    yield from filter(None, (result["witness"], result["assertion_run"], result["deadlock_run"]))
    yield from words.illegal_call_runs(result)
    yield from words.race_runs(result)


def deadlock(result: Result) -> str:
    """The clause that says which rank is stuck where: ``every run ends in a deadlock: rank 0 waits in line 12``, or
    ``spins for ever in line 9``."""
    run = result["deadlock_run"]
    sc = "run" if result["verdict"] == "robust" else "SC run"
    which = f"every {sc}" if result.get("always_stuck") else f"{'a' if sc == 'run' else 'an'} {sc}"
    waits = result.get("deadlock_by", [])
    ends = f"{which} ends in a deadlock{_where(result, run)}{stuck_because(waits)}"
    for rank in words.stuck(run["standing"], waits)[:1] if run else ():
        return f"{ends}: {stuck(rank)}"
    return ends


def stuck(rank: Standing) -> str:
    """The clause that says where ``rank`` is stuck: ``rank 0 waits in line 12 (shmem_barrier_all())``."""
    command = words.stuck_at(rank)
    how = "spins for ever" if rank.get("loop") else "waits"
    return f"rank {rank['rank']} {how} in line {command['line']} ({visible(command['command'])})"


def illegal_call(call: IllegalCall) -> str:
    """The clause that says what a call does wrong, by which section and earlier call, and what would mend it: ``rank 0
    in line 11: MPI_Win_lock of rank 1, which is locked already (MPI-4.1, 12.5.3; see the MPI_Win_lock in line 10):
    unlock it before it is locked again``."""
    opened = call["opened"]
    see = f"; see the {visible(opened['call'])} in line {opened['line']}" if opened else ""
    what = f"rank {call['rank']} in line {call['line']}: {visible(call['sentence'])}"
    return f"{what} ({visible(call['section'])}{see}): {visible(call['remedy'])}"


def failing_assertion(result: Result) -> str:
    """The clause that says which assertion fails: ``the assertion in line 9 fails in an SC run``."""
    run = result["assertion_run"]
    failing = [event for event in run["computation"] if event["holds"] is False] if run else []
    which = f"the assertion in line {failing[-1]['line']}" if failing else "an assertion"
    return f"{which} fails in an SC run{_where(result, run)}"


def _where(result: Result, run: Witness | None) -> str:
    return every_count_text.where(result, run) if run else ""


def sentences(result: Result) -> Iterator[tuple[str, SynchronisedLine]]:
    """What each line that was asked says, with it."""
    found = result.get("synchronised")
    if found:
        lines = (line for line in found["lines"] if not (found["nothing"] and line["answer"] == "unknown"))
        yield from ((_said(result, line), line) for line in lines)


def section(result: Result, width: int) -> list[Line]:
    """The lines, each with a mark before it."""
    lines: list[Line] = []
    for text, line in english.spelled_out(sentences(result)):
        first = f"  {MARKS[line['answer']]:<4} "
        lines += paragraph(text, width, STYLES[line["answer"]], first, " " * len(first))
    return lines


def _said(result: Result, line: SynchronisedLine) -> str:
    if line["answer"] == "unknown":
        about_the_run = result["verdict"] == "not robust"  # then the reason is why the run shown is not another one
        reason = because(result) if line["line"] == "races" else "" if about_the_run else result["reason"] or ""
        return f"{line['line']}: could not be decided{reason and ': '}{visible(reason)}"
    bad = line["answer"] in ("no", "harmless")
    run = "run on the network" if result["verdict"] == "robust" else "SC run"
    match line["line"]:
        case "legal":
            bad_calls = "; ".join(map(illegal_call, result.get("illegal_calls", [])))
            return f"legal: {bad_calls if bad else 'every call is allowed where it stands'}"
        case "progress":
            return f"progress: {deadlock(result)}" if bad else f"progress: no {run} gets stuck"
        case "assertions":
            return f"assertions: {failing_assertion(result)}" if bad else f"assertions: they hold in every {run}"
        case "faults":
            return "faults: none"
        case "robust":
            late = words.diagnosis(result["witness"]) or "a run on the network looks like no SC run"
            but = ", but for polls that fail," if result.get("polls") else ""
            return f"robust: {late if bad else f'every run on the network{but} looks like an SC run'}"
        case "races":
            return f"races: {_races(result, line['found'])}"


def severity(result: Result, name: LineName) -> str:
    """How grave a finding of the line called so is: an error, or a warning where it does not count."""
    found = result.get("synchronised")
    return "error" if found and line_of(found, name) else "warning"


def severity_of_violation(result: Result) -> str:
    """How grave it is that a program is not robust: a note where every run on the network ends as some SC run does, a
    warning where it does not count, else an error."""
    found = result.get("synchronised")
    if found and is_harmless(found):
        return "note"
    return "error" if not found or line_of(found, "robust") else "warning"


def because(result: Result) -> str:
    """Why something could not be decided; of races where that is why."""
    found = result.get("consequences")
    return (found and found["reason"]) or result["reason"] or ""


def of_sc_runs(result: Result) -> tuple[str, str]:
    """What is wrong with SC runs in a cell of a table, with its style: ``ok``, ``stuck, race?``; of deadlocks and
    assertions also where they do not count."""
    return cell(result.get("synchronised"), result["assertions"], result["deadlock"])


def cell(found: Synchronised | None, assertions: Assertions | None, deadlock: Deadlock | None) -> tuple[str, str]:
    """The cell of :func:`of_sc_runs`, from the lines and the facts of SC runs."""
    if (not found or (found["nothing"] and found["answer"] == "unknown")) and assertions is deadlock is None:
        return "-", "faint"
    answers: dict[LineName, object] = {
        "assertions": {"violated": "no"}.get(assertions or "", assertions),
        "progress": "no" if deadlock is True else deadlock,
        **{line["line"]: line["answer"] for line in (found["lines"] if found else ())},
    }
    bad = [WRONG[name] for name in LINES if name != "robust" and answers.get(name) == "no"]
    open_ = [f"{WRONG[name]}?" for name in LINES if name != "robust" and answers.get(name) == "unknown"]
    return ", ".join([*bad, *open_]) or "ok", "bad" if bad else "open" if open_ else "good"


def _races(result: Result, count: int) -> str:
    found = result["consequences"]
    where = where_they_race(result)
    harmless = english.count(len(found["harmless"]), "race") if found["harmless"] else ""
    if count > len(found["matters"]):
        return f"{count} that change the result" if count > 1 else "1 that changes the result"
    if not found["matters"]:
        if not harmless:
            return "none"
        verb = "changes" if len(found["harmless"]) == 1 else "change"
        return f"none that matters; {harmless} {verb} nothing in how SC runs end"
    several = f"{len(found['matters'])} that change the result; " if len(found["matters"]) > 1 else ""
    return several + "; ".join(map(consequential, found["matters"])) + where


def _counted_races(count: int) -> str:
    return "1 race changes the result" if count == 1 else f"{count} races change the result"


def where_they_race(result: Result) -> str:
    """`` on 3 nodes``: where the races that matter were found; "" where the result is about one number of nodes."""
    runs = words.race_runs(result)
    return every_count_text.where(result, runs[0]) if runs else ""


def races_left(result: Result) -> str:
    """Why races are open that were looked for, and would count where they were found; "" where that is not so,
    or nothing was checked, which is said by itself."""
    found = result.get("synchronised")
    line = line_of(found, "races") if found and not found["nothing"] else None
    return because(result) if line and line["answer"] == "unknown" and not line["asked"] else ""


def beside_robustness(result: Result) -> Iterator[tuple[str, str]]:
    """The sentence on races for a report that is about robustness first: those that matter, or that they are open;
    nothing where they were not looked for, or none matters."""
    found = result.get("synchronised")
    line = line_of(found, "races") if found else None
    if line and line["answer"] == "no":
        yield f"Races: {_races(result, line['found'])}.", "bad"
    elif open_ := races_left(result):
        yield f"{english.capital(open_)}.", "open"
    elif line and result["engine"] == RECORDED:
        yield "No two accesses race in these runs.", "good"
    elif line and line["answer"] == "yes" and every_count_text.is_about_all(result):
        yield "On every number of nodes no race changes the result.", "good"


def consequential(race: ConsequentialRace) -> str:
    """The clause that says which accesses race, and what depends on their order."""
    return f"{race_sentence(race['race'])}: {visible('; '.join(race['differs']))}"
