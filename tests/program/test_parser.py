"""From text to programs: the grammar of the design's section 3, positions, recovery, and texts made to hurt."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark import Lark

from pgasrob import file_input
from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.diagnostics.catalogue import known_codes
from pgasrob.program import builder, parser
from pgasrob.program.commands import (
    Assert,
    Assign,
    Assume,
    Await,
    Barrier,
    Command,
    CompareSwap,
    Exit,
    Fence,
    FetchAdd,
    Load,
    Read,
    Store,
    Swap,
    Wait,
    WaitLocal,
    Write,
)
from pgasrob.program.control import build
from pgasrob.program.declaration_rules import MAX_CELLS
from pgasrob.program.declarations import MemoryObject, Process, Queue
from pgasrob.program.expression_rules import MAX_NESTING
from pgasrob.program.expressions import Binary, Conditional, Const, Expr, Me, Nodes, Register, Symbol, Unary
from pgasrob.program.habits import LOCK
from pgasrob.program.parser import parse, parse_file
from pgasrob.program.program import Program
from pgasrob.program.statements import (
    Block,
    Choose,
    Do,
    Goto,
    If,
    Labelled,
    Loop,
    Skip,
    Span,
    Statement,
    While,
)
from pgasrob.program.vocabulary import KEYWORDS
from tests.program.programs_with_mistakes import PROGRAMS
from tests.program.strategies import without_spans
from tests.support import calls, examples

R, S = Register("r", 0), Register("s", 1)
X, Y, A = Symbol("x", 0), Symbol("y", 1), Symbol("a", 2)
Q, P = Symbol("q", 0), Symbol("p", 1)
DECLARATIONS = "memory x, y, a[3]; register r, s; queue q, p unordered;"


def body(text: str) -> tuple[Statement, ...]:
    """The statements of a process with this body, spans and all."""
    return parse(f"{DECLARATIONS} process {{ {text} }}").processes[0].body.statements


def command(text: str) -> Command:
    (statement,) = body(text)
    assert isinstance(statement, Do)
    return statement.command


def expression(text: str) -> Expr:
    assigned = command(f"r <- {text};")
    assert isinstance(assigned, Assign)
    return assigned.value


def diagnostics(text: str) -> list[Diagnostic]:
    """What is wrong with ``text``."""
    with pytest.raises(SourceError) as caught:
        parse(text)
    return caught.value.diagnostics


def found(text: str) -> list[str]:
    """The codes and places of what is wrong with ``text``, as ``PG010 1:5``."""
    return [f"{found.code} {found.line}:{found.column}" for found in diagnostics(text)]


def in_process(text: str) -> list[str]:
    """The same for a body, whose first line is line 2."""
    return found(f"{DECLARATIONS} process {{\n{text}\n}}")


# The grammar

ONE_TO_ONE = """\
// expect: not robust
program one_to_one;
nodes 2;                                   // default node count; --nodes overrides
memory x = 1, y, a[4] = {1, 2, 3, 4};      // one copy on every node; a name denotes its address
register r;
queue q, p unordered;                      // fifo unless said otherwise

