"""Reads a lecture page, Markdown, into a sequence of parts, from which slides and notebooks are made.

A page is Markdown with a few habits, which `programs/lectures/README.md` describes and the tests of the lectures hold
it to: a fence that begins with ``$ pgasrob`` has a command and what it prints, a fence that names a language and a file
has a program, ``**Claim 1.2.**`` begins a claim, a picture stands alone in its paragraph, and the solution of an
exercise is within ``<details>``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pgasrob import file_input

PROMPT = "$ "
GAP = "..."
"""A line that stands for output or commands that have been left out."""
CLAIM = re.compile(r"\*\*Claim (\S+)\.\*\*\s+(.*)", re.DOTALL)
PICTURE = re.compile(r"!\[([^\]]+)\]\(([\w./-]+)\)")


class BadPage(ValueError):
    """The page contains something that is no part; the message gives the line and what it is."""


Kind = Literal[
    "heading", "prose", "list", "table", "quote", "claim", "program", "command", "text", "picture", "solution", "end"
]


class Part(NamedTuple):
    """A part of a page in Markdown, or what a fence holds.

    ``name`` is the number of a claim, the file of a program or picture, a command line without its prompt, or the
    depth of a heading. "solution" and "end" stand around the solution of an exercise.
    """

    kind: Kind
    text: str
    name: str = ""


def markdown() -> MarkdownIt:
    """The parser of the pages: CommonMark with tables."""
    return MarkdownIt("commonmark").enable("table")


def parts(text: str) -> list[Part]:
    """The parts of the page ``text`` in order. Raises :class:`BadPage`."""
    lines = text.splitlines()
    found = [part for token in markdown().parse(text) if token.level == 0 for part in _part(token, lines)]
    if not found or found[0].kind != "heading" or found[0].name != "1":
        raise BadPage("line 1: a lecture page begins with its title, as in `# Lecture 1: One-sided communication`")
    return found


def _part(token: Token, lines: list[str]) -> Iterator[Part]:
    source = "\n".join(lines[slice(*token.map)]) if token.map else ""
    match token.type:
        case "heading_open":
            yield Part("heading", source.lstrip("# "), token.tag[1:])
        case "fence":
            yield _fence(token.info.split(), token.content)
        case "table_open":
            yield Part("table", source)
        case "bullet_list_open" | "ordered_list_open":
            yield Part("list", source)
        case "blockquote_open":
            yield Part("quote", source)
        case "html_block":
            if "<details>" in source:
                yield Part("solution", "")
            elif "</details>" in source:
                yield Part("end", "")
        case "paragraph_open":
            if claim := CLAIM.fullmatch(source):
                yield Part("claim", claim[2], claim[1])
            elif picture := PICTURE.fullmatch(source):
                yield Part("picture", picture[1], picture[2])
            else:
                yield Part("prose", source)
        case other if token.nesting >= 0:
            place = token.map[0] + 1 if token.map else 1
            raise BadPage(f"line {place}: a lecture page has no {other.removesuffix('_open').replace('_', ' ')}")


def _fence(info: list[str], content: str) -> Part:
    if content.startswith(f"{PROMPT}pgasrob"):
        command, _, output = content.partition("\n")
        return Part("command", output, command.removeprefix(PROMPT))
    return Part("program", content, info[1]) if len(info) == 2 else Part("text", content)


def first_line(listing: str, path: Path) -> int | None:
    """The line of the file ``path`` at which its ``listing`` begins; None where the listing has gaps or is not in the
    file."""
    whole, shown = file_input.text(path, file_input.SOURCE).splitlines(), listing.splitlines()
    starts = (place + 1 for place in range(len(whole)) if whole[place : place + len(shown)] == shown)
    return next(starts, None)


SENTENCE = re.compile(r".+?(?<!e\.g)(?<!i\.e)(?<!etc)(?<!vs)[.?!:][)*_\"]*(?=\s+[A-Z`*\"(]|$)", re.DOTALL)


def beginning(paragraph: str, room: int) -> str:
    """The first sentences of a ``paragraph``, as many as fit into ``room`` characters but at least one."""
    text = " ".join(paragraph.split())
    ends = [sentence.end() for sentence in SENTENCE.finditer(text)] or [len(text)]
    return text[: max((end for end in ends if end <= room), default=ends[0])]
