"""Every value that a run on the network finds in a cell or register is among those that were foretold, and where no
fault was foretold there is none."""

from __future__ import annotations

import pytest

from pgasrob.analysis.cell_values import CellValues, TooMuch, _have_barriers
from pgasrob.analysis.faults import cannot_fault
from pgasrob.analysis.ranges import ranges
from pgasrob.analysis.value_sets import Values
from pgasrob.program import core
from pgasrob.program.expressions import Fault
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.semantics.state_space import State, StateSpace
from tests.analysis.pointer_programs import pointer_program
from tests.support import examples


def is_in(value: int, values: Values) -> bool:
    return value in values if isinstance(values, frozenset) else values[0] <= value <= values[1]


def reached(instance: Instance, most: int) -> list[State]:
    """The first states of X(P, N), breadth first, each once."""
    space = StateSpace(instance)
    found = {space.initial: None}
    for state in (queue := [space.initial]):
        for _, target in space.successors(state):
            if target not in found and len(found) < most:
                found[target] = None
                queue.append(target)
    return queue


def faults(instance: Instance, state: State) -> bool:
    """Whether some process stands before a command that faults."""
    for process, automaton in enumerate(instance.automata):
        for transition in automaton.out[state.control[process]]:
            if isinstance(transition.form, core.Barrier):
                continue
            try:
                instance.operands(process, transition, state.registers[process])
            except Fault:
                return True
    return False


def foretold(instance: Instance, meets: bool) -> tuple[CellValues, bool] | None:
    """The values, and whether a command may fault; None where it takes too long."""
    values = CellValues(instance, meets)
    try:
        return values, any([*values.follow()])
    except TooMuch:
        return None


def check(instance: Instance, most: int) -> bool:
    """Compare what is foretold with what is reached; whether a fault was foretold."""
    states = reached(instance, most)
    both = [foretold(instance, meets) for meets in (False, _have_barriers(instance))]
    for values, may_fault in filter(None, both):
        for state in states:
            check_state(instance, values, state)
            assert may_fault or not faults(instance, state)
    return all(found is None or found[1] for found in both)


def check_state(instance: Instance, values: CellValues, state: State) -> None:
    for cell, value in enumerate(state.memory):
        number = values.cells.number(*divmod(cell, instance.size))
        assert is_in(value, values.cells[number].ever)
        for process, control in enumerate(state.control):
            assert is_in(value, values.view(process, control, number)), (process, control, cell, value)
    for process, (control, registers) in enumerate(zip(state.control, state.registers, strict=True)):
        for index, value in enumerate(registers):
            assert is_in(value, values.register(process, control, index)), (process, control, index, value)


def by_ranges(instance: Instance) -> bool:
    """Whether a command may fault by the ranges alone."""
    known = ranges(instance)
    return any(
        known.may_fault(process, state, transition.form)
        for process, automaton in enumerate(instance.automata)
        for state, leaving in enumerate(automaton.out)
        for transition in leaving
    )


@pytest.mark.parametrize("block", range(4))
def test_values_of_random_programs(block: int) -> None:
    count = examples(12, nightly=2_000)
    for seed in range(block * count, (block + 1) * count):
        check(parse(pointer_program(seed)).instantiate(), 400)


MCS = """tail = -1, next = -1, locked, mine, zero | process {
  mem[mine] <- me; mem[next] <- -1; mem[locked] <- 1;
  r <- swap(0, tail, me);
  if (r != -1) { write(mine, r, next, q); await(mem[locked] == 0); }
  wait(q);
  r <- compare_swap(0, tail, me, -1);
  if (r != me) { SUCCESSOR write(zero, s, locked, q); }
}"""
WAITS = "await(mem[next] != -1); s <- mem[next];"
LOOKS = "s <- mem[next]; while (s == -1) { s <- mem[next]; }"
SETS = "process 1 { mem[z @ 0] <- 1; }"
MANY, ONE_OF_MANY = f"b[68] = {{3, 3, {', '.join(map(str, range(66)))}}}", "r <- mem[z]; r <- mem[b + r];"
READER = "process 1 { r <- mem[y]; s <- mem[a + r]; }"

