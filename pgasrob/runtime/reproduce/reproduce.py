"""Runs a program with the shim so that it follows a counterexample, and compares that with a normal run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pgasrob.program.statements import Line, place_of
from pgasrob.runtime.reproduce.execute import (
    CannotRun,
    Execution,
    Unit,
    build,
    execute,
    interposed_functions,
    library_functions,
)
from pgasrob.runtime.reproduce.rewrite import NAME, Rewriting, Shown, located
from pgasrob.runtime.reproduce.schedule import DELIVER, Entry, Pieces, Schedule, Shim, schedule
from pgasrob.runtime.reproduce.wrappers import SYNCHRONISING, collective, holds
from pgasrob.scratch_folders import scratch_folder

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.instance import Instance
    from pgasrob.program.statements import Span
    from pgasrob.robustness.verdict import EndValue, Verdict, Witness
    from pgasrob.runtime.interposed import Function, Library
    from pgasrob.semantics.replay import Run


MOST_CELLS = 256
"""The greatest number of cells that hold.c reports."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A value that distinguishes the run from SC runs: its value in the ``counterexample``, those ``in_sc`` runs, and
    those in the normal and the reproduced run; None where it was not seen, or without a counterexample."""

    name: str
    rank: int
    line: int | None
    counterexample: int | None
    in_sc: tuple[int, ...]
    normal: int | None
    reproduced: int | None


@dataclass(frozen=True, slots=True)
class Held:
    """An operation that is held back: the ``call`` of ``rank`` in ``line``, until ``until_rank`` has passed
    ``until_line``."""

    rank: int
    line: int
    call: str
    until_rank: int
    until_line: int


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The result. ``shown``: whether each of the ``reproduced`` runs showed what no SC run does, or, where that is
    unknown or invisible, printed something else than the ``normal`` one. ``why_not``: why not, if known. ``values`` are
    those of the first run that did not, or else of the first. ``all_held``: the runs followed no counterexample, but
    held back all operations as long as possible."""

    nodes: int
    library: Library
    normal: Execution
    reproduced: tuple[Execution, ...]
    values: tuple[Compared, ...]
    held: tuple[Held, ...]
    shown: bool
    why_not: str | None = None
    all_held: bool = False


def reproduce(
    program: CProgram,
    verdict: Verdict,
    pieces: Pieces,
    front_end: FrontEnd | None = None,
    runs: int = 1,
    timeout: float = 20,
) -> Reproduction:
    """Follow the counterexample of ``verdict``, which is about ``program``, ``runs`` times.

    Raises ``ToolError`` where that is impossible because of the API or the installed tools.
    """
    library = library_of(program)
    witness = _to_follow(verdict)
    _refuse_threads(witness.run.instance)
    known = library_functions(library)
    interposed = interposed_functions(library, known)
    shim = Shim(pieces, interposed, holds, library == "openshmem", collective, SYNCHRONISING)
    return _Followed(program, verdict, witness, library, front_end).reproduce(shim, known, runs, timeout)


def hold_all(
    program: CProgram, instance: Instance, front_end: FrontEnd | None = None, runs: int = 2, timeout: float = 20
) -> Reproduction:
    """Run ``program`` on the nodes of its ``instance`` normally, and with all operations held back as long as the
    specification allows, then released the newest first and the oldest first in turn. ``shown``: whether the output or
    a global variable at the end differs; ``values`` has these variables. Raises ``ToolError``."""
    library = library_of(program)
    _refuse_threads(instance)
    known = library_functions(library)
    source, nodes = program.source, instance.nodes
    first = Rewriting(source.file, source.text)
    cells = [Shown(number, text) for number, text in enumerate(_global_cells(instance, first))]
    units = [Unit(source.file, first.rewritten((), {}, cells), _flags(front_end, source.file, source.text))]
    for path, text in ((each, source.others[each]) for each in source.units):
        units.append(Unit(path, located(path, text), _flags(front_end, path, text)))
    with scratch_folder() as folder:
        built = replace(build(folder, library, units, nodes, known), arguments=program.compiled.arguments or ())
        normal = execute(built, "watch", "", timeout)
        orders: tuple[dict[str, str], ...] = ({}, {"PGASROB_OLDEST_FIRST": "1"})
        held = tuple(execute(built, "hold", "", timeout, **orders[run % 2]) for run in range(runs))
    if normal.code != 0:
        ending = "does not end" if normal.code is None else f"ends with exit code {normal.code}"
        ending += "".join(f": {line}" for line in normal.errors[:1])
        return Reproduction(nodes, library, normal, held, (), (), False, f"the normal run {ending}", all_held=True)
    values = [
        Compared(f"{cells[number].text}@{rank}", rank, None, None, (), _signed(normal, key), _signed(each, key))
        for each in held
        for key in normal.cells
        if each.code == 0 and each.cells.get(key) != normal.cells[key]
        for number, rank in (key,)
    ]
    differs = bool(values) or any(printed(each) != printed(normal) or each.code != normal.code for each in held)
    return Reproduction(nodes, library, normal, held, tuple(values), (), differs, all_held=True)


