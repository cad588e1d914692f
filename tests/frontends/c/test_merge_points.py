"""Merge points: equal states go on as one, and what tells too many apart is generalised."""

import pytest

from pgasrob import check
from pgasrob.frontends.c import merge_points
from pgasrob.frontends.c.merge_points import JOIN_VALUES, LOOP_VALUES, MANY_STATES
from pgasrob.frontends.c.problem import TryAgain
from pgasrob.frontends.c.values import Known, Unknown
from pgasrob.frontends.lower import parse_c
from pgasrob.program.commands import Assign
from pgasrob.program.expressions import Binary, Const, IntType, Me, Register
from pgasrob.robustness.limits import Limits
from tests.frontends.c.rank_parts import parts_of, slot, written

INT32 = IntType(32, True)


def test_a_join_without_an_unknown_branch_is_passed() -> None:
    parts = parts_of()
    parts.merge_points.join()
    assert parts.position.frame.pc == 1 and not parts.merge_points.labels
    parts.merge_points.branched = True
    parts.merge_points.join()
    assert parts.position.frame.pc == 2 and len(parts.merge_points.labels) == 1 and not parts.merge_points.branched


def test_an_equal_state_goes_to_the_label_of_the_first() -> None:
    parts = parts_of()
    first, state = parts.writer.node, parts.position.state.copy()
    parts.merge_points.merge(JOIN_VALUES)
    label = parts.writer.node.label
    assert first.goes_to == (label,) and parts.writer.open
    parts.position.go_to(state)
    again = parts.writer.node = parts.writer.fresh()
    parts.merge_points.merge(JOIN_VALUES)
    assert again.goes_to == (label,) and not parts.writer.open


def test_a_variable_with_too_many_values_is_generalised() -> None:
    parts = parts_of()
    number = slot(parts, "i")
    start = parts.position.state.copy()
    start.frames[-1].pc = 2  # i + j: both are read later
    for value in range(JOIN_VALUES):
        parts.position.go_to(start.copy())
        parts.position.frame.slots[number] = Known(value)
        parts.merge_points.merge(JOIN_VALUES)
    assert len(parts.merge_points.labels) == JOIN_VALUES and not parts.facts.generalised
    parts.position.go_to(start)
    parts.position.frame.slots[number] = Known(JOIN_VALUES)
    with pytest.raises(TryAgain):
        parts.merge_points.merge(JOIN_VALUES)
    assert parts.facts.generalised == {("slot", "main", 0, 2, number)}


def test_generalised_variables_are_put_into_their_registers() -> None:
    parts = parts_of()
    frame, number = parts.position.frame, slot(parts, "i")
    frame.pc, frame.slots[number] = 2, Known(7)
    parts.facts.generalise(("slot", "main", 0, 2, number))
    parts.merge_points.settle_variables()
    assert frame.slots[number] == Unknown(parts.registers.home(frame, number))
    assert written(parts) == [Assign(parts.registers.home(frame, number), Const(7))]


def test_registers_are_moved_all_at_once() -> None:
    parts = parts_of()
    frame = parts.position.frame
    frame.pc = 2
    i, j = (parts.registers.home(frame, slot(parts, name)) for name in ("i", "j"))
    frame.slots[slot(parts, "i")], frame.slots[slot(parts, "j")] = Unknown(j), Unknown(i)
    parts.merge_points.settle_variables()
    values = {i.index: "i", j.index: "j"}
    for assign in written(parts):
        assert isinstance(assign, Assign) and isinstance(assign.value, Register)
        values[assign.register.index] = values[assign.value.index]
    assert (values[i.index], values[j.index]) == ("j", "i")


def test_what_is_computed_from_the_rank_alone_stays() -> None:
    parts = parts_of(nodes=None)
    frame, value = parts.position.frame, Unknown(Binary("+", Me(), Const(1), INT32))
    frame.pc, frame.slots[slot(parts, "i")] = 2, value
    parts.merge_points.settle_variables()
    assert frame.slots[slot(parts, "i")] == value and written(parts) == []


def test_iterations_in_which_nothing_is_written_are_passed() -> None:
    parts = parts_of("int main(void) { for (int i = 0; i < 9; i++) ; return 0; }")
    code = parts.position.frame.function.code
    parts.position.frame.pc = next(place for place, each in enumerate(code) if type(each).__name__ == "LoopHead")
    parts.merge_points.loop_head()
    assert parts.merge_points.silent == 1 and not parts.merge_points.labels
    parts.position.frame.pc -= 1
    parts.writer.quiet = False
    parts.merge_points.loop_head()
    assert len(parts.merge_points.labels) == 1 and sum(parts.position.heads.values()) == 2


def test_a_pass_that_goes_on_long_after_it_has_learned_something_ends() -> None:
    parts = parts_of()
    parts.merge_points._look_back()
    assert not parts.merge_points.outdated and parts.merge_points.milestone == 2 * MANY_STATES
    parts.facts.changed()
    parts.merge_points._look_back()
    with pytest.raises(TryAgain):
        parts.merge_points._look_back()


ROUNDS = "while (shmem_long_g(&x, 0) > 5) { long *q = shmem_malloc(8); *q = 1; shmem_free(q); }"
LIST = """struct each { struct each *next; } *p = 0;
for (int i = 0; i < 70; i++) { struct each *new = malloc(sizeof *new); new->next = p; p = new; }
while (p && shmem_long_g(&x, 0) > 5) p = p->next;"""


@pytest.mark.parametrize(("body", "endless"), [(ROUNDS, True), (LIST, False)])
def test_a_loop_that_allocates_each_time_is_not_written_out_without_an_end(
    body: str, endless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge_points, "KEPT_STATES", LOOP_VALUES)
    headers = "#include <shmem.h>\n#include <stdlib.h>\n"
    text = f"{headers}long x; int main(void) {{ shmem_init(); {body}\nshmem_finalize(); }}"
    found = check(parse_c(text), 2, limits=Limits(timeout=5))
    if endless:
        (error,) = found.errors
        assert error.code == "PG141" and "it allocates memory each time" in error.message
    else:
        assert found.verdict == "robust"
