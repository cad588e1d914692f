"""The report of a program on a network, from the JSON object alone (`network_json`)."""

from __future__ import annotations

from collections.abc import Iterator

from pgasrob.diagnostics import visible
from pgasrob.models.litmus.litmus_program import UNDEFINED
from pgasrob.render import english
from pgasrob.render.errors import error_lines
from pgasrob.render.lines import Line, headline, paragraph
from pgasrob.render.litmus_json import EdgeObject, EventObject, ExecutionObject
from pgasrob.render.network_json import NetworkResult
from pgasrob.robustness.verdict import Assertions

LABELS = {"rdma-tso": "RDMA-TSO", "corerma": "coreRMA"}
STYLES = {"refused": "unknown"}
EFFECTS: dict[str, str] = {
    "lR": "loads {location} = {reads}",
    "lW": "{location} = {writes} leaves the store buffer",
    "CAS": "{location}: {reads} becomes {writes}",
    "F": "the store buffer is empty",
    "P": "polls",
    "nlR": "the source {location} = {reads} is read",
    "nrW": "{location} = {writes} is placed",
    "nrR": "{location} = {reads} is fetched",
    "naR": "{location} = {reads} is fetched for an update",
    "naW": "{location} = {writes} is the update",
    "nlW": "{location} = {writes} lands",
    "nF": "the fence is passed",
    "r": "loads {location} = {reads}",
    "w": "stores {location} = {writes}",
    "er": "{location} = {reads} is read",
    "ew": "{location} = {writes} is written",
    "erw": "{location}: {reads} becomes {writes}",
    "flush": "waits until all is complete",
}
"""What the events of the models do (RDMA-TSO: Definition 4.1; coreRMA: Table 3)."""


ASSERTIONS: dict[Assertions, tuple[str, str, str]] = {
    "hold": (
        "Its assertions hold: every run looks like a sequentially consistent one, in which they hold.",
        "Its assertions hold in every run nevertheless.",
        "good",
    ),
    "violated": (
        "An assertion fails, even in a sequentially consistent run: `pgasrob check` shows one.",
        "An assertion fails.",
        "bad",
    ),
    "unknown": (
        "Whether its assertions hold is unknown: `pgasrob check` says why.",
        "Whether its assertions hold on the network is unknown.",
        "open",
    ),
}
"""What is known of the assertions of a robust program, the same of one that is not, and the style."""


def network_report(result: NetworkResult, width: int = 80) -> list[Line]:
    """The report of ``result`` in lines of at most ``width`` characters."""
    lines = list(network_headline(result, width))
    lines += error_lines(result["file"], result["errors"])
    note = result.get("count_note")
    if note and not note["nothing"]:  # the reason of the answer says that
        lines += paragraph(note["sentence"], width, "faint" if note["chosen"] else "open", "  ")
    if result["reason"] and result["verdict"] != "error":
        lines += paragraph(f"{english.capital(result['reason'])}.", width, "open", "  ")
    if result["refusals"]:
        lines += _refusals(result, width)
    if result["witness"] is not None:
        lines += _violation(result, result["witness"], width)
    if result["assertions"] is not None and result["verdict"] in ("robust", "not robust"):
        lines += _assertions(result, result["assertions"], width)
    if result["verdict"] in ("robust", "not robust"):
        lines += _remarks(result, width)
    return lines


def network_headline(result: NetworkResult, width: int = 80) -> list[Line]:
    """``ring.pgas: not robust on RDMA-TSO, 2 nodes (as expected)``."""
    verdict = result["verdict"]
    variant = f" {result['variant']}" if result["variant"] else ""
    rest: Line = [(verdict, STYLES.get(verdict, verdict)), (f" on {LABELS[result['network']]}{variant}", "heading")]
    if result["nodes"] is not None:
        rest.append((f", {english.count(result['nodes'], 'node')}", "heading"))
    if result["assertions"] == "violated":
        rest.append((", an assertion fails", "bad"))
    if "as_expected" in result:
        network = f"{result['network']} {result['variant']}".strip()
        right, expected = result["as_expected"], result.get("expected")
        wrong = f"expected {expected}" if expected else f"nothing expected of {network}"
        rest.append((" (as expected)" if right else f" ({wrong})", "good" if right else "bad"))
    return headline(f"{visible(result['file'])}: ", rest, width)


def _refusals(result: NetworkResult, width: int) -> list[Line]:
    count = english.count(len(result["refusals"]), "command")
    title = f"{LABELS[result['network']]} has no counterpart for {count}:"
    lines = paragraph(title, width, "", "  ")
    for refusal in result["refusals"]:
        where = f"{refusal['file']}:" if "file" in refusal else "line "
        where = f"{where}{refusal['line']}: " if refusal["line"] else ""
        lines += paragraph(f"{where}{refusal['reason']}.", width, "bad", "    ", "      ")
    return lines


