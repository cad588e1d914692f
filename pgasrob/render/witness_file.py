"""Reads results back from JSON files and checks them against their schema.

What the schema does not know is dropped, so that a file of a later version can be read. Everything else that does not
fit is an error that says where: the renderers may rely on all that a `Result` promises.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Union, cast, get_args, get_origin, is_typeddict

from pgasrob.batch.kept import Form
from pgasrob.program.instance import MAX_NODES
from pgasrob.program.statements import Line
from pgasrob.render.double_values import Double, shown
from pgasrob.render.double_values import value as value_of
from pgasrob.render.json_schema import hints
from pgasrob.render.one_race_json import Race
from pgasrob.render.one_run_json import RunResult
from pgasrob.render.races_json import is_about_races
from pgasrob.render.run_json import Edge, Event, Witness, mark
from pgasrob.render.shared_json import SCHEMA
from pgasrob.render.source_places import dumps, with_lines
from pgasrob.render.synchronised_json import Consequences
from pgasrob.render.verdict_json import RaceResult, Result
from pgasrob.render.words import RUNS, STEPS

PROCESS = re.compile(r"[0-9]+(\.[0-9]+)?")
"""A rank, or a thread of one, in the name of a register."""

NAMES: dict[Any, str] = {
    int: "an integer", float: "a number", str: "a text", bool: "true or false", NoneType: "null", list: "a list",
    dict: "an object",
}  # fmt: skip
SHOWS = ("violation", "fault", "assertion", "deadlock", "illegal call", "run", "race", "order")
RELATIONS = ("po", "cf", "id")
MOST = 2**63
"""No number of a result is larger, line and column included."""
MOST_PARTS = 99
"""Far more than a normal form has."""
OTHER_VERSION = "it is missing; was the file written by another version of pgasrob?"

OUTCOMES = (
    "these are all outcomes of a program, and no run to draw; `pgasrob outcomes FILE --example N --witness run.json` "
    "writes the run of one"
)


class BadWitnessFile(ValueError):
    """A text that holds no results; the message says where it goes wrong."""


def read_results(data: bytes) -> list[Result | RaceResult]:
    """The results in ``data``: one JSON object, or several one after the other, as `--format json` has them.

    Raises :class:`BadWitnessFile`.
    """
    try:
        text = data.decode(json.detect_encoding(data))
    except UnicodeDecodeError:
        raise BadWitnessFile("this is no text in UTF-8, so it is no JSON") from None
    values = list(_values(text))
    if not values:
        raise BadWitnessFile("there is nothing in it; `pgasrob check FILE --witness run.json` writes what is needed")
    results: list[Result | RaceResult] = []
    for number, value in enumerate(values, start=1):
        try:
            results.append(validated(with_lines(value)))
        except BadWitnessFile as error:
            raise BadWitnessFile(f"result {number}: {error}" if len(values) > 1 else str(error)) from None
    return results


def _one(text: str) -> Result | RaceResult:
    values = list(_values(text))
    if len(values) != 1:
        raise BadWitnessFile(f"there are {len(values)} results in it")
    return validated(with_lines(values[0]))


def _verdict(text: str) -> Result | RaceResult:
    result = _one(text)
    if is_about_races(result) or result["engine"] == "run":
        raise BadWitnessFile("this is no verdict")
    return result


def _answer_about_races(text: str) -> Result | RaceResult:
    result = _one(text)
    if not is_about_races(result):
        raise BadWitnessFile("this is no answer about races")
    return result


FORMS = {"check": Form(dumps, _verdict), "race": Form(dumps, _answer_about_races)}
"""How the results of each command are kept."""


def _values(text: str) -> Iterator[object]:
    """The JSON values of ``text``, one after the other with nothing but blanks between."""
    decoder = json.JSONDecoder()
    place = _blank(text, 0)
    while place < len(text):
        try:
            value, end = decoder.raw_decode(text, place)
        except json.JSONDecodeError as error:
            raise BadWitnessFile(f"line {error.lineno}, column {error.colno}: this is no JSON: {error.msg}") from None
        except ValueError as error:  # an integer of more digits than Python reads
            raise BadWitnessFile(f"this is no JSON that can be read: {error}") from None
        except RecursionError:
            raise BadWitnessFile("this is no result: lists or objects are nested too deeply") from None
        yield value
        place = _blank(text, end)


def _blank(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t\r\n":
        place += 1
    return place


def validated(value: object) -> Result | RaceResult:
    """``value`` as a result, without its findings and the keys that the schema does not know. Raises
    :class:`BadWitnessFile`."""
    if not isinstance(value, dict) or not {"schema", "verdict", "witness"} & value.keys():
        if isinstance(value, dict) and value.get("engine") == "outcomes":
            raise BadWitnessFile(OUTCOMES)
        raise BadWitnessFile("this is no result: an object as `pgasrob check --format json` prints it is needed")
    if value.get("schema") != SCHEMA:
        found = json.dumps(value.get("schema"))[:40]
        raise BadWitnessFile(f"schema: this version of pgasrob reads schema {SCHEMA}, and the file has {found}")
    if value.get("engine") == "outcomes":
        raise BadWitnessFile(OUTCOMES)
    value.pop("findings", None)  # they are made again of what they are about
    if isinstance(value.get("races"), list):
        return _about_races(value)
    result = _simulated(value) if value.get("engine") == "run" else cast(Result, _typed(value, Result, ""))
    _check_result(result)
    return result


def _check_result(result: Result, within: str = "") -> None:
    """Check that every number in ``result`` refers to something that exists; ``within``: the path in the object."""
    _check_count(result, within)
    runs = (result["witness"], result["assertion_run"], result["deadlock_run"], result.get("effect_run"))
    for key, run in zip((*RUNS, "effect_run"), runs, strict=True):
        if run is not None:
            _check_run(run, within + key)
            mark(run)
    for number, call in enumerate(result.get("illegal_calls", [])):
        if call["run"] is not None:
            _check_run(call["run"], f"{within}illegal_calls[{number}].run")
            mark(call["run"])
    if (effect := result.get("effect_detail")) and result["witness"]:
        doubles = result["witness"].get("doubles", [])
        for held in effect["values"]:
            held["value"] = value_of(held["name"], held["value"], doubles)
            held["in_sc"] = [value_of(held["name"], each, doubles) for each in held["in_sc"]]
    if races := result.get("races"):
        _check_races(races, "races.")
    if consequences := result.get("consequences"):
        _check_consequences(consequences, f"{within}consequences.")


def _check_consequences(found: Consequences, within: str) -> None:
    for index, race in enumerate(found["matters"]):
        at = f"{within}matters[{index}]"
        _check_race(race["race"], f"{at}.race")
        if len(race["runs"]) != 2:
            raise BadWitnessFile(f"{at}.runs: two runs are needed, and here are {len(race['runs'])}")
        for number, run in enumerate(race["runs"]):
            _check_run(run, f"{at}.runs[{number}]")
            for place in run.get("marked", []):
                _within(f"{at}.runs[{number}].marked", place, 0, len(run["computation"]) - 1)
            mark(run)
    for index, harmless in enumerate(found["harmless"]):
        _check_race(harmless, f"{within}harmless[{index}]")


def _check_count(result: Result | RaceResult, within: str = "") -> None:
    if isinstance(nodes := result["nodes"], int):
        _within(f"{within}nodes", nodes, 1, MAX_NODES)
    for index, error in enumerate(result["errors"]):
        for name in ("line", "column", "length"):
            _within(f"{within}errors[{index}].{name}", error[name], 0, MOST)


def _about_races(value: dict[str, object]) -> RaceResult:
    """``value`` as an answer about races."""
    result = cast(RaceResult, _typed(value, RaceResult, ""))
    _check_races(result)
    if other := result.get("robustness"):
        _check_result(other, "robustness.")
    return result


def _check_races(result: RaceResult, within: str = "") -> None:
    _check_count(result, within)
    if (result["verdict"] == "race") != bool(result["races"]) and not result["reason"]:
        raise BadWitnessFile(f"{within}races: a race is needed where the verdict is race, and nowhere else")
    if run := result.get("witness"):
        _check_run(run, f"{within}witness")
        mark(run)
    for index, race in enumerate(result["races"]):
        _check_race(race, f"{within}races[{index}]")


def _check_race(race: Race, at: str) -> None:
    if len(race["accesses"]) != 2:
        raise BadWitnessFile(f"{at}.accesses: two accesses are needed, and here are {len(race['accesses'])}")
    _check_run(race, at)
    last = race["nodes"] - 1
    events = [*race["computation"], *race["accesses"]]
    _check_events(events, f"{at}.computation and accesses", last, last + len(race.get("threads", [])))
    for number, access in enumerate(race["accesses"]):
        if "access" not in access or access["address"] is None:
            raise BadWitnessFile(f"{at}.accesses[{number}]: {OTHER_VERSION}")
    mark(race)


def _simulated(value: dict[str, object]) -> Result:
    """``value`` as a result of `pgasrob run` or an example of `pgasrob outcomes`, which has no verdict."""
    run = cast(RunResult, _typed({"simulation": None, **value}, RunResult, ""))
    outcome = run.get("outcome")
    values = [("simulation.final", name) for name in (run["simulation"] or {"final": {}})["final"]]
    values += [("outcome.values", name) for name in (outcome["values"] if outcome else {})]
    for where, name in values:
        _, _, rank = name.rpartition("@")
        if not PROCESS.fullmatch(rank) or int(rank.partition(".")[0]) >= (run["nodes"] or 0):
            raise BadWitnessFile(f"{where}: a name like r@0, with a rank that there is, is needed, not {name}")
    doubles = run["witness"].get("doubles", []) if run["witness"] else []
    if run["simulation"]:
        run["simulation"]["final"] = shown(run["simulation"]["final"], doubles)
    if outcome:
        outcome["values"] = shown(outcome["values"], doubles)
    return cast(Result, run)


# --- Types -----------------------------------------------------------------------------------------------------------


def _typed(value: object, kind: Any, where: str) -> object:
    """A copy of ``value``, checked to be of the type ``kind``."""
    if is_typeddict(kind):
        return _object(value, kind, where)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _one_of(value, arguments, where)
    if origin is Literal:
        return _expect(value in arguments and isinstance(value, str), value, where, _any_of(arguments))
    if origin is list:
        _expect(isinstance(value, list), value, where, NAMES[list])
        return [_typed(each, arguments[0], f"{where}[{index}]") for index, each in enumerate(cast(list[object], value))]
    if origin is dict:
        _expect(isinstance(value, dict), value, where, NAMES[dict])
        items = cast(dict[str, object], value).items()
        return {_unicode(key): _typed(each, arguments[1], f"{where}.{key}") for key, each in items}
    if kind is float:
        number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        return _expect(number, value, where, NAMES[float])
    if kind is int:
        _expect(type(value) in (int, Double, Line), value, where, NAMES[int])
        _within(where, cast(int, value), -MOST, MOST)
        return value
    _expect(isinstance(value, kind), value, where, NAMES[kind])
    return _unicode(value) if isinstance(value, str) else value


def _object(value: object, kind: Any, where: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _bad(value, where, NAMES[dict])
    known = hints(kind)
    for key, hint in known.items():
        if key not in value and get_origin(hint) is not NotRequired:
            raise BadWitnessFile(f"{where}{'.' * bool(where)}{key}: {OTHER_VERSION}")
    return {
        key: _typed(each, _required(known[key]), f"{where}.{key}" if where else key)
        for key, each in value.items()
        if key in known
    }


def _required(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is NotRequired else hint


def _one_of(value: object, kinds: tuple[Any, ...], where: str) -> object:
    """``value`` as the one of ``kinds`` that it fits; in the schema they differ by the kind of JSON value."""
    for kind in kinds:
        plain = dict if is_typeddict(kind) else get_origin(kind) or kind
        if (
            value in get_args(kind)
            if plain is Literal
            else type(value) is plain or (plain is int and isinstance(value, Line))
        ):
            return _typed(value, kind, where)
    others = [kind for kind in kinds if kind is not NoneType]
    if len(others) == 1 and value is not None:
        return _typed(value, others[0], where)  # for its message
    raise _bad(value, where, " or ".join(NAMES.get(kind) or _any_of(get_args(kind)) for kind in kinds))


def _expect(fits: bool, value: object, where: str, needed: str) -> object:
    if not fits:
        raise _bad(value, where, needed)
    return value


def _bad(value: object, where: str, needed: str) -> BadWitnessFile:
    found = NAMES[type(value)] if isinstance(value, (list, dict)) else json.dumps(value)
    return BadWitnessFile(
        f"{where}: {needed} is needed, and here is {found if len(found) <= 40 else f'{found[:37]}...'}"
    )


def _any_of(values: tuple[object, ...]) -> str:
    return " or ".join(f'"{value}"' for value in values)


def _unicode(text: str) -> str:
    """``text`` without lone surrogates, which no file can hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# --- What types do not say -------------------------------------------------------------------------------------------