process {                                  // every rank not named by another process block
  write(x, (me + 1) % nodes, y, q);        // local address, rank, remote address, queue
  barrier;
  r <- mem[y];
  assert(r == 1);
}
"""


def test_the_program_of_the_design() -> None:
    program = parse(ONE_TO_ONE, "programs/one.pgas")
    assert program == Program(
        "one_to_one",
        2,
        (
            MemoryObject("x", 0, None, (1,), Span(4, 8, 4, 13)),
            MemoryObject("y", 1, None, (0,), Span(4, 15, 4, 16)),
            MemoryObject("a", 2, 4, (1, 2, 3, 4), Span(4, 18, 4, 37)),
        ),
        ("r",),
        (Queue("q", 0, False, Span(6, 7, 6, 8)), Queue("p", 1, True, Span(6, 10, 6, 21))),
        (
            Process(
                None,
                Block(
                    (
                        Do(
                            Write(X, Binary("%", Binary("+", Me(), Const(1)), Nodes()), Y, Q),
                            Span(9, 3, 9, 35),
                        ),
                        Do(Barrier(), Span(10, 3, 10, 10)),
                        Do(Load(R, Y), Span(11, 3, 11, 14)),
                        Do(Assert(Binary("==", R, Const(1))), Span(12, 3, 12, 17)),
                    )
                ),
                Span(8, 1, 8, 8),
            ),
        ),
    )
    assert program.source.file == "programs/one.pgas"
    assert program.source.line(11) == "r <- mem[y];"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("r <- mem[a + s];", Load(R, Binary("+", A, S))),
        ("mem[x] <- r + 1;", Store(X, Binary("+", R, Const(1)))),
        ("r <- x;", Assign(R, X)),
        ("r<-1;", Assign(R, Const(1))),
        ("r<--1;", Assign(R, Const(-1))),
        ("assume(r);", Assume(R)),
        ("assert(r);", Assert(R)),
        ("barrier;", Barrier()),
        ("barrier(end);", Barrier("end")),
        ("exit;", Exit()),
        ("read(x, 1, y, q);", Read(X, Const(1), Y, Q)),
        ("write(x, 1, y, p);", Write(X, Const(1), Y, P)),
        ("wait(q);", Wait(Q)),
        ("wait_local(p);", WaitLocal(P)),
        ("wait(7);", Wait(Const(7))),
        ("fence(q);", Fence(Q, None)),
        ("fence(q, 1);", Fence(Q, Const(1))),
        ("await(mem[x] <= r);", Await(X, "<=", R)),
        ("await(mem[x] == r && s);", Await(X, "==", Binary("&&", R, S))),  # relop, then a whole expression
        ("r <- fetch_add(1, x, s);", FetchAdd(R, Const(1), X, S)),
        ("r <- swap(1, x, s);", Swap(R, Const(1), X, S)),
        ("r <- compare_swap(1, x, 0, s);", CompareSwap(R, Const(1), X, Const(0), S)),
    ],
)
def test_commands(text: str, expected: Command) -> None:
    assert command(text) == expected


@pytest.mark.parametrize("relation", ["==", "!=", "<", "<=", ">", ">="])
def test_await_takes_every_relation(relation: str) -> None:
    assert command(f"await(mem[x]{relation}1);") == Await(X, relation, Const(1))


ASSIGN = Do(Assign(R, Const(1)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("skip;", Skip()),
        ("goto l; l: skip;", Goto("l")),
        ("l: r <- 1;", Labelled("l", ASSIGN)),
        ("l: loop { goto l; }", Labelled("l", Loop(Block((Goto("l"),))))),
        ("if (r) { r <- 1; }", If(R, Block((ASSIGN,)), None)),
        ("if (r) { } else { r <- 1; }", If(R, Block(()), Block((ASSIGN,)))),
        ("if (r) { } else if (s) { r <- 1; }", If(R, Block(()), Block((If(S, Block((ASSIGN,)), None),)))),
        ("if (r) { } else { if (s) { r <- 1; } }", If(R, Block(()), Block((If(S, Block((ASSIGN,)), None),)))),
        ("while (r) { r <- 1; }", While(R, Block((ASSIGN,)))),
        ("loop { }", Loop(Block(()))),
        ("choose { }", Choose((Block(()),))),
        ("choose { r <- 1; } or { } or { skip; }", Choose((Block((ASSIGN,)), Block(()), Block((Skip(),))))),
    ],
)
def test_statements(text: str, expected: Statement) -> None:
    assert without_spans(body(text)[0]) == expected


# C's binary operators by how tightly they bind (ISO C11, 6.5.5 to 6.5.14), written down independently of the code.
TIGHTNESS = {
    "*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<<": 8, ">>": 8, "<": 7, "<=": 7, ">": 7, ">=": 7, "==": 6, "!=": 6,
    "&": 5, "^": 4, "|": 3, "&&": 2, "||": 1,
}  # fmt: skip


@pytest.mark.parametrize(("first", "second"), list(product(TIGHTNESS, repeat=2)))
def test_operators_bind_as_in_c(first: str, second: str) -> None:
    left = Binary(second, Binary(first, R, S), X)
    right = Binary(first, R, Binary(second, S, X))
    assert expression(f"r {first} s {second} x") == (left if TIGHTNESS[first] >= TIGHTNESS[second] else right)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-r * s", Binary("*", Unary("-", R), S)),
        ("- -r", Unary("-", Unary("-", R))),
        ("--r", Unary("-", Unary("-", R))),
        ("!~-r", Unary("!", Unary("~", Unary("-", R)))),
        ("r - -1", Binary("-", R, Const(-1))),
        ("r-1", Binary("-", R, Const(1))),
        ("r<s", Binary("<", R, S)),
        ("r< -1", Binary("<", R, Const(-1))),
        ("r ? s : x ? y : q", Conditional(R, S, Conditional(X, Y, Q))),
        ("r ? s ? x : y : q", Conditional(R, Conditional(S, X, Y), Q)),
        ("r || s ? x : y", Conditional(Binary("||", R, S), X, Y)),
        ("(r ? s : x) + y", Binary("+", Conditional(R, S, X), Y)),
        ("r /* one */ + // two\n s", Binary("+", R, S)),
        ("me + nodes", Binary("+", Me(), Nodes())),
    ],
)
def test_expressions(text: str, expected: Expr) -> None:
    assert expression(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", Const(0)),
        ("007", Const(7)),
        ("2147483647", Const(2**31 - 1)),
        ("2147483648", Const(-(2**31))),
        ("-2147483648", Const(-(2**31))),
        ("- 5", Const(-5)),
        ("-(5)", Unary("-", Const(5))),
        ("- -5", Unary("-", Const(-5))),
        ("0" * 5000 + "1", Const(1)),
    ],
)
def test_integers_are_decimal_and_wrap_at_2_to_the_31(text: str, expected: Expr) -> None:
    assert expression(text) == expected


def test_memory_is_laid_out_in_the_order_of_declaration_and_zero_where_nothing_is_said() -> None:
    program = parse("memory x, a[3] = {1, -2}; memory b[2], c[2] = 7, d = {5}, e = 2147483648; process { }")
    assert [(memory.name, memory.address, memory.size, memory.initial) for memory in program.memory] == [
        ("x", 0, None, (0,)),
        ("a", 1, 3, (1, -2, 0)),
        ("b", 4, 2, (0, 0)),
        ("c", 6, 2, (7, 0)),
        ("d", 8, None, (5,)),
        ("e", 9, None, (-(2**31),)),
    ]
    assert program.cells == 10
    assert program.cell_name(3) == "a[2]"


def test_registers_and_queues_are_numbered_in_the_order_of_declaration() -> None:
    program = parse("queue q; register r; queue p unordered, o; register s; process { s <- o; }")
    assert program.registers == ("r", "s")
    assert [(queue.name, queue.id, queue.unordered) for queue in program.queues] == [
        ("q", 0, False),
        ("p", 1, True),
        ("o", 2, False),
    ]
    assert without_spans(program.processes[0].body.statements) == (Do(Assign(S, Symbol("o", 2))),)


def test_processes_keep_their_ranks_and_ranks_beyond_the_nodes_are_no_error() -> None:
    program = parse("nodes 2; process 0, 9 { skip; } process { }")
    assert [process.ranks for process in program.processes] == [(0, 9), None]


def test_labels_are_visible_in_their_process_alone() -> None:
    parse("process 0 { l: skip; goto l; } process { loop { goto l; } l: skip; }")
    assert found("process 0 { l: skip; } process { goto l; }") == ["PG054 1:39"]


@pytest.mark.parametrize("word", sorted(KEYWORDS))
def test_no_keyword_is_a_name_anywhere(word: str) -> None:
    assert found(f"register {word};\nprocess {{ }}") == ["PG017 1:10"]
    assert found(f"process {{ goto {word}; }}")[0] == "PG017 1:16"
    with pytest.raises(SourceError):
        parse(f"{DECLARATIONS} process {{ r <- {word} + 1; }}" if word not in ("me", "nodes") else f"memory {word};")
    # A name may begin or end like a keyword.
    parse(f"register {word}_, _{word}, {word}2; process {{ {word}_ <- _{word} + {word}2; }}")


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("a/one_to_one.pgas", "one_to_one"),
        ("a/2-writes.v1.pgas", "_2_writes_v1"),
        ("loop.pgas", "_loop"),
        ("größe.pgas", "gr__e"),
        ("<string>", "unnamed"),
    ],
)
def test_a_program_without_a_header_is_called_like_its_file(file: str, name: str) -> None:
    assert parse("process { }", file).name == name
    parse(f"program {name}; process {{ }}")  # it is a name


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks_make_no_difference(newline: str, start: str) -> None:
    program = parse(start + ONE_TO_ONE.replace("\n", newline))
    assert program == parse(ONE_TO_ONE)
    assert found(start + newline.join(("register r;", "process {", "\t r <- y;", "}"))) == ["PG050 3:8"]


def test_spans_cover_commands_without_the_semicolon_and_the_heads_of_branches_and_loops() -> None:
    text = """\