def _remarks(result: NetworkResult, width: int) -> Iterator[Line]:
    if result["ranks"]:
        said = "Queues to one peer share a queue pair; what else they promise does not count here"
        if result["network"] == "corerma":
            said = "What queues promise does not count here"
        remarks = "".join(f"; {each}" for each in result["remarks"])
        yield from paragraph(f"{said}{remarks}.", width, "faint", "  ")


def _violation(result: NetworkResult, run: ExecutionObject, width: int) -> Iterator[Line]:
    """The run, and its cycle in words."""
    if not run["cycle"]:
        yield from paragraph(
            "An execution reads a value that is undefined, or leaves one: accesses race that are not atomic.",
            width, "", "  ",
        )  # fmt: skip
    else:
        yield from paragraph("No sequentially consistent run has what happens here in one order:", width, "", "  ")
        for edge in run["cycle"]:
            yield from paragraph(f"{_in_words(result, run, edge)};", width, "cycle", "    ", "      ")
        yield from paragraph("and so on round.", width, "cycle", "    ")
    yield []
    how = "The run, as it takes effect:" if run["order"] else "The execution, each thread in program order:"
    yield from paragraph(how, width, "", "  ")
    yield from _in_rows(result, run, width)


def _assertions(result: NetworkResult, known: Assertions, width: int) -> Iterator[Line]:
    robust, otherwise, style = ASSERTIONS[known]
    if result["witness"]:
        yield []
    if failed := result["failed"]:
        last = f"rank {failed['rank']}", f"line {failed['line']}", visible(failed["text"])
        yield from paragraph(f"`{last[2]}` fails at {last[0]} ({last[1]}) in this run:", width, style, "  ")
        yield from _in_rows(result, failed["run"], width, (last, "fails"))
    else:
        yield from paragraph(robust if result["verdict"] == "robust" else otherwise, width, style, "  ")


Row = tuple[str, str, str]
"""Who does something, where, and the text."""


def _in_rows(
    result: NetworkResult, run: ExecutionObject, width: int, last: tuple[Row, str] | None = None
) -> Iterator[Line]:
    """The events of ``run``, a line each, and a ``last`` line with what happens there."""
    events = run["events"]
    own = run["order"] or [number for number, event in enumerate(events) if event["thread"] is not None]
    own = [number for number in own if events[number]["thread"] is not None]
    on_cycle = {end for edge in run["cycle"] for end in (edge["source"], edge["target"])}
    rows: list[tuple[Row, str, str]] = [
        (
            (_who(result, run, events[number]), _where(events[number]), _text(events[number])),
            effect(events[number]),
            "cycle" if number in on_cycle else "",
        )
        for number in own
    ]
    if last is not None:
        rows.append((*last, "bad"))
    wide = [min(max(len(row[column]) for row, _, _ in rows), width // 2) for column in range(3)]
    for row, does, style in rows:
        cells = "".join(f"{text:<{size}}  " for text, size in zip(row, wide, strict=True))
        yield [(f"    {cells}{does}", style)]


def effect(event: EventObject) -> str:
    """What an event does, in words."""
    kind, _, plain = event["kind"].partition(".")
    location = event["location"] or ""
    if location.startswith("$"):
        location = "the copy"
    text = EFFECTS[kind].format(location=location, reads=_value(event["reads"]), writes=_value(event["writes"]))
    return f"{text} (not atomic)" if plain else text


def _value(value: object) -> str:
    return "undefined" if value == UNDEFINED else str(value)


def _who(result: NetworkResult, run: ExecutionObject, event: EventObject) -> str:
    thread = event["thread"]
    assert thread is not None
    if result["ranks"]:
        return f"rank {thread}"
    node = run["threads"][thread]["node"]
    alone = sum(each["node"] == node for each in run["threads"]) == 1
    return f"node {node}" if alone else f"thread {thread + 1}"


def _where(event: EventObject) -> str:
    return f"line {event['line']}" if event["line"] else ""


def _text(event: EventObject) -> str:
    return visible(event["text"])


def _in_words(result: NetworkResult, run: ExecutionObject, edge: EdgeObject) -> str:
    """Why one event of the cycle comes before another, by the relation of the edge."""
    first, second = run["events"][edge["source"]], run["events"][edge["target"]]
    one, other = (_command(result, run, event) for event in (first, second))
    location = first["location"] or second["location"]
    match edge["relation"]:
        case "rf":
            return f"{one} writes {location}, which {other} reads"
        case "mo":
            return f"{one} writes {location} before {other} does"
        case "rb":
            return f"{one} reads {location} before {other} writes it"
    return f"{one} comes before {other} in the program"


def _command(result: NetworkResult, run: ExecutionObject, event: EventObject) -> str:
    where = f"line {event['line']}, " if event["line"] else ""
    return f"{_who(result, run, event)} ({where}`{_text(event)}`)"
