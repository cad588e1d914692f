"""The report of a litmus test: the outcomes of all models side by side, what was expected, and why outcomes are
forbidden. Made from the JSON objects alone (`render.litmus_json`), one for each model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgasrob.diagnostics import visible
from pgasrob.models.litmus.litmus_program import Value
from pgasrob.render import english
from pgasrob.render.lines import UNICODE, Glyphs, Line, headline, paragraph, together
from pgasrob.render.litmus_json import (
    EventObject,
    ExecutionObject,
    ForbiddenObject,
    LitmusResult,
    RefusalObject,
    numbers_first,
    values_text,
)

MOST_ROWS = 200
"""Outcomes of which all are listed."""
WITH_REASONS = ("corerma", "rdma-tso")
"""The models by axioms."""
MOST_RULES = 6
"""Smallest sets of rules that are named."""
YES, NO, OPEN = "yes", "-", "?"


def litmus_report(
    results: Sequence[LitmusResult],
    width: int = 80,
    glyphs: Glyphs = UNICODE,
    *,
    others: Sequence[str] = (),
    left_out: Sequence[tuple[int, str]] = (),
) -> list[Line]:
    """The outcomes of one test in all models, in lines of at most ``width`` characters. ``others``: models that do not
    take it; ``left_out``: lines of the test (with numbers) about none of the models."""
    first = results[0]
    lines = [*_headline(results, width)]
    if first["text"]:
        lines += paragraph(_kept_together(visible(first["text"])), width, "faint", "  ", "    ")
    answered = [result for result in results if not result["refusals"]]
    rows = _rows(answered)
    if rows:
        lines += [[], *_table(answered, rows[:MOST_ROWS], width, glyphs)]
        if len(rows) > MOST_ROWS:
            lines += paragraph(
                f"{len(rows) - MOST_ROWS:,} more outcomes are not listed; --format json has all.", width, "open", "  "
            )
    lines += _remarks(results, others, width)
    lines += _expected(results, left_out, width)
    for why, labels, settled in _whys(answered):
        lines += _why(why, labels, settled, width)
    return lines


def executions_report(result: LitmusResult, width: int = 80) -> Iterator[Line]:
    """An execution for each outcome that a model allows, below a blank line."""
    for outcome, execution in zip(result["outcomes"], result["executions"], strict=True):
        title = f"An execution of {result['label']} with {values_text(outcome)}:"
        yield from ([], *execution_report(title, execution, width))


def execution_report(title: str, execution: ExecutionObject, width: int = 80) -> list[Line]:
    """``execution``, an event in a line, with its relations below."""
    events = execution["events"]
    numbers = numbers_of(execution)
    digits = len(str(len(numbers)))
    lines: list[Line] = [*paragraph(title, width, "heading")]
    on_cycle = {end for edge in execution["cycle"] for end in (edge["source"], edge["target"])}
    for thread, node in enumerate(each["node"] for each in execution["threads"]):
        lines.append([(f"  thread {thread + 1} on node {node}", "")])
        mine = [(number, event) for number, event in enumerate(events) if event["thread"] == thread]
        wide = min(max((len(visible(event["text"])) for _, event in mine), default=0), width // 2)
        before: int | None = None
        for number, event in mine:
            text = visible(event["text"]) if event["operation"] != before else ""
            before = event["operation"]
            style = "cycle" if number in on_cycle else ""
            lines.append(
                [(f"  {numbers[number]:>{digits + 2}}  ", "faint"), (f"{text:<{wide}}  {shown_event(event)}", style)]
            )
    for name, pairs in execution["relations"].items():
        if name == "po" or not pairs:
            continue
        named = [(one, other) for one, other in pairs if not is_constant(events[one])]
        edges = [together(f"{place(one, execution)} -> {place(other, execution)}") for one, other in named]
        if not edges:
            continue
        lines += paragraph(", ".join(edges), width, "", f"  {name}: ", "      ")
    if execution["order"]:
        taken = [str(numbers[number]) for number in execution["order"] if number in numbers]
        lines += paragraph(" ".join(taken), width, "", "  takes effect: ", "      ")
    return lines


def numbers_of(execution: ExecutionObject) -> dict[int, int]:
    """The numbers from 1 by which the events of threads are called."""
    own = [number for number, event in enumerate(execution["events"]) if event["thread"] is not None]
    return {number: count for count, number in enumerate(own, 1)}


def place(number: int, execution: ExecutionObject) -> str:
    """The name of an event: its number, or the location whose initial value it writes."""
    event = execution["events"][number]
    known = numbers_of(execution).get(number)
    return f"initial {event['location']}" if known is None else str(known)


def is_constant(event: EventObject) -> bool:
    """Whether it accesses a location that stands for a constant."""
    return event["location"] is not None and event["location"].startswith("$")


def shown_event(event: EventObject) -> str:
    """What an event is and does: ``nlR x = 0``, ``CAS x: 0 -> 1``."""
    location, reads, writes = event["location"], event["reads"], event["writes"]
    if location is None:
        return event["kind"]
    if is_constant(event):
        return f"{event['kind']} constant {reads}"
    if reads is not None and writes is not None:
        return f"{event['kind']} {location}: {reads} -> {writes}"
    return f"{event['kind']} {location} = {writes if reads is None else reads}"


def _kept_together(program: str) -> str:
    """``program`` with no-break spaces inside of its statements."""
    locations, colons, threads = program.partition(" :: ")
    return f"{locations}{colons}{'; '.join(together(statement) for statement in threads.split('; '))}"


# --- What is said first ----------------------------------------------------------------------------------------------


def _headline(results: Sequence[LitmusResult], width: int) -> list[Line]:
    line: Line = []
    for result in results:
        comma = ""
        if line:
            line.append((",", "heading"))
            comma = " "
        count = english.count(len(result["outcomes"]), "outcome")
        if result["refusals"]:
            line.append((f"{comma}refused by {result['label']}", "error"))
        elif not result["complete"]:
            line += [(f"{comma}unknown", "unknown"), (f" in {result['label']}, {count} so far", "heading")]
        else:
            line.append((f"{comma}{count} in {result['label']}", "heading"))
        if result["as_expected"] is False:
            line.append((" (not as expected)", "bad"))
    return headline(f"{visible(results[0]['file'])}: ", line, width)


def _remarks(results: Sequence[LitmusResult], others: Sequence[str], width: int) -> list[Line]:
    lines: list[Line] = []
    for result in results:
        for refused in dict.fromkeys(_refused(refusal) for refusal in result["refusals"]):
            lines += paragraph(f"{result['label']}: {refused}", width, "bad", "  ", "    ")
        if result["reason"]:
            said = f"{result['label']}: {result['reason']}; there may be more outcomes. --max-states, --timeout and"
            lines += paragraph(f"{said} --memory-limit set the limits.", width, "open", "  ", "    ")
    if others:
        said = f"Not a program of {english.listed(others, 'or')}; --model NAME says why."
        lines += paragraph(said, width, "faint", "  ")
    return lines


def _refused(refusal: RefusalObject) -> str:
    where = f"line {refusal['line']}: " if refusal["line"] else ""
    return f"{where}{refusal['reason'].rstrip('.')}."


# --- The table -------------------------------------------------------------------------------------------------------


def _rows(results: Sequence[LitmusResult]) -> list[dict[str, Value]]:
    """The outcomes of all models, each once, sorted by their values."""
    found = {tuple(outcome.items()): outcome for result in results for outcome in result["outcomes"]}
    return sorted(found.values(), key=lambda row: numbers_first(row.values()))


def _table(results: Sequence[LitmusResult], rows: Sequence[dict[str, Value]], width: int, glyphs: Glyphs) -> list[Line]:
    """A row for each outcome, a column for each name of which the values differ, and one for each model; where that is
    too wide, the values in one text."""
    names = results[0]["names"]
    varying = [name for name in names if len({str(row[name]) for row in rows}) > 1] or names
    same = {name: rows[0][name] for name in names if name not in varying}
    texts = [[str(row[name]) for name in varying] for row in rows]
    left = [max(len(name), *(len(text[place]) for text in texts)) for place, name in enumerate(varying)]
    right = [max(len(result["label"]), *(len(_cell(result, row)[0]) for row in rows)) for result in results]
    lines: list[Line] = []
    if 4 + sum(wide + 2 for wide in left) + sum(wide + 2 for wide in right) <= width and varying:
        heads = "".join(f"  {name:>{wide}}" for name, wide in zip(varying, left, strict=True))
        begins = ["".join(f"  {value:>{wide}}" for value, wide in zip(text, left, strict=True)) for text in texts]
    else:
        begins = [f"  {values_text({name: row[name] for name in varying})}" for row in rows]
        wide = max([*(len(begin) for begin in begins), 9])
        heads, begins = f"{'  outcome':<{wide}}", [f"{begin:<{wide}}" for begin in begins]
        if wide + 4 + sum(each + 2 for each in right) > width:
            return [line for row in rows for line in _long_row(results, row, varying, width)] + _same(same, width)
    bar = f" {glyphs.vertical} "
    head: Line = [(heads, "heading"), (bar, "faint")]
    lines.append(
        [*head, *((f" {result['label']:^{wide}} ", "heading") for result, wide in zip(results, right, strict=True))]
    )
    rule = glyphs.horizontal * (len(heads) + 1) + glyphs.cross + glyphs.horizontal * (sum(right) + 2 * len(right) + 1)
    lines.append([(rule, "faint")])
    for row, begin in zip(rows, begins, strict=True):
        cells = ((*_cell(result, row), wide) for result, wide in zip(results, right, strict=True))
        lines.append([(begin, ""), (bar, "faint"), *((f" {text:^{wide}} ", style) for text, style, wide in cells)])
    return lines + _same(same, width)


def _cell(result: LitmusResult, row: dict[str, Value]) -> tuple[str, str]:
    """Whether the model has the outcome; in a style that says whether that was expected."""
    allowed = row in result["outcomes"]
    answer = YES if allowed else NO if result["complete"] else OPEN
    if answer == OPEN:
        return answer, "open"
    about = [line for line in result["expected"] if line["values"] and line["values"].items() <= row.items()]
    if allowed and any(not line["allowed"] for line in about):
        return f"{answer}!", "bad"
    if allowed and any(line["holds"] is False and not line["values"] for line in result["expected"]):
        named = any(line["allowed"] and line["values"].items() <= row.items() for line in about)
        return (answer, "good") if named else (f"{answer}!", "bad")
    return answer, "good" if allowed and any(line["allowed"] for line in about) else ""


def _long_row(
    results: Sequence[LitmusResult], row: dict[str, Value], varying: Sequence[str], width: int
) -> Iterator[Line]:
    yield from paragraph(values_text({name: row[name] for name in varying}), width, "", "  ", "    ")
    answers = ", ".join(f"{result['label']}: {_cell(result, row)[0]}" for result in results)
    yield from paragraph(answers, width, "faint", "      ")


def _same(same: dict[str, Value], width: int) -> list[Line]:
    return paragraph(f"In all of them {values_text(same)}.", width, "faint", "  ") if same else []


# --- Expectations ----------------------------------------------------------------------------------------------------


def _expected(results: Sequence[LitmusResult], left_out: Sequence[tuple[int, str]], width: int) -> list[Line]:
    held: dict[tuple[int, str], dict[bool | None, list[str]]] = {}
    for result in results:
        for line in result["expected"]:
            held.setdefault((line["line"], line["text"]), {}).setdefault(line["holds"], []).append(result["label"])
    lines: list[Line] = [[]] if held or left_out else []
    for (number, text), by in sorted({**held, **{line: {} for line in left_out}}.items()):
        pieces = ["not compared, --expect asks the models that it names"] if not by else []
        if True in by:
            pieces.append(f"as expected in {english.listed(by[True])}")
        if False in by:
            pieces.append(f"NOT in {english.listed(by[False])}")
        if None in by:
            pieces.append(f"open in {english.listed(by[None])}")
        style = "faint" if not by else "bad" if False in by else "open" if None in by else "good"
        lines += paragraph(f"line {number}: {together(text)}: {'; '.join(pieces)}", width, style, "  ", "      ")
    return lines


# --- Why something is forbidden --------------------------------------------------------------------------------------


def _whys(results: Sequence[LitmusResult]) -> list[tuple[ForbiddenObject, list[str], bool]]:
    """Why values are forbidden: each with its models, and whether all their outcomes are known."""
    found: list[tuple[ForbiddenObject, list[str], bool]] = []
    for result in results:
        settled = result["complete"]
        for why in result["forbidden"]:
            labels = next((labels for known, labels, of in found if known == why and of == settled), None)
            if labels is None:
                found.append((why, [result["label"]], settled))
            else:
                labels.append(result["label"])
    return found


def _why(why: ForbiddenObject, labels: Sequence[str], settled: bool, width: int) -> list[Line]:
    """Why an outcome is forbidden: the smallest sets of rules that exclude it, and an execution that would have it."""
    values, name = values_text(why["values"]), english.listed(labels)
    if why["allowed"]:
        return [[], *paragraph(f"{values} is allowed in {name}.", width, "open", "  ")]
    if why["reason"]:
        said = f"{'Why' if settled else 'Whether and why'} {values} is forbidden in {name} is open: {why['reason']}."
        longer = f" --forbidden '{values}' looks for longer." if settled and not why["asked"] else ""
        return [[], *paragraph(said + longer, width, "open", "  ")]
    if why["rules"] is None:
        said = f"{values} is forbidden in {name}; reasons are known of {english.listed(WITH_REASONS)} alone."
        return [[], *paragraph(said, width, "open", "  ")]
    lines: list[Line] = [[]]
    lines += paragraph(
        f"Why {values} is forbidden in {name}: {forbidding_rules(why['rules'])}", width, "", "  ", "    "
    )
    execution = why["execution"]
    if execution is None or not execution["cycle"]:
        return lines
    if why["rules"]:
        said = (
            f"Without {english.listed(why['rules'][0])} there is an execution with these values. With it events would"
        )
        lines += paragraph(f"{said} come before themselves:", width, "", "  ")
    else:
        lines += paragraph("Events would have to come before themselves:", width, "", "  ")
    for number, edge in enumerate(execution["cycle"], 1):
        source, target = (execution["events"][edge[end]] for end in ("source", "target"))
        by = f" ({edge['rule']})" if edge["rule"] and edge["rule"] != edge["relation"] else ""
        text = f"{edge['relation']}{by}: {_in_words(source)} before {_in_words(target)}"
        lines += paragraph(text, width, "cycle", f"  {number}. ", "     ")
    return lines


def forbidding_rules(sets: Sequence[Sequence[str]]) -> str:
    """``by R1, or by IR and PG together.``"""
    if not sets:
        return "no execution at all has these values."
    ways = [f"by {english.listed(each)}{' together' * (len(each) > 1)}" for each in sets[:MOST_RULES]]
    left = len(sets) - len(ways)
    more = f", or by {left:,} other sets of rules" if left else ""
    return f"{', or '.join(ways)}{more}."


def _in_words(event: EventObject) -> str:
    if event["thread"] is None:
        return f"the initial write {event['location']} = {event['writes']}"
    return f"{visible(event['text'])} ({shown_event(event)})" if event["text"] else shown_event(event)


# --- Two models compared ---------------------------------------------------------------------------------------------


def comparison_report(one: LitmusResult, other: LitmusResult, width: int = 80) -> list[Line]:
    """What each of the two allows that the other does not, with an execution for each outcome."""
    lines: list[Line] = []
    for result, against in ((one, other), (other, one)):
        only = [place for place, outcome in enumerate(result["outcomes"]) if outcome not in against["outcomes"]]
        surely = "" if against["complete"] else " (as far as is known)"
        lines.append([])
        if not only:
            surely_all = "" if result["complete"] else ", as far as is known"
            lines += paragraph(
                f"{result['label']} allows nothing that {against['label']} does not{surely_all}.", width, "heading"
            )
        for number in only:
            title = f"{result['label']} allows {values_text(result['outcomes'][number])}, {against['label']} does not"
            executions = result.get("executions")
            if executions:
                lines += execution_report(f"{title}{surely}:", executions[number], width)
            else:
                lines += paragraph(f"{title}{surely}.", width)
    return lines


def summary(results: Sequence[LitmusResult]) -> Line:
    """A test in a line, for many of them: whether all is as expected."""
    outcomes = [result["as_expected"] for result in results]
    models = ", ".join(result["label"] for result in results if result["as_expected"] is not None)
    file = visible(results[0]["file"])
    if False in outcomes:
        bad = english.listed([result["label"] for result in results if result["as_expected"] is False])
        return [(f"{file}: ", ""), (f"not as expected in {bad}", "bad")]
    if any(each is None and result["expected"] for each, result in zip(outcomes, results, strict=True)):
        open_ = english.listed(
            [result["label"] for result in results if result["expected"] and result["as_expected"] is None]
        )
        return [(f"{file}: ", ""), (f"open in {open_}", "open")]
    return [
        (f"{file}: ", ""),
        (f"as expected in {models}" if models else "nothing expected", "good" if models else "faint"),
    ]
