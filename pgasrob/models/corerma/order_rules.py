"""The rules of coreRMA (Figure 4), each a function with the paper's name.

Most say which actions happens-before orders. Those from IR to LO follow from the program alone; so do CAS-F and CAS-T
but for whether a cas succeeds. R1, R2 and WS also follow from which write each action reads from. C and no-C say what a
read gives. The rules of values in PG, GA, CAS-F and CAS-T are in `program_actions`: without one of these
rules its edges are missing, and the values are what they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from pgasrob.models.corerma.program_actions import Action, Actions, Statement
from pgasrob.models.relations import Rows
from pgasrob.program.bits import members

Pair = tuple[int, int]

RULES = ("R1", "R2", "C", "no-C", "IR", "GA", "CAS-F", "CAS-T", "F1", "F2", "F3", "PG", "LO", "WS", "VPI")
"""In the order of Figure 4. The paper has no name for VPI: it stands for what the customised model for VPI Verbs has
instead of IR."""


# --- What follows from the program -----------------------------------------------------------------------------------


def remote_pairs(actions: Actions) -> Iterator[tuple[Action, Action]]:
    """The premise of IR: remote actions of one process to one other node, in program order."""
    for thread in actions.threads:
        remote = [number for number in thread if actions.statements[actions.statement_of[number]].remote == number]
        for place, earlier in enumerate(remote):
            first = actions.actions[earlier]
            if first.dst != first.src:
                for later in remote[place + 1 :]:
                    if actions.actions[later].dst == first.dst:
                        yield first, actions.actions[later]


def ir(actions: Actions) -> Iterator[Pair]:
    """IR, in-order routing."""
    for first, second in remote_pairs(actions):
        yield first.number, second.number


def vpi(actions: Actions) -> Iterator[Pair]:
    """Section 7: "removing rule IR and imposing ordering between put - put and get - get"."""
    for first, second in remote_pairs(actions):
        if first.kind == second.kind != "erw":
            yield first.number, second.number


def ga(actions: Actions) -> Iterator[Pair]:
    """GA: the actions of an rga come one after the other."""
    for statement in actions.statements:
        if statement.kind == "rga":
            read, update, write = statement.actions
            yield read, update
            yield update, write


def cas(statement: Statement) -> Iterator[Pair]:
    """CAS-F and CAS-T: both reads of a cas before its read-write, and that before its write."""
    expected, new, update, write = statement.actions
    yield expected, update
    yield new, update
    yield update, write


def f1(actions: Actions) -> Iterator[Pair]:
    """F1: a flush before every later local action."""
    for thread, place, flush in _flushes(actions):
        yield from ((flush.number, later) for later in thread[place + 1 :] if actions.actions[later].local)


def f2(actions: Actions) -> Iterator[Pair]:
    """F2: all actions of earlier operations to the node of a flush before it."""
    for thread, place, flush in _flushes(actions):
        for statement in _operations(actions, thread[:place], flush.dst):
            yield from ((action, flush.number) for action in statement.actions)


def f3(actions: Actions) -> Iterator[Pair]:
    """F3: a flush before all actions of later operations to its node."""
    for thread, place, flush in _flushes(actions):
        for statement in _operations(actions, thread[place + 1 :], flush.dst):
            yield from ((flush.number, action) for action in statement.actions)


def pg(actions: Actions) -> Iterator[Pair]:
    """PG: the read of a put or get before its write."""
    for statement in actions.statements:
        if statement.kind in ("put", "get"):
            read, write = statement.actions
            yield read, write


def lo(actions: Actions) -> Iterator[Pair]:
    """LO as in Figure 4: a local action before every later action."""
    for thread in actions.threads:
        for place, number in enumerate(thread):
            if actions.actions[number].local:
                yield from ((number, later) for later in thread[place + 1 :])


def lo_text(actions: Actions) -> Iterator[Pair]:
    """LO as in the text of section 5.3: a local action before every later local action."""
    return ((first, second) for first, second in lo(actions) if actions.actions[second].local)


def _flushes(actions: Actions) -> Iterator[tuple[Sequence[int], int, Action]]:
    """Each flush, with its thread and its place there."""
    for thread in actions.threads:
        for place, number in enumerate(thread):
            if actions.actions[number].kind == "flush":
                yield thread, place, actions.actions[number]


def _operations(actions: Actions, some: Sequence[int], node: int) -> Iterator[Statement]:
    """The operations to ``node`` whose remote actions are among ``some``."""
    for number in some:
        statement = actions.statements[actions.statement_of[number]]
        if statement.remote == number and actions.actions[number].dst == node:
            yield statement


STATIC: dict[str, Callable[[Actions], Iterable[Pair]]] = {
    "IR": ir,
    "GA": ga,
    "F1": f1,
    "F2": f2,
    "F3": f3,
    "PG": pg,
    "LO": lo,
    "VPI": vpi,
}
"""The pairs that a rule orders whatever is read, for all such rules but CAS-F and CAS-T. Of IR and VPI one is in
force."""


# --- What follows from what is read ----------------------------------------------------------------------------------


def both_atomic(actions: Actions, first: int, second: int) -> bool:
    return bool(actions.atomic >> first & actions.atomic >> second & 1)


def r1(actions: Actions, source: Sequence[int], hb: Rows) -> Iterator[Pair]:
    """R1: an atomic read comes before every atomic write to its location that comes after the one it reads from. A
    read-write is not ordered with itself (``source`` is -1 where it is not known yet)."""
    for read in actions.readers:
        write = source[read]
        if write >= 0 and both_atomic(actions, read, write):
            location = actions.actions[write].wloc
            assert location is not None
            later = hb[write] & actions.writers_of[location] & actions.atomic & ~hb[read] & ~(1 << read)
            if later:
                yield from ((read, number) for number in members(later))


def r2(actions: Actions, read: int, write: int) -> bool:
    """R2: an atomic read comes after the atomic write that it reads from."""
    return both_atomic(actions, read, write)


def ws(actions: Actions, hb: Rows) -> Iterator[Pair]:
    """WS: atomic writes to one location are ordered. Those that are not yet."""
    for writers in actions.writers_of:
        atomic = list(members(writers & actions.atomic))
        for place, first in enumerate(atomic):
            for second in atomic[place + 1 :]:
                if not (hb[first] >> second | hb[second] >> first) & 1:
                    yield first, second


# --- What a read gives -----------------------------------------------------------------------------------------------


def conflicts(actions: Actions, ordered: Rows, action: int, location: int) -> int:
    """The other writes to ``location`` that ``action``, an access to it, is in conflict with (section 5.2), as bits.
    ``ordered``: what happens before or after each action."""
    others = actions.writers_of[location] & ~(1 << action | ordered[action])
    return others & ~actions.atomic if actions.atomic >> action & 1 else others


def is_undefined(actions: Actions, ordered: Rows, read: int, write: int) -> bool:
    """The premise of C: ``read`` is in conflict with a write, or ``write``, which it reads from, with another one."""
    location = actions.actions[write].wloc
    assert location is not None
    return bool(conflicts(actions, ordered, read, location) or conflicts(actions, ordered, write, location))


def is_hidden(actions: Actions, hb: Rows, before: Rows, read: int, write: int) -> bool:
    """Whether ``read`` comes before ``write``, or another write between them, one of the three not being atomic.

    The paper has no rule against it (atomic accesses are what R1, R2 and WS are about), so that `x.n = 1; a = x` may
    give 0. With ``repair`` no execution has such a read."""
    location = actions.actions[write].wloc
    assert location is not None
    if hb[read] >> write & 1:
        return not both_atomic(actions, read, write)
    between = hb[write] & before[read] & actions.writers_of[location]
    return bool(between & ~actions.atomic if both_atomic(actions, read, write) else between)
