"""Control automata: what may come next, by the follow construction (the design, section 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.program import control
from pgasrob.program.commands import Assign, Assume, Command, map_expressions, show
from pgasrob.program.control import ControlAutomaton, build
from pgasrob.program.expressions import Const, Register, Unary, specialise
from pgasrob.program.parser import parse
from pgasrob.program.statements import Block, Choose, Do, If, Loop, Skip, Statement, While
from tests.support import examples

DECLARATIONS = "memory x; register r, a, b, c; queue q;"


def block(text: str) -> Block:
    """A block of a small language: `A;` is the command a <- 1, and likewise `B;` and `C;`."""
    for name in "ABC":
        text = text.replace(f"{name};", f"{name.lower()} <- 1;")
    return parse(f"{DECLARATIONS} process {{ {text} }}").processes[0].body


def edges(automaton: ControlAutomaton) -> list[list[str]]:
    """What leaves each state, as ``A>1`` for command A and target 1."""

    def name(command: Command) -> str:
        return show(command).replace(" <- 1", "").upper() if isinstance(command, Assign) else show(command)

    return [[f"{name(edge.command)}>{edge.target}" for edge in leaving] for leaving in automaton.out]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [[]]),
        ("skip; skip;", [[]]),
        ("A;", [["A>1"], []]),
        ("skip; A; skip; B; skip;", [["A>1"], ["B>2"], []]),
        # choose commits to nothing: both branches may come next, and a branch that is empty lets through what follows.
        ("choose { A; } or { B; }", [["A>1", "B>1"], []]),
        ("choose { A; B; } or { A; C; }", [["A>1", "A>2"], ["B>3"], ["C>3"], []]),
        ("choose { } or { A; } B;", [["A>1", "B>2"], ["B>2"], []]),
        ("choose { skip; } or { choose { A; } or { B; } } C;", [["A>1", "B>1", "C>2"], ["C>2"], []]),
        # Nor does loop: before and after each round the state is the same.
        ("loop { A; }", [["A>0"]]),
        ("loop { A; } B;", [["A>0", "B>1"], []]),
        ("loop { A; B; } C;", [["A>1", "C>2"], ["B>0"], []]),
        ("loop { loop { A; } B; } C;", [["A>1", "B>0", "C>2"], ["A>1", "B>0"], []]),
        ("loop { choose { A; } or { } } B;", [["A>0", "B>1"], []]),
        ("loop { } A;", [["A>1"], []]),
        ("A; loop { A; }", [["A>1"], ["A>1"]]),
        # Nor goto: the label's commands may come next, wherever the label stands.
        ("l: A; goto l;", [["A>0"]]),
        ("goto l; A; l: B;", [["B>1"], []]),
        ("l: A; choose { goto l; } or { B; }", [["A>1"], ["A>1", "B>2"], []]),
        ("choose { goto l; } or { A; } B; l: C;", [["A>1", "C>2"], ["B>3"], [], ["C>2"]]),
        ("loop { A; l: B; } goto l;", [["A>1", "B>0"], ["B>0"]]),
        ("l: loop { m: A; goto m; }", [["A>0"]]),
        ("A; l: goto l;", [["A>1"], []]),  # going in circles without a command is having ended
        ("A; goto l; B; l: skip;", [["A>1"], []]),  # nothing leads to B
        # Tests are commands, each outcome its own.
        ("if (r) { A; } B;", [["assume(r)>1", "assume(!r)>2"], ["A>2"], ["B>3"], []]),
        ("if (r) { A; } else { B; }", [["assume(r)>1", "assume(!r)>2"], ["A>3"], ["B>3"], []]),
        ("if (r) { }", [["assume(r)>1", "assume(!r)>1"], []]),
        ("if (r) { } else { skip; } A;", [["assume(r)>1", "assume(!r)>1"], ["A>2"], []]),
        ("while (r) { A; } B;", [["assume(r)>1", "assume(!r)>2"], ["A>0"], ["B>3"], []]),
        ("while (r) { }", [["assume(r)>0", "assume(!r)>1"], []]),
        ("loop { while (r) { A; } } B;", [
            ["assume(r)>1", "assume(!r)>0", "B>2"], ["A>3"], [], ["assume(r)>1", "assume(!r)>0"]]),
    ],
)  # fmt: skip
def test_what_may_come_next(text: str, expected: list[list[str]]) -> None:
    """States are numbered as they are found, from 0; the edges of a state are in the order of the source."""
    assert edges(build(block(text))) == expected


def sizes(automaton: ControlAutomaton) -> tuple[int, int]:
    return len(automaton.out), len(automaton.transitions)


@pytest.mark.parametrize(
    ("text", "states", "transitions"),
    [
        ("write(x, 1, x, q); barrier; r <- mem[x]; assert(r == 1);", 5, 4),
        ("loop { choose { A; } or { B; } or { C; } }", 1, 3),
        ("choose { A; } or { B; } choose { A; } or { B; } choose { A; } or { B; }", 4, 6),
        ("loop { A; } loop { B; } loop { C; }", 3, 6),
        ("loop { A; B; C; choose { skip; } or { A; } }", 4, 5),
        ("while (r) { while (a) { if (b) { A; } else { B; } } C; }", 7, 9),
        ("l: A; m: B; choose { goto l; } or { goto m; } or { }", 3, 4),
    ],
)
def test_counts(text: str, states: int, transitions: int) -> None:
    assert sizes(build(block(text))) == (states, transitions)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # An assume that is false is no move where another one may be.
        ("choose { assume(0); A; } or { B; }", [["B>1"], []]),
        ("choose { assume(1 == 2); } or { assume(r); A; }", [["assume(r)>1"], ["A>2"], []]),
        ("while (1) { A; } B;", [["assume(1)>1"], ["A>0"]]),
        ("if (0) { A; } else { B; }", [["assume(1)>1"], ["B>2"], []]),
        ("loop { assume(0); } B;", [["B>1"], []]),
        # Where there are no others the rank is blocked, which is not the same as having ended.
        ("A; assume(0); B;", [["A>1"], ["assume(0)>2"], ["B>3"], []]),
        ("choose { assume(0); A; } or { assume(0); B; }", [["assume(0)>1", "assume(0)>2"], ["A>3"], ["B>3"], []]),
        # An assert that is false is a move.
        ("choose { assert(0); } or { B; }", [["assert(0)>1", "B>1"], []]),
        # What only shows for one rank.
        ("if (me == 1) { A; } else { B; }", [["assume(1)>1"], ["A>2"], []]),
        ("choose { assume(me != 1); A; } or { B; }", [["B>1"], []]),
    ],
)
def test_false_assumes_are_left_out_where_something_else_may_come(text: str, expected: list[list[str]]) -> None:
    def specialised(command: Command) -> Command:
        return map_expressions(command, lambda expr: specialise(expr, 1, 2))

    assert edges(build(block(text), specialised)) == expected


def test_an_occurrence_is_a_place_in_the_source() -> None:
    """Edges of different states for one place share it; equal commands at two places do not."""
    automaton = build(block("loop { A; } choose { A; } or { B; A; }"))
    places = [(edge.occurrence, show(edge.command)) for edge in automaton.transitions]
    assert dict(places) == {0: "a <- 1", 1: "a <- 1", 2: "b <- 1", 3: "a <- 1"}
    twice = build(block("A; loop { B; } C;"))
    assert [edge.occurrence for edge in twice.transitions] == [0, 1, 2]
    assert [[edge.occurrence for edge in leaving] for leaving in build(block("loop { A; B; } A;")).out] == [
        [0, 2],
        [1],
        [],
    ]


# The language of an automaton against a machine that walks the statements.

R = Register("r", 0)


def statements() -> st.SearchStrategy[Statement]:
    simple = st.one_of(st.integers(0, 2).map(lambda number: Do(Assign(R, Const(number)))), st.just(Skip()))

    def nested(inner: st.SearchStrategy[Statement]) -> st.SearchStrategy[Statement]:
        blocks = st.lists(inner, max_size=3).map(lambda body: Block(tuple(body)))
        return st.one_of(
            st.builds(If, st.just(R), blocks, st.none() | blocks),
            st.builds(While, st.just(R), blocks),
            st.builds(Loop, blocks),
            st.lists(blocks, min_size=1, max_size=3).map(lambda branches: Choose(tuple(branches))),
        )

    return st.recursive(simple, nested, max_leaves=7)


Rest = tuple[Statement, ...]


def moves(rest: Rest, seen: frozenset[Rest] = frozenset()) -> Iterator[tuple[Command, Rest]]:
    """The commands that may be issued first in ``rest``, each with what is left then."""
    if not rest or rest in seen:
        return
    first, after, seen = rest[0], rest[1:], seen | {rest}
    match first:
        case Do(command):
            yield command, after
        case Skip():
            yield from moves(after, seen)
        case If(condition, then, otherwise):
            yield Assume(condition), (*then.statements, *after)
            yield Assume(Unary("!", condition)), (*(otherwise.statements if otherwise else ()), *after)
        case While(condition, body):
            yield Assume(condition), (*body.statements, *rest)
            yield Assume(Unary("!", condition)), after
        case Choose(branches):
            for branch in branches:
                yield from moves((*branch.statements, *after), seen)
        case Loop(body):
            yield from moves((*body.statements, *rest), seen)
            yield from moves(after, seen)


def words_of_statements(body: Block, length: int) -> set[tuple[Command, ...]]:
    """The sequences of up to ``length`` commands that ``body`` can issue."""
    layer: set[tuple[tuple[Command, ...], Rest]] = {((), body.statements)}
    words = {word for word, _ in layer}
    for _ in range(length):
        layer = {((*word, command), left) for word, rest in layer for command, left in moves(rest)}
        words |= {word for word, _ in layer}
    return words


def words_of_automaton(automaton: ControlAutomaton, length: int) -> set[tuple[Command, ...]]:
    layer: set[tuple[tuple[Command, ...], int]] = {((), 0)}
    words = {word for word, _ in layer}
    for _ in range(length):
        layer = {((*word, edge.command), edge.target) for word, state in layer for edge in automaton.out[state]}
        words |= {word for word, _ in layer}
    return words


@settings(max_examples=examples(180, 3_000))
@given(st.lists(statements(), max_size=4).map(lambda body: Block(tuple(body))))
def test_an_automaton_issues_what_the_statements_do(body: Block) -> None:
    assert words_of_automaton(build(body), 4) == words_of_statements(body, 4)


@settings(max_examples=examples(120, 2_000))
@given(st.lists(statements(), max_size=4).map(lambda body: Block(tuple(body))))
def test_states_are_sets_of_next_commands(body: Block) -> None:
    """No two states have the same set of places that may come next, and every state can be reached."""
    automaton = build(body)
    sets = [tuple(edge.occurrence for edge in leaving) for leaving in automaton.out]
    assert len(set(sets)) == len(sets)
    assert {edge.target for edge in automaton.transitions} | {0} == set(range(len(automaton.out)))


def test_ranks_share_what_does_not_depend_on_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has the automaton that it has alone; those of one shape look up its places once, but its ways count."""
    body = block("if (me == 0) { A; } else { c <- me; } choose { assume(me ^ 3); B; } or { } while (r < nodes) { C; }")
    asked: list[int] = []
    look_up = control._Graph.next_occurrences

    def counting(graph: control._Graph, node: int) -> tuple[int, ...]:
        asked.append(node)
        return look_up(graph, node)

    def change(rank: int) -> Callable[[Command], Command]:
        return lambda command: map_expressions(command, lambda expr: specialise(expr, rank, 6))

    ways = control.Ways(10_000)
    alone = [build(body, change(rank), ways) for rank in range(6)]
    taken = 10_000 - ways.left
    monkeypatch.setattr(control._Graph, "next_occurrences", counting)
    together = control.Builder(body, ways)
    assert [together.build(change(rank)) for rank in range(6)] == alone
    assert taken == 10_000 - taken - ways.left
    assert len(asked) < 3 * len(set(asked)) + 1  # rank 0, rank 3, and all others
    program = parse(f"{DECLARATIONS} nodes 6; process {{ a <- me; r <- mem[x]; b <- 2 * nodes; }}").instantiate()
    one, other = (automaton.transitions for automaton in program.automata[4:])
    assert [mine is its for mine, its in zip(one, other, strict=True)] == [False, True, True]
    assert [show(edge.command) for edge in other] == ["a <- 5", "r <- mem[x]", "b <- 12"]


