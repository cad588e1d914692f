"""Finds, lists and copies the example programs of the corpus.

A wheel has the corpus inside this package, a checkout in `programs/` beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from pgasrob import file_input
from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.whole_files import replace_file

SUFFIXES = (".pgas", ".c", ".h", ".litmus")
"""The endings of the programs of the corpus; its pages and pictures are not listed or copied."""


class NoExample(LookupError):
    """No example has the name, or several have; the text lists similar names."""


def corpus() -> Path:
    """The folder of the corpus.

    Raises :class:`NoExample` where the package was installed without it.
    """
    package = Path(__file__).parents[1]
    for folder in (package / "programs", package.parent / "programs"):
        if (folder / "one_to_one" / "one_to_one.pgas").exists():
            return folder
    raise NoExample(f"this installation has no example programs: {package} came neither from a wheel nor a checkout")


def programs(below: str = "") -> list[PurePosixPath]:
    """The paths of all programs in the folder ``below`` of the corpus, in order."""
    folder = corpus()
    found = (path for path in (folder / below).rglob("*") if path.suffix in SUFFIXES and path.is_file())
    return sorted(PurePosixPath(path.relative_to(folder).as_posix()) for path in found)


def programs_of(path: PurePosixPath) -> list[PurePosixPath]:
    """The programs of ``path``: itself, or all in it if it is a folder."""
    known = programs()
    return [path] if path in known else programs(str(path))


def folders() -> list[PurePosixPath]:
    """The folders at the top of the corpus."""
    return sorted({PurePosixPath(path.parts[0]) for path in programs()})


def read(path: PurePosixPath) -> str:
    """The text of a program of the corpus."""
    return (corpus() / path).read_text(encoding="utf-8")


def named(name: str, file: bool = False) -> PurePosixPath:
    """The path of the folder or program that ``name`` stands for: a path in the corpus, or the name of one file.

    ``file``: a file that is called so comes before a folder.

    Raises :class:`NoExample` when there is none, or several files have the name.
    """
    known = programs()
    folders = {folder for path in known for folder in path.parents} - {PurePosixPath()}
    path = PurePosixPath(name)
    found = [each for each in known if name in (each.name, each.stem)]
    if path in known or (path in folders and not (file and len(found) == 1)):
        return path
    if len(found) == 1:
        return found[0]
    if found:
        raise NoExample(f"several examples are called {name}: {', '.join(map(str, found))}")
    words = [word for each in known for word in (str(each), each.stem)]
    hint = did_you_mean(name, [*map(str, sorted(folders)), *words])
    raise NoExample(f"there is no example {name!r}{hint and '; '}{hint}")


def example(name: str) -> Path:
    """The file of an example program: ``"c/mpi/barrier_halo.c"``, or ``"barrier_halo"`` where one alone is called so.

    >>> import pgasrob
    >>> pgasrob.example("one_to_one").name
    'one_to_one.pgas'

    Raises :class:`NoExample`, a LookupError, when there is no such file, or several.
    """
    path = named(name, file=True)
    if path not in programs():
        raise NoExample(f"{name} is a folder of examples: {', '.join(each.name for each in programs(str(path)))}")
    return corpus() / path


def copy(paths: Sequence[PurePosixPath], target: Path) -> list[Path]:
    """Copy folders and programs of the corpus into the folder ``target``, each under its own name; what was written.

    Before anything is written it raises FileExistsError where a file is there already that differs, and
    :class:`NoExample` where two would have one name.
    """
    folder = corpus()
    pairs = [(folder / each, target / each.relative_to(path.parent)) for path in paths for each in programs_of(path)]
    sources: dict[Path, Path] = {}
    for source, written in pairs:
        if sources.setdefault(written, source) != source:
            both = ", ".join(str(each.relative_to(folder)) for each in (sources[written], source))
            raise NoExample(f"{written} would be the copy of {both}: copy one of them elsewhere")
        if written.exists() and (written.is_dir() or file_input.read(written) != source.read_bytes()):
            raise FileExistsError(f"{written} is there already, and differs: it is left as it is, and nothing copied")
    for written, source in sources.items():
        replace_file(written, source.read_bytes(), make_folders=True)
    return list(sources)
