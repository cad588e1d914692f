"""The control flow of a compiled function: its loops, what every way comes by, and which branches decide about what."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from pgasrob.frontends.c.code import Call, Instruction, Label
from pgasrob.frontends.c.liveness import successors
from pgasrob.frontends.c.standard import words
from pgasrob.program.graphs import components, dominators, natural_loops, reversed_edges, spans_below, up

ENDS = frozenset(
    words(
        "exit _exit _Exit quick_exit abort err errx raise pthread_exit shmem_global_exit MPI_Abort "
        "ARMCI_Error gasnet_exit gex_System_Exit"
    )
)
"""Functions behind which a rank does not go on, and whose arguments are shown as those of output are."""


class ControlFlow:
    """That of ``code``; ``after``: for each place where the run goes on behind it."""

    def __init__(self, code: Sequence[Instruction]) -> None:
        self.code = code
        self.after = [() if _ends(each) else successors(code, place) for place, each in enumerate(code)]
        self.above = dominators(self.after, [0])
        self.component = components(self.after)

    @cached_property
    def loops(self) -> list[frozenset[Label]]:
        """The natural loops, a loop before those around it."""
        return sorted(natural_loops(self.after, self._span_below), key=len)

    @cached_property
    def together(self) -> Mapping[int, frozenset[Label]]:
        """The places from each of which the function may come to each other, by the number of their component."""
        found: dict[int, set[Label]] = {}
        for place, number in enumerate(self.component):
            found.setdefault(number, set()).add(place)
        return {number: frozenset(places) for number, places in found.items()}

    def repeats(self, place: Label) -> bool:
        """Whether the function may come to ``place`` again and again."""
        return len(self.together[self.component[place]]) > 1

    def around(self, place: Label) -> frozenset[Label]:
        """The innermost loop around ``place``; nothing where there is none that is entered at its head alone."""
        return next((loop for loop in self.loops if place in loop), frozenset())

    def comes_by(self, place: Label, before: Label) -> bool:
        """Whether each way to ``place`` comes by ``before``."""
        first, last = self._span_below[before]
        return first <= self._span_below[place][0] <= last

    @cached_property
    def _span_below(self) -> Mapping[Label, tuple[int, int]]:
        """As :func:`~pgasrob.program.graphs.spans_below` numbers the places."""
        return spans_below(self.above)

    def passes(self, loop: frozenset[Label], place: Label) -> bool:
        """Whether each round of ``loop``, one of the natural loops, comes by ``place``."""
        return self.comes_by(self._ends[loop], place)

    @cached_property
    def _ends(self) -> Mapping[frozenset[Label], Label]:
        """For each natural loop the last place by which each round comes."""
        found = {}
        for loop in self.loops:
            last, *others = [
                each for each in loop if any(to in loop and self.comes_by(each, to) for to in self.after[each])
            ]
            found[loop] = next(at for at in up(last, self.above) if all(self.comes_by(each, at) for each in others))
        return found

    @cached_property
    def deciding(self) -> Sequence[Collection[Label]]:
        """For each place the branches that decide whether the run comes to it (Ferrante, Ottenstein, Warren: The
        program dependence graph)."""
        ends = [place for place, targets in enumerate(self.after) if not targets]
        above = dominators(reversed_edges(self.after), ends)
        found: list[dict[Label, None]] = [{} for _ in self.code]
        for branch, targets in enumerate(self.after):
            for target in targets if len(targets) > 1 else ():
                for place in up(target, above, above[branch]):
                    found[place][branch] = None
        return found


def _ends(instruction: Instruction) -> bool:
    return isinstance(instruction, Call) and instruction.function in ENDS
