"""Whether an edited program may be seen to do something that the program is not: to files, or on the terminal.

Where it is robust with its files and the terminal as cells, what the network shows is what SC runs show, so displays of
SC runs are compared. Where it is not, and the program is, the network shows more; where neither is, displays of all
runs on the network are compared (`proofs/repair.md`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pgasrob.diagnostics import SourceError
from pgasrob.program.assumptions import Kind
from pgasrob.repairs.displays import END, Difference, Letter, Seen, TooMany, accessors, first_difference
from pgasrob.repairs.edits import Edit, Origins
from pgasrob.repairs.source_statements import Statements

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.program.instance import Instance
    from pgasrob.program.outside_memory import Place
    from pgasrob.program.program import Program
    from pgasrob.program.statements import Span
    from pgasrob.robustness.verdict import Verdict

    Check = Callable[[Program, int], Verdict]

OutputOrder = Literal["kept", "free"]
"""Whether output of several ranks to the terminal keeps its order. Accesses to files do in any case."""
Loosens = Literal["nothing", "network", "all runs"]
"""Where edits may take order away: nowhere, in runs on the network alone, or in SC runs, too."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Why what is seen of an edited program may be new, as a clause; "" where it is not. ``violation``: a run that only
    the network has, of the program with files and the terminal as cells. ``undecided``: a limit left it open."""

    why: str = ""
    violation: Verdict | None = None
    undecided: bool = False


@dataclass(frozen=True, slots=True)
class _Version:
    """A program on some number of nodes, with files and the terminal as cells."""

    program: Program
    places: tuple[Place, ...]
    instance: Instance

    @classmethod
    def of(cls, program: CProgram, count: int, terminal: bool) -> _Version:
        made, places = program.with_places(count, terminal)
        return cls(made, places, made.instantiate(count))

    @property
    def is_shared(self) -> bool:
        """Whether several ranks access a place."""
        return any(len(frozenset().union(*accessors(self.instance, place))) > 1 for place in self.places)

    @property
    def asks(self) -> bool:
        """Whether the program goes by answers of the system, which are not known: with other answers a value may be
        what it could be before."""
        return any(each.kind is Kind.UNKNOWN_VALUES for each in self.program.assumptions)

    @property
    def names(self) -> set[str]:
        """Of the cells that are variables of the source."""
        return {self.instance.program.cell_name(address) for address in self.instance.program.own}


class Watched:
    """What is seen of ``program``, whose text is that of ``statements``, to compare edited programs with."""

    def __init__(self, program: CProgram, statements: Statements, order: OutputOrder, check: Check) -> None:
        self._program, self._statements, self._check = program, statements, check
        self._terminal = order == "kept"
        self._versions: dict[int, _Version] = {}
        self._robust: dict[int, str] = {}
        self._seen: dict[tuple[int, frozenset[str], bool], Seen] = {}

    def compared(self, after: CProgram, text: str, edits: Collection[Edit], count: int, loosens: Loosens) -> Shown:
        """What is seen of ``after``, with the ``text`` that ``edits`` make, on ``count`` nodes."""
        if loosens == "nothing":
            return Shown()
        try:
            if count not in self._versions:
                self._versions[count] = _Version.of(self._program, count, self._terminal)
            before = self._versions[count]
            if not before.places:
                return Shown()
            edited = _Version.of(after, count, self._terminal)
        except SourceError as error:
            why = f"on {count} nodes it is not known what is seen of files and output: {error.diagnostics[0].message}"
            return Shown(why, None, undecided=True)
        on_the_network = False
        if edited.is_shared:
            verdict = self._check(edited.program, count)
            if verdict.verdict == "not robust" and self._verdict(before, count) == "robust":
                return Shown(f"on {count} nodes files or output may be seen in another order on the network", verdict)
            if verdict.verdict != "robust" and self._verdict(before, count) != "not robust":
                return Shown(f"on {count} nodes it is not known what the network shows of files and output", None, True)
            on_the_network = verdict.verdict != "robust"
        if loosens == "network" and not on_the_network:
            return Shown()
        names = frozenset(before.names & edited.names)
        try:
            old = self._of_source(before, count, names, on_the_network)
            new = Seen(edited.instance, edited.places, _origin(text, edits), names, on_the_network, before.asks)
            found = first_difference(new, old)
        except TooMany:
            why = f"on {count} nodes there are too many runs to see that files and output keep their order"
            return Shown(why, None, undecided=True)
        return Shown("" if found is None else f"on {count} nodes {self._difference(found)}")

    def _verdict(self, before: _Version, count: int) -> str:
        if count not in self._robust:
            self._robust[count] = self._check(before.program, count).verdict
        return self._robust[count]

    def _of_source(self, before: _Version, count: int, names: frozenset[str], on_the_network: bool) -> Seen:
        key = count, names, on_the_network
        if key not in self._seen:
            site = _origin(self._statements.text, ())
            self._seen[key] = Seen(before.instance, before.places, site, names, on_the_network, before.asks)
        return self._seen[key]

    def _difference(self, found: Difference) -> str:
        new, place = found.new, found.place.name
        if new == END:
            return f"a run may end before all is written to {place}"
        if any((each.rank, each.site) == (new.rank, new.site) for each in found.old):
            return f"{self._named(new)}, which uses {place}, may come when its rank has read other values than before"
        first = next((each for each in found.old if each.rank not in (new.rank, END.rank)), None)
        if first is None:
            return f"{self._named(new)}, which uses {place}, may come where it did not"
        return f"{self._named(new)} may come before {self._named(first)}, and both use {place}"

    def _named(self, letter: Letter) -> str:
        text = self._statements.text
        name = re.match(r"\w+", text[letter.site :])
        return f"the {name[0] if name else 'call'} of rank {letter.rank} in line {self._statements.line(letter.site)}"


def _origin(text: str, edits: Collection[Edit]) -> Callable[[Span], int]:
    """Where a span of the edited ``text`` begins in the text before the edits."""
    edited, origins = Statements(text, []), Origins(edits)

    def site(span: Span) -> int:
        return origins.of(edited.offset(span.line, span.column))[0] if span.line else 0

    return site
