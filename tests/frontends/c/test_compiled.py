"""What is known of the functions of a compiled program before it is executed."""

import pickle

from pgasrob.frontends.c.compiled import Compiled
from pgasrob.frontends.lower import parse_c

TEXT = """
int f(int n) { int k = 0; while (k < n) { k += 2; } return k; }
int main(void) { int i = 3; { int i = 4; f(i); } return i; }
"""


def compiled() -> Compiled:
    return parse_c(TEXT, "program.c").compiled


def test_the_slots_that_are_read_later() -> None:
    made = compiled()
    f = made.unit.functions["f"]
    n = f.parameters[0]
    live = made.live_slots(f)
    assert live[0] == 1 << n and live[-1] == 0 and len(live) == len(f.code) + 1
    assert made.live_slots(f) is live  # found once


def test_where_loops_end() -> None:
    made = compiled()
    f = made.unit.functions["f"]
    [(head, end)] = made.loops(f).items()
    assert type(f.code[head]).__name__ == "LoopHead" and head < end
    assert made.known_loop(f, head) is made.known_loop(f, head) is not None


def test_registers_are_called_after_variables() -> None:
    made = compiled()
    names = made.slot_names(made.unit.functions["main"])
    assert len(set(names)) == len(names) and names[0] == "i" and any(name.startswith("i_") for name in names)
    assert {"i", "f.n", "f.k"} <= made.named and not any(name.startswith("t") for name in made.named)


def test_it_can_be_pickled_once_loops_are_translated() -> None:
    made = compiled()
    f = made.unit.functions["f"]
    made.known_loop(f, next(iter(made.loops(f))))
    again = pickle.loads(pickle.dumps(replace_apis(made)))
    assert again.name == "program" and set(again.unit.functions) == {"f", "main"}


def replace_apis(made: Compiled) -> Compiled:
    """The same without APIs, which are modules' own and cannot be pickled."""
    made.apis = ()
    return made
