"""The lectures: every output on a page is what the command prints, every program is shown and has its verdict.

A fenced block that begins with ``$ pgasrob`` holds a command and what it prints at 80 columns; a line ``...`` in it
stands for any lines, everything else must be there in this order. What a command needs that an earlier one of the page
writes (``-o NAME``) is made first; commands that run programs need OpenSHMEM. A block whose fence names a language and
a file (``pgas 1_01_put.pgas``) shows this program of the lecture's folder, without the comment at its beginning.

``python -m tests.test_lectures --promote`` writes what commands print and programs say into the pages; gaps stay where
they are, as far as the lines around them can be found again. Then read the difference: an output that changed may have
made the prose around it untrue.
"""

from __future__ import annotations

import atexit
import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from contextlib import chdir
from functools import cache
from itertools import pairwise
from pathlib import Path
from shutil import rmtree, which

import pytest
from click.testing import CliRunner

from pgasrob.cli import cli
from pgasrob.program.expectation import read_expectation
from tests.tools import RUNS_PROGRAMS, skip_unless_run

ROOT = Path(__file__).parents[1]
LECTURES = ROOT / "programs" / "lectures"
FOLDERS = sorted(path for path in LECTURES.iterdir() if path.is_dir())
OVERVIEW = LECTURES / "README.md"
HEADERS = ROOT / "tests" / "frontends" / "headers"
MPI_HEADERS = Path("/usr/lib/x86_64-linux-gnu/openmpi/include")
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
VERDICT_SENTENCE = re.compile(r"`([\w/]+\.(?:pgas|c|litmus))` is (not )?robust")
PICTURE = re.compile(r"!\[[^\]]+\]\((\w+\.svg)\)")
GAP = "..."
PROMPT = "$ pgasrob "


def page_of(folder: Path) -> Path:
    return folder / "lecture.md"


