"""Every JSON object that a command prints in a test fits its schema."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from click.testing import CliRunner, Result

_invoke = CliRunner.invoke


@cache
def validators(command: str) -> list[Any]:
    """One for each kind of object that the command prints."""
    # Imported by every process of pytest, this file costs nothing before something is printed.
    from jsonschema import Draft202012Validator

    from pgasrob.cli.schema import schema_of

    found = schema_of(command)
    return [Draft202012Validator({**each, "$defs": found["$defs"]}) for each in found["anyOf"]]


def fits(command: str, value: object) -> bool:
    """Whether ``value`` is what the command may print."""
    return any(each.is_valid(value) for each in validators(command))


def validate(arguments: Sequence[str], stdout: str) -> None:
    """Check what was printed by the command with these ``arguments``, where that is JSON."""
    forms = [after for before, after in pairwise(arguments) if before == "--format"]
    if forms[-1:] != ["json"]:
        return
    from pgasrob.cli.schema import outputs

    two = " ".join(arguments[:2])
    command = two if two in outputs() else arguments[0]
    if command not in outputs():
        return
    for value in map(json.loads, stdout.splitlines()):
        if not fits(command, value):
            wrong = min((list(each.iter_errors(value)) for each in validators(command)), key=len)
            told = "; ".join(f"{error.json_path}: {error.message[:300]}" for error in wrong)
            raise AssertionError(f"pgasrob {' '.join(arguments)}: {told}")


def invoke(self: CliRunner, cli: Any, args: Any = None, *others: Any, **options: Any) -> Result:
    """As that of click, with what is printed checked."""
    result = _invoke(self, cli, args, *others, **options)
    if isinstance(args, (list, tuple)):
        validate(list(map(str, args)), result.stdout)
    return result
