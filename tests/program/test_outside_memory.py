"""Files and the terminal as cells: which names may be those of one file, and what becomes of marks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgasrob.program.commands import Load, Mark, Store
from pgasrob.program.expressions import Const
from pgasrob.program.outside_memory import (
    ANY_FILE,
    EVERYWHERE,
    TERMINAL,
    Anything,
    Outside,
    may_be_the_same,
    with_places,
)
from pgasrob.program.parser import parse
from pgasrob.program.statements import Do, statements_in
from pgasrob.program.variants import with_commands


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a", "a", True), ("a", "b", False), ("a", "./a", True), ("d//a", "d/./a", True), ("d/a", "d/b", False),
        ("d", "d/a", True), ("d/a", "a", False), ("/tmp/a", "/tmp/b", False), ("/tmp/a", "a", True),
        ("/tmp/a", "tmp/a", True), ("/tmp/a", "b", False), ("/tmp/d/a", "d", True), ("../a", "b", True),
        ("d/../a", "a", True), ("d/../a", "b", False), (".", "a", True), ("", "a", True),
        (ANY_FILE, "a", True), (ANY_FILE, TERMINAL, False), (TERMINAL, "a", False), (TERMINAL, TERMINAL, True),
    ],
)  # fmt: skip
def test_names_that_may_be_those_of_one_file(one: str, other: str, same: bool) -> None:
    assert may_be_the_same(one, other) == may_be_the_same(other, one) == same


def cells(*facts: Outside, terminal: bool = True) -> tuple[list[str], list[list[str]]]:
    """The names of the places of a program with these facts, and what each fact accesses there."""
    text = "memory x; process 0 { " + "".join(f"mem[x] <- {number}; " for number in range(len(facts))) + "}"
    program = parse(text + " process 1 { skip; }")

    def marked(statement: Do) -> tuple[Do]:
        command = statement.command
        assert isinstance(command, Store) and isinstance(command.value, Const)
        return (Do(Mark(Const(1), facts[command.value.value]), statement.span),)

    made, places = with_places(with_commands(program, marked), terminal)
    by_line: list[list[str]] = []
    column = -1
    for statement in statements_in(made.processes[0].body):
        assert isinstance(statement, Do)
        if statement.span.column != column:
            by_line.append([])
            column = statement.span.column
        match statement.command:
            case Store(address, _, Const(0)):
                by_line[-1].append(f"write {address}")
            case Load(_, address, Const(0)):
                by_line[-1].append(f"read {address}")
    names = {f"Symbol(name={each.name!r}, value={each.address})": each.name for each in places}
    for accesses in by_line:
        for number, access in enumerate(accesses):
            verb, _, symbol = access.partition(" ")
            accesses[number] = f"{verb} {names[symbol]}"
    assert [each.address for each in places] == list(range(1, 1 + len(places)))
    assert made.cells == program.cells + len(places) and all(made.object_at(each.address) for each in places)
    return [each.name for each in places], by_line


def test_a_cell_for_each_place_that_somebody_writes() -> None:
    names, accesses = cells(
        Outside(("a",), writes=True), Outside(("./a",), writes=False), Outside(("b",), writes=False),
        Outside((TERMINAL,), writes=True),
    )  # fmt: skip
    assert names == ["a", TERMINAL]
    assert accesses == [["write a"], ["read a"], [], [f"write {TERMINAL}"]]


def test_output_that_may_come_in_any_order_is_left_out() -> None:
    names, accesses = cells(Outside((TERMINAL,), writes=True), Outside(("a",), writes=True), terminal=False)
    assert names == ["a"] and accesses == [[], ["write a"]]


def test_a_file_that_is_not_known_may_be_any_but_not_the_terminal() -> None:
    names, accesses = cells(
        Outside(("a",), writes=True), Outside(("b",), writes=False), Outside((ANY_FILE,), writes=False),
        Outside((TERMINAL,), writes=True), Outside(EVERYWHERE, writes=True),
    )  # fmt: skip
    assert names == ["a file", TERMINAL]
    assert accesses[:4] == [["write a file"], ["read a file"], ["read a file"], [f"write {TERMINAL}"]]
    assert sorted(accesses[4]) == ["write a file", f"write {TERMINAL}"]


def test_values_that_are_not_known_are_told_apart_by_where_they_are_stored() -> None:
    """In the order of the text, however many lines there are before."""
    values = []
    for lines in (0, 8):
        text = "memory x, y;" + "\n" * lines + " process 0 { mem[x] <- 7; mem[y] <- 8;\n mem[x] <- 7; }"
        program = parse(text + " process 1 { mem[x] <- 7; }")

        def forget(statement: Do) -> tuple[Do]:
            command = statement.command
            assert isinstance(command, Store)
            value = Anything(0) if command.value == Const(7) else command.value
            return (Do(Store(command.address, value), statement.span),)

        made, _ = with_places(replace(with_commands(program, forget), uncertain=("x",)), terminal=True)
        commands = [
            [each.command.value for each in statements_in(process.body) if isinstance(each, Do)
             if isinstance(each.command, Store)]
            for process in made.processes
        ]  # fmt: skip
        values.append(commands)
        assert made.uncertain == ()
    first, eight, second = values[0][0]
    assert eight == Const(8) and len({first, second, values[0][1][0]}) == 3 and values[0] == values[1]


def test_names_that_a_call_joins_are_those_of_one_place() -> None:
    renamed = cells(Outside(("a",), writes=True), Outside(("b",), writes=False), Outside(("a", "b"), True, joins=True))
    assert renamed == (["a or b"], [["write a or b"], ["read a or b"], ["write a or b"]])
    redirected, _ = cells(Outside((TERMINAL,), True), Outside(("a", TERMINAL), True, joins=True), terminal=False)
    assert redirected == [f"a or {TERMINAL}"]
