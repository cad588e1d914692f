"""Programs as text: what the printer writes, the parser reads back as the same program."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from pgasrob.program.expressions import Binary, Conditional, Const, Expr, Me, Register, Symbol, Unary, render
from pgasrob.program.parser import parse, parse_file
from pgasrob.program.printer import WIDTH, to_source
from pgasrob.program.program import Program
from tests.program.strategies import expressions, programs, without_spans
from tests.support import examples

CORPUS = sorted(Path(__file__).parents[2].glob("programs/**/*.pgas"))

TIDY = """\
program everything;
nodes 3;
memory x = 1, y, a[4] = {1, -2, 0, 4}, b[2], low = -2147483648;
register r, s;
queue q, p unordered;

process 0, 2 {
  r <- mem[a + 2];
  mem[y] <- r;
  r <- r + 1;
  assume(r == 1 || s < 2);
  assert(-r * (s + 1) != ~s);
  read(x, (me + 1) % nodes, y, q);
  write(x, r ? 0 : 1, y, p);
  put(x, 1, y, q);
  update(add, r + 1, 1, x, q);
  update(or, 4, 1, x, q, y);
  update(compare_swap, r, 0, 1, x, p, y);
  update_located(set, 1, 1, x, q);
  update_from(compare_swap, x, y, 1, a, q, b);
  update_from(fetch, 1, x, q, y);
  update_from_located(xor, x, 1, y, q);
  notify(set, 1, 1, x, q);
  notify_all(add, 1, 1, x, p);
  bundle;
  signal(add, 1, 1, y, q);
  barrier;
  wait(q);
  wait_local(p);
  fence(q);
  fence(q, 1);
  await(mem[x] >= 1);
  await_add(0, mem[x] == 0, 1);
  r <- fetch(1, x);
  r <- fetch_update(or, 1, x, 4);
  r <- fetch_add(0, x, 1);
  s <- swap(1, x, r);
  r <- compare_swap(2, x, 0, -1);
  skip;
}

process {
  again: if (r == 0) {
    goto again;
  } else if (r == 1) {
    skip;
  } else {
    if (s) {
    }
    skip;
  }
  while (r < 3) {
    choose {
      r <- r + 1;
    } or {
      loop {
        barrier;
      }
    } or {
    }
  }
}
"""


def test_a_tidy_text_is_printed_as_it_was_written() -> None:
    """Every declaration, command and statement, in the layout of the corpus."""
    assert to_source(parse(TIDY)) == TIDY


@settings(max_examples=examples(70))
@given(programs())
def test_what_is_printed_is_read_back_as_the_same_program(program: Program) -> None:
    text = to_source(program)
    assert without_spans(parse(text)) == without_spans(program)
    assert to_source(parse(text)) == text


@settings(max_examples=examples(150))
@given(expressions())
def test_what_is_printed_is_read_back_as_the_same_expression(expression: Expr) -> None:
    assert _read(render(expression)) == expression


R, X = Register("r", 0), Symbol("x", 0)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (Const(-5), "-5"),
        (Unary("-", Const(5)), "-(5)"),
        (Unary("-", Const(-5)), "-(-5)"),
        (Unary("-", Unary("-", R)), "- -r"),
        (Unary("!", Const(5)), "!5"),
        (Unary("!", Const(-5)), "!(-5)"),
        (Const(-(2**31)), "-2147483648"),
        (Binary("-", Binary("-", R, X), Me()), "r - x - me"),
        (Binary("-", R, Binary("-", X, Me())), "r - (x - me)"),
        (Binary("<", R, Const(-1)), "r < -1"),
        (Binary("*", R, Const(-1)), "r * (-1)"),
        (Binary("+", Conditional(R, R, X), X), "(r ? r : x) + x"),
        (
            Conditional(Conditional(R, R, X), Conditional(R, R, X), Conditional(X, X, R)),
            "(r ? r : x) ? r ? r : x : x ? x : r",
        ),
    ],
)
def test_expressions_are_printed_with_the_parentheses_they_need(expression: Expr, text: str) -> None:
    assert render(expression) == text
    assert _read(text) == expression


def _read(text: str) -> Expr:
    """``text`` as an expression over the names of `strategies`."""
    declarations = "memory x, a[3], _b[1], mem2; register r, s, value_2; queue q, ring;"
    statement = parse(f"{declarations} process {{ r <- {text}; }}").processes[0].body.statements[0]
    return statement.command.value  # type: ignore[union-attr]


def test_names_that_are_left_out_stay_out() -> None:
    """No header that the program does not have, and no declaration without a name in it."""
    assert to_source(parse("process { }", "folder/small.pgas")) == "program small;\n\nprocess {\n}\n"


def test_long_declarations_are_broken_into_lines() -> None:
    names = ", ".join(f"register_{number}" for number in range(40))
    values = ", ".join(str(number) for number in range(100))
    text = to_source(parse(f"memory a[100] = {{{values}}}; register {names}; process {{ }}"))
    assert max(map(len, text.splitlines())) <= WIDTH
    assert any(len(line) > WIDTH - 16 for line in text.splitlines())  # and not sooner than they must
    assert parse(text).memory[0].initial == tuple(range(100))


def test_the_deepest_program_is_printed() -> None:
    """200 levels of blocks around an expression of 200 levels: neither may exhaust Python's stack."""
    text = f"register r; process {{ {'if (r) { ' * 199}r <- {'- ' * 200}r; {'}' * 199} }}"
    printed = to_source(parse(text))
    assert to_source(parse(printed)) == printed
    assert printed.count("if (r)") == 199 and printed.count("- ") >= 199


@pytest.mark.parametrize("file", CORPUS, ids=lambda file: file.stem)
def test_the_corpus_is_read_back(file: Path) -> None:
    program = parse_file(file)
    assert without_spans(parse(to_source(program))) == without_spans(program)
