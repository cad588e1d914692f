"""The spin engine: its verdicts are those of the attack search, its runs replay, and nothing is believed half-way."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest
from click.testing import CliRunner

from pgasrob.api import check
from pgasrob.cli import cli
from pgasrob.diagnostics import SourceError
from pgasrob.program.commands import (
    UPDATES,
    Assign,
    Assume,
    Command,
    FetchUpdate,
    Load,
    Store,
    Update,
    Wait,
    Write,
)
from pgasrob.program.declarations import MemoryObject, Process
from pgasrob.program.expressions import Binary, Const, Expr, Register
from pgasrob.program.instance import Instance
from pgasrob.program.program import Program
from pgasrob.program.reading import DEFAULT_READING, LITERAL_READING, Reading
from pgasrob.program.statements import Block, Choose, Do
from pgasrob.reference.attack_search import AttackSearch
from pgasrob.robustness import spin
from pgasrob.robustness.load import load
from pgasrob.robustness.native_attack import NativeSearch
from pgasrob.robustness.reasons import DepthBound, NoModel, SpinFailed, SpinOutOfMemory
from pgasrob.robustness.spin import MissingProgram, SpinSearch
from pgasrob.semantics.effect import updated
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from tests.export.test_promela_expressions import DOUBLES, NUMBERS, TYPES, Random, value_of
from tests.oracle.strategies import COMMANDS, EXTENSIONS, random_program
from tests.support import examples, instance, is_nightly, one_to_one, program, translated

missing = [name for name in ("spin", "cc") if not shutil.which(name)]
needs_spin = pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")

PROGRAMS = Path(__file__).parents[2] / "programs"
CORPUS = sorted(path for path in PROGRAMS.rglob("*") if path.suffix in (".pgas", ".c"))
SELECTION = (
    "fence_skips_a_put.pgas",
    "halo.pgas",
    "mcs_lock.pgas",
    "iriw_get_unordered.pgas",
    "ticket_lock_fence.pgas",
    "puts_fence.pgas",
    "wait_local_mixed.pgas",
    # captured; notifications; bundles; located; results; conditions with updates
    "still_on_its_way.pgas",
    "every_queue.pgas",
    "later_write.pgas",
    "earlier_put.pgas",
    "payload.pgas",
    "located.pgas",
    "old_value.pgas",
    "lock_in_one_event.pgas",
    # 64 bits, unsigned and signed; doubles; steps that read what is expected
    "gaspi_lock.c",
    "mcs_lock_no_quiet.c",
    "column_halo.c",
    "spin_lock.c",
)
assert set(SELECTION) <= {path.name for path in CORPUS}
MOST_STATES = 2_000_000
"""States of a model of the corpus after which SPIN is stopped."""
TOO_LARGE = frozenset(("c/mpi/stencil.c", "c/mpi/stencil_barrier.c"))
"""The programs of the corpus with which that happens."""
COUNT, ALL = Reading(failed_polls="count"), Reading(conflicts="all")
# gcc spends most of the time of a small check, and what is asked here is the verdict.
QUICK = ("-O0",)


def searched(program: Instance, **settings: object) -> SpinSearch:
    search = SpinSearch(program, options=QUICK, **settings)  # type: ignore[arg-type]
    for _ in search.run():
        pass
    return search


def is_robust(program: Instance, most: int | None = None) -> bool | None:
    """The verdict of SPIN, whose run must replay; None when it is stopped after ``most`` states."""
    search = SpinSearch(program, options=QUICK)
    for _ in search.run():
        if most is not None and search.states > most:
            return None
    assert search.gave_up is None
    if search.violation is None:
        return True
    run = replay(program, search.violation.computation)
    assert run.complete and HappensBefore(run.computation).cycle is not None
    return False


def agree(program: Instance, most: int = 20_000) -> bool | None:
    """Whether ``program`` is robust, as both searches say; None when the attack search is not asked to the end."""
    reference = AttackSearch(program)
    for _ in reference.run():
        if reference.states > most:
            return None
    assert is_robust(program) == (reference.violation is None)
    return reference.violation is None


# Verdicts


@needs_spin
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.name, marks=[] if path.name in SELECTION else pytest.mark.nightly) for path in CORPUS],
)
def test_the_corpus(path: Path) -> None:
    """Every program without threads has a model, and SPIN the verdict of the attack search."""
    try:
        program = load(path).instantiate()
    except SourceError:
        assert "expect: error" in path.read_text("utf-8")
        return
    if program.has_threads:
        assert (found := searched(program)).gave_up is not None and "several threads" in found.gave_up.why
        return
    robust = is_robust(program, MOST_STATES)
    assert (robust is None) == (path.relative_to(PROGRAMS).as_posix() in TOO_LARGE)
    if robust is not None:
        reference = NativeSearch(program)
        for _ in reference.run():
            pass
        assert robust == (reference.violation is None)


@needs_spin
@pytest.mark.parametrize("commands", [COMMANDS, (*COMMANDS, *EXTENSIONS)], ids=["of the paper", "of all kinds"])
@pytest.mark.parametrize("loops", [False, True], ids=["without loops", "with loops"])
def test_random_programs(commands: Sequence[str], loops: bool) -> None:
    """Each in one of the four readings."""
    count = examples(1, nightly=1_000)
    programs = (translated(random_program(seed, commands=commands, loops=loops)).program for seed in range(count))
    readings = cycle((DEFAULT_READING, COUNT, ALL, LITERAL_READING))
    seen = Counter(agree(program.instantiate(reading=next(readings))) for program in programs)
    assert min(seen[True], seen[False]) >= count // 6


RULES = {
    "a notification over all queues comes after writes in a FIFO queue": (
        ("write(x, 1, y, q); notify_all(set, 1, 1, w, u);", "await(mem[w] == 1); r <- mem[y];"),
        True,
    ),
    "one over its own queue comes after writes there": (
        ("write(x, 1, y, u); notify(set, 1, 1, w, u);", "await(mem[w] == 1); r <- mem[y];"),
        True,
    ),
    "and after no others": (
        ("write(x, 1, y, q); notify(set, 1, 1, w, u);", "await(mem[w] == 1); r <- mem[y];"),
        False,
    ),
    "what has been updated shows before its result is there": (
        ("update(add, 1, 1, y, q, w);", "await(mem[y] == 1); r <- fetch(0, w);"),
        False,
    ),
    "results arrive in the order of their queue": (
        ("update(add, 1, 1, y, q, z); update(add, 1, 1, y, q, w);", "s <- fetch(0, w); r <- fetch(0, z);"),
        True,
    ),
    "what comes later in a queue does not wait for results": (
        ("update(add, 1, 1, y, q, w); write(x, 1, z, q);", "await(mem[z] == 1); r <- fetch(0, w);"),
        False,
    ),
    "a wait does": (
        ("update(add, 1, 1, y, q, w); wait(q); r <- fetch_add(1, z, 1);", "await(mem[z] == 1); r <- fetch(0, w);"),
        True,
    ),
    "a put reads at its issue": (
        ("write(x, 1, y, q); r <- fetch_add(1, w, 1);", "await(mem[w] == 1); put(y, 0, z, q);"),
        False,
    ),
    "a bundle forgets what was before it": (
        ("write(x, 1, y, u); bundle; signal(set, 1, 1, w, u);", "await(mem[w] == 1); r <- mem[y];"),
        False,
    ),
    "a signal comes after its bundle": (
        ("bundle; write(x, 1, y, u); signal(set, 1, 1, w, v);", "await(mem[w] == 1); r <- mem[y];"),
        True,
    ),
    "barriers of one name meet": (
        ("write(x, 1, y, q); barrier(a); r <- swap(1, w, 1);", "s <- mem[y]; barrier(a); r <- mem[w]; s <- mem[y];"),
        False,
    ),
    "those of two names do not": (
        ("write(x, 1, y, q); barrier(a); r <- swap(1, w, 1);", "s <- mem[y]; barrier(b); r <- mem[w]; s <- mem[y];"),
        True,
    ),
    "nor do they where the ranks begin": (
        ("barrier(a); write(x, 1, y, q); r <- swap(1, w, 1);", "barrier(b); r <- mem[w]; s <- mem[y];"),
        True,
    ),
    "nothing comes behind an exit": (
        ("exit; write(x, 1, y, q); r <- swap(1, w, 1);", "r <- mem[w]; s <- mem[y];"),
        True,
    ),
}
"""Programs on two nodes whose verdict hangs on one rule."""


@needs_spin
@pytest.mark.parametrize("rule", RULES)
def test_rules(rule: str) -> None:
    blocks, robust = RULES[rule]
    assert agree(instance(*blocks)) is robust


SENT = "write(x, 1, y, q); r <- swap(1, w, 1);"
ADDED = "update(add, 1, 1, y, q); r <- swap(1, w, 1);"
HELD = "await(mem[y] == 1); update(add, 1, 0, w, u); await(mem[w] == 0);"
READINGS: dict[str, tuple[tuple[str, str], bool | Reading]] = {
    "a failed poll is no event": ((SENT, "await(mem[w] == 1); while (r == 0) { r <- mem[y]; }"), COUNT),
    "nor one at another rank": ((SENT, "await(mem[w] == 1); while (r == 0) { r <- fetch(1, y); }"), COUNT),
    "one that succeeds is": ((SENT, "await(mem[w] == 1); r <- mem[y]; while (r != 0) { r <- mem[y]; }"), False),
    "what is behind a poll that never succeeds does not happen": (
        (SENT, "await(mem[w] == 1); while (r != 5) { r <- mem[y]; } s <- mem[y];"),
        COUNT,
    ),
    "a register says what a poll is for": (
        (SENT, "s <- mem[x]; await(mem[w] == 1); r <- mem[y]; while (r < s) { r <- mem[y]; }"),
        COUNT,
    ),
    "with another value it is over at once": (
        (SENT, "s <- mem[w]; await(mem[w] == 1); r <- mem[y]; while (r < s) { r <- mem[y]; }"),
        False,
    ),
    "a poll passes what faults behind it": (
        (SENT, "await(mem[w] == 1); r <- mem[y]; while (1 / r == 2) { r <- mem[y]; }"),
        False,
    ),
    "two additions do not conflict": ((ADDED, "await(mem[w] == 1); update(add, 1, 1, y, q);"), ALL),
    "whatever adds": (
        (
            "notify(add, 1, 1, y, q); r <- swap(1, w, 1);",
            "s <- mem[y]; await(mem[w] == 1); update_from(add, x, 1, y, q);",
        ),
        ALL,
    ),
    "an addition and another operation do": ((ADDED, "await(mem[w] == 1); update(or, 1, 1, y, q);"), False),
    "and one whose result is fetched": ((ADDED, "await(mem[w] == 1); update(add, 1, 1, y, q, z);"), False),
    "and one that is an atomic": ((ADDED, "await(mem[w] == 1); r <- fetch_add(1, y, 1);"), False),
    "and a write": ((ADDED, "await(mem[w] == 1); mem[y] <- 1;"), False),
    "and a read": ((ADDED, "await(mem[w] == 1); r <- mem[y];"), False),
    "what has been added taints nobody who adds": (
        ("write(x, 1, y, q); update(add, 1, 1, w, u); wait(u);", "update(add, 1, 1, w, u); wait(u); r <- mem[y];"),
        ALL,
    ),
    "it does who reads it": (
        ("write(x, 1, y, q); update(add, 1, 1, w, u); wait(u);", "await(mem[w] == 1); r <- mem[y];"),
        False,
    ),
    "a wait comes before several additions": ((HELD, "update(add, 1, 0, w, u); r <- swap(0, y, 1);"), False),
    "but not before one that is over": ((HELD, "update(add, 1, 0, w, u); wait(u); r <- swap(0, y, 1);"), True),
}
"""Programs on two nodes that are robust, are not, or are robust except in this reading."""


@needs_spin
@pytest.mark.parametrize("rule", list(READINGS)[:: examples(2, nightly=1)])
def test_readings(rule: str) -> None:
    blocks, robust = READINGS[rule]
    assert agree(instance(*blocks)) is (robust is not False)
    if isinstance(robust, Reading):
        assert agree(program(*blocks).instantiate(reading=robust)) is False


BARRIERS = [
    ("barrier; write(x, OTHER, y, q); barrier; r <- mem[y];", False),
    ("barrier; barrier; write(x, OTHER, y, q); wait(q); barrier; barrier; r <- mem[y];", True),
    ("choose { barrier; r <- mem[y]; } or { write(x, OTHER, y, q); barrier; }", False),
    ("while (s < 2) { write(x, OTHER, y, q); wait(q); barrier; r <- mem[y]; barrier; s <- s + 1; }", True),
    ("loop { barrier; } write(x, OTHER, y, q); wait(q); loop { barrier; } r <- mem[y];", False),
    ("loop { barrier; barrier; }", True),
]


@needs_spin
def test_barriers() -> None:
    """Some first of all, some one of several choices, some after each other, one after the other."""
    chosen = BARRIERS if is_nightly() else BARRIERS[:3]
    for body, robust in chosen:
        assert agree(instance(body.replace("OTHER", "(me + 1) % nodes"), nodes=2)) is robust, body
    if is_nightly():
        assert agree(instance(BARRIERS[0][0].replace("OTHER", "me"), nodes=1)) is False


ARITHMETIC = [
    ("m - 1", 2147483647), ("m * m", 0), ("m / n", -(1 << 31)), ("m % n", 0), ("-m", -(1 << 31)), ("m / 7", -306783378),
    ("m % 7", -2), ("n / 2", 0), ("n % 2", -1), ("m >> 31", -1), ("n << 31", -(1 << 31)), ("5 << 30", 1073741824),
    ("~m", 2147483647), ("!m + !z", 1), ("m ^ n", 2147483647), ("m | 5", -2147483643), ("m & n", -(1 << 31)),
    ("z && 1 / z", 0), ("n || 1 / z", 1), ("z ? 1 / z : n", -1), ("(m < n) + (n <= z) * 2 + (z >= n) * 4", 7),
    ("- -n", -1), ("z - -2147483647 - 1", 2147483646), ("65537 * 65537", 131073), ("m / -1", -(1 << 31)),
]  # fmt: skip
"""What expressions are worth when m is the least integer, n = -1 and z = 0."""


@needs_spin
def test_integers_wrap_around_and_are_divided_as_in_c() -> None:
    """The violation at the end can be reached only when every single value is right."""
    declarations = "memory x = 1, y, a[3] = {-2147483648, -1, 0}; register m, n, z; queue q;"
    body = "m <- mem[a]; n <- mem[a + 1]; z <- mem[a + 2]; "
    body += " ".join(f"assume(({text}) == {value});" for text, value in ARITHMETIC)
    body += " write(x, me, y, q); n <- mem[y];"
    assert not is_robust(instance(body, nodes=1, declarations=declarations))


@needs_spin
def test_integers_of_all_types_and_doubles() -> None:
    """The violation at the end can be reached only when all values are right: those of expressions, and what updates
    make of cells, at the issue and in a step, with what was there."""
    for seed in range(1, 1 + examples(1, nightly=30)):
        count, source, register = 0, random.Random(seed), Register("s", 3)
        body: list[Do] = []

        def add(*commands: Command) -> None:
            body.extend(map(Do, commands))  # noqa: B023 - called in the same turn

        def holds(expr: Expr, value: int) -> Assume:
            return Assume(Binary("==", expr, Const(value)))

        drawn = Random(1_000 * seed)
        drawn.pool = [*NUMBERS, *DOUBLES]
        registers = [Register(f"r.{index}", index) for index in range(3)]
        values = tuple(source.choice(drawn.pool) for _ in registers)
        add(*(Load(each, Const(each.index)) for each in registers))
        while count < 60:
            expr = drawn.expr(3)
            value = value_of(expr, values)
            if value is not None:
                add(Assign(register, expr), holds(register, value))
                count += 1
        for operation in UPDATES:
            if operation == "fetch":
                continue  # it has commands of its own, and updates nothing
            type = source.choice(TYPES)
            pool = DOUBLES if operation.endswith(".") else [each for each in NUMBERS if type.wrap(each) == each]
            old, operand, expected = (source.choice(pool) for _ in range(3))
            new = updated(operation, old, operand, expected, type)
            given = Const(expected) if operation == "compare_swap" else None
            add(Store(Const(3), Const(old)))
            if given is None:
                add(FetchUpdate(operation, register, Const(0), Const(3), Const(operand), type), holds(register, old))
                add(Load(register, Const(3)), holds(register, new), Store(Const(3), Const(old)))
            add(Update(operation, Const(operand), Const(0), Const(3), Const(0), Const(4), given, False, type))
            add(Wait(Const(0)), Load(register, Const(4)), holds(register, old))
            add(Load(register, Const(3)), holds(register, new))
        add(Write(Const(3), Const(0), Const(4), Const(0)), Load(register, Const(4)))
        # So that no cell is a constant.
        other = Block(tuple(Do(Store(Const(index), Const(source.choice(NUMBERS)))) for index in range(3)))
        memory = [MemoryObject(name, index, None, (0,)) for index, name in enumerate("xyzvw")]
        memory[:3] = [replace(cell, initial=(value,)) for cell, value in zip(memory, values, strict=False)]
        process = Process(None, Block((Choose((Block(tuple(body)), other)),)))
        program = Program("p", 1, tuple(memory), ("r.0", "r.1", "r.2", "s"), (), (process,))
        assert is_robust(program.instantiate()) is False


@needs_spin
def test_what_faults_is_not_enabled() -> None:
    faults = (
        "r <- 1 / s;",
        "r <- 7 % 0;",
        "r <- 1 << (s - 1);",
        "mem[s + 9] <- 1;",
        "r <- fetch_add(s + 2, x, 1);",
        "wait(s - 1);",
    )
    chosen = " or ".join(f"{{ {fault} write(x, me, y, q); r <- mem[y]; }}" for fault in faults)
    assert is_robust(instance(f"s <- mem[z]; choose {chosen}", nodes=2))


# The whole check


@needs_spin
def test_a_check_with_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spin, "COMPILE", (*spin.COMPILE, *QUICK))
    found = check(program("write(x, me, y, q); r <- mem[y];"), engine="spin")
    assert found.verdict == "not robust" and found.witness is not None and found.witness.cycle
    with pytest.raises(ValueError, match="heads"):
        check(program("skip;"), engine="spin", heads=4)


@needs_spin
def test_without_a_model_nothing_is_known() -> None:
    search = searched(instance("loop { r <- r * 3 + 1; } write(x, me, y, r);"))
    assert search.violation is None and search.states == 0
    assert search.gave_up == NoModel("the queue of write(x, 0, y, r) (line 1) may have too many values")


@needs_spin
def test_a_violation_near_the_start_is_found_beside_a_counter_without_end() -> None:
    count = "loop { r <- fetch_add(1, x, 1); }"
    search = searched(instance(count, "skip;", "write(x, 2, y, q); r <- mem[y];"))
    # SPIN goes down along the counter first; the run that is shown does not.
    assert search.violation is not None and len(search.violation.computation) <= spin.SHORT + 10


# What can go wrong


@needs_spin
def test_a_search_that_is_too_deep_is_repeated_deeper(monkeypatch: pytest.MonkeyPatch) -> None:
    deep = one_to_one("wait(q);", nodes=3)
    monkeypatch.setattr(spin, "DEPTH", 3)
    search = searched(deep)
    assert (search.gave_up, search.violation, search.depth) == (None, None, 30)
    monkeypatch.setattr(spin, "MOST_DEPTH", 3)
    search = searched(deep)
    assert (search.gave_up, search.violation) == (DepthBound(3), None)


@needs_spin
def test_a_search_without_enough_memory_has_no_answer() -> None:
    search = searched(one_to_one("wait(q);"), memory_limit=1 << 20)
    assert (search.gave_up, search.violation) == (SpinOutOfMemory(), None)


def test_missing_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingProgram, match="cannot find spin: install the Debian package spin"):
        SpinSearch(one_to_one())
    run = CliRunner().invoke(cli, ["check", str(CORPUS[0]), "--engine", "spin"])
    assert run.exit_code == 2 and run.output.startswith("pgasrob: the spin engine needs `spin` and a C compiler `cc`;")
    script(tmp_path / "spin", "exit 0")
    with pytest.raises(MissingProgram, match="cannot find cc: install the Debian package gcc"):
        SpinSearch(one_to_one())


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def stand_ins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with a `spin` and a `cc` that do nothing, first on the path; temporary folders are made beside it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script(folder / "spin", "exit 0")
    script(folder / "cc", "printf '#!/bin/sh\\ncat \"%s\"\\n' '" + str(tmp_path / "said") + "' > pan; chmod +x pan")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


COMPLETE = "State-vector 28 byte, depth reached 6, errors: 0\n       26 states, stored\n       41 transitions (= all)\n"


@pytest.mark.parametrize(
    ("said", "gave_up"),
    [
        (COMPLETE, None),
        (COMPLETE.replace("errors: 0", "errors: 1"), "SPIN's search ended with exit code 0"),
        ("Warning: Search not completed\n" + COMPLETE, "SPIN's search ended with exit code 0"),
        ("", "SPIN's search ended with exit code 0"),
        ("pan: reached -DMEMLIM bound\n" + COMPLETE + "Warning: Search not completed", "SPIN ran out of memory"),
        ("pan: out of memory\n", "SPIN ran out of memory"),
    ],
)
def test_only_a_complete_search_is_believed(stand_ins: Path, said: str, gave_up: str | None) -> None:
    (stand_ins / "said").write_text(said, encoding="utf-8")
    search = searched(one_to_one())
    assert search.violation is None
    assert search.gave_up is None if gave_up is None else str(search.gave_up).startswith(gave_up)
    if gave_up is None:
        assert (search.states, search.transitions, search.vector) == (26, 41, 28)


def test_a_program_that_fails_leaves_no_answer(stand_ins: Path) -> None:
    script(stand_ins / "bin" / "spin", "echo syntax error; exit 1")
    search = searched(one_to_one())
    assert search.violation is None and isinstance(search.gave_up, SpinFailed) and "syntax error" in search.gave_up.said


def test_a_search_that_is_dropped_leaves_nothing_behind(stand_ins: Path) -> None:
    script(stand_ins / "bin" / "cc", f"sleep 1000 & echo $! > '{stand_ins}/child'; wait")
    running = SpinSearch(one_to_one()).run()
    while not (stand_ins / "child").exists() or not (stand_ins / "child").read_text():
        next(running)
    child = int((stand_ins / "child").read_text())
    assert is_alive(child) and list(stand_ins.glob("pgasrob-*"))
    running.close()  # type: ignore[attr-defined]
    assert ends(child) and not list(stand_ins.glob("pgasrob-*"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs prctl")
def test_a_search_that_is_killed_takes_its_program_along(stand_ins: Path) -> None:
    script(stand_ins / "bin" / "cc", f"echo $$ > '{stand_ins}/child'; exec sleep 1000")
    code = f"from pgasrob.api import check, load; check(load({str(CORPUS[0])!r}), engine='spin')"
    with subprocess.Popen([sys.executable, "-c", code]) as running:
        while not (stand_ins / "child").exists() or not (stand_ins / "child").read_text():
            time.sleep(0.01)
        child = int((stand_ins / "child").read_text())
        assert is_alive(child)
        running.kill()
    assert ends(child)


def ends(process: int) -> bool:
    """Whether the process ends in a while: who kills a process's children does not wait for them."""
    for _ in range(2_400):
        if not is_alive(process):
            return True
        time.sleep(0.05)
    return False


def is_alive(process: int) -> bool:
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False
    ).stdout
    return bool(state.strip()) and not state.startswith("Z")
