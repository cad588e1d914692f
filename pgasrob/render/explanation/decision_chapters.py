"""The chapters about the decision: heads, the marked word, intersection and emptiness, the attack search."""

from __future__ import annotations

from collections.abc import Iterator

from pgasrob.analysis.placement import DELAYED, NOW, Kind
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
    Word,
    steps,
    witness_of,
)
from pgasrob.render.run_json import Event
from pgasrob.robustness.explanation import ALL, DEFINITION, PLAIN
from pgasrob.robustness.explanation.marked_word import PairRun, Visit
from pgasrob.robustness.explanation.reordering import Generated, Reordering
from pgasrob.robustness.explanation.searches import Attack, Cost
from pgasrob.robustness.normal_form import HEADS
from pgasrob.robustness.stages import Graph

MOST_SYMBOLS = 24
"""Transitions up to which an automaton Z is shown."""


def heads(subject: Subject) -> Iterator[Block]:
    explained = subject.explanation
    if explained.run is None or explained.order is None:
        yield subject.no_run
        return
    order, events = explained.order, subject.events(explained.order.run)
    used = max(order.parts)
    idle = list(range(used + 1, order.heads + 1))
    yield Text(
        f"Y(P, N) is a {order.heads}-headed automaton (section 5.2, Table 2): head i writes part τi, and the word is "
        "what the heads have written, one after the other. It generates command by command, in the order of their "
        "issue in τ1; each in one shot, its issue on head 1 and every step on the head of its part. So it needs no "
        "queues: it says where a step goes when the command is issued. Control, registers and memory it follows along "
        "τ1 alone."
    )
    if len(order.segments) > HEADS:
        yield Remark(
            f"The paper has {HEADS} heads. Here e has {len(order.segments) - 2} steps and cuts the computation into "
            f"{len(order.segments)} parts, with a head for each. To decide robustness "
            "fewer are enough: when there is a violation, there is one in two parts, and chapter 8 has two heads and "
            "four."
        )
    rows = [
        (
            "all" if generated.rank is None else str(generated.rank),
            events[generated.events[0][1]]["command"],
            *(" ".join(_letter(events[place]) for head, place in generated.events if head == each)
              for each in range(1, used + 1)),
            remembered,
        )
        for generated, remembered in zip(explained.path[:MOST_ROWS], _remembered(subject, explained.path), strict=False)
    ]  # fmt: skip
    last = any(row[-1] for row in rows)
    header = ("rank", "command", *(f"head {head}" for head in range(1, used + 1)), *(["from here on"] if last else []))
    yield Rows(header, rows if last else [row[:-1] for row in rows])
    if len(explained.path) > MOST_ROWS:
        yield Remark(f"{count(len(explained.path) - MOST_ROWS, 'more command')} not listed.")
    if idle:
        yield Text(
            f"{'Heads' if idle[1:] else 'Head'} {english.listed(idle)} {'write' if idle[1:] else 'writes'} nothing."
        )
    yield Text("The word:")
    yield Word(_word([_letter(event) for event in events], order.parts))


def _letter(event: Event) -> str:
    return f"{event['event']}{event['rank']}"


def _word(letters: list[str], parts: tuple[int, ...]) -> list[str]:
    """``letters`` with a bar where a part begins."""
    found: list[str] = []
    part = 1
    for letter, own in zip(letters, parts, strict=True):
        found += ["|"] * (own - part)
        part = own
        found.append(letter)
    return found


def _remembered(subject: Subject, path: list[Generated]) -> Iterator[str]:
    """For each command, what Y newly remembers of the FIFO queues of its rank (pa and pb in the paper)."""
    assert subject.explanation.order is not None
    heads = subject.explanation.order.heads
    known: set[str] = set()
    for generated in path:
        found = []
        for slot, part in generated.placement or ():
            if slot.kind is Kind.STAGE:
                step, queue = ("popa", "popb", "popc")[slot.of], subject.instance.program.queue_name(slot.queue)
                bound = f"{step} of {queue} in τ{part}{' or later' * (part < heads)}"
                found += [] if f"{generated.rank} {bound}" in known else [bound]
                known.add(f"{generated.rank} {bound}")
        yield "; ".join(found)