PAGES = [page_of(folder) for folder in FOLDERS]
FILES = [path for folder in FOLDERS for path in sorted(folder.rglob("*")) if path.suffix in (".pgas", ".c", ".litmus")]


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a page, each with the output that is shown."""
    blocks = [match[2] for match in FENCE.finditer(text) if match[2].startswith(PROMPT)]
    return [(command.removeprefix("$ "), output) for command, _, output in (block.partition("\n") for block in blocks)]


def listings(text: str) -> list[tuple[str, str]]:
    """The programs that a page shows, each with the name of its file."""
    return [(match[1].split()[1], match[2]) for match in FENCE.finditer(text) if len(match[1].split()) == 2]


def listing(folder: Path, name: str) -> str:
    """A program as a page shows it: without the comment that says what is expected and why."""
    lines = (folder / name).read_text().splitlines(keepends=True)
    first = next(place for place, line in enumerate(lines) if not line.startswith("//"))
    return "".join(lines[first:])


@cache
def workplace() -> Path:
    """A folder in which the paths of the pages mean what they mean in the repository, and files may be written."""
    folder = Path(tempfile.mkdtemp(prefix="lectures"))
    atexit.register(rmtree, folder, ignore_errors=True)
    (folder / "programs").symlink_to(ROOT / "programs")
    return folder


def makes(command: str) -> str:
    """The file that a command writes, "" when it writes none that others need."""
    words = shlex.split(command)
    return words[words.index("-o") + 1] if words[1] in RUNS_PROGRAMS and "-o" in words else ""


@cache
def makers() -> dict[str, str]:
    """By the files that commands write the commands."""
    return {makes(command): command for page in PAGES for command, _ in commands(page.read_text()) if makes(command)}


def printed_by(command: str) -> str:
    """What ``command`` prints; one that runs programs prints by these, too, and for people."""
    arguments = shlex.split(command)[1:]
    for name in (word.removeprefix("./") for word in arguments):
        if name in makers() and makers()[name] != command and not (workplace() / name).exists():
            printed_by(makers()[name])
    if arguments[0] in RUNS_PROGRAMS:
        skip_unless_run(" ".join(arguments))
        environment = {**os.environ, "COLUMNS": "80", "PYTHONPATH": str(ROOT)}
        ran = subprocess.run(
            [sys.executable, "-m", "pgasrob", *arguments],
            cwd=workplace(), env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        return ran.stdout
    with chdir(workplace()):
        if arguments[0] == "explain":
            arguments += ["--timeout", "600"]  # its limits of states are reached first on a loaded machine too
        result = CliRunner().invoke(cli, arguments, env={"COLUMNS": "80"}, prog_name="pgasrob")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


def comparable(text: str) -> list[str]:
    """The lines of an output without what it cost: seconds, and SC states, of which the kernel needs to see fewer."""
    text = re.sub(r"[\d,]+ SC states?\b", "_ SC states", text)
    text = re.sub(r"\b\d+\.\d+ s\b", "_ s", text)
    return [re.sub(r"( [\d.,]+[kM]?) +\d+\.\d\d$", r"\1", line.rstrip()) for line in text.rstrip().splitlines()]


def pieces(lines: list[str]) -> list[list[str]]:
    """``lines`` cut at the gaps."""
    found: list[list[str]] = [[]]
    for line in lines:
        if line.strip() == GAP:
            found.append([])
        else:
            found[-1].append(line)
    return found


def fits(shown: list[str], printed: list[str]) -> bool:
    """Whether ``printed`` is ``shown`` with something in its gaps."""
    first, *others = pieces(shown)
    if not others:
        return shown == printed
    if printed[: len(first)] != first:
        return False
    place = len(first)
    *middle, last = others
    for piece in middle:
        starts = (at for at in range(place, len(printed)) if printed[at : at + len(piece)] == piece)
        start = next(starts, None)
        if start is None:
            return False
        place = start + len(piece)
    return not last or (len(printed) - len(last) >= place and printed[-len(last) :] == last)


BLOCKS = [(page, command, output) for page in [OVERVIEW, *PAGES] for command, output in commands(page.read_text())]


@pytest.mark.parametrize(
    ("page", "command", "output"), BLOCKS, ids=[f"{page.parent.name}: {command}" for page, command, _ in BLOCKS]
)
def test_a_command_prints_what_the_page_shows(page: Path, command: str, output: str) -> None:
    shown, printed = comparable(output), comparable(printed_by(command))
    if not fits(shown, printed):
        assert printed == shown, f"{page.parent.name}: see `python -m tests.test_lectures --promote`"


def pictures(page: Path) -> list[tuple[str, str]]:
    """The pictures on a page, each with the command of the page that draws it."""
    text = page.read_text()
    words = [(shlex.split(command), command) for command, _ in commands(text)]
    drawn = {
        after: command
        for line, command in words
        for option, after in pairwise(line)
        if option in ("--witness", "--graph")
    }
    return [(name, drawn[name]) for name in PICTURE.findall(text)]


PICTURES = [(page.parent / name, command) for page in PAGES for name, command in pictures(page)]


@pytest.mark.parametrize(("picture", "command"), PICTURES, ids=[picture.name for picture, _ in PICTURES])
def test_a_picture_is_what_its_command_draws(picture: Path, command: str) -> None:
    printed_by(command)
    assert (workplace() / picture.name).read_text() == picture.read_text(), (
        "see `python -m tests.test_lectures --promote`"
    )


def test_a_gap_stands_for_lines_and_nothing_else_may_differ() -> None:
    assert fits(["a", GAP, "d"], list("abcd"))
    assert fits(["a", GAP, "c", GAP], list("abcd"))
    assert fits([GAP, "d"], list("abcd"))
    assert not fits(["a", GAP, "b", "d"], list("abcd"))
    assert not fits(["a", GAP, "c", GAP, "b", GAP], list("abcd"))
    assert not fits(["a", "b", GAP, "b", "c"], list("abc"))
    assert not fits(["a", GAP], list("bcd"))
    assert not fits(["a", "b"], list("abc"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_programs_are_shown_as_they_are(page: Path) -> None:
    shown = listings(page.read_text())
    assert len(shown) >= 4
    for name, text in shown:
        assert fits(text.splitlines(), listing(page.parent, name).splitlines()), name


def test_there_are_nine_lectures_with_enough_in_them() -> None:
    assert [folder.name[0] for folder in FOLDERS] == list("123456789")
    for page in PAGES:
        assert len(commands(page.read_text())) >= 12, page
    assert len(FILES) >= 80


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_program_is_on_its_page(path: Path) -> None:
    folder = LECTURES / path.relative_to(LECTURES).parts[0]
    text = page_of(folder).read_text()
    in_a_folder = any(f"{path.parent.name} " in f"{command} " for command, _ in commands(text))  # its name may be cut
    assert path.stem in text or in_a_folder
    assert any(path.name in command or f"{path.parent.name} " in f"{command} " for command, _ in commands(text)), (
        "no command of the page runs it"
    )


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".c"], ids=lambda path: path.name)
def test_a_compiler_accepts_the_c_programs(path: Path) -> None:
    text = path.read_text()
    own = "GASPI.h" in text or "gasnet.h" in text
    needed = [HEADERS if own else MPI_HEADERS / "mpi.h", *([Path("/usr/include/armci.h")] if "armci.h" in text else [])]
    if which("gcc") is None or not all(file.exists() for file in needed):
        pytest.skip("needs gcc, and libopenmpi-dev or libarmci-mpi-dev")
    include = ["-include", str(HEADERS / "shmem15.h")] if "shmem.h" in text else []
    flags = ["-std=c11", "-fopenmp", "-fsyntax-only", "-Wall", *include, f"-I{HEADERS if own else MPI_HEADERS}"]
    result = subprocess.run(["gcc", *flags, str(path)], capture_output=True, text=True, check=False)
    assert result.stderr == ""


@pytest.mark.parametrize("page", [OVERVIEW, *PAGES], ids=lambda page: page.parent.name)
def test_every_path_named_exists(page: Path) -> None:
    text = FENCE.sub(lambda match: match[2].partition("\n")[0], page.read_text())  # of outputs, the command alone
    named = re.findall(r"(?<![\w/.])(?:programs|proofs|pgasrob|tests)/[\w/.-]*\w", text)
    named = [name for name in named if not name.endswith((".svg", ".html", ".tex", ".dot"))]
    linked = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    assert named or linked
    assert not [name for name in named if not (ROOT / name).exists()]
    assert not [link for link in linked if link and not (page.parent / link).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_every_exercise_has_a_solution(page: Path) -> None:
    number, text = page.parent.name[0], page.read_text()
    exercises = re.findall(r"^### Exercise (\S+?)[.:]? .*?\n(.*?)(?=^##|\Z)", text, re.DOTALL | re.MULTILINE)
    assert [name for name, _ in exercises] == [f"{number}.{place}" for place in range(1, len(exercises) + 1)]
    assert 4 <= len(exercises) <= 7
    for name, body in exercises:
        solution = re.search(r"<details>\s*<summary>Solution</summary>\n\n(.*?)\n</details>", body, re.DOTALL)
        assert solution, name
        assert commands(solution[1]), f"{name}: no command confirms the solution"
    assert text.count("<details>") == text.count("</details>") == len(exercises)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_every_claim_is_followed_by_a_command(page: Path) -> None:
    """Before the next claim or heading."""
    number, text = page.parent.name[0], page.read_text()
    marks = list(re.finditer(r"^(?:\*\*Claim (\S+)\.\*\*|#+ )|\Z", text, re.MULTILINE))
    claims = [mark[1] for mark in marks if mark.lastindex]
    assert claims == [f"{number}.{place}" for place in range(1, len(claims) + 1)]
    assert len(claims) >= 5
    for mark, after in pairwise(marks):
        if mark.lastindex:
            assert commands(text[mark.start() : after.start()]), f"claim {mark[1]}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_sentences_about_verdicts_are_true_and_shown(page: Path) -> None:
    text = page.read_text()
    sentences = VERDICT_SENTENCE.findall(" ".join(text.split()))
    assert sentences
    outputs = commands(text)
    named = {path.name: path for path in FILES}
    for name, no in sentences:
        path = ROOT / name if name.startswith("programs/") else named[name]
        expectation = read_expectation(path.read_text(), str(path))
        assert expectation is not None
        said = "not robust" if no else "robust"
        assert {case.verdict for case in expectation.cases} == {said}, name
        stem = path.stem
        shown = [output for command, output in outputs if stem in command or stem[-20:] in output]
        assert any(re.search(rf"(?<!not ){said}\b", output) for output in shown), f"no output says so: {name}"


def test_the_table_of_lecture_4_is_what_its_programs_expect() -> None:
    folder = FOLDERS[3]
    rows = re.findall(
        r"^\| ([^|]+) \| (robust|–) \| (robust|–) \| (robust|–) \| (robust|–) \|$", page_of(folder).read_text(), re.M
    )
    situations = {
        "use the source again": "reuse",
        "flag on the same rank": "flag",
        "flag on another rank": "relay",
        "get it back": "get",
        "atomic as a flag": "atomic",
        "barrier, then look": "barrier",
    }
    assert [row[0] for row in rows] == list(situations)
    for name, *cells in rows:
        kind = situations[name]
        for call, cell in zip(("nothing", "wait_local", "fence", "wait"), cells, strict=True):
            first = (folder / kind / f"4_{kind}_{call}.pgas").read_text().splitlines()[0]
            assert first == f"// expect: {'robust' if cell == 'robust' else 'not robust'}"


def promoted(shown: list[str], printed: list[str]) -> list[str]:
    """``printed`` with the gaps of ``shown``: a piece goes from the line most like its first to the one most like its
    last."""
    first, *others = pieces(shown)
    if not others:
        return printed
    place, found = 0, []
    for number, piece in enumerate([first, *others]):
        if number:
            found.append(GAP)
        if not piece:
            continue
        start = place if number == 0 else most_like(piece[0], printed, place)
        end = len(printed) if number == len(others) else most_like(piece[-1], printed, start) + 1
        found += printed[start:end]
        place = end
    return found


def most_like(line: str, lines: list[str], start: int) -> int:
    """Where from ``start`` the line stands that is most like ``line``; the first of several."""
    ratios = [difflib.SequenceMatcher(None, line, other, autojunk=False).ratio() for other in lines[start:]]
    return start + ratios.index(max(ratios)) if ratios else start


def promote(page: Path) -> int:
    """Writes the outputs, programs and pictures of a page afresh; returns how many of its blocks changed."""
    changes = 0

    def rewritten(match: re.Match[str]) -> str:
        nonlocal changes
        head, body = match[1], match[2]
        if body.startswith(PROMPT):
            command, _, shown = body.partition("\n")
            printed = printed_by(command.removeprefix("$ ")).rstrip().splitlines()
            if fits(comparable(shown), comparable("\n".join(printed))):
                return match[0]
            if not printed:
                print(f"{page}: nothing printed by {command}", file=sys.stderr)
                return match[0]
            lines = [command, *promoted(shown.splitlines(), printed)]
        elif len(head.split()) == 2:
            lines = promoted(body.splitlines(), listing(page.parent, head.split()[1]).splitlines())
        else:
            return match[0]
        block = "\n".join([f"```{head}", *(line.rstrip() for line in lines), "```"])
        changes += block != match[0]
        return block

    page.write_text(FENCE.sub(rewritten, page.read_text()))
    for name, command in pictures(page):
        printed_by(command)
        (page.parent / name).write_text((workplace() / name).read_text())
    return changes


if __name__ == "__main__":
    if sys.argv[1:2] != ["--promote"]:
        sys.exit("usage: python -m tests.test_lectures --promote [PAGE ...]")
    os.environ["COLUMNS"] = "80"
    for chosen in [Path(name) for name in sys.argv[2:]] or [OVERVIEW, *PAGES]:
        print(f"{chosen}: {promote(chosen.resolve())} blocks changed")
