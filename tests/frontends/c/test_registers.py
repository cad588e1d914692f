"""Registers: that of the variable which a result goes to, unless something that is needed is in it."""

import pytest

from pgasrob.frontends.c.registers import registers_in
from pgasrob.frontends.c.values import UNDEFINED, Address, Entry, Known, ObjectId, Unknown
from pgasrob.program.expressions import Binary, Me, Register
from tests.frontends.c.rank_parts import parts_of, slot

X = ObjectId("global", ("x",))


def test_a_result_goes_to_the_register_of_its_variable() -> None:
    parts = parts_of()
    assert parts.registers.destination() == slot(parts, "i")
    assert parts.registers.register().name == "i"


def test_a_register_that_a_live_variable_needs_is_not_taken() -> None:
    parts = parts_of()
    home = parts.registers.home(parts.position.frame, slot(parts, "i"))
    parts.position.frame.pc = 1
    parts.position.frame.slots[slot(parts, "i")] = Unknown(parts.registers.home(parts.position.frame, slot(parts, "j")))
    assert parts.registers.register("t").name == "t"
    parts.position.frame.slots[slot(parts, "i")] = Known(0)
    assert parts.registers.register("t").name == "j" != home.name


def test_taken_registers_are_not_used_again() -> None:
    parts = parts_of()
    parts.registers.taken = {parts.world.register(name).index for name in ("i", "t", "t_2")}
    assert parts.registers.register("t").name == "t_3"


def test_no_register_has_the_name_of_another_variable() -> None:
    parts = parts_of()
    parts.registers.taken = {parts.world.register("i").index}
    assert parts.registers.register("j").name == "j_2"


def test_the_registers_of_calls_that_nest_differ() -> None:
    parts = parts_of()
    frame = parts.position.frame.copy()
    frame.depth = 2
    assert parts.registers.home(frame, slot(parts, "i")).name == "i^2"
    assert parts.world.variables["i^2"] == "i"


def test_what_the_current_instruction_sets_is_not_live_after_it() -> None:
    parts = parts_of()
    parts.position.frame.pc = 1  # j = 0
    parts.position.frame.slots[slot(parts, "j")] = Unknown(Register("t", 7))
    [(_, before)], [(_, after)] = parts.registers.live(before=True), parts.registers.live(before=False)
    assert list(before) == list(after) == [slot(parts, "i")]
    assert parts.position.frame.pc == 1


def test_registers_in_values() -> None:
    register = Register("r", 3)
    assert registers_in(Unknown(Binary("+", register, Me()))) == {3}
    assert registers_in(Address(X, register)) == registers_in(Address(X, 0, owner=register)) == {3}
    assert registers_in(Entry(X, register)) == {3}
    assert registers_in(Known(3)) == registers_in(UNDEFINED) == registers_in(Address(X, 4)) == frozenset()


def test_a_result_may_be_converted_on_its_way_to_a_variable() -> None:
    parts = parts_of("int main(void) { int i = 0; long x = i + 1; return x; }")
    code = parts.position.frame.function.code
    parts.position.frame.pc = next(place for place, each in enumerate(code) if type(each).__name__ == "Binary")
    assert parts.registers.destination() == slot(parts, "x")
    parts.position.frame.pc = len(code) - 1  # a return
    assert parts.registers.destination() is None


def test_what_a_call_keeps_is_not_given_again_until_it_is_released(monkeypatch: pytest.MonkeyPatch) -> None:
    parts, named = parts_of(), []
    register = parts.world.register
    monkeypatch.setattr(parts.world, "register", lambda name: named.append(name) or register(name))
    assert [parts.registers.keep("t").name for _ in range(100)] == ["i", "t", *(f"t_{n}" for n in range(2, 100))]
    assert len(named) < 400  # each name is tried once, beside that of the variable
    parts.registers.release()
    assert parts.registers.keep("t").name == "i"
