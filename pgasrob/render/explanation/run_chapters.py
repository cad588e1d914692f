"""The chapters about one computation: the program, the run, happens-before, sigma, the normal form."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from pgasrob.render import english, words
from pgasrob.render.english import count
from pgasrob.render.explanation.blocks import (
    MOST_ROWS,
    Block,
    Drawing,
    Points,
    Remark,
    Rows,
    ShownRun,
    Subject,
    Text,
    steps,
    witness_of,
)
from pgasrob.render.run_json import Event
from pgasrob.robustness.explanation.reordering import Moved, Reordering, commands_in_order
from pgasrob.semantics.accesses import access_of, conflict
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import ReplayedEvent

LARGEST_AUTOMATON = 40
"""States up to which a control automaton is shown."""
MOST_CONFLICTS = 12


def program(subject: Subject) -> Iterator[Block]:
    instance, name = subject.instance, subject.explanation.verdict.program
    called = f"Program {name}" if name else "The program"
    yield Text(
        f"{called} runs on {count(instance.nodes, 'node')}, {english.ranks(list(range(instance.nodes)))}. What a rank "
        "does is a finite automaton: its transitions are commands, and every state is final, so that a run may stop "
        f"anywhere (section 2.2 of the paper, whose numbers stand in brackets here).{_cell_names(subject)}"
    )
    verdict = subject.explanation.verdict
    if not subject.is_decided:
        yield Text(f"{subject.no_run.text} {english.capital(str(verdict.reason or ''))}".rstrip(". ") + ".")
    for graph in subject.explanation.control:
        states, transitions = len(graph.nodes), len(graph.edges)
        size = f"{count(states, 'state')}, {count(transitions, 'transition')}"
        if states > LARGEST_AUTOMATON:
            yield Remark(
                f"{english.capital(graph.title)}: {size}, too large to show. `pgasrob show --stage control` has it."
            )
            continue
        yield Drawing(graph, f"{english.capital(graph.title)}: {size}")
    yield from _commands(subject)


def _cell_names(subject: Subject) -> str:
    instance = subject.instance
    if not instance.size:
        return ""
    rank = instance.nodes - 1
    cell = instance.cell_name(rank * instance.size)
    return f" Every node has a copy of the memory; {cell} is the cell {cell.rpartition('@')[0]} of rank {rank}."


def _commands(subject: Subject) -> Iterator[Block]:
    """What the commands of the program do that act later or can be blocked."""
    kinds: set[str] = {edge.command.kind for automaton in subject.instance.automata for edge in automaton.transitions}
    points = [(kind, text) for kind, text in COMMANDS if kind in kinds]
    if points:
        yield Text("Not every command has its effect when it is issued, and some are not always enabled:")
        yield Points(points)


COMMANDS = (
    ("write", "puts a request into a queue. Later its step popa reads the cell here, and later still its step popb "
              "writes the cell at the rank it names."),
    ("read", "puts a request into a queue. Later its step popa reads the cell at the rank it names, and later still "
             "its step popb writes the cell here."),
    ("put", "reads the cell here at once; later its step popb writes the cell at the rank it names."),
    ("update", "updates a cell at the rank it names later, by its step popb; popc brings the result later still, if "
               "there is one."),
    ("update_from", "is an update whose operand is in memory: popa reads it, popb updates (a fetch has no popb), popc "
                    "brings the result if there is one; popd reads what a compare_swap expects."),
    ("notify", "updates a cell by its step popb, after earlier writes to the same rank: those of its queue, for a "
               "notify_all those of every queue."),
    ("bundle", "does nothing by itself: a later signal comes after what this rank issues from here on, and need not "
               "come after what it has issued before."),
    ("signal", "updates a cell by its step popb, after all steps of the operations that this rank has issued since its "
               "latest bundle, or since its beginning when there is none."),
    ("wait", "is enabled when all steps of this rank's earlier operations in its queue have happened."),
    ("wait_local", "is enabled when the sources of this rank's earlier operations in its queue have been read, and "
                   "what they bring here has arrived."),
    ("assume", "is enabled when its condition holds; an `if` or `while` is a choice of two."),
    ("await", "is enabled when the cell satisfies the condition."),
    ("await_add", "is enabled when the cell satisfies the condition, and adds to it."),
    ("fence", "puts later writes of its queue behind the earlier ones to the same rank."),
    ("barrier", "happens when all ranks stand before one. It completes no operation."),
    ("exit", "is never issued: when a rank stands before it, the run may end there for all ranks."),
)  # fmt: skip


def computation(subject: Subject) -> Iterator[Block]:
    explained = subject.explanation
    if explained.run is None:
        yield subject.no_run
        return
    events = subject.events(explained.run)
    number = f"{count(len(events), 'event')} of {count(len(_groups(subject)), 'command')}"
    if explained.origin == "delayed run":
        yield Text(f"The program is robust, so any computation would do. This one has {number}{_lateness(subject)}.")
    else:
        found = {
            "product": "the paper's procedure (chapter 8), whose words are in normal form already",
            "check": "the search behind `pgasrob check`, whose runs are in normal form already",
        }[explained.origin]
        yield Text(
            f"The program is not robust. Here is a violating computation of {number}. It was found by "
            f"{found}{_changes(subject)}."
        )
    shown = subject.result(explained.run)
    yield ShownRun(shown)
    going = [rank["rank"] for rank in witness_of(shown)["standing"] if not rank["ended"]]
    if going:
        verb = "has" if len(going) == 1 else "have"
        yield Text(
            f"{english.capital(english.ranks(going))} {verb} not ended, and need not have: every state is final."
        )
    yield from _delays(subject, events)


def _groups(subject: Subject) -> list[list[int]]:
    assert subject.explanation.run is not None
    return commands_in_order(subject.explanation.run.computation)


def _operations(subject: Subject) -> list[list[int]]:
    """The places of the events of each command that has steps."""
    assert subject.explanation.run is not None
    return [places for places in _groups(subject) if subject.explanation.run.computation[places[-1]].is_step]


def _late(operations: list[list[int]]) -> list[list[int]]:
    """The operations whose steps do not directly follow their issue."""
    return [places for places in operations if places[-1] - places[0] >= len(places)]


def _lateness(subject: Subject) -> str:
    """What is special about a computation of a robust program, if anything is."""
    if not _late(_operations(subject)):
        return ""
    assert subject.explanation.run is not None
    issued = [
        event.rank for event in subject.explanation.run.computation if not event.is_step and event.kind != "barrier"
    ]
    issuing = [rank for rank, _ in groupby(issued)]
    turns = "ranks take turns, and " if len(issuing) > len(set(issuing)) else ""
    return (
        f": {turns}steps come late, for on the network they may. Still it looks like a sequentially consistent run, "
        "as the next chapters show"
    )


def _changes(subject: Subject) -> str:
    """How the computation shown differs from the one that was found."""
    explained = subject.explanation
    assert explained.run is not None and explained.order is not None
    shown = explained.run.computation
    changes = []
    if len(shown) < len(explained.found):
        changes.append("what the cycle does not need at its end is left out here")
    if shown != tuple(event for event in explained.found if event in shown):
        purpose = "so that there is something to put in order, " if explained.order.moved else ""
        changes.append(f"{purpose}its ranks take turns here, with the same happens-before relation")
    return "".join(f"; {change}" for change in changes)


def _delays(subject: Subject, events: list[Event]) -> Iterator[Block]:
    """When the operations are issued, and when their steps happen."""
    operations = _operations(subject)
    if not operations:
        yield Text("No command of it has steps, so nothing can be delayed: it is a sequentially consistent run.")
        return
    late = _late(operations)
    sentence = (
        "In a sequentially consistent (SC) run the steps of a command directly follow its issue. Here "
        + (f"{count(len(late), 'operation')} of {len(operations)} {'has' if len(late) == 1 else 'have'} other events "
           "between issue and last step:" if late else "they all do:")
    )  # fmt: skip
    yield Text(sentence)
    rows = [
        (
            str(events[places[0]]["rank"]),
            events[places[0]]["command"],
            f"step {places[0] + 1}",
            ", ".join(f"{events[place]['event']} {words.cell(events[place]['address'])} in step {place + 1}"
                      for place in places[1:]),
        )
        for places in operations[:MOST_ROWS]
    ]  # fmt: skip
    yield Rows(("rank", "operation", "issued", "happens"), rows)
    if len(operations) > MOST_ROWS:
        yield Remark(f"{count(len(operations) - MOST_ROWS, 'more operation')} not listed.")


def happens_before(subject: Subject) -> Iterator[Block]:
    explained = subject.explanation
    if explained.run is None:
        yield subject.no_run
        return
    relation = HappensBefore.of(explained.run)
    result = subject.result(explained.run, explained.cycle)
    events = witness_of(result)["computation"]
    yield Text(
        f"Happens-before (section 3) is the union of program order, po ({count(len(relation.program_order), 'edge')} "
        f"here), from each issued event to the next one of its rank; conflict, cf ({len(relation.conflicts)}), between "
        "two accesses of one cell, at least one of which writes, with no write between; and identity, id "
        f"({len(relation.identities)} between neighbours), which joins the events of one command, or of one barrier."
    )
    yield ShownRun(result, "graph")
    if relation.conflicts:
        yield Text("The conflicts:")
        conflicts = [
            ("cf", words.edge({"from": edge.source, "to": edge.target, "relation": "cf"}, events))
            for edge in relation.conflicts[:MOST_CONFLICTS]
        ]
        yield Points(conflicts)
        if len(relation.conflicts) > MOST_CONFLICTS:
            yield Remark(f"{count(len(relation.conflicts) - MOST_CONFLICTS, 'more conflict')} not listed.")
    size = count(len(_groups(subject)), "command")
    if explained.cycle is None:
        yield Text(
            f"The relation is taken between the {size}, the classes of id. It has no cycle: the commands can be put in "
            "an order that respects it, and in that order they are an SC run. The program is robust, which says that "
            "this is so for all its computations."
        )
        return
    edges = words.from_conflict(witness_of(result)["cycle"] or [], events)
    yield Text(
        f"The relation is taken between the {size}, the classes of id. It has a cycle, so the computation is "
        "violating: no SC run has this relation. Edge by edge:"
    )
    edges_of_cycle = [
        (edge["relation"], sentence)
        for edge, sentence in zip(edges, words.cycle(edges, events), strict=True)
    ]  # fmt: skip
    yield Points(edges_of_cycle)
    yield Text(words.contradiction(edges))


def sigma(subject: Subject) -> Iterator[Block]:
    explained = subject.explanation
    if explained.run is None or explained.order is None:
        yield subject.no_run
        return
    order, events = explained.order, subject.events(explained.run)
    issue = order.last[0]
    e = words.step(issue, events) if events[issue]["event"] != "barrier" else f"the barrier in {steps(order.last)}"
    alone = "" if len(order.last) == 1 or events[issue]["event"] == "barrier" else f", with {steps(order.last[1:])}"
    yield Text(
        f"e is the command issued last: {e}{alone}. Nothing comes after it in program order, and the steps behind it "
        f"are enabled whatever the memory holds. So without e there is still a computation, with "
        f"{count(len(order.sigma), 'event')} (Lemma 6, cancellation)."
    )
    if not order.sigma:
        yield Text("Without e nothing is left: sigma is the empty run.")
        return
    start = "The cycle needs e: without it" if subject.violating else "Without e, as with it,"
    other = _other_values(subject)
    same = "the relation and the values of that computation" if other else "the same relation and the same values"
    change = "read or write other values" if other[1:] else "reads or writes another value"
    gone = f" Now that e is gone, {steps(other)} of chapter 2 {change} than there." if other else ""
    yield Text(
        f"{start} the happens-before relation is acyclic, so there is an SC run sigma with {same}, in which the steps "
        f"of every command directly follow its issue (Lemma 7).{gone} It is:"
    )
    yield ShownRun(subject.result(order.sigma_run))
    numbers = [place + 1 for place in order.sigma]
    if numbers == sorted(numbers):
        yield Text("These are the events of the computation in the order they had there.")
    else:
        yield Text(f"In the numbers of the computation: {', '.join(map(str, numbers))}.")


def _other_values(subject: Subject) -> list[int]:
    """The places of the steps that read or write other values in sigma than in the computation, where e is there."""
    explained = subject.explanation
    assert explained.run is not None and explained.order is not None
    return sorted(
        place
        for place, event in zip(explained.order.sigma, explained.order.sigma_run.events, strict=True)
        if _values(event) != _values(explained.run.events[place])
    )


def _values(event: ReplayedEvent) -> tuple[int | None, int | None]:
    """What ``event`` reads from its cell and leaves in it."""
    return event.read, event.cell_change.after if event.cell_change else None


def normal_form(subject: Subject) -> Iterator[Block]:
    explained = subject.explanation
    if explained.run is None or explained.order is None:
        yield subject.no_run
        return
    order, events = explained.order, subject.events(explained.run)
    own = [place for place in order.last if events[place]["event"] in words.STEPS]
    yield Text(
        "e, and its steps if it has any, cut the computation into segments: "
        + english.listed([f"τ{number} {_segment(segment)}" for number, segment in enumerate(order.segments, 1)])
        + ". The normal form keeps the segments and puts each into the order of sigma; e ends the first part"
        + (", and its steps end the next ones in turn." if own else ".")
    )
    if len(order.segments) > 4:
        yield Remark("In the paper an operation has two steps, which makes four parts; here e has more of both.")
    moved = order.moved
    if not moved:
        yield Text("Here nothing has to move: the computation is in normal form already.")
    else:
        yield Text("What overtakes what, and why it may:")
        rows = [
            (
                f"{each.place + 1} -> {each.to + 1}",
                words.phrase(each.place, events),
                steps(each.overtaken),
                _why(order, each),
            )
            for each in moved[:MOST_ROWS]
        ]
        yield Rows(("step", "what it is", "overtakes", "because"), rows)
        if len(moved) > MOST_ROWS:
            yield Remark(f"{count(len(moved) - MOST_ROWS, 'more event')} not listed.")
    cycle = HappensBefore.of(order.run).cycle
    yield ShownRun(subject.result(order.run, cycle, order.parts), "either")
    used = max(order.parts)
    yield Text(
        "It is a computation with the same happens-before relation as before"
        + (", so it is violating too" if subject.violating else "")
        + " (Lemma 8). In every part the events of different commands stand in the order in which these commands are "
        "issued (Definition 4)"
        + (f", and only steps stand behind τ1. {_used(used)}" if used > 1 else ". Only τ1 is used: it is an SC run.")
    )


def _used(used: int) -> str:
    return f"Parts τ1 to τ{used} are used." if used > 2 else "Two parts are used, and two always suffice."


def _segment(places: tuple[int, ...]) -> str:
    return f"({steps(places)})" if places else "(empty)"


def _why(order: Reordering, moved: Moved) -> str:
    """Why an event may overtake others, by their accesses."""
    events = order.computation
    mine = access_of(events[moved.place])
    others = [events[place] for place in moved.overtaken]
    accesses = [access_of(other) for other in others]
    assert not any(mine and made and conflict(mine, made) for made in accesses)
    if mine is None:
        reason = "it accesses no cell"
    elif any(made and made.cell == mine.cell for made in accesses):
        reason = "they only read the cell that they share"
    elif any(accesses):
        reason = "they access different cells"
    else:
        reason = "what it overtakes accesses no cell"
    own = any(other.rank == events[moved.place].rank for other in others)
    return f"{reason}; no completion rule holds it back" if own else reason
