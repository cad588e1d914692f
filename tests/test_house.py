"""Bounds that keep the package readable: functions, inheritance, telling file names, plain words, mirrored tests.

A bound is no aim: what comes near one is a question whether it is two things.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.mirror import TESTED_THROUGH
from tests.test_imports import imports, modules

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "pgasrob"

MOST_PARAMETERS = 7
MOST_LINES = 60
MOST_ANCESTORS = 2
"""Classes of the package from a class up to ``object``, itself counted. Protocols do not count."""
MOST_LINES_OF_A_FILE = 600

STYLE = PACKAGE / "manual" / "style.md"


def unwanted(*places: str) -> re.Pattern[str]:
    """The words that the table of the style sheet has for these places."""
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \| (code|texts) \|$", STYLE.read_text(encoding="utf-8"), re.MULTILINE)
    words = "|".join(word.replace(" ", r"\s+") for word, place in rows if place in places)
    return re.compile(rf"(?<![a-z])({words})(?![a-z])", re.IGNORECASE)


DIALECT = unwanted("code")
"""Words of which there is a plain one; `proofs/glossary.md` maps the old words to the new ones."""

SAME_NAME = ("frontends/apis/", "cli/")
"""Where a file may have the name of another one: each API has its atomics, and a command the name of what it is for."""


@cache
def trees() -> list[tuple[Path, ast.Module]]:
    """The modules of the package by their paths, parsed once for all tests."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return [(path.relative_to(PACKAGE), ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path}:{node.lineno} {node.name}", node


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many a caller sees; ``self`` and ``cls`` are none."""
    given = function.args
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len(set(names) - {"self", "cls"}) + (given.vararg is not None) + (given.kwarg is not None)


def test_no_function_takes_more_than_a_person_keeps_in_mind() -> None:
    found = {name: parameters(function) for name, function in functions() if parameters(function) > MOST_PARAMETERS}
    assert not found, f"over {MOST_PARAMETERS} parameters; what belongs together is a dataclass: {found}"


def test_no_function_is_longer_than_a_screen() -> None:
    lengths = {name: (function.end_lineno or 0) - function.lineno + 1 for name, function in functions()}
    found = {name: length for name, length in lengths.items() if length > MOST_LINES}
    assert not found, f"over {MOST_LINES} lines: {found}"


def ancestors() -> dict[str, int]:
    """For each class of the package, by file and name, how many classes of the package there are up to ``object``.

    It counts itself; what a protocol extends does not count.
    """
    bases: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for path, tree in trees():
        module = ".".join(path.with_suffix("").parts)
        known = {node.name: (module, node.name) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                of = node.module.removeprefix("pgasrob.")
                known |= {alias.asname or alias.name: (of, alias.name) for alias in node.names}
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                named = [re.split(r"[\[(]", ast.unparse(base))[0] for base in node.bases]
                found = [known.get(name, ("", name.rpartition(".")[2])) for name in named]
                bases[module, node.name] = [] if ("typing", "Protocol") in found else found

    def depth(name: tuple[str, str]) -> int:
        own = bases.get(name)
        return 0 if not own and name not in bases else 1 + max(map(depth, own or ()), default=0)

    return {f"{module} {name}": depth((module, name)) for module, name in bases}


def test_no_class_hides_what_it_depends_on_behind_two_others() -> None:
    found = {name: number for name, number in ancestors().items() if number > MOST_ANCESTORS}
    assert not found, f"more than {MOST_ANCESTORS} levels of inheritance: {found}"


def test_no_file_is_two() -> None:
    lengths = {str(path): len((PACKAGE / path).read_text(encoding="utf-8").splitlines()) for path, _ in trees()}
    found = {path: length for path, length in lengths.items() if length > MOST_LINES_OF_A_FILE}
    assert not found, f"over {MOST_LINES_OF_A_FILE} lines: {found}"


def test_a_file_name_says_what_is_in_the_file() -> None:
    folders: dict[str, list[str]] = defaultdict(list)
    for path, _ in trees():
        if path.name not in ("__init__.py", "__main__.py"):
            folders[path.name].append(str(path))
    others = {name: [path for path in paths if not path.startswith(SAME_NAME)] for name, paths in folders.items()}
    several = {name: paths for name, paths in others.items() if len(paths) > 1}
    assert not several, f"one name in several places: {several}"


OUTPUT = re.compile(r"[\"'@`]told\b|^ +told: str$")
"""A key of the JSON of repairs and marks, and a colour of pictures, which have had this name since they are read."""


def test_words_are_plain() -> None:
    sources = [PACKAGE / path for path, _ in trees()] + sorted((PACKAGE / "kernel" / "src").rglob("*.rs"))
    found = [
        f"{path.relative_to(PACKAGE)}:{number}: {line.strip()}"
        for path in sources
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if DIALECT.search(OUTPUT.sub("", line))
    ]
    assert not found, "\n".join(("say it in plain words:", *found))


def strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The strings of a module, which may be shown to a user, with their lines: all but docstrings."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.lineno, node.value


def test_texts_have_no_word_that_the_style_sheet_replaces() -> None:
    words = unwanted("texts")
    assert words.search("a loop that can\nbut come back"), "also where a line ends within"
    folders = [(ROOT / ".github", "*.md"), (PACKAGE / "manual", "*.md"), (ROOT / "programs/lectures", "*.md")]
    pages = [ROOT / "README.md", *(page for folder, name in folders for page in folder.rglob(name) if page != STYLE)]
    pages += [PACKAGE / "program/assumptions.txt", *(PACKAGE / "diagnostics/codes").glob("*.txt")]
    texts = [(f"{page.relative_to(ROOT)}:", page.read_text(encoding="utf-8")) for page in pages]
    texts += [(f"{path}:{line}:", text) for path, tree in trees() for line, text in strings(tree)]
    texts += [
        (f"{path}:{node.lineno}:", ast.get_docstring(node) or "")
        for path, tree in trees()
        for node in tree.body
        if path.parts[0] == "cli" and isinstance(node, ast.FunctionDef) and node.decorator_list
    ]
    found = [f"{place} {match[0]}" for place, text in texts for match in words.finditer(OUTPUT.sub("", text))]
    assert not found, "\n".join(("pgasrob/manual/style.md has a better word:", *found))


# Tests mirror the package


def mirrored(module: str) -> Path:
    """The test file of a module: `tests/<room>/test_<module>.py`."""
    *folders, name = module.split(".")
    return Path("tests", *folders, f"test_{name}.py")


def own_tests() -> dict[str, bool]:
    """The modules of the package with code in them, and whether each has a test file of its name."""
    files = {
        name: path for name, path in modules(PACKAGE).items() if path.name != "__init__.py" and path.suffix == ".py"
    }
    return {name: (ROOT / mirrored(name)).exists() for name in files}


def test_every_module_has_a_test_file_or_says_through_which_it_is_tested() -> None:
    known = own_tests()
    missing = sorted(name for name, own in known.items() if not own and name not in TESTED_THROUGH)
    assert not missing, f"neither a test file nor a row in tests/mirror.py: {missing}"
    stale = sorted(name for name in TESTED_THROUGH if known.get(name, True))
    assert not stale, f"a row in tests/mirror.py for a module that has its own test file, or is gone: {stale}"


def members(room: str) -> list[str]:
    return [name for name in imports(PACKAGE) if name.startswith(f"{room}.")]


def reached(test: Path) -> set[str]:
    """The modules that a test file may execute: those it imports, and what these import, lazily or not."""
    graph = imports(PACKAGE)
    found: set[str] = set()
    left = []
    for node in ast.walk(ast.parse(test.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            left += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            left += [alias.name for alias in node.names]
    stack = [name.removeprefix("pgasrob").lstrip(".") or "pgasrob" for name in left if name.split(".")[0] == "pgasrob"]
    if any(name.startswith(("tests.", "pgasrob.cli")) for name in left):
        stack += ["pgasrob", "__main__", *members("cli")]  # commands are imported by their names, or run as processes
    while stack:
        name = stack.pop()
        if name in graph and name not in found:
            found.add(name)
            stack += graph[name]
            if name == "frontends.lower":
                stack += members("frontends.apis")  # imported when a source includes their headers
    return found


@pytest.mark.parametrize("test", sorted(set(TESTED_THROUGH.values())))
def test_the_test_file_reaches_the_modules_that_are_tested_through_it(test: str) -> None:
    known = reached(ROOT / "tests" / test)
    unreached = sorted(name for name, through in TESTED_THROUGH.items() if through == test and name not in known)
    assert not unreached, f"tests/{test} does not come to {unreached}"
