"""Reads C files as programs, which can be lowered for any number of nodes, as `.pgas` files are read by `program`.

How many nodes there are decides what a C program does, so the text is compiled once and lowered for every node count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.display import Displayed
from pgasrob.frontends.options import NO_SHARED_MEMORY, BuildOptions, Flags, FrontEnd, split_arguments
from pgasrob.program.declarations import Source
from pgasrob.program.expectation import COMMENT, node_count
from pgasrob.program.files import DISK, Files
from pgasrob.program.parser import read_source
from pgasrob.program.program import DEFAULT_NODES, Program
from pgasrob.program.reading import DEFAULT_READING, Reading
from pgasrob.stop_points import stop_point

if TYPE_CHECKING:
    from pgasrob.frontends.apis.interface import Api
    from pgasrob.frontends.apis.registry import Registry
    from pgasrob.frontends.c.code import Unit
    from pgasrob.frontends.c.compiled import Compiled
    from pgasrob.frontends.c.driver import Marks
    from pgasrob.frontends.fitting_counts import Fitting
    from pgasrob.program.assumptions import Kind
    from pgasrob.program.count_note import CountNote, Only
    from pgasrob.program.instance import Instance
    from pgasrob.program.outside_memory import Place


def _entry(name: str) -> re.Pattern[str]:
    """Lines of comments that say something under this ``name``. From the first of several blanks on: a try from each of
    them would take very long where there are very many."""
    return re.compile(rf"(?<![ \t*])[ \t*]*+{name}[ \t]*+:(?P<said>[^\r\n]*)")


DIALECT, SHARED, ARGUMENTS = _entry("api"), _entry("shared-memory"), _entry("args")


@dataclass(slots=True, repr=False)
class CProgram(Displayed):
    """A C file; ``instantiate`` lowers it. ``nodes`` is the count that its first comments name."""

    name: str
    nodes: int | None
    source: Source
    compiled: Compiled
    front_end: FrontEnd = field(default_factory=FrontEnd)
    """The options that it was read with."""
    lowered: dict[tuple[int | None, Marks], Program] = field(default_factory=dict)
    """By node count (None: for every count), and what is marked."""
    _fitting: Fitting | None = None
    _chosen: int | None = None
    """The count that was chosen because nobody gave one."""

    def program(self, nodes: int | None = None) -> Program:
        """The program of the calculus on ``nodes`` nodes (`default_count` when None)."""
        return self._lowered(self._count(nodes), "none")

    def for_every_count(self) -> Program:
        """The program of the calculus with `me` and `nodes` in its commands, whatever the number of nodes.

        Where the number is needed only behind a check of it, that on the other numbers every rank leaves is left out.
        Raises :class:`pgasrob.diagnostics.SourceError` where that cannot be said without the number (PG146).
        """
        try:
            return self._lowered(None, "none")
        except SourceError:
            from pgasrob.frontends.c.driver import lower
            from pgasrob.frontends.size_checks import leaving_paths

            if not (leaving := leaving_paths(self.compiled)):
                raise
            with suppress(SourceError):  # what is in the way of the whole program is said then
                program = self._if_it_communicates(lower(self.compiled, None, leaving=frozenset(leaving)))
                if any(leaving.values()):
                    program = replace(program, blind_awaits=True)
                self.lowered[None, "none"] = program
                return program
            raise

    @property
    def _note_on_two(self) -> CountNote | None:
        """Why the program is not meant for 2 nodes."""
        try:
            return self._lowered(DEFAULT_NODES, "none").count_note
        except SourceError as error:
            return self.fitting.note_on_error(DEFAULT_NODES, error)

    @property
    def too_few(self) -> CountNote | None:
        """Why the program is in error on 2 nodes and is not on some more; None where it is not so."""
        note = self._note_on_two
        wrong = note is not None and note.further is not None and note.why in ("names", "error", "asserts")
        return note if wrong else None

    @property
    def only(self) -> Only | None:
        """The numbers of nodes on which the program does more than leave, where these are a few and that is known."""
        from pgasrob.frontends.size_checks import only_counts

        return only_counts(self.compiled)

    def marked(self, nodes: int | None = None) -> Program:
        """The program of the calculus with marks that say which call of MPI each command comes from, for
        `races.mpi`."""
        return self._lowered(self._count(nodes), "calls")

    def rests_on(self, kind: Kind, nodes: int) -> bool:
        """Whether the program on ``nodes`` nodes assumes something of this ``kind``."""
        return any(each.kind is kind for each in self.program(nodes).assumptions)

    def with_places(self, nodes: int, terminal: bool) -> tuple[Program, tuple[Place, ...]]:
        """The program of the calculus in which files, and the ``terminal`` if asked for, are cells that calls access;
        and these cells (:mod:`pgasrob.program.outside_memory`)."""
        from pgasrob.program.outside_memory import with_places

        return with_places(self._lowered(nodes, "outside"), terminal)

    def telling(self, nodes: int) -> CProgram | None:
        """The same program on ``nodes`` nodes, whose commands tell what it shows; None where they tell no more."""
        from pgasrob.frontends.c.display_cells import is_shown
        from pgasrob.frontends.c.driver import lower

        compiled = replace(self.compiled, tells=True)
        if self.compiled.tells or not compiled.displayed.at:
            return None
        with suppress(SourceError):  # there is more to tell than is followed
            program = lower(compiled, nodes)
            if not any(map(is_shown, program.uncertain)):
                program = replace(program, count_note=self.program(nodes).count_note)
                return replace(self, compiled=compiled, lowered={(nodes, "none"): program}, _fitting=None)
        return None

    def strict(self, nodes: int) -> CProgram:
        """The same program on ``nodes`` nodes, in which calls wait wherever they may. Raises
        :class:`pgasrob.diagnostics.SourceError` for what cannot be lowered so."""
        from pgasrob.frontends.c.driver import lower

        compiled = replace(self.compiled, strict=True)
        return replace(self, compiled=compiled, lowered={(nodes, "none"): lower(compiled, nodes)}, _fitting=None)

    @property
    def default_count(self) -> int:
        """The number of nodes where none is asked for: the program's own count; else 2, or, where the program leaves at
        once on 2 nodes or names a rank that is not there, the least one up to 8 on which it does not."""
        if self.nodes is not None:
            return self.nodes
        if self._chosen is None:
            note = self._note_on_two
            self._chosen = DEFAULT_NODES if note is None or note.further is None else note.further
            if note is not None and self._chosen != DEFAULT_NODES:
                chosen = self._lowered(self._chosen, "none")
                note = replace(note, chosen=True, nothing=False)
                self.lowered[self._chosen, "none"] = replace(chosen, count_note=note)
        return self._chosen

    @property
    def fitting(self) -> Fitting:
        """Which numbers of nodes the program is meant for."""
        from pgasrob.frontends.fitting_counts import Fitting

        if self._fitting is None:
            self._fitting = Fitting(self.compiled)
        return self._fitting

    def _count(self, nodes: int | None) -> int:
        """``nodes``, if a program can be on so many: a certificate may name any number."""
        from pgasrob.program.instance import MAX_NODES

        if nodes is not None and not 1 <= nodes <= MAX_NODES:
            message = f"{nodes} nodes, but a program runs on 1..{MAX_NODES}"
            code = "PG031" if nodes < 1 else "PG039"
            raise SourceError([Diagnostic(code, message, self.source.file, hint="choose another node count")])
        return self.default_count if nodes is None else nodes

    def _lowered(self, count: int | None, marks: Marks) -> Program:
        from pgasrob.frontends.c.driver import lower

        if (count, marks) not in self.lowered:
            if count is None:
                self.lowered[count, marks] = self._if_it_communicates(lower(self.compiled, count, marks))
            elif marks != "none":
                self.lowered[count, marks] = lower(self.compiled, count, marks)
            else:
                self.lowered[count, marks] = self._with_note(count)
        return self.lowered[count, marks]

    def _with_note(self, count: int) -> Program:
        """The program on ``count`` nodes, which says why it is not meant for them, if so."""
        from pgasrob.frontends.c.driver import lower
        from pgasrob.frontends.fitting_counts import doubt

        known = None if self._fitting is None else self._fitting.lowered(count)
        try:
            program = known or lower(self.compiled, count)
        except SourceError as error:
            note, first = self.fitting.note_on_error(count, error), error.diagnostics[0]
            if note is None:
                raise
            hint = "; ".join(filter(None, (first.hint, f"on {note.further} nodes there is no such error")))
            raise SourceError([replace(first, hint=hint), *error.diagnostics[1:]]) from None
        note = None if doubt(program) is None else self.fitting.note(program)
        return self._if_it_communicates(program if note is None else replace(program, count_note=note))

    def _if_it_communicates(self, program: Program) -> Program:
        """``program``, which says so where nothing is checked of it."""
        from pgasrob.frontends.fitting_counts import is_silent
        from pgasrob.frontends.nothing_checked import nothing_checked

        if program.moves_data or not is_silent(program):
            return program
        return replace(program, count_note=nothing_checked(self.compiled, program, program.count_note))

    def instantiate(self, nodes: int | None = None, reading: Reading = DEFAULT_READING) -> Instance:
        """The instance on ``nodes`` nodes; raises :class:`pgasrob.diagnostics.SourceError` for what cannot be
        lowered."""
        program = self.program(nodes)
        return program.instantiate(program.nodes, reading)


def load_c(path: str | Path, options: FrontEnd | None = None, files: Files = DISK) -> CProgram:
    """The C program in file ``path``. Raises :class:`pgasrob.diagnostics.SourceError` when it is none."""
    return parse_c(read_source(Path(path), files), str(path), options, files)


def read_c(path: str | Path, options: FrontEnd | None, files: Files) -> None:
    """Read from ``files`` what :func:`load_c` does."""
    # Errors are reported when the file is loaded to be checked.
    with suppress(SourceError):
        load_c(path, options, files)


def parse_c(text: str, file: str = "<string>", options: FrontEnd | None = None, files: Files = DISK) -> CProgram:
    """The C program ``text``; headers, and the further files of ``options``, are read from ``files``."""
    from pgasrob.frontends.apis.registry import Registry
    from pgasrob.frontends.c.compiled import Compiled

    options = options or FrontEnd()
    registry = Registry()
    for name in options.pure:
        _check_pure(name, registry.like(name), file)
    unit = _linked(text, file, options, files, registry)
    apis = {api.name: api for header in unit.headers if (api := registry.by_header(header)) is not None}
    compiled = Compiled(
        unit,
        [*apis.values(), *registry.always()],
        Path(file).stem,
        frozenset((*options.dialects, *_dialects_of(text, file))),
        frozenset(options.pure),
        options.shared_memory or _shared_memory_of(text, file),
        _arguments_of(text, file) if options.arguments is None else options.arguments,
    )
    return CProgram(compiled.name, node_count(text, file), unit.source, compiled, options)


def _linked(text: str, file: str, options: FrontEnd, files: Files, registry: Registry) -> Unit:
    """The file, and those of the further ones that it needs."""
    from pgasrob.frontends.c.compiler import OtherFiles, compile_unit
    from pgasrob.frontends.c.linking import Candidate, Linker

    others = [each for each in options.units if Path(each) != Path(file)]
    pure = frozenset(options.pure)
    build = options.build_options()
    targets = build.targets(file)
    own = _flags(file, build, targets).for_text(text)
    unit = compile_unit(file, text, registry, own, pure, OtherFiles(files, elsewhere=bool(others)))
    if not others:
        return unit
    candidates = [Candidate(each, read_source(Path(each), files), build.targets(each)) for each in others]

    def compiled(each: Candidate) -> Unit:
        flags = _flags(each.file, build, targets).for_text(each.text)
        return compile_unit(each.file, each.text, registry, flags, pure, OtherFiles(files, file, elsewhere=True))

    return Linker(unit, targets, candidates, compiled).linked()


def _flags(file: str, build: BuildOptions, targets: frozenset[str]) -> Flags:
    """The options that ``file`` is compiled with for the ``targets``; an error where there are several."""
    first, *others = build.of(file, targets)
    if others:
        macros = sorted({head for each in others for head, _ in {*each.macros} ^ {*first.macros}})
        by = f", which differ in the macros {', '.join(macros)}" if macros else ""
        message = f"the compilation database has {1 + len(others)} ways to compile this file{by}"
        hint = "leave the database out, and name the file with the -D and -I of one of them"
        raise SourceError([Diagnostic("PG163", message, file, hint=hint)])
    return first


def _check_pure(name: str, api: Api | None, file: str) -> None:
    """A function of ``api``, or one that is called like its functions, is not to be taken for pure."""
    if api is not None:
        near = "" if name in api.functions else did_you_mean(name, api.functions, 0.75)
        hint = f"{near} the header <{api.headers[0]}> has such functions: include it, and leave the option out"
        message = f"`{name}` cannot be assumed to be pure: it is called like a function of an API"
        raise SourceError([Diagnostic("PG162", message, file, hint=hint.strip())])


def _dialects_of(text: str, file: str) -> Iterable[str]:
    """The dialects that the comments at the head of ``text`` name: `// api: gaspi-1.01`."""
    for name in _names(text, DIALECT):
        FrontEnd.check_dialect(name, lambda message, hint: _not_in_head(message, hint, file))
        yield name


def _shared_memory_of(text: str, file: str) -> str:
    """Which ranks share memory, as the comments at the head of ``text`` say: `// shared-memory: all`."""
    said = NO_SHARED_MEMORY
    for said in _names(text, SHARED):
        FrontEnd.check_shared_memory(said, lambda message, hint: _not_in_head(message, hint, file))
    return said


def _arguments_of(text: str, file: str) -> tuple[str, ...] | None:
    """The arguments of the program, as the comments at the head of ``text`` say: `// args: -n 4 out.txt`."""
    said = None
    for match in _head(text, ARGUMENTS):
        said = split_arguments(_said(match), lambda message, hint: _not_in_head(message, hint, file))
    return said


def _names(text: str, entry: re.Pattern[str]) -> Iterator[str]:
    """The names, separated by commas, that the comments at the head of ``text`` list in lines like ``entry``."""
    for match in _head(text, entry):
        yield from filter(None, map(str.strip, _said(match).split(",")))


def _said(match: re.Match[str]) -> str:
    return match["said"].lstrip(" \t").rstrip(" \t*")


def _head(text: str, entry: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """The lines like ``entry`` of the comments at the head of ``text``."""
    end = 0
    while comment := COMMENT.match(text, end):
        stop_point()
        yield from entry.finditer(comment[comment.lastgroup or "line"])
        end = comment.end()


def _not_in_head(message: str, hint: str, file: str) -> None:
    raise SourceError([Diagnostic("PG161", message, file, hint=hint)])
