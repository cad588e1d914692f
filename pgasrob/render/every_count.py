"""What is known of every number of nodes, in words (`check --nodes all`)."""

from __future__ import annotations

from collections.abc import Iterator

from pgasrob.program.expressions import MOST_NODES
from pgasrob.render.english import capital, on_nodes
from pgasrob.render.json import Result, Witness
from pgasrob.robustness.reasons import NotProved

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
    """`` on 3 nodes``: where ``run`` was found; nothing where the answer itself is about one number of nodes."""
    return on_nodes(run["nodes"]) if is_about_all(result) else ""


def how(result: Result) -> str:
    """How it is known that a program is robust on every number of nodes."""
    return f"checked on {checked(result)}, {_proved(result)}"


def _proved(result: Result) -> str:
    most = result.get("most_nodes", MOST_NODES)
    up_to = "on" if most == MOST_NODES else f"to {most:,}, which are all that the API has"
    views = " (with views of two ranks)" if result.get("views") else ""
    return f"proved from {result.get('cutoff')} {up_to}{views}"


def what_is_known(result: Result) -> Iterator[tuple[str, str]]:
    """What is known where every number of nodes was asked about and not all is known, and what is in the way of the
    rest, each sentence with a style."""
    known = checked(result)
    if "proved" not in result or result["verdict"] == "robust":
        return
    if result["verdict"] != "unknown":
        if known:
            yield f"It is robust on {known} nodes.", ""
        return
    beyond = _proved(result) if result["proved"] else "not proved beyond"
    yield (f"Robust on {known} nodes; {beyond}." if known else "Not proved for any number of nodes."), "open"
    told = int(result["reason_code"] == NotProved.code)  # the first obstacle is the reason then
    for obstacle in result.get("obstacles", [])[told:]:
        yield f"Besides, {obstacle['sentence']}.", "open"


def what_is_left_out(result: Result) -> str:
    """That facts of SC runs are known for the numbers that were checked alone, "" when there are no such facts."""
    facts = ["assertions"] * (result["assertions"] is not None) + ["deadlocks"] * (result["deadlock"] is not None)
    if not facts or not checked(result):
        return ""
    told = capital(" and ".join(facts))
    return f"{told} were looked at on {checked(result)} nodes alone: they are no part of the proof."