def _check_run(run: Witness, where: str) -> None:
    """Check that every number in ``run`` refers to something that exists."""
    _within(f"{where}.nodes", run["nodes"], 1, MAX_NODES)
    if run["shows"] not in SHOWS:
        raise _bad(run["shows"], f"{where}.shows", _any_of(SHOWS))
    if run["shows"] == "violation" and not run["cycle"]:
        raise BadWitnessFile(f"{where}.cycle: a violation is needed to have one")
    if run["shows"] == "fault" and not run["fault"]:
        raise BadWitnessFile(f"{where}.fault: a run that shows a fault is needed to have one")
    threads = run.get("threads", [])
    last_rank, last_place = run["nodes"] - 1, len(run["computation"]) - 1
    _each(threads, f"{where}.threads", lambda each, at: _within(f"{at}.rank", each["rank"], 0, last_rank))
    last_process = last_rank + len(threads)
    _check_events(run["computation"], f"{where}.computation", last_rank, last_process)
    for key, edges in (("happens_before", run["happens_before"]), ("cycle", run["cycle"] or [])):
        _each(edges, f"{where}.{key}", lambda edge, at: _check_edge(edge, at, last_place))
    _each(run["cycle_type"] or [], f"{where}.cycle_type", lambda rank, at: _within(at, rank, 0, last_process))
    _each(run["memory"], f"{where}.memory", lambda each, at: _within(f"{at}.rank", each["rank"], 0, last_rank))
    _each(run["standing"], f"{where}.standing", lambda each, at: _within(f"{at}.rank", each["rank"], 0, last_process))
    for rank, standing in enumerate(run["standing"]):
        at = f"{where}.standing[{rank}].next"
        _each(standing["next"], at, lambda each, at: _check_position(each, at, last_rank))
        if not standing["ended"] and not standing["next"]:
            raise BadWitnessFile(f"{at}: a rank that has not ended stands before a command")
    if run["fault"]:
        _within(f"{where}.fault.rank", run["fault"]["rank"], 0, last_process)
        _check_position(run["fault"], f"{where}.fault", last_rank)
    if "effect" in run:
        _within(f"{where}.effect.beyond", run["effect"]["beyond"] or 0, 0, last_place + 1)
        _each(run["effect"]["places"], f"{where}.effect.places", lambda place, at: _within(at, place, 0, last_place))
    sequential = run["sequential"]
    if sequential:
        at = f"{where}.sequential"
        for key in ("without", "places"):
            places = sequential[key]  # type: ignore[literal-required]
            _each(places, f"{at}.{key}", lambda place, at: _within(at, place, 0, last_place))
        if len(sequential["places"]) != len(sequential["events"]):
            raise BadWitnessFile(f"{at}.places: as many places as events are needed")
        of_violation = (run["effect"]["beyond"] if "effect" in run else None) or len(run["computation"])
        if sorted(sequential["places"] + sequential["without"]) != list(range(of_violation)):
            raise BadWitnessFile(f"{at}: every event of the run is needed once, in places or in without")
        _check_events(sequential["events"], f"{at}.events", last_rank, last_process)


