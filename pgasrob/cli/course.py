"""`pgasrob course`: slides of lecture pages."""

from __future__ import annotations

import contextlib
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pgasrob.cli.check import check
from pgasrob.cli.options import HELP, refuse
from pgasrob.cli.race import race

if TYPE_CHECKING:
    from pgasrob.course.pages import Part
    from pgasrob.render.json import Result

EXAMPLES = """\b
Examples:
  pgasrob course slides programs/lectures/*/lecture.md -o slides
"""
DRAWN = {"check": check, "race": race}
"""The commands whose runs are drawn on slides."""


@click.group(context_settings=HELP, epilog=EXAMPLES)
def course() -> None:
    """Teach with the lectures: slides."""


pages_argument = click.argument("pages", metavar="PAGE...", nargs=-1, required=True, type=click.Path())
folder_option = click.option(
    "-o", "--output", "folder", type=click.Path(file_okay=False), default=".", metavar="FOLDER",
    help="Where to write. Default: here.",
)  # fmt: skip


@course.command(context_settings=HELP)
@pages_argument
@folder_option
@click.option("--solutions/--no-solutions", default=True, show_default=True,
              help="With the solutions of the exercises.")  # fmt: skip
def slides(pages: tuple[str, ...], folder: str, solutions: bool) -> None:
    """Make slides of lecture pages: an HTML file each, which needs nothing else.

    Run it in the folder that the commands on the pages are for, that with `programs` in it: runs that a page shows are
    checked again and drawn. Keys: arrows and space (step by step through a run), page up and down, home, end, n for the
    speaker's notes.
    """
    from pgasrob.render.slides import to_slides

    for page in pages:
        parts = _parts(page)
        try:
            deck = to_slides(_name(page), parts, Path(page).parent, _result, solutions)
        except OSError as error:
            refuse(f"pgasrob: {page}: cannot read {error.filename}: {error.strerror}")
        _write(folder, f"{_name(page)}.html", deck)


def _name(page: str) -> str:
    """What is made of a page is called as the folder of a lecture, or as another page."""
    path = Path(page).resolve()
    return path.parent.name if path.stem == "lecture" else path.stem


def _parts(page: str) -> list[Part]:
    from pgasrob.course.pages import BadPage, parts

    try:
        return parts(Path(page).read_text(encoding="utf-8"))
    except OSError as error:
        refuse(f"pgasrob: cannot read {page}: {error.strerror}")
    except UnicodeDecodeError:
        refuse(f"pgasrob: {page} is no text")
    except BadPage as error:
        refuse(f"pgasrob: {page}: {error}")


def _write(folder: str, name: str, text: str) -> None:
    from pgasrob.render.files import replace_file

    path = os.path.join(folder, name)
    try:
        os.makedirs(folder, exist_ok=True)
        replace_file(path, text)
    except OSError as error:
        refuse(f"pgasrob: cannot write {path}: {error.strerror}")
    click.echo(path)


def _result(command: str) -> Result | None:
    """The result of a ``command`` line of a page with the run to draw; None for a command whose runs are not drawn, and
    for one that writes none."""
    import tempfile

    from pgasrob.render.files import drawable
    from pgasrob.render.witness_file import read_results

    words = shlex.split(command)
    missing = [word for word in words[2:] if word.startswith("programs/") and not os.path.exists(word)]
    if missing:
        refuse(f"pgasrob: there is no {missing[0]} here; run this in the folder that the commands on the page are for")
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
        return drawable(read_results(Path(path).read_bytes())[0])