def _global_cells(instance: Instance, file: Rewriting) -> list[str]:
    """The cells, as in C, of the variables of the program that ``file`` declares outside functions."""
    found = []
    for memory in instance.program.memory:
        base = NAME.match(memory.name)
        if not memory.made_up and base is not None and file.declares(base[0]):
            found += [instance.program.cell_name(memory.address + cell) for cell in range(memory.cells)]
    return found[:MOST_CELLS]


def _signed(execution: Execution, key: tuple[int, int]) -> int | None:
    data = execution.cells.get(key)
    return None if data is None else int.from_bytes(data, "little", signed=True)


def library_of(program: CProgram) -> Library:
    """The library that ``program`` calls. Raises :class:`CannotRun` for others than OpenSHMEM and MPI."""
    names = [api.name for api in program.compiled.apis]
    if "openshmem" in names:
        return "openshmem"
    if "mpi" in names:
        return "mpi"
    libraries = " and ".join(name.upper() for name in names if name != "C") or "no communication library"
    raise CannotRun(f"{program.source.file} uses {libraries}: runs are reproduced with OpenSHMEM and MPI only")


def _refuse_threads(instance: Instance) -> None:
    if instance.has_threads:
        raise CannotRun("its ranks have several threads: runs are reproduced with ranks of one thread each only")


def _to_follow(verdict: Verdict) -> Witness:
    found = verdict.effect.run if verdict.effect is not None and verdict.effect.run is not None else verdict.witness
    if verdict.verdict != "not robust" or found is None:
        raise CannotRun(f"there is no counterexample: the program is {verdict.verdict}")
    return found


