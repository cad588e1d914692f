"""Tables of the instructions and forms that a memory model refuses, each with a clause that says why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pgasrob.models.litmus.instructions import Instruction, accesses, node_of
from pgasrob.models.litmus.litmus_program import Program, Thread
from pgasrob.models.model_interface import Refusal, Refused

NAMED_FIRST = ("cpu", "land", "fetch", "update", "source", "place")
"""The order in which accesses that are not atomic are reported: `x = rga(z^2, y)` from left to right."""


@dataclass(frozen=True, slots=True)
class Forms:
    """Clauses, with {node}, {word} or {name} where a node, the word of the instruction or the name of a location
    belongs. An empty one: the model knows the form.

    ``missing``: the instructions that it does not know. ``non_atomic``: accesses that are not atomic. ``own_node``:
    operations of a node on itself. ``threads``: several threads on one node. ``branches``: control flow; ``loops``:
    loops without a bound, and then the instructions of the thread are not looked at.
    """

    missing: Mapping[type[Instruction], str]
    non_atomic: str = ""
    own_node: str = ""
    threads: str = ""
    branches: str = ""
    loops: str = ""

    def refusals(self, program: Program) -> tuple[Refusal, ...]:
        """What the model does not know of ``program``, each once."""
        return tuple(dict.fromkeys(self._refusals(program)))

    def require(self, program: Program) -> None:
        """Raise :class:`Refused` where there is something that the model does not know."""
        if refusals := self.refusals(program):
            raise Refused(refusals)

    def _refusals(self, program: Program) -> Iterator[Refusal]:
        for number, thread in enumerate(program.threads):
            yield from self.of_thread(program, number)
            if thread.graph.bounded or not self.loops:
                for instruction in thread.graph.instructions:
                    yield from self.of_instruction(program, thread, instruction)

    def of_thread(self, program: Program, number: int) -> Iterator[Refusal]:
        """What it does not know of a thread, without its instructions."""
        thread = program.threads[number]
        if self.threads and any(other.node == thread.node for other in program.threads[:number]):
            yield Refusal(self.threads.format(node=thread.node))
        if self.branches and not thread.graph.straight:
            yield Refusal(self.branches)
        if self.loops and not thread.graph.bounded:
            yield Refusal(self.loops)

    def of_instruction(self, program: Program, thread: Thread, instruction: Instruction) -> Iterator[Refusal]:
        """What it does not know of ``instruction``."""
        node, span = node_of(instruction, program.owners), instruction.span
        if (missing := self.missing.get(type(instruction))) is not None:
            yield Refusal(missing.format(node=node, word=instruction.word), span)
            return
        if self.own_node and node == thread.node:
            yield Refusal(self.own_node.format(node=node), span)
        for access in sorted(accesses(instruction), key=lambda access: NAMED_FIRST.index(access.stage)):
            if self.non_atomic and not access.cell.atomic:
                yield Refusal(self.non_atomic.format(name=access.cell.name), span)
