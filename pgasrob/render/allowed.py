"""Why each event of a run may happen at its place, and what it did not have to wait for, in a sentence or two.

The rules are those of the replay (`pgasrob.semantics.replay`); here they are only put into words, for a run that is
known to keep them. Drawn from the events of the JSON object alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pgasrob.program.commands import ATOMICS
from pgasrob.render import words
from pgasrob.render.run_json import Event, Queue

MOST_NAMED = 3
"""Operations on their way that are named one by one; of more the rest is counted."""
REMOTE = ("read", "write", "update", "update_from", "notify", "signal")
ARRIVING = (*REMOTE, "put")
"""What arrives at its destination in a step popb, but for a fetch."""


@dataclass
class _Operation:
    """An operation by the place of its issue, with the places of its steps."""

    issue: int
    event: Event
    steps: list[int] = field(default_factory=list)
    arrives: int | None = None

    def pending(self, place: int, complete: bool) -> bool:
        """Whether a step is to come at ``place`` or later; a run that is not ``complete`` may end before it."""
        if not complete and self.event["event"] in ARRIVING and self.arrives is None:
            return True
        return bool(self.steps) and self.steps[-1] >= place


def allowed(computation: list[Event], complete: bool = True) -> list[str]:
    """A sentence for each event of ``computation`` on why it may happen there. ``complete``: no operation is pending at
    the end."""
    pending: list[_Operation] = []
    by_name: dict[tuple[int, int], _Operation] = {}
    for place, event in enumerate(computation):
        name = (event["rank"], event["operation"])
        if event["event"] in words.STEPS:
            operation = by_name[name]
            operation.steps.append(place)
            if event["event"] == "popb":
                operation.arrives = place
        else:
            by_name[name] = _Operation(place, event)
    sentences = []
    for place, event in enumerate(computation):
        pending = [operation for operation in pending if operation.pending(place, complete)]
        operation = by_name[event["rank"], event["operation"]]
        if "access" in event:
            sentences.append("It is next here, and so is the other access: either may come first.")
            continue
        if operation.issue == place:
            sentences.append(_issued(place, event, pending, computation))
            pending.append(operation)
        else:
            sentences.append(_step(place, operation, pending, computation))
    return sentences


def _issued(place: int, event: Event, pending: list[_Operation], computation: list[Event]) -> str:
    """Why an event that is no step may happen; ``pending``: the operations of all ranks with steps to come."""
    kind = event["event"]
    own = [operation for operation in pending if operation.event["rank"] == event["rank"]]
    queue = f"in queue {event['queue']['name']}" if event["queue"] else "in its queue"
    if words.is_c(event):  # its queues are those of the front end
        queue = "that it waits for" if kind in ("wait", "wait_local") else "that it is about"
    match kind:
        case "wait":
            return f"Every earlier operation of rank {event['rank']} {queue} is complete." + _on_the_way(own)
        case "wait_local":
            read = f"What earlier operations of rank {event['rank']} {queue} read here has been read, and what they"
            return f"{read} bring here has arrived." + _on_the_way(own)
        case "barrier":
            return "Every rank has arrived. A barrier completes nothing by itself." + _on_the_way(pending)
        case "assume":
            return "Enabled because its condition is true."
        case "assert" if event["holds"] is None:
            return "The API forbids this call here; what it would do is not known."
        case "assert" if words.is_c(event):
            return "Always enabled."
        case "assert":
            return "Always enabled; the run goes on when it is false."
        case "fence":
            where = "each rank" if event["target"] is None else f"rank {event['target']}"
            return f"Always enabled: earlier writes {queue} to {where} arrive before later ones." + _on_the_way(own)
        case "assign" | "bundle":
            return "Always enabled."
        case "await" | "await_add":
            enabled = "Enabled because the cell satisfies the condition."
        case "put":
            enabled = "Always enabled: the value is copied now, and arrives later."
        case _ if kind in ATOMICS:
            enabled = "Always enabled: one event that does all of it at its cell."
        case _ if kind in REMOTE:
            return "Always enabled: issued now, its steps come later."
        case _:
            enabled = "Always enabled."
    return enabled + _not_awaited(place, event, pending, computation)


def _step(place: int, operation: _Operation, pending: list[_Operation], computation: list[Event]) -> str:
    """Why a step of ``operation`` may happen."""
    rank = operation.event["rank"]
    between = (other for other in computation[operation.issue + 1 : place] if other["rank"] == rank)
    sentence = f"Rank {rank} issued the {words.name(operation.event)} in step {operation.issue + 1}"
    if any(other["event"] not in words.STEPS for other in between):
        sentence += " and went on: nothing of it that has happened since had to wait for this step."
    else:
        sentence += " and has issued nothing since."
    return sentence + _order(place, operation, pending, computation)


def _order(place: int, operation: _Operation, pending: list[_Operation], computation: list[Event]) -> str:
    """The order of the queue, and which earlier operations of the rank the step overtakes."""
    queue, kind = operation.event["queue"], computation[place]["event"]
    overtaken = [
        other
        for other in pending
        if kind == "popb"
        and other.event["rank"] == operation.event["rank"]
        and other.issue < operation.issue
        and other.arrives is not None
        and other.arrives > place
    ]
    sentence = ""
    if queue:
        sentence = f" Queue {queue['name']} is {'unordered' if queue['unordered'] else 'FIFO'}."
        if words.is_c(operation.event):
            sentence = f" Operations like it {'have no order' if queue['unordered'] else 'keep their order'}."
        sentence += f" The step overtakes {_named(overtaken, queue)}." if overtaken else ""
    return sentence


def _not_awaited(place: int, event: Event, pending: list[_Operation], computation: list[Event]) -> str:
    """The operations on their way to the cell of ``event``."""
    where = event["address"]
    to_come = [
        operation
        for operation in pending
        if any(
            step > place and computation[step]["address"] == where and computation[step]["written"]
            for step in operation.steps
        )
    ]
    if not to_come or where is None:
        return ""
    verb = "is" if len(to_come) == 1 else "are"
    return (
        f" {_named(to_come, capital=True)} {verb} still on the way to {words.cell(where)}, and this does not wait for "
        f"{'it' if len(to_come) == 1 else 'them'}."
    )


def _on_the_way(pending: list[_Operation]) -> str:
    if not pending:
        return ""
    return f" {_named(pending, capital=True)} {'is' if len(pending) == 1 else 'are'} still on the way."


def _of_another(queue: Queue | None, than: Queue | None) -> str:
    return f" in queue {queue['name']}" if queue and than and queue["id"] != than["id"] else ""


def _named(operations: list[_Operation], queue: Queue | None = None, capital: bool = False) -> str:
    """``the write of step 4 and the put of step 6``; those of another queue than ``queue``, if given, with theirs."""
    names = [
        f"the {words.name(each.event)} of step {each.issue + 1}{_of_another(each.event['queue'], queue)}"
        for each in operations[:MOST_NAMED]
    ]
    if len(operations) > MOST_NAMED:
        names.append(f"{len(operations) - MOST_NAMED} more")
    text = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return text[0].upper() + text[1:] if capital else text
