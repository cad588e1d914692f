"""Where a rank is: the text that is executed, whose memory an address is in, limits."""

import pytest

from pgasrob.frontends.c import code, rank_position
from pgasrob.frontends.c.problem import Problem, TryAgain
from pgasrob.frontends.c.snapshots import Frame
from pgasrob.frontends.c.symbolic import NumberNeeded, Rank
from pgasrob.frontends.c.types import INT
from pgasrob.frontends.c.values import Address, Code, Known, ObjectId
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import Apart, Const, Me, const_of
from tests.frontends.c.rank_parts import parts_of

X = ObjectId("global", ("x",))


def test_whose_memory_an_address_is_in() -> None:
    position = parts_of(rank=1).position
    assert position.whose(Address(X, 0)) is None
    assert position.whose(Address(X, 0, owner=1)) is None  # its own number
    assert position.whose(Address(X, 0, owner=0)) == Const(0)
    assert position.whose(Address(X, 0, owner=Me())) == Me()


def test_a_rank_is_a_number_or_a_symbol() -> None:
    number, symbol = parts_of(rank=1).position, parts_of(nodes=None).position
    assert (number.me, number.rank.number, str(number.rank)) == (Const(1), 1, "rank 1")
    assert (symbol.me, str(symbol.rank)) == (Me(), "one rank")
    assert number.rank.publishers == number.rank.numbers == (1,)
    assert symbol.rank.publishers == (-1,)
    several = Rank(const_of([1, 3]))
    assert several.publishers == several.numbers == (1, 3)
    assert several.each(lambda rank: rank % 2) == 1
    with pytest.raises(Apart):
        several.each(lambda rank: rank > 1)
    with pytest.raises(NumberNeeded):
        _ = symbol.rank.number


def test_the_span_is_of_the_innermost_call_that_has_a_text() -> None:
    parts = parts_of("int f(void) {\n  return 1;\n}\nint main(void) {\n  return f();\n}\n")
    position, program = parts.position, parts.world.program
    f = program.unit.functions["f"]
    position.frame.pc = 1
    position.state.frames.append(Frame(f, program.live_slots(f), 0, 0, INT))
    position.go_to(position.state)
    assert position.span.line == 2
    position.frame.pc = len(f.code)  # behind its last instruction there is no text
    assert position.span.line == 5


def test_a_turn_numbers_spans() -> None:
    position = parts_of().position
    assert position.span.turn == 0
    position.turn()
    assert position.span.turn == 1


def test_too_many_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_position, "MOST_INSTRUCTIONS", 10)
    position = parts_of().position
    position.instructions = 10
    position.turn()
    position.instructions = 11
    position.heads["main", 2] += 5
    position.heads["main", 1] += 3
    with pytest.raises(Problem) as raised:
        position.turn()
    assert raised.value.message == "rank 0 executes more than 10 instructions; this loop has been passed 5 times"
    assert raised.value.span == position.frame.function.spans[2]


def test_what_is_too_large_may_be_smaller_with_a_new_fact() -> None:
    position = parts_of().position
    assert position.too_large("much").code == "PG141" and not position.facts_changed
    position.facts.changed()
    assert position.facts_changed
    with pytest.raises(TryAgain):
        position.too_large("much")


@pytest.mark.parametrize(("shared", "kind"), [("none", Kind.SEPARATE_MEMORY), ("all", Kind.SHARED_MEMORY)])
def test_what_depends_on_shared_memory_is_noted(shared: str, kind: Kind) -> None:
    parts = parts_of(shared_memory=shared)
    parts.position.rests_on_memory("a pointer")
    assert [each.kind for each in parts.world.assumptions] == [kind]


def test_gaps_name_the_line() -> None:
    parts = parts_of()
    parts.position.gap("an index is unknown")
    assert list(parts.world.gaps) == ["line 1: an index is unknown"]


def test_the_function_that_is_called() -> None:
    parts = parts_of("int g(void) { return 1; }\nint main(void) { int (*p)(void) = g; return p(); }")
    frame = parts.position.frame
    frame.pc = next(place for place, each in enumerate(frame.function.code) if isinstance(each, code.Call))
    call = frame.function.code[frame.pc]
    assert isinstance(call, code.Call) and isinstance(call.function, int)
    frame.slots[call.function] = Code("g")
    assert parts.position.called == "g"
    frame.slots[call.function] = Known(1)
    with pytest.raises(Problem, match="it is not known which function is called"):
        _ = parts.position.called
