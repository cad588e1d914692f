"""Which calls of a C program that show something can be *displayed* by commands: what a rank shows is in cells of its
own then, one behind the other (`proofs/polling.md`, section 6; `display_cells.py` makes the commands)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from pgasrob.frontends.c.code import MAIN, Call, Label, Return, Slot, String
from pgasrob.frontends.c.data_flow import ERRNO, DataFlow
from pgasrob.frontends.c.liveness import reads
from pgasrob.frontends.c.needed import literals
from pgasrob.frontends.c.types import INT, CType, Pointer
from pgasrob.program.graphs import reached

FunctionName = str


@dataclass(frozen=True, slots=True)
class Displayed:
    """What is displayed at one place: the number of it, and the slots whose values are, with their types."""

    number: int
    slots: tuple[tuple[Slot, CType], ...]


@dataclass(frozen=True)
class DisplayedValues:
    """The places of a program that are displayed, by function and place. ``left``: the slots that they show beside
    that, of which nobody asks (how often a loop has gone round)."""

    at: Mapping[tuple[FunctionName, Label], Displayed] = field(default_factory=dict)
    left: Mapping[tuple[FunctionName, Label], Collection[Slot]] = field(default_factory=dict)

    def slots(self, function: FunctionName) -> set[Slot]:
        """The slots whose values are displayed somewhere in ``function``."""
        return {slot for (name, _), each in self.at.items() if name == function for slot, _ in each.slots}


def displayed_values(
    flows: Collection[DataFlow], outputs: Collection[Collection[Label]], answers: Callable[[DataFlow, Label], bool]
) -> DisplayedValues:
    """What can be displayed of the ``outputs`` of ``flows``. What each round of a loop shows whatever it reads is not,
    as ``answers`` says: nobody asks how often."""
    at: dict[tuple[FunctionName, Label], Displayed] = {}
    left: dict[tuple[FunctionName, Label], Collection[Slot]] = {}
    for flow, places in zip(flows, outputs, strict=True):
        counts, texts = _counts(flow), literals(flow.function)
        for place in sorted(places):
            types = _types(flow, place)
            if types is None or (flow.repeats(place) and not answers(flow, place)):
                continue
            if any(isinstance(type, Pointer) and slot not in texts for slot, type in types.items()):
                continue  # it shows what is in memory there
            uncounted = {slot: type for slot, type in types.items() if slot not in counts or flow.repeats(place)}
            slots = tuple((slot, type) for slot, type in uncounted.items() if not _is_one_text(flow, slot))
            key = flow.function.name, place
            at[key] = Displayed(len(at) + 1, slots)
            left[key] = types.keys() - uncounted.keys()
    return DisplayedValues(at, left)


def _types(flow: DataFlow, place: Label) -> dict[Slot, CType] | None:
    """The slots that ``place`` shows, with their types; None where it may show more."""
    match flow.code[place]:
        case Call(_, str(name), arguments, types) if name not in ERRNO:
            more = (INT,) * (len(arguments) - len(types))
            return dict(zip(arguments, (*types, *more), strict=True))
        case Return() as each if flow.function.name == MAIN:
            return dict.fromkeys(reads(each), INT)
    return None


def _is_one_text(flow: DataFlow, slot: Slot) -> bool:
    """Whether ``slot`` has one string literal for its only value."""
    defining = [flow.code[place] for place in flow.defining({slot})]
    return len(defining) == 1 and isinstance(defining[0], String)


def _counts(flow: DataFlow) -> set[Slot]:
    """The slots whose values are made of how often a loop has gone round that waits for others, and of nothing that is
    read there."""
    counted = {
        flow.target(place)
        for place in flow.counting
        if flow.repeats(place) and any(place in loop and flow.waits(loop) for loop in flow.loops)
    }
    itself = {slot for slot in counted if slot in flow.made_of_themselves}
    after: dict[Slot, list[Slot]] = {}
    for target, source in flow.sources:
        after.setdefault(source, []).append(target)
    # What a count begins with is a value like others, and shown as these are.
    others = {
        flow.target(place)
        for place, each in enumerate(flow.code)
        if getattr(each, "target", None) is not None and flow.repeats(place) and place not in flow.counting
    }
    made, mixed = (reached(slots, lambda slot: after.get(slot, ())) for slots in (itself, others))
    return made - mixed
