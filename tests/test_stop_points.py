"""Limits end work at stop points: they stand where work may take long, and no input gets round them."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from pgasrob import check, stop_points
from pgasrob.cli import cli
from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.diagnostics.diagnostic import LONGEST_LINE
from pgasrob.frontends.c.preprocessor import MAX_EXPANSION, MAX_TEXT
from pgasrob.frontends.lower import parse_c
from pgasrob.frontends.options import FrontEnd
from pgasrob.frontends.sources import BLANKS, has_main
from pgasrob.models.litmus import litmus_parser
from pgasrob.program.files import Overlay
from pgasrob.recording import native_recordings, straight, trace_segments
from pgasrob.robustness import watch
from pgasrob.robustness.watch import LimitReached
from tests.recording.damaged_traces import samples

ROOT = Path(__file__).parents[1]
HEAD = "#include <shmem.h>\n#include <assert.h>\n#include <stdio.h>\n#include <stdlib.h>\nlong x; char p[100];\n"


def program(body: str, before: str = "") -> str:
    rest = "shmem_long_put(&x, &x, 1, 1 - me); shmem_barrier_all(); return 0; }"
    return f"{HEAD}{before}int main(void) {{ shmem_init(); int me = shmem_my_pe();\n{body}\n{rest}"


PASSED = {
    "programs/c/openshmem": "frontends/c/tokens frontends/c/preprocessor frontends/c/syntax_tree frontends/c/machine "
    "frontends/c/registers "
    "frontends/c/assemble frontends/c/liveness frontends/c/needed program/structure program/graphs "
    "program/live_registers analysis/range_analysis semantics/replay robustness/access_tables",
    "programs/peterson": "program/parser program/graphs analysis/range_analysis robustness/access_tables",
}
"""Modules with a stop point that the check of some programs comes to."""


class Passing:
    """In place of what stop points look at: notes the modules of those that are passed."""

    def __init__(self) -> None:
        self.modules: Counter[str] = Counter()

    @property
    def due(self) -> bool:
        return True

    @due.setter
    def due(self, value: bool) -> None:
        pass

    def stop(self) -> None:
        frame = sys._getframe(1)
        while frame.f_code.co_filename == stop_points.__file__ and frame.f_back is not None:
            frame = frame.f_back
        package = Path(stop_points.__file__).parent
        self.modules[Path(frame.f_code.co_filename).relative_to(package).with_suffix("").as_posix()] += 1


@pytest.mark.parametrize("folder", PASSED)
def test_where_they_stand(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    passing = Passing()
    monkeypatch.setattr(stop_points, "POINT", passing)
    monkeypatch.setattr(watch, "POINT", passing)
    files = sorted(map(str, (ROOT / folder).glob("*.*")))[:3]
    CliRunner().invoke(cli, ["check", *files, "-j", "1"])
    assert not sorted(set(PASSED[folder].split()) - passing.modules.keys())


MPI = """#include <mpi.h>
int a[300]; int main(void) { MPI_Init(0, 0); int me; MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Win w; MPI_Datatype t;
MPI_Win_create(a, sizeof a, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); MPI_Win_fence(0, w);
CALLS
MPI_Win_fence(0, w); MPI_Finalize(); }"""
EACH = {
    "shmem_long_sum_reduce(SHMEM_TEAM_WORLD, c, c, 29);": "apis/flags",
    "MPI_Bcast(a, 29, MPI_INT, 0, MPI_COMM_WORLD);": "apis/transfers",
    "MPI_Accumulate(a, 29, MPI_INT, 1 - me, 0, 29, MPI_INT, MPI_SUM, w);": "c/memory_access",
    "MPI_Type_contiguous(29, MPI_INT, &t);": "apis/mpi/datatypes",
    "int d[2] = {0, 0}; MPI_Dims_create(1 << 15, 2, d);": "apis/mpi/topologies",
    "int k = shmem_long_g(&x, 0); c[k] = 1; memset(c, 0, sizeof c);": "c/facts c/issuing",
    "for (int i = 0; i < 29; i++) shmem_long_p(&s[i].l, 1, 1 - me);": "c/doubles",
    "x = " + " + ".join("c[1]" for _ in range(29)) + ";": "c/compiler/expression_code",
}
"""Modules that pass a stop point for each element that a call or expression is about."""


@pytest.mark.parametrize("calls", EACH)
def test_they_stand_where_a_call_is_about_many_elements(calls: str, monkeypatch: pytest.MonkeyPatch) -> None:
    passing = Passing()
    monkeypatch.setattr(stop_points, "POINT", passing)
    before = "#include <string.h>\nlong c[29]; struct { char b; long l; } s[29];"
    text = MPI.replace("CALLS", calls) if "MPI" in calls else program(calls, before)
    parse_c(text).program(2)
    passed = {each: passing.modules[f"frontends/{each}"] for each in EACH[calls].split()}
    assert min(passed.values()) >= (8 if "Dims" in calls else 29)


def test_where_they_stand_for_recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passing = Passing()
    paths = [tmp_path / f"{number}.pgastrace" for number in range(len(samples()))]
    for path, content in zip(paths, samples(), strict=True):
        path.write_bytes(content)
    for module in (trace_segments, native_recordings, straight):
        monkeypatch.setattr(module, "stop_point", passing.stop)
    CliRunner().invoke(cli, ["check", *map(str, paths)])
    assert passing.modules.keys() == {
        f"recording/{name}" for name in ("trace_segments", "native_recordings", "straight")
    }


ENDLESS = {
    "for.c": program("for (;;) me++;"),
    "nested.c": program("long s = 0; for (int i = 0; i < 100000; i++) for (int j = 0; j < 100000; j++) s += i * j;"),
    "recursion.c": program("x = f(60);", "long f(long n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"),
    "unknown.c": program("".join(f"if (rand()) x += {each};" for each in range(3000))),
    "steps.pgas": "memory x; process { " + "mem[x] <- 1; " * 100_000 + "}",
    "choices.pgas": "memory x; process { " + "choose { mem[x] <- 1; } or { mem[x] <- 2; } " * 3000 + "}",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_they_end_what_takes_too_long(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(ENDLESS[name])
    result = CliRunner().invoke(cli, ["check", str(tmp_path / name), "--timeout", "0.5"])
    assert result.exit_code == 3 and "the time limit of 0.5 s was reached while" in " ".join(result.output.split())


def test_limits_are_no_errors() -> None:
    """What catches every Exception does not catch what a stop point raises."""
    assert not issubclass(watch._Ended, Exception) and issubclass(LimitReached, Exception)


# What no limit ends is bounded by itself


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        ('snprintf(p, 10, "%3999d", 1)', "== 3999"),
        ('snprintf(p, 10, "%2000000000d", 1)', "== 2000000000"),
        ('snprintf(p, 10, "%.2000000000f", 1.0)', "== 2000000002"),
        ('snprintf(p, 10, "%*d", 2000000000, 1)', "== 2000000000"),
        (f'snprintf(p, 10, "%{"9" * 5000}d", 1)', "== -1"),
    ],
)
def test_what_is_printed_is_bounded(call: str, answer: str) -> None:
    """A length that is not computed may be any."""
    found = check(parse_c(program(f"assert(({call}) {answer});")), 2).assertions
    assert found == (None if "3999" in call else "unknown"), "None: it is seen to hold when the program is read"


def test_what_nothing_ends_is_passed_over_at_once() -> None:
    for text in ("/* a /* b", '"a\\"b\\"', "'\\'\\'", "/* a */"):
        assert BLANKS.sub(" ", text) == " "
    assert BLANKS.sub(" ", "'a\nmain(") == " \nmain("


def test_looking_for_main_takes_few_tokens() -> None:
    """The check comes to the same macros within its limits."""
    bomb = "#define A x x x x x x x x x x x x x x x x x x x x\n"
    text = f"#if 1\n{bomb}{'A ' * (MAX_EXPANSION // 100)}\nint main(void);\n#endif\n"
    assert has_main("a.c", FrontEnd().build_options(), Overlay({"a.c": text}))
    twice = f"#define G(a) {'a ' * 1000}\n#define H {'x ' * 100_000}\nG(H)\n"
    for bad in (twice, f"#define S(a) #a\n#define P(a, b) a ## b\nP({'x' * MAX_TEXT}, y)\n"):
        with pytest.raises(SourceError, match="PG105"):
            parse_c(bad)


def test_a_quote_that_nothing_closes_is_looked_at_once() -> None:
    with pytest.raises(SourceError):
        parse_c("#if 0\n" + '"\\' * 200_000)
    assert parse_c("#if 0\ndon't\n#endif\nint main(void) { return 0; }")


def test_of_a_long_line_the_place_is_shown() -> None:
    line = "x" * 10**6 + "@" + "y" * 10**6
    text = Diagnostic("PG010", "here", "a.c", 1, 10**6 + 1, 1, line).render()
    assert len(text) < 3 * LONGEST_LINE
    shown, carets = text.splitlines()[1:3]
    assert shown[carets.index("^")] == "@" and carets.count("^") == 1


def test_names_of_litmus_tests_are_bounded() -> None:
    with pytest.raises(SourceError, match="a name of more than 10,000 characters"):
        litmus_parser.parse(f"{'a' * 10_001}@1=0 :: 1: b = 1", "a.litmus")
