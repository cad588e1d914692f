"""Finds the registers and cells that a user has named."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.program.instance import Instance
from pgasrob.semantics.endings import Place, places


class UnknownPlace(ValueError):
    """No register or cell has this name; the text says what there is."""


_INDEX = re.compile(r"\[\d+\]")


def chosen(instance: Instance, names: Iterable[str]) -> tuple[Place, ...]:
    """The places with these ``names``, in their order: ``r@0``, ``a[2]@1``, ``a@1`` (all elements), ``r`` (all ranks).

    Raises :class:`UnknownPlace` for a name that nothing has.
    """
    known: dict[str, list[Place]] = {}
    for place in places(instance):
        bare = place.name.rpartition("@")[0]
        array = _INDEX.sub("", bare)
        for name in dict.fromkeys((place.name, bare, f"{array}@{place.rank}", array)):
            known.setdefault(name, []).append(place)
    found: dict[Place, None] = {}
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or _listed(known)
            raise UnknownPlace(f"no register or cell {name!r} on {instance.nodes} nodes; {hint}")
        found.update(dict.fromkeys(known[name]))
    return tuple(found)


def _listed(known: Iterable[str]) -> str:
    names = [name for name in known if "@" not in name and "[" not in name]
    return f"there is {', '.join(names[:10])}{', ...' * (len(names) > 10)}" if names else "the program declares none"
