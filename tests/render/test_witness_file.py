"""Reading results back: what is accepted can be drawn in every format, and what is not is refused with its place."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from functools import cache
from typing import Any

import pytest

from pgasrob.api import check
from pgasrob.batch.job import Job
from pgasrob.program.parser import parse
from pgasrob.render.one_run_json import simulated_to_json
from pgasrob.render.output_files import FORMATS
from pgasrob.render.verdict_json import to_json
from pgasrob.render.witness_file import BadWitnessFile, read_results, validated
from pgasrob.runs.simulate import simulate
from tests.render.diagram.test_model import corpus, result_of, with_runs
from tests.render.test_output_files import FAILING, FAULT, ROBUST, of_witness
from tests.render.test_verdict_json import DEADLOCK, ONE_TO_ONE
from tests.support import check_all, examples, one_to_one

JUNK: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 3, 99, 10**6, 2**63, 2**70, 1.5, float("nan"), float("inf"), "", "popb", "load",
    "barrier", "a\nb\x1b", "\ud800", "</script>%_#&{}\\$^~", [], {}, [1], {"a": 1}, "x" * 500, "é中→",
)  # fmt: skip
WORDS = ("barrier", "popb", "popc", "load", "fetch", "notify", "wait", "po", "cf", "id", "")


@cache
def samples() -> list[str]:
    """Results of every kind, as text."""
    results: list[Any] = [to_json(check(parse(ONE_TO_ONE, "example.pgas"), engine="product"))]
    results += [result_of(text) for text in (FAULT, FAILING, ROBUST)]
    results += [result_of(DEADLOCK, 3), corpus("mcs_lock/mcs_lock_fifo.pgas"), corpus("c/openshmem/transpose_sync.c")]
    results += [simulated_to_json(simulate(one_to_one(), seed)) for seed in (1, 2)]
    return [json.dumps(result) for result in results]


def test_what_was_written_is_read() -> None:
    text = "\n".join(samples())
    assert read_results(text.encode()) == [json.loads(sample) for sample in samples()]
    indented = json.dumps(json.loads(samples()[0]), indent=2)
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        assert read_results(indented.encode(encoding)) == [json.loads(samples()[0])]


def test_every_run_of_the_corpus_is_read() -> None:
    for file, witness in with_runs():
        result = of_witness(file, witness)
        assert validated(json.loads(json.dumps(result))) == result


def test_what_the_schema_does_not_know_is_dropped() -> None:
    value = json.loads(samples()[0])
    value["more"] = 1
    value["witness"]["computation"][3]["more"] = {"x": []}
    assert validated(value) == json.loads(samples()[0])


def test_lone_surrogates_are_replaced() -> None:
    """No file could hold them."""
    source = changed("witness", "source", to="a\ud800b\U0001f600")
    result = validated(json.loads(json.dumps(source)))
    assert result["witness"] and result["witness"]["source"] == "a\ufffdb\U0001f600"


def changed(*path: Any, to: Any) -> Any:
    value = json.loads(samples()[0])
    place = value
    for key in path[:-1]:
        place = place[key]
    if to is KeyError:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (changed("schema", to=2), "schema: this version of pgasrob reads schema 1, and the file has 2"),
        (changed("schema", to=KeyError), "schema 1, and the file has null"),
        (changed("verdict", to="fine"), 'verdict: "robust" or "not robust" or "unknown" or "error" is needed'),
        (changed("nodes", to=0), "nodes: an integer from 1 to 4096 is needed, and here is 0"),
        (changed("stats", "seconds", to="1"), 'stats.seconds: a number is needed, and here is "1"'),
        (changed("witness", "computation", 3, "rank", to="0"), "witness.computation[3].rank: an integer is needed"),
        (changed("witness", "computation", 3, "rank", to=True), "computation[3].rank: an integer is needed"),
        (changed("witness", "computation", 3, "rank", to=2), "[3].rank: an integer from 0 to 1 is needed"),
        (changed("witness", "computation", 1, "operation", to=5), "rank 0 has issued no operation 5 before"),
        (changed("witness", "computation", 1, "address", "name", to=KeyError), "[1].address.name: it is missing"),
        (changed("witness", "computation", 1, "address", to=7), "[1].address: an object is needed, and here is 7"),
        (changed("witness", "happens_before", to=KeyError), "written by another version of pgasrob"),
        (changed("witness", "cycle", 0, "from", to=9), "witness.cycle[0].from: an integer from 0 to 8 is needed"),
        (changed("witness", "cycle", 0, "relation", to="xx"), 'cycle[0].relation: "po" or "cf" or "id" is needed'),
        (changed("witness", "cycle", to=[]), "witness.cycle: a violation is needed to have one"),
        (changed("witness", "computation", to={}), "witness.computation: a list is needed, and here is an object"),
        (changed("witness", "shows", to="nothing"), 'witness.shows: "violation" or'),
        (changed("witness", "memory", 0, "rank", to=-1), "witness.memory[0].rank: an integer from 0 to 1"),
        (changed("effect_run", "effect", "places", to=[12]), "effect_run.effect.places[0]: an integer from 0 to 11"),
        (changed("effect_run", "effect", "beyond", to=13), "effect_run.effect.beyond: an integer from 0 to 12"),
        (changed("effect_run", "effect", "beyond", to=8), "effect_run.sequential: every event"),
        (changed("errors", to=[{"code": 1}]), "errors[0].message: it is missing"),
            (changed("engine", to=1), "engine: a text is needed, and here is 1"),
        ([1], "this is no result"),
        ({"a": 1}, "this is no result"),
    ],
)  # fmt: skip
def test_messages_say_where(value: Any, message: str) -> None:
    with pytest.raises(BadWitnessFile) as error:
        validated(value)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "there is nothing in it"),
        (b" \n", "there is nothing in it"),
        (b"robust", "line 1, column 1: this is no JSON"),
        (b'{"schema": 1,\n "a" 2}', "line 2, column 6: this is no JSON: Expecting ':' delimiter"),
        (b"\xff\xfe\xfa", "this is no text in UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"schema": ' + b"1" * 5000 + b"}", "no JSON that can be read"),
    ],
)
def test_what_is_no_json(data: bytes, message: str) -> None:
    with pytest.raises(BadWitnessFile) as error:
        read_results(data)
    assert message in str(error.value)


def test_the_number_of_a_bad_result_among_several() -> None:
    with pytest.raises(BadWitnessFile, match=r"result 2: nodes: "):
        read_results(f"{samples()[0]}\n{json.dumps(changed('nodes', to=-1))}".encode())


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path] * bool(path) + [each for key, inner in inside for each in paths(inner, (*path, key))]


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def mutant(chance: random.Random) -> Any:
    """A sample with something wrong in it, or something different that may be right."""
    value = json.loads(chance.choice(samples()))
    gentle = chance.random() < 0.7
    for _ in range(chance.choice((1, 1, 2, 5))):
        path = chance.choice(paths(value))
        parent, key, old = at(value, path[:-1]), path[-1], at(value, path)
        if gentle and type(old) is int:
            parent[key] = max(0, old + chance.choice((-2, -1, 1, 2)))
        elif gentle and isinstance(old, str):
            parent[key] = chance.choice(WORDS)
        elif gentle:
            continue
        elif chance.random() < 0.4:
            del parent[key]
        elif isinstance(old, list) and old and chance.random() < 0.5:
            old.insert(0, deepcopy(chance.choice(old)))
            chance.shuffle(old)
        else:
            parent[key] = chance.choice(JUNK)
    return value


def test_mutants_are_refused_or_can_be_drawn() -> None:
    chance = random.Random(7)
    accepted = refused = longest = 0
    for _ in range(examples(50, 3_000)):
        data = json.dumps(mutant(chance)).encode()
        try:
            (result,) = read_results(data)
        except BadWitnessFile as error:
            refused += 1
            longest = max(longest, len(str(error)))
            continue
        accepted += 1
        for format_ in FORMATS.values():
            if format_.can_show(result):
                format_.text([result]).encode()
    assert accepted > 15
    assert refused > 15
    assert longest < 200


def test_a_text_that_is_no_program_is_a_result_too() -> None:
    (checked,) = check_all(["no/such/file.pgas"], Job())
    result = to_json(checked.verdict)
    assert result["errors"]
    assert validated(json.loads(json.dumps(result))) == result
