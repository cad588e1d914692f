"""Every premise and conclusion of the rules, each taken out of `pgasrob.models.corerma.order_rules` or turned around.

A mutant says which functions of that module are replaced by what. Consistent executions are enumerated with them in
place (`Frame.candidates`), so the enumeration is what is tested; that the quicker search has the same outcomes is
tested elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

from pgasrob.models.corerma import CoreRma, rules
from pgasrob.models.corerma.consistent_executions import Frame
from pgasrob.models.corerma.program_actions import Action, Actions, Statement
from pgasrob.models.litmus.litmus_program import Outcome, Program

Pairs = Iterator[tuple[int, int]]
Replaced = Mapping[str, Callable[..., Any]]


def _po(actions: Actions) -> Iterator[tuple[Action, Action]]:
    for thread in actions.threads:
        for place, number in enumerate(thread):
            for later in thread[place + 1 :]:
                yield actions.actions[number], actions.actions[later]


def _statement(actions: Actions, action: Action) -> Statement:
    return actions.statements[actions.statement_of[action.number]]


def _is_remote(actions: Actions, action: Action) -> bool:
    return _statement(actions, action).remote == action.number


# --- R1, R2, WS ------------------------------------------------------------------------------------------------------


def _r1(*, read: bool = True, first: bool = True, second: bool = True, same: bool = True, hb: bool = True) -> Replaced:
    """R1 without asking that the read, the write that it reads from, the later write are atomic, that they are on one
    location, that the one write happens before the other."""

    def r1(actions: Actions, source: list[int], order: list[int]) -> Pairs:
        for reader in actions.readers:
            writer = source[reader]
            if writer < 0:
                continue
            if (read and not actions.atomic >> reader & 1) or (first and not actions.atomic >> writer & 1):
                continue
            later = order[writer] if hb else ~actions.initial & ~(1 << writer)
            for number in actions.writers:
                action = actions.actions[number]
                if not later >> number & 1 or number == reader or order[reader] >> number & 1:
                    continue
                if (second and not action.atomic) or (same and action.wloc != actions.actions[writer].wloc):
                    continue
                yield reader, number

    return {"r1": r1}


def _r1_with_itself() -> Replaced:
    whole = rules.r1

    def r1(actions: Actions, source: list[int], order: list[int]) -> Pairs:
        yield from whole(actions, source, order)
        for reader in actions.readers:
            writer = source[reader]
            if writer >= 0 and actions.actions[reader].kind == "erw" and order[writer] >> reader & 1:
                yield reader, reader

    return {"r1": r1}


def _r2(ask_read: bool, ask_write: bool) -> Replaced:
    def r2(actions: Actions, read: int, write: int) -> bool:
        fine = not ask_read or actions.atomic >> read & 1
        return bool(fine and (not ask_write or actions.atomic >> write & 1))

    return {"r2": r2}


def _ws(atomic: int, same: bool) -> Replaced:
    """WS for pairs of which so many are atomic at least."""

    def ws(actions: Actions, hb: list[int]) -> Pairs:
        writers = actions.writers
        for place, first in enumerate(writers):
            for second in writers[place + 1 :]:
                one, two = actions.actions[first], actions.actions[second]
                if one.atomic + two.atomic < atomic or (same and one.wloc != two.wloc):
                    continue
                if not (hb[first] >> second | hb[second] >> first) & 1 and one.kind != "init" != two.kind:
                    yield first, second

    return {"ws": ws}


# --- C, no-C and what is not in the paper ----------------------------------------------------------------------------


def _conflicts(*, parallel: bool = True, atomic: bool = True, both: bool = False, other: bool = True) -> Replaced:
    """``both``: in conflict only when neither is atomic."""

    def conflicts(actions: Actions, ordered: list[int], action: int, location: int) -> int:
        found = actions.writers_of[location] & ~actions.initial
        if other:
            found &= ~(1 << action)
        if parallel:
            found &= ~ordered[action]
        if both:
            return 0 if actions.atomic >> action & 1 else found & ~actions.atomic
        return found & ~actions.atomic if atomic and actions.atomic >> action & 1 else found

    return {"conflicts": conflicts}


def _conflicts_anywhere() -> Replaced:
    def conflicts(actions: Actions, ordered: list[int], action: int, location: int) -> int:
        found = sum(1 << number for number in actions.writers) & ~(1 << action | ordered[action])
        return found & ~actions.atomic if actions.atomic >> action & 1 else found

    return {"conflicts": conflicts}


def _is_undefined(read: bool, write: bool) -> Replaced:
    def is_undefined(actions: Actions, ordered: list[int], reader: int, writer: int) -> bool:
        location = actions.actions[writer].wloc
        assert location is not None
        return bool(
            (read and rules.conflicts(actions, ordered, reader, location))
            or (write and rules.conflicts(actions, ordered, writer, location))
        )

    return {"is_undefined": is_undefined}


def _is_hidden(after: bool, between: bool) -> Replaced:
    def is_hidden(actions: Actions, hb: list[int], before: list[int], read: int, write: int) -> bool:
        atomic = rules.both_atomic(actions, read, write)
        if hb[read] >> write & 1:
            return after and not atomic
        location = actions.actions[write].wloc
        assert location is not None
        found = hb[write] & before[read] & actions.writers_of[location]
        return between and bool(found & ~actions.atomic if atomic else found)

    return {"is_hidden": is_hidden}


# --- what follows from the program -----------------------------------------------------------------------------------


def _ir(*, first: bool = True, second: bool = True, same: bool = True, other: bool = True) -> Replaced:
    """IR without asking that the first and the second action are in Remote, that they have one target, and that it is
    another node."""

    def ir(actions: Actions) -> Pairs:
        for one, two in _po(actions):
            external = {one.kind, two.kind} <= {"er", "ew", "erw"}
            if not external or (first and not _is_remote(actions, one)) or (second and not _is_remote(actions, two)):
                continue
            if (same and one.dst != two.dst) or (other and one.dst == one.src):
                continue
            yield one.number, two.number

    return {"IR": ir}


def _vpi(kinds: tuple[tuple[str, str], ...]) -> Replaced:
    """The pairs of kinds of operations that are ordered."""

    def vpi(actions: Actions) -> Pairs:
        for one, two in rules.remote_pairs(actions):
            if (_statement(actions, one).kind, _statement(actions, two).kind) in kinds:
                yield one.number, two.number

    return {"VPI": vpi}


def _without_edge(rule: str, leaves: Callable[[Actions, Action, Action], bool]) -> Replaced:
    """The rule's edges of which ``leaves`` holds."""
    whole = rules.STATIC[rule]

    def some(actions: Actions) -> Pairs:
        for first, second in whole(actions):
            if leaves(actions, actions.actions[first], actions.actions[second]):
                yield first, second

    return {rule: some}


