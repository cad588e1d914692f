"""The stages of a question, each alone, and what ends them early."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.reading import DEFAULT_READING, LITERAL_READING
from pgasrob.robustness import session as module
from pgasrob.robustness.check import nothing_known
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import EngineChoice, ProgramFile, Question, Robustness, node_count
from pgasrob.robustness.reasons import Interruption, MemoryLimit, NoProgram, OutOfMemory, StateLimit, TimeLimit
from pgasrob.robustness.reduction.elements import Represented
from pgasrob.robustness.session import PREPARING, READING, Failed, Interrupted, Placed, Session
from pgasrob.robustness.watch import LimitReached
from tests.clock import for_ever, leaping
from tests.oracle.strategies import random_program
from tests.oracle.syntax import numbered, to_pgas
from tests.support import examples

TEXT = "program named; memory x; nodes 3; process { mem[x] <- me; }"
PROGRAM = parse(TEXT)
MINUTE = Limits(timeout=60)
ROWS = """#include <shmem.h>
int a[64], b[64];
int main(void) {
  shmem_init();
  for (int i = 0; i < 64; i++) shmem_int_put(&a[i], &b[i], 1, 1 - shmem_my_pe());
  shmem_barrier_all(); for (int i = 0; i < 64; i++) b[i] = a[i];
  shmem_finalize(); return 0;
}
"""


def test_a_file_is_loaded_and_noted_in_the_question(tmp_path: Path) -> None:
    file = tmp_path / "p.pgas"
    file.write_text(TEXT)
    session = Session(Question(ProgramFile(str(file))))
    assert (session.question.file, session.question.name, session.question.nodes) == (str(file), None, None)
    loaded = session.load()
    assert (loaded.program.name, loaded.nodes) == ("named", 3)
    assert (session.question.file, session.question.name, session.question.nodes) == (str(file), "named", 3)
    file.unlink()
    assert session.load().program is loaded.program, "it is read once"
    with pytest.raises(SourceError, match="cannot read"):
        Session(Question(ProgramFile(str(file)))).load()


def test_which_node_count_it_is() -> None:
    assert node_count(5, PROGRAM) == 5 and node_count(None, PROGRAM) == 3
    assert node_count(None, parse("process { }")) == 2


def test_further_questions_go_on_with_the_instance() -> None:
    session = Session(Question(PROGRAM))
    whole = session.instance(session.load())
    assert (whole.nodes, whole.reading) == (3, DEFAULT_READING)
    another = session.asking(Question(PROGRAM, asked=Robustness(effect=False)))
    assert another.watch is session.watch and another.instance(another.load()) is whole
    literal = session.instance(session.load(), LITERAL_READING)
    assert literal.reading == LITERAL_READING and session.instance(session.load()) is whole
    fewer = session.asking(Question(PROGRAM, 2))
    assert fewer.instance(fewer.load()).nodes == 2
    assert session.instance(session.load()) is not whole, "that of another count is not kept"
    assert Session(Question(PROGRAM), instance=whole).instance(session.load()) is whole


def test_where_waits_do_not_matter_there_is_one_instance_for_both_readings() -> None:
    shared = 0
    for seed in range(examples(150, 5_000)):
        text = to_pgas(numbered(random_program(seed, faults=False)))
        session = Session(Question(parse(text), asked=Robustness(effect=False)))
        loaded = session.load()
        first = session.instance(loaded)
        if session.instance(loaded, DEFAULT_READING.by_value) is first:
            shared += 1
            assert parse(text).instantiate(first.nodes, DEFAULT_READING.by_value).automata == first.automata
    assert shared > examples(15, 500)


def test_elements_that_are_alike_are_left_out_where_that_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(Question(parse_c(ROWS), 2))
    whole = session.instance(session.load())
    asked = []

    def represented(instance: Instance, one_place: bool) -> Represented:
        asked.append(one_place)
        return Represented(instance, 64, 2)

    monkeypatch.setattr(module, "represented", represented)
    placed = session.place(whole, few=True, one_place=True)
    assert asked == [True] and placed.alike == (64, 2)
    assert placed.whole is whole
    assert session.place(whole, few=False) == Placed(whole, whole)
    text = Session(Question(PROGRAM))
    one = text.instance(text.load())
    assert text.place(one, few=True) == Placed(one, one), "it shows its commands, so all of them are its own"


def test_a_limit_is_the_reason_of_what_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    leaping(monkeypatch)
    session = Session(Question(PROGRAM, limits=MINUTE))
    late = TimeLimit(60, PREPARING)
    assert session.attempt(PREPARING, for_ever) == Failed(late)
    assert session.attempt(READING, lambda: 7) == Failed(TimeLimit(60, READING)), "there is no time left"
    assert Session(Question(PROGRAM)).attempt(READING, lambda: 7) == 7


def test_phases_end_with_the_first_that_comes_to_a_limit() -> None:
    session, seen = Session(Question(PROGRAM)), list[str]()

    def ends() -> NoReturn:
        raise LimitReached(StateLimit(4))

    phases = (READING, lambda: seen.append("one")), (PREPARING, ends), (READING, lambda: seen.append("three"))
    assert session.ended(*phases) == StateLimit(4) and seen == ["one"]
    assert session.ended(phases[0]) is None


@pytest.mark.parametrize(
    ("said", "memory", "reason"),
    [("", 5, OutOfMemory()), ("the limit", 5, MemoryLimit(5, PREPARING)), ("the limit", None, OutOfMemory())],
)
def test_who_has_run_out_of_memory(said: str, memory: int | None, reason: object) -> None:
    """The caller's limit, where the kernel says so."""
    session = Session(Question(PROGRAM, limits=Limits(memory=memory)))
    session.watch._resident = 1 << 60

    def ends() -> NoReturn:
        raise MemoryError(said)

    assert session.attempt(PREPARING, ends) == Failed(reason)  # type: ignore[arg-type]


def test_errors_of_the_text_are_the_reason() -> None:
    session = Session(Question(parse("process 0 { }"), 2))
    failed = session.attempt(PREPARING, lambda: session.instance(session.load()))
    assert isinstance(failed, Failed) and failed.reason == NoProgram(failed.errors[0].message)
    nothing = nothing_known(session.question)
    verdict = failed.applied(nothing)
    assert (verdict.verdict, verdict.reason, verdict.errors) == ("error", failed.reason, failed.errors)
    assert Failed(StateLimit(1)).applied(nothing).verdict == "unknown"


def test_ctrl_c_brings_what_is_known() -> None:
    session = Session(Question(PROGRAM, 2, engine=EngineChoice("attack")))
    with pytest.raises(Interrupted) as caught, session.interruptible(lambda reason: ("known", reason)):
        raise KeyboardInterrupt
    assert caught.value.verdict == ("known", Interruption())
    with pytest.raises(Interrupted) as around, session.interruptible(lambda _: "all of it"):
        raise caught.value
    assert around.value.verdict == "all of it", "the outermost question has the last word"