def marked_word(subject: Subject) -> Iterator[Block]:
    explained = subject.explanation
    if explained.run is None or explained.order is None:
        yield subject.no_run
        return
    nodes = subject.instance.nodes
    yield Text(
        "If there is a happens-before cycle, there is one that enters and leaves every rank at most once (Lemma 13): "
        "within a rank by program order and identity, from one rank to the next by a conflict or a barrier. The order "
        "of the ranks is its cycle type. Y^M(P, N) generates what Y(P, N) does, and guesses the event where the cycle "
        "enters a rank and the one where it leaves. For each two neighbours of the cycle type an automaton Z checks "
        "that a conflict or a barrier leads from one to the other."
    )
    if explained.marked is None:
        yield Text(
            "The computation above has no cycle, so however its normal form is marked, no cycle type accepts it. The "
            f"same is true of every word of Y^M, the program being robust on {count(nodes, 'node')}; chapter 8 says "
            "what it takes to find that out."
        )
        return
    marked, order = explained.marked, explained.order
    events = witness_of(subject.result(order.run, parts=order.parts, marks=marked.marks))["computation"]
    ranks = " ".join(map(str, marked.cycle_type))
    yield Text(f"Here the cycle type is {ranks}, and the marked word is:")
    letters = [
        f"({_letter(event)}, {{{', '.join(event['marks'])}}})" if event["marks"] else f"({_letter(event)}, ∅)"
        for event in events
    ]
    yield Word(_word(letters, order.parts))
    yield Text("Its steps are numbered as in the normal form. The cycle goes through the ranks in this order:")
    yield Points([(_rank(events[visit.enter]), _visit(visit, events)) for visit in marked.visits])
    for pair in explained.pairs:
        yield from _pair(pair, events)
    yield Text(
        "All of them accept, so the word is in the language of Y^M and in that of Z for this cycle type: it is a proof "
        "that the program is not robust (Theorem 16)."
    )


def _visit(visit: Visit, events: list[Event]) -> str:
    """Where a cycle enters and leaves a rank, and why one comes before the other."""
    enter, leave = words.step(visit.enter, events), words.step(visit.leave, events)
    if visit.enter == visit.leave:
        return f"entered and left at {enter}."
    first, last = words.issue_of(visit.enter, events), words.issue_of(visit.leave, events)
    if first == last:
        return f"entered at {enter}, left at {leave}: both are of one command."
    mine = [place for place in (visit.enter, visit.leave) if events[place]["event"] in words.STEPS]
    issued = f"{steps([first])} is issued before {steps([last])}" if mine else "program order"
    return f"entered at {enter}, left at {leave}: {issued}."


def _pair(pair: PairRun, events: list[Event]) -> Iterator[Block]:
    source, target = pair.automaton.source, pair.automaton.target
    delta = pair.automaton.transitions()
    size = sum(map(len, delta.values()))
    yield Text(f"On this word the automaton Z from rank {source} to rank {target} ignores all letters but these:")
    yield Rows(
        ("step", "event", "read as", "from state", "to state"),
        [
            (str(step.place + 1), _letter(events[step.place]), step.symbol, step.source, step.target)
            for step in pair.steps
        ],
    )
    met = {state for step in pair.steps for state in (step.source, step.target)}
    whole = size <= MOST_SYMBOLS
    states = [state for state in delta if whole or state in met]
    numbers = {state: number for number, state in enumerate(states)}
    edges = [
        (numbers[state], numbers[after], symbol)
        for state in states
        for symbol, after in delta[state].items()
        if after in numbers and (whole or any((state, symbol) == (step.source, step.symbol) for step in pair.steps))
    ]
    title = f"Z from rank {source} to rank {target}"
    caption = f"{title}: {count(len(delta), 'state')}, {count(size, 'transition')}" + (
        "" if whole else ", this run alone"
    )
    graph = Graph(title, states, frozenset([numbers["joined"]]), edges)
    yield Drawing(graph, caption, {(numbers[step.source], numbers[step.target]) for step in pair.steps}, in_text=False)


