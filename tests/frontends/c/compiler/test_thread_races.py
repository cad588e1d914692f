"""Races of the threads of a rank, and what is none."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from random import Random

import pytest

from pgasrob import check
from pgasrob.frontends.lower import parse_c
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Assert
from pgasrob.program.illegal_calls import Illegal, IllegalCall
from pgasrob.program.program import Program
from pgasrob.program.statements import Do, statements_in
from tests.frontends.c.thread_programs import PROGRAM, RACES, RIGHT
from tests.support import examples


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


@pytest.mark.parametrize("count", [1, 2, 5, 6])
def test_the_nearest_iteration_counts(count: int) -> None:
    loop = f"for(int i=0;i<{count};i++) {{ x2[i+9]=x2[i+14]; x2[i]=x2[i+5]+x2[i+1]; }}"
    assert bool(claims(f"\n#pragma omp parallel for\n{loop}\n")) == (count > 1)


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


@dataclass(frozen=True)
class Line:
    """`name[i * by + k * inner + plus]` is read or written, where ``least`` <= i, in a loop over k if there is one, and
    under `critical` or not; ``by`` None: a scalar."""

    name: str
    writes: bool
    by: int | None
    inner: int
    plus: int
    least: int
    critical: bool

    def text(self) -> str:
        place = self.name if self.by is None else f"{self.name}[{self.by} * i + {self.inner} * k + {self.plus}]"
        do = f"{place} = 1;" if self.writes else f"{{ int l = {place}; (void)l; }}"
        lines = [f"for (int k = 0; k < {2 if self.inner else 1}; k++)", f"if (i >= {self.least})" if self.least else ""]
        return "\n".join((*lines, "#pragma omp critical" if self.critical else "", do))

    def places(self, i: int) -> set[tuple[str, int, bool, bool]]:
        """What iteration ``i`` accesses."""
        at = [0 if self.by is None else self.by * i + self.inner * k + self.plus for k in range(2 if self.inner else 1)]
        return {(self.name, each, self.writes, self.critical) for each in at if i >= self.least}


def drawn(random: Random) -> tuple[int, int, list[Line]]:
    step = random.choice((1, 1, 2))
    lines = []
    for _ in range(random.randint(1, 4)):
        name = random.choice("pqs")
        by = None if name == "s" else random.choice((0, 1, 1, 1, 2))
        inner, plus = (0, 0) if name == "s" else (random.choice((0, 0, 1, 4)), random.randrange(4))
        least = random.choice((0, 0, 0, 2))
        lines.append(Line(name, random.random() < 0.6, by, inner, plus, least, random.random() < 0.2))
    return random.randint(1, 5), step, lines


def racing(count: int, step: int, lines: list[Line]) -> set[str]:
    """The names that two iterations race for, by going through all pairs of accesses."""
    done = [(i, each) for i in range(0, count, step) for line in lines for each in line.places(i)]
    return {
        one[0]
        for (i, one), (j, two) in itertools.product(done, done)
        if i != j and one[:2] == two[:2] and (one[2] or two[2]) and not (one[3] and two[3])
    }


@pytest.mark.parametrize("seed", range(examples(20, 2_000)))
def test_random_loops_race_as_all_pairs_of_accesses_do(seed: int) -> None:
    count, step, lines = drawn(Random(seed))
    loop = f"#pragma omp parallel for\nfor (int i = 0; i < {count}; i += {step}) {{"
    inside = "\n".join(each.text() for each in lines)
    body = f"int p[40] = {{0}}, q[40] = {{0}}, s = 0;\n{loop}\n{inside}\n}}\n x = p[0] + q[0] + s;"
    program = lowered(body)
    found = {each.fact.sentence[1] for each in claims(body) if isinstance(each, Illegal)}
    truth = racing(count, step, lines)
    noted = next(each for each in program.assumptions if each.kind is Kind.THREADS_INDEPENDENT)
    assert found <= truth
    assert found == truth or "not checked" in str(noted)
