"""Makes a Jupyter notebook (nbformat 4.5) of a lecture page: its programs can be changed, its commands run.

Cells with programs write them, below the folder of the notebook, where the commands of the page look for them; so the
commands are those of the page. What they print is left to the notebook. A counterexample is shown as a picture, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

from pgasrob.course.lecture_page import Part

HEAD = "In this notebook programs can be changed and commands run. Cells that begin with `%%writefile` write a program."
SETUP = "import pgasrob\nfrom IPython.display import SVG"
SHELL = "%%sh --no-raise-error"
"""What a cell with a command begins with: unlike with `!`, it does not write to a terminal, so that there is no
progress, which a notebook cannot take back; and an exit code of 1 is an answer."""
ONE_CHECK = re.compile(r"pgasrob check (programs/\S+\.(?:pgas|c))")
RUN = re.compile(r"^ *step │", re.MULTILINE)
LINK = re.compile(r"\[([^\]]+)\]\((?!\w+://)[^)]*\)")
"""A link to another page, which does not come with the notebook."""
KEPT_APART = ("heading", "claim")
"""The parts that a cell of text begins with."""


def to_notebook(page: Sequence[Part], place: str, programs: dict[str, str], solutions: bool = True) -> str:
    """The notebook of a ``page`` whose programs the commands look for in the folder ``place``; ``programs`` has the
    texts of its programs by their names. Without ``solutions`` those of the exercises are left out."""
    cells = [_markdown(f"# {page[0].text}\n\n{HEAD}"), _code(SETUP)]
    text: list[str] = []
    in_solution = False

    def text_cell() -> Iterator[dict[str, Any]]:
        if text:
            yield _markdown("\n\n".join(text), in_solution)
            text.clear()

    for part in page[1:]:
        if part.kind in ("solution", "end"):
            cells += text_cell()
            in_solution = part.kind == "solution"
            if in_solution and solutions:
                text.append("**Solution.**")
        elif in_solution and not solutions:
            continue
        elif code := list(_code_cells(part, place, programs)):
            cells += text_cell()
            cells += [_code(each, in_solution) for each in code]
        else:
            if part.kind in KEPT_APART:
                cells += text_cell()
            text.append(_text(part))
    cells += text_cell()
    for number, cell in enumerate(cells):
        cell["id"] = sha256(f"{number} {cell['source']}".encode()).hexdigest()[:12]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def _code_cells(part: Part, place: str, programs: dict[str, str]) -> Iterator[str]:
    """The code cells for a part of the page; none where the part is text."""
    if part.kind == "program":
        yield f"%%writefile {place}/{part.name}\n{programs[part.name]}"
    elif part.kind == "command":
        yield f"{SHELL}\n{part.name}"
        one = ONE_CHECK.fullmatch(part.name)
        if one and RUN.search(part.text):
            yield f'pgasrob.check(pgasrob.load("{one[1]}"))'
    elif part.kind == "picture":
        yield f'SVG("{part.name}")'


def _text(part: Part) -> str:
    match part.kind:
        case "heading":
            return f"{'#' * int(part.name)} {part.text}"
        case "claim":
            return f"**Claim {part.name}.** {part.text}"
        case "text":
            return f"```text\n{part.text}```"
    return LINK.sub(r"\1", part.text)


def _markdown(text: str, solution: bool = False) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": _metadata(solution), "source": text}


def _code(text: str, solution: bool = False) -> dict[str, Any]:
    code: dict[str, Any] = {"cell_type": "code", "execution_count": None, "metadata": _metadata(solution)}
    return {**code, "outputs": [], "source": text.rstrip("\n")}


def _metadata(solution: bool) -> dict[str, Any]:
    return {"tags": ["solution"]} if solution else {}
