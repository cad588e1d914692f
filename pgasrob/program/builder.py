"""Builds a program from the grammar's rules, and checks names, bounds and all else that the grammar cannot.

A public method of ``ExpressionRules``, ``StatementRules`` or ``DeclarationRules`` with the name of a rule in
``grammar.lark`` is the action of that rule. It takes the rule's named terminals and the results of its parts, and is
called bottom up, in the order of the text. :class:`Builder` assembles the program from their results.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.program.declaration_rules import DeclarationRules
from pgasrob.program.expression_rules import ExpressionRules, Scope, at
from pgasrob.program.program import Program
from pgasrob.program.report import Report, short
from pgasrob.program.statement_rules import StatementRules
from pgasrob.program.vocabulary import KEYWORDS


class Builder:
    """Builds one program, and reports what is wrong with it."""

    def __init__(self, report: Report) -> None:
        self.scope = Scope(report)
        self._statements = StatementRules(self.scope)
        self._declarations = DeclarationRules(self.scope, self._statements.processes)
        self._forgiven: set[str] = set()
        rules = (ExpressionRules(self.scope), self._statements, self._declarations)
        self.actions: dict[str, Callable[..., Any]] = {"file": self.file}
        """The actions by rule, which build the result of a rule from its parts."""
        for each in rules:
            self.actions |= {name: getattr(each, name) for name in vars(type(each)) if not name.startswith("_")}

    def file(self, *_: object) -> None:
        if not self._statements.processes and not self._statements.lost:
            hint = "add `process { ... }`, which every rank runs"
            self.scope.report.add("PG034", "there is no process block", hint=hint)

    def finish(self) -> None:
        """Report the names that have no declaration, neither before nor after, each at its first place."""
        seen = set(self._forgiven)
        declared = self.scope.declared
        for token, hint in sorted(self.scope.unknown, key=lambda unknown: unknown[0].start_pos or 0):
            name = token.value
            if name in declared or name in seen:
                continue
            seen.add(name)
            likely = did_you_mean(name, declared)
            advice = likely or hint or "declare it with `memory`, `register` or `queue` before the processes"
            self.scope.report.add("PG050", f"unknown name `{short(name)}`", at(token), advice)

    def program(self) -> Program:
        """The program, when the whole text has been read and nothing was wrong."""
        found, source = self._declarations.found, self.scope.report.source
        return Program(
            found.name or _default_name(source.file),
            found.nodes,
            tuple(found.memory),
            tuple(found.registers),
            tuple(found.queues),
            tuple(self._statements.processes),
            source,
        )

    def forgive(self, name: str) -> None:
        """Do not report ``name`` as unknown: it is in a declaration that could not be read."""
        self._forgiven.add(name)

    def knows(self, name: str) -> bool:
        return name in self.scope.names


def _default_name(file: str) -> str:
    """The name of a program without a header: that of its file, made legal."""
    if file.startswith("<"):
        return "unnamed"
    name = re.sub(r"[^A-Za-z0-9_]", "_", Path(file).stem)
    return f"_{name}" if name in KEYWORDS or not name or name[0].isdigit() else name
