"""Where one rank is in the program while it is executed, and what messages and assumptions say about that place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import cast

from pgasrob.frontends.c import code
from pgasrob.frontends.c.problem import Problem, TryAgain
from pgasrob.frontends.c.snapshots import Frame, State
from pgasrob.frontends.c.symbolic import Rank
from pgasrob.frontends.c.thread_facts import ALIVE, INSIDE, MET, MOST_THREADS, OUTER, TEAM
from pgasrob.frontends.c.values import Address, Code
from pgasrob.frontends.c.world import World
from pgasrob.frontends.options import NO_SHARED_MEMORY
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import Const, Expr
from pgasrob.program.statements import NOWHERE, Span

INTERNAL = frozenset(f"__omp_{each}" for each in ("fork", "join", "barrier", "single", "claim"))
"""What threads do by these until they meet makes no other one wait."""
MOST_INSTRUCTIONS = 200_000_000
"""For one rank in one pass."""


class Position:
    """The state of a rank and its innermost call, which the parts of a machine share.

    ``thread``: which one of the rank it is. ``state`` is replaced where the rank goes on at another branch, ``frame``
    where it calls or returns as well.
    ``instructions`` counts those executed in this pass, ``heads`` how often the head of each loop (function, place) has
    been passed.
    """

    def __init__(self, world: World, rank: Rank, thread: int = 0) -> None:
        self.world = world
        self.facts = world.facts
        self.program = world.program
        self.unit = world.program.unit
        self.rank = rank
        self.me = rank.expr
        self.place: int | None = None
        self.thread = thread
        self.version = world.facts.version
        self.instructions = 0
        self.turns = 0
        self.heads: Counter[tuple[str, int]] = Counter()
        self.state: State
        self.frame: Frame
        self._latest_at = self._latest = NOWHERE

    @contextmanager
    def at_rank(self, place: int) -> Iterator[None]:
        """Be one alone of the ranks that are executed at once, the one at ``place`` among them."""
        rank, self.place = self.rank, place
        self.rank = Rank(Const(rank.numbers[place]))
        self.me = self.rank.expr
        try:
            yield
        finally:
            self.rank, self.me, self.place = rank, rank.expr, None

    def go_to(self, state: State) -> None:
        """The rank goes on from ``state``."""
        self.state, self.frame = state, state.frames[-1]

    @property
    def span(self) -> Span:
        """The source text that is executed; where there is none (a header), the call that leads there."""
        frame = self.frame
        spans = frame.function.spans
        span = spans[frame.pc] if frame.pc < len(spans) else NOWHERE
        if not span.line:
            calls = (caller.function.spans[caller.pc - 1] for caller in self.state.frames[-2::-1])
            span = next((each for each in calls if each.line), NOWHERE)
        if self._latest_at is not span or self._latest.turn != frame.turn:
            self._latest_at = span
            self._latest = Span(span.line, span.column, span.end_line, span.end_column, frame.turn, span.holds)
        return self._latest

    def turn(self) -> None:
        """Number what is executed from here on in this call differently from what was executed there before.

        Raises :class:`Problem` when too many instructions have been executed.
        """
        self.turns += 1
        self.frame.turn = self.turns
        # Every loop and every call comes here, so it is enough to check the limit here.
        budget = self.world.budget
        most = MOST_INSTRUCTIONS if budget is None else budget.left
        if self.instructions > most:
            raise self.too_large(f"{self.rank} executes more than {most:,} instructions")

    @property
    def called(self) -> str:
        """The name of the function that the current instruction calls."""
        call = self.frame.function.code[self.frame.pc]
        assert isinstance(call, code.Call)
        if isinstance(call.function, str):
            return call.function
        pointed = self.frame.slots[call.function]
        if not isinstance(pointed, Code):
            raise Problem("PG140", "it is not known which function is called", "call it by its name")
        return pointed.name

    def whose(self, address: Address) -> Expr | None:
        """The rank in whose memory ``address`` is, which may be this rank if it is no number; None for this rank."""
        owner = address.owner
        if owner is None or isinstance(owner, Expr):
            return owner
        return None if self.rank.each(lambda rank: rank == owner) else Const(owner)

    @property
    def teams(self) -> list[code.Region]:
        """The regions of OpenMP here that several threads may execute, the innermost first."""
        frames = reversed(self.state.frames)
        inner = (each for frame in frames for each in frame.regions(waiting=frame is not self.frame))
        return [each for each in inner if each.parallel]

    @property
    def team(self) -> tuple[int, int]:
        """The size of the team that the thread is in, and the number of its fork; 1 and 0 where there is none."""
        return cast("tuple[int, int]", self.state.notes.get(TEAM, (1, 0)))

    @property
    def interval(self) -> Hashable:
        """Which stretch it is between two places where the team meets."""
        return self.rank.number, self.team[1], self.state.notes.get(MET)

    def does(self, queue: Expr | None = None) -> None:
        """The thread does something before its team meets again: issues an operation in a ``queue``, perhaps."""
        call = self.frame.function.code[self.frame.pc]
        internal = isinstance(call, code.Call) and str(call.function) in INTERNAL
        if self.team[0] > 1 and not internal:
            did = self.facts.threads.busy.setdefault((self.interval, self.thread), {})
            now = queue, cast("str | None", self.state.notes.get(INSIDE))
            if now not in did:
                did[now] = None
                self.facts.changed()

    @property
    def others(self) -> frozenset[int]:
        """The threads of the rank that may run beside this one now."""
        if self.thread:
            return frozenset(range(MOST_THREADS + 1)) - {self.thread}
        if not self.facts.threads.any:
            return frozenset()
        teams = cast("tuple[tuple[int, int], ...]", self.state.notes.get(OUTER, ()))
        size, _ = teams[0] if teams else self.team
        if size > 1 and self.facts.threads.tasks:
            size = MOST_THREADS + 1  # any thread of the team may have made some
        alive = cast("tuple[tuple[int, int, object], ...]", self.state.notes.get(ALIVE, ()))
        return frozenset((*range(1, size), *(thread for thread, _, _ in alive)))

    # What is learned and noted

    @property
    def facts_changed(self) -> bool:
        """Whether a fact was added in this pass, so that there will be another pass."""
        return self.facts.version != self.version

    def rests_on(self, kind: Kind, *about: str) -> None:
        """Note that the translation of the current instruction is right only under an assumption."""
        self.world.assumptions.add(kind, *about, line=self.span.line)

    def rests_on_regions(self, function: code.CompiledFunction) -> None:
        """Note that what is under directives of OpenMP in ``function`` is executed by one thread."""
        for region in function.regions:
            if region.own is not None:
                continue
            self.world.assumptions.add(Kind.THREADS_INDEPENDENT, str(region), line=region.span.line)

    def rests_on_memory(self, about: str) -> None:
        """Note that the current instruction, by ``about``, depends on which ranks share memory."""
        shared = self.program.shared_memory
        if shared == NO_SHARED_MEMORY:
            self.rests_on(Kind.SEPARATE_MEMORY, about)
        else:
            self.rests_on(Kind.SHARED_MEMORY, "all ranks" if shared == "all" else f"blocks of ranks ({shared})")

    def gap(self, what: str) -> None:
        """Note that some runs are left out because of ``what``, an unknown value."""
        self.world.gaps[f"line {self.span.line}: {what}" if self.span.line else what] = None

    def too_large(self, what: str) -> Problem:
        """The error that some limit is exceeded, at the hottest loop. Raises :class:`TryAgain` where a fact of this
        pass may make the program smaller in the next."""
        if self.facts_changed:
            raise TryAgain
        problem = Problem("PG141", what, "verify a smaller case: fewer iterations, or smaller arrays")
        for (name, place), count in self.heads.most_common(1):
            problem.span = self.unit.functions[name].spans[place]
            problem.message += f"; this loop has been passed {count:,} times"
        return problem
