"""The variables of a run as the explorer shows them: a row for each variable of the source, with its parts by rank."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypedDict

from pgasrob.render import words
from pgasrob.render.run_json import Witness

PARTS = re.compile(r"(.+?)((?:\[\d+\]|\.[A-Za-z_]\w*)*)", re.DOTALL)
"""A cell of an array or a struct: the variable, and which part of it the cell is."""

CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")


class Variable(TypedDict):
    """A variable: its ``name`` in the source, ``where`` it is declared ("" where the name says it), and its ``kind``:
    whether its ``cells`` are "memory" or a "register". ``parts`` says which part of the variable each cell is, and
    ``used`` which of them the run uses, by their places."""

    name: str
    where: str
    kind: str
    cells: list[str]
    parts: list[str]
    used: list[int]


def variables(run: Witness) -> list[Variable]:
    """The variables of ``run``, those in memory first. What is internal to a library or to the translation of C is left
    out, such as the status that a call returns."""
    functions = _functions(run)
    found = [*_in_memory(run, functions), *_in_registers(run, functions)]
    names = [(each["name"], each["where"]) for each in found]
    for each in found:
        if names.count((each["name"], each["where"])) > 1 and each["kind"] == "register":
            each["name"], each["where"] = each["cells"][0], ""
    return found


def _in_memory(run: Witness, functions: frozenset[str]) -> Iterator[Variable]:
    used = {event["address"]["name"] for event in run["computation"] if event["address"]}
    # An await at which a rank stands reads a cell that no event of its own may have touched.
    used |= {
        command["address"]["name"]
        for rank in run["standing"]
        if not rank["ended"]
        for command in rank["next"]
        if command["address"]
    }
    found = dict[str, Variable]()
    for name, made_up in dict.fromkeys((cell["name"], cell.get("made_up", False)) for cell in run["memory"]):
        function, within = _apart(name, functions)
        match = PARTS.fullmatch(within)
        variable, part = match.groups() if match else (within, "")
        if made_up and variable.isidentifier():
            continue
        row = found.setdefault(f"{function}.{variable}", _row(variable, function, "memory"))
        if name in used:
            row["used"].append(len(row["cells"]))
        row["cells"].append(name)
        row["parts"].append(part)
    yield from found.values()


def _in_registers(run: Witness, functions: frozenset[str]) -> Iterator[Variable]:
    names = dict[str, str]()
    used, statuses = set[str](), set[str]()
    for event in run["computation"]:
        if register := event["register"]:
            (statuses if register.get("temporary") else used).add(register["name"])
            names[register["name"]] = words.variable(register)
    for name in run["registers"]:
        if name in run.get("temporaries", ()) or name in statuses - used:
            continue
        function, variable = _apart(name, functions)
        row = _row(names.get(name, variable), function, "register")
        row |= {"cells": [name], "parts": [""], "used": [0] * (name in used)}
        yield row


def _row(name: str, where: str, kind: str) -> Variable:
    return {"name": name, "where": where, "kind": kind, "cells": [], "parts": [], "used": []}


def _functions(run: Witness) -> frozenset[str]:
    """What is called or defined somewhere in the source."""
    texts = (run["source"], *run.get("sources", {}).values())
    return frozenset(name for text in texts for name in CALLED.findall(text))


def _apart(name: str, functions: frozenset[str]) -> tuple[str, str]:
    """The function that a ``name`` such as `acquire.old` begins with, and the rest; "" where it does not."""
    first, dot, rest = name.partition(".")
    return (first, rest) if dot and first in functions else ("", name)
