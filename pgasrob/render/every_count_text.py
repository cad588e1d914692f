"""What is known for all numbers of nodes, in sentences (`check --nodes all`)."""

from __future__ import annotations

from collections.abc import Iterator

from pgasrob.diagnostics import visible
from pgasrob.program.expressions import MOST_NODES
from pgasrob.program.statements import place_of
from pgasrob.render.english import capital, listed, on_nodes
from pgasrob.render.every_count_json import Place
from pgasrob.render.run_json import Witness
from pgasrob.render.verdict_json import Result
from pgasrob.robustness.reasons import NothingChecked, NotProved

HOLD, NO_DEADLOCK = "the assertions hold", "there is no deadlock"
OPTION = "--nodes all asks about every number of nodes."


def is_about_all(result: Result) -> bool:
    """Whether the answer is one about every number of nodes."""
    return result["nodes"] == "all"


def checked(result: Result) -> str:
    """The numbers of nodes that were checked and on which the program is robust, "" when there are none."""
    counts = [each["nodes"] for each in result.get("checked", []) if each["verdict"] == "robust"]
    if not counts:
        return ""
    return f"{counts[0]}..{counts[-1]}" if len(counts) > 1 else str(counts[0])


def where(result: Result, run: Witness) -> str:
    """`` on 3 nodes``: where ``run`` was found; "" where the result is about one number of nodes."""
    return on_nodes(run["nodes"]) if is_about_all(result) else ""


def how(result: Result) -> str:
    """The clause that says by which checks and which proof a program is robust on every number of nodes."""
    join = ";" if "only" in result else ","
    return f"checked on {checked(result)}{join} {_proved(result)}"


def on(result: Result) -> str:
    """`` on 3 nodes``, `` on every number of nodes``: without those too few nodes on which the program is in error."""
    return on_nodes(result["nodes"] or 0) + (f" from {result['least']} on" if "least" in result else "")


def leaving(result: Result) -> str:
    """The clause that says on which numbers of nodes every rank leaves at once; "" where that is on none."""
    if "only" not in result:
        return ""
    only = result["only"]
    file, line = place_of(only["line"])
    where = f"line {line}{f' of {visible(file)}' if file else ''}, `{visible(only['text'])}`"
    return f"on all other numbers of nodes every rank leaves in {where}, before it communicates"


def _proved(result: Result) -> str:
    if "only" in result:
        return leaving(result)
    most = result.get("most_nodes", MOST_NODES)
    up_to = "on" if most == MOST_NODES else f"to {most:,}, which are all that the API has"
    views = " (with views of two ranks)" if result.get("views") else ""
    return f"proved from {result.get('cutoff')} {up_to}{views}"


def what_is_known(result: Result) -> Iterator[tuple[str, str]]:
    """Sentences with styles for a program without a proof for every number of nodes: on which numbers it is known to be
    robust, and what was in the way of a proof."""
    known = checked(result)
    nothing = result.get("reason_code") == NothingChecked.code
    if "proved" not in result or result["verdict"] == "robust" or nothing:
        return
    if result["verdict"] != "unknown":
        if known:
            yield f"It is robust on {known} nodes.", ""
        if "only" in result:
            yield f"{capital(leaving(result))}.", ""
        return
    beyond = _proved(result) if result["proved"] else "not proved beyond"
    yield (f"Robust on {known} nodes; {beyond}." if known else "Not proved for any number of nodes."), "open"
    given = int(result["reason_code"] == NotProved.code)  # the first obstacle is the reason then
    for obstacle in result.get("obstacles", [])[given:]:
        yield f"Besides, {obstacle['sentence']}.", "open"


def facts(result: Result) -> Iterator[tuple[str, str]]:
    """Sentences with styles about assertions and deadlocks: what holds on the checked numbers of nodes, and what was in
    the way of a proof for the others."""
    counts = [each for each in result.get("checked", []) if each["verdict"] == "robust"]
    claims = result.get("assertions_beyond", []) if result["assertions"] == "unknown" else []
    deadlock = result.get("deadlock_beyond") if result["deadlock"] == "unknown" else None
    hold = all(each["assertions"] in ("hold", None) for each in counts)
    good = [HOLD] * (result["assertions"] == "unknown" and hold)
    good += [NO_DEADLOCK] * (
        result["deadlock"] == "unknown" and all(each["deadlock"] in (False, None) for each in counts)
    )
    if good and counts:
        yield f"On {checked(result)} nodes, in every run on the network {' and '.join(good)}.", "good"
    if any(claim["open"] for claim in claims) and hold:
        proved = [claim["place"] for claim in claims if claim["place"] and not claim["open"]]
        if proved:
            yield f"On every number of nodes {listed([*map(_place, proved)])} hold{'s' * (len(proved) == 1)}.", "good"
    whys = [claim["open"] for claim in (*claims, deadlock) if claim and claim["open"]]
    if whys:
        yield f"Not proved beyond: {'; '.join(whys)}.", "open"


def _place(place: Place) -> str:
    file, line = place_of(place["line"])
    return f"`{place['command']}` in line {line}{f' of {file}' if file else ''}"


def left_open(result: Result) -> tuple[bool, bool]:
    """Whether assertions, and deadlocks, are undecided on some checked number of nodes."""
    if not is_about_all(result):
        return result["assertions"] == "unknown", result["deadlock"] == "unknown"
    counts = result.get("checked", [])
    return any(each["assertions"] == "unknown" for each in counts), any(
        each["deadlock"] == "unknown" for each in counts
    )
