"""The chapters of `pgasrob explain`, in their order: the theory of the paper on one program.

A chapter is a title and blocks. Everything that a block says is taken from an
:class:`~pgasrob.robustness.explanation.Explanation`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pgasrob.render.explanation import decision_chapters, run_chapters
from pgasrob.render.explanation.blocks import Block, Subject
from pgasrob.robustness.explanation import Explanation


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter: ``name`` is what `--only` takes."""

    number: int
    name: str
    title: str
    blocks: list[Block] = field(default_factory=list)


NAMES = (
    "program",
    "computation",
    "happens-before",
    "sigma",
    "normal-form",
    "heads",
    "marked-word",
    "emptiness",
    "attack",
)
"""The names of the chapters, in their order."""
SEARCHES = ("emptiness", "attack")
"""Those that compare the engines."""


class NoSuchChapter(Exception):
    """There is no chapter of that number or name."""


def chapter_name(given: str) -> str:
    """The name of the chapter with the number or name ``given``; the beginning of a name is enough."""
    numbers = {str(number): name for number, name in enumerate(NAMES, 1)}
    if given in numbers:
        return numbers[given]
    found = [name for name in NAMES if given and name.startswith(given)]
    if len(found) != 1:
        raise NoSuchChapter(f"no chapter {given!r}; there is {', '.join(NAMES)}, or 1 to {len(NAMES)}")
    return found[0]


def chapters(explanation: Explanation, only: str | None = None) -> list[Chapter]:
    """The chapters on ``explanation``, or the one of the name ``only``; the first alone where there is no verdict."""
    written = (
        ("The program and its control automata", run_chapters.program),
        ("A computation", run_chapters.computation),
        ("Its happens-before relation", run_chapters.happens_before),
        ("The last command e, and sigma", run_chapters.sigma),
        ("The normal form", run_chapters.normal_form),
        ("What each head generates", decision_chapters.heads),
        ("The marked word and its cycle type", decision_chapters.marked_word),
        ("Intersection and emptiness", decision_chapters.emptiness),
        ("What the attack search did instead", decision_chapters.attack),
    )
    subject = Subject(explanation)
    return [
        Chapter(number, name, title, list(blocks(subject)))
        for number, (name, (title, blocks)) in enumerate(zip(NAMES, written, strict=True), 1)
        if only == name or (only is None and (number == 1 or subject.is_decided))
    ]