register r; queue q; memory x;
process 0,
        1 {
  l: r <- mem [x] ;
  if (r ==
      1) { mem[x] <- (r); } else if (2) { }
  while (r) { wait(q); }
  r <- swap(0, x, 1);
  await(mem[x] == 0);
}
"""
    process = parse(text).processes[0]
    assert [_text(text, span) for span in _spans(process.body)] == [
        "r <- mem [x]",
        "if (r ==\n      1)",
        "mem[x] <- (r)",
        "if (2)",
        "while (r)",
        "wait(q)",
        "r <- swap(0, x, 1)",
        "await(mem[x] == 0)",
    ]
    assert _text(text, process.span) == "process 0,\n        1"
    # The control automaton hands the spans on: both outcomes of a test have that of its head.
    issued = [_text(text, transition.span) for transition in build(process.body).transitions]
    assert issued.count("while (r)") == 2


def _spans(block: Block) -> list[Span]:
    """The spans of a block in the order of the text."""
    spans: list[Span] = []
    for statement in block.statements:
        inner = statement.statement if isinstance(statement, Labelled) else statement
        if isinstance(inner, Do | If | While):
            spans.append(inner.span)
        if isinstance(inner, If):
            spans += _spans(inner.then) + _spans(inner.otherwise or Block(()))
        if isinstance(inner, While):
            spans += _spans(inner.body)
    return spans


def _text(text: str, span: Span) -> str:
    lines = text.split("\n")[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return "\n".join(lines)


# Mistakes


@pytest.mark.parametrize(("expected", "text"), PROGRAMS)
def test_all_mistakes_are_found_and_nothing_else(expected: list[tuple[str, int]], text: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse(text)
    assert [(each.code, each.line) for each in caught.value.diagnostics] == expected


def test_one_run_finds_several_mistakes_of_all_kinds() -> None:
    text = """\
