"""That a program is not meant for a number of nodes: on it the program ends before it communicates, or names a rank
that is not there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pgasrob.diagnostics import visible
from pgasrob.program.statements import NOWHERE, Span, place_of

WhyNot = Literal["leaves", "silent", "asserts", "names", "error"]
"""Why a program is not for a number of nodes. ``leaves``: its ranks leave, or one ends the run of all, where another
number of nodes goes on. ``silent``: no rank accesses the memory of another one. ``asserts``: an assertion fails before
any communication. ``names``: a command names a rank that is not there. ``error``: a call is in error."""
Remedy = Literal["arguments", "other arguments", "environment"]
"""What may let a program go further: arguments where none were given, other ones, variables of the environment."""


@dataclass(frozen=True, slots=True)
class CountNote:
    """``why`` a program is not meant for ``nodes`` nodes.

    ``span`` and ``text``: the condition, the assertion, the command or the end that says so; for an error ``text`` is
    its message. ``rank``: the one that is not there, or the one that leaves where the others do not. ``communicated``:
    ranks communicate before that place. ``further``: the least number of nodes that is not so; None where there is none
    up to `frontends.fitting_counts.MOST`. ``chosen``: the program was put on that number, since nobody gave one.
    ``nothing``: nothing was checked, since no rank comes to any of the calls by which ranks communicate; ``remedies``:
    what may help then.
    """

    nodes: int
    why: WhyNot
    span: Span = NOWHERE
    text: str = ""
    rank: int | None = None
    communicated: bool = False
    further: int | None = None
    chosen: bool = False
    nothing: bool = False
    remedies: tuple[Remedy, ...] = ()

    def why_nothing(self) -> str:
        """Why nothing was checked, and what may help, in a clause."""
        on = f"on {self.nodes} node{'s' * (self.nodes != 1)} " if self.further is not None else ""
        file, line = place_of(self.span.line)
        where = f"line {line}{f' of {visible(file)}' if file else ''}, `{visible(self.text)}`"
        if self.why == "leaves":
            what = f"{on}the program ends in {where}, before it communicates"
        else:
            what = f"{on}no rank communicates{f', as it would in {where}' if line else ''}"
        return f"{what}; {self.helps() or 'no number of nodes up to 8 is known to go further'}"

    def helps(self) -> str:
        """What may let the program go further; nothing where that is not known."""
        further = [f"try -n {self.further}"] * (self.further is not None)
        return ", or ".join([*further, *(REMEDIES[each] for each in self.remedies)])


REMEDIES: dict[Remedy, str] = {
    "arguments": "give --args",
    "other arguments": "give other --args",
    "environment": "set in the program what it asks the environment for",
}


@dataclass(frozen=True, slots=True)
class Only:
    """The ``counts`` alone, of all numbers of nodes from 2 on, on which a program does more than leave at once.

    On every other number each rank ends before any communication, by the condition at ``span``, which is ``text``.
    ``waits``: ranks may have to wait for each other at a barrier before.
    """

    counts: tuple[int, ...]
    span: Span
    text: str
    waits: bool = False


@dataclass(frozen=True, slots=True)
class RankEnd:
    """An end of the run of ``rank``, by the call or the `return` at ``span``, or by that of a function at whose end it
    stands, as of `usage()`.

    ``early``: calls stand behind it in the text that are left out so. ``refuses``: it reports a failure: a status other
    than 0, or `abort`. ``of_all``: it ends the runs of all ranks.
    """

    rank: int
    span: Span
    early: bool
    refuses: bool
    of_all: bool
