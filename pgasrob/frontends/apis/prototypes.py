"""An API's functions as a table: C prototypes, each group with the handler of its calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from pgasrob.frontends.apis.interface import Handler
from pgasrob.frontends.c.types import CType, Field, Struct

H = TypeVar("H", bound=Handler)
NAME = re.compile(r"(\w+)\s*\(")


@dataclass(slots=True)
class Prototypes:
    """Collects ``declarations`` and ``handlers`` by function name; `Api` asks for both by :meth:`declaration` and
    :meth:`handler`."""

    declarations: dict[str, str] = field(default_factory=dict)
    handlers: dict[str, Handler] = field(default_factory=dict)

    def calls(self, prototypes: str) -> Callable[[H], H]:
        """A decorator: the function handles calls of all ``prototypes``, C declarations that end in semicolons."""

        def add(handler: H) -> H:
            self.add(prototypes, handler)
            return handler

        return add

    def add(self, prototypes: str, handler: Handler) -> None:
        for text in prototypes.split(";"):
            if not text.strip():
                continue
            declaration = " ".join(text.split())
            name = NAME.search(declaration)
            assert name is not None, declaration
            self.declarations[name[1]] = f"{declaration};"
            self.handlers[name[1]] = handler

    def alias(self, rename: Callable[[str], str]) -> None:
        """Every function so far under a second name too (a profiling interface)."""
        for name, text in list(self.declarations.items()):
            other = rename(name)
            self.declarations[other] = text.replace(f"{name}(", f"{other}(", 1).replace(f"{name} (", f"{other}(", 1)
            self.handlers[other] = self.handlers[name]

    def declaration(self, name: str, types: tuple[CType, ...]) -> str | None:
        return self.declarations.get(name)

    def handler(self, name: str) -> Handler | None:
        return self.handlers.get(name)


def layout(tag: str, fields: Mapping[str, CType], size_of: Callable[[CType], int]) -> Struct:
    """A struct with every field aligned to its size, as on 64-bit Unix."""
    placed, end, alignment = [], 0, 1
    for name, type in fields.items():
        size = size_of(type)
        end = -(-end // size) * size
        placed.append(Field(name, type, end))
        end += size
        alignment = max(alignment, size)
    return Struct(tag, tuple(placed), -(-end // alignment) * alignment, alignment)
