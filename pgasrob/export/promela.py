"""Prints the question whether an instance is robust as a Promela model for SPIN.

The attack search (`reference.attack`) looks for a sequentially consistent run, with a guess of the delayed source and a
few bits beside it, that reaches a command which closes the cycle. So the program with these bits can be printed for any
model checker of interleaving programs. The model resembles one written by hand:

- a process per rank, a command one transition, control states by labels and `goto`, ranks and addresses folded;
- a bit per cell and way of access (read, write, each kind of update that commutes) or per queue only where some command
  can set it and another can ask for it, the smallest types that hold the values, nothing stored that nobody reads;
- what only the rank itself can see (registers, what of its queues is delayed) is local to the process, so that SPIN's
  partial-order reduction and statement merging know it;
- the arrival at a barrier belongs to the command before it and the meeting to the last arrival, so that barriers cost
  neither states nor transitions;
- an operand that depends on registers becomes one alternative for each of its values;
- values that 32 bits do not hold, doubles among them, are embedded C.

A violation is the assertion `assert(false)`, which the search for safety errors finds. A command that faults is not
enabled. With ``moves`` every transition prints its move when a trail is replayed, by which the trail is understood
(`robustness.spin`); without, the model is shorter and SPIN some percent faster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pgasrob.export.processes import Process
from pgasrob.export.promela_expressions import DECLARATIONS, OLD, Unsupported
from pgasrob.export.promela_statements import Lines, branch, comment, indented, set_bits, wrapped
from pgasrob.export.tables import Tables
from pgasrob.program.control import Transition
from pgasrob.program.instance import Instance

__all__ = ["STATE_BYTES", "Model", "Unsupported", "promela_model", "to_promela"]

STATE_BYTES = 1_024
"""The default size of a state in SPIN."""
EMBEDDING = ("-o1", "-o2")
"""How SPIN is run on embedded C: it does not see the variables there, so it is not to forget any."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model and how to read its trails.

    ``text``: the Promela text. ``edges``: the transitions of the control automata, rank by rank; a move names them by
    their place. ``before``: moves that the model does not make because they come first in every run. ``bytes``: not
    less than what SPIN needs for a state. ``options``: options that SPIN needs besides `-a`.
    """

    text: str
    edges: tuple[Transition, ...]
    before: tuple[str, ...]
    bytes: int
    options: tuple[str, ...]


def to_promela(instance: Instance) -> str:
    """The Promela model of ``instance``: SPIN finds an error in it exactly when the instance is not robust.

    Raises :class:`Unsupported` where an exact model cannot be given.
    """
    for gap in instance.program.gaps:
        raise Unsupported(f"not all of its runs are known: {gap}")
    return promela_model(instance, moves=False).text


def promela_model(instance: Instance, moves: bool = True) -> Model:
    """The Promela model of ``instance`` with what it takes to understand its trails."""
    tables = Tables(instance)
    starts, waiting, before = tables.starts()
    processes = [Process(tables, rank, start, moves) for rank, start in enumerate(starts)]
    written = [line for process in processes for line in process.lines()]
    body = [*_declarations(tables, processes, waiting), *written]
    options: tuple[str, ...] = ()
    if any("c_code {" in line or "c_expr {" in line or line.startswith("c_state") for line in body):
        body, options = [*DECLARATIONS, *body], EMBEDDING
    bits = set().union(*(process.rules.globals for process in processes))
    size = 64 + sum(process.bytes for process in processes) + sum(cell.bytes for cell in tables.stored.values())
    size += 4 * (len(bits) + instance.nodes)
    lines = [*_heading(tables, size, options, moves), *body]
    printed = tuple(f"barrier {rank} {edge}" for rank, edge in before)
    return Model("\n".join(lines) + "\n", tuple(tables.edges), printed, size, options)


def _heading(tables: Tables, size: int, options: tuple[str, ...], moves: bool) -> Lines:
    instance = tables.instance
    sources = [
        f"{number} the {access.commutes or ('write' if access.writes else 'read')} of {instance.cell_name(access.cell)}"
        for access, number in tables.sources.items()
    ]
    room = f" -DVECTORSZ={size}" if size > STATE_BYTES else ""
    spin = " ".join(["spin", *options, "-a"])
    return [
        f"/* {comment(instance.program.name)} on {instance.nodes} nodes: is it robust? Written by pgasrob export.",
        "",
        "   An assertion is violated exactly when it is not. The runs of this model are the sequentially",
        "   consistent runs of the program without the steps that a violation delays, and a violation ends them.",
        "",
        f"     {spin} model.pml && cc -O2 -DSAFETY{room} -fwrapv -o pan pan.c && ./pan -E -m1000000",
        "",
        "   -E: a rank may end, or wait for ever, anywhere. -fwrapv: integers wrap around.",
        "   m_x_0 is the value of cell x of rank 0, r_s the register s. The rest is 0 until a source is chosen:",
        "   source      the first step that is delayed: 0 none",
        *wrapped("               ", sources),
        "   tainted_0   what rank 0 does from now on happens after the source's command",
        "   tr_ tw_     cells that commands which happen after it have read, written",
        "   dr_ dw_     cells that delayed steps read, write",
        *(
            ["   tu_ du_     the same by the kind of update, for kinds that commute with themselves"]
            if instance.update_kinds
            else []
        ),
        "   q_          what of this rank's operations in a queue is delayed: _src reads of sources, _dst writes",
        "               of destinations, _res writes of results, _any any of these, _loc what wait_local waits for,",
        "               _to_1 writes to rank 1, _bound_1 those that a fence puts before later ones",
        "   bundled     a step of this rank's latest bundle is delayed",
        "   at_x_0      a located step of this rank to cell x of rank 0 is delayed",
        "   arrived_0   rank 0 stands in a barrier",
        *(["   A move is printed as rank, transition, and the part of each step: 1 now, 2 delayed."] if moves else []),
        "*/",
        "",
    ]


def _declarations(tables: Tables, processes: list[Process], waiting: Mapping[int, int]) -> Lines:
    initial = tables.instance.memory
    lines = [variable.declaration("Global", initial[cell]) for cell, variable in sorted(tables.stored.items())]
    count = len(tables.sources)
    if count:
        lines.append(f"{_kind(count + 1)} source;")
    if any(OLD.name in process.rules.scratch for process in processes):
        lines.append(f"hidden int {OLD.name};  /* scratch, no part of a state */")
    bits = set[str]().union(*(process.rules.globals for process in processes))
    lines += [f"bit {name};" for name in sorted(bits)]
    if waiting or any(process.has_barriers for process in processes):
        ranks = range(tables.instance.nodes)
        kind = _kind(len(tables.barriers) + 1)
        lines += [f"{kind} arrived_{rank}{f' = {waiting[rank]}' if rank in waiting else ''};" for rank in ranks]
        tainted = [f"tainted_{rank}" for rank in ranks if f"tainted_{rank}" in bits]
        lines += ["", *_meet(ranks, tainted if count else [], named=len(tables.barriers) > 1)]
    return [*lines, ""]


def _kind(values: int) -> str:
    """The smallest type with so many values."""
    return "bit" if values <= 2 else "byte" if values <= 256 else "short"


def _meet(ranks: range, tainted: list[str], named: bool) -> Lines:
    """The statements of the last rank to arrive at a barrier; ``named``: barriers have several names, and numbers."""
    same = " == arrived_0" if named else ""
    arrived = " && ".join(f"arrived_{rank}{same if rank else ''}" for rank in ranks)
    leave = [" ".join(f"arrived_{rank} = 0;" for rank in ranks)]
    leave += branch(["source != 0"], set_bits(tainted), [])
    return [
        "/* A rank has arrived at the barrier; the last one lets all of them go on, tainted if anybody is. */",
        "inline arrive() {",
        *indented(branch([arrived], leave, [])),
        "}",
    ]