memory x, x;
register r
process {
  r <- 1 +;
  z <- 2;
  if (r == 1 {
    r <- a[1];
    s <- ;
  } else {
    goto nowhere;
  }
  while r { r <- q; }
}
process 0 { assert(mem[x] == 1); }
"""
    assert found(text) == [
        "PG051 1:11",  # x twice
        "PG011 2:11",  # no semicolon
        "PG010 4:11",  # nothing after +
        "PG050 5:3",  # z
        "PG011 6:13",  # no parenthesis
        "PG050 7:10",  # a
        "PG010 8:10",  # nothing assigned
        "PG010 12:9",  # no parenthesis to open the condition
        "PG050 12:18",  # q, in the block after it
        "PG021 14:20",  # memory in an expression
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A missing semicolon is put in; the place is the end of the word before.
        ("r <- 1\ns <- 2;", ["PG011 2:7"]),
        ("barrier\nr <- 1", ["PG011 2:8", "PG011 3:7"]),
        ("r <- 1 /* one */ // two\n\n  s <- 2;", ["PG011 2:7"]),
        ("skip barrier;", ["PG011 2:5"]),
        ("r <- mem[x]\nmem[y] <- r", ["PG011 2:12", "PG011 3:12"]),
        # So are closing brackets.
        ("write(x, 1, y, q;", ["PG011 2:17"]),
        ("r <- (1 + (2);", ["PG011 2:14"]),
        ("r <- mem[x;", ["PG011 2:11"]),
        ("if (r { skip; }", ["PG011 2:6"]),
        # Two words in a row are no missing semicolon.
        ("r <- s s;", ["PG010 2:8"]),
        ("r <- 1 2;", ["PG010 2:8"]),
        # The statement with the mistake is given up, and the next one is read.
        ("r <- ); s <- (;", ["PG010 2:6", "PG010 2:15"]),
        ("r <- 1 + ; z <- 1;", ["PG010 2:10", "PG050 2:12"]),
        ("; ; skip;", ["PG010 2:1", "PG010 2:3"]),
        ("asert(r); barier;", ["PG026 2:1", "PG026 2:11"]),
        ("skip; else { r <- ; }", ["PG010 2:7", "PG010 2:19"]),
        ("{ skip; { r <- ; } }", ["PG010 2:1", "PG010 2:9", "PG010 2:16"]),
        # What follows a broken head is read as its blocks, if it can be one.
        ("write(x, {, y, q); r <- ;", ["PG010 2:10", "PG010 2:25"]),
        ("if r { z <- 1; } else if (r) { skip; } else { skip; }", ["PG010 2:4", "PG050 2:8"]),
        ("choose q { skip; } or { skip; } or { skip; }", ["PG010 2:8"]),
        ("while (r) skip;", ["PG010 2:11"]),
        # A stray character is dropped, and what it may have caused is not reported.
        ("r <- $ 1;", ["PG014 2:6"]),
        ("r <- @ 1;", ["PG010 2:6"]),
        ("r <- 'z' + $ $;", ["PG014 2:6"]),
        ("#define z 1\nr <- z;", ["PG014 2:1", "PG050 3:6"]),
        ('r <- "two words";', ["PG014 2:6"]),
        # A label in a statement that could not be read may be the one that is missing.
        ("l: r <- ; goto l;", ["PG010 2:9"]),
        ("goto l;", ["PG054 2:6"]),
        # `await` and `=`.
        ("await(r == 1);", ["PG010 2:7"]),
        ("await(mem[x] = 1);", ["PG018 2:14"]),
        ("r = s = 1;", ["PG018 2:3", "PG018 2:7"]),
        # Declarations inside.
        ("memory z[2] = {1, 2}; r <- z;", ["PG025 2:1"]),
        ("register z; z <- 1; skip skip;", ["PG025 2:1", "PG011 2:25"]),
        # Names.
        ("z <- z + 1; z <- z + 2; w <- z;", ["PG050 2:1", "PG050 2:25"]),
        ("x <- mem[y]; q <- 1; me <- 1; 5 <- 1;", ["PG053 2:1", "PG053 2:14", "PG053 2:22", "PG053 2:31"]),
        ("r <- loop; s <- loop + loop;", ["PG017 2:6"]),  # once is enough
        ("r <- if; if <- 2; while = 3;", ["PG017 2:6", "PG017 2:10", "PG017 2:19"]),
        ("r[1] <- s[2] + q[3];", ["PG052 2:1", "PG052 2:9", "PG052 2:16"]),
        ("a[1] <- a[2];", ["PG020 2:1", "PG020 2:9"]),
        ("mem[mem[x]] <- 1;", ["PG021 2:5"]),
        ("r <- (mem[x]);", ["PG021 2:7"]),
        ("r <- mem[x] + mem[y];", ["PG021 2:6", "PG021 2:15"]),
        ("assume(r<-1); r <- s<-1;", ["PG019 2:9", "PG019 2:21"]),
    ],
)
def test_mistakes_in_a_process(text: str, expected: list[str]) -> None:
    assert in_process(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("memory x y, z; register r s;\nprocess { r <- x + y + z + s; }", ["PG010 1:10", "PG010 1:27"]),
        ("memory x = ; process { skip; }", ["PG010 1:12"]),
        ("memory a[2] = {1, 2 3}, b; process { mem[b] <- 1; }", ["PG010 1:21"]),
        ("memory a[2 = 1; process { }", ["PG011 1:11"]),
        ("memory a[2] = {1, 2; process { }", ["PG011 1:20"]),
        ("memory x\nregister r\nprocess { r <- x; }", ["PG011 1:9", "PG011 2:11"]),
        ("proces 0 { r <- 1; }\nprocess { s <- 1; }", ["PG010 1:1", "PG050 1:12", "PG050 2:11"]),
        ("memori x; process { r <- x; }", ["PG010 1:1", "PG050 1:21"]),
        ("process 0 1 { skip; }", ["PG010 1:11"]),
        ("process { skip; } }\nprocess 0 { skip; }", ["PG012 1:19"]),
        ("process { loop { skip; } } skip; loop { } }\nmemory z;", ["PG010 1:28", "PG025 2:1"]),
        ("process { loop { skip; \nprocess 0 { skip; }", ["PG012 1:16"]),
        ("process 0 { skip; }\nprocess 1 {\n if (1) {\n}\n", ["PG012 2:11"]),
        ("process", ["PG010 1:8"]),
        ("process {", ["PG012 1:9"]),
        ("if (1) { skip; }", ["PG010 1:1"]),
        ("skip; skip; register r;\nprocess { r <- ; }", ["PG010 1:1", "PG010 2:16"]),
        ("foo;\nprocess { skip; }\nbar;", ["PG010 1:1", "PG010 3:1"]),
        ("program a; nodes 1; program b; nodes 2; process { }", ["PG063 1:21", "PG063 1:32"]),
        ("nodes 0; process { }", ["PG031 1:7"]),
        ("nodes 4097; process { }", ["PG039 1:7"]),
        ("nodes -1; process { }", ["PG031 1:7"]),
        ("nodes 99999999999; process { }", ["PG016 1:7"]),
        ("process 0, 1, 0 { } process 1 { }", ["PG032 1:15", "PG032 1:29"]),
        ("process { } process 0 { } process { }", ["PG033 1:27"]),
        ("process { r <- 1; }\nregister r;", ["PG025 2:1"]),
        ("memory a[0], b[-1], c[2] = {1, 2, 3}, d = {1, 2}; process { }", [
            "PG061 1:10", "PG061 1:16", "PG060 1:35", "PG060 1:47"]),
        ("memory a[99999999999999999999], b[2147483648]; process { }", ["PG016 1:10", "PG062 1:35"]),
        ("memory x = 2147483649, y = -2147483649, z = 1e5; process { }", ["PG016 1:12", "PG016 1:29", "PG015 1:45"]),
        ("memory x; register x; queue x; process { }", ["PG051 1:20", "PG051 1:29"]),
        ("memory x;\n#include <x.h>\nprocess { }", ["PG014 2:1"]),
        ("process { /* one */ skip; /* two", ["PG013 1:27"]),
        ("process { /*/ }", ["PG013 1:11"]),
        ("process { skip; } /", ["PG010 1:19"]),
        ("\u00a0process { }", ["PG014 1:1"]),
        ("process { \u201c }", ["PG014 1:11"]),
        ("process { skip; }\x00", ["PG002 1:18"]),
        ("", ["PG003 0:0"]),
        (" \n\t\r\n", ["PG003 0:0"]),
        ("// only a comment", ["PG003 0:0"]),
        ("$", ["PG034 0:0", "PG014 1:1"]),
        ("memory x;", ["PG034 0:0"]),
    ],
)  # fmt: skip
def test_mistakes_outside(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("register rank; process { rnak <- 1; }", "did you mean `rank`?"),
        ("register Rank; process { rank <- 1; }", "did you mean `Rank`?"),
        ("process { z <- 1; }", "declare it: `register z;`"),
        ("memory a[4]; register r; process { r <- a[1 << 2]; }",
         "write `a + (1 << 2)` for its address; `r <- mem[a + (1 << 2)];` loads its value"),
        ("memory a[4]; process { a[1] <- 2; }", "to store there, write `mem[a + 1] <- ...;`"),
        ("memory x; process { assert(mem[x + 1]); }",
         "load it into a register first, `r <- mem[x + 1];`; where an address is meant, write `x + 1`"),
        ("process { asert(1); }", "did you mean `assert`? write `assert(condition);`"),
        ("proces { }", "did you mean `process`?"),
        ("memory x; queue q; process { write(x, 1, x); }", "write `write(local, rank, remote, queue)`"),
        ("process { fetch_add(0, 0, 1); }", "an atomic gives the old value: `r <- fetch_add(...);`"),
        ("process { goto lop; loup: skip; }", "did you mean `loup`?"),
        ("register r; process { assume(r<-1); }", "write `< -` to compare with a negative value"),
        ("process { ; }", "drop it, or write `skip;` for a statement that does nothing"),
        ("process { loop {", "put a `}` at the end of the file"),
    ],
)  # fmt: skip
def test_hints(text: str, hint: str) -> None:
    assert hint in [found.hint for found in diagnostics(text)]


# What people type who come from C or OpenSHMEM

WRITE = "did you mean `write`? write `write(local, rank, remote, queue);`"
READ = "did you mean `read`? write `read(local, rank, remote, queue);`"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("rma_put(x, 1, y, q);", "there is no command `rma_put`", WRITE),
        ("get(x, 1, y, q);", "there is no command `get`", READ),
        ("l: rma_put(x, 1);", "there is no command `rma_put`", WRITE),
        ("r <- get(x);", "there is no command `get`", READ),
        ("shmem_putmem(x, y, 4, 1);", "there is no command `shmem_putmem`", WRITE),
        ("shmem_int_get(x, y, 4, 1);", "there is no command `shmem_int_get`", READ),
        ("shmem_int_p(x, 1, 1);", "there is no command `shmem_int_p`", WRITE),
        ("MPI_Put(x);", "there is no command `MPI_Put`", WRITE),
        ("shmem_quiet();", "there is no command `shmem_quiet`", "did you mean `wait`? write `wait(queue);`"),
        ("shmem_wait_until(x, 1);", "there is no command `shmem_wait_until`",
         "did you mean `await`? write `await(mem[address] == value);`"),
        ("shmem_barrier_all();", "there is no command `shmem_barrier_all`", "did you mean `barrier`? write `barrier;`"),
        ("r <- shmem_fadd(x, 1);", "there is no command `shmem_fadd`",
         "did you mean `fetch_add`? write `r <- fetch_add(rank, address, operand);`"),
        ("shmem_int_cswap(x, 1);", "there is no command `shmem_int_cswap`",
         "did you mean `compare_swap`? write `r <- compare_swap(rank, address, expected, new);`"),
        ("wait_locl(q);", "there is no command `wait_locl`", "did you mean `wait_local`? write `wait_local(queue);`"),
        ("foo();", "there is no command `foo`",
         "the commands are assume, assert, read, write, put, wait, wait_local, fence, fetch, fetch_add, swap, "
         "compare_swap, update, update_located, update_from, update_from_located, notify, notify_all, signal, "
         "fetch_update, await, await_add, barrier, bundle, exit, skip"),
        ("udpate(add, 1, 1, x, q);", "there is no command `udpate`",
         "did you mean `update`? write `update(add, value, rank, remote, queue);`"),
        ("gaspi_notify(x, 1);", "there is no command `gaspi_notify`",
         "did you mean `notify`? write `notify(add, value, rank, remote, queue);`"),
        ("bundle();", "`bundle` takes no parentheses", "write `bundle;`"),
        ("fetch(1, x);", "expected a statement or `}`, found `fetch`",
         "an atomic gives the old value: `r <- fetch(...);`"),
        ("fetch_update(or, 1, x, 1);", "expected a statement or `}`, found `fetch_update`",
         "an atomic gives the old value: `r <- fetch_update(...);`"),
        ("r <- update(add, 1, 1, x, q);", "expected an expression, found `update`",
         "`update` happens later and gives no value; `fetch_update` does, at once"),
        ("update(1, 1, x, q);", "expected an operation or `)`, found `1`",
         "the first argument says what is done with the cell, as in `update(add, 1, rank, x, q);`"),
        ("update(addd, 1, 1, x, q);", "`update` has no operation `addd`",
         "did you mean `add`? `update` can set, add, and, or, xor, mul, min, max or compare_swap"),
        ("notify(or, 1, 1, x, q);", "`notify` has no operation `or`", "`notify` can set or add"),
        ("signal(read, 1, 1, x, q);", "`signal` has no operation `read`", "`signal` can set or add"),
        ("update_from(fetch, 1, x);", "`update_from(fetch, ...)` takes 4 or 5 arguments, not 3",
         "write `update_from(fetch, rank, remote, queue, result)`; the result may be left out"),
        ("await_add(0, x == 0, 1);", "expected `mem`, found `x`",
         "`await_add` tests a cell of memory, `await_add(rank, mem[x] == 0, 1);`"),
        ("barier;", "there is no command `barier`", "did you mean `barrier`? write `barrier;`"),
        ("lock(x);", "there is no command `lock`",
         LOCK),
        ("shmem_clear_lock(x);", "there is no command `shmem_clear_lock`",
         LOCK),
        ("barrier();", "there is no name between the parentheses", "write `barrier;`"),
        ("exit();", "`exit` takes no parentheses", "write `exit;`"),
        ("for (r <- 0; r < 3; r++) { r <- 2; }", "there is no `for`",
         "use `while (...) { ... }`, or `loop { ... }` to repeat any number of times"),
        ("do { skip; } while (r);", "there is no `do`",
         "use `while (...) { ... }`, or `again:` before the body and `if (...) { goto again; }` after it"),
        ("while (r) { break; }", "there is no `break`",
         "leave the loop with `goto done;` and put the label after it, `done: skip;`"),
        ("while (r) { continue }", "there is no `continue`",
         "use `goto next;` and put the label at the end of the body, `next: skip;`"),
        ("return r;", "there is no `return`",
         "use `goto end;` and put the label at the end of the process, `end: skip;`"),
        ("r += 1;", "there is no `+=`", "write `r <- r + 1`"),
        ("r %= s - 1;", "there is no `%=`", "write `r <- r % (s - 1)`"),
        ("r <<= 1;", "there is no `<<=`", "write `r <- r << 1`"),
        ("x += 1;", "there is no `+=`", "load it into a register first, `r <- mem[x]; mem[x] <- r + 1`"),
        ("mem[a + 1] -= s;", "there is no `-=`",
         "load it into a register first, `r <- mem[a + 1]; mem[a + 1] <- r - s`"),
        ("a[1] += s;", "there is no `+=`", "write `<-` to assign, load or store"),
        ("r++;", "there is no `++`", "write `r <- r + 1`"),
        ("--r;", "there is no `--`", "write `r <- r - 1`"),
        ("r := 1;", "there is no `:=`", "write `r <- 1`"),
        ("r = 1;", "`=` does not assign", "write `r <- 1`"),
        ("r = x;", "`=` does not assign", "write `r <- mem[x]`"),
        ("mem[x] = y + 1;", "`=` does not assign", "write `mem[x] <- y + 1`"),
        ("mem[x] = y;", "`=` does not assign", "write `r <- mem[y]; mem[x] <- r`"),
        ("r = // one\n 1;", "`=` does not assign", "write `<-` to assign, load or store"),
        ("if r == 1 { skip; }", "expected `(`, found `r`", "a condition stands in parentheses, `if (...) { ... }`"),
        ("while !r { skip; }", "expected `(`, found `!`", "a condition stands in parentheses, `while (...) { ... }`"),
    ],
)  # fmt: skip
def test_habits_from_elsewhere(text: str, message: str, hint: str) -> None:
    (only,) = diagnostics(f"{DECLARATIONS} process {{\n{text}\n}}")
    assert (only.message, only.hint) == (message, hint)


def test_what_a_hint_says_to_write_is_right() -> None:
    (only,) = diagnostics(f"{DECLARATIONS} process {{ mem[a + 1] -= s; }}")
    (shown,) = re.findall(r"`(.*)`", only.hint)
    body(f"{shown};")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for (r = 0; r < 3; r++) { r <- ; } s <- ;", ["PG027 2:1", "PG010 2:32", "PG010 2:41"]),
        ("for (r = 0; r < 3; r++) s <- ;", ["PG027 2:1", "PG010 2:30"]),
        ("for (r = (0; { s <- ; }", ["PG027 2:1", "PG010 2:21"]),
        ("for (r", ["PG027 2:1"]),
        ("for", ["PG027 2:1"]),
        (
            "do { do { r <- ; } while (r); } while (s); while (r);",
            ["PG027 2:1", "PG010 2:16", "PG027 2:6", "PG010 2:53"],
        ),
        ("rma_put(x)\nbarrier; r <- ;", ["PG026 2:1", "PG010 3:15"]),
        ("r++ s <- ; s <- ;", ["PG018 2:2", "PG010 2:17"]),
        ("x(1); r;", ["PG010 2:2", "PG010 2:8"]),  # they have a meaning, if not this one
        ("r <- max(1, 2);", ["PG010 2:9"]),
    ],
)
def test_reading_goes_on_after_a_habit(text: str, expected: list[str]) -> None:
    assert in_process(text) == sorted(expected, key=lambda each: [int(n) for n in each[6:].split(":")])


def test_a_register_may_be_called_like_a_statement_of_c() -> None:
    parse("register for, do, break; process { for <- do; do: break <- 1; goto do; }")


def test_a_diagnostic_is_drawn_with_its_line_and_carets() -> None:
    (only,) = diagnostics("register r;\nprocess {\n\tr <- rr;\n}")
    assert only.render() == (
        "<string>:3:7: error[PG050]: unknown name `rr`\n"
        "    3 | \tr <- rr;\n"
        "      | \t     ^^\n"
        "      = hint: did you mean `r`?"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("foo", "expected a declaration, the end of the file or `process`, found `foo`"),
        ("process", "expected an integer, `thread` or `{`, found the end of the file"),
        ("process { ; }", "expected a statement or `}`, found `;`"),
        ("process { { } ; }", "expected a statement or `}`, found `;`"),
        ("process { choose { } ; }", "expected a statement, `or` or `}`, found `;`"),
        ("register r; process { r <- ; }", "expected an expression, found `;`"),
        ("register r; process { r <- r r r; }", "expected an operator or `;`, found `r`"),
        ("memory x; process { await(mem[x] + 1); }", "expected a comparison, found `+`"),
        ("memory 1;", "expected a name, found `1`"),
        ("memory x 1;", "expected `,`, `;`, `=` or `[`, found `1`"),
        ("memory x[y];", "expected an integer, found `y`"),
        ("process 0 0 { }", "expected `,`, `thread` or `{`, found `0`"),
    ],
)
def test_what_was_expected_is_said_in_words(text: str, message: str) -> None:
    assert message in [found.message for found in diagnostics(text)]


def test_excerpts_are_lines_that_fit() -> None:
    (windows,) = diagnostics("register r;\r\nprocess {\r\n  r <- y;\r\n}\r\n")
    assert windows.excerpt == "  r <- y;"
    (wide,) = diagnostics(f"process {{ y <- 1; {' ' * 300} }}")
    assert len(wide.excerpt) == 200
    (far,) = diagnostics(f"process {{ {' ' * 300} y <- 1; }}")
    assert (far.line, far.column, far.excerpt) == (1, 312, "")
    assert "^" not in far.render()


def test_excerpts_disturb_no_terminal() -> None:
    (only,) = diagnostics("process { \x1b[31m; }")
    assert "\x1b" not in only.render()
    assert "U+001B" in only.message


def test_the_twenty_first_mistake_is_the_last() -> None:
    every = diagnostics("process {" + "; " * 100 + "}")
    assert [each.code for each in every] == ["PG010"] * 20 + ["PG024"]
    names = diagnostics("process { " + " ".join(f"name_{number} <- 1;" for number in range(100)) + "}")
    assert [each.code for each in names] == ["PG050"] * 20 + ["PG024"]


# Bounds

BOUND = MAX_NESTING
WITHIN = [
    f"r <- {'(' * BOUND}r{')' * BOUND};",
    f"r <- {'- ' * BOUND}r;",
    f"r <- {'r + ' * BOUND}r;",
    f"r <- {'r ? r : ' * BOUND}r;",
    f"r <- {'r ? ' * BOUND}r{' : r' * BOUND};",
    f"{'loop { ' * (BOUND - 1)}{'} ' * (BOUND - 1)}",
    f"if (r) {{ }} {'else if (r) { } ' * (BOUND - 2)}",
]
BEYOND = [
    f"r <- {'(' * (BOUND + 1)}r{')' * (BOUND + 1)};",
    f"r <- {'- ' * (BOUND + 1)}r;",
    f"r <- {'r + ' * (BOUND + 1)}r;",
    f"r <- {'r ? r : ' * (BOUND + 1)}r;",
    f"r <- {'r ? ' * (BOUND + 1)}r{' : r' * (BOUND + 1)};",
    f"{'loop { ' * BOUND}{'} ' * BOUND}",
    f"if (r) {{ }} {'else if (r) { } ' * (BOUND - 1)}",
]


@pytest.mark.parametrize("text", WITHIN, ids=["parentheses", "unary", "binary", "else", "then", "blocks", "else if"])
def test_nesting_up_to_the_bound_is_read(text: str) -> None:
    body(text)


@pytest.mark.parametrize("text", BEYOND, ids=["parentheses", "unary", "binary", "else", "then", "blocks", "else if"])
def test_nesting_beyond_the_bound_is_reported(text: str) -> None:
    assert [found[:5] for found in in_process(text)] == ["PG022"]


def test_everything_nested_at_once_up_to_the_bound() -> None:
    """The parser's own stack has room for the deepest program: every operator pending in every parenthesis."""
    levels = BOUND // 12
    deep = "r || r && r | r ^ r & r == r < r << r + r * - (" * levels + "r" + ")" * levels
    text = f"if ({deep}) {{ skip; " * (BOUND - 1) + f"write(x, 1, y, {deep});" + "}" * (BOUND - 1)
    parse(f"{DECLARATIONS} process {{ {text} }}").instantiate(2)


@pytest.mark.parametrize("nodes", [1, 4096])
def test_node_counts_up_to_the_bound_are_read(nodes: int) -> None:
    assert parse(f"nodes {nodes}; process {{ }}").nodes == nodes


def test_memory_up_to_the_bound_is_read() -> None:
    assert parse(f"memory a[{MAX_CELLS - 1}], x; process {{ }}").cells == MAX_CELLS
    assert found(f"memory a[{MAX_CELLS}], x, y; process {{ }}") == ["PG062 1:18"]
    assert found(f"memory a[{MAX_CELLS + 1}], x; process {{ }}") == ["PG062 1:10"]


MEGA = 100_000
HOSTILE = {
    "parentheses": ("(" * MEGA, "PG010"),
    "braces": ("{" * MEGA, "PG022"),
    "closing braces": ("}" * MEGA, "PG012"),
    "minus": ("-" * MEGA, "PG010"),
    "parentheses in a process": (f"process {{ r <- {'(' * MEGA}", "PG022"),
    "braces in a process": (f"process {{ {'{' * MEGA}", "PG022"),
    "minus in a process": (f"process {{ r <- {'-' * MEGA}1;", "PG022"),
    "sum": (f"process {{ r <- {'1+' * (MEGA // 2)}1; }}", "PG022"),
    "conditions": (f"process {{ r <- {'1?1:' * (MEGA // 4)}1; }}", "PG022"),
    "memory": (f"process {{ r <- {'mem[' * (MEGA // 4)}", "PG022"),
    "else if": (f"process {{ if(1){{}}{'else if(1){}' * (MEGA // 12)} }}", "PG022"),
    "loops": (f"process {{ {'loop{' * (MEGA // 5)}", "PG022"),
    "labels": (f"process {{ {'a:' * (MEGA // 2)} }}", "PG010"),
    "semicolons": (f"process {{ {';' * MEGA} }}", "PG024"),
    "processes": ("process{" * (MEGA // 8), "PG024"),
    "comments": ("/*" * (MEGA // 2) + " ", "PG013"),
    "a digit": (f"memory x = {'9' * MEGA}; process {{ }}", "PG016"),
    "a name": (f"process {{ {'a' * MEGA} <- 1; }}", "PG050"),
    "stray": ("$" * MEGA, "PG014"),
    "stray and blank": ("$ " * (MEGA // 2), "PG014"),
}


@pytest.mark.parametrize("kind", list(HOSTILE)[:: examples(2, nightly=1)])
def test_much_nonsense_is_refused_soon_and_briefly(kind: str) -> None:
    text, code = HOSTILE[kind]
    made, every = calls(lambda: diagnostics(text))
    assert made < 25 * MEGA  # some calls for every character, up to a limit
    assert code in [each.code for each in every]
    assert len("\n".join(each.render() for each in every)) < 10_000


WORDS = [
    *sorted(KEYWORDS), "x", "y", "a", "r", "s", "q", "l", "0", "1", "99999999999", "{", "}", "{", "}", "(", ")", "[",
    "]", ";", ";", ";", ",", ":", "<-", "=", "==", "<", "-", "+", "*", "?", "!", "&&", "@", "$", "/*", "*/", "// c\n",
    "\n", "é",
]  # fmt: skip


@cache
def bare_grammar() -> Lark:
    """The grammar alone, without builder and recovery."""
    return Lark.open(str(Path(builder.__file__).with_name("grammar.lark")), start="file", parser="lalr", lexer="basic")


@settings(max_examples=examples(180, 5_000))
@given(st.lists(st.sampled_from(WORDS), max_size=60), st.booleans())
def test_no_text_is_anything_but_a_program_or_a_source_error(words: list[str], inside: bool) -> None:
    """Mistakes have places in the text, in order; and what the grammar alone refuses is never read as a program."""
    text = f"{DECLARATIONS} process {{ {' '.join(words)} }}" if inside else " ".join(words)
    lines = text.split("\n")
    try:
        parse(text)
        every = []
        bare_grammar().parse(text)
    except SourceError as error:
        every = error.diagnostics
    places = [(each.line, each.column) for each in every if each.code != "PG024"]
    assert places == sorted(set(places))
    assert all(line == 0 or column <= len(lines[line - 1]) + 1 for line, column in places)
    assert {each.code for each in every} <= set(known_codes())


def test_reading_ends_where_nothing_can_be_made_of_the_text() -> None:
    """A longer stretch of it than any declaration has is not searched for further mistakes."""
    assert found("(" * 10 + "\nprocess { r <- ; }") == ["PG010 1:1", "PG010 2:16"]
    assert found("(" * 300_000 + "\nprocess { r <- ; }") == ["PG010 1:1"]


# Files


def in_file(path: Path) -> Diagnostic:
    """The one thing that is wrong with the file."""
    with pytest.raises(SourceError) as caught:
        parse_file(path)
    (only,) = caught.value.diagnostics
    assert only.file == str(path)
    return only


def test_files_are_read_as_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "größe.pgas"
    file.write_bytes("\ufeff// größe\r\nprocess { }\r\n".encode())
    program = parse_file(file)
    assert program.source.file == str(file)
    assert program.source.text.startswith("// größe")
    assert parse_file(str(file)) == program


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    missing = in_file(tmp_path / "missing.pgas")
    assert missing.code == "PG001"
    assert "No such file" in missing.message
    assert in_file(tmp_path).message == "cannot read the file: it is a folder, not a file"
    assert in_file(tmp_path / "a\0b").code == "PG001"
    assert in_file(tmp_path / ("x" * 5000)).code == "PG001"


def test_files_that_are_no_text(tmp_path: Path) -> None:
    file = tmp_path / "latin.pgas"
    file.write_bytes("process {\n  // größe\n}".encode("latin-1"))
    latin = in_file(file)
    assert (latin.code, latin.line, latin.column, latin.message) == ("PG002", 2, 8, "byte 0xf6 is not UTF-8")
    assert latin.excerpt == "  // gr\ufffd\ufffde"
    file.write_bytes(b"\x7fELF\x02\x01\x01\x00\x00\xff")
    assert in_file(file).message == "this is a binary file, not text"
    file.write_bytes(b"process { }\0")
    assert in_file(file).code == "PG002"
    file.write_bytes(b"")
    assert (in_file(file).code, in_file(file).message) == ("PG003", "the file is empty")


def test_files_that_are_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_input, "SOURCE", 1_000_000)
    file = tmp_path / "large.pgas"
    file.write_bytes(b"process { }".ljust(1_000_000))
    assert parse_file(file).processes
    file.write_bytes(b"process { }".ljust(1_000_001))
    assert (in_file(file).code, in_file(file).message) == ("PG004", "cannot read the file: it is larger than 1 MB")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no such device")
def test_a_device_is_not_read_for_ever() -> None:
    assert in_file(Path("/dev/zero")).code == "PG001"


# Start-up and threads


def test_lark_is_loaded_by_the_first_parse_and_not_before() -> None:
    script = """
import sys
import pgasrob.program.parser, pgasrob.program.printer, pgasrob.program.expectation, pgasrob.diagnostics.catalogue
assert "lark" not in sys.modules
pgasrob.program.parser.parse("process { }")
assert "lark" in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_texts_are_read_side_by_side() -> None:
    """The grammar is shared; what is being built is not."""
    texts = [f"memory x_{number} = {number}; process {{ mem[x_{number}] <- {number}; }}" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        programs = list(pool.map(parse, texts * 3))
    assert programs == [parse(text) for text in texts] * 3
    assert parser._builder.get(None) is None  # and nothing of it is kept
