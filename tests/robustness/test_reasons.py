"""Reasons are data: each kind has a code of its own, and a sentence that its fields complete."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from string import Formatter

import pgasrob.recording.decide  # which has some of its own
from pgasrob.robustness.reasons import Reason


def kinds(kind: type[Reason]) -> Iterator[type[Reason]]:
    for each in kind.__subclasses__():
        if each.__module__.startswith(pgasrob.__name__):
            yield from [each] if is_dataclass(each) else kinds(each)


def test_each_has_a_code_and_a_sentence() -> None:
    found = list(kinds(Reason))
    assert len(found) == len({each.code for each in found}) > 20
    for each in found:
        named = {field.name for field in fields(each)}  # type: ignore[arg-type]  # `kinds` has dataclasses alone
        if each.__str__ is Reason.__str__:
            assert named >= {name for _, name, _, _ in Formatter().parse(each.sentence) if name}, each
        else:
            assert not hasattr(each, "sentence"), each
