"""Where RDMA on x86 may break the order that a robust program relies on: as JSON, and below the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, assert_never

from pgasrob.analysis.hardware import MOST_COMMANDS, Difference, Occasion
from pgasrob.analysis.mixed_atomics import Mixed, Write, Writing
from pgasrob.render import english
from pgasrob.render.lines import Line, paragraph
from pgasrob.render.store_buffers_text import pairs, pairs_to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgasrob.analysis.store_buffers import Pair
    from pgasrob.robustness import verdict as library

MOST_LINES = 4
"""Lines that are named of a difference."""
MOST_WRITES = 3
"""Writes that are named of those into atomics."""
OF_TODAY = frozenset(
    each.value
    for each in (
        Difference.STORE_BUFFER,
        Difference.QUEUE_PAIRS,
        Difference.GETS_IN_ORDER,
        Difference.PUT_AFTER_GET,
        Difference.MIXED_ATOMICS,
    )
)
"""What machines of today do, which every verdict mentions. The others only the specification allows, or they are
what a library, or the translation to queue pairs, is taken to take care of."""
NAMES_ITS_LINES = (Difference.STORE_BUFFER.value, Difference.MIXED_ATOMICS.value)
"""The differences whose sentences name their lines."""

NOT_LOOKED_AT = (
    f"By what RDMA and x86 do otherwise it may not be so: that has not been looked at (of more than {MOST_COMMANDS:,} "
    "commands it is not, nor behind a limit)."
)


class HardwareDifference(TypedDict):
    """What RDMA on x86 does otherwise than the calculus (``difference``, a code of `analysis.hardware`), at the lines
    ``places``; ``message`` is a sentence without a full stop."""

    difference: str
    message: str
    places: list[int]


def hardware_to_json(hardware: library.Hardware) -> list[HardwareDifference]:
    """The differences that could matter; the store buffer is left out where ``on_tso`` has decided it."""
    return [
        {
            "difference": each.difference.value,
            "message": _message(each, hardware),
            "places": list(each.lines),
        }
        for each in hardware.occasions
    ]


def _store_buffer(overtaken: Sequence[Pair], decided: bool) -> str:
    """``decided``: it can be asked whether it matters."""
    named, option = pairs(pairs_to_json(overtaken), 1), " (--cpu tso decides)" * decided
    return f"the CPU's store buffer: {named}; others access both: an mfence is needed on x86{option}"


def _mixed_atomics(mixed: Sequence[Mixed]) -> str:
    """The first cell with its atomics and the first writes that may come into one."""
    first, cells = mixed[0], len(mixed) - 1
    by_line = {(each.line, each.how): each for each in reversed(first.writes)}
    writes = [_write(each) for _, each in sorted(by_line.items(), key=lambda item: item[0][0])]
    others = [english.count(len(writes) - MOST_WRITES, "other write")] * (len(writes) > MOST_WRITES)
    more = f"; the same holds for {english.count(cells, 'other cell')}" * bool(cells)
    return (
        f"remote atomics on {first.cell} ({english.lines(list(first.atomics[:MOST_LINES]))}) are atomic only against "
        f"other remote atomics on this network card: {english.listed([*writes[:MOST_WRITES], *others])}{more}"
    )


def _write(write: Write) -> str:
    match write.how:
        case Writing.STORE:
            does = f"rank {write.rank} stores to it"
        case Writing.ATOMIC:
            does = f"the CPU of rank {write.rank} makes an atomic on it"
        case Writing.PUT:
            does = f"rank {write.rank} puts to it"
        case Writing.LANDING:
            does = f"rank {write.rank} fetches a value into it"
        case _:
            assert_never(write.how)
    return f"{does} in line {write.line}"


def _message(occasion: Occasion, hardware: library.Hardware) -> str:
    """What RDMA on x86 may do otherwise than the calculus, and what to insert against it, as a clause."""
    of_library = hardware.library
    match occasion.difference:
        case Difference.STORE_BUFFER:
            return _store_buffer(occasion.overtaken, not hardware.threads)
        case Difference.MIXED_ATOMICS:
            return _mixed_atomics(occasion.mixed)
        case Difference.QUEUE_PAIRS:
            return (
                "one FIFO queue for several ranks: transfers to different ranks go by different queue pairs, which "
                "order nothing among each other"
            )
        case Difference.GETS_IN_ORDER:
            return (
                "gets of one FIFO queue: a queue pair may fetch them in any order; an rfence or a wait between them "
                "keeps it"
            )
        case Difference.PUT_AFTER_GET:
            return (
                "a put behind a get of its FIFO queue: on a queue pair it may overtake the get; an rfence or a wait "
                "between them keeps the order"
            )
        case Difference.FENCE:
            if of_library:
                return (
                    "fences and notifications: the library is taken to send what they order by one queue pair, or to "
                    "wait in between, for a fence of RDMA completes nothing"
                )
            return (
                "fences and notifications: puts of one queue pair are in order without, those of several are not, and "
                "an rfence completes nothing"
            )
        case Difference.EVERY_COMPLETION:
            if of_library:
                return "one completion for each poll: the library is taken to poll for all operations that it waits for"
            return "one completion for each poll, that of the oldest operation: a wait for several is as many polls"
        case Difference.PUTS_PLACED:
            if of_library:
                return (
                    "completion of a put: the library is taken to wait until it is placed, of which RDMA tells only "
                    "that it is acknowledged; hardware of today places it before"
                )
            return (
                "completion of a put: a wait is until it is placed, a poll until it is acknowledged; hardware of today "
                "places it before"
            )
        case Difference.PCIE:
            return "a get behind a put of its queue, which tells that the put is placed: on PCIe alone it does"
        case _:
            assert_never(occasion.difference)


def section(differences: list[HardwareDifference] | None, width: int, list_all: bool) -> list[Line]:
    """The lines about differences that could matter: those of machines of today, or all (``list_all``). None: that was
    not looked at."""
    if differences is None:
        return paragraph(NOT_LOOKED_AT, width, "open", "  ")
    shown = [each for each in differences if list_all or each["difference"] in OF_TODAY]
    if not shown:
        return []
    lines = paragraph("On RDMA and x86 this could matter:", width, "open", "  ")
    for each in shown:
        sentence = each["message"]
        if each["difference"] not in NAMES_ITS_LINES:
            places = each["places"]
            more = f" and {len(places) - MOST_LINES} others" * (len(places) > MOST_LINES)
            sentence += f" ({english.lines(places[:MOST_LINES])}{more})"
        lines += paragraph(f"{sentence}.", width, "open", "  - ", "    ")
    return lines
