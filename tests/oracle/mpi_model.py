"""The MPI-3 memory model a second time: relations as plain sets of pairs, over programs that are lists of statements.

Written from the paper (Hoefler et al., TOPC 2014, section 3) and the table of readings alone, for comparison with
`pgasrob.races.mpi`. Every execution is found by running the statements in every order; the relations are found by
applying all rules until nothing is new, on all pairs of actions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

ACCUMULATES = ("acc", "gacc", "cas")
FLUSHES = ("flush", "flush_all")
LOCAL_FLUSHES = ("flush_local", "flush_local_all")


@dataclass(frozen=True)
class Statement:
    """``what``: load, store, poll; put, get, acc, gacc, cas; fence, lock, lock_all, unlock, unlock_all, flush,
    flush_all, flush_local, flush_local_all, request, win_sync, post, start, complete, wait; barrier, send, recv;
    ragpoll, a loop of an atomic read and a flush.

    ``cell``: of the statement's own rank for load, store and poll, at the ``target`` for communication; ``buffer``: at
    the origin, ``result`` where an atomic has another one. ``op``: sum, replace or no_op, or `exclusive` of a lock.
    ``group``: of post, start. ``number``: which barrier, fence or message it is; of communication and of request the
    request, 0 where there is none.
    """

    what: str
    target: int = -1
    cell: str = ""
    buffer: str = ""
    result: str = ""
    op: str = ""
    group: tuple[int, ...] = ()
    number: int = 0


Program = Sequence[Sequence[Statement]]
Node = tuple[object, ...]
Pairs = set[tuple[Node, Node]]

RMA = ("put", "get", *ACCUMULATES, "ragpoll")
WINDOW = ("x", "y")
"""The cells of the window; all others are local variables of a rank."""


def is_window(cell: str) -> bool:
    return cell in WINDOW


@dataclass(frozen=True)
class Run:
    """What of a run is more than the program: which unlock came before which lock, what polls have read, and which
    accumulates came before which that fetch."""

    locks: frozenset[tuple[tuple[int, int], tuple[int, int]]]
    polled: frozenset[tuple[tuple[int, int], tuple[int, int]]]
    fetched: frozenset[tuple[tuple[int, int], tuple[int, int]]]
    ended: tuple[int, ...]


@dataclass
class State:
    at: tuple[int, ...]
    memory: dict[tuple[int, str], int]
    wrote: dict[tuple[int, str], tuple[int, int] | None]
    held: tuple[tuple[int, int, str], ...] = ()
    released: tuple[tuple[int, int, int, str], ...] = ()
    done: frozenset[tuple[object, ...]] = frozenset()
    locks: frozenset[tuple[tuple[int, int], tuple[int, int]]] = frozenset()
    polled: frozenset[tuple[tuple[int, int], tuple[int, int]]] = frozenset()
    fetched: frozenset[tuple[tuple[int, int], tuple[int, int]]] = frozenset()
    updates: frozenset[tuple[tuple[int, str], tuple[int, int]]] = frozenset()

    def key(self) -> object:
        return (
            self.at, frozenset(self.memory.items()), frozenset(self.wrote.items()), frozenset(self.held),
            frozenset(self.released), self.done, self.locks, self.polled,
            self.fetched, self.updates,
        )  # fmt: skip


def runs(program: Program) -> Iterator[Run]:
    """The runs to their ends, each once."""
    seen: set[object] = set()
    found: set[Run] = set()
    stack = [State((0,) * len(program), {}, {})]
    while stack:
        state = stack.pop()
        if state.key() in seen:
            continue
        seen.add(state.key())
        after = [next for rank in range(len(program)) if (next := step(program, state, rank)) is not None]
        stack += after
        if not after:
            run = Run(state.locks, state.polled, state.fetched, state.at)
            if run not in found:
                found.add(run)
                yield run


def initial(cell: str) -> int:
    return 0 if is_window(cell) or cell == "expected" else 1


def step(program: Program, state: State, rank: int) -> State | None:
    """The state after the next statement of ``rank``; None where there is none or it has to wait."""
    place = state.at[rank]
    if place == len(program[rank]):
        return None
    do = program[rank][place]
    after = State(
        tuple(at + (each == rank) for each, at in enumerate(state.at)), dict(state.memory), dict(state.wrote),
        state.held, state.released, state.done, state.locks, state.polled, state.fetched, state.updates,
    )  # fmt: skip

    def value(owner: int, cell: str) -> int:
        return after.memory.get((owner, cell), initial(cell))

    def write(owner: int, cell: str, new: int, by: tuple[int, int] | None) -> None:
        after.memory[owner, cell] = new
        after.wrote[owner, cell] = by

    def arrived(what: str, *key: object) -> bool:
        return (what, *key) in state.done

    me = (rank, place)
    if do.what in ("gacc", "cas", "ragpoll"):
        after.fetched |= {(by, me) for where, by in state.updates if where == (do.target, do.cell) and by[0] != rank}
    if do.what in ACCUMULATES and do.op != "no_op":
        after.updates |= {((do.target, do.cell), me)}
    match do.what:
        case "store":
            write(rank, do.cell, 1, None)
        case "poll" | "ragpoll":
            owner = rank if do.what == "poll" else do.target
            if value(owner, do.cell) == 0:
                return None
            by = after.wrote.get((owner, do.cell))
            if by is not None and do.what == "poll":
                after.polled |= {(by, me)}
        case "put":
            write(do.target, do.cell, value(rank, do.buffer), me)
        case "get":
            write(rank, do.buffer, value(do.target, do.cell), None)
        case "acc" | "gacc" | "cas":
            old, operand = value(do.target, do.cell), value(rank, do.buffer)
            if do.op == "sum":
                write(do.target, do.cell, old + operand, me)
            elif do.op == "replace":
                write(do.target, do.cell, operand, me)
            elif do.what == "cas":
                write(do.target, do.cell, operand if old == value(rank, "expected") else old, me)
            if do.result:
                write(rank, do.result, old, None)
        case "lock" | "lock_all":
            targets = [do.target] if do.what == "lock" else list(range(len(program)))
            kind = "exclusive" if do.op == "exclusive" else "shared"
            for target in targets:
                for owner, its, held in state.held:
                    if its == target and owner != rank and "exclusive" in (kind, held):
                        return None
                for owner, where, its, held in state.released:
                    if its == target and owner != rank and "exclusive" in (kind, held):
                        after.locks |= {((owner, where), me)}
            after.held += tuple((rank, target, kind) for target in targets)
        case "unlock" | "unlock_all":
            mine = [
                each for each in state.held if each[0] == rank and (do.what == "unlock_all" or each[1] == do.target)
            ]
            after.held = tuple(each for each in state.held if each not in mine)
            after.released += tuple((rank, place, target, kind) for _, target, kind in mine)
        case "barrier" | "fence":
            # All together: the last one who comes takes all of them on.
            others = [place_of(program, each, do) for each in range(len(program))]
            if list(state.at) != others:
                return None
            after.at = tuple(at + 1 for at in state.at)
        case "send" | "post" | "complete":
            after.done |= {(do.what, rank, target, do.number) for target in (do.group or (do.target,))}
        case "recv":
            if not arrived("send", do.target, rank, do.number):
                return None
        case "start":
            if not all(arrived("post", target, rank, do.number) for target in do.group):
                return None
        case "wait":
            if not all(arrived("complete", origin, rank, do.number) for origin in do.group):
                return None
    return after


def requests(do: Statement, operation: Statement) -> bool:
    """Whether ``do`` waits for the request of an ``operation`` of its rank (2.4)."""
    return do.what == "request" and do.number == operation.number


def place_of(program: Program, rank: int, like: Statement) -> int:
    return next(place for place, do in enumerate(program[rank]) if (do.what, do.number) == (like.what, like.number))


# The relations of one run


@dataclass
class Relations:
    program: Program
    run: Run
    unified: bool
    nodes: dict[Node, int] = field(default_factory=dict)
    """Every action, with the rank at which it happens."""
    po: Pairs = field(default_factory=set)
    so: Pairs = field(default_factory=set)
    co: Pairs = field(default_factory=set)
    hb: Pairs = field(default_factory=set)

    def __post_init__(self) -> None:
        for rank, statements in enumerate(self.program):
            before: list[Node] = []
            for place, do in enumerate(statements[: self.run.ended[rank]]):
                mine = self.make(rank, place, do)
                self.po |= {(one, other) for one in before for other in mine}
                self.po |= {(one, other) for n, one in enumerate(mine) for other in mine[n + 1 :]}
                before += mine
        self.synchronise()
        self.hb = closure(self.po | self.so)
        self.order()
        self.co = closure(self.co)

    def statement(self, node: Node) -> Statement:
        _, rank, place, *_ = node
        assert isinstance(rank, int) and isinstance(place, int)
        return self.program[rank][place]

    def both(self, one: Node, other: Node) -> None:
        self.so.add((one, other))
        self.co.add((one, other))

    def make(self, rank: int, place: int, do: Statement) -> list[Node]:
        """The actions of a statement; gives those in program order."""
        if do.what in ("load", "store", "poll"):
            self.nodes["l", rank, place] = rank
            return [("l", rank, place)]
        in_order: list[Node] = []
        if do.what in RMA:
            issue, vac = ("r", rank, place), ("v", rank, place)
            self.nodes[issue], self.nodes[vac] = rank, do.target
            self.both(issue, vac)
            for which, node in self.buffers(rank, place, do):
                self.nodes[node] = rank
                self.both(issue, node)
                self.both(*((node, vac) if which == "in" else (vac, node)))
            in_order.append(issue)
        if do.what not in RMA or do.what == "ragpoll":
            begin, end = ("s", rank, place), ("e", rank, place)
            self.nodes[begin] = self.nodes[end] = rank
            self.both(begin, end)
            for target in self.remote(do):
                vas = ("w", rank, place, target)
                self.nodes[vas] = target
                self.both(begin, vas)
                self.both(vas, end)
            in_order += [begin, end]
        return in_order

    def buffers(self, rank: int, place: int, do: Statement) -> Iterator[tuple[str, Node]]:
        """D3."""
        if do.what == "get":
            yield "out", ("b", rank, place, do.buffer, "w")
        elif do.what != "ragpoll":
            if do.op != "no_op":
                yield "in", ("b", rank, place, do.buffer, "r")
            if do.what == "cas":
                yield "in", ("b", rank, place, "expected", "r")
            if do.result:
                yield "out", ("b", rank, place, do.result, "w")

    def remote(self, do: Statement) -> Sequence[int]:
        """The targets of the virtual actions of a synchronisation (3.2.5)."""
        if do.what in ("unlock", "flush", "ragpoll"):
            return [do.target]
        return range(len(self.program)) if do.what in ("unlock_all", "flush_all") else []

    def about(self, do: Statement) -> Sequence[int]:
        """Whose operations a statement completes, at least locally."""
        if do.what in ("unlock", "flush", "flush_local", "ragpoll"):
            return [do.target]
        if do.what in ("unlock_all", "flush_all", "flush_local_all", "fence"):
            return range(len(self.program))
        return do.group if do.what == "complete" else []

    def operations(self) -> Iterator[tuple[int, int, Statement]]:
        for rank, statements in enumerate(self.program):
            for place, do in enumerate(statements[: self.run.ended[rank]]):
                if do.what in RMA:
                    yield rank, place, do

    def synchronise(self) -> None:
        count = len(self.program)
        done = [(r, p, do) for r in range(count) for p, do in enumerate(self.program[r][: self.run.ended[r]])]
        for (r, p, do), (r2, p2, do2) in product(done, done):
            if do.number == do2.number:
                if do.what == do2.what == "fence":  # 3.2.4
                    self.both(("s", r, p), ("e", r2, p2))
                if do.what == do2.what == "barrier":
                    self.so.add((("s", r, p), ("e", r2, p2)))
                if (do.what, do2.what) == ("send", "recv") and (do.target, do2.target) == (r2, r):
                    self.so.add((("s", r, p), ("e", r2, p2)))
                pairs = (("post", "start"), ("complete", "wait"))
                if (do.what, do2.what) in pairs and r2 in do.group and r in do2.group:  # D6
                    self.both(("e", r, p), ("e", r2, p2))
        for (r, p), (r2, p2) in self.run.locks:
            self.so.add((("e", r, p), ("e", r2, p2)))
        for r, p, do in self.operations():
            vac, parts = ("v", r, p), [node for _, node in self.buffers(r, p, do)]
            for later in range(p + (do.what != "ragpoll"), self.run.ended[r]):
                by = self.program[r][later]
                if do.target not in self.about(by) and not requests(by, do):
                    continue
                end = ("e", r, later)
                for part in (("r", r, p), *parts):  # (12), (16), (17), D6
                    self.both(part, end)
                if by.what in ("unlock", "unlock_all", "ragpoll", *FLUSHES):
                    self.both(vac, ("w", r, later, do.target))  # D2
                    break
                if by.what == "fence":
                    for r2, p2, do2 in done:
                        if (do2.what, do2.number) == ("fence", by.number):
                            self.both(vac, ("e", r2, p2))  # D1, D5
                    break
                if by.what == "complete":
                    for r2, p2, do2 in done:
                        if (do2.what, do2.number, r2) == ("wait", by.number, do.target) and r in do2.group:
                            self.both(vac, ("e", r2, p2))  # D6
                    break
        operations = list(self.operations())
        for (r, p, do), (r2, p2, do2) in product(operations, operations):  # (26), D8
            same = (r, do.target, do.cell) == (r2, do2.target, do2.cell)
            if same and p < p2 and not {do.what, do2.what} & {"put", "get"}:
                self.both(("v", r, p), ("v", r2, p2))
        for by, poll in self.run.polled if self.unified else ():  # G9, G10
            self.both(("v", *by), ("l", *poll))
        for by, fetch in self.run.fetched:  # (23)
            self.both(("v", *by), ("v", *fetch))

    def order(self) -> None:
        """The rules for consistency order: what they relate has to be related by happens-before."""
        at_one_rank = (each for each in self.hb if self.nodes[each[0]] == self.nodes[each[1]])
        self.co |= {(one, other) for one, other in at_one_rank if self.rule(one, other)}

    def rule(self, one: Node, other: Node) -> bool:
        """Whether a rule relates two actions of one rank that happens-before relates."""
        kinds = (one[0], other[0])
        local = ("l", "b")
        # (19), D20: l* hb r*
        if one[0] in local and other[0] == "r":
            return True
        # (20), D7
        if self.unified and ((one[0] in local and other[0] == "v") or (one[0] == "v" and other[0] in local)):
            return True
        # (15)
        if set(kinds) == {"v", "w"}:
            return True
        for sync, what, forwards in ((other, one, True), (one, other, False)):
            if sync[0] not in ("s", "e"):
                continue
            call = self.statement(sync).what
            kind = what[0]
            if call in ("fence", "post", "wait") and kind in ("r", "v", *local):  # (9), D6
                return True
            if call == "start" and kind == "r" and not forwards:  # D6
                return True
            if call == "win_sync" and kind in ("v", *local):  # (18)
                return True
            if call in ("lock", "lock_all"):
                if kind in local and not forwards:  # (10)
                    return True
                if kind == "w" and forwards:  # (11)
                    return True
            if (
                call in ("unlock", "unlock_all", "ragpoll", *FLUSHES)
                and kind in local
                and forwards
                and self.writes(what)
            ):
                return True  # (14)
            if not forwards and kind in local and sync[0] == "e" and self.completes_buffer(sync, what):  # (13), G15
                return True
        return False

    def completes_buffer(self, sync: Node, access: Node) -> bool:
        _, rank, place = sync
        do = self.statement(sync)
        cell = self.cell(access)
        for r, p, operation in self.operations():
            cells = {self.cell(node) for _, node in self.buffers(r, p, operation)}
            about = operation.target in self.about(do) or requests(do, operation)
            if r == rank and p <= place and about and cell in cells:
                return True
        return False

    # Accesses

    def cell(self, node: Node) -> tuple[int, str]:
        do = self.statement(node)
        return (self.nodes[node], str(node[3])) if node[0] == "b" else (self.nodes[node], do.cell)

    def writes(self, node: Node) -> bool:
        do = self.statement(node)
        if node[0] == "l":
            return do.what == "store"
        if node[0] == "b":
            return node[4] == "w"
        return do.what not in ("get", "ragpoll") and do.op != "no_op"

    def conflict(self, one: Node, other: Node) -> bool:
        """3.3.1, with D3 and D4."""
        if one[:3][1:] == other[:3][1:] or not (self.writes(one) or self.writes(other)):
            return False
        remote = [node for node in (one, other) if node[0] == "v"]
        same = self.cell(one) == self.cell(other)
        if not remote:
            return same and "b" in (one[0], other[0])
        if len(remote) == 2:
            return same and not all(self.statement(node).what in (*ACCUMULATES, "ragpoll") for node in remote)
        (vac,), (local,) = remote, [node for node in (one, other) if node[0] != "v"]
        if same:
            return True
        anywhere = not self.unified and self.writes(vac) and self.writes(local)
        return anywhere and self.nodes[vac] == self.nodes[local] and is_window(self.cell(local)[1])

    def status(self) -> str:
        """3.3.2; G10."""
        accesses = [node for node in self.nodes if node[0] in ("l", "b", "v")]
        eventual = False
        if self.run.polled and self.unified:
            blind = Relations(self.program, replace(self.run, polled=frozenset()), True)
            eventual = any((("v", *by), ("l", *poll)) not in blind.co for by, poll in self.run.polled)
        for n, one in enumerate(accesses):
            for other in accesses[n + 1 :]:
                if not self.conflict(one, other) or (one, other) in self.co or (other, one) in self.co:
                    continue
                is_poll = any(self.statement(node).what == "poll" for node in (one, other))
                if self.unified and is_poll and "v" in (one[0], other[0]):
                    eventual = True
                else:
                    return "undefined"
        return "eventual" if eventual else "defined"


def closure(pairs: Pairs) -> Pairs:
    after: dict[Node, set[Node]] = {}
    for one, other in pairs:
        after.setdefault(one, set()).add(other)
    changed = True
    while changed:
        changed = False
        for others in after.values():
            more = set().union(*(after.get(other, set()) for other in others)) - others
            if more:
                others |= more
                changed = True
    return {(one, other) for one, others in after.items() for other in others}


def status(program: Program, unified: bool) -> str:
    """defined, eventual or undefined: of all runs."""
    found = {Relations(program, run, unified).status() for run in runs(program)}
    return next(each for each in ("undefined", "eventual", "defined") if each in found)
