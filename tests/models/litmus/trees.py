"""Instructions, blocks and programs without the places of their text."""

from __future__ import annotations

from pgasrob.models.litmus.instructions import (
    Instruction,
)
from pgasrob.models.litmus.litmus_program import Choose, Loop, Program


def bare(item: object) -> object:
    """An instruction or block with its spans taken away."""
    if isinstance(item, tuple):
        return tuple(map(bare, item))
    fields = {name: bare(getattr(item, name)) for name in getattr(item, "__slots__", ()) if name != "span"}
    return (type(item).__name__, fields) if isinstance(item, Instruction | Choose | Loop) else item


# Printing


def canonical(program: Program) -> object:
    return program.locations, [
        (t.node, t.registers, bare(t.body), t.graph.ends, len(t.graph.out)) for t in program.threads
    ]
