"""Objects in memory that are only loaded and stored as a whole, as slots: what is asked of slots covers them, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from pgasrob.frontends.c.code import CompiledFunction, Global, Instruction, Load, Local, Move, Store, Variable
from pgasrob.frontends.c.liveness import reads
from pgasrob.frontends.c.types import VOID, Array, Struct


def promoted(functions: Sequence[CompiledFunction], scalars: Collection[str]) -> list[CompiledFunction]:
    """The first of ``functions``, main, and the others with slots in place of the objects that they only load and store
    as a whole: local ones, and in main those of the global ``scalars`` that nobody else has."""
    named = Counter(each.name for function in functions for each in function.code if isinstance(each, Global))
    return [_promoted(each, named, () if number else scalars) for number, each in enumerate(functions)]


def _promoted(function: CompiledFunction, named: Mapping[str, int], scalars: Collection[str]) -> CompiledFunction:
    local = (name for name, each in function.objects.items() if not isinstance(each.type, Array | Struct))
    own = Counter(each.name for each in function.code if isinstance(each, Global))
    names = {*local, *(name for name in scalars if own[name] == named[name])}
    address = {each.target: each.name for each in function.code if isinstance(each, Global | Local)}
    for each in function.code:
        direct = each.pointer if isinstance(each, Load | Store) else None
        others = [*reads(each)]
        if direct is not None:
            others.remove(direct)
        names.difference_update(address[slot] for slot in others if slot in address)
    slots = {name: len(function.slots) + number for number, name in enumerate(sorted(names))}
    code: list[Instruction] = []
    for each in function.code:
        match each:
            case Load(target, pointer) if (slot := slots.get(address.get(pointer, ""))) is not None:
                code.append(Move(target, slot))
            case Store(pointer, source) if (slot := slots.get(address.get(pointer, ""))) is not None:
                code.append(Move(slot, source))
            case _:
                code.append(each)
    more = [Variable(name, VOID) for name in slots]
    return replace(function, code=code, slots=[*function.slots, *more])
