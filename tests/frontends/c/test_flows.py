"""Commands without unknown values, and the cells that may hold one."""

from pgasrob.frontends.c.machine_parts import Parts
from pgasrob.frontends.c.nondeterminism import Leaf
from pgasrob.frontends.c.types import INT
from pgasrob.frontends.c.values import ObjectId, Unknown
from pgasrob.program.commands import Assign, Assume, Await, Guess, Load, Put, Store
from pgasrob.program.expressions import Binary, Const, Expr, IntType, Register
from pgasrob.program.statements import Block, Choose, Do, If, Statement
from tests.frontends.c.rank_parts import parts_of, variable

INT32 = IntType(32, True)


def cells(parts: Parts, *names: str) -> list[tuple[ObjectId, Expr]]:
    found = [variable(parts, name, INT) for name in names]
    for each in found:
        parts.facts.share(each.object, 0, 4)
    parts.world.begin()
    return [(each.object, parts.pointers.cell(each, 4)) for each in found]


def without(parts: Parts, *statements: Statement) -> list[Statement]:
    return parts.flows.without_unknowns(statements)


def test_without_unknown_values_nothing_changes() -> None:
    parts = parts_of()
    statement = Do(Store(Const(0), Const(1)))
    assert without(parts, statement) == [statement]


def test_a_cell_that_is_given_an_unknown_value_is_uncertain() -> None:
    parts = parts_of()
    ((x, at_x),) = cells(parts, "x")
    leaf = parts.undecided.new_leaf("random")
    assert without(parts, Do(Store(at_x, leaf))) == [Do(Store(at_x, Const(0)))]
    assert parts.facts.uncertain.has(x, 0)


def test_what_is_loaded_from_an_uncertain_cell_is_unknown() -> None:
    parts = parts_of()
    ((x, at_x),) = cells(parts, "x")
    parts.facts.unknowns = True
    parts.facts.doubt(x, 0)
    register = Register("r", 0)
    without(parts, Do(Load(register, at_x)), Do(Assign(Register("s", 1), Binary("+", register, Const(1), INT32))))
    assert set(parts.flows.read) == {0, 1}
    result = parts.flows.known_result(Unknown(Register("s", 1)))
    assert isinstance(result, Unknown) and isinstance(result.expr, Leaf)
    assert parts.flows.read[0].origins == {(x, 0)}


def test_of_two_ways_the_one_that_no_values_take_is_in_vain() -> None:
    parts = parts_of()
    leaf, digit = parts.undecided.new_leaf("random", (0, 9999)), parts.undecided.new_leaf("random", (0, 9))
    vain, sure, none = Guess(Const(1), vain=True), Guess(Const(1)), Guess(Const(0))
    for left, right, expected in (
        (leaf, leaf, [vain, sure]), (leaf, Const(3), [sure, sure]), (digit, digit, [none, sure])
    ):  # fmt: skip
        half = Binary("/", left, Const(2), INT32)
        (ways,) = without(parts, If(Binary(">", half, right, INT32), Block(()), None))
        assert isinstance(ways, Choose)
        first = [way.statements[0] for way in ways.branches]
        assert [each.command for each in first if isinstance(each, Do)] == expected


def test_transfers_carry_unknown_values() -> None:
    parts = parts_of()
    (x, at_x), (y, at_y) = cells(parts, "x", "y")
    parts.facts.unknowns = True
    parts.facts.doubt(x, 0)
    without(parts, Do(Put(at_x, Const(1), at_y, Const(0))))
    assert parts.facts.uncertain.has(y, 0)


def test_an_unknown_condition_is_a_choice() -> None:
    parts = parts_of()
    leaf, inner = parts.undecided.new_leaf("random", (0, 1)), Do(Store(Const(0), Const(1)))
    [choice] = without(parts, If(leaf, Block((inner,)), None))
    assert isinstance(choice, Choose) and [inner in branch.statements for branch in choice.branches] == [True, False]
    two = parts.undecided.new_leaf("random", (2, 3))
    assert without(parts, If(two, Block((inner,)), None)) == [inner]


def test_an_unknown_assumption_is_left_out() -> None:
    parts = parts_of()
    assert without(parts, Do(Assume(parts.undecided.new_leaf("random", (0, 1))))) == []
    assert without(parts, Do(Assume(parts.undecided.new_leaf("random", (0, 0))))) == [Do(Assume(Const(0)))]


def test_an_await_on_an_uncertain_cell_may_go_on_at_any_time() -> None:
    parts = parts_of()
    ((x, at_x),) = cells(parts, "x")
    parts.facts.unknowns = True
    parts.facts.doubt(x, 0)
    [statement] = without(parts, Do(Await(at_x, "==", Const(1))))
    assert isinstance(statement, Do) and isinstance(statement.command, Load) and parts.world.blind_awaits
    assert parts.facts.decisive_cells.has(x, 0)


def test_an_unknown_rank_is_chosen_from_the_ranks_and_one_fault() -> None:
    parts = parts_of(nodes=3)
    (_, at_x), (_, at_y) = cells(parts, "x", "y")
    leaf = parts.undecided.new_leaf("random", (0, 9))
    [put] = without(parts, Do(Put(at_x, leaf, at_y, Const(0))))
    [choice] = parts.writer.node.statements
    assert isinstance(choice, Choose) and len(choice.branches) == 4
    assert isinstance(put, Do) and put.command == Put(at_x, parts.undecided.chosen[leaf], at_y, Const(0))
