"""Checks the lines of a litmus text that allow and forbid outcomes, and makes its expectations of them."""

from __future__ import annotations

from collections.abc import Iterable

from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.models.litmus.expected_outcomes import VARIANTS, Expectation, settings
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.litmus.syntax import Text
from pgasrob.models.model_table import known, of_others
from pgasrob.program.report import Report, short
from pgasrob.program.statements import Span


def expectations(text: Text, program: Program, report: Report) -> tuple[Expectation, ...]:
    """The lines of expectations of ``text`` about its ``program``; what is wrong goes into ``report``."""
    found: dict[tuple[tuple[tuple[str, object], ...], tuple[tuple[str, str], ...]], Expectation] = {}
    for line in text.lines:
        models = tuple(_model(name, words, span, report) for name, words, span in line.models)
        seen: set[str] = set()
        for name, _, span in line.values or ():
            if name not in program.names:
                hint = did_you_mean(name, program.names) or f"an outcome has values of {_listed(program.names)}"
                report.add("PG173", f"unknown name `{short(name)}`", span, hint)
            elif name in seen:
                report.add("PG172", f"the value of `{short(name)}` is given twice", span, "drop one of them")
            seen.add(name)
        values = tuple((name, value) for name, value, _ in line.values or ())
        made = Expectation(line.allowed, values, models, line.span)
        for other in found.values():
            if _contradict(made, other):
                hint = f"line {other.span.line} says that it is {'allowed' if other.allowed else 'forbidden'}"
                report.add("PG178", "two lines say the opposite of one outcome", line.span, hint)
        found[(tuple(sorted(values, key=str)), models)] = made
    return tuple(found.values())


def _model(name: str, words: tuple[str, ...], span: Span, report: Report) -> tuple[str, str]:
    """A model with its variant as one text."""
    if name not in VARIANTS:
        hint = did_you_mean(name, VARIANTS) or f"the models are {_listed(VARIANTS)}"
        report.add("PG177", f"there is no model `{short(name)}`", span, hint)
        return name, ""
    entry = known(name)
    rules = entry.rules() if "without" in words else ()
    without = False
    for place, word in enumerate(words):
        if word == "without" and rules:
            without = True
            if words[place + 1 : place + 2] in ((), ("without",)) or words[place + 1] in VARIANTS[name]:
                report.add("PG177", "`without` names no rule", span, f"the rules are {_listed(rules)}")
        elif word in VARIANTS[name]:
            without = False
        elif without and word not in rules:
            what = f"`{name}` has no rule `{short(word)}`"
            others = of_others(word, (name,))
            hint = f"it is a rule of {_listed(others)}" if others else did_you_mean(word, rules, 0.4)
            report.add("PG177", what, span, hint or f"the rules are {_listed(rules)}")
        elif not without:
            hint = did_you_mean(word, VARIANTS[name])
            if word in entry.semantics:
                hint = f"write `{name}` alone: that is the usual semantics"
                if name == "rdma-tso":
                    hint = "write `rdma-tso` alone: lines hold for all of its semantics, which are equal"
            if not hint:
                there = (*VARIANTS[name], *("without",) * ("without" in entry.options))
                hint = f"there is {_listed(there)}" if there else "write the name of the model alone"
            report.add("PG177", f"`{name}` has no variant `{short(word)}`", span, hint)
    return name, " ".join(words)


def _contradict(one: Expectation, other: Expectation) -> bool:
    if one.allowed == other.allowed or one.otherwise or other.otherwise or set(one.values) != set(other.values):
        return False
    if not one.models or not other.models:
        return True
    first, second = ({(name, settings(variant)) for name, variant in each.models} for each in (one, other))
    return bool(first & second)


def _listed(names: Iterable[str]) -> str:
    words = [f"`{short(name)}`" for name in names]
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
