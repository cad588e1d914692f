"""Programs are printed, and read again as the same."""

from __future__ import annotations

from random import Random

import pytest

from pgasrob.models.litmus.instructions import (
    Cell,
    Load,
    Poll,
    Store,
)
from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.litmus.litmus_printer import in_one_line, printed
from pgasrob.models.litmus.litmus_program import Location, Program, Thread, straight
from pgasrob.program.expressions import Register
from tests.models.litmus.trees import canonical
from tests.models.strategies import features, random_text
from tests.support import examples


def test_random_programs_are_printed_and_read_again() -> None:
    random, found = Random(1), set()
    for number in range(examples(400, 20_000)):
        dialect = ("rdma-tso", "corerma", "tso", "sc")[number % 4]
        text = random_text(
            random,
            dialect,
            branching=bool(number % 3),
            atomic=bool(number % 2),
            statements=8,
            remote_atomics=number % 8 < 3,
        )
        program = parse(text).program
        again = parse(printed(program)).program
        # A text may write a location before it is mentioned; printed, all stand in the order of the program.
        assert canonical(again) == canonical(program), text
        assert canonical(parse(in_one_line(program)).program) == canonical(program)
        found |= set(features(program))
    assert found >= {
        "Load", "Store", "Assign", "Assume", "MemoryFence", "CompareAndSet", "Get", "Put", "GetAccumulate",
        "RemoteCompareAndSet", "NicCompareAndSet", "NicFetchAdd", "Flush", "Poll", "RemoteFence", "Choose", "Loop",
        "non-atomic", "1 threads", "2 threads", "3 threads", "1 nodes", "2 nodes", "3 nodes",
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
        "x@1=0 z@2=0 ::\n1: x = rcas(z^2, x, x + 1); x = rfaa(z^2.n, x);\n",
        "x@1=0 z@2=0 ::\n1: $1 = x; x = rcas(z^2, 0, $1); x = $1;\n",
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
