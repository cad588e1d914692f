"""The JSON Schemas of outputs: real objects fit, and what is missing, renamed or of another type is noticed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from pgasrob.cli import cli
from pgasrob.cli.schema import outputs, schema_of
from pgasrob.cli.schema import schema as command
from pgasrob.render import printers
from pgasrob.render.json_schema import hints
from pgasrob.render.reproduced import nothing_reproduced
from pgasrob.render.shared_json import SCHEMA
from pgasrob.render.source_places import dumps
from tests.outputs import fits, validators

VIOLATION = """memory x, y; register r; queue q; nodes 2;
process { write(x, (me + 1) % nodes, x, q); mem[x] <- 1; r <- mem[y]; assert(r == 0); }
"""
LITMUS = "x@1=0, y@2=0 :: 1: y^2 = x; x = 1 || 2: a = y"
COMMANDS = {
    "check --races": "check p.pgas --races --expect --fixes --format json",
    "check -n all": "check ring.pgas -n all --format json",
    "check --cpu": "check sb.pgas --cpu tso --format json",
    "check --network": "check p.pgas --network rdma-tso --format json",
    "check two files": "check main.c part.c -n 2 --format json",
    "check no program": "check no.pgas --format json",
    "race": "race p.pgas --all --format json",
    "race --memory-model": "race main.c part.c --memory-model unified --format json",
    "outcomes": "outcomes p.pgas --format json",
    "litmus": "litmus t.litmus --executions --format json",
    "litmus generate": "litmus generate --model corerma --rule IR --size 8 --format json",
    "run": "run p.pgas --format json",
    "repair": "repair p.pgas --format json",
    "thrift": "thrift p.pgas --format json",
}
FILES = {
    "p.pgas": f"// expect: not robust\n{VIOLATION}",
    "no.pgas": "process { skip }",
    "ring.pgas": "memory x; queue q; process { write(x, (me + 1) % nodes, x, q); wait(q); barrier; }",
    "sb.pgas": "memory x, y; register r; nodes 2; process 0 { mem[x] <- 1; r <- mem[y @ 1]; } "
    "process 1 { mem[y] <- 1; r <- mem[x @ 0]; }",
    "t.litmus": f"{LITMUS}\nforbidden a=2\n",
    "main.c": "#include <mpi.h>\nvoid part(MPI_Win);\nint main(int c, char **v) { MPI_Win w; int *a;\n"
    "MPI_Init(&c, &v);"
    "MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &a, &w); part(w); a[0] = 1;\n"
    "MPI_Win_free(&w); MPI_Finalize(); return 0; }\n",
    "part.c": "#include <mpi.h>\nvoid part(MPI_Win w) { int b = 1, me; MPI_Comm_rank(MPI_COMM_WORLD, &me);\n"
    "MPI_Win_lock(MPI_LOCK_SHARED, 1 - me, 0, w); MPI_Put(&b, 1, MPI_INT, 1 - me, 0, 1, MPI_INT, w);\n"
    "MPI_Win_unlock(1 - me, w); }\n",
}


@pytest.fixture
def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What a command prints."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    return lambda words: CliRunner().invoke(cli, words.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_missing_or_renamed_or_of_another_type_is_noticed(printed: Any, name: str) -> None:
    result = printed(COMMANDS[name])
    first = result.stdout.splitlines()[0] if result.stdout else pytest.fail(result.stderr)
    output = name.partition(" -")[0].removesuffix(" two files").removesuffix(" no program")
    found = shortened(json.loads(first))
    check = next(each for each in validators(output) if each.is_valid(found))
    seen = set()
    for path, owner, key in keys_of(found):
        if path[-2:] in seen:  # as in another run of the same object
            continue
        seen.add(path[-2:])
        value = owner.pop(key)
        if key in optional():
            owner[f"{key}_"] = value
        assert not check.is_valid(found), f"missing or renamed: {path}"
        owner.pop(f"{key}_", None)
        owner[key] = {"": [value]}
        assert not check.is_valid(found), f"of another type: {path}"
        owner[key] = value
    assert check.is_valid(found) and len(seen) > 10


def shortened(value: Any) -> Any:
    """``value`` with two of each list: the others are alike."""
    if isinstance(value, dict):
        return {key: shortened(each) for key, each in value.items()}
    return list(map(shortened, value[:2])) if isinstance(value, list) else value


def keys_of(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any], str]]:
    """The keys of the objects in ``value``, each with the object that it is in; not those that are names in it."""
    if isinstance(value, dict):
        for key, each in list(value.items()):
            if path[-1:] in [(name,) for name in NAMED]:
                continue
            yield (*path, key), value, key
            yield from keys_of(each, (*path, key))
    elif isinstance(value, list):
        for each in value:
            yield from keys_of(each, path)


NAMED = ("registers", "values", "final", "sources", "relations", "outcome", "outcomes", "allowed", "forbidden", "lost")
"""The keys of objects whose keys are names of a program."""


@cache
def optional() -> set[str]:
    """The keys that some object has not always."""
    return {
        key
        for definition in schema_of()["$defs"].values()
        for key in definition["properties"].keys() - set(definition["required"])
    }


@pytest.mark.parametrize("output", [None, *outputs()])
def test_they_are_schemas_of_what_is_there(output: str | None) -> None:
    Draft202012Validator.check_schema(schema_of(output))
    words = [] if output is None else [output.replace(" ", "-")]
    result = CliRunner().invoke(cli, ["schema", *words])
    assert json.loads(result.stdout) == schema_of(output) and schema_of(output)["version"] == SCHEMA


def test_a_name_stands_for_one_type() -> None:
    kinds: dict[str, Any] = {}

    def look(kind: Any) -> None:
        if hasattr(kind, "__total__"):
            assert hints(kinds.setdefault(kind.__name__, kind)) == hints(kind)
            for each in hints(kind).values() if kinds.get(kind.__name__) is kind and kind not in seen else ():
                seen.add(kind)
                look(each)
        for each in getattr(kind, "__args__", ()):
            look(each)

    seen: set[Any] = set()
    for output in outputs().values():
        for kind in output:
            look(kind)
    assert set(kinds) == schema_of()["$defs"].keys()


def test_every_command_that_prints_json_has_one() -> None:
    def commands(group: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
        yield name, group
        if isinstance(group, click.Group):
            ctx = click.Context(group)
            for each in group.list_commands(ctx):
                inner = group.get_command(ctx, each)
                assert inner is not None
                yield from commands(inner, f"{name} {each}".strip())

    found = {
        name
        for name, each in commands(cli, "")
        for option in each.params
        if "--format" in option.opts and isinstance(option.type, click.Choice) and "json" in option.type.choices
    }
    assert found == {name.removesuffix(" generate") for name in outputs()}
    assert all(name.replace(" ", "-") in (command.help or "") for name in outputs())


def test_what_tests_print_is_checked(printed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert printed("check p.pgas --format json").exit_code == 1
    monkeypatch.setattr(printers, "dumps", lambda result: dumps({**result, "verdicts": 1}))
    with pytest.raises(AssertionError, match="'verdicts' was unexpected"):
        printed("check p.pgas --format json")


def test_what_is_not_made_without_a_library() -> None:
    found = json.loads(dumps(nothing_reproduced("p.c", 2, "robust", "no reason")))
    assert fits("reproduce", found) and not fits("reproduce", {**found, "schema": SCHEMA + 1})