def test_a_place_is_looked_up_once_however_many_transitions_lead_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    look_up = control._Graph.next_occurrences

    def counting(graph: control._Graph, node: int) -> tuple[int, ...]:
        asked.append(node)
        return look_up(graph, node)

    monkeypatch.setattr(control._Graph, "next_occurrences", counting)
    automaton = build(block("choose { A; } or { } " * 40))
    assert len(automaton.transitions) == 40 * 41 // 2
    assert len(asked) == len(set(asked)) == 41


def test_no_more_ways_than_there_may_be() -> None:
    body = block("choose { A; } or { } " * 40)
    ways = control.Ways(10_000)
    assert build(body, ways=ways) == build(body)
    assert 820 < 10_000 - ways.left < 4_000  # the transitions, and the places between the statements
    with pytest.raises(control.TooManyWays):
        build(body, ways=control.Ways(800))


def test_places_that_are_passed_over_count_too() -> None:
    """Here every A leads to the end alone, but each by a long way."""
    body = block("choose { A; } or { A; skip; } or { A; skip; skip; } " + "choose { } or { } " * 100)
    with pytest.raises(control.TooManyWays):
        build(body, ways=control.Ways(600))


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("A; choose { B; } or { skip; }", ["b <- 1"]),
        ("A; choose { B; } or { }", ["b <- 1"]),
        ("choose { A; } or { } B;", []),
        ("choose { A; A; } or { A; choose { } or { choose { B; } or { C; } } }", ["b <- 1", "c <- 1"]),
        ("A; loop { B; A; }", ["b <- 1"]),
        ("A; goto end; B; end: skip;", []),
        ("A;", []),
    ],
)
def test_where_a_process_may_also_end(text: str, commands: list[str]) -> None:
    body = block(text)
    named = {each.span: show(each.command) for each in build(body).transitions}
    assert [named[span] for span in control.may_be_left_out(body)] == commands
