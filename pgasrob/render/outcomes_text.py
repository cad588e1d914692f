"""The readable table of outcomes: final values, how many runs have them, which no SC run has.

Drawn from the JSON object alone (`render.outcomes_json`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, cast

from pgasrob.diagnostics import visible
from pgasrob.render import english, verdict_text
from pgasrob.render.lines import UNICODE, Glyphs, Line, Segment, headline, paragraph, paragraphs, together
from pgasrob.render.source_places import is_lowered

if TYPE_CHECKING:
    from pgasrob.render.outcomes_json import OutcomeRow, OutcomesResult
    from pgasrob.render.verdict_json import Result

MOST_ROWS = 200
"""Outcomes of which all are listed; of more, those that only the network has come first."""
MOST_VALUES = 20
"""Values in one sentence."""
MOST_DIGITS = 15
"""Digits of a count that is written in full."""
ENDED = "ended"
MEANINGS = {
    "exited": "exited: some rank has ended the run of all; the others have gone on as long as they could.",
    "deadlock": "deadlock: no rank can move, and some wait at a barrier or an await that cannot be passed.",
    "stopped": "stopped: the ranks that have not ended stand before assumes that are false.",
    "fault": "fault: some rank stands before a command that cannot be evaluated.",
}
NETWORK_ONLY = "network-only"
LOWERED = (
    "Registers are those of the core program that `pgasrob show` prints for this C file. They hold what was loaded "
    "into them last: a variable of that name may have another value at its end, or share one with others. What you "
    "want to see for sure, store into memory that ranks share, or assert."
)
"""What has to be said beside final values of registers where :func:`is_lowered`."""


def outcomes_report(result: OutcomesResult, width: int = 80, glyphs: Glyphs = UNICODE) -> list[Line]:
    """``result`` in lines of at most ``width`` characters."""
    rows = result["outcomes"]
    lines = [*_headline(result, width), *_cost(result, width)]
    if rows:
        shown = _shown(rows)
        lines += [[], *_table(result, shown, width, glyphs)]
        if len(shown) < len(rows):
            left = f"{len(rows) - len(shown):,} more outcomes are not listed: --of shows the ones of some registers and"
            lines += paragraph(f"{left} cells, --format json all.", width, "open", "  ")
        same = _the_same(result)
        if same:
            lines += paragraph(same, width, "", "  ")
    return lines + paragraphs(_sentences(result), width)


def example_report(result: OutcomesResult, row: int, width: int = 80, glyphs: Glyphs = UNICODE) -> list[Line]:
    """The example run of ``row``, with its happens-before cycle where no SC run looks like it."""
    outcome = result["outcomes"][row - 1]
    witness = outcome["example"]
    assert witness is not None
    kind = "An SC run" if outcome["network_only"] is False else "A run on the network"
    # The section of a run needs the file of the result alone.
    return verdict_text.section(cast("Result", result), witness, width, glyphs, f"{kind} with outcome {row}")


def _headline(result: OutcomesResult, width: int) -> list[Line]:
    line: Line = []
    count = len(result["outcomes"])
    found = "1 outcome" if count == 1 else f"{count:,} outcomes"
    if not result["complete"]:
        line += [("unknown", "unknown"), (f", {found} so far", "heading")]
    else:
        line.append((found, "heading"))
    line.append((english.on_nodes(result["nodes"] or 0), "heading"))
    if result["complete"]:
        only = result["network_only"] or 0
        line.append((f", {only:,} {NETWORK_ONLY}" if only else f", none {NETWORK_ONLY}", "bad" if only else "heading"))
    return headline(f"{visible(result['file'])}: ", line, width)


def _cost(result: OutcomesResult, width: int) -> list[Line]:
    lines = paragraph(result["reason"], width, "", "  ") if result["reason"] else []
    stats = result["stats"]
    sc, network = result["sc_runs"], result["network_runs"]
    runs = [_runs(sc, "SC run{}")] * (sc is not None) + [_runs(network, "run{} on the network")] * (network is not None)
    states = [english.count(stats["sc_states"], "SC state"), english.count(stats["network_states"], "state")]
    cost = [*states, f"{stats['seconds']:.2f} s"]
    return lines + paragraph(", ".join(runs + cost), width, "faint", "  ")


def _runs(count: int | None, words_: str) -> str:
    return f"{count_text(count)} {words_.format('' if count == 1 else 's')}"


def count_text(count: int | None) -> str:
    """A number of runs: ``12,345``, a long one rounded down as ``1.23e45``; ``?`` when it is not known."""
    if count is None:
        return "?"
    digits = str(count)
    return f"{count:,}" if len(digits) <= MOST_DIGITS else f"{digits[0]}.{digits[1:3]}e{len(digits) - 1}"


def _shown(rows: list[OutcomeRow]) -> list[OutcomeRow]:
    """The rows that are listed, in their order."""
    if len(rows) <= MOST_ROWS:
        return rows
    first = sorted(rows, key=lambda row: (not row["network_only"], row["row"]))[:MOST_ROWS]
    return sorted(first, key=lambda row: row["row"])


# --- The table -------------------------------------------------------------------------------------------------------


def _table(result: OutcomesResult, shown: list[OutcomeRow], width: int, glyphs: Glyphs) -> list[Line]:
    """A row for each outcome, and a column for each value that is not the same in all; or a paragraph for each."""
    varying = _varying(result)
    for gap in (2, 1):
        lines = _columns(shown, varying, " " * gap, glyphs)
        if max(sum(len(text) for text, _ in line) for line in lines) <= width:
            return lines
    return [line for row in shown for line in _long_row(row, varying, width)]


def _columns(shown: list[OutcomeRow], varying: list[str], gap: str, glyphs: Glyphs) -> list[Line]:
    """The table with all values side by side, columns separated by ``gap``, whatever its width."""
    columns: list[list[Segment]] = [[("", "heading"), *((str(row["row"]), "faint") for row in shown)]]
    for name in varying:
        columns.append([(name, "heading"), *((str(row["values"][name]), "") for row in shown)])
    left = len(columns)
    texts = [_how(row) for row in shown]
    ends: list[Segment] = [("end", "heading"), *((how, "bad" if how != ENDED else "") for how in texts)]
    has_ends = any(how != ENDED for how in texts)
    columns.append([("SC runs", "heading"), *((count_text(row["sc_runs"]), "") for row in shown)])
    columns.append([("network runs", "heading"), *((count_text(row["network_runs"]), "") for row in shown)])
    widths = [max(len(text) for text, _ in column) for column in columns]
    bar = f" {glyphs.vertical}"
    lines: list[Line] = []
    for index in range(len(shown) + 1):
        line: Line = []
        for place, (column, wide) in enumerate(zip(columns, widths, strict=True)):
            # A bar after the number, and one before the counts.
            if place == 1 or (place == left and left > 1):
                line.append((bar, "faint"))
            value, style = column[index]
            line.append((f"{gap}{value:>{wide}}", style))
        if has_ends:
            line += [("  ", ""), (f"{ends[index][0]:<{max(len(how) for how, _ in ends)}}", ends[index][1])]
        if index:
            line += _mark(shown[index - 1])
        lines.append(line)
    return lines


def _mark(row: OutcomeRow) -> Line:
    if row["network_only"] is None:
        return [("  ", ""), (f"{NETWORK_ONLY}?", "open")]
    return [("  ", ""), (NETWORK_ONLY, "bad")] if row["network_only"] else []


def _long_row(row: OutcomeRow, varying: list[str], width: int) -> Iterator[Line]:
    """An outcome as a paragraph, where its values do not fit side by side."""
    counts = f"SC runs {count_text(row['sc_runs'])}, network runs {count_text(row['network_runs'])}"
    lead = f"{row['row']:>4}  "
    how = _how(row)
    yield [(lead, "faint"), (counts, ""), *([(f"  {how}", "bad")] if how != ENDED else []), *_mark(row)]
    yield from paragraph(plain_values({name: row["values"][name] for name in varying}), width, "", " " * len(lead))


def _how(row: OutcomeRow) -> str:
    """How a run of the outcome ends, and which assertions fail in it."""
    found: list[str] = [row["ending"]] if row["ending"] != ENDED or not row["failed"] else []
    by_line: dict[int, set[int]] = {}
    for each in row["failed"]:
        by_line.setdefault(each["line"], set()).add(each["rank"])
    found += [f"line {line} fails on {english.ranks(sorted(ranks))}" for line, ranks in by_line.items()]
    return ", ".join(found)


def _varying(result: OutcomesResult) -> list[str]:
    """The columns that have more than one value."""
    rows = result["outcomes"]
    names = [column["name"] for column in result["columns"]]
    return [name for name in names if len({row["values"][name] for row in rows}) > 1]


def _the_same(result: OutcomesResult) -> str:
    """The sentence on values that are the same in all outcomes; "" for none."""
    varying = set(_varying(result))
    first = result["outcomes"][0]["values"]
    values = {column["name"]: first[column["name"]] for column in result["columns"] if column["name"] not in varying}
    if not values:
        return ""
    start = "Not in the table, for all agree" if varying else "At the end of every run seen"
    return f"{start}: {final_values(values, result['nodes'] or 1, not result['chosen'])}."


def plain_values(values: dict[str, int]) -> str:
    """``r@0 = 0, r@1 = 2``."""
    return ", ".join(together(f"{name} = {value}") for name, value in values.items())


def final_values(values: dict[str, int], nodes: int, everything: bool) -> str:
    """Values by name in words: ``x = 1 on every rank, r@0 = 2; all else is 0``.

    With ``everything`` zeros are summed up like this, else listed by name. Of very many the last ones are left out.
    """
    by_name: dict[str, dict[str, int]] = {}
    for name, value in values.items():
        by_name.setdefault(name.rpartition("@")[0], {})[name] = value
    found = []
    for bare, held in by_name.items():
        if everything and not any(held.values()):
            continue
        if len(held) == nodes > 1 and len(set(held.values())) == 1:
            found.append(together(f"{bare} = {next(iter(held.values()))} on every rank"))
        else:
            found += [together(f"{name} = {value}") for name, value in held.items() if value or not everything]
    more = len(found) - MOST_VALUES
    if more > 0:
        found[MOST_VALUES:] = [f"and {more} more"]
    if not everything or all(values.values()):
        return ", ".join(found)
    return (
        f"{', '.join(found)}; {together('all else is 0')}" if found else "everything is 0" if len(values) > 1 else "0"
    )


# --- Below the table -------------------------------------------------------------------------------------------------


def _sentences(result: OutcomesResult) -> Iterator[tuple[str, str]]:
    """Remarks below the table, with styles: how runs end, faults, limits, and what network-only outcomes mean."""
    for ending in dict.fromkeys(row["ending"] for row in result["outcomes"]):
        if ending in MEANINGS:
            yield MEANINGS[ending], "faint"
    for fault in result["faults"]:
        where = {True: "met in an SC run", False: "met on the network only", None: "met in some run"}[fault["in_sc"]]
        yield f"Rank {fault['rank']} cannot evaluate line {fault['line']}: {fault['reason']} ({where}).", "bad"
    for line in result["left_out"]:
        yield (
            f"A process may also end before the command in line {line}, by an empty branch. Runs that do are not among "
            "these, for a rank that can move does: write assume(1) into the branch, and they are.",
            "open",
        )
    if is_lowered(result["file"]) and any(column["kind"] == "register" for column in result["columns"]):
        yield LOWERED, "open"
    only = [row for row in result["outcomes"] if row["network_only"]]
    if not result["complete"]:
        yield "The enumeration did not end, so there may be more outcomes.", "open"
        if not result["sc_complete"]:
            yield "Which are network-only is not known.", "open"
        yield (
            "--max-states, --timeout and --memory-limit set the limits; `pgasrob run` simulates one run at a time.",
            "open",
        )
    if only:
        them = "it" if len(only) == 1 else "them"
        reading = " when polls that fail are counted (--failed-polls count)" if result["polls"] else ""
        if result["only_compares"]:
            reading += " when values that are only compared count (--waits value)"
        runs = f"No SC run has outcome {_numbers(only)}, so no run to {them} looks like one: the program is not robust"
        runs += f"{reading}."
        yield f"{runs} --example {only[0]['row']} shows a run.", "bad"
    elif result["complete"]:
        yield (
            "That none of these outcomes is network-only does not make the program robust: a run may look like no SC "
            "run and yet end like one. `pgasrob check` decides it.",
            "",
        )


def _numbers(rows: Iterable[OutcomeRow]) -> str:
    """``2``, ``2 or 3``, ``2, 3 or 7``."""
    first = [str(row["row"]) for row in rows]
    if len(first) > MOST_VALUES:
        first = [*first[:MOST_VALUES], "another one of these"]
    return f"{', '.join(first[:-1])} or {first[-1]}" if len(first) > 1 else first[0]