def emptiness(subject: Subject) -> Iterator[Block]:
    explained, found = subject.explanation, subject.explanation.product
    if found is None:
        yield Text("The engines were not compared.") if subject.is_decided else subject.no_run
        return
    nodes = subject.instance.nodes
    possible = {None: "more than can be counted", 0: "none"}.get(found.possible, f"{found.possible or 0:,}")
    have, are = "have" if nodes > 1 else "has", "is" if found.possible in (0, 1) else "are"
    yield Text(
        f"{count(nodes, 'rank')} {have} {count(found.total, 'cycle type')}. One is possible only when from each of its "
        "ranks to the next there is a cell that both may access and one may write, or a barrier; here "
        f"{possible} {are}. For each of these the procedure intersects Y^M(P, N) with the automata Z of the neighbours "
        "(Lemma 10: again a multiheaded automaton, whose states also guess where each Z stands between the heads), and "
        "looks for a reachable final state (Lemma 11). The program is robust if and only if all intersections are "
        "empty (Theorem 16)."
    )
    yield Rows(
        ("heads", "states", "transitions", "what came of it"),
        [(each.name, f"{each.states:,}", f"{each.transitions:,}", _outcome(each, subject)) for each in found.costs],
    )
    two = found.costs[0]
    if two.ended and two.violation:
        word = two.violation
        ranks = " ".join(map(str, word.cycle_type or ()))
        yield Text(
            f"With two heads the first word that was found has {count(len(word.computation), 'event')} and cycle type "
            f"{ranks}. "
            + (
                _same_word(explained.order, word.parts)
                if explained.order is not None and word.computation == explained.order.normal_form
                else "The computation of chapter 2 was made from it."
                if explained.origin == "product"
                else "The computation of chapter 2 has another origin."
            )
        )
    elif two.ended and found.refuted:
        yield Text(
            f"With two heads {count(found.refuted, 'cycle type')} {'was' if found.refuted == 1 else 'were'} refuted."
        )
    if not all(each.ended for each in found.costs):
        yield _limits(subject)


def _same_word(order: Reordering, parts: tuple[int, ...] | None) -> str:
    """The sentence that a search has found the word of the normal form, perhaps divided into other ``parts``."""
    return f"It is the normal form of chapter 5{'' if parts == order.parts else ', divided into two parts'}."


def _limits(subject: Subject) -> Remark:
    share = subject.explanation.share
    return Remark(
        f"A search is stopped when it notices that it has passed {count(share.states, 'state')} or "
        f"{share.seconds:.2g} s; --max-states and --timeout set that."
    )


def _outcome(cost: Cost, subject: Subject) -> str:
    if cost.gave_up:
        return f"gave up: {cost.gave_up}"
    if not cost.ended:
        return "stopped by the limit, so nothing"
    return "a violation" if cost.violation else "no violation: robust"


