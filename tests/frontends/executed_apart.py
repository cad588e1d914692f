"""What ranks that are executed at once do, against the same ranks executed one by one with the same facts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from unittest.mock import patch

from pgasrob import SourceError
from pgasrob.frontends.c import driver
from pgasrob.frontends.c.compiled import Compiled
from pgasrob.frontends.c.facts import Facts
from pgasrob.frontends.c.world import World
from pgasrob.program.printer import to_source
from pgasrob.program.program import Program


@dataclass(frozen=True, slots=True)
class Lowered:
    """``classes``: the ranks that have been executed at once; ``text``: the program, and what else is said of it, but
    for the order in which cells are numbered; ``apart``: the same by the ranks one by one; ``learned``: how many facts
    these have added."""

    classes: list[tuple[int, ...]]
    text: str
    apart: str
    learned: int

    @property
    def together(self) -> int:
        """How many ranks have been executed with another one."""
        return sum(len(each) for each in self.classes if len(each) > 1)


def lowered(compiled: Compiled, nodes: int) -> Lowered | None:
    """``compiled`` on ``nodes`` ranks; None where it is refused."""
    found: list[Lowered] = []
    with_loops = driver._with_loops

    def both(world: Callable[..., World], facts: Facts) -> tuple[Program, Facts]:
        program, facts = with_loops(world, facts)
        again, version = world(facts=facts), facts.version
        classes = [*again.classes.of]
        again.classes.apart()
        apart = driver._lowered(again)
        again.classes.of = classes
        found[:] = [Lowered(classes, _text(program), _text(apart), facts.version - version)]
        return program, facts

    with patch.object(driver, "_with_loops", both):
        try:
            driver.lower(compiled, nodes)
        except SourceError:
            return None
    return found[0]


def _text(program: Program) -> str:
    """Cells, queues and addresses of faults have numbers in the order in which ranks come to them."""
    text = to_source(program)
    begin = re.search(r"^(process|ranks)", text, re.MULTILINE)
    head, body = text[: begin.start() if begin else 0], text[begin.start() if begin else 0 :]
    faults = {str(-1 - place): why for place, (why, _) in enumerate(program.faults)}
    body = re.sub(r"(?<=[\[ ])-\d+(?=[\],])", lambda found: faults.get(found[0], found[0]), body)
    said = (
        {str(each) for each in program.assumptions},
        program.gaps,
        {(each.name, each.cells, each.initial) for each in program.memory},
        {repr(each) for each in program.ends},
        program.faults,
    )
    whether = program.blind_awaits, program.shows_more, program.moves_data
    return "\n".join([*sorted(re.split(r"[\s,;]+", head)), body, *(str(sorted(each)) for each in said), str(whether)])
