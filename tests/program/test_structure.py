"""Graphs of pieces: their control automata, and the text that is made of them to be read."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.program.commands import Assign, Assume, Command
from pgasrob.program.control import build, may_be_left_out
from pgasrob.program.declarations import Declared, Process
from pgasrob.program.expressions import Const, Register, Unary
from pgasrob.program.parser import parse
from pgasrob.program.printer import to_source
from pgasrob.program.statements import NOWHERE, Block, Do, FlowGraph, If, Piece, Span, While, statements_in
from pgasrob.program.structure import MOST_NESTED, structured
from tests.program.test_control import words_of_automaton
from tests.support import examples

R = Register("r", 0)


def piece(number: int, goes_to: Sequence[int], branches: bool = False, issues: bool = True) -> Piece:
    """A piece that sets r to its ``number``, or does nothing; where it goes to, or branches on r."""
    do = (Do(Assign(R, Const(number)), Span(number + 1, 1, number + 1, 2)),) if issues else ()
    ways = tuple(f"s{each}" for each in goes_to)
    return Piece(f"s{number}", do, ways, R if branches else None, NOWHERE)


@st.composite
def graphs(draw: st.DrawFn) -> FlowGraph:
    """Up to six pieces, of which those that the first one leads to are kept."""
    count = draw(st.integers(1, 6))
    pieces = []
    for number in range(count):
        goes_to = draw(st.lists(st.integers(0, count - 1), max_size=3))
        branches = len(set(goes_to)) == len(goes_to) == 2 and draw(st.booleans())
        pieces.append(piece(number, goes_to, branches, draw(st.booleans())))
    reached = {"s0"}
    for _ in pieces:
        reached |= {label for each in pieces if each.label in reached for label in each.goes_to}
    return FlowGraph(tuple(each for each in pieces if each.label in reached))


def words(graph: FlowGraph, length: int) -> set[tuple[Command, ...]]:
    """The sequences of up to ``length`` commands that ``graph`` can issue."""
    pieces = {each.label: each for each in graph.pieces}
    found: set[tuple[Command, ...]] = set()
    stack: list[tuple[tuple[Command, ...], str]] = [((), graph.pieces[0].label)]
    seen = set(stack)
    while stack:
        word, label = stack.pop()
        found.add(word)
        each = pieces[label]
        issued = [statement.command for statement in each.statements if isinstance(statement, Do)]
        tests = [()] * len(each.goes_to) if each.condition is None else [(Assume(R),), (Assume(Unary("!", R)),)]
        ways = [((*word, *issued, *test), after) for test, after in zip(tests, each.goes_to, strict=True)]
        for after, _ in [((*word, *issued), ""), *ways]:
            found |= {after[:end] for end in range(min(len(after), length) + 1)}
        fresh = [way for way in ways if len(way[0]) < length and way not in seen]
        seen.update(fresh)
        stack += fresh
    return found


@settings(max_examples=examples(180, 3_000))
@given(graphs())
def test_the_automaton_and_the_text_of_a_graph_issue_what_it_does(graph: FlowGraph) -> None:
    expected = words(graph, 4)
    assert words_of_automaton(build(graph), 4) == expected
    assert words_of_automaton(build(structured(graph)), 4) == expected


@settings(max_examples=examples(120, 2_000))
@given(graphs())
def test_a_process_may_end_in_its_text_where_it_may_in_the_graph(graph: FlowGraph) -> None:
    assert may_be_left_out(graph) == may_be_left_out(structured(graph))


@settings(max_examples=examples(60, 1_000))
@given(graphs())
def test_the_text_can_be_read_back(graph: FlowGraph) -> None:
    text = to_source(Declared("p", None, (), ("r",), (), (Process(None, graph),)))
    assert to_source(parse(text)) == text


def test_a_place_that_two_ways_lead_to_stands_after_both() -> None:
    graph = FlowGraph((piece(0, [1, 2], branches=True), piece(1, [3]), piece(2, [3]), piece(3, [])))
    do = [each.statements[0] for each in graph.pieces]
    assert structured(graph) == Block((do[0], If(R, Block((do[1],)), Block((do[2],))), do[3]))


def test_blocks_nest_only_so_deep() -> None:
    """In a chain of branches, and however long a straight way is."""
    count = 3 * MOST_NESTED
    rungs = [(piece(at, [at + 1, at + 2], branches=True), piece(at + 1, [])) for at in range(0, 2 * count, 2)]
    ladder = FlowGraph((*(each for rung in rungs for each in rung), piece(2 * count, [])))
    text = structured(ladder)

    def depth(block: Block) -> int:
        inner = [each for it in block.statements if isinstance(it, If) for each in (it.then, it.otherwise) if each]
        return max((1 + depth(each) for each in inner), default=0)

    assert depth(text) == MOST_NESTED + 1  # the innermost go on elsewhere
    assert [len(each.out) for each in (build(text), build(ladder))] == [3 * count + 2] * 2
    straight = FlowGraph((*(piece(at, [at + 1]) for at in range(3000)), piece(3000, [])))
    assert len(structured(straight).statements) == 3001


def test_statements_in_a_graph_are_those_of_its_pieces() -> None:
    inner = Do(Assign(R, Const(1)))
    loop = While(R, Block((inner,)))
    assert list(statements_in(FlowGraph((Piece("s0", (loop,), (), None, NOWHERE),)))) == [loop, inner]
