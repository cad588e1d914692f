"""Repairs as a report, as JSON, and as fixes in SARIF."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, zip_longest
from typing import TypedDict, assert_never

from pgasrob.diagnostics import visible
from pgasrob.render import synchronised_text
from pgasrob.render.count_note_json import CountNote, count_note_to_json
from pgasrob.render.diagnosis_text import Diagnosis
from pgasrob.render.english import capital, count, listed, on_counts
from pgasrob.render.errors import diagnostic_lines
from pgasrob.render.lines import Line, headline, paragraph, paragraphs
from pgasrob.render.shared_json import SCHEMA, Error, errors_to_json
from pgasrob.render.synchronised_json import ConsequentialRace, consequential_to_json, synchronised_to_json
from pgasrob.render.synchronised_json import wrong as count_of_findings
from pgasrob.render.verdict_json import Change, Fix, Result, to_json
from pgasrob.repairs import Answer, Broken, Candidate, Rejected, Repair
from pgasrob.repairs.edits import Edit, Origins, applied
from pgasrob.repairs.sc_outcomes import Compared, Same
from pgasrob.repairs.source_statements import Statements
from pgasrob.robustness.late_operations import late_operations
from pgasrob.robustness.question import FACTS
from pgasrob.robustness.verdict import RaceConsequences, Verdict, Witness

MOST_BROKEN = 2
"""Violations that are described for one candidate."""


class Step(TypedDict):
    """A candidate: what it brings ("order", "local completion", "completion", "notification" or "barrier"), its cost,
    its edits, and the sentences about the violations that it makes impossible."""

    kind: str
    cost: int
    line: int
    text: str
    inserted: bool
    edits: list[Change]
    breaks: list[str]


class AnswerObject(TypedDict):
    """``outcomes``: "same" (the SC runs of both end alike), "untouched" (too many; nothing in it acts in SC runs), or
    where races are repaired "fewer" (those of the repaired program end as some of the source do)."""

    cost: int
    steps: list[Step]
    diff: str
    outcomes: str
    ends: int


class RejectedObject(TypedDict):
    """What was tried and why it does not do."""

    steps: list[Step]
    why: str


class RepairObject(TypedDict):
    """``state``: "robust", "repaired", "not repaired", "unknown" or "error"; ``survivor``: the diagnosis of a violation
    that nothing breaks. ``goal``: "races" where the source is robust, and ``answers`` leave no race that changes the
    result. ``not_repaired``: what is wrong beside that."""

    schema: int
    file: str
    nodes: list[int]
    state: str
    goal: str
    not_repaired: list[str]
    reason: str | None
    answers: list[AnswerObject]
    rejected: list[RejectedObject]
    survivor: str | None
    checks: int
    seconds: float
    count_notes: list[CountNote]
    errors: list[Error]


def diagnosis(witness: Witness | None) -> str:
    """The cause of the violation ``witness`` in two sentences; "" where there is none."""
    if witness is None or witness.cycle is None:
        return ""
    return Diagnosis(witness.run).sentences(late_operations(witness.run, witness.cycle)[0])


def repair_to_json(file: str, repair: Repair) -> RepairObject:
    return {
        "schema": SCHEMA,
        "file": file,
        "nodes": list(repair.nodes),
        "state": repair.state,
        "goal": "races" if repair.against_races else "robust",
        "not_repaired": what_else(repair.verdicts, repair.left if repair.answers else repair.races),
        "reason": repair.reason or None,
        "answers": [
            {
                "cost": answer.cost,
                "steps": [
                    _step(repair, candidate, broken)
                    for candidate, broken in zip(answer.candidates, answer.breaks, strict=True)
                ],
                "diff": repair.diff(answer),
                "outcomes": answer.same.compared.name.lower(),
                "ends": answer.same.ends,
            }
            for answer in repair.answers
        ],
        "rejected": [
            {"steps": [_step(repair, candidate, ()) for candidate in each.candidates], "why": _why_not(repair, each)}
            for each in repair.rejected
        ],
        "survivor": _survivor(repair),
        "checks": repair.checks,
        "seconds": round(repair.seconds, 6),
        "count_notes": [count_note_to_json(each.count_note) for each in repair.verdicts if each.count_note],
        "errors": errors_to_json([error for verdict in repair.verdicts for error in verdict.errors], file),
    }


def no_repair(file: str, errors: list[Error], reason: str | None = None) -> RepairObject:
    """The object of a search that a limit or an internal error has ended."""
    found = repair_to_json(file, Repair("error" if errors else "unknown", (), (), reason=reason or ""))
    return {**found, "errors": errors}


def what_else(verdicts: Sequence[Verdict], races: Sequence[RaceConsequences] = ()) -> list[str]:
    """What is wrong beside robustness, by node counts: ``1 deadlock, 1 race that changes the result on 2..3 nodes``."""
    facts = FACTS if not races else (*FACTS, "races")
    by_count = [
        (wrong, verdict.nodes or 0)
        for verdict, found in zip_longest(verdicts, races)
        if (lines := synchronised_to_json(replace(verdict, asked=(), facts=facts, races=found)))
        and (wrong := ", ".join(count_of_findings(lines)))
    ]
    return [
        f"{wrong}{on_counts([nodes for _, nodes in group])}" for wrong, group in groupby(by_count, lambda each: each[0])
    ]


def other_findings(verdicts: Sequence[Verdict], races: Sequence[RaceConsequences] = ()) -> Iterator[tuple[str, str]]:
    """The sentence on what is wrong beside robustness."""
    if found := what_else(verdicts, races):
        yield f"But it is not correctly synchronised: {'; '.join(found)} (`pgasrob check` shows why).", "bad"


def violations(repair: Repair, broken: Iterable[Broken]) -> list[str]:
    """The sentences on violations, each once, by the lines of the source."""
    return list(dict.fromkeys(violation_sentence(repair.text, each.edits, each.witness) for each in broken))


def violation_sentence(text: str, edits: Collection[Edit], witness: Witness) -> str:
    """The cause of a violation of ``text`` with ``edits``, by the lines of ``text``."""
    source, edited, origins = Statements(text, []), Statements(applied(text, edits), []), Origins(edits)

    def line(number: int) -> int:
        return source.line(origins.of(edited.offset(number, 1))[0])

    return Diagnosis(witness.run, line).sentences(late_operations(witness.run, witness.cycle or ())[0])


def _why_not(repair: Repair, rejected: Rejected) -> str:
    return rejected.why if rejected.left is None else f"{rejected.why}: {violations(repair, [rejected.left])[0]}"


def _survivor(repair: Repair) -> str | None:
    return None if repair.survivor is None else violations(repair, [repair.survivor])[0]


def _step(repair: Repair, candidate: Candidate, broken: Sequence[Broken]) -> Step:
    return {
        "kind": candidate.kind,
        "cost": candidate.cost,
        "line": candidate.line,
        "text": candidate.text,
        "inserted": candidate.inserted,
        "edits": changes(repair.text, candidate.edits),
        "breaks": violations(repair, broken),
    }


def changes(source: str, edits: Iterable[Edit]) -> list[Change]:
    """``edits`` of ``source`` by lines and columns."""
    places = Statements(source, [])
    return [
        {
            "line": places.line(edit.start),
            "column": places.column(edit.start),
            "end_line": places.line(edit.end),
            "end_column": places.column(edit.end),
            "text": edit.text,
        }
        for edit in edits
    ]


def answer_text(repair: Repair, answer: Answer) -> str:
    """What ``answer`` changes and achieves, in a clause."""
    achieved = "no race changes the result" if repair.against_races else "it is robust"
    changes = capital(listed([candidate_text(each) for each in answer.candidates]))
    return f"{changes}; then {achieved}{on_counts(repair.nodes)}"


def beside(repair: Repair) -> Result:
    """The first verdict that is not robust (else the first one), with the first answer to show beside its run."""
    verdicts = repair.verdicts
    result = to_json(next((each for each in verdicts if each.verdict == "not robust"), verdicts[0]))
    if repair.answers:
        result["repair"] = {"told": answer_text(repair, repair.answers[0]), "diff": repair.diff(repair.answers[0])}
    return result


def fixes(repair: Repair) -> list[Fix]:
    """The answers as fixes, the cheapest first."""
    return [
        {
            "told": f"{capital(listed([candidate_text(each) for each in answer.candidates]))}.",
            "edits": changes(repair.text, [edit for candidate in answer.candidates for edit in candidate.edits]),
        }
        for answer in repair.answers
    ]


def repair_to_sarif(repair: Repair) -> str:
    """The findings about the source as a SARIF log, with the answers as their `fixes`."""
    from pgasrob.render.sarif import to_sarif

    results = [to_json(verdict) for verdict in repair.verdicts]
    for result in results:
        result["fixes"] = fixes(repair)
    return to_sarif(results)


# Text


def repair_lines(file: str, repair: Repair, width: int) -> list[Line]:
    """The report of a repair, with the diff of every answer."""
    lines = beginning(file, _headline(repair), repair.verdicts, sentences(repair), width)
    for number, answer in enumerate(repair.answers, 1):
        lines += [[], *_answer(repair, answer, number, width)]
    return lines


def beginning(
    file: str, head: Line, verdicts: Sequence[Verdict], sentences: Iterable[tuple[str, str]], width: int
) -> list[Line]:
    """The beginning of a report about edits: ``file`` and ``head``, errors of the text, ``sentences`` with styles."""
    lines = headline(f"{visible(file)}: ", head, width)
    lines += diagnostic_lines(error for verdict in verdicts for error in verdict.errors)
    return lines + paragraphs(sentences, width)


def diff_lines(diff: str) -> Iterator[Line]:
    """The output of `diff -u` with a colour for each kind of line."""
    for line in diff.split("\n")[:-1]:
        yield [(line, {"+": "good", "-": "bad", "@": "faint"}.get(line[:1], ""))]


def _headline(repair: Repair) -> Line:
    match repair.state:
        case "robust":
            other = what_else(repair.verdicts, repair.races)
            needs = "that needs no repair" if other else "there is nothing to repair"
            return [("robust", "robust"), (f"{on_counts(repair.nodes)}: {needs}", "heading")]
        case "repaired":
            found = count(len(repair.answers), "repair")
            return [(f"{found} of cost {repair.answers[0].cost}", "robust"), (on_counts(repair.nodes), "heading")]
        case "not repaired":
            return [("not repaired", "not robust"), (on_counts(repair.nodes), "heading")]
        case "unknown" | "error":
            return [(repair.state, repair.state), (on_counts(repair.nodes), "heading")]
        case _:
            assert_never(repair.state)


def sentences(repair: Repair) -> Iterator[tuple[str, str]]:
    """The sentences on ``repair`` before its answers, each with a style."""
    first = next((each for each in repair.verdicts if each.verdict == "not robust"), None)
    if first is not None and repair.state not in ("not repaired", "error"):
        yield diagnosis(first.witness), "bad"
    races = [synchronised_text.consequential(each) for each in _that_matter(repair)]
    yield from other_findings(repair.verdicts, () if repair.answers else repair.races)
    yield from ((f"{capital(each)}.", "bad") for each in races)
    if repair.reason:
        yield f"{capital(repair.reason)}.", "open"
    for each in repair.rejected:
        if each.crashed:
            yield f"{capital(listed([candidate_text(step) for step in each.candidates]))}: {each.why}.", "open"
    if open_ := sum(each.undecided and not each.crashed for each in repair.rejected):
        yield f"{count(open_, 'cheaper change')} could not be decided within the limits.", "open"
    if repair.state == "not repaired":
        yield f"No change in the catalogue repairs this: {_survivor(repair)}", "bad"
        for each in [each for each in repair.rejected if each.left is None][:3]:
            yield f"Tried: {listed([candidate_text(step) for step in each.candidates])}; {each.why}.", "faint"
    if any(each.answer == "matters" for each in repair.left):
        yield "A race changes the result of the repaired program all the same: run `pgasrob repair` again on it.", "bad"
    if races and not repair.answers:
        yield "No single barrier in the source removes this.", "bad"
    for left in [each.reason for each in repair.races if each.answer == "unknown"][:1]:
        yield f"Whether a race changes the result is not known: {left}.", "open"
    if repair.state in ("repaired", "not repaired") or repair.checks:
        yield f"{count(repair.checks, 'changed program')} checked, {repair.seconds:.2f} s", "faint"


def _that_matter(repair: Repair) -> list[ConsequentialRace]:
    """The races that matter, each two lines once."""
    found = {each.race.lines: each for races in repair.races for each in races.matters}
    return [consequential_to_json(each) for each in found.values()]


def _answer(repair: Repair, answer: Answer, number: int, width: int) -> Iterator[Line]:
    title = "Repair" if len(repair.answers) == 1 else f"Repair {number}"
    yield [(f"{title}: {listed([candidate_text(each) for each in answer.candidates])}", "heading")]
    for candidate, broken in zip(answer.candidates, answer.breaks, strict=True):
        sentences = violations(repair, broken)
        if len(answer.candidates) > 1 or len(sentences) > 1:
            for sentence in sentences[:MOST_BROKEN]:
                yield from paragraph(f"line {candidate.line} prevents: {sentence}", width, "", "  ", "    ")
    races = ", and no race changes the result" * repair.against_races
    text = f"Robust{on_counts(repair.nodes)}{races}: checked on the changed text. {_same(answer.same)}"
    yield from paragraph(text if races else text.replace(":", ",", 1), width, "good", "  ")
    yield from diff_lines(repair.diff(answer))


def candidate_text(candidate: Candidate) -> str:
    if not candidate.inserted:
        return f"replace the call in line {candidate.line} with `{candidate.text}`"
    how, where = ("move", "to") if candidate.takes else ("insert", "in")
    return f"{how} `{candidate.text}` {where} line {candidate.line}"


def _same(same: Same) -> str:
    match same.compared:
        case Compared.SAME:
            return f"Its SC runs end as before ({count(same.ends, 'outcome')} compared)."
        case Compared.UNTOUCHED:
            return "It changes no SC run: it inserts only waits, and in SC runs there is nothing to wait for."
        case Compared.FEWER:
            kept = f"Each of its SC runs ends as some did before ({count(same.ends, 'outcome')}, {same.before} before)."
            return kept + " Please check that these are the ones you want." * (same.ends < same.before)
        case Compared.DIFFERENT:
            return ""
        case _:
            assert_never(same.compared)
