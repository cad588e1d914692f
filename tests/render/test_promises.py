"""What commands promise, in the words of their definitions."""

from __future__ import annotations

import pytest

from pgasrob.program.parser import parse
from pgasrob.program.statements import Do, statements_in
from pgasrob.render.promises import promise


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (
            "write(x, 1, x, q)",
            ("its source is read some time later", "arrives", "queue q read, and write, in the order"),
        ),
        ("write(x, 1, x, p)", ("Others in queue p may overtake it",)),
        ("write(x, 1, x, r)", ("It is in queue r.",)),
        ("put(x, 1, x, q)", ("once its source is read",)),
        ("read(x, 1, x, q)", ("the value arrives here, some time later",)),
        ("wait(q)", ("all earlier operations of this rank in queue q are complete here and at their targets",)),
        ("wait_local(q)", ("complete here", "may not have arrived")),
        ("fence(q)", ("to each rank, by itself", "waits for nothing")),
        ("fence(q, 1)", ("to rank 1",)),
        ("barrier", ("completes and orders no operation",)),
        ("notify(set, 1, 1, x, q)", ("all earlier puts to that rank in queue q have arrived",)),
        ("notify_all(set, 1, 1, x, q)", ("in any queue",)),
        ("update(add, 1, 1, x, q)", ("the cell changes some time later.", "order of issue")),
        ("update_located(add, 1, 1, x, q, x)", ("The old value arrives here", "after earlier ones of this rank to")),
        ("update_from(add, x, 1, x, q)", ("Its operand is read some time later, too",)),
        ("r <- fetch_add(1, x, 1)", ("happens at once", "Earlier operations may still be under way")),
        ("mem[x] <- 1", ("memory of its own node at once",)),
        ("r <- mem[x @ 1]", ("memory of rank 1, which it shares, at once",)),
    ],
)
def test_it_is_that_of_the_definition(command: str, told: tuple[str, ...]) -> None:
    program = parse(f"nodes 2; memory x; register r; queue q, p unordered; process {{ {command}; }}")
    (process,) = program.processes
    (issued,) = [each for each in statements_in(process.body) if isinstance(each, Do)]
    text = promise(issued.command, program)
    assert not [each for each in told if each not in text], text
    assert text.endswith(".") and "  " not in text
