"""Events and happens-before edges of a run, and facts about results, in plain sentences."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING

from pgasrob.diagnostics import visible
from pgasrob.program.commands import ATOMICS
from pgasrob.program.unknown_value import Unknown
from pgasrob.render.barriers_waited_at import why_it_waits
from pgasrob.render.effect_runs import ENDS, LIKE_NONE, is_unnamed, of_rank, reading
from pgasrob.render.english import count, listed
from pgasrob.render.process_numbers import home_of
from pgasrob.render.source_places import is_lowered, located

if TYPE_CHECKING:
    from pgasrob.render.effect_json import EffectPlace, EffectValue
    from pgasrob.render.run_json import Address, Edge, Event, Fault, NextCommand, RegisterChange, Standing, Witness
    from pgasrob.render.shared_json import Alike
    from pgasrob.render.strict_waits_json import StrictWait
    from pgasrob.render.verdict_json import Result

STEPS = ("popa", "popd", "popb", "popc")
UPDATING = ("update", "update_from", "notify", "signal")
"""Operations that update the cell at their target, or fetch it."""
RUNS = ("witness", "assertion_run", "deadlock_run")
"""The keys of a result under which its runs are."""
EFFECT_RUN = "effect_run"
"""The key of the run that ends in the effect of a violation."""
FURTHER_RUNS = ("illegal_call_run", "race_run", "other_race_run")
"""How the run to the first illegal call and the two that show that a race matters are called beside them."""
DOES = {"read": "reads", "write": "writes", "read and write": "updates"}
"""What an access that is still to come does."""
FAILS = "FAILS"
"""The effect of an assertion that is false."""


def alike(counts: Alike) -> str:
    """A sentence that the runs show only some of the elements of memory that are accessed alike."""
    return (
        f"{counts['elements']:,} elements of memory are accessed alike, and {counts['shown']:,} of them stand for all: "
        "what is done to the others is left out."
    )


def cost(result: Result) -> str:
    """What a check cost."""
    stats = result["stats"]
    by = f" ({stats['settled_by']})" if "settled_by" in stats else ""
    states = f"{count(stats['states'], 'state')}, {count(stats['sc_states'], 'SC state')}"
    return f"{result['engine']} engine{by}: {states}, {stats['seconds']:.2f} s"


def cell(address: Address | None) -> str:
    """``y@1``: the cell y in the memory of rank 1."""
    return f"{address['name']}@{address['rank']}" if address else ""


def effect_run(result: Result) -> Witness | None:
    """The run that ends in the effect of a violation, where this is not to be seen in the violation itself."""
    witness = result["witness"]
    return None if witness and "effect" in witness else result.get("effect_run")


def own_run(result: Result) -> Witness | None:
    """The witness, but for a violation that the run of :func:`effect_run` goes on from: that one shows all of it."""
    further = effect_run(result)
    effect = further.get("effect") if further else None
    return None if effect and effect["beyond"] is not None else result["witness"]


def runs(result: Result) -> Iterator[tuple[str, Witness]]:
    """The runs of ``result`` by their keys, that of the verdict first and none twice; the one that ends in the effect
    of a violation before the violation, or instead of it where it goes on from there."""
    found: list[Witness] = []
    runs = (effect_run(result), own_run(result), result["assertion_run"], result["deadlock_run"])
    further = (next(illegal_call_runs(result), None), *race_runs(result))
    for key, run in (*zip((EFFECT_RUN, *RUNS), runs, strict=True), *zip(FURTHER_RUNS, further, strict=False)):
        if run is not None and run not in found:
            found.append(run)
            yield key, run


def illegal_call_runs(result: Result) -> Iterator[Witness]:
    """The runs to illegal calls."""
    for call in result.get("illegal_calls") or ():
        if call["run"] is not None:
            yield call["run"]


def race_runs(result: Result) -> list[Witness]:
    """The two runs that end differently by the order of the first race that matters; none without one."""
    found = result.get("consequences")
    return found["matters"][0]["runs"] if found and found["matters"] else []


def rows(computation: Sequence[Event]) -> Iterator[range]:
    """The places of the events of each row: a single event, or all events of a barrier."""
    first = 0
    for place in range(1, len(computation) + 1):
        # A barrier is an event of every rank in their order; the next one begins with the first rank again.
        before, event = computation[place - 1], computation[place] if place < len(computation) else None
        if (
            event is None
            or not before["event"] == event["event"] == "barrier"
            or home_of(event["rank"]) <= home_of(before["rank"])
        ):
            yield range(first, place)
            first = place


def issue_of(place: int, computation: list[Event]) -> int:
    """The place of the event that issued the event at ``place``; an issued event issues itself."""
    event = computation[place]
    if event["event"] not in STEPS:
        return place
    operation = (event["rank"], event["operation"])
    return next(  # backwards, for in a long run it is seldom far away
        earlier
        for earlier in range(place - 1, -1, -1)
        if computation[earlier]["event"] not in STEPS
        and (computation[earlier]["rank"], computation[earlier]["operation"]) == operation
    )


def effects(event: Event) -> list[str]:
    """What an event read and changed: ``reads y@0 = 1`` (a step: ``y@0 = 1``), ``y@1: 0 -> 1``, ``r stays 0``.

    Of a C program without what has no name in its source. Of an access that is still to come, what it does: ``writes
    y@1``.
    """
    if does := event.get("access"):
        verb = "" if is_c(event) and event["event"] in STEPS else f"{DOES[does]} "
        return [f"{verb}{cell(event['address'])}"]
    found = []
    hidden = is_hidden(event["address"])
    if event["written"] and not hidden:
        found.append(_change(**event["written"]))
    elif event["read"] is not None and not hidden:
        reads = "" if event["event"] in STEPS else "reads "
        found.append(f"{reads}{cell(event['address'])} = {event['read']}")
    if event["register"] and not event["register"].get("temporary"):
        register = event["register"]
        found.append(_change(variable(register), register["before"], register["after"]))
    if event["holds"] is not None:
        found.append("holds" if event["holds"] else FAILS)
    if "truth" in event:
        found.append("is true" if event["truth"] else "is false")
    return found


def _change(cell: str, before: int, after: int) -> str:
    stays = before == after and not isinstance(before, Unknown)
    return f"{cell} stays {after}" if stays else f"{cell}: {before} -> {after}"


def variable(register: RegisterChange) -> str:
    """The name of a register in the source."""
    return register.get("variable", register["name"])


def is_hidden(address: Address | None) -> bool:
    """Whether the cell is internal to a library and has no meaning for users: its name is an identifier."""
    return address is not None and address.get("made_up", False) and address["name"].isidentifier()


def is_c(event: Event) -> bool:
    """Whether the event is of a C program, which reports describe by its calls."""
    return "call" in event


def name(event: Event) -> str:
    """The call in C, or the command, that the event belongs to."""
    return event.get("call") or event["event"]


def step_name(place: int, computation: list[Event]) -> str:
    """The name of the step at ``place`` before its effects: ``popb``, and in C ``arrives:``."""
    event = computation[place]
    if not is_c(event):
        return event["event"]
    colon = "" if is_hidden(event["address"]) else ":"
    match event["event"]:
        case "popa" | "popd":
            return "reads"
        case "popc":
            return f"result arrives{colon}"
        case _:
            return f"arrives{colon}"


def phrase(place: int, computation: list[Event], at: str = "") -> str:
    """What happens at ``place``, in a few words: ``rank 0 loads y@0``, ``the write of rank 1 arrives at y@0``.

    ``at`` follows the name of the rank whose step it is.
    """
    event = computation[place]
    rank, where = f"rank {event['rank']}{at}", cell(event["address"])
    issued = computation[issue_of(place, computation)]
    updates, operation = issued["event"] in UPDATING, name(issued)
    if is_c(event):
        return _phrase_of_call(event, rank)
    match event["event"]:
        case "load":
            return f"{rank} loads {where}"
        case "store":
            return f"{rank} stores to {where}"
        case "read" | "write" | "update" | "update_from" | "notify" | "signal":
            return f"{rank} issues the {event['event']}"
        case "put":
            return f"{rank} issues the put of {where}"
        case "popa" | "popd":
            return f"the {operation} of {rank} fetches {where}"
        case "popb" if updates:
            return f"the {operation} of {rank} acts on {where}"
        case "popb":
            return f"the {operation} of {rank} arrives at {where}"
        case "popc":
            return f"the result of the {operation} of {rank} arrives at {where}"
        case "await" | "await_add":
            return f"{rank} sees {where} in its {event['event']}"
        case kind if kind in ATOMICS:
            return f"{kind} of {rank} on {where}"
    return f"{event['event']} of {rank}"


def _phrase_of_call(event: Event, rank: str) -> str:
    """As `phrase`, for a call of a C program. An event that changes the value that it finds counts as a read, too."""
    call, where = event.get("call"), cell(event["address"])
    whose = f"the {call} of {rank}" if call else rank
    if is_hidden(event["address"]):
        return whose
    match event["event"]:
        case "read" | "write" | "update" | "update_from" | "notify" | "signal":
            return f"{rank} issues the {call}"
        case "put":
            return f"{rank} issues the {call} of {where}"
        case "popb" if event["read"] is not None or event.get("access") == "read and write":
            return f"{whose} updates {where}"
        case "popb":
            return f"{whose} arrives at {where}"
        case "popc":
            return f"the result of {whose} arrives at {where}"
        case "load" | "popa" | "popd" | "fetch":
            return f"{whose} reads {where}"
        case "store":
            return f"{whose} writes {where}"
        case "await":
            return f"{whose} sees {where}"
        case kind if kind in ATOMICS or kind == "await_add":
            return f"{whose} updates {where}"
        case "assign":
            return f"{whose} computes"
        case "assume":
            return f"{whose} takes a branch"
        case "assert" if event["holds"] is None:
            return f"rank {event['rank']} makes an illegal call"
        case "assert":
            return f"{whose} asserts"
    return whose


def step(place: int, computation: list[Event], known: Container[int] = ()) -> str:
    """An event by its number in the run, which counts from 1, and what happens there unless it is ``known``."""
    if place in known:
        return f"step {place + 1}"
    line = computation[place]["line"]
    where = f" in line {line}" if line else ""
    if computation[place]["event"] in STEPS:
        return f"step {place + 1} ({phrase(place, computation, where)})"
    return f"step {place + 1} ({phrase(place, computation)}{where})"


def edge(edge: Edge, computation: list[Event], known: Container[int] = ()) -> str:
    """Why one event of a cycle comes before the next, or belongs to the same command, as a sentence.

    The events at ``known`` places are only named by their number.
    """
    source, target = edge["from"], edge["to"]
    before, after = step(source, computation, known), step(target, computation, known)
    if edge["relation"] == "id":
        issued = computation[issue_of(source, computation)]
        return f"{before} and {after} are one {'barrier' if issued['event'] == 'barrier' else name(issued)}."
    if edge["relation"] == "po":
        return f"{before} must come before {after}: program order of rank {computation[source]['rank']}."
    return f"{before} must come before {after}{_conflict(computation[source], computation[target])}."


def cycle(edges: list[Edge], computation: list[Event]) -> list[str]:
    """A sentence per edge; each step is described where it is met first."""
    sentences = []
    known: set[int] = set()
    for each in edges:
        sentences.append(edge(each, computation, known))
        known |= {each["from"], each["to"]}
    return sentences


def contradiction(edges: Sequence[Edge]) -> str:
    """The contradiction that follows from a cycle, as a sentence to follow those on its edges."""
    return f"So step {edges[0]['from'] + 1} would have to come before itself."


def _conflict(source: Event, target: Event) -> str:
    where = cell(source["address"])
    if is_hidden(source["address"]):
        return ", which sees it" if source["written"] and target["read"] is not None else ""
    if not source["written"]:
        return f": it read the old value, {where} = {source['read']}"
    if target["read"] is not None:
        return f", which read the value it {_left(source)}, {where} = {target['read']}"
    return f", which overwrote {where}"


def _left(source: Event) -> str:
    """``wrote``, or ``left`` of a compare_swap that fails: it counts as a write, and writes nothing new."""
    change = source["written"]
    fails = "compare_swap" in source["command"] and change and change["before"] == change["after"]
    return "left there (a compare_swap counts as a write when it fails, too)" if fails else "wrote"


def standing(rank: Standing, all_ranks: list[Standing]) -> str:
    """Where a rank stands at the end of a run: ``has ended``, or before which commands and what they wait for."""
    if rank["ended"]:
        return "has ended"
    if rank.get("loop"):
        return f"spins for ever in line {stuck_at(rank)['line']}"
    return "stands before " + " or ".join(f"{each['command']} ({_waiting(each, all_ranks)})" for each in rank["next"])


def stuck(standing: list[Standing], waits: Sequence[StrictWait] = ()) -> list[Standing]:
    """The ranks that have not ended: those at one of the ``waits``, those that spin, then those that wait, then those
    that an assume stops. A deadlock is reported at the first."""
    waiting = [each for each in standing if each["next"]]
    stopped = {each["rank"] for each in waiting if all(command["event"] == "assume" for command in each["next"])}
    return sorted(
        waiting,
        key=lambda each: (not _is_among(stuck_at(each), waits), not each.get("loop"), each["rank"] in stopped),
    )


def _is_among(command: NextCommand, waits: Sequence[StrictWait]) -> bool:
    return any(command["line"] == each["line"] and command["command"].startswith(each["call"]) for each in waits)


def stuck_at(rank: Standing) -> NextCommand:
    """The command at which a rank that has not ended is stuck: the first one of its loop, those that only compute and
    decide left out where there are others; or its next one."""
    loop = rank.get("loop") or []
    accesses = [command for command in loop if command["event"] not in ("assume", "assign")]
    return (accesses or loop or rank["next"])[0]


def stands(witness: Witness) -> bool:
    """Whether the report lists where each rank stands: no rank can move there, or the run was cut."""
    if witness["shows"] == "run":
        return not witness["fault"] and any(not rank["ended"] for rank in witness["standing"])
    effect = witness.get("effect")
    return witness["shows"] == "deadlock" or (effect is not None and effect["ending"] == "deadlock")


def _waiting(command: NextCommand, all_ranks: list[Standing]) -> str:
    text = f"line {command['line']}"
    if command["event"] in ("await", "await_add") and not is_hidden(command["address"]):
        text += f"; {cell(command['address'])} = {command['value']}"
    if command["event"] == "barrier":
        text += why_it_waits(command, all_ranks)
    return text


def from_conflict(cycle: list[Edge], computation: list[Event]) -> list[Edge]:
    """``cycle`` rotated to begin with a stale read, or with some conflict: that is what surprises a reader.

    Every output that numbers the edges of a cycle numbers them from there.
    """

    def surprise(place: int) -> tuple[bool, bool]:
        edge = cycle[place]
        stale = edge["relation"] == "cf" and not computation[edge["from"]]["written"]
        return stale, edge["relation"] == "cf"

    start = max(range(len(cycle)), key=surprise, default=0)
    return cycle[start:] + cycle[:start]


def title(witness: Witness) -> str:
    """What a run shows: ``A run on the network that no SC run looks like``."""
    if title := witness.get("title"):
        return title
    match witness["shows"]:
        case "violation":
            return LIKE_NONE
        case "fault":
            return "The SC run that leads to the fault"
        case "assertion":
            failing = [event for event in witness["computation"] if event["holds"] is False]
            where = f" in line {failing[-1]['line']}" if failing else ""
            return f"An SC run in which the assertion{where} fails"
        case "deadlock":
            return "An SC run that ends in the deadlock"
        case "illegal call":
            return "An SC run to the illegal call"
        case "race":
            return "A run up to the point where either access can come next"
        case "order":
            first = [f"{phrase(place, witness['computation'])} first" for place in witness.get("marked", [])[:1]]
            return f"An SC run in which {first[0]}" if first else "An SC run"
    return "A run"


def cycle_steps(witness: Witness) -> set[int]:
    """The places of the events on the cycle, or of the two accesses that race or whose order a run shows."""
    racing = {place for place, event in enumerate(witness["computation"]) if "access" in event}
    return (
        racing
        | set(witness.get("marked", ()))
        | {place for edge in witness["cycle"] or () for place in (edge["from"], edge["to"])}
    )


def shown_steps(witness: Witness) -> set[int]:
    """The places of :func:`cycle_steps`, and those in which the effect is to be seen."""
    effect = witness.get("effect")
    return cycle_steps(witness) | set(effect["places"] if effect else ())


def fault(file: str, fault: Fault) -> str:
    """A fault in the form of a diagnostic: ``ring.pgas:14:3: error[PG040]: rank 1: division by zero: 1 / 0``."""
    place = located(file, fault["line"], fault["column"])
    return f"{place}: error[{fault['code']}]: rank {fault['rank']}: {fault['reason']}"


def not_as_expected(result: Result) -> str:
    """`` (expected robust)``, or that the header expects nothing; "" where nothing was compared, or all is right."""
    if result.get("as_expected", True):
        return ""
    expected = result.get("expected")
    if expected == result["verdict"]:
        return f" (expected synchronised: {result.get('expected_synchronised')})"
    return f" (expected {expected})" if expected else f" ({nothing_expected(result)})"


def nothing_expected(result: Result) -> str:
    """Why nothing can be compared with ``result``."""
    if result["nodes"] is None:
        return "no `// expect: error` without `at ...`, for it has no node count"
    return "no `// expect:` says what was expected"


def explained(codes: list[str]) -> str:
    """A sentence that names the command that explains the error ``codes``."""
    if len(codes) == 1:
        return f"`pgasrob explain-error {codes[0]}` explains the error."
    return f"`pgasrob explain-error CODE` explains {', '.join(codes[:-1])} and {codes[-1]}."


MOST_SC_VALUES = 4


def diagnosis(witness: Witness | None) -> str:
    """The cause of a violation in two sentences, or which two accesses race; "" where there is none or a file has
    none."""
    if witness and (racing := [place for place, event in enumerate(witness["computation"]) if "access" in event]):
        one, other = (phrase(place, witness["computation"]) for place in racing)
        return f"A race: {one}, and {other}, in either order."
    late = witness.get("late") if witness else None
    return late[0]["sentences"] if late else ""


def main_place(witness: Witness) -> int:
    """The event of a violation at which all outputs report it: where the operation is issued that is late, for a repair
    goes behind it. The first of the cycle in a file that does not say which is late."""
    late = witness.get("late")
    return late[0]["issue"] if late else from_conflict(witness["cycle"] or [], witness["computation"])[0]["from"]


def _only_compared(registers: Sequence[str]) -> str:
    """An exception for ``registers``, in a clause, "" for none."""
    if not registers:
        return ""
    return f", but for the value of {listed(registers)} where it is only compared (--waits value)"


def effect(result: Result) -> str:
    """How a run on the network can differ from all SC runs in its outcome, in a sentence or two; "" when that was not
    looked for."""
    detail = result.get("effect_detail")
    if detail is None:
        return ""
    if result.get("effect") in ("none found", "none"):
        looked = f"{count(detail['sc_states'], 'SC state')} and {count(detail['network_states'], 'state')}"
        if detail["exhaustive"]:
            but_for = "" if is_lowered(result["file"]) else _only_compared(detail["but_for"])
            ends = f"every run on the network ends as some SC run does{but_for}"
            return f"No outcome depends on it: {ends} ({looked} were seen)."
        return f"Whether an outcome depends on it is unknown, since {detail['reason']}."
    if assertion := detail["assertion"]:
        there = "" if result["assertions"] == "hold" else _there(assertion)
        return f"On the network an assertion of rank {_at(assertion)} can fail; it fails in no SC run{there}."
    if place := detail["place"]:
        way = "can end behind" if place.get("ended") else "can come to"
        where = _at(place).partition(" in ")[2]
        return f"On the network rank {place['rank']} {way} {where}; it does in no SC run{_there(place)}."
    values, ending, failed = detail["values"], detail["ending"], detail["failed"]
    if len(values) == 1 and ending is None and failed is None:
        return _one_value(values[0])
    pieces = [] if ending is None else [ENDS[ending]]
    if failed is not None:
        broken = [f"a failing assertion of rank {_at(each)}" for each in failed]
        pieces.append(f"with {listed(broken or ['none failing'])}")
    same = " in the same iterations or calls" if any(map(_there, [*values, *(failed or ())])) else ""
    if held := [f"{of_rank(each['name'])} = {each['value']}" for each in values if each["line"] is None]:
        pieces.insert(0, f"with {listed(held)}")
    if read := [f"rank {each['rank']} can {reading(each)}" for each in values if each["line"] is not None]:
        ends = f", which ends {', '.join(pieces)}" if pieces else ""
        return f"In a run on the network {listed(read)}{ends}; no SC run does that{same}."
    return f"A run on the network can end {', '.join(pieces)}; no SC run does{same}."


def looked_at_the_network(result: Result) -> bool:
    """Whether the report says what runs on the network can do, or that they can do no more than SC runs."""
    detail = result.get("effect_detail")
    return detail is not None and (result.get("effect") != "none found" or detail["exhaustive"])


def deadlocks_on_the_network(result: Result) -> bool:
    """Whether the effect is a deadlock, which no SC run has."""
    detail = result.get("effect_detail")
    return detail is not None and detail["ending"] == "deadlock"


def _at(place: EffectPlace) -> str:
    return f"{place['rank']} in line {place['line']} (`{visible(place['command'])}`)"


def _there(what: EffectPlace | EffectValue) -> str:
    """The end of a sentence about one of several commands from one place of the source: the same one is meant."""
    return " in the same iteration or call" if (what["copies"] or 1) > 1 else ""


def _one_value(value: EffectValue) -> str:
    found = value["in_sc"]
    others = listed([str(each) for each in found], "or") if 0 < len(found) <= MOST_SC_VALUES else ""
    if value["line"] is None:
        in_sc = f"in SC runs it ends as {others}" if others else "in no SC run it does"
        return f"On the network {of_rank(value['name'])} can end as {value['value']}; {in_sc}."
    in_sc = (
        f"in SC runs it {'receives' if is_unnamed(value) else 'reads'} {others}" if others else "in no SC run it does"
    )
    command = visible(value["command"] or "")
    return f"On the network rank {value['rank']} can {reading(value)} (`{command}`); {in_sc}{_there(value)}."


def fails(result: Result) -> bool:
    """Whether an assertion fails or there is a deadlock."""
    return result["assertions"] == "violated" or result["deadlock"] is True


def _counts_for_nothing(result: Result) -> bool:
    """Whether ``result`` is good although an assertion fails or there is a deadlock."""
    found = result.get("synchronised")
    return result["verdict"] == "robust" and (not found or found["answer"] == "yes")


def only_strict(results: Sequence[Result], expect: bool) -> str:
    """How many of ``results`` would be good but for `--strict`, "" when there are none."""
    good = "as expected" if expect else "robust"
    count = sum(
        fails(result) and (result.get("as_expected", False) if expect else _counts_for_nothing(result))
        for result in results
    )
    if not count:
        return ""
    verb = "fails" if count == 1 else "fail"
    return f"{count} {good} {verb} only because of --strict (a failing assertion or a deadlock)."