NO_FAULT = {
    "the MCS lock": MCS.replace("SUCCESSOR", WAITS),
    "the MCS lock that looks again and again": MCS.replace("SUCCESSOR", LOOKS),
    "nobody is 99": "x = 99 | process { r <- swap(0, x, me); if (r != 99) { s <- fetch(r, x); } }",
    "tested and read again": "x = 9 | process { r <- mem[x]; if (r != 9) { s <- mem[x]; s <- mem[a + s]; } }",
    "a store of its own": "x = 9, y | process { mem[x] <- 1; r <- mem[x]; s <- fetch(r, y); }",
    "arrived when it was waited for": """x = 9, y | process {
        read(x, 0, y, q); wait(q); r <- mem[x]; s <- mem[a + r]; }""",
    "a compare_swap that fails writes nothing": """x = 9 | process 0 { r <- compare_swap(1, x, 7, 8); }
        process 1 { mem[x] <- 0; r <- mem[x]; s <- mem[a + r]; }""",
    "the source after a store": f"x = 9, y = 1 | process 0 {{ mem[x] <- 0; write(x, 1, y, q); }} {READER}",
    "the result of an update": """x = 9, y | process {
        update(set, 1, 0, y, q, x); wait(q); r <- mem[x]; s <- mem[a + r]; }""",
    "two operands of one register": "x = 1 | process { r <- fetch(0, x); if (r < 2) { s <- mem[a + r * r]; } }",
    "numbers on both sides": "x = 1 | process { r <- swap(0, x, 2 * me); if (r != 1) { s <- 4 / (r - 1); } }",
    "an index that the neighbour has put": """x = 9, y | process {
        mem[y] <- me; write(y, 1 - me, x, q); wait(q); barrier; r <- mem[x]; s <- mem[a + r]; }""",
    "an index that was put before one barrier or another": """x = 9, y | process 0 {
        write(y, 1, x, q); r <- mem[z]; if (r) { barrier; wait(q); } else { wait(q); barrier; } barrier; }
        process 1 { mem[z @ 0] <- 1; barrier; barrier; r <- mem[x]; s <- mem[a + r]; }""",
    "an index that was put in a loop": """x = 9, y | process 0 { while (r < 3) {
        mem[x @ 1] <- r % 2; barrier; r <- r + 1; } }
        process 1 { while (r < 3) { barrier; s <- mem[x]; s <- mem[a + s]; r <- r + 1; } }""",
    "a copy of a register is tested": "x = 9 | process { r <- mem[x]; s <- r; if (s != 9) { s <- mem[a + r]; } }",
    "the register of a copy is tested": "x = 9 | process { r <- mem[x]; s <- r; if (r != 9) { r <- mem[a + s]; } }",
    "an update that sets an index before a barrier": """x = 9, y | process {
        update(set, me, 1 - me, x, q); wait(q); barrier; r <- mem[x]; s <- mem[a + r]; }""",
    "tickets by updates that are deferred": """x, y | process {
        update(add, 1, 0, x, q, y); wait(q); r <- mem[y]; s <- mem[a + r]; }""",
    "a poll": """x = 9 | process 0 { r <- mem[x]; while (r == 9) { r <- mem[x]; } s <- mem[a + r]; }
        process 1 { r <- swap(0, x, 1); }""",
}
FAULT = {
    "the MCS lock that does not wait for its successor": MCS.replace("SUCCESSOR", "s <- mem[next];"),
    "others write after the await": """x = 1 | process 0 { await(mem[x] != 9); r <- mem[x]; s <- mem[a + r]; }
        process 1 { mem[x @ 0] <- 9; }""",
    "others write after the test": """x, y = 9 | process 1 { write(y, 0, x, q); }
        process 0 { r <- mem[x]; if (r != 9) { r <- mem[x]; s <- mem[a + r]; } }""",
    "the register was set anew": """x = 9 | process {
        r <- mem[x]; r <- 1; if (r != 9) { s <- mem[x]; s <- mem[a + s]; } }""",
    "a copy that was set anew": """x = 9 | process {
        r <- mem[x]; s <- r; s <- 1; if (s != 9) { s <- mem[a + r]; } }""",
    "a copy whose register was set anew": """x = 9 | process {
        r <- mem[x]; s <- r; r <- 1; if (r != 9) { r <- mem[a + s]; } }""",
    "a copy in one branch": f"""x = 9 | {SETS} process 0 {{
        s <- mem[z]; r <- mem[x]; if (s) {{ s <- r; }} if (s != 9) {{ r <- mem[a + r]; }} }}""",
    "a copy in the other branch": f"""x = 9 | {SETS} process 0 {{
        s <- mem[z]; r <- mem[x]; if (s == 0) {{ s <- r; }} else {{ s <- 1; }}
        if (s != 9) {{ r <- mem[a + r]; }} }}""",
    "tickets that are drawn in a loop": """x, y | process {
        while (s < 3) { update(add, 1, 0, x, q, y); wait(q); s <- s + 1; } r <- mem[y]; s <- mem[a + r]; }""",
    "tickets after a store": """x, y | process 1 { r <- fetch_add(0, x, 1); }
        process 0 { mem[x] <- 1; update(add, 1, 0, x, q, y); wait(q); r <- mem[y]; s <- mem[a + r]; }""",
    "tickets that count down": """x = 1, y | process {
        update(add, -1, 0, x, q, y); wait(q); r <- mem[y]; s <- 2 / r; r <- fetch(0, x); s <- 2 / (r - 1); }""",
    "a result is added to": """x, y = 9 | process {
        update(add, 1, me, y, q, x); wait(q); r <- fetch_add(me, x, 1); s <- mem[a + r]; }""",
    "what is added comes from memory": """x, y | process 1 { mem[y @ 0] <- 9; }
        process 0 { update_from(add, y, 0, x, q); wait(q); r <- mem[x]; s <- mem[a + r]; }""",
    "what is added is known late": """x, w | process 2 { r <- fetch_add(0, x, 1); s <- mem[a + r]; }
        process 0 { r <- mem[w]; r <- fetch_add(0, x, r); }
        process 1 { r <- 8; r <- r + 1; r <- r; r <- r; mem[w @ 0] <- r; }""",
    "two branches add": f"""x | {SETS} process 0 {{
        r <- mem[z]; if (r) {{ s <- fetch_add(me, x, 1); }} else {{ s <- fetch_add(me, x, 9); }}
        s <- mem[x]; s <- mem[a + s]; }}""",
    "one branch adds": """x | process 0 { choose { s <- fetch_add(me, x, 1); } or { mem[x] <- 9; }
        s <- mem[x]; s <- mem[a + s]; } process 1 { skip; }""",
    "a store after the load": """x | process {
        r <- mem[x]; mem[x] <- 9; if (r != 9) { s <- mem[x]; s <- mem[a + s]; } }""",
    "a store somewhere after the load": """x, y | process {
        r <- mem[x]; mem[x + s] <- 9; if (r != 9) { s <- mem[x]; s <- mem[a + s]; } }""",
    "a wait after the load": """x, y = 9 | process {
        read(x, me, y, q); r <- mem[x]; wait(q); if (r != 9) { s <- mem[x]; s <- mem[a + s]; } }""",
    "what arrives after a store": """x, y = 9 | process {
        read(x, me, y, q); mem[x] <- 0; r <- mem[x]; s <- mem[a + r]; }""",
    "what arrived before a wait": "x, y = 9 | process { read(x, me, y, q); wait(q); r <- mem[x]; s <- mem[a + r]; }",
    "a wait for another queue": "x = 9, y | process { read(x, me, y, q); wait(u); r <- mem[x]; s <- mem[a + r]; }",
    "wait_local for an update": """x, y = 9 | process {
        update(set, 9, me, x, u); wait_local(u); mem[x] <- 1; r <- mem[x]; s <- mem[a + r]; }""",
    "a store between issue and arrival": """x, y | process {
        read(x, me, y, q); mem[x] <- 9; wait(q); r <- mem[x]; s <- mem[a + r]; }""",
    "an operation in one branch": f"""x, y = 9 | {SETS} process 0 {{
        r <- mem[z]; if (r) {{ read(x, me, y, q); }} r <- mem[x]; s <- mem[a + r]; }}""",
    "an operation in one branch that was waited for": f"""x = 9, y | {SETS} process 0 {{
        r <- mem[z]; if (r) {{ read(x, me, y, q); }} wait(q); r <- mem[x]; s <- mem[a + r]; }}""",
    "an operation in one queue or another": f"""x = 9, y | {SETS} process 0 {{
        r <- mem[z]; if (r) {{ read(x, me, y, q); }} else {{ read(x, me, y, u); }} wait(q);
        r <- mem[x]; s <- mem[a + r]; }}""",
    "an operation with one destination or another": f"""x = 9, y = 9, w | {SETS} process 0 {{
        r <- mem[z]; read(x + r, me, w, q); wait(q); r <- mem[x]; s <- mem[a + r]; }}""",
    "an operation with another destination or one": f"""x = 9, y = 9, w | {SETS} process 0 {{
        r <- mem[z]; read(x + r, me, w, q); wait(q); r <- mem[y]; s <- mem[a + r]; }}""",
    "an operation with any of many destinations": f"""x = 9, y, w, {MANY} | {SETS} process 0 {{
        {ONE_OF_MANY} read(x + r % 2, me, w, q); wait(q); r <- mem[x]; s <- mem[a + r]; }}""",
    "operations in two queues": """x, y = 9, w | process {
        read(x, me, y, q); read(x, me, w, u); wait(u); mem[x] <- 0; r <- mem[x]; s <- mem[a + r]; }""",
    "a load in one branch": f"""x = 9 | {SETS} process 0 {{
        r <- mem[z]; if (r) {{ s <- mem[x]; }} else {{ s <- 1; }} if (s != 9) {{ s <- mem[x]; s <- mem[a + s]; }} }}""",
    "a load in the other branch": f"""x = 9 | {SETS} process 0 {{
        r <- mem[z]; if (r) {{ s <- 1; }} else {{ s <- mem[x]; }} if (s != 9) {{ s <- mem[x]; s <- mem[a + s]; }} }}""",
    "a divisor of many": f"{MANY} | {SETS} process 0 {{ {ONE_OF_MANY} s <- 4 / (r - 3); }}",
    "an await for one of many": f"""x = 1, {MANY} | {SETS} process 0 {{
        {ONE_OF_MANY} await(mem[x] == r % 2); s <- mem[x + 99]; }}""",
    "one of many is replaced": """x | process 1 { skip; } process 0 { while (r < 70) { r <- r + 1; mem[x] <- r; }
        s <- compare_swap(me, x, 5, 0); s <- mem[x]; s <- mem[a + s]; }""",
    "an update that may change nothing": """x = 9, y | process {
        update(compare_swap, 0, 8, me, x, q); wait(q); r <- mem[x]; s <- mem[a + r]; }""",
    "the source is stored to later": f"x, y = 1 | process 0 {{ write(x, 1, y, q); mem[x] <- 9; }} {READER}",
    "the source is got later": f"x, y, w = 9 | process 0 {{ write(x, 1, y, u); read(x, me, w, u); }} {READER}",
    "the source may still arrive": f"x, y, w = 9 | process 0 {{ read(x, me, w, u); write(x, 1, y, u); }} {READER}",
    "a store to an address that is not certain": f"""x = 9, y | {SETS} process 0 {{
        r <- mem[z]; mem[x + r] <- 0; s <- mem[x]; s <- mem[a + s]; }}""",
    "a store somewhere between issue and arrival": f"""x, y | {SETS} process 0 {{
        read(x, me, y, q); r <- mem[z]; mem[x] <- 9; mem[x + r] <- 0; wait(q); r <- mem[x]; s <- mem[a + r]; }}""",
    "a put that the barrier does not wait for": """x = 9, y | process {
        write(y, 1 - me, x, q); barrier; r <- mem[x]; s <- mem[a + r]; }""",
    "a put in one branch before the barrier": """x = 9, y | process 1 {
        mem[z @ 0] <- 1; barrier; r <- mem[x]; s <- mem[a + r]; }
        process 0 { r <- mem[z]; if (r) { mem[x @ 1] <- 0; } barrier; }""",
    "a put in the other branch before the barrier": """x = 9, y | process 1 {
        mem[z @ 0] <- 1; barrier; r <- mem[x]; s <- mem[a + r]; }
        process 0 { r <- mem[z]; if (r == 0) { mem[x @ 1] <- 0; } barrier; }""",
    "what a third rank does late before the barrier": """x = 9 | process 2 { barrier; r <- mem[x]; s <- mem[a + r]; }
        process 0 { r <- mem[z]; if (r == 0) { mem[x @ 2] <- 0; } barrier; }
        process 1 { choose { barrier; } or { r <- 1; r <- 1; r <- 1; mem[z @ 0] <- r; barrier; } }""",
    "a loop over barriers": """x = 9 | process 0 { barrier; mem[x @ 1] <- 0; barrier; }
        process 1 { while (r < 2) { barrier; s <- mem[x]; s <- mem[a + s]; r <- r + 1; } }""",
    "after many barriers": f"x = 9 | process {{ {'barrier; ' * 20} r <- mem[x]; s <- mem[a + r]; }}",
    "a store before the next barrier": """x = 9 | process 0 { barrier; mem[x @ 1] <- 0; barrier; }
        process 1 { barrier; r <- mem[x]; s <- mem[a + r]; barrier; }""",
    "a store before one barrier or another": """x = 9 | process 0 {
        r <- mem[z]; if (r) { mem[x @ 1] <- 0; barrier; } else { barrier; mem[x @ 1] <- 0; } barrier; }
        process 1 { mem[z @ 0] <- 1; barrier; r <- mem[x]; s <- mem[a + r]; barrier; }""",
    "a store after the barrier": """x = 9 | process 0 { mem[x @ 1] <- 0; barrier; mem[x @ 1] <- 9; }
        process 1 { barrier; r <- mem[x]; s <- mem[a + r]; }""",
    "barriers that are not counted any more": """x = 9 | process 0 {
        while (r < 20) { barrier; r <- r + 1; } mem[x @ 1] <- 0; barrier; }
        process 1 { while (r < 20) { barrier; r <- r + 1; } r <- mem[x]; s <- mem[a + r]; barrier; }""",
    "threads that do not pass the same barriers": """x = 9 | process 0 { mem[x @ 1] <- 0; barrier; }
        process 0 thread 1 { barrier; } process 1 { barrier; r <- mem[x]; s <- mem[a + r]; barrier; }""",
    "another thread of the rank": """x | process 0 { mem[x] <- 0; r <- mem[x]; s <- mem[a + r]; }
        process 0 thread 1 { mem[x] <- 9; } process 1 { skip; }""",
    "an update that was deferred": """x | process 0 { update(add, 9, 1, x, q); }
        process 1 { await(mem[x] != 0); r <- mem[x]; s <- mem[a + r]; }""",
    "a compare_swap in steps": f"x = 9, y, e | process 0 {{ update_from(compare_swap, x, e, 1, y, q); }} {READER}",
    "a result that arrives": """x, y = 9 | process {
        update(set, 1, me, y, q, x); wait(q); r <- mem[x]; s <- mem[a + r]; }""",
    "more values than a set has": """x | process 1 { skip; } process 0 {
        while (r < 70) { r <- r + 1; mem[x] <- r; } s <- mem[x]; s <- mem[a + s]; }""",
}


def written(text: str) -> Instance:
    memory, _, processes = text.partition("|")
    nodes = 3 if "process 2" in text else 2
    registers = "register r, s; queue q, u unordered;"
    return parse(f"nodes {nodes}; memory {memory}, z, a[2]; {registers} {processes}").instantiate()


@pytest.mark.parametrize("text", NO_FAULT.values(), ids=NO_FAULT.keys())
def test_where_no_fault_is_possible(text: str) -> None:
    program = written(text)
    assert not check(program, 20_000)
    assert cannot_fault(program)


@pytest.mark.parametrize("text", FAULT.values(), ids=FAULT.keys())
def test_where_a_fault_is_possible(text: str) -> None:
    """Each is a program that would have none if a rule forgot something."""
    program = written(text)
    assert any(faults(program, state) for state in reached(program, 20_000))
    assert check(program, 2_000)
    assert not cannot_fault(program)


@pytest.mark.parametrize("most", range(1, 8))
def test_too_much_is_no_answer(most: int) -> None:
    with pytest.raises(TooMuch):
        any(CellValues(written(NO_FAULT["the MCS lock"]), most=most).follow())