def attack(subject: Subject) -> Iterator[Block]:
    explained = subject.explanation
    if not explained.costs or explained.settled is None:
        yield Text("The engines were not compared.") if subject.is_decided else subject.no_run
        return
    yield Text(
        "The attack search needs neither cycle types nor heads. Without e there is an SC run sigma, and the cycle "
        "leaves e by a conflict with a step of an earlier command, the source. So it runs sigma command by command, "
        "guesses the source once, delays the set D of what has to come after it, and watches for an e that slips in "
        "before. A rank whose further commands happen after the source's is tainted."
    )
    if explained.attack is not None:
        yield from _account(subject, explained.attack)
    yield from _sources(subject)
    yield Text(
        "What it cost, beside the plain definition, which looks at all computations with their happens-before relation:"
    )
    rows = [
        (NAMES[each.name], f"{each.states:,}", f"{each.transitions:,}", _outcome(each, subject))
        for each in explained.costs
    ]
    yield Rows(("search", "states", "transitions", "what came of it"), rows)
    if not all(each.ended or each.gave_up for each in explained.costs):
        yield _limits(subject)


NAMES = {ALL: "attack, with all reductions", PLAIN: "attack, without reductions", DEFINITION: "definition"}


def _account(subject: Subject, found: Attack) -> Iterator[Block]:
    """How the attack search came to the violation of the chapters before."""
    from pgasrob.semantics.happens_before import HappensBefore
    from pgasrob.semantics.replay import replay

    run = replay(subject.instance, found.computation)
    result = subject.result(run, HappensBefore.of(run).cycle, found.parts)
    events = witness_of(result)["computation"]
    last = next(place for place in found.last if events[place]["event"] not in words.STEPS)
    yield Text("To the violation above it comes like this:")
    rows = [
        (
            "all" if events[step.places[0]]["event"] == "barrier" else str(events[step.places[0]]["rank"]),
            events[step.places[0]]["command"],
            _letters(found, step.places, NOW, events),
            _letters(found, step.places, DELAYED, events),
            " ".join(map(str, step.tainted)),
            "e closes the cycle" if step.role == "e" else step.role,
        )
        for step in found.search_steps[:MOST_ROWS]
    ]
    yield Rows(("rank", "command", "at once", "delayed", "tainted", ""), rows)
    if len(found.search_steps) > MOST_ROWS:
        yield Remark(f"{count(len(found.search_steps) - MOST_ROWS, 'more command')} not listed.")
    d = english.listed([f"{_letter(events[place])} {words.cell(events[place]['address'])}" for place in found.delayed])
    cell = words.cell(events[found.source]["address"])
    yield Text(
        f"The source is {words.step(found.source, events)}, and D is {d}. e is {words.step(last, events)}: its access "
        f"to {cell} comes before the source. In this run τ1 is sigma without D and then e, and τ2 is D"
        + (" and what is left of e:" if any(found.parts[place] == DELAYED for place in found.last) else ":")
    )
    yield ShownRun(result)
    order = subject.explanation.order
    if order is not None:
        yield Text(
            _same_word(order, found.parts)
            if found.computation == order.normal_form
            else "It delays only what has to be delayed. The normal form of chapter 5 delays what chapter 2 delays."
        )


def _rank(event: Event) -> str:
    return f"rank {event['rank']}"


def _letters(found: Attack, places: tuple[int, ...], part: int, events: list[Event]) -> str:
    return " ".join(_letter(events[place]) for place in places if found.parts[place] == part)


def _sources(subject: Subject) -> Iterator[Block]:
    """How many sources an analysis left before the search began."""
    settled = subject.explanation.settled
    assert settled is not None
    if not settled.steps:
        yield Text("No command has steps, so there is no source to choose.")
        return
    text = (
        f"Before it begins, an analysis that ignores values asks for each of the {count(settled.steps, 'step')} that "
        f"commands of the control automata have whether something might come of choosing it. "
    )
    if settled.choosable:
        yield Text(f"{text}{settled.choosable:,} {'is' if settled.choosable == 1 else 'are'} left to try.")
    elif settled.nothing_to_search and not subject.explanation.costs[0].states:
        yield Text(f"{text}For none it might, so the program is robust and nothing has to be searched: 0 states.")
    else:
        yield Text(
            f"{text}For none it might, so the program is robust. What is searched with all reductions are the SC runs "
            "alone, for assertions, deadlocks and faults."
        )
