"""Every JSON object that a command prints in a test fits its schema."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from pgasrob.render.schema import OUTPUTS, schema

_invoke = CliRunner.invoke


@cache
def validator(command: str) -> Any:
    return Draft202012Validator(schema(command))


def validate(arguments: Sequence[str], stdout: str) -> None:
    """Check what was printed by the command with these ``arguments``, where that is JSON."""
    two = " ".join(arguments[:2])
    command = two if two in OUTPUTS else arguments[0] if arguments else ""
    forms = [after for before, after in zip(arguments, arguments[1:], strict=False) if before == "--format"]
    if command not in OUTPUTS or forms[-1:] != ["json"]:
        return
    for line in stdout.splitlines():
        wrong = best_match(validator(command).iter_errors(json.loads(line)))
        assert wrong is None, f"pgasrob {' '.join(arguments)}: {wrong.json_path}: {wrong.message[:500]}"


def invoke(self: CliRunner, cli: Any, args: Any = None, *others: Any, **options: Any) -> Result:
    """As that of click, with what is printed checked."""
    result = _invoke(self, cli, args, *others, **options)
    if isinstance(args, (list, tuple)):
        validate(list(map(str, args)), result.stdout)
    return result
