"""The numbers of nodes that a C program is meant for: on others it ends before it communicates, as behind
`if (size != 3) exit(1);`, or names a rank that is not there.

What the program is on one number of nodes shows whether that is doubtful (`doubt`). Only then it is lowered for others,
each rank followed, and compared with the first one on which nothing is doubtful.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pgasrob.diagnostics import SourceError
from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.c.world import Budget
from pgasrob.program import core
from pgasrob.program.commands import Assert, Assign, Assume, Barrier, Command, Exit
from pgasrob.program.count_note import CountNote, WhyNot
from pgasrob.program.expressions import Const
from pgasrob.program.program import Program
from pgasrob.program.statements import Body, Do, FlowGraph, Span, Statement, statements_in

if TYPE_CHECKING:
    from pgasrob.frontends.c.compiled import Compiled
    from pgasrob.frontends.c.followed import Followed, Taken

FEWEST, MOST = 2, 8
"""The numbers of nodes among which one is chosen."""
MOST_INSTRUCTIONS = 10_000_000
"""So many may be executed to choose it: some seconds. Who executes more is asked about the number that is given."""
LOCAL = (Assign, Assume, Assert, Barrier, Exit)
"""Commands without accesses to memory, of which there are many."""
ABOUT_A_CALL = frozenset((Wrong.RANK, Wrong.ARGUMENT, Wrong.BOUNDS, Wrong.ELSEWHERE))
"""The codes of errors in the arguments of calls: ranks that are not there are among them."""

ALONE = {
    "shmem_init", "shmem_finalize", "shmem_my_pe", "shmem_n_pes", "shmem_fence", "shmem_quiet", "shmem_barrier_all",
    "shmem_sync_all", "shmem_global_exit", "shmem_malloc", "shmem_calloc", "shmem_free",
    "MPI_Init", "MPI_Finalize", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Barrier", "MPI_Abort", "MPI_Alloc_mem",
    "gaspi_proc_init", "gaspi_proc_term", "gaspi_proc_rank", "gaspi_proc_num",
}  # fmt: skip
"""Functions of APIs that access no memory of another rank, by far the most usual ones."""


def doubt(program: Program) -> WhyNot | None:
    """What makes it doubtful that ``program``, made of C for its number of nodes, is meant for it; None for nothing."""
    count, named = program.nodes or 0, list(_ranks_in(program))
    if any(isinstance(rank, Const) and not 0 <= rank.value < count for rank in named):
        return "names"
    if not named:
        return "silent"
    if _first_failing(program) is not None:
        return "asserts"
    return "leaves" if _leaving(program) else None


def is_silent(program: Program) -> bool:
    """Whether no rank has a command that accesses the memory of another one."""
    return not any(True for _ in _ranks_in(program))


def keeps_to_itself(compiled: Compiled) -> bool:
    """Whether a program names, beside its own functions, only those of the C library and :data:`ALONE`: then it is
    silent on every number of nodes."""
    from pgasrob.frontends.c.library import LIBRARY
    from pgasrob.frontends.c.values import Code
    from pgasrob.frontends.nothing_checked import named

    own = compiled.unit.functions
    objects = [
        *compiled.unit.objects.values(),
        *(each for function in own.values() for each in function.objects.values()),
    ]
    names = {name for function in own.values() for name, _ in named(function)}
    names |= {value.name for each in objects for _, value, _ in each.initial if isinstance(value, Code)}
    return all(name in ALONE or LIBRARY.handler(name) is not None for name in names - own.keys())


def _ranks_in(program: Program) -> Iterator[object]:
    """The ranks whose memory the commands of ``program`` access."""
    for process in program.processes:
        for command in _commands(statements_in(process.body)):
            yield from named_ranks(command)


def _leaving(program: Program) -> list[int]:
    """The ranks by whose ends the program leaves with a failure: all of them, or some that end all others."""
    ends = {rank: [each for each in program.ends if each.rank == rank] for rank in range(program.nodes or 0)}
    refusing = [rank for rank, own in ends.items() if own and all(end.early and end.refuses for end in own)]
    of_all = [rank for rank in refusing if all(end.of_all for end in ends[rank])]
    return refusing if len(refusing) == len(ends) else of_all


def _commands(statements: Iterator[Statement]) -> Iterator[Command]:
    return (each.command for each in statements if isinstance(each, Do))


def named_ranks(command: Command) -> Iterator[object]:
    """The ranks whose memory ``command`` accesses, where it names them."""
    if not isinstance(command, LOCAL):
        for access in core.accesses_of(core.lower(command)):
            if access.cell.rank is not None:
                yield access.cell.rank


class Fitting:
    """Finds out whether the program ``compiled`` is meant for a number of nodes, and else for which it is."""

    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled
        self._others: dict[int, tuple[Program, dict[int, Followed]] | SourceError] = {}
        self._further: int | None = None
        self._searched = False
        self._budget = Budget(MOST_INSTRUCTIONS)

    def lowered(self, nodes: int) -> Program | None:
        """The program on so many nodes, if it was lowered for them here."""
        found = self._others.get(nodes)
        return found[0] if isinstance(found, tuple) else None

    @property
    def further(self) -> int | None:
        """The least number of nodes from :data:`FEWEST` to :data:`MOST` on which nothing is doubtful."""
        if not self._searched and not keeps_to_itself(self._compiled):
            fine = (nodes for nodes in range(FEWEST, MOST + 1) if self._is_fine(nodes))
            self._further = next(fine, None)
        self._searched = True
        return self._further

    def _is_fine(self, nodes: int) -> bool:
        if self._budget.left <= 0:
            return False
        found = self._on(nodes, self._budget)
        return isinstance(found, tuple) and doubt(found[0]) is None

    def _on(self, nodes: int, budget: Budget | None = None) -> tuple[Program, dict[int, Followed]] | SourceError:
        """The program on so many nodes, with what its ranks do."""
        from pgasrob.frontends.c.driver import lower

        if nodes not in self._others:
            followed: dict[int, Followed] = {}
            try:
                self._others[nodes] = lower(self._compiled, nodes, followed=followed, budget=budget), followed
            except SourceError as error:
                self._others[nodes] = error
        return self._others[nodes]

    def note_on_error(self, nodes: int, error: SourceError) -> CountNote | None:
        """Why the program, which is none on so many nodes by an ``error`` in a call, is meant for others; None where no
        other number of nodes is better, or the error is another one."""
        first = error.diagnostics[0]
        if first.code not in ABOUT_A_CALL or self.further is None:
            return None
        line = Span(first.line, first.column, first.line, first.column + first.length)
        return CountNote(nodes, "error", line, first.message, further=self.further)

    def note(self, program: Program) -> CountNote | None:
        """Why ``program``, lowered for its number of nodes, is not meant for it; None where nothing is doubtful, or
        where no number of nodes is known on which that is otherwise."""
        nodes, why = program.nodes, doubt(program)
        if why is None or nodes is None or nodes == self.further:
            return None
        if self.further is None:
            return _ends_at_once(program) if why == "silent" else None
        here, there = self._on(nodes), self._on(self.further)
        assert isinstance(here, tuple) and isinstance(there, tuple)
        found = _compared(why, program, here[1], there[1])
        return found and replace(found, further=self.further)


def _compared(why: WhyNot, program: Program, here: dict[int, Followed], there: dict[int, Followed]) -> CountNote | None:
    """Why ``program`` is not meant for its number of nodes, by what ranks do ``here`` and ``there``, on a number on
    which nothing is doubtful."""
    source, nodes = program.source, program.nodes or 0
    if why == "names":
        command, rank = next(_missing(program))
        return CountNote(nodes, why, command.span, source.piece(command.span), rank)
    failing = _first_failing(program)
    if failing is not None:
        return CountNote(nodes, "asserts", failing, source.piece(failing))
    leaving = _leaving(program)
    for rank in leaving if why == "leaves" else range(nodes):
        if rank not in there:
            break
        branch = _last_difference(here[rank], there[rank])
        if branch is None or (why == "leaves" and not _ends_behind(here[rank], branch)):
            continue
        alone = rank if why == "leaves" and len(leaving) < nodes else None
        kind: WhyNot = "leaves" if why == "leaves" or all(end.early for end in program.ends) else "silent"
        text = source.piece(branch.span)
        text = f"case {text}" if text.isdecimal() else text  # a constant tells nothing apart but in a `switch`
        return CountNote(nodes, kind, branch.span, text, alone, why == "leaves")
    return (_ends_at_once(program) or CountNote(nodes, "silent")) if why == "silent" else None


def _ends_at_once(program: Program) -> CountNote | None:
    """That all ranks of ``program`` leave and no rank accesses the memory of another one; None where one goes on to the
    end of the text."""
    ends = program.ends
    if not ends or not all(end.early for end in ends):
        return None
    span = ends[0].span
    return CountNote(program.nodes or 0, "leaves", span, program.source.piece(span))


def _missing(program: Program) -> Iterator[tuple[Do, int]]:
    """The commands that name a rank that is not there, with that rank."""
    for process in program.processes:
        for each in statements_in(process.body):
            for rank in named_ranks(each.command) if isinstance(each, Do) else ():
                if isinstance(rank, Const) and not 0 <= rank.value < (program.nodes or 0):
                    assert isinstance(each, Do)
                    yield each, rank.value


def _first_failing(program: Program) -> Span | None:
    """An assertion that fails on every run of its rank, which has neither communicated nor branched by then."""
    for process in program.processes:
        for each in _beginning(process.body):
            if not isinstance(each, Do) or any(True for _ in named_ranks(each.command)):
                break
            if each.command == Assert(Const(0)):
                return each.span
    return None


def _beginning(body: Body) -> Iterator[Statement]:
    """The statements of ``body`` up to its first branch."""
    if not isinstance(body, FlowGraph):
        yield from body.statements
        return
    pieces, seen = {each.label: each for each in body.pieces}, set[str]()
    label = body.pieces[0].label if body.pieces else ""
    while label in pieces and label not in seen:
        seen.add(label)
        yield from pieces[label].statements
        label = pieces[label].goes_to[0] if len(pieces[label].goes_to) == 1 else ""


def _last_difference(here: Followed, there: Followed) -> Taken | None:
    """The last branch that a rank takes ``here`` otherwise than ``there``, where it comes to the same place as often;
    None where there is none."""
    taken = {(each.function, each.place, number): each.holds for each, number in _numbered(there.taken)}
    found = None
    for each, number in _numbered(here.taken):
        if taken.get((each.function, each.place, number), each.holds) != each.holds:
            found = each
    return found


def _numbered(taken: Sequence[Taken]) -> Iterator[tuple[Taken, int]]:
    """The branches, each with the number of times that its place has been passed before."""
    passed: Counter[tuple[str, int]] = Counter()
    for each in taken:
        place = each.function, each.place
        yield each, passed[place]
        passed[place] += 1


def _ends_behind(rank: Followed, branch: Taken) -> bool:
    """Whether ``rank`` does nothing but end behind ``branch``: it does not communicate."""
    behind: Sequence[Statement] = rank.statements[branch.written :]
    return not any(True for command in _commands(statements_in(behind)) for _ in named_ranks(command))
