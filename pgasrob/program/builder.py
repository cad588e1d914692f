"""From the grammar's rules to a program: names, bounds, and what else the grammar alone cannot say.

Every public method of :class:`Builder` that has the name of a rule in ``grammar.lark`` is the action of that rule. It
takes the rule's named terminals and the results of its parts, and is called bottom up, in the order of the text. The
rules are told apart by what they are about: ``expression_rules.py``, ``statement_rules.py``, ``declaration_rules.py``;
here is the program as a whole.
"""

from __future__ import annotations

import re
from pathlib import Path

from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.program.declaration_rules import DeclarationRules
from pgasrob.program.expression_rules import at
from pgasrob.program.program import Program
from pgasrob.program.report import Report, short
from pgasrob.program.vocabulary import KEYWORDS


class Builder(DeclarationRules):
    """Builds one program, and reports what is wrong with it."""

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self._forgiven: set[str] = set()

    def file(self, *_: object) -> None:
        if not self._processes and not self._lost:
            self._report.add("PG034", "there is no process block", hint="add `process { ... }`, which every rank runs")

    def finish(self) -> None:
        """Report the names that have no declaration, neither before nor after, each at its first place."""
        seen = set(self._forgiven)
        for token, hint in sorted(self._unknown, key=lambda unknown: unknown[0].start_pos or 0):
            name = token.value
            if name in self._declared or name in seen:
                continue
            seen.add(name)
            likely = did_you_mean(name, self._declared)
            self._report.add(
                "PG050",
                f"unknown name `{short(name)}`",
                at(token),
                likely or hint or "declare it with `memory`, `register` or `queue` before the processes",
            )

    def program(self) -> Program:
        """The program, when the whole text has been read and nothing was wrong."""
        return Program(
            self._name or _default_name(self._report.source.file),
            self._nodes,
            tuple(self._memory),
            tuple(self._registers),
            tuple(self._queues),
            tuple(self._processes),
            self._report.source,
        )

    def forgive(self, name: str) -> None:
        """``name`` stands in a declaration that could not be read: do not call it unknown."""
        self._forgiven.add(name)

    def knows(self, name: str) -> bool:
        return name in self._names


def _default_name(file: str) -> str:
    """What a program without a header is called: its file, as far as that makes a name."""
    if file.startswith("<"):
        return "unnamed"
    name = re.sub(r"[^A-Za-z0-9_]", "_", Path(file).stem)
    return f"_{name}" if name in KEYWORDS or not name or name[0].isdigit() else name
