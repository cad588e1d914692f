"""`pgasrob course`: make slides, notebooks and hand-outs of the lectures, and mark what students hand in."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pgasrob import file_input
from pgasrob.cli.check import check
from pgasrob.cli.declare import HELP, argument, command, option
from pgasrob.cli.exit_codes import ROBUST, UNKNOWN
from pgasrob.cli.option_groups import format_option, max_states_option, memory_for, memory_option, timeout_option
from pgasrob.cli.race import race
from pgasrob.cli.shared_steps import mention_a_missing_kernel, print_json, refuse

if TYPE_CHECKING:
    from pgasrob.course.lecture_page import Part
    from pgasrob.render.verdict_json import Result

EXAMPLES = """\b
Examples:
  pgasrob course slides programs/lectures/*/lecture.md -o slides
  pgasrob course notebook programs/lectures/*/lecture.md -o notebooks
  pgasrob course handout programs/lectures/1_one_sided_communication -o week1
  pgasrob course grade key students/* --format csv > marks.csv
"""
DRAWN = {"check": check, "race": race}
"""The commands whose runs are drawn on slides."""


@click.group(context_settings=HELP, epilog=EXAMPLES)
def course() -> None:
    """Make slides and notebooks, and mark exercises.

    It works on the lectures of this project, and on pages of your own that are written like them.
    """


@dataclass(frozen=True)
class PageOptions:
    """The options of `pgasrob course slides` and `notebook`."""

    # fmt: off
    pages: tuple[str, ...] = argument(metavar="PAGE...", nargs=-1, required=True, type=click.Path())
    folder: str = option("-o", "--output", type=click.Path(file_okay=False), default=".", metavar="FOLDER",
        help="Where to write. Default: here.")
    solutions: bool = option("--solutions/--no-solutions", default=True, show_default=True,
        help="With the solutions of the exercises.")
    # fmt: on


@command(PageOptions, parent=course)
def slides(options: PageOptions) -> None:
    """Make slides of lecture pages: one HTML file per page, which needs nothing else.

    Run it in the folder that contains `programs`, because runs that a page shows are checked again and drawn. Keys:
    arrows and space (step by step through a run), page up and down, home, end, n for the speaker's notes.
    """
    from pgasrob.course.slides import to_slides

    for page in options.pages:
        parts = _parts(page)
        try:
            deck = to_slides(_name(page), parts, Path(page).parent, _result, options.solutions)
        except OSError as error:
            refuse(f"pgasrob: {page}: cannot read {error.filename}: {error.strerror}")
        _write(options.folder, f"{_name(page)}.html", deck)


@command(PageOptions, parent=course)
def notebook(options: PageOptions) -> None:
    """Make Jupyter notebooks of lecture pages: one file per page, and the programs that it needs in `programs`.

    Run it in the folder that contains `programs`, because the commands on the pages are for that folder. In a notebook
    students change programs and run commands; it does not contain the output of the commands. The headers of the
    programs are left out.
    """
    from pgasrob.course.notebook import to_notebook

    for page in options.pages:
        parts = _parts(page)
        place = os.path.relpath(Path(page).parent)
        shown = {part.name: os.path.join(place, part.name) for part in parts if part.kind == "program"}
        needed = [path for part in parts if part.kind == "command" for path in _programs_in(part.name)]
        copied = {path: _handed_out(path) for path in dict.fromkeys([*needed, *shown.values()])}
        for part in parts:
            if part.kind == "command" and "--expect" in part.name.split():  # what it compares with is wanted
                copied |= {path: file_input.text(path, file_input.SOURCE) for path in _programs_in(part.name)}
        texts = {name: copied[path] for name, path in shown.items()}
        for path, text in copied.items():
            _not_the_same(path, os.path.join(options.folder, path))
            _write(options.folder, path, text, announce=False)
        _write(options.folder, f"{_name(page)}.ipynb", to_notebook(parts, place, texts, options.solutions))


def _programs_in(command: str) -> list[str]:
    """The programs that a ``command`` line is about; ends the command where they are not here."""
    from pgasrob.program.files import files_below

    found: list[str] = []
    for word in shlex.split(command)[2:]:
        if word.startswith("programs/"):
            _need(word)
            found += sorted(map(str, files_below(word, (".pgas", ".c", ".litmus")))) if os.path.isdir(word) else [word]
    return found


def _handed_out(path: str) -> str:
    """A program without what its header says."""
    from pgasrob.course.handout import handed_out
    from pgasrob.diagnostics import SourceError
    from pgasrob.program.files import DISK
    from pgasrob.program.parser import read_source

    try:
        return handed_out(read_source(Path(path), DISK), path)
    except SourceError as error:
        refuse(str(error))


def _not_the_same(source: str, target: str) -> None:
    """End the command before a program loses its header to its own copy."""
    if os.path.exists(target) and os.path.samefile(source, target):
        refuse(f"pgasrob: the copy of {source} would take its place; say another folder with -o")


def _need(path: str) -> None:
    """End the command where a file that a page names is not here."""
    if not os.path.exists(path):
        refuse(f"pgasrob: there is no {path} here; run this in the folder that the commands on the page are for")


@dataclass(frozen=True)
class HandoutOptions:
    """The options of `pgasrob course handout`."""

    # fmt: off
    paths: tuple[str, ...] = argument(metavar="FILE...", nargs=-1, required=True, type=click.Path(exists=True))
    folder: str = option("-o", "--output", type=click.Path(file_okay=False), required=True, metavar="FOLDER",
        help="Where to write.")
    # fmt: on


@command(HandoutOptions, parent=course)
def handout(options: HandoutOptions) -> None:
    """Copy programs without the text of their headers.

    The comments at the beginning of a program give its expected verdict and the reason. Their lines are left blank, so
    that other lines keep their numbers. Folders are searched for .pgas and .c files, except those named `solutions`.
    """
    from pgasrob.course.handout import ENDINGS, to_hand_out

    for file, place in to_hand_out(options.paths):
        if file.suffix not in ENDINGS:
            refuse(f"pgasrob: {file}: programs to hand out end in {' or '.join(ENDINGS)}")
        _not_the_same(str(file), os.path.join(options.folder, place))
        _write(options.folder, str(place), _handed_out(str(file)))


GRADING = """\b
Exit code:
  0  everything has been graded
  2  something is wrong with the key, or wrong usage
  3  something is undecided: a limit was reached
"""


@dataclass(frozen=True)
class GradeOptions:
    """The options of `pgasrob course grade`."""

    # fmt: off
    key: str = argument(type=click.Path(exists=True, file_okay=False))
    students: tuple[str, ...] = argument(
        metavar="STUDENT...", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False)
    )
    given: str | None = option("--handout", type=click.Path(exists=True, file_okay=False), metavar="FOLDER",
        help="The programs handed out, for exercises in which nothing may be removed. Default: the programs of KEY.")
    format: str = format_option("json", "csv",
        help="json: one object per student, one per line; csv: one row per student and exercise.")
    max_states: int = max_states_option("Give up on a check (undecided) after so many states; 0: never.")
    timeout: float | None = timeout_option("Give up on a check (undecided) after SECONDS.", 60.0)
    memory_limit: int | None = memory_option(
        "Give up on a check (undecided) that takes so much memory: 500M, 2G; 0: never. Default: three quarters of what "
        "is available.")
    # fmt: on


@command(GradeOptions, parent=course, examples=GRADING)
def grade(options: GradeOptions) -> int:
    """Mark what students have handed in.

    KEY is a folder of programs. Their headers give the expected verdicts of the programs of the same names in each
    folder STUDENT: `// expect: robust at 2..3`. They may also have `// points: 2`, `// changes: insertions` (nothing of
    the hand-out may be removed), or `// asks: verdict` (the student writes the `// expect:`, and leaves the program as
    it is).

    Node counts are those of the key. If a program has to be robust, its sequentially consistent runs have to end like
    those of the key's program, with the same values in the memory that this program declares; the way there may be
    different. If a limit is reached, the answer is undecided, and neither right nor wrong.
    """
    from pgasrob.batch.headers import BadKey
    from pgasrob.course.grade import Grader
    from pgasrob.course.grades import graded_to_json, grades_csv, grades_report
    from pgasrob.render.lines import terminal_width, write
    from pgasrob.robustness.limits import Limits

    limits = Limits(options.max_states or None, options.timeout, memory_for(options.memory_limit, 1))
    mention_a_missing_kernel()
    try:
        grader = Grader(Path(options.key), limits, None if options.given is None else Path(options.given))
        graded = [grader.grade(Path(student)) for student in options.students]
    except BadKey as error:
        refuse(f"pgasrob: {error}")
    if options.format == "json":
        for each in graded:
            print_json(graded_to_json(each))
    elif options.format == "csv":
        click.echo(grades_csv(graded), nl=False)
    else:
        write(grades_report(grader.exercises, graded, terminal_width()), sys.stdout)
    return UNKNOWN if any(each.undecided for each in graded) else ROBUST


def _name(page: str) -> str:
    """The name for what is made of a page: that of the lecture's folder; for another page its own."""
    path = Path(page).resolve()
    return path.parent.name if path.stem == "lecture" else path.stem


def _parts(page: str) -> list[Part]:
    from pgasrob.course.lecture_page import BadPage, parts

    try:
        return parts(file_input.text(page, file_input.SOURCE))
    except OSError as error:
        refuse(f"pgasrob: cannot read {page}: {'; '.join(file_input.why(error))}")
    except UnicodeDecodeError:
        refuse(f"pgasrob: {page} is no text")
    except BadPage as error:
        refuse(f"pgasrob: {page}: {error}")


def _write(folder: str, name: str, text: str, announce: bool = True) -> None:
    from pgasrob.whole_files import replace_file

    path = os.path.join(folder, name)
    replace_file(path, text, make_folders=True)
    if announce:
        click.echo(path)


def _result(command: str) -> Result | None:
    """The result of a ``command`` line of a page with the run to draw; None for a command whose runs are not drawn, and
    for one that writes none."""
    import tempfile

    from pgasrob.render.output_files import drawable
    from pgasrob.render.witness_file import read_results

    words = shlex.split(command)
    for word in words[2:]:
        if word.startswith("programs/"):
            _need(word)
    if words[1] not in DRAWN:
        return None
    if "--witness" in words:  # which the page has its picture from
        del words[words.index("--witness") : words.index("--witness") + 2]
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        path = os.path.join(folder, "run.json")
        quiet = contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere)
        # A refusal leaves no file: of recorded runs that are not here, of models that have runs of their own.
        with quiet[0], quiet[1], contextlib.suppress(click.ClickException):
            DRAWN[words[1]].main([*words[2:], "--witness", path], prog_name="pgasrob", standalone_mode=False)
        if not os.path.exists(path):
            click.echo(f"pgasrob: the run stays a text: {command}", err=True)
            return None
        return drawable(read_results(file_input.read(path))[0])