def _cas(missing: int | None = None, reads: bool = False) -> Replaced:
    whole = rules.cas

    def cas(statement: Statement) -> Pairs:
        yield from (pair for place, pair in enumerate(whole(statement)) if place != missing)
        if reads:
            yield statement.actions[0], statement.actions[1]

    return {"cas": cas}


def _flush(rule: str, *, local: bool = True, same: bool = True) -> Replaced:
    """F1 for all later actions; F2 and F3 for operations to any node."""

    def f1(actions: Actions) -> Pairs:
        yield from ((a.number, b.number) for a, b in _po(actions) if a.kind == "flush" and (b.local or not local))

    def f2(actions: Actions) -> Pairs:
        for one, two in _po(actions):
            if two.kind == "flush" and _is_remote(actions, one) and (one.dst == two.dst or not same):
                yield from ((action, two.number) for action in _statement(actions, one).actions)

    def f3(actions: Actions) -> Pairs:
        for one, two in _po(actions):
            if one.kind == "flush" and _is_remote(actions, two) and (two.dst == one.dst or not same):
                yield from ((one.number, action) for action in _statement(actions, two).actions)

    return {rule: {"F1": f1, "F2": f2, "F3": f3}[rule]}


def _f2_of_own() -> Replaced:
    """F2 for every external action whose destination is the flush's, not only those in Remote."""

    def f2(actions: Actions) -> Pairs:
        for one, two in _po(actions):
            if two.kind == "flush" and one.kind in ("er", "ew", "erw") and one.dst == two.dst:
                yield from ((action, two.number) for action in _statement(actions, one).actions)

    return {"F2": f2}


def _f3_of_own() -> Replaced:
    def f3(actions: Actions) -> Pairs:
        for one, two in _po(actions):
            if one.kind == "flush" and two.kind in ("er", "ew", "erw") and one.dst == two.dst:
                yield from ((one.number, action) for action in _statement(actions, two).actions)

    return {"F3": f3}


def _lo(*, local: bool = True) -> Replaced:
    def lo(actions: Actions) -> Pairs:
        yield from ((a.number, b.number) for a, b in _po(actions) if a.local or not local)

    return {"lo": lo}


def _remote_one(actions: Actions, first: Action, second: Action) -> bool:
    return _is_remote(actions, first) or _is_remote(actions, second)


def _own_one(actions: Actions, first: Action, second: Action) -> bool:
    return not _remote_one(actions, first, second)


