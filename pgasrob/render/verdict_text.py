"""The report of one verdict: the verdict, what is known of assertions, and the runs that show it.

Drawn from the JSON object alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from pgasrob.diagnostics import blank, visible
from pgasrob.program.statements import place_of
from pgasrob.render import (
    assumptions_text,
    english,
    every_count_text,
    hardware_text,
    store_buffers_text,
    synchronised_json,
    synchronised_text,
    words,
)
from pgasrob.render.barriers_waited_at import mismatch
from pgasrob.render.errors import error_lines
from pgasrob.render.lines import UNICODE, Glyphs, Line, headline, paragraph, paragraphs, together, wrap
from pgasrob.render.rows import every_event, in_short
from pgasrob.render.run_json import Event, Fault, Standing, Witness, processes_of
from pgasrob.render.run_table import MARK, table
from pgasrob.render.strict_waits_json import because as stuck_because
from pgasrob.render.verdict_json import Result
from pgasrob.robustness.reasons import InternalError, NothingChecked
from pgasrob.robustness.verdict import RECORDED

MOST_INITIAL, MOST_ELEMENTS = 20, 8
"""Initial values, and elements of an array among them, up to which all are listed."""
PAIRS = re.compile(r"(?<=\bstep|\brank|\bline) (?=\d)| (?==)|(?<==) ")
"""Blanks at which a sentence is not broken: `step 7`, `x@0 = 1`."""
NO_COMMUNICATION = "No rank accesses the memory of another one: is the program meant for this node count?"
LIMITS = "--max-states, --timeout and --memory-limit set the limits."


def verdict_report(
    result: Result,
    width: int = 80,
    glyphs: Glyphs = UNICODE,
    list_assumptions: bool = False,
    full: bool = False,
    further: Sequence[Line] = (),
) -> list[Line]:
    """The report of ``result`` in lines of at most ``width`` characters (a long line of the source may be longer).

    ``list_assumptions``: name all that it rests on, not only what is special to the program. ``full``: show every event
    of the runs. ``further``: what is said beside the verdict.
    """
    lines = _headline(result, width)
    whole = synchronised_text.is_whole(result)
    known = list(sentences(result, assumed=not list_assumptions, lines=not whole))
    if whole:
        notes = [*_count_note(result)]  # they qualify the headline
        known = [each for each in known if each not in notes]
        lines += paragraphs(notes, width)
        lines += synchronised_text.section(result, width)
    elif words.diagnosis(result["witness"]):
        lines += paragraphs([known.pop(0)], width)
    lines += _cost(result, width)
    lines += error_lines(result["file"], result["errors"])
    lines += paragraphs(known, width)
    if on_tso := result.get("on_tso"):
        about_tso = store_buffers_text.sentence(on_tso, result["verdict"], result["waits"])
        lines += paragraph(
            PAIRS.sub("\u00a0", about_tso), width, "bad" if result["verdict"] == "not robust" else "", "  "
        )
    lines += hardware_text.section(result.get("hardware", []), width, list_assumptions)
    lines += further
    if asked := result.get("why"):
        lines += paragraph(f"{english.capital(english.lines(asked['lines']))}:", width, "heading", "  ")
        for sentence in asked["sentences"]:
            lines += paragraph(PAIRS.sub("\u00a0", sentence), width, "", "    ")
    if list_assumptions:
        lines += assumptions_text.listed(result, width)
    if on_tso:
        lines += store_buffers_text.run_section(on_tso, width)
    for witness in _witnesses(result):
        lines += [[], *section(result, witness, width, glyphs, full=full)]
    return lines


def _headline(result: Result, width: int) -> list[Line]:
    line = synchronised_text.headline(result)
    if "as_expected" in result:
        wrong = words.not_as_expected(result)
        line.append((wrong, "bad") if wrong else (" (as expected)", "good"))
    file = f"{visible(result['file'])}: "
    # A verdict on so many nodes stands beside a long path, too.
    is_short = line[0][0] == result["verdict"] and len(line) == 2 + ("as_expected" in result)
    return [[(file, "heading"), *line]] if is_short else headline(file, line, width)


def _cost(result: Result, width: int) -> list[Line]:
    """What the search cost, and the reason when there is no answer."""
    lines: list[Line] = []
    fault = result["witness"] and result["witness"]["fault"]
    follows = fault or (result["verdict"] == "error" and result["errors"])
    if result["reason"] and not follows:
        asked = result.get("synchronised")
        said = f"{synchronised_json.NOTHING}: " if asked and asked["whole"] and asked["nothing"] else ""  # above
        lines += paragraph(result["reason"].removeprefix(said), width, "", "  ")
    stats = result["stats"]
    if stats["seconds"]:
        lines += paragraph(words.cost(result), width, "faint", "  ")
    if alike := result.get("alike"):
        lines += paragraph(words.alike(alike), width, "faint", "  ")
    return lines


def sentences(result: Result, assumed: bool = True, lines: bool = True) -> Iterator[tuple[str, str]]:
    """What is known of robustness, assertions and deadlocks, in sentences with styles: the diagnosis of a violation
    first, the assumptions last (if ``assumed``). Where it was asked whether the program is correctly synchronised, the
    ``lines`` of that come first.

    What SC stands for is said where it comes first.
    """
    whole = synchronised_text.is_whole(result)
    of_lines = synchronised_text.sentences(result) if whole and lines else ()
    asked = [
        (f"{english.capital(text).removesuffix('.')}.", synchronised_text.STYLES[line["answer"]])
        for text, line in of_lines
    ]
    yield from english.spelled_out((*asked, *(_beside_the_lines if whole else _sentences)(result, assumed)))


def _sentences(result: Result, assumed: bool) -> Iterator[tuple[str, str]]:
    """The sentences of `sentences`, with SC not spelled out."""
    robust, assertions, deadlock = result["verdict"] == "robust", result["assertions"], result["deadlock"]
    if late := words.diagnosis(result["witness"]):
        yield late, "bad"
    yield from _count_note(result)
    if robust:
        if result["engine"] == RECORDED:
            yield "The recorded run, and each that differs from it in what nothing orders, looks like an SC run.", ""
            yield english.NOT_RECORDED, "open"
        else:
            where = english.capital(every_count_text.on(result).lstrip())
            but = ", but for polls that fail," if result.get("polls") else ""
            known = f": {every_count_text.how(result)}" if every_count_text.is_about_all(result) else ""
            if "proved_from" in result:
                known = f": proved for every number of nodes from {result['proved_from']} on"
            yield f"{where} every run on the network{but} looks like an SC run{known}.", ""
            if result.get("one_block") and not known:
                yield every_count_text.OPTION, "faint"
        if result["communicates"] is False and "count_note" not in result:
            yield NO_COMMUNICATION, "open"
    yield from every_count_text.what_is_known(result)
    if result["verdict"] == "unknown" and not every_count_text.is_about_all(result):
        ended = result.get("reason_code") in (InternalError.code, NothingChecked.code)
        left = [] if ended else ["The search did not end, so this says nothing about robustness."]
        left += [LIMITS] * bool(result.get("limit"))
        if left:
            yield " ".join(left), "open"
    yield from _effect(result)
    good = [every_count_text.HOLD] * (assertions == "hold")
    good += [every_count_text.NO_DEADLOCK] * (deadlock is False and not words.deadlocks_on_the_network(result))
    all_counts = every_count_text.is_about_all(result)
    where = f"{english.capital(every_count_text.on(result).lstrip())}, in" if all_counts else "In"
    if good and robust:
        yield f"{where} every run on the network {' and '.join(good)}.", "good"
    elif good:
        others = (
            "" if words.looked_at_the_network(result) else " This says nothing about the other runs on the network."
        )
        yield f"{where} every SC run {' and '.join(good)}.{others}", "good"
    if assertions == "violated":
        where = every_count_text.where(result, result["assertion_run"]) if result["assertion_run"] else ""
        yield f"An assertion fails{where}, already in an SC run (below).", "bad"
    if deadlock is True:
        why = ": ranks stand before barriers, or other collective calls, that do not match"
        why = why if mismatch(result["deadlock_run"]) else ""
        where = every_count_text.where(result, result["deadlock_run"]) if result["deadlock_run"] else ""
        by = stuck_because(result.get("deadlock_by", []))
        yield f"There is a deadlock{where}{by}, already in an SC run (below){why}.", "bad"
    if every_count_text.is_about_all(result):
        yield from every_count_text.facts(result)
    yield from synchronised_text.beside_robustness(result)
    of_assertions, of_deadlocks = every_count_text.left_open(result)
    open_ = ["whether a command faults"] * (result.get("faults") == "unknown")
    open_ += ["whether the assertions hold"] * of_assertions + ["whether there is a deadlock"] * of_deadlocks
    if open_:
        more = f" --{result['limit']} sets the limit." if robust and result.get("limit") else ""
        yield f"Not all SC runs were seen, so it is unknown {english.listed(open_)}.{more}", "open"
    yield from _assumptions(result, assumed)


def _beside_the_lines(result: Result, assumed: bool) -> Iterator[tuple[str, str]]:
    """What the lines of whether a program is correctly synchronised do not say."""
    yield from _count_note(result)
    if result["communicates"] is False and "count_note" not in result:
        yield NO_COMMUNICATION, "open"
    if every_count_text.is_about_all(result):
        if result["verdict"] == "robust":
            yield f"{english.capital(every_count_text.how(result))}.", ""
        yield from every_count_text.what_is_known(result)
        found = result.get("synchronised")
        if found and any(line["line"] in ("progress", "assertions") for line in found["lines"]):
            yield from every_count_text.facts(result)
    if result.get("limit"):
        yield LIMITS, "open"
    yield from _effect(result)
    yield from _assumptions(result, assumed)


def _count_note(result: Result) -> Iterator[tuple[str, str]]:
    """Why the program is not meant for its number of nodes, or why that was chosen."""
    note = result.get("count_note")
    if note and not note["nothing"]:  # the reason of the answer says that
        yield note["sentence"], "faint" if note["chosen"] else "open"


def _effect(result: Result) -> Iterator[tuple[str, str]]:
    """What a violation means for outcomes."""
    if meaning := words.effect(result):
        yield meaning, "open" if result.get("effect") in ("none found", "none") else "bad"


def _assumptions(result: Result, assumed: bool) -> Iterator[tuple[str, str]]:
    """What the verdict rests on, in a sentence."""
    if assumed and (rests_on := assumptions_text.sentence(result)):
        yield rests_on, "faint"


def _witnesses(result: Result) -> Iterator[Witness]:
    """The runs to show: a violation or fault first, then those of the assertion and the deadlock. Of a violation with
    an effect, the run that ends in it, which begins with the violation as a rule."""
    first = words.own_run(result)
    if further := words.effect_run(result):
        yield further
    if first and first["shows"] in ("violation", "fault"):
        yield first
    for run in (result["assertion_run"], result["deadlock_run"]):
        if run:
            yield run
    yield from islice(words.illegal_call_runs(result), 1)
    yield from words.race_runs(result)


def section(
    result: Result, witness: Witness, width: int, glyphs: Glyphs, title: str = "", full: bool = True
) -> list[Line]:
    """A run with its ``title``, table (of every event if ``full``), legend, and what it shows."""
    lines: list[Line] = []
    if witness["fault"]:
        lines += _fault(result["file"], witness["fault"], witness, width)
    lines += paragraph(f"{title or words.title(witness)}:", width, "heading")
    lines += paragraph(initially(witness), width, "", "  ")
    if witness["computation"]:
        lines += table(witness, width, glyphs, full)
    lines += _legend(witness, width, full)
    if witness["cycle"]:
        lines += _cycle(witness, width)
    if witness["cycle_type"] is not None:
        lines += _marked_word(witness, width, glyphs)
    simulated = witness["shows"] == "run"
    if words.stands(witness) or (simulated and not all(rank["ended"] for rank in witness["standing"])):
        lines += _standings(witness["standing"], width)
    return lines


def initially(witness: Witness) -> str:
    """The initial values of all memory that is not 0 at the beginning."""
    by_name: dict[str, dict[int, list[int]]] = {}
    single = "unknown" in witness  # of a recorded run a few elements are there
    for cell in witness["memory"]:
        name = cell["name"] if single else cell["name"].partition("[")[0]
        by_name.setdefault(name, {}).setdefault(cell["rank"], []).append(cell["value"])
    arrays = {cell["name"].partition("[")[0] for cell in witness["memory"] if "[" in cell["name"] and not single}
    values = [
        together(text)
        for name, held in by_name.items()
        if any(map(any, held.values()))
        for text in _values(name, held, name in arrays, not single or len(held) == witness["nodes"])
    ]
    if len(values) > MOST_INITIAL:
        values[MOST_INITIAL:] = [f"and {len(values) - MOST_INITIAL} more that the program declares"]
    start = "" if witness["computation"] else "No command has been issued. "
    # What a C program initialises and nobody changes is no cell: it is a number in the calls.
    shown = " that is shown" if any(map(words.is_c, witness["computation"])) else ""
    if not values:
        return f"{start}Initially everything{shown} is 0."
    return f"{start}Initially {', '.join(values)}; all else{shown} is 0."


def _values(name: str, held: dict[int, list[int]], array: bool, on_all: bool) -> list[str]:
    """The values of ``name`` by rank, in one text when all ranks have the same (and all are known: ``on_all``)."""
    first = next(iter(held.values()))
    if on_all and all(values == first for values in held.values()):
        return [f"{name} = {_value(first, array)} on every rank"]
    return [f"{name}@{rank} = {_value(values, array)}" for rank, values in held.items() if any(values)]


def _value(values: list[int], array: bool) -> str:
    """The value of memory as a declaration has it: the zeros at the end of an array are left out, and of a long one the
    middle."""
    if not array:
        return str(values[0])
    used = max((place + 1 for place, value in enumerate(values) if value), default=0)
    shown = [str(value) for value in values[:used]]
    if used > MOST_ELEMENTS:
        shown[MOST_ELEMENTS - 2 : -1] = ["..."]
    return f"{{{', '.join(shown)}}}"


def _legend(witness: Witness, width: int, full: bool) -> list[Line]:
    """A paragraph that explains the marks, folded events, steps and cells of the table of a run."""
    events = witness["computation"]
    legend = []
    if witness["cycle"]:
        legend.append(f"{MARK} marks the steps of a happens-before cycle.")
    if witness["shows"] in ("race", "order"):
        legend.append(f"{MARK} marks the two accesses that race.")
    if not full and any(row.folded for row in in_short(witness)):
        what = "cycle does not need" if witness["cycle"] else "race is not about"
        legend.append(f"Events that the {what} are folded (--full shows them).")
    if any(event["event"] in words.STEPS for event in events):
        legend += steps_in(events)
    if cell_name := _of_a_rank(witness, full):
        legend.append(cell_name)
    silent = sorted(set(processes_of(witness)) - {event["rank"] for event in events})
    if silent and events:
        legend.append(f"{english.ranks(silent).capitalize()} {'has' if len(silent) == 1 else 'have'} no event here.")
    return paragraph(" ".join(legend), width, "faint", "  ") if legend else []


def _of_a_rank(witness: Witness, full: bool) -> str:
    """A sentence that explains the notation `x@1` on a cell of the table, if possible one of another rank with a short
    name."""
    events = witness["computation"]
    rows = every_event(witness) if full else in_short(witness)
    shown = [events[place] for row in rows if not row.folded for place in row.places]
    cells = [(event["address"], event["rank"]) for event in shown if not words.is_hidden(event["address"])]
    found = [(address["rank"] == rank, address) for address, rank in cells if address]
    if not found:
        return ""
    _, address = min(found, key=lambda each: (each[0], len(each[1]["name"])))
    name, rank = visible(address["name"]), address["rank"]
    return f"{together(f'{name}@{rank}')} is {together(name)} of {together(f'rank {rank}')}."


def steps_in(events: list[Event]) -> list[str]:
    """Sentences that explain the steps popa to popd of a table; nothing for a C program, whose rows use its own
    words."""
    if any(map(words.is_c, events)):
        return []
    steps = {event["event"] for event in events if event["event"] in words.STEPS}
    updates = any(event["event"] in words.UPDATING for event in events)
    if updates:
        found = ["popa fetches an operand, or what a fetch is for; popb writes at the destination or updates it."]
    else:
        found = ["popa fetches the value of a read or write from its source, popb puts it at its destination."]
    if "popd" in steps:
        found.append("popd fetches what a compare_swap expects.")
    if "popc" in steps:
        found.append("popc brings what the target held to the result.")
    return found


# --- Around the table ------------------------------------------------------------------------------------------------


def _cycle(witness: Witness, width: int) -> list[Line]:
    """The cycle edge by edge, each with its relation."""
    lines: list[Line] = [[], *paragraph(store_buffers_text.CYCLE_TITLE, width, "heading")]
    cycle = words.from_conflict(witness["cycle"] or [], witness["computation"])
    for edge, sentence in zip(cycle, words.cycle(cycle, witness["computation"]), strict=True):
        first, *rest = wrap(PAIRS.sub("\u00a0", sentence), width - 6)
        lines.append([(f"  {edge['relation']}  ", "cycle"), (first, "")])
        lines += [[("      " + text, "")] for text in rest]
    return [*lines, [(f"  {words.contradiction(cycle)}", "")]]


def _marked_word(witness: Witness, width: int, glyphs: Glyphs) -> list[Line]:
    """The word of Y^M as in the paper's Example 15, `|` between the parts of the normal form."""
    letters = []
    part = 1
    of_violation = [event for event in witness["computation"] if event["part"] is not None]
    for event in of_violation:
        bars = (event["part"] or part) - part
        part += bars
        marks = f"{{{','.join(event['marks'])}}}" if event["marks"] else glyphs.empty
        letter = together(f"({event['event']}{glyphs.subscript(event['rank'])}, {marks})")
        letters.append("| " * bars + letter)
    ranks = " ".join(str(rank) for rank in witness["cycle_type"] or ())
    same = "The same" if len(of_violation) == len(witness["computation"]) else f"Steps 1 to {len(of_violation)}"
    title = f"{same} as a marked computation in normal form, with cycle type {ranks}:"
    names = [glyphs.tau + glyphs.subscript(number) for number in range(1, part + 1)]
    parts = f"{' | '.join(names)} are the parts" if names[1:] else f"{names[0]} is the only part"
    legend = (
        f"{parts} of the normal form. enter and leave mark where the cycle enters and leaves each rank; the cycle type "
        "is the order of the ranks."
    )
    lines: list[Line] = [[], *paragraph(title, width, "heading"), *paragraph(" ".join(letters), width, "", "  ")]
    return lines + paragraph(legend, width, "faint", "  ")


