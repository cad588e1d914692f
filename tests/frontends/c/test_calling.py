"""Calls: of functions of the program, of handlers, and of functions that are assumed to be pure."""

from dataclasses import replace

import pytest

from pgasrob.frontends.apis.interface import Call, Look, Outcome
from pgasrob.frontends.c import calling, code
from pgasrob.frontends.c.calling import Calling
from pgasrob.frontends.c.calls import MachineCall
from pgasrob.frontends.c.machine_parts import Parts
from pgasrob.frontends.c.nondeterminism import Leaf
from pgasrob.frontends.c.problem import Problem, Several
from pgasrob.frontends.c.types import INT
from pgasrob.frontends.c.values import Known, Unknown
from pgasrob.frontends.c.writer import LEFT_OPEN
from pgasrob.program.commands import Assign, Store
from pgasrob.program.expressions import Const, Register
from pgasrob.program.statements import Do
from tests.frontends.c.rank_parts import parts_of, slot, written

TEXT = "int f(int a); int g(int a) { return a; }\nint main(void) { int i = 4; int r = %s(i); return r; }"


def at_call(name: str, handler: object = None, pure: frozenset[str] = frozenset()) -> tuple[Parts, Calling]:
    """At the call of ``name`` in main, which ``handler`` knows."""
    parts = parts_of(TEXT % name)
    program = replace(parts.world.program, pure=pure)
    parts.world.program = parts.position.program = program
    program._handlers[name] = handler  # type: ignore[assignment]
    frame = parts.position.frame
    frame.pc = next(place for place, each in enumerate(frame.function.code) if isinstance(each, code.Call))
    frame.slots[current(parts).arguments[0]] = Known(4)
    made = Calling(parts, MachineCall)
    made.program = program
    return parts, made


def current(parts: Parts) -> code.Call:
    call = parts.position.frame.function.code[parts.position.frame.pc]
    assert isinstance(call, code.Call)
    return call


def test_a_function_of_the_program_is_entered() -> None:
    parts, made = at_call("g")
    call = current(parts)
    made.call(call)
    assert [frame.function.name for frame in parts.position.state.frames] == ["main", "g"]
    assert parts.position.frame.slots[slot(parts, "a")] == Known(4) and parts.position.frame.target == call.target


def test_calls_nest_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calling, "MOST_FRAMES", 1)
    parts, made = at_call("g")
    with pytest.raises(Problem, match="calls nest more than 1 deep, in `g`"):
        made.call(current(parts))


def test_an_outcome_is_written_and_gives_a_result() -> None:
    store = Do(Store(Const(0), Const(1)))
    parts, made = at_call("f", lambda call: Outcome((store,), result=Known(call.known(0) + 1), state={"k": 2}))
    call, place = current(parts), parts.position.frame.pc
    made.call(call)
    assert parts.position.frame.slots[call.target or 0] == Known(5) and parts.position.frame.pc == place + 1
    assert written(parts) == [store.command] and parts.position.state.notes["k"] == 2


def test_a_call_may_end_the_rank() -> None:
    parts, made = at_call("f", lambda call: Outcome(ends=True))
    parts.position.state.notes[LEFT_OPEN] = "finalized"
    made.call(current(parts))
    assert not parts.writer.open and parts.facts.published["finalized"][0] is True


def test_a_call_with_several_outcomes_branches() -> None:
    parts, made = at_call("f", lambda call: [Outcome(result=Known(number)) for number in (1, 2)])
    made.call(current(parts))
    assert len(parts.branching.pending) == 2 and not parts.writer.open
    branch = parts.branching.pending.pop()
    parts.position.go_to(branch.state)
    parts.writer.node, parts.writer.open = parts.writer.nodes[branch.label], True
    target = current(parts).target
    made.go_on(branch.way, branch.again or "")
    assert parts.position.frame.slots[target or 0] == Known(1)


def test_a_look_that_sees_another_answer_makes_the_call_again() -> None:
    read, register = Do(Assign(Register("seen", 50), Const(1))), Register("seen", 50)
    parts, made = at_call("f", lambda call: [Look((read,), register, Outcome(result=Known(1)), None)])
    made.call(current(parts))
    [branch] = parts.branching.pending
    parts.branching.pending.clear()
    parts.position.go_to(branch.state)
    parts.writer.node, parts.writer.open = parts.writer.nodes[branch.label], True
    made.go_on(branch.way, branch.again or "")
    no, yes = parts.branching.pending
    assert parts.writer.node.condition == register and (yes.way, no.way) == (Outcome(result=Known(1)), None)
    assert no.again == branch.again


def test_an_unknown_argument_is_tried_with_each_value() -> None:
    leaves: list[Leaf] = []

    def handler(call: Call) -> Outcome:
        raise Several(leaves[0], "argument 1")

    parts, made = at_call("f", handler)
    leaves.append(parts.undecided.new_leaf("random", (0, 2)))
    call = current(parts)
    parts.position.frame.slots[call.arguments[0]] = Unknown(leaves[0])
    made.call(call)
    values = [each.state.frames[-1].slots[call.arguments[0]] for each in parts.branching.pending]
    assert values == [Known(2), Known(1), Known(0)]


def test_what_a_pure_function_computes_is_unknown() -> None:
    parts, made = at_call("f", None, frozenset({"f"}))
    call = current(parts)
    made.call(call)
    result = parts.position.frame.slots[call.target or 0]
    assert isinstance(result, Unknown) and isinstance(result.expr, Leaf) and call.result == INT


def test_an_unknown_function() -> None:
    parts, made = at_call("f")
    with pytest.raises(Problem, match="nothing is known of the function `f`"):
        made.call(current(parts))
