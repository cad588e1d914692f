"""Loops in the form that OpenMP shares out among threads (5.2, 4.4.1): `for (i = a; i < b; i += c)`."""

from __future__ import annotations

from dataclasses import dataclass

from pgasrob.frontends.c.compiler.scopes import Context
from pgasrob.frontends.c.syntax_tree import Node


@dataclass(frozen=True, slots=True)
class CanonicalLoop:
    """A loop over ``variable``, which it has ``declared`` itself, from ``lower`` on while it is in ``relation`` to
    ``upper``; ``step``: what is added to it each time, None where that is no plain number."""

    name: str
    variable: Node
    declared: bool
    lower: Node
    relation: str
    upper: Node
    step: int | None
    node: Node


_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}


def canonical(context: Context, node: Node) -> CanonicalLoop | None:
    """The loop ``node``, if it has that form."""
    if node.type != "for_statement":
        return None
    initial, condition, update = node.get("initializer"), node.get("condition"), node.get("update")
    if initial is None or condition is None or update is None:
        return None
    declared = initial.type == "declaration"
    if declared:
        initial = initial.get("declarator")
    started = ("init_declarator", "declarator", "value") if declared else ("assignment_expression", "left", "right")
    if initial is None or initial.type != started[0]:
        return None
    variable, lower = initial[started[1]], initial[started[2]]
    while variable.type == "pointer_declarator":
        variable = variable["declarator"]
    condition = context.inside(condition)
    if variable.type != "identifier" or condition.type != "binary_expression":
        return None
    name, relation = context.word(variable), condition["operator"].type
    left, right = condition["left"], condition["right"]
    if not _is(context, left, name):
        left, right, relation = right, left, _TURNED.get(relation, "")
    step = _step(context, update, name)
    if not _is(context, left, name) or relation not in _TURNED or step is None:
        return None
    return CanonicalLoop(name, variable, declared, lower, relation, right, step or None, node)


def _is(context: Context, node: Node, name: str) -> bool:
    return (inner := context.inside(node)).type == "identifier" and context.word(inner) == name


def _step(context: Context, update: Node, name: str) -> int | None:
    """What ``update`` adds to ``name``; 0 where that is no plain number, None where it does something else."""
    update = context.inside(update)
    if update.type == "update_expression" and _is(context, update["argument"], name):
        return 1 if update["operator"].type == "++" else -1
    if update.type != "assignment_expression" or not _is(context, update["left"], name):
        return None
    sign, by = update["operator"].type, context.inside(update["right"])
    if sign == "=" and by.type == "binary_expression" and by["operator"].type in ("+", "-"):
        sign = f"{by['operator'].type}="
        first = _is(context, by["left"], name)
        if not first and (sign == "-=" or not _is(context, by["right"], name)):
            return None
        by = context.inside(by["right" if first else "left"])
    if sign not in ("+=", "-="):
        return None
    text = context.word(by)
    plain = by.type == "number_literal" and text.isdecimal()
    return (int(text) if sign == "+=" else -int(text)) if plain else 0
