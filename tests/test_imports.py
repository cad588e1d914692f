"""Modules import each other in one direction: no cycles, and each room only what lies below it.

An import counts wherever it stands: at the top, in a function, for the type checker alone.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Set
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "pgasrob"
TOP = "pgasrob"
"""The modules that lie in no room: `pgasrob/__init__.py`."""

MAY_IMPORT: dict[str, set[str]] = {
    "diagnostics": set(),
    "display": set(),
    "version": set(),
    "file_input": set(),
    "stop_points": set(),
    "whole_files": set(),
    "scratch_folders": set(),
    "parent_death": set(),
    "automata": {"stop_points"},
    "program": {"stop_points", "diagnostics", "display", "file_input", "whole_files"},
    "semantics": {"stop_points", "automata", "program"},
    "analysis": {"stop_points", "program", "semantics"},
    "frontends": {"stop_points", "file_input", "analysis", "diagnostics", "display", "program"},
    "export": {"analysis", "program", "semantics"},
    "robustness": {
        "stop_points",
        "analysis",
        "automata",
        "diagnostics",
        "display",
        "export",
        "frontends",
        "parent_death",
        "program",
        "scratch_folders",
        "semantics",
        "twins",
    },
    "races": {
        "stop_points",
        "analysis",
        "diagnostics",
        "display",
        "frontends",
        "program",
        "robustness",
        "semantics",
        "twins",
    },
    "twins": {"program", "races", "recording", "robustness", "semantics"},
    "recording": {
        "stop_points",
        "analysis",
        "diagnostics",
        "file_input",
        "frontends",
        "program",
        "races",
        "robustness",
        "runtime",
        "semantics",
        "twins",
    },
    "runtime": {"file_input", "frontends", "parent_death", "program", "robustness", "scratch_folders", "semantics"},
    "runs": {"stop_points", "diagnostics", "display", "program", "robustness", "semantics"},
    "certificates": {"diagnostics", "file_input", "program", "semantics", "whole_files", TOP},
    "repairs": {
        "stop_points",
        "analysis",
        "diagnostics",
        "display",
        "frontends",
        "program",
        "races",
        "robustness",
        "semantics",
    },
    "drawing": {"diagnostics"},
    "render": {
        "analysis",
        "batch",
        "diagnostics",
        "drawing",
        "frontends",
        "models",
        "program",
        "races",
        "repairs",
        "robustness",
        "runs",
        "runtime",
        "semantics",
        "version",
        "whole_files",
    },
    "bounded": {"parent_death"},
    "explore": {
        *("automata", "batch", "bounded", "diagnostics", "frontends", "program", "render", "repairs", "robustness"),
        *("scratch_folders", "semantics"),
    },
    "lsp": {"batch", "bounded", "diagnostics", "frontends", "program", "render", "repairs", "robustness", TOP},
    "course": {
        "file_input",
        "batch",
        "diagnostics",
        "drawing",
        "frontends",
        "program",
        "render",
        "repairs",
        "robustness",
    },
    "models": {
        "stop_points",
        "analysis",
        "automata",
        "diagnostics",
        "display",
        "program",
        "robustness",
        "runs",
        "semantics",
    },
    "batch": {
        *("diagnostics", "file_input", "frontends", "models", "parent_death", "program", "races", "robustness"),
        *("twins", TOP),
    },
    "cli": {
        *(
            "batch",
            "certificates",
            "course",
            "diagnostics",
            "file_input",
            "explore",
            "export",
            "frontends",
            "lsp",
            "models",
            "program",
            "races",
            "recording",
            "render",
            "repairs",
            "robustness",
            "runs",
            "twins",
            "runtime",
            "whole_files",
        ),
        TOP,
    },
    "__main__": {"cli"},
    "api": {"batch", "frontends", "models", "program", "races", "repairs", "robustness", "runs"},
    TOP: {
        "api",
        "diagnostics",
        "display",
        "frontends",
        "models",
        "program",
        "races",
        "render",
        "repairs",
        "robustness",
        "runs",
        "twins",
        "version",
    },
}
"""The rooms, the top-level folders and modules of the package, and whom each may import. All of it is needed."""


def modules(package: Path) -> dict[str, Path]:
    """The modules below ``package`` by their name, which leaves the package's out: ``program.parser``."""
    found = {}
    for path in (*package.rglob("*.py"), *package.glob("*.pyi")):
        if not (path.parent / "__init__.py").exists():  # the crate, which has Python of its own to build it
            continue
        parts = path.relative_to(package).with_suffix("").parts
        found[".".join(parts[:-1] if path.stem == "__init__" else parts) or TOP] = path
    return found


