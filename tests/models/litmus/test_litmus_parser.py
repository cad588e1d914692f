"""The litmus language: what texts mean, what is said of wrong ones, printing, expectations."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.diagnostics.catalogue import CATALOGUE
from pgasrob.models.litmus.expected_outcomes import VARIANTS, compare, settings
from pgasrob.models.litmus.instructions import (
    Assign,
    Assume,
    Cell,
    CompareAndSet,
    Flush,
    Get,
    GetAccumulate,
    Instruction,
    Load,
    MemoryFence,
    Poll,
    Put,
    RemoteCompareAndSet,
    RemoteFence,
    Store,
)
from pgasrob.models.litmus.litmus_parser import parse, parse_file
from pgasrob.models.litmus.litmus_printer import in_one_line, printed
from pgasrob.models.litmus.litmus_program import Choose, Location, Loop, Program, Thread, straight
from pgasrob.models.litmus.litmus_words import ARGUMENTS
from pgasrob.models.model_table import MODELS
from pgasrob.program.expressions import Binary, Conditional, Const, Register, Unary
from tests.models.strategies import features, random_program, random_text, small_programs
from tests.support import examples

A = Register("a", 0)


def bare(item: object) -> object:
    """An instruction or block with its spans taken away."""
    if isinstance(item, tuple):
        return tuple(map(bare, item))
    fields = {name: bare(getattr(item, name)) for name in getattr(item, "__slots__", ()) if name != "span"}
    return (type(item).__name__, fields) if isinstance(item, Instruction | Choose | Loop) else item


def body(statements: str, before: str = "x@1=0 y@1=0 z@2=0 w@2=0") -> tuple[object, ...]:
    return tuple(bare(item) for item in parse(f"{before} :: 1: {statements}").program.threads[0].body)


X, Y, Z, W = map(Cell, "xyzw")


@pytest.mark.parametrize(
    ("text", "instructions"),
    [
        ("a = x", [Load(0, X)]),
        ("a = x.n", [Load(0, Cell("x", False))]),
        ("x = 1", [Store(X, Const(1))]),
        ("x.n = -1", [Store(Cell("x", False), Const(-1))]),
        ("a = 2 + 3 * 4", [Assign(0, Binary("+", Const(2), Binary("*", Const(3), Const(4))))]),
        ("a = 1 - 2 - 3", [Assign(0, Binary("-", Binary("-", Const(1), Const(2)), Const(3)))]),
        ("a = -5", [Assign(0, Const(-5))]),
        ("a = -(5)", [Assign(0, Unary("-", Const(5)))]),
        ("a = - -5", [Assign(0, Unary("-", Const(-5)))]),
        ("$1 = x; y = $1; x = y", [Load(0, X), Store(Y, Register("$1", 0)), Load(1, Y), Store(X, Register("$2", 1))]),
        ("a = 1; x = !a", [Assign(0, Const(1)), Store(X, Unary("!", A))]),
        ("a = 1; a = a ? 1 : 2", [Assign(0, Const(1)), Assign(0, Conditional(A, Const(1), Const(2)))]),
        ("a = 1; a = (a || 1)", [Assign(0, Const(1)), Assign(0, Binary("||", A, Const(1)))]),
        ("a = 1; a = a ^ 2", [Assign(0, Const(1)), Assign(0, Binary("^", A, Const(2)))]),
        ("x = z^2", [Get(X, Z)]),
        ("x = get(z^2)", [Get(X, Z)]),
        ("x.n = get(z.n^2)", [Get(Cell("x", False), Cell("z", False))]),
        ("x = z^2.n", [Get(X, Cell("z", False))]),
        ("z^2 = x", [Put(Z, X)]),
        ("put(z^2, x)", [Put(Z, X)]),
        ("put(z^2, 3)", [Put(Z, Cell("$3@1"))]),
        ("z^2 = -1", [Put(Z, Cell("$-1@1"))]),
        ("x = rga(z^2, y)", [GetAccumulate(X, Z, Y)]),
        ("x = rga(z^2, 1)", [GetAccumulate(X, Z, Cell("$1@1"))]),
        ("x = cas(z^2, y, 2)", [RemoteCompareAndSet(X, Z, Y, Cell("$2@1"))]),
        ("flush(2)", [Flush(2)]),
        ("mfence", [MemoryFence()]),
        ("poll(2); rfence(2)", [Poll(2), RemoteFence(2)]),
        ("a = CAS(x, 0, 1)", [CompareAndSet(0, X, Const(0), Const(1))]),
        ("CAS(x, 0, 1)", [CompareAndSet(None, X, Const(0), Const(1))]),
        ("assume(x == 1)", [Load(0, X), Assume(Binary("==", Register("$1", 0), Const(1)))]),
        ("assume(x = 1)", [Load(0, X), Assume(Binary("==", Register("$1", 0), Const(1)))]),
        ("x = y", [Load(0, Y), Store(X, Register("$1", 0))]),
        (
            "a = y + x * y",
            [
                Load(1, Y),
                Load(2, X),
                Load(3, Y),
                Assign(
                    0,
                    Binary("+", Register("$1", 1), Binary("*", Register("$2", 2), Register("$3", 3))),
                ),
            ],
        ),
        ("x = (y) ^ 2", [Load(0, Y), Store(X, Binary("^", Register("$1", 0), Const(2)))]),
        ("y = CAS(x, 0, 1)", [CompareAndSet(0, X, Const(0), Const(1)), Store(Y, Register("$1", 0))]),
        ("skip; ;", []),
        ("choose { x = 1 } or { }", [Choose(((Store(X, Const(1)),), ()))]),
        ("loop 3 { x = 1; mfence; }", [Loop(3, (Store(X, Const(1)), MemoryFence()))]),
        (
            "choose { skip } or { loop 2 { mfence } } mfence",
            [Choose(((), (Loop(2, (MemoryFence(),)),))), MemoryFence()],
        ),
    ],
)
def test_statements(text: str, instructions: list[Instruction]) -> None:
    assert body(text) == bare(tuple(instructions))


def test_a_program() -> None:
    test = parse("x@1=0, z@2=5 :: 1: z^2 = x; poll(2); x = 1 || 2: a = z")
    assert test.program.locations == (Location("x", 1, 0), Location("z", 2, 5))
    assert [thread.node for thread in test.program.threads] == [1, 2]
    assert test.program.names == ("x", "z", "a")
    assert test.name == "unnamed"
    assert test.program.threads[0].graph == straight(test.program.threads[0].body)


def test_names_that_nobody_declares() -> None:
    """The local end of an operation of the adapter is a location, wherever it is mentioned; the rest are registers."""
    program = parse("y@2=1 :: 1: b = a; a = y^2; c = a || 2: d = y").program
    assert program.locations == (Location("y", 2, 1), Location("a", 1, 0))
    assert [thread.registers for thread in program.threads] == [("b", "c"), ("d",)]
    assert program.names == ("y", "a", "b", "c", "d")


def test_constants_are_held_by_locations_that_no_outcome_shows() -> None:
    program = parse("y@2 x@1 :: 1: y^2 = 1; y^2 = 1; y^2 = 2 || 2: x^1 = 1").program
    assert program.locations[2:] == (
        Location("$1@1", 1, 1, shown=False), Location("$2@1", 1, 2, shown=False), Location("$1@2", 2, 1, shown=False)
    )  # fmt: skip
    assert program.names == ("y", "x")


def test_the_same_in_several_lines_with_comments() -> None:
    text = """// store buffering
    x@1=0 /* both on
    one node */ y@1 ::
      1: x = 1;
         a = y;
    ||
      1: y = 1
         ; b = x  // the end
    allowed a=0 b=0  forbidden sc: a=0, b=2
    """
    assert in_one_line(parse(text).program) == "x@1=0 y@1=0 :: 1: x = 1; a = y; || 1: y = 1; b = x;"
    assert [str(line) for line in parse(text).expectations] == ["allowed a=0 b=0", "forbidden sc: a=0 b=2"]
    assert [line.span.line for line in parse(text).expectations] == [9, 9]


def test_empty_threads_and_no_locations() -> None:
    assert [thread.body for thread in parse(":: 1: || 2: ;; || 3: a = 1").program.threads][:2] == [(), ()]


def test_integers_have_32_bits() -> None:
    assert parse("x@1=2147483648 :: 1: skip").program.locations[0].initial == -(2**31)


# Expectations


def test_expectations() -> None:
    test = parse(
        "x@1 :: 1: a = x || 1: b = x; x = 1\n"
        "allowed a=0, b=0\nforbidden rdma-tso, tso: a=T\nallowed corerma vpi, without IR, without LO: b=-1\n"
        "forbidden rdma-tso no-pcie: otherwise\nforbidden otherwise; allowed rdma-tso without oppo.G9: x=3"
    )
    assert [(line.allowed, line.models, line.values) for line in test.expectations] == [
        (True, (), (("a", 0), ("b", 0))),
        (False, (("rdma-tso", ""), ("tso", "")), (("a", "T"),)),
        (True, (("corerma", "vpi without IR without LO"),), (("b", -1),)),
        (False, (("rdma-tso", "no-pcie"),), ()),
        (False, (), ()),
        (True, (("rdma-tso", "without oppo.G9"),), (("x", 3),)),
    ]
    assert test.models[0] == ("rdma-tso", "")
    assert len(test.models) == 5


def test_a_line_that_says_the_same_twice_contradicts_nothing() -> None:
    assert len(parse("x@1 :: 1: a = x allowed a=0 allowed a=0 forbidden a=1 forbidden a=1").expectations) == 2
    assert len(parse("x@1 :: 1: a = x allowed tso: a=0 forbidden sc, rdma-tso placed: a=0").expectations) == 2


@pytest.mark.parametrize("text", ["a = x = 1", "x = (y = 1)", "a = CAS(x, y = 0, 1)"])
def test_one_equals_sign_compares_in_assume_alone(text: str) -> None:
    with pytest.raises(SourceError) as error:
        parse(f"x@1 y@1 :: 1: {text}")
    assert [found.code for found in error.value.diagnostics] == ["PG170"]


def test_variants_are_compared_as_sets_of_settings() -> None:
    assert settings("vpi, without IR, without LO") == settings("without LO without IR vpi")
    assert settings("without IR") != settings("IR") and settings("") == frozenset()


SB = """x@1 y@1 :: 1: x = 1; a = y || 1: y = 1; b = x
allowed a=0 b=1
allowed a=1
forbidden tso: a=0 b=0
allowed rdma-tso no-pcie: a=0 b=0
forbidden otherwise
"""


@pytest.mark.parametrize(
    ("model", "variant", "outcomes", "complete", "holds"),
    [
        ("sc", "", [(1, 1, 0, 1), (1, 1, 1, 0), (1, 1, 1, 1)], True, [True, True, None, None, True]),
        ("sc", "", [(1, 1, 0, 1), (1, 1, 0, 0)], True, [True, False, None, None, False]),
        ("tso", "", [(1, 1, 0, 0)], True, [False, False, False, None, False]),
        ("tso", "", [(1, 1, 0, 1)], False, [True, None, None, None, None]),
        ("tso", "", [(1, 1, 0, 0)], False, [None, None, False, None, False]),
        ("rdma-tso", "", [(1, 1, 0, 1), (1, 1, 1, 0)], True, [True, True, None, None, True]),
        ("rdma-tso", "no-pcie", [(1, 1, 0, 1), (1, 1, 1, 1), (1, 1, 0, 0)], True, [True, True, None, True, True]),
        ("rdma-tso", "no-pcie", [], True, [False, False, None, False, True]),
    ],
)
def test_compare(
    model: str, variant: str, outcomes: list[tuple[int, ...]], complete: bool, holds: list[bool | None]
) -> None:
    compared = compare(parse(SB), model, variant, outcomes, complete=complete)
    assert [each.holds for each in compared] == holds
    assert [each.line for each in compared] == [2, 3, 4, 5, 6]


def test_compare_tells_the_outcomes_of_a_line() -> None:
    compared = compare(parse(SB), "tso", "", [(1, 1, 0, 0), (1, 1, 1, 0)])
    assert [each.outcomes for each in compared] == [(), ((1, 1, 1, 0),), ((1, 1, 0, 0),), (), ((1, 1, 0, 0),)]


# Printing


def canonical(program: Program) -> object:
    return program.locations, [
        (t.node, t.registers, bare(t.body), t.graph.ends, len(t.graph.out)) for t in program.threads
    ]


def test_random_programs_are_printed_and_read_again() -> None:
    random, found = Random(1), set()
    for number in range(examples(800, 20_000)):
        dialect = ("rdma-tso", "corerma", "tso", "sc")[number % 4]
        text = random_text(random, dialect, branching=bool(number % 3), atomic=bool(number % 2), statements=8)
        program = parse(text).program
        again = parse(printed(program)).program
        # A text may write a location before it is mentioned; printed, all stand in the order of the program.
        assert canonical(again) == canonical(program), text
        assert canonical(parse(in_one_line(program)).program) == canonical(program)
        found |= set(features(program))
    assert found >= {
        "Load", "Store", "Assign", "Assume", "MemoryFence", "CompareAndSet", "Get", "Put", "GetAccumulate",
        "RemoteCompareAndSet", "Flush", "Poll", "RemoteFence", "Choose", "Loop", "non-atomic", "1 threads", "2 threads",
        "3 threads", "1 nodes", "2 nodes", "3 nodes",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "x@1=0 y@1=0 ::\n1: x = (y) ^ 2;\n",
        "x@1=0 y@1=0 ::\n1: x = (x == 0 || y == 0);\n",
        "x@1=0 y@1=0 ::\n1: $2 = x; x = y + $2;\n",
        "x@1=0 y@1=0 ::\n1: $1 = x; x = $1 + $1;\n",
        "x@1=0 y@1=0 ::\n1: $1 = x; mfence; x = $1;\n",
        "x@1=0 y@1=0 ::\n1: $1 = x; a = $1;\n",
        "x@1=0 y@1=0 ::\n1: $1 = x;\n",
        "x@1=0 y@1=0 ::\n1: $1 = x; choose { y = $1 } or { }\n",
        "x@1=0 y@1=0 ::\n1: $1 = x; y = $1; x = $1;\n",
        "x@1=0 y@1=0 ::\n1: x = y.n - x;\n",
        "x@1=0 y@1=0 ::\n1: x = -(5) - (1 - -2) - 3;\n",
        "x@1=0 y@1=0 ::\n1: a = CAS(x, y, x + 1);\n",
        "x@1=0 y@1=0 ::\n1: y.n = CAS(x, y, 1); a2 = x;\n",
        "x@1=0 y@1=0 ::\n1: $1 = CAS(x, y, 1); y = $1; x = $1;\n",
        "x@1=0 y@1=0 ::\n1: $1 = CAS(x, y, 1); y = $1 + 1; mfence;\n",
        "x@1=0 y@1=-3 ::\n1: assume(x - -1 == -y); ||\n2:\nallowed corerma vpi, sc: x=T y=0\nforbidden otherwise\n",
    ],
)
def test_what_is_printed(text: str) -> None:
    assert printed(parse(text)) == text


def test_a_thread_without_a_text_is_printed_when_it_is_straight() -> None:
    instructions = (Load(0, Cell("x")), Store(Cell("x"), Register("$1", 0)), Poll(2))
    program = Program((Location("x", 1), Location("z", 2)), (Thread(1, ("$1",), straight(instructions)),))
    assert printed(program) == "x@1=0 z@2=0 ::\n1: x = x; poll(2);\n"
    choice = parse("x@1 :: 1: choose { x = 1 } or { }").program.threads[0]
    with pytest.raises(ValueError, match="branches"):
        printed(Program((Location("x", 1),), (Thread(1, (), choice.graph),)))


# Mistakes: tests/diagnostics/fixtures has what is said of them


PIECES = (
    "|| :: = ; { } ( ) ^ @ .n : $1 ? , - // /* \n \0 \u00e9 "
    "loop choose or allowed forbidden otherwise rdma-tso T x 2 99999999999 get CAS poll"
)


def test_every_text_has_a_test_or_diagnostics() -> None:
    """Random bytes, and texts with something left out, put in, doubled or exchanged."""
    random, refused, read = Random(7), 0, 0
    wrong: list[Diagnostic] = []
    pieces = PIECES.split(" ")
    for number in range(examples(2_000, 100_000)):
        dialect = ("rdma-tso", "corerma", "tso", "sc")[number % 4]
        text = random_text(random, dialect, branching=True, atomic=False)
        text += random.choice(("", " allowed x=0", " forbidden rdma-tso no-pcie, tso: x=1 forbidden otherwise"))
        if number % 10 == 0:
            text = "".join(chr(random.randrange(256)) for _ in range(random.randrange(60)))
        for _ in range(random.choice((1, 1, 1, 2, 4))):
            at, end = sorted(random.randrange(len(text) + 1) for _ in range(2))
            end = min(end, at + 8)
            match random.randrange(4):
                case 0:
                    text = text[:at] + text[end:]
                case 1:
                    text = text[:at] + f" {random.choice(pieces)} " + text[at:]
                case 2:
                    text = text[:at] + random.choice(pieces) + text[at + 1 :]
                case _:
                    text = text[:end] + text[at:end] + text[end:]
        try:
            test = parse(text)
        except SourceError as error:
            refused += 1
            wrong += [found for found in error.diagnostics if found.code not in CATALOGUE or not found.render()]
        else:
            read += 1
            assert canonical(parse(printed(test)).program) == canonical(test.program), text
    assert wrong == []
    assert refused > 1_500 and read > 60


@pytest.mark.parametrize(
    "text",
    [
        "x@1 :: 1: a = " + "(" * 5000,
        "x@1 :: 1: a = " + "-" * 5000 + "1",
        "x@1 :: 1: a = " + "1 + (" * 5000,
        "x@1 :: 1: a = " + "(1 || 1 && 1 | 1 ^ 1 & 1 == 1 < 1 << 1 + 1 * " * 500,
        "x@1 :: 1: a = " + "1 ? 1 : " * 5000 + "1",
        "x@1 :: 1: a = " + "+".join("1" * 5000),
        "x@1 :: 1: " + "choose { " * 5000,
        "x@1 :: 1: " + "loop 2 { " * 5000,
        "x@1 :: 1: " + "loop 2 { " * 60 + "x = 1" + "}" * 60,
        "x@1 :: 1: " + "choose { x = 1 } or { } " * 5000,
        "x@1 :: 1: loop 2000000000 { x = 1 }",
    ],
)
def test_what_is_too_deep_or_too_long_is_refused(text: str) -> None:
    with pytest.raises(SourceError) as error:
        parse(text)
    assert {found.code for found in error.value.diagnostics} <= {"PG022", "PG179", "PG170", "PG171"}
    assert {found.code for found in error.value.diagnostics} & {"PG022", "PG179"}


def test_a_file_that_is_none(tmp_path: object) -> None:
    folder = Path(str(tmp_path))
    for name, data, code in (("a", b"\xff\xfe", "PG002"), ("b", b"", "PG003"), ("c", b"x@1 ::\0", "PG002")):
        (folder / name).write_bytes(data)
        with pytest.raises(SourceError) as error:
            parse_file(folder / name)
        assert [found.code for found in error.value.diagnostics] == [code]
    with pytest.raises(SourceError):
        parse_file(folder / "none")
    (folder / "sb.litmus").write_text("\ufeffx@1 :: 1: x = 1")
    assert parse_file(folder / "sb.litmus").name == "sb"


# What the other tests are made of


def test_how_many_small_programs_there_are() -> None:
    assert [sum(1 for _ in small_programs(size)) for size in (1, 2, 3)] == [2, 84, 1816]
    assert sum(1 for _ in small_programs(3, locations=2)) == 526
    assert sum(1 for _ in small_programs(3, threads=3, nodes=3)) == 2838
    assert sum(1 for _ in small_programs(2, remote=False)) == 126


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("statements", "sizes", "count"),
    [
        (4, {}, 32_868),
        (4, {"locations": 4}, 71_502),
        (4, {"nodes": 3, "threads": 3}, 60_718),
        (5, {"locations": 2}, 57_794),
        (5, {"threads": 1}, 140_556),
    ],
)
def test_how_many_larger_ones_there_are(statements: int, sizes: dict[str, Any], count: int) -> None:
    assert sum(1 for _ in small_programs(statements, **sizes)) == count


def test_small_programs_are_texts_too() -> None:
    for number, program in enumerate(small_programs(3)):
        if number % 20 == 0:
            assert canonical(parse(printed(program)).program) == canonical(program)


def test_a_seed_gives_the_same_programs() -> None:
    first, second = (random_program(Random(5), "rdma-tso") for _ in range(2))
    assert first == second


# The reference


REFERENCE = (Path(__file__).parents[3] / "pgasrob/models/litmus/README.md").read_text(encoding="utf-8")


def test_the_example_of_the_reference_is_a_test() -> None:
    (text,) = re.findall(r"^```\n(.*?)^```$", REFERENCE, re.DOTALL | re.MULTILINE)
    assert [str(line) for line in parse(text).expectations] == ["allowed a=0", "forbidden rdma-tso, tso: a=1"]


def test_every_statement_of_the_reference_is_one_and_every_word_stands_in_it() -> None:
    (table,) = re.findall(r"^\| statement \|.*?(?=^\n)", REFERENCE, re.DOTALL | re.MULTILINE)
    statements = [code for row in table.splitlines()[2:] for code in re.findall(r"`([^`]*)`", row.split("|")[1])]
    assert len(statements) == 20
    for statement in statements:
        text = statement.replace("...", "x = 1")
        parse(f"x@1 y@1 w@1 z@2 :: 1: a = 1; {text}")
    assert {word for word in ARGUMENTS if word not in table.replace("`", "")} == set()
    (words,) = re.findall(r"^\| model \|.*?(?=^\n)", REFERENCE, re.DOTALL | re.MULTILINE)
    rows = {
        row.split("|")[1].strip(" `"): re.findall(r"`([^`]*)`", row.split("|")[2]) for row in words.splitlines()[2:]
    }
    assert {model: tuple(word for word in found if word != "without") for model, found in rows.items()} == VARIANTS
    assert {model for model, found in rows.items() if "without" in found} == {
        name for name, entry in MODELS.items() if "without" in entry.options
    }
