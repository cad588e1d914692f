"""`pgasrob schema`: print the JSON Schema of what other commands print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import click

from pgasrob.cli.declare import HELP
from pgasrob.cli.parameter_types import Name
from pgasrob.cli.shared_steps import print_json


@cache
def outputs() -> Mapping[str, tuple[Any, ...]]:
    """The types of the objects that each command prints with `--format json`, one of them a line."""
    from pgasrob.course.grades import GradedObject
    from pgasrob.render.example_list import ExampleObject
    from pgasrob.render.generated import GeneratedResult
    from pgasrob.render.litmus_json import LitmusResult
    from pgasrob.render.memory_model import ModelResult
    from pgasrob.render.network_json import NetworkResult
    from pgasrob.render.one_run_json import RunResult
    from pgasrob.render.outcomes_json import OutcomesResult
    from pgasrob.render.repair_text import RepairObject
    from pgasrob.render.reproduced import ReproducedObject
    from pgasrob.render.thrift_text import ThriftObject
    from pgasrob.render.verdict_json import RaceResult, Result

    return {
        "check": (Result, NetworkResult),
        "race": (RaceResult, ModelResult),
        "outcomes": (OutcomesResult, LitmusResult),
        "litmus": (LitmusResult,),
        "litmus generate": (GeneratedResult,),
        "run": (RunResult,),
        "repair": (RepairObject,),
        "thrift": (ThriftObject,),
        "reproduce": (ReproducedObject,),
        "course grade": (GradedObject,),
        "examples": (ExampleObject,),
    }


def schema_of(command: str | None = None) -> dict[str, Any]:
    """The JSON Schema of the objects that ``command`` prints; that of all objects, when it is None."""
    from pgasrob.render.json_schema import schema as made

    kinds = dict.fromkeys(kind for name, kinds in outputs().items() if command in (None, name) for kind in kinds)
    return made(f"pgasrob {command or ''}".strip(), kinds)


class Output(Name):
    """A command that prints JSON."""

    name = "command"

    def names(self) -> Sequence[str]:
        return [name.replace(" ", "-") for name in outputs()]


@click.command(context_settings=HELP)
@click.argument("command", type=Output(), required=False)
def schema(command: str | None) -> None:
    """Print the JSON Schema of a command's output.

    COMMAND is check, race, outcomes, litmus, litmus-generate, run, repair, thrift, reproduce, course-grade or examples;
    without COMMAND it is one schema for all of them. Each object, one per line, has the version of its schema in
    "schema".
    """
    print_json(schema_of(command and command.replace("-", " ")))
