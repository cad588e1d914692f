"""The part of the JSON object of a verdict that says what a run on the network can do and no SC run can."""

from __future__ import annotations

from typing import TYPE_CHECKING, NotRequired, TypedDict

from pgasrob.program.conditional_waits import only_compared
from pgasrob.program.core import accesses_of
from pgasrob.render.double_values import value
from pgasrob.render.process_numbers import numbered
from pgasrob.render.source_commands import WrittenCommands

if TYPE_CHECKING:
    from pgasrob.program.control import Transition
    from pgasrob.program.instance import Instance
    from pgasrob.robustness import verdict as library
    from pgasrob.semantics.endings import Ending


class EffectValue(TypedDict):
    """A value of a run on the network: what the register or cell ``name`` (``r@0``, ``a[2]@1``) of ``rank`` holds at
    its end or, with a ``line``, what ``command`` of ``rank`` there has read last from the cell ``name``.

    ``in_sc``: the values that it has in SC runs; empty where it takes all of several values to tell them apart.
    ``copies``: as for a place, of those that read the same cell. ``made_up``: it is something within a library.
    """

    name: str
    rank: int
    value: int
    in_sc: list[int]
    line: int | None
    command: str | None
    copies: int | None
    made_up: NotRequired[bool]


class EffectPlace(TypedDict):
    """A command that some rank comes to, or an assertion that it fails. ``ended``: it ends behind that command.

    ``copies``: the commands that come from the same place of the source, by iterations and calls that are written out.
    """

    rank: int
    line: int
    column: int
    command: str
    copies: int
    ended: NotRequired[bool]


class EffectDetail(TypedDict):
    """What a run on the network has that no SC run has, or what was looked at for one.

    There is such a run: it fails ``assertion``, or comes to ``place``, or has all of ``values``, with the ``ending``
    and all of the assertions ``failed`` that it fails where these are not null. Else all of them are null or empty, and
    ``exhaustive`` says whether there is none, ``but_for`` values of registers that are read only as they are compared;
    if not, ``reason`` and ``reason_code`` say why not. ``sc_states`` and ``network_states`` were looked at.
    """

    values: list[EffectValue]
    ending: Ending | None
    failed: list[EffectPlace] | None
    place: EffectPlace | None
    assertion: EffectPlace | None
    exhaustive: bool
    but_for: list[str]
    reason: str | None
    reason_code: str | None
    sc_states: int
    network_states: int


def effect_to_json(effect: library.Effect, instance: Instance) -> EffectDetail:
    """``effect`` as an object, with the commands and cells of ``instance`` by their names in the source."""
    texts = WrittenCommands(instance)

    def place(rank: int, edge: Transition, reads: bool = False) -> EffectPlace:
        text, line, column = texts.text(rank, edge.occurrence), edge.span.line, edge.span.column
        alike = {
            each.occurrence
            for each in instance.automata[rank].transitions
            if each.command.kind == edge.command.kind
            and (each.span.line, each.span.column) == (line, column)
            and not (reads and accesses_of(each.form) != accesses_of(edge.form))
        }
        return {"rank": numbered(instance, rank), "line": line, "column": column, "command": text, "copies": len(alike)}

    def at(rank: int, occurrence: int, reads: bool = False) -> EffectPlace:
        edges = instance.automata[rank].transitions
        return place(rank, next(edge for edge in edges if edge.occurrence == occurrence), reads)

    def value_of(each: library.EndValue) -> EffectValue:
        doubles = instance.program.doubles
        read = None if each.occurrence is None else at(each.rank, each.occurrence, reads=True)
        of_process = each.occurrence is not None or "." in each.name.rpartition("@")[2]
        found: EffectValue = {
            "name": each.name,
            "rank": numbered(instance, each.rank) if of_process else each.rank,
            "value": value(each.name, each.value, doubles),
            "in_sc": [value(each.name, other, doubles) for other in each.in_sc],
            "line": read and read["line"],
            "command": read and read["command"],
            "copies": read and read["copies"],
        }
        made_up = any(
            each.name.rpartition("@")[0] == memory.name for memory in instance.program.memory if memory.made_up
        )
        return {**found, "made_up": True} if made_up else found

    reached: EffectPlace | None = None
    if effect.place is not None and effect.run is not None:
        rank, control = effect.place
        leaving = instance.automata[rank].out[control]
        last = [event.occurrence for event in effect.run.run.computation if event.rank == rank and not event.is_step]
        reached = {**(place(rank, leaving[0]) if leaving else at(rank, last[-1])), "ended": not leaving}
    return {
        "values": [value_of(each) for each in effect.values],
        "ending": effect.ending,
        "failed": None if effect.failed is None else [at(each.rank, each.occurrence) for each in effect.failed],
        "place": reached,
        "assertion": None if effect.assertion is None else at(effect.assertion.rank, effect.assertion.occurrence),
        "but_for": only_compared(instance.automata),
        "exhaustive": effect.reason is None and effect.kind != "none found",
        "reason": None if effect.reason is None else str(effect.reason),
        "reason_code": None if effect.reason is None else effect.reason.code,
        "sc_states": effect.sc_states,
        "network_states": effect.network_states,
    }
