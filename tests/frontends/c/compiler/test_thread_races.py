"""Races of the threads of a rank, and what is none."""

from __future__ import annotations

import pytest

from pgasrob import check
from pgasrob.frontends.lower import parse_c
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Assert
from pgasrob.program.illegal_calls import Illegal, IllegalCall
from pgasrob.program.program import Program
from pgasrob.program.statements import Do, statements_in
from tests.frontends.c.thread_programs import PROGRAM, RACES, RIGHT


def lowered(body: str) -> Program:
    return parse_c(PROGRAM.replace("BODY", body), "test.c").program(2)


def claims(body: str) -> list[Assert]:
    """The assertions that may fail, and the illegal calls."""
    statements = (each for process in lowered(body).processes for each in statements_in(process.body))
    return [each.command for each in statements if isinstance(each, Do) and isinstance(each.command, Assert)]


def race(body: str) -> IllegalCall:
    facts = {each.fact for each in claims(body) if isinstance(each, Illegal)}
    assert len(facts) == 1
    return facts.pop()


@pytest.mark.parametrize(("name", "body"), RACES)
def test_races(name: str, body: str) -> None:
    found = race(body)
    assert found.rule.code == "openmp-data-race" and found.sentence.startswith(f"`{name}")


@pytest.mark.parametrize("body", RIGHT)
def test_what_is_right_has_no_race_and_its_assertions_hold(body: str) -> None:
    assert not claims(body)


@pytest.mark.parametrize(
    ("body", "remedy"),
    [
        ("int s=0;\n#pragma omp parallel for\nfor(int i=0;i<8;i++) s += i;\n x=s;", "add reduction(+:s)"),
        ("int t;\n#pragma omp parallel for\nfor(int i=0;i<8;i++) { t = i; x2[i] = t; }", "add private(t), or"),
        ("int i,j;\n#pragma omp parallel for\nfor(i=0;i<8;i++) for(j=0;j<2;j++) x2[i]=j;", "add private(j), or"),
        ("int s=0;\n#pragma omp parallel\n s++;", "give the accesses to `s` `atomic`"),
        ("\n#pragma omp parallel for\nfor(int i=0;i<8;i++) x2[i]=x2[i+1];", "let each thread write elements"),
    ],
)
def test_each_has_its_remedy(body: str, remedy: str) -> None:
    assert race(body).remedy.startswith(remedy)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_a_race_needs_two_iterations_so_far_apart(count: int) -> None:
    body = f"int a[9]={{0}};\n#pragma omp parallel for\nfor(int i=0;i<{count};i++) a[i+2]=a[i];\n x=a[2];"
    assert bool(claims(body)) == (count > 2)


def test_the_place_is_that_of_the_access_and_a_run_comes_to_it() -> None:
    text = PROGRAM.replace("BODY", "int s=0;\n#pragma omp parallel for\nfor(int i=0;i<2;i++)\n s += i;\n x=s;")
    verdict = check(parse_c(text, "test.c"), 2, effect=False)
    line = text[: text.index("s += i")].count("\n") + 1
    assert [each.call.span.line for each in verdict.illegal_calls] == [line]


@pytest.mark.parametrize(
    "piece",
    ["x2[x2[i]] = i", "{ int *q = x2 + i; *q = i; }", "helper2(i)", "x2[i * 4 + k] = i", "x2[i % 2] = i", "g = x2[i]"],
)
def test_what_is_not_known_is_no_race_but_a_line_that_is_not_checked(piece: str) -> None:
    loops = "for (int i = 0; i < 4; i++) for (int k = 0; k < 4; k++)"
    body = f"\n#pragma omp parallel for\n{loops}\n if (i == k) {piece};"
    program = lowered(body)
    noted = next(each for each in program.assumptions if each.kind is Kind.THREADS_INDEPENDENT)
    assert "not checked in line" in str(noted)
    assert not claims(body)