def _fault(file: str, fault: Fault, witness: Witness, width: int) -> list[Line]:
    """The lines about a command that cannot be evaluated: its source line and the registers of its rank."""
    other, line = place_of(fault["line"])
    source = (witness.get("sources", {}).get(other, "") if other else witness["source"]).splitlines()
    written = source[line - 1].rstrip() if 0 < line <= len(source) else ""
    excerpt = written.lstrip()
    lead = excerpt[: max(0, fault["column"] - 1 - (len(written) - len(excerpt)))]
    carets = "^" * max(1, min(fault.get("length") or len(excerpt), len(excerpt) - len(lead)))
    command = "" if fault["command"] in excerpt else f"The command is {together(fault['command'])}. "
    held = {name: value for name, value in fault["registers"].items() if name not in witness["temporaries"]}
    values = ", ".join(together(f"{name} = {value}") for name, value in held.items())
    return [
        *paragraph(words.fault(file, fault), width, "bad", "", "    "),
        [(f"{line:>6} | ", "faint"), (excerpt, "")],
        [(f"{'':>6} | ", "faint"), (blank(lead) + carets, "bad")],
        *paragraph(f"{command}Registers of rank {fault['rank']}: {values or 'none'}.", width, "", "  "),
        [],
    ]


def _standings(ranks: list[Standing], width: int) -> list[Line]:
    lines: list[Line] = [[], [("Where each rank stands:", "heading")]]
    for rank in ranks:
        lines += paragraph(words.standing(rank, ranks), width, "", f"  rank {rank['rank']} ", "    ")
    return lines