def _check_events(events: list[Event], where: str, last_rank: int, last_process: int) -> None:
    issued: set[tuple[int, int]] = set()
    for place, event in enumerate(events):
        at = f"{where}[{place}]"
        _within(f"{at}.rank", event["rank"], 0, last_process)
        _check_position(event, at, last_rank)
        if event["target"] is not None:
            _within(f"{at}.target", event["target"], 0, last_rank)
        if event["part"] is not None:
            _within(f"{at}.part", event["part"], 1, MOST_PARTS)
        operation = (event["rank"], event["operation"])
        if event["event"] not in STEPS:
            issued.add(operation)
        elif operation not in issued:
            raise BadWitnessFile(f"{at}.operation: rank {operation[0]} has issued no operation {operation[1]} before")


def _check_position(each: Any, where: str, last_rank: int) -> None:
    """Check line and column of an event or command, and its address if it has one."""
    for key in ("line", "column", "end_line", "end_column", "operation"):
        if key in each:
            _within(f"{where}.{key}", each[key], 0, MOST)
    if each.get("address") is not None:
        _within(f"{where}.address.rank", each["address"]["rank"], 0, last_rank)


def _check_edge(edge: Edge, where: str, last_place: int) -> None:
    _within(f"{where}.from", edge["from"], 0, last_place)
    _within(f"{where}.to", edge["to"], 0, last_place)
    if edge["relation"] not in RELATIONS:
        raise _bad(edge["relation"], f"{where}.relation", _any_of(RELATIONS))


def _each(values: Any, where: str, check: Callable[[Any, str], None]) -> None:
    for index, value in enumerate(values):
        check(value, f"{where}[{index}]")


def _within(where: str, value: int, least: int, most: int) -> None:
    if not least <= int(value) <= most:
        if most < least:
            raise BadWitnessFile(f"{where}: {value} is the place of no event, for the run has none")
        raise BadWitnessFile(f"{where}: an integer from {least} to {most} is needed, and here is {value}")