class _Followed:
    """The program as it is built to follow ``witness``."""

    def __init__(
        self, program: CProgram, verdict: Verdict, witness: Witness, library: Library, front_end: FrontEnd | None
    ) -> None:
        self.verdict, self.witness, self.library, self.front_end = verdict, witness, library, front_end
        self.source, self.arguments = program.source, program.compiled.arguments or ()
        paths = {"": program.source.text, **{path: program.source.others[path] for path in program.source.units}}
        self.numbers: set[int] = set()  # of the values that are reported
        self.shown_values: dict[int, list[Shown]] = {}  # by statements
        self.cells: list[Shown] = []
        self.files: dict[str, Rewriting] = {}
        for path, text in paths.items():
            self.files[path] = Rewriting(path or program.source.file, text, 1_000_000 * len(self.files))

    @property
    def run(self) -> Run:
        return self.witness.run

    def statement(self, span: Span) -> int | None:
        file, _ = place_of(span.line)
        rewriting = self.files.get(file)
        found = None if rewriting is None else rewriting.statement(span)
        return None if found is None else found.number

    def reproduce(self, shim: Shim, known: Sequence[Function], runs: int, timeout: float) -> Reproduction:
        values = self.values()
        places = [self.place(value) for value in values]
        turns = schedule(self.run, self.statement, shim, [place for place in places if place is not None])
        self.turns = turns
        self.shown(values, places, turns)
        with scratch_folder() as folder:
            try:
                built = build(folder, self.library, self.units(turns), self.run.instance.nodes, known)
            except CannotRun:
                if not self.numbers:
                    raise
                # A value may have no name where it is read.
                self.numbers, self.shown_values, self.cells = set(), {}, []
                built = build(folder, self.library, self.units(turns), self.run.instance.nodes, known)
            built = replace(built, arguments=self.arguments)
            text = turns.text()
            normal = execute(built, "watch", text, timeout)
            followed = tuple(execute(built, "follow", text, timeout) for _ in range(runs))
            if self.outcome_unknown and any(printed(each) == printed(normal) for each in followed):
                # The counterexample shows no effect to look for, so try to make all operations late instead.
                late = tuple(execute(built, "hold", "", timeout) for _ in range(runs))
                if all(printed(each) != printed(normal) for each in late):
                    nodes = self.run.instance.nodes
                    return Reproduction(nodes, self.library, normal, late, (), (), True, all_held=True)
        each = [self.compared(values, places, turns, normal, one) for one in followed]
        shown = [self.is_shown(compared, normal, one) for compared, one in zip(each, followed, strict=True)]
        last = next((i for i, good in enumerate(shown) if not good), 0)
        why_not = None if all(shown) else self.why_not(normal, followed[last])
        nodes = self.run.instance.nodes
        return Reproduction(
            nodes, self.library, normal, followed, tuple(each[last]), self.held(turns), all(shown), why_not
        )

    @property
    def outcome_unknown(self) -> bool:
        effect = self.verdict.effect
        return effect is None or effect.run is None

    def held(self, turns: Schedule) -> tuple[Held, ...]:
        """The operations that do not happen at their call, with the last turn before they do."""
        calls: dict[int, Entry] = {}
        last: Entry | None = None
        found: dict[int, Held] = {}
        for entry in turns.entries:
            if entry.kind != "S":
                last = entry
                if entry.kind == "C":
                    calls[entry.call] = entry
            elif last is not None and (call := calls[entry.call]) is not last and entry.step != DELIVER:
                found[entry.call] = Held(entry.rank, self.line(call), call.name, last.rank, self.line(last))
        return tuple(found.values())

    def line(self, entry: Entry) -> int:
        return self.run.events[entry.events[0]].span.line

    def values(self) -> list[EndValue]:
        """The values to compare: those that no SC run has, or else those that the loads of the cycle see."""
        from pgasrob.robustness.verdict import EndValue

        effect = self.verdict.effect
        if effect is not None and effect.run is not None:
            return list(effect.values)
        found = {}
        for edge in self.witness.cycle or ():
            for place in edge[:2]:
                replayed = self.run.events[place]
                event = replayed.event
                if event.kind == "load" and event.cell is not None and replayed.read is not None:
                    name = self.run.instance.cell_name(event.cell)
                    found[place] = EndValue(name, event.rank, replayed.read, (), event.occurrence)
        return list(found.values())

    def place(self, value: EndValue) -> int | None:
        """The event that reads ``value``."""
        if value.occurrence is None:
            return None
        of = [
            place
            for place, replayed in enumerate(self.run.events)
            if not replayed.event.is_step
            and (replayed.event.rank, replayed.event.occurrence) == (value.rank, value.occurrence)
        ]
        return of[-1] if of else None

    def shown(self, values: Sequence[EndValue], places: Sequence[int | None], turns: Schedule) -> None:
        """Note in the schedule and in the sources which values are to be reported."""
        for number, (value, place) in enumerate(zip(values, places, strict=True)):
            text = value.name.rpartition("@")[0] or value.name
            base = NAME.match(text)
            if base is None or number > 29:
                continue
            if place is None:
                if self.files[""].declares(base[0]):
                    self.numbers.add(number)
                    self.cells.append(Shown(number, text))
                continue
            entry = turns.of.get(place)
            if entry is None or entry.kind != "P":
                continue
            if base[0] in self.names(entry.statement):
                self.numbers.add(number)
                entry.shown.append(number)
                self.shown_values.setdefault(entry.statement, []).append(Shown(number, text))

    def names(self, number: int) -> set[str]:
        for rewriting in self.files.values():
            for statement in rewriting.statements.values():
                if statement.number == number:
                    return rewriting.names(statement)
        return set()

    def units(self, turns: Schedule) -> list[Unit]:
        reported = {entry.statement for entry in turns.entries if entry.kind == "P"}
        return [
            Unit(
                rewriting.path,
                rewriting.rewritten(reported, self.shown_values, self.cells if not path else ()),
                _flags(self.front_end, rewriting.path, rewriting.text),
            )
            for path, rewriting in self.files.items()
        ]

    def compared(
        self,
        values: Sequence[EndValue],
        places: Sequence[int | None],
        turns: Schedule,
        normal: Execution,
        followed: Execution,
    ) -> list[Compared]:
        found = []
        for number, (value, place) in enumerate(zip(values, places, strict=True)):
            entry = None if place is None else turns.of.get(place)
            seen = [self.seen(number, value, entry, execution) for execution in (normal, followed)]
            line = None if place is None else self.run.events[place].span.line
            found.append(Compared(value.name, value.rank, line, value.value, value.in_sc, *seen))
        return found

    def seen(self, number: int, value: EndValue, entry: Entry | None, execution: Execution) -> int | None:
        """The value in ``execution``; None where it was not reported."""
        data = None
        if entry is not None and entry.kind == "C":
            data = execution.called.get(entry.call)
        elif number in self.numbers and value.occurrence is None:
            data = execution.cells.get((number, value.rank))
        elif number in self.numbers:
            data = execution.read.get(number)
        return None if data is None else _as_in_run(data, value.value)

    def is_shown(self, values: Sequence[Compared], normal: Execution, followed: Execution) -> bool:
        effect = self.verdict.effect
        if effect is not None and effect.assertion is not None:
            return followed.failed_assertion is not None
        if effect is not None and effect.run is not None and values and all(v.reproduced is not None for v in values):
            return all(value.reproduced == value.counterexample for value in values)
        return printed(followed) != printed(normal)

    def why_not(self, normal: Execution, followed: Execution) -> str:
        if normal.code is not None and normal.code > 128 and normal.failed_assertion is None:
            return f"the program crashes in the library when it runs normally: {normal.errors[0]}"
        if followed.stopped_at is not None:
            return f"the library did not go along with the order of the run{self.stuck(followed.stopped_at)}"
        effect = self.verdict.effect
        if effect is not None and effect.kind in ("none found", "none"):
            data = "" if effect.reason is None else f" ({effect.reason})"
            return f"no run is known whose result no sequentially consistent run has{data}"
        return "the run was followed, and what it should show did not show"

    def stuck(self, turn: int) -> str:
        """Why a rank was not ready for its ``turn``, as the end of a sentence."""
        if turn >= len(self.turns.entries):
            return ""
        entry = self.turns.entries[turn]
        own = [each for each in self.turns.entries[:turn] if each.rank == entry.rank and each.kind == "C"]
        if own and collective(own[-1].name):
            return f": rank {entry.rank} did not come back from {own[-1].name} in {_at(self.line(own[-1]))}"
        return f": rank {entry.rank} did not come to {_at(self.line(entry))}"


def _flags(front_end: FrontEnd | None, path: str, text: str) -> tuple[str, ...]:
    """Compiler options for the file ``path`` with this ``text``: macros, folders of headers, files that come first."""
    if front_end is None:
        return ()
    flags = front_end.build_options().of(path)[0].for_text(text)
    macros = [f"-U{name}" if value is None else f"-D{name}={value}" for name, value in flags.macros]
    folders = [f"-I{os.path.abspath(folder)}" for folder in flags.folders]
    folders += [f"-iquote{os.path.abspath(folder)}" for folder in flags.quoted]
    return (*macros, *folders, *(each for file in flags.forced for each in ("-include", os.path.abspath(file))))


def _at(line: int) -> str:
    return str(line) if isinstance(line, Line) else f"line {line}"


def printed(execution: Execution) -> list[list[str]]:
    """What each rank has printed."""
    return [list(lines) for lines in execution.output]


def _as_in_run(data: bytes, value: int) -> int:
    """``data`` as an integer: unsigned if that is the ``value`` in the run, else signed."""
    unsigned, signed = int.from_bytes(data, "little"), int.from_bytes(data, "little", signed=True)
    return unsigned if unsigned == value else signed