PUTS_GETS = (("put", "put"), ("get", "get"))

MUTANTS: dict[str, Replaced] = {
    "R1: the read is atomic": _r1(read=False),
    "R1: the write it reads from is atomic": _r1(first=False),
    "R1: the later write is atomic": _r1(second=False),
    "R1: one location": _r1(same=False),
    "R1: the one write happens before the other": _r1(hb=False),
    "R1: the read is not the later write": _r1_with_itself(),
    "R2: the read is atomic": _r2(False, True),
    "R2: the write is atomic": _r2(True, False),
    "WS: the one write is atomic": _ws(1, True),
    "WS: a write is atomic": _ws(0, True),
    "WS: one location": _ws(2, False),
    "conflict: in parallel": _conflicts(parallel=False),
    "conflict: one location": _conflicts_anywhere(),
    "conflict: one is not atomic": _conflicts(atomic=False),
    "conflict: one not atomic suffices": _conflicts(both=True),
    "conflict: with another action": _conflicts(other=False),
    "C: the read is in conflict": _is_undefined(False, True),
    "C: the write is in conflict": _is_undefined(True, False),
    "repair: no read before its write": _is_hidden(False, True),
    "repair: no read of what is overwritten": _is_hidden(True, False),
    "IR: the first is in Remote": _ir(first=False),
    "IR: the second is in Remote": _ir(second=False),
    "IR: one target": _ir(same=False),
    "IR: another node": _ir(other=False),
    "VPI: puts": _vpi((("get", "get"),)),
    "VPI: gets": _vpi((("put", "put"),)),
    "VPI: not put and get": _vpi((*PUTS_GETS, ("put", "get"))),
    "VPI: not get and put": _vpi((*PUTS_GETS, ("get", "put"))),
    "VPI: not rga": _vpi((*PUTS_GETS, ("rga", "rga"))),
    "GA: er, erw": _without_edge("GA", lambda _, one, two: one.kind != "er"),
    "GA: erw, ew": _without_edge("GA", lambda _, one, two: two.kind != "ew"),
    "CAS: er1, erw": _cas(0),
    "CAS: er2, erw": _cas(1),
    "CAS: erw, ew": _cas(2),
    "CAS: er1, er2 by po alone": _cas(reads=True),
    "F1: the later is local": _flush("F1", local=False),
    "F1: of reads": _without_edge("F1", lambda _, one, two: two.kind != "r"),
    "F1: of writes": _without_edge("F1", lambda _, one, two: two.kind != "w"),
    "F2: one target": _flush("F2", same=False),
    "F2: e is in Remote": _f2_of_own(),
    "F2: the action at the target": _without_edge("F2", _own_one),
    "F2: the actions at the origin": _without_edge("F2", _remote_one),
    "F3: one target": _flush("F3", same=False),
    "F3: e is in Remote": _f3_of_own(),
    "F3: the action at the target": _without_edge("F3", _own_one),
    "F3: the actions at the origin": _without_edge("F3", _remote_one),
    "PG: of puts": _without_edge("PG", lambda actions, one, two: _statement(actions, one).kind != "put"),
    "PG: of gets": _without_edge("PG", lambda actions, one, two: _statement(actions, one).kind != "get"),
    "LO: the first is local": _lo(local=False),
    "LO: later local reads": {"lo": _without_edge("LO", lambda _, one, two: two.kind != "r")["LO"]},
    "LO: later local writes": {"lo": _without_edge("LO", lambda _, one, two: two.kind != "w")["LO"]},
    "LO: later external reads": {"lo": _without_edge("LO", lambda _, one, two: two.kind != "er")["LO"]},
    "LO: later external writes": {"lo": _without_edge("LO", lambda _, one, two: two.kind != "ew")["LO"]},
    "LO: later read-writes": {"lo": _without_edge("LO", lambda _, one, two: two.kind != "erw")["LO"]},
    "LO: later flushes": {"lo": _without_edge("LO", lambda _, one, two: two.kind != "flush")["LO"]},
}
"""By the premise, or by the edges, that are taken out."""


def candidates(model: CoreRma, program: Program, replaced: Replaced | None = None) -> set[Outcome]:
    """The outcomes of all executions, with functions of `rules` replaced."""
    with ExitStack() as stack:
        for name, function in (replaced or {}).items():
            if name in rules.STATIC:
                stack.enter_context(patch.dict(rules.STATIC, {name: function}))
            else:
                stack.enter_context(patch.object(rules, name, function))
        frame: Frame = model.frame(program)
        return {candidate.outcome for candidate in frame.candidates()}
