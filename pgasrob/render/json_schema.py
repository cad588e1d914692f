"""Makes the JSON Schema of what a command prints from the TypedDicts of its objects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from inspect import cleandoc
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from pgasrob.render.shared_json import SCHEMA

DIALECT = "https://json-schema.org/draft/2020-12/schema"
PLAIN = {bool: "boolean", int: "integer", float: "number", str: "string", NoneType: "null"}

Schema = dict[str, Any]


def schema(title: str, kinds: Iterable[Any]) -> Schema:
    """The JSON Schema called ``title`` of an object of one of these ``kinds``, each a TypedDict."""
    definitions: dict[str, Schema] = {}
    found = {"$schema": DIALECT, "title": title, "version": SCHEMA}
    return found | {"anyOf": [_of(kind, definitions) for kind in kinds], "$defs": definitions}


@cache
def hints(kind: Any) -> Mapping[str, Any]:
    """The types of the keys of the TypedDict ``kind``, with NotRequired."""
    from pgasrob.robustness.verdict import EffectKind
    from pgasrob.runs.simulate import Bias
    from pgasrob.semantics.endings import Ending

    # What a module of the types imports for the type checker alone.
    names = {"EffectKind": EffectKind, "Ending": Ending, "Bias": Bias}
    return get_type_hints(kind, localns=names, include_extras=True)


def _of(kind: Any, definitions: dict[str, Schema]) -> Schema:
    """The schema of ``kind``; schemas of the types it refers to are added to ``definitions``."""
    origin, arguments = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        if kind.__name__ not in definitions:
            definitions[kind.__name__] = {}  # it may be within itself
            definitions[kind.__name__] |= _object(kind, definitions)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    if kind in PLAIN:
        return {"type": PLAIN[kind]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, UnionType):
        each = [_of(one, definitions) for one in arguments]
        plain = [one["type"] for one in each if one.keys() == {"type"}]
        others = [one for one in each if one.keys() != {"type"}]
        types = {"type": plain[0] if len(plain) == 1 else plain}
        return {"anyOf": [*others, *([types] if plain else [])]} if others else types
    if origin is list:
        return {"type": "array", "items": _of(arguments[0], definitions)}
    assert origin is dict, f"{kind} has no schema"
    return {"type": "object", "additionalProperties": _of(arguments[1], definitions)}


def _object(kind: Any, definitions: dict[str, Schema]) -> Schema:
    keys = hints(kind)
    required = [key for key, hint in keys.items() if get_origin(hint) is not NotRequired]
    properties = {
        key: {"const": SCHEMA} if key == "schema" else _of(hint if key in required else get_args(hint)[0], definitions)
        for key, hint in keys.items()
    }
    # Which file a line is in is added when it is printed (`render.source_places`).
    name = {"type": ["string", "null"]}
    if "line" in keys:
        properties |= {"file": {"type": "string"}, "file_name": {"type": "string"}}
    if "lines" in keys:
        properties |= {key: {"type": "array", "items": name} for key in ("files", "file_names")}
    found = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    description = kind.__doc__ or ""
    return found if description == dict.__doc__ else {"description": _plain(description), **found}


def _plain(text: str) -> str:
    """The text of a docstring without its markup, in one line."""
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", cleandoc(text).replace("``", "`"))
    return " ".join(text.split())
