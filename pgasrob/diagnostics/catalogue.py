"""Reads the catalogue of diagnostic codes: what each means, why it is an error, and an example before and after.

The texts are in `codes/`. Their examples are complete programs or commands, which the tests run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from importlib import resources
from textwrap import fill, indent
from typing import assert_never

from pgasrob.diagnostics.suggestions import closest

WIDTH = 88


class Kind(Enum):
    """Whose fault it is: never does one code stand for a mistake and for a limit."""

    MISTAKE = "of the program, its text, or how pgasrob was called"
    LIMIT = "of pgasrob: the program may be right"
    FAILURE = "of pgasrob, which no example can show"


class Written(Enum):
    """What the examples are: programs in a language, or shell commands where no program alone shows it."""

    PGAS = "pgas"
    C = "c"
    LITMUS = "litmus"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class Entry:
    """A code with its title, one paragraph that explains it, and a wrong and a repaired example."""

    code: str
    title: str
    explanation: str
    wrong: str = ""
    repaired: str = ""
    kind: Kind = Kind.MISTAKE
    written: Written = Written.PGAS

    def __str__(self) -> str:
        parts = [f"{self.code}: {self.title}", fill(self.explanation, WIDTH, break_on_hyphens=False)]
        wrong, repaired = self._headings()
        if self.wrong:
            parts.append(f"{wrong}:\n\n" + indent(self.wrong, "    "))
        if self.repaired:
            parts.append(f"{repaired}:\n\n" + indent(self.repaired, "    "))
        return "\n\n".join(parts)

    def _headings(self) -> tuple[str, str]:
        """What stands above the examples."""
        match self.kind:
            case Kind.MISTAKE:
                return "Wrong", "Repaired"
            case Kind.LIMIT:
                return "Not supported (a limit of pgasrob, not a mistake)", "Supported"
            case Kind.FAILURE:
                return "", "What to report"
            case never:
                assert_never(never)


class UnknownCode(ValueError):
    """Raised for a code that the catalogue does not have."""


def entries(package: str, name: str) -> Iterator[Entry]:
    """Reads the file ``name`` of ``package``: entries begin with ``== code title``, and their parts with ``-- wrong``,
    ``-- repaired``, and how that is written where not as the file is called; ``-- limit`` marks limits."""
    usual = {"c": Written.C, "litmus": Written.LITMUS}.get(name.rpartition("/")[2].partition(".")[0], Written.PGAS)
    text = resources.files(package).joinpath(name).read_text(encoding="utf-8")
    for chunk in ("\n" + text).split("\n== ")[1:]:
        head, *parts = chunk.split("\n-- ")
        first, _, explanation = head.partition("\n")
        code, _, title = first.partition(" ")
        examples, kind, written = {}, Kind.MISTAKE, usual
        for part in parts:
            mark, _, text = part.partition("\n")
            match mark.split():
                case [("wrong" | "repaired") as which, *language]:
                    examples[which] = text.strip("\n")
                    written = Written(*language) if language else usual
                case [mark]:
                    kind = Kind[mark.upper()]
        yield Entry(code, title, " ".join(explanation.split()), **examples, kind=kind, written=written)


def explain(code: str) -> str:
    """The entry of ``code`` as text; case does not matter, and the letters may be left out (`explain("21")`).

    Raises :class:`UnknownCode`, with the code that was most likely meant.
    """
    given = wanted = code.strip().upper()
    if number := re.fullmatch(r"(?:PG)?([0-9]{1,9})", wanted):
        wanted = f"PG{int(number[1]):03}"
    if wanted in CATALOGUE:
        return str(CATALOGUE[wanted])
    close = _closest(given)
    meant = f"did you mean {close}?" if close else f"codes run from {min(CATALOGUE)} to {max(CATALOGUE)}"
    raise UnknownCode(f"there is no code {code.strip()!r}; {meant}")


def _closest(given: str) -> str | None:
    """The code that is most like ``given``; of several the one that begins like it, or the first."""
    from difflib import SequenceMatcher

    if closest(given, CATALOGUE) is None:
        return None
    return max(CATALOGUE, key=lambda code: (SequenceMatcher(None, code, given).ratio(), given.startswith(code)))


def known_codes() -> list[str]:
    """All codes of the catalogue, in order."""
    return sorted(CATALOGUE)


CATALOGUE = {
    entry.code: entry for about in ("language", "c", "litmus") for entry in entries(__package__, f"codes/{about}.txt")
}