@cache
def imports(package: Path) -> dict[str, set[str]]:
    """Every module below ``package`` with the others that it imports. ``import_module("...")`` of a text counts."""
    paths = modules(package)

    def known(name: str) -> str | None:
        """The module that ``name`` is, or is a name in."""
        root, _, within = name.partition(".")
        if root != package.name:
            return None
        return within if within in paths else (known(name.rpartition(".")[0]) if within else TOP)

    found = {}
    for module, path in paths.items():
        named = []
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Import(names):
                    named += [alias.name for alias in names]
                case ast.ImportFrom(of, names, level):
                    assert not level and of, f"{path}: a relative import"
                    named += [f"{of}.{alias.name}" for alias in names]
                case ast.Call(ast.Name("import_module"), [ast.Constant(str(text))]):
                    named.append(text)
        found[module] = {target for target in map(known, named) if target} - {module}
    return found


def cycles(graph: Mapping[str, Set[str]]) -> set[frozenset[str]]:
    """The strongly connected components of more than one module."""
    reach: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        stack = [start]
        while stack:
            new = graph[stack.pop()] - seen
            seen |= new
            stack += new
        reach[start] = seen
    return {frozenset(other for other in reach[start] if start in reach[other]) for start in graph} - {frozenset()}


def room(module: str) -> str:
    """The native kernel is one of the engines, and a reference belongs to the room whose search it repeats."""
    if module.startswith("reference."):
        _, _, name = module.partition(".")
        return {"race_search": "races", "race_traces": "races", "recordings": "recording"}.get(name, "robustness")
    return "robustness" if module in ("_kernel", "reference") else module.partition(".")[0]


def test_there_is_no_cycle() -> None:
    found = [sorted(cycle) for cycle in cycles(imports(PACKAGE))]
    assert not found, f"modules that import each other: {found}"


def test_rooms_import_what_lies_below_them() -> None:
    found: dict[str, set[str]] = {}
    for module, targets in imports(PACKAGE).items():
        found.setdefault(room(module), set()).update(room(target) for target in targets)
    assert {name: targets - {name} for name, targets in found.items()} == MAY_IMPORT


def test_rooms_lie_above_each_other() -> None:
    """But for the top, whose names are those of rooms and which rooms ask for the version, and for the table of twins,
    which lies above the searches of three rooms and below those who ask for a search there: that no module is above
    itself is what the first test says."""
    between = {TOP, "twins"}
    below = {name: targets - between for name, targets in MAY_IMPORT.items() if name not in between}
    assert not cycles(below)


def test_references_are_imported_by_the_table_and_the_explanations_alone() -> None:
    found = {
        module
        for module, targets in imports(PACKAGE).items()
        if not module.startswith("reference") and any(target.startswith("reference") for target in targets)
    }
    assert found == {"twins", "robustness.explanation.searches"}


def test_only_the_table_asks_for_the_kernel() -> None:
    """What is native imports it; who else does wants to know whether it is there."""
    found = {module for module, targets in imports(PACKAGE).items() if "_kernel" in targets}
    native = {"robustness.native_attack", "robustness.trace_parts", "races.native_races"}
    assert found == {"twins", "recording.native_recordings", "recording.streamed", *native}
    asking = {module for module, path in modules(PACKAGE).items() if "available()" in path.read_text(encoding="utf-8")}
    assert asking == {"twins"}


def test_every_form_of_import_counts(tmp_path: Path) -> None:
    package = tmp_path / "house"
    for folder in ("attic", "crate"):
        (package / folder).mkdir(parents=True)
    for name, text in {
        "__init__": "from importlib import import_module\nimport_module('house.attic.roof')",
        "attic/__init__": "",
        "crate/build": "from setuptools.command.build import build\nimport house",
        "attic/roof": "def late():\n    import house.cellar",
        "cellar": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house.attic.roof import late",
        "door": "from house.attic import roof\nfrom house import lock, cellar\nimport os.path",
        "lock": "from house.lock import itself",
    }.items():
        (package / f"{name}.py").write_text(text)
    found = imports(package)
    assert found == {
        TOP: {"attic.roof"},
        "attic": set(),
        "attic.roof": {"cellar"},
        "cellar": {"attic.roof"},
        "door": {"attic.roof", "lock", "cellar"},
        "lock": set(),
    }
    assert cycles(found) == {frozenset({"attic.roof", "cellar"})}
