"""Whatever is done to a certificate: it is refused, or what it says still holds."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from pgasrob.api import load
from pgasrob.certificates import write as writing
from pgasrob.certificates.check.accept import examine
from pgasrob.certificates.write import NoCertificate, write
from pgasrob.diagnostics import SourceError
from pgasrob.program.parser import parse
from pgasrob.program.program import Program
from tests.certificates.mutants import mutant, text_of
from tests.support import examples

Json = Any


def program(*ranks: str) -> Program:
    return parse(text_of(*ranks))


WRITE = "write(one, 1, x, q); {} write(one, 1, y, u);"
READ = "await(mem[y] == 1); r <- mem[x];"
SELF = "program every;\nmemory x, y;\nregister r;\nqueue q, u unordered;\n"
SELF += "process {{ write(x, me, y, q); wait({}); r <- mem[y]; }}"
RING = SELF.replace("me, y, q); wait({});", "(me + 1) % nodes, y, q); wait({}); barrier;")
PAIRS = SELF.replace(
    "write(x, me, y, q); wait({}); r <- mem[y];",
    "if (nodes % 2 == 0) {{ write(x, me ^ 1, y, q); wait({}); barrier; r <- mem[y]; }}",
)
VALUES = SELF.replace("write(x", "r <- mem[x]; if (r == 2) {{ write(x").replace(
    "wait({}); r <- mem[y];", "r <- mem[y]; }} mem[x] <- {};"
)
SIBLINGS: dict[str, tuple[Program, Program]] = {
    # by infeasibility
    "wait": (program(WRITE.format("wait(q);"), READ), program(WRITE.format("wait(u);"), READ)),
    "barrier": (
        program("write(one, 1, x, q); wait(q); barrier;", "barrier; r <- mem[x]; mem[x] <- 2;"),
        program("write(one, 1, x, q); wait(u); barrier;", "barrier; r <- mem[x]; mem[x] <- 2;"),
    ),
    "fence": (
        program("write(one, 1, x, u); fence(u, 1); write(one, 1, y, u);", READ),
        program("write(one, 1, x, u); fence(u, 0); write(one, 1, y, u);", READ),
    ),
    # by states: values decide
    "flag": (
        program("write(one, 1, x, q); mem[z] <- 1;", "r <- fetch(0, z); if (r == 2) { r <- mem[x]; mem[w] <- r; }"),
        program("write(one, 1, x, q); mem[z] <- 1;", "r <- fetch(0, z); if (r == 1) { r <- mem[x]; mem[w] <- r; }"),
    ),
    "loop": (
        program("loop { write(one, 1, x, q); mem[z] <- 1; }", "r <- fetch(0, z); if (r == 2) { r <- mem[x]; s <- r; }"),
        program("loop { write(one, 1, x, q); mem[z] <- 1; }", "r <- fetch(0, z); if (r == 1) { r <- mem[x]; s <- r; }"),
    ),
    "states": (
        program("update(add, 1, 1, x, q); mem[z] <- 1;", "r <- fetch(0, z); if (r == 2) { r <- mem[x]; mem[w] <- r; }"),
        program("update(add, 1, 1, x, q); mem[z] <- 1;", "r <- fetch(0, z); if (r == 1) { r <- mem[x]; mem[w] <- r; }"),
    ),
    # with registers
    "no sources": (
        program("r <- 1; if (r == 2) { write(one, 0, y, q); r <- mem[y]; }", "skip;"),
        program("r <- 1; if (r == 1) { write(one, 0, y, q); r <- mem[y]; }", "skip;"),
    ),
    "index": (
        program("r <- 1; write(one, 1, a + r, q); mem[z] <- 1;", "r <- fetch(0, z); s <- mem[a + 2];"),
        program("r <- 2; write(one, 1, a + r, q); mem[z] <- 1;", "r <- fetch(0, z); s <- mem[a + 2];"),
    ),
    # on every number of nodes
    "self": (parse(SELF.format("q")), parse(SELF.format("u"))),
    "values": (parse(VALUES.format(1)), parse(VALUES.format(2))),
    "pairs": (parse(PAIRS.format("q")), parse(PAIRS.format("u"))),
    "ring": (parse(RING.format("q")), parse(RING.format("u"))),
}
"""Robust programs, and others that are not, of the same shape."""


@pytest.fixture(params=SIBLINGS, name="siblings")
def fixture_siblings(request: pytest.FixtureRequest) -> tuple[Program, Program]:
    return SIBLINGS[request.param]


def of_kind(module: Any, program: Program) -> Any:
    """A certificate of every number of nodes for a program with one block."""
    if [process.ranks for process in program.processes] == [None]:
        return module.write_for_every_count(program)
    return module.write(program, None)


def test_there_are_siblings_of_all_kinds() -> None:
    kinds = {written(robust)["kind"] for robust, _ in SIBLINGS.values()}
    assert kinds == {"infeasibility", "states", "infeasibility and states", "no sources"}


def written(program: Program) -> Json:
    return json.loads(of_kind(writing, program).text)


def reason(program: Program, certificate: Json) -> str | None:
    try:
        return examine(program, json.dumps(certificate)).reason
    except SourceError as error:
        return str(error)


def about(program: Program, certificate: Json) -> Json:
    """The certificate, as if it were about another program."""
    return {**certificate, "program": program.source.digest}


def test_a_certificate_is_about_one_program(siblings: tuple[Program, Program]) -> None:
    robust, other = siblings
    certificate = written(robust)
    assert reason(robust, certificate) is None
    assert "another program" in str(reason(other, certificate))
    assert reason(other, about(other, certificate)) is not None


# Mutations


def places(certificate: Json) -> list[tuple[Json, Any]]:
    """Everything in a certificate but its head, by what it is in."""
    found: list[tuple[Json, Any]] = []
    todo: list[Json] = [certificate]
    while todo:
        inside = todo.pop()
        for key in list(inside) if isinstance(inside, dict) else range(len(inside)):
            if inside is certificate and key in ("version", "name", "kind", "program", "format"):
                continue
            found.append((inside, key))
            if isinstance(inside[key], list | dict):
                todo.append(inside[key])
    return found


def mutated(certificate: Json, source: random.Random) -> Json:
    changed = deepcopy(certificate)
    for _ in range(source.choice((1, 1, 1, 2, 5))):
        inside, key = source.choice(places(changed))
        value = inside[key]
        choice = source.randrange(6)
        if choice == 0 and isinstance(inside, list):
            del inside[key]
        elif choice == 1 and isinstance(value, int):
            inside[key] = value + source.choice((-1, 1, 2))
        elif choice == 2 and isinstance(value, list):
            inside[key] = []
        elif choice == 3 and isinstance(inside, list):
            inside.insert(key, deepcopy(value))
        elif choice == 4:
            inside[key] = source.choice((None, 0, 1, -1, "r", "w", [], [0]))
        else:
            other, place = source.choice(places(changed))
            inside[key] = deepcopy(other[place])
    return changed


def test_mutated_certificates() -> None:
    """500, with --nightly 40,000: most are refused. What is accepted proves nothing of a program that is not robust."""
    seen: Counter[bool] = Counter()
    source = random.Random(1)
    for name, (robust, other) in SIBLINGS.items():
        certificate = written(robust)
        for _ in range(
            examples(10 if name in ("ring", "pairs", "values") else 250 // (len(SIBLINGS) - 3), nightly=5_000)
        ):
            changed = mutated(certificate, source)
            seen[reason(robust, changed) is None] += 1
            assert reason(other, about(other, changed)) is not None
    assert seen[False] > 2 * seen[True] > 0


def lenient(tmp_path: Path) -> Callable[[Program], Json]:
    """Writes certificates as if no move led to Found, and no command closed a cycle."""
    folder = tmp_path / "forger"
    folder.mkdir()
    copy = mutant(
        folder, "forger", ("check/command_effects.py", "if enters and each.may_hit(self.source):", "if False:")
    )
    return lambda program: json.loads(copy.write.write(program, None).text)


def test_forged_certificates(siblings: tuple[Program, Program], tmp_path: Path) -> None:
    """What is written as if nothing closed a cycle is refused, and so is what is made of it."""
    _, other = siblings
    certificate = lenient(tmp_path)(other)
    assert "close" in str(reason(other, certificate))
    source = random.Random(2)
    for _ in range(examples(10, nightly=2_000)):
        assert reason(other, mutated(certificate, source)) is not None


def test_ranks_that_there_are_not_keep_nobody_from_a_barrier(tmp_path: Path) -> None:
    """The violation comes after two barriers. The second one takes the ranks that there are, whoever else arrives."""
    path = Path(__file__).parents[2] / "programs" / "one_to_one" / "one_to_one_two_barriers.pgas"
    program, nowhere = parse(path.read_text()), "if phase == 0 and tainted == (other == rank):"
    edit = "check/infeasible.py", "if tainted == (other == rank or phase > 0):", nowhere
    certificate = json.loads(mutant(tmp_path, "no_second_barrier", edit).write.write(program, None).text)
    assert "'place'" in str(reason(program, certificate))
    for _, (_, _, places) in certificate["parts"][0]["infeasible"]["map"]:
        last = max(rank for (rank, _, phase), _ in places["map"])
        for (rank, state, phase), _ in list(places["map"]):
            if (rank, phase) == (last, 1):
                places["map"].append([[-1, state, 1], {"set": [[{"set": []}, {"set": []}]]}])
    assert reason(program, certificate) is not None


# What is checked of a certificate, one by one


@pytest.mark.parametrize("name", ["infeasible", "states"])
@pytest.mark.parametrize("value", [0, [], None, "", {"set": []}])
def test_what_is_said_of_sources_and_states_is_a_mapping(name: str, value: Json) -> None:
    """Also where there are none: who accepts a certificate counts them."""
    robust, _ = SIBLINGS["no sources"]
    certificate = written(robust)
    certificate["parts"][0][name] = {}
    assert reason(robust, certificate) is None
    certificate["parts"][0][name] = value
    assert "no mapping" in str(reason(robust, certificate))


@pytest.mark.parametrize("nodes", [0, -1, 4097, 2**64])
@pytest.mark.parametrize("name", ["one_to_one/one_to_one_wait.pgas", "c/openshmem/message_passing_fence.c"])
def test_numbers_of_nodes_that_no_program_has(nodes: int, name: str) -> None:
    """For C nothing is lowered for so many ranks."""
    program = load(Path(__file__).parents[2] / "programs" / name)
    certificate = {"format": 6, "nodes": nodes, "frame": None, "failed_polls": "wait", "conflicts": "commuting"}
    found = examine(program, json.dumps({**certificate, "parts": [{"infeasible": {"map": []}, "states": {"map": []}}]}))
    assert "a program runs on 1..4096" in str(found.reason)


def drop_registers(certificate: Json) -> None:
    certificate["parts"][0]["files"][0][1][1] = {"set": []}


def drop_phase(certificate: Json) -> None:
    certificate["parts"][0]["phases"][0][1] = {"set": [0]}


def drop_later_phase(certificate: Json) -> None:
    del certificate["parts"][0]["phases"][1]


def drop_phases(certificate: Json) -> None:
    certificate["parts"][0]["phases"] = []


def drop_rank(certificate: Json) -> None:
    """With all that is said of it."""
    certificate["parts"][0]["phases"] = [phase[:1] for phase in certificate["parts"][0]["phases"]]


def first_source(certificate: Json) -> Json:
    """What is said of it: ``done``, ``made``, places."""
    return certificate["parts"][0]["infeasible"]["map"][0][1]


def drop_access(certificate: Json) -> None:
    first_source(certificate)[1] = [{"set": []}, {"set": []}]


def drop_source(certificate: Json) -> None:
    del certificate["parts"][0]["infeasible"]["map"][0]


def say_nothing(certificate: Json) -> None:
    certificate["parts"][0]["infeasible"]["map"][0][1] = None


def drop_place(certificate: Json) -> None:
    del first_source(certificate)[2]["map"][0]


def claim_more(certificate: Json) -> None:
    for _, ways in first_source(certificate)[2]["map"]:
        for way in ways["set"]:
            way[1] = {"set": [[cell, "w"] for cell in range(9)]}


def drop_initial(certificate: Json) -> None:
    del certificate["parts"][0]["states"]["map"][0]


def drop_last(certificate: Json) -> None:
    del certificate["parts"][0]["states"]["map"][-1]


def all_hopeless(certificate: Json) -> None:
    for pair in certificate["parts"][0]["states"]["map"]:
        pair[1] = []


def begin_alone(certificate: Json) -> None:
    certificate["parts"][0]["states"]["map"][0][1] = [1]


def others(certificate: Json) -> None:
    certificate["parts"][0]["states"]["map"][0][1] = [-1]


def rounds(certificate: Json) -> None:
    certificate["parts"][0]["states"]["map"].reverse()


def float_register(certificate: Json) -> None:
    certificate["parts"][0]["states"]["map"][0][0][1][0][0] = 0.5


def no_reading(certificate: Json) -> None:
    certificate["conflicts"] = "none"


def no_nodes(certificate: Json) -> None:
    certificate["nodes"] = None


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("wait", drop_registers, "control state 1 of rank 0 in phase 0 with registers"),
        ("wait", drop_phase, "in phase 0"),
        ("barrier", drop_later_phase, "in phase 0"),
        ("barrier", drop_phases, "malformed: IndexError"),
        ("barrier", drop_rank, "malformed: IndexError"),
        ("wait", drop_access, "'made'"),
        ("wait", drop_source, "nothing is said about source"),
        ("wait", say_nothing, "malformed: TypeError"),
        ("wait", drop_place, "'place'"),
        ("wait", claim_more, "'place'"),
        ("flag", drop_initial, "the initial state is missing"),
        ("flag", drop_last, "leads to no state"),
        ("flag", all_hopeless, "may not be followed alone"),
        ("flag", begin_alone, "may not be followed alone"),
        ("flag", others, "may not be followed alone"),
        ("flag", rounds, "leads on"),
        ("flag", float_register, "invalid literal for int() with base 10: '0.5'"),
        ("flag", no_reading, "no reading"),
        ("flag", no_nodes, "no node count"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_is_missing_is_told(name: str, change: Callable[[Json], None], told: str) -> None:
    robust, _ = SIBLINGS[name]
    certificate = written(robust)
    assert reason(robust, certificate) is None
    change(certificate)
    assert told in str(reason(robust, certificate))


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", "{" * 100_000, "[" * 100_000, '{"format": 1}', '{"format": NaN}']
)
def test_what_is_no_certificate(text: str) -> None:
    assert "malformed" in str(examine(SIBLINGS["wait"][0], text).reason)


def test_faults() -> None:
    """No certificate is written where one is reached, and none accepted that does not exclude them."""
    with pytest.raises(NoCertificate, match="no value"):
        write(program("r <- fetch(1, x); s <- 1 / r;", "skip;"), None)
    fine = program("r <- fetch(1, x); s <- 1 / (r + 1);", "skip;")
    found = written(fine)
    assert len(found["parts"][0]["states"]["map"]) > 1
    assert "may have no value" in str(reason(fine, {**found, "parts": [{**found["parts"][0], "states": {"map": []}}]}))
    faulty = program("r <- fetch(1, x); s <- 1 / (r + 0);", "skip;")
    assert "in state 1 a command has no value" in str(reason(faulty, about(faulty, found)))


def test_programs_with_gaps_are_refused() -> None:
    """What is left out of them may not be robust."""
    from dataclasses import replace

    robust, _ = SIBLINGS["wait"]
    certificate = written(robust)
    assert "more runs" in str(reason(replace(robust, gaps=("somebody calls rand",)), certificate))


FAR = 10**15


def many_ways() -> Json:
    return [[{"set": [["located", cell]]}, {"set": []}] for cell in range(1_000)]


@pytest.mark.parametrize(
    ("forgery", "told"),
    [
        (
            lambda it: first_source(it)[2]["map"].append([[0, 0, FAR], {"set": [[{"set": []}, {"set": []}]]}]),
            "left out",
        ),
        (lambda it: it["parts"][0]["phases"].extend([[{"set": [0]}] * 3] * 1_000), "more than 256 phases"),
        (lambda it: it["parts"][0]["files"][0][0][1]["set"].extend([n] for n in range(1_000)), "or register files"),
        (lambda it: first_source(it)[2]["map"][0][1]["set"].extend(many_ways()), "more than 256 ways of a place"),
        (lambda it: it.update(format="\ud800"), "it is not of format"),
        (lambda it: it.update(nodes=0), "on so many nodes it is no program"),
        (lambda it: it.update(nodes=10**30), "on so many nodes it is no program"),
        (lambda it: it.update(frame=[0, FAR, 1]), "in part 0"),
    ],
    ids=[
        "a phase far away",
        "many phases",
        "many files",
        "many ways",
        "half a character",
        "no nodes",
        "too many nodes",
        "a large frame",
    ],
)
def test_it_ends_and_answers(forgery: Callable[[Json], None], told: str) -> None:
    ring = parse(RING.format("q"))
    certificate = json.loads(write(ring, 3).text)
    forgery(certificate)
    reason = examine(ring, json.dumps(certificate)).reason
    assert told in str(reason) and str(reason).isascii()
