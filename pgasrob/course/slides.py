"""Makes slides of a lecture page: one self-contained HTML page for a projector of 1280 by 800.

What stands out of a page is on the slides: claims, programs, answers, pictures, tables, lists, and of prose the first
sentences. The prose itself is the speaker's notes (key `n`). Where an answer shows a run, the run is drawn, and the
keys go through it step by step, with the program beside it.

How large letters are is computed here from lines and columns, so that a slide is filled and nothing falls off.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import assert_never

from pgasrob import file_input
from pgasrob.course.lecture_page import GAP, PROMPT, Part, beginning, first_line, markdown
from pgasrob.drawing.palette import COLOURS
from pgasrob.render import words
from pgasrob.render.diagram.model import numbered, shown
from pgasrob.render.lines import wrap
from pgasrob.render.page import filled, framed, part
from pgasrob.render.run_svg import to_svg
from pgasrob.render.verdict_json import Result

WIDTH, HEIGHT = 1180, 626
"""Pixels below the heading of a slide."""
LETTER, LINE = 0.605, 1.32
"""Width of a letter and height of a line of a fixed-width font, in its size."""
SMALLEST, LARGEST = 15.0, 23.0
"""Sizes of letters of programs and answers."""
COLUMNS = 46
"""Columns up to which a program stands beside its run."""
COLUMNS_ALONE = 110
"""Columns from which on the lines of an answer are wrapped."""
MAGNIFIED = 1.5
"""A picture is drawn at most so large; in its own size its letters have 13 pixels."""
RUN = re.compile(r"^ *step │", re.MULTILINE)
ITEMS = 6
"""Paragraphs that one slide sums up."""
PROSE, LEAD = 720, 170
"""Characters of prose on a slide of its own, and above a program, answer or picture."""
SHORT = 400
"""Characters of a definition or lemma that leaves room below it."""
NARROWEST = 380
"""Pixels beside a program that prose has room in."""
LINK, TAG = re.compile(r"</?a\b[^>]*>"), re.compile(r"<[^>]*>")

Draw = Callable[[str], Result | None]
"""The result of a command line with the run that it shows; None where there is none to draw."""


@dataclass(slots=True)
class Slide:
    """``lead``, above the ``body``, and ``notes`` are HTML, too; ``kind`` is what the slide shows.

    Prose that follows it on the page may go onto the slide, into as many pixels as are left ``beside`` or ``below``.
    """

    kind: str
    title: str
    body: str
    notes: str = ""
    lead: str = ""
    beside: float = 0
    below: float = 0


def to_slides(name: str, page: Sequence[Part], folder: Path, draw: Draw, solutions: bool = True) -> str:
    """The slides of the ``page`` called ``name``, which is in ``folder`` with its programs and pictures, as HTML.

    ``draw`` gives the runs. Without ``solutions`` those of the exercises are left out. Raises OSError for a program or
    picture that is not there.
    """
    slides = _Deck(page, folder, draw, solutions).slides()
    sections = "".join(_section(number, len(slides), slide) for number, slide in enumerate(slides, 1))
    light, dark = ("".join(f"--pg-{key}:{pair[side]};" for key, pair in COLOURS.items()) for side in (0, 1))
    style = filled(part("slides.css", "course"), {"light": light, "dark": dark})
    script = part("slides.js", "course")
    body = filled(part("slides.html", "course"), {"slides": sections, "count": str(len(slides)), "script": script})
    return framed(name, style, body, script)


def _section(number: int, count: int, slide: Slide) -> str:
    heading = f"<h2>{slide.title}</h2>" if slide.kind != "title" else f"<h1>{slide.title}</h1>"
    notes = f'<aside class="notes">{slide.notes}</aside>' if slide.notes else ""
    return (
        f'<section class="slide {slide.kind}" id="s{number}" aria-label="Slide {number} of {count}"><div class="stage">'
        f'{heading}<div class="body">{slide.lead}{slide.body}</div><footer>{number}</footer></div>{notes}</section>\n'
    )


class _Deck:
    """Turns the parts of a page into slides, one after the other."""

    def __init__(self, page: Sequence[Part], folder: Path, draw: Draw, solutions: bool) -> None:
        self.page, self.folder, self.draw, self.solutions = page, folder, draw, solutions
        self.markdown = markdown()
        self.made: list[Slide] = []
        self.title = self.section = ""
        self.prose: list[str] = []
        """Paragraphs that no slide has yet."""
        self.claim: Part | None = None
        """A claim that no slide has yet."""
        self.program: Part | None = None
        """The program that was shown last."""
        self.drawn: set[str] = set()
        """Files that commands of the page write runs to."""

    def slides(self) -> list[Slide]:
        skipping = False
        for place, each in enumerate(self.page):
            if each.kind == "solution":
                self.place_prose()
                self.title, skipping = f"{self.title}: solution", not self.solutions
            elif each.kind == "end":
                self.place_prose()
                self.title, skipping = self.section, False
            elif not skipping and not (place == 1 and each.kind == "prose"):  # which the title has
                self.take(each)
        self.place_prose()
        return self.made

    def take(self, each: Part) -> None:
        """Make slides of the part ``each``, or keep it for a later slide."""
        match each.kind:
            case "heading":
                self.place_prose()
                self.section = self.title = self.inline(each.text)
                if each.name == "1":
                    lecture, _, what = each.text.partition(": ")
                    about = self.page[1].text if len(self.page) > 1 and self.page[1].kind == "prose" else ""
                    body = f'<p class="lecture">{self.inline(lecture)}</p>{self.html(about)}'
                    self.made.append(Slide("title", self.inline(what or lecture), body))
            case "prose":
                self.prose.append(each.text)
            case "claim":
                self.place_prose()
                self.claim = each
            case "list" | "quote" | "table":
                self.written(each)
            case "program":
                self.listing(each)
            case "command":
                self.answer(each)
            case "text":
                self.texts("text", each.text.rstrip("\n").splitlines())
            case "picture":
                self.picture(each)
            case "solution" | "end":
                raise AssertionError("not within a part")
            case _:
                assert_never(each.kind)

    def html(self, text: str) -> str:
        """Markdown as HTML. Links lead to pages that the slides do not come with, and are left out."""
        return LINK.sub("", self.markdown.render(text))

    def inline(self, text: str) -> str:
        return LINK.sub("", self.markdown.renderInline(" ".join(text.split())))

    def begun(self, paragraphs: Sequence[str], room: float) -> list[str]:
        """The first sentences of ``paragraphs``, in ``room`` characters altogether, as HTML."""
        return [self.inline(beginning(each, int(room / len(paragraphs)))) for each in paragraphs]

    def place_prose(self) -> None:
        """Put the prose so far onto the last slide if it has room; else make slides of it, and of a claim without an
        answer."""
        paragraphs, self.prose = self.prose, []
        if paragraphs and self.made and self.claim is None and self.beside(self.made[-1], paragraphs):
            return
        claim = self.claimed()
        for start in range(0, max(len(paragraphs), bool(claim)), ITEMS):
            some = paragraphs[start : start + ITEMS]
            points = self.begun(some, PROSE)
            self.made.append(Slide("prose", self.title, _points(points), self.notes(some), "" if start else claim))

    def beside(self, slide: Slide, paragraphs: list[str]) -> bool:
        """Put ``paragraphs`` beside or below what ``slide`` shows; returns whether there was room."""
        if slide.title != self.title:
            return False
        if slide.beside >= NARROWEST:
            points = self.begun(paragraphs, slide.beside * HEIGHT / 640)
            if sum(_lines(each, slide.beside) for each in points) * 30 + 20 * len(points) > HEIGHT * 0.9:
                return False
            slide.body = f'<div class="columns">{slide.body}<div class="aside">{_points(points)}</div></div>'
            slide.beside = 0
        else:
            paragraph_html = "".join(f"<p>{each}</p>" for each in self.begun(paragraphs, PROSE / 2))
            if slide.below < sum(33 * _lines(each, WIDTH) + 20 for each in paragraph_html.split("</p>")):
                return False
            slide.body += f'<div class="after">{paragraph_html}</div>'
            slide.below = 0
        slide.notes += self.notes(paragraphs)
        return True

    def notes(self, paragraphs: Sequence[str]) -> str:
        return self.html("\n\n".join(paragraphs))

    def claimed(self) -> str:
        claim, self.claim = self.claim, None
        return f'<p class="claim"><b>Claim {escape(claim.name)}</b> {self.inline(claim.text)}</p>' if claim else ""

    def lead(self) -> tuple[str, str]:
        """The top of the next slide (the claim, or the beginning of the last paragraph) and its notes. Makes slides of
        the other prose so far."""
        if self.claim:
            paragraphs, self.prose = self.prose, []
            return self.claimed(), self.notes(paragraphs)
        last = self.prose.pop() if self.prose else ""
        self.place_prose()
        lead = f'<p class="lead">{self.inline(beginning(last, LEAD))}</p>' if last else ""
        return lead, self.notes([last])

    def written(self, each: Part) -> None:
        lead, notes = self.lead()
        size = 25.0
        if each.kind == "table":
            rows = [row for row in each.text.splitlines() if not re.fullmatch(r"[|: -]+", row)]
            high = sum(0.7 + 1.36 * _lines(row, WIDTH, 2 * 12.4) for row in rows)  # cells do not end where lines do
            size = min(size, 0.92 * (HEIGHT - _height(lead)) / high)
        elif each.kind == "list":
            size = min(size, math.sqrt(WIDTH * (HEIGHT - _height(lead)) * 0.6 / (0.75 * max(len(each.text), 1))))
        body = f'<div style="font-size:{max(size, SMALLEST):.1f}px">{self.html(each.text)}</div>'
        below = HEIGHT * 0.45 if each.kind == "quote" and len(each.text) < SHORT else 0
        self.made.append(Slide(each.kind, self.title, body, notes, lead, below=below))

    def texts(self, kind: str, lines: list[str], first: int | None = None, notes: str = "") -> None:
        """Make slides of ``lines``, numbered from ``first`` on, below the lead."""
        lead, notes_so_far = self.lead()
        height = HEIGHT - _height(lead)
        at = 0
        for piece in _pieces(lines, int(height / (SMALLEST * LINE)) - 1):
            number = None if first is None else first + at
            text, wide, high = _pre(piece, height, WIDTH, number)
            side = WIDTH - wide - 50 if kind == "program" else 0
            notes_so_far = notes if at else notes_so_far + notes
            self.made.append(Slide(kind, self.title, text, notes_so_far, lead, side, height - high - 30))
            at += len(piece)

    def listing(self, each: Part) -> None:
        first = first_line(each.text, self.folder / each.name)
        notes = f"<p><code>{escape(each.name)}</code></p>"
        self.texts("program", each.text.rstrip("\n").splitlines(), first, notes)
        self.program = each

    def answer(self, each: Part) -> None:
        """Make slides of a command and its output; a run in the output becomes a picture on a slide of its own."""
        self.drawn |= {after for word, after in pairwise(each.name.split()) if word == "--witness"}
        output = each.text.rstrip("\n")
        run = RUN.search(output)
        result = self.draw(each.name) if run else None
        if run and result and shown(result):
            output = output[: run.start()].rpartition("\n\n")[0]
        notes = f"<pre>{escape(PROMPT + each.name)}\n{escape(each.text)}</pre>"
        lines = [line for long in _short(output).splitlines() for line in wrap(long, COLUMNS_ALONE, rest="    ")]
        self.texts("answer", [*_wrapped(f"{PROMPT}{_short(each.name)}"), *lines], notes=notes)
        if run and result:
            self.run(result, notes)

    def run(self, result: Result, notes: str) -> None:
        """Make a slide of the run of ``result``: the diagnosis above, the program beside it, the cycle below."""
        witness = shown(result)
        if witness is None:
            return
        lead = f'<p class="lead">{escape(diagnosis)}</p>' if (diagnosis := words.diagnosis(witness)) else ""
        edges = [escape(each) for each in words.cycle(numbered(witness), witness["computation"])]
        cycle = f'<ol class="cycle">{"".join(f"<li data-number>{each}</li>" for each in edges)}</ol>' if edges else ""
        high = sum(25 * _lines(each, WIDTH, 9.6) + 4 for each in edges)
        height = HEIGHT - 10 - _height(lead) - high
        if height < HEIGHT / 2:
            cycle, height = "", height + high
        program, room = "", float(WIDTH)
        if self.program and Path(result["file"]).name == Path(self.program.name).name:
            lines = self.program.text.rstrip("\n").splitlines()
            first = first_line(self.program.text, self.folder / self.program.name)
            columns = max(map(len, lines)) + 4
            if first is not None and columns <= COLUMNS and (len(lines) + 1) * SMALLEST * LINE <= height:
                program, wide, _ = _pre(lines, height, min(430.0, columns * LETTER * 19), first)
                room = WIDTH - wide - 30
        at = [event["line"] for event in witness["computation"]]
        picture = _scaled(to_svg(result, embedded=True, captions=False, cycle_only=True), room, height)
        drawing = f'<div class="drawing" data-lines="{json.dumps(at)}">{picture}</div>'
        self.made.append(Slide("run", self.title, f'<div class="columns">{program}{drawing}</div>{cycle}', notes, lead))

    def picture(self, each: Part) -> None:
        if each.name in self.drawn:  # as a run, just before
            return
        lead, notes = self.lead()
        svg = file_input.text(self.folder / each.name, file_input.SOURCE)
        names = f"s{len(self.made)}-"  # those of a picture are the only ones of their kind in its own file alone
        svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\1{names}", svg[svg.index("<svg") :])
        picture = _scaled(svg, WIDTH, HEIGHT - _height(lead))
        self.made.append(Slide("picture", self.title, f'<div class="drawing">{picture}</div>', notes, lead))


def _points(points: Sequence[str]) -> str:
    """``points`` as an HTML list; a single one as a paragraph."""
    if len(points) < 2:
        return "".join(f"<p>{each}</p>" for each in points)
    return f'<ul class="points">{"".join(f"<li>{each}</li>" for each in points)}</ul>'


def _lines(html: str, width: float, letter: float = 12.4) -> int:
    """How many lines a text takes at most."""
    return math.ceil(len(TAG.sub("", html)) * letter / width)


def _height(lead: str) -> float:
    """How many pixels a claim or lead takes at most."""
    return 46 + 33 * _lines(lead, WIDTH) if lead else 0


def _short(text: str) -> str:
    """``text`` with the names of files instead of their paths."""
    return re.sub(r"(?<![\w/.])programs/[\w/.-]*/([\w.-]+)", r"\1", text)


def _wrapped(command: str, columns: int = 88) -> list[str]:
    """A command line on as many lines as it needs."""
    lines = [""]
    for word in command.split(" "):
        if lines[-1] and len(lines[-1]) + len(word) > columns:
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += (" " if lines[-1].strip() else "") + word
    return lines


def _pieces(lines: list[str], most: int) -> Iterator[list[str]]:
    """``lines`` in pieces of at most ``most``, divided at a blank line if there is one in the second half."""
    while len(lines) > most:
        blank = next((place for place in range(most, most // 2, -1) if not lines[place].strip()), most)
        yield lines[:blank]
        lines = lines[blank:]
        while lines and not lines[0].strip():
            lines = lines[1:]
    yield lines


def _pre(lines: list[str], height: float, width: float, first: int | None) -> tuple[str, float, float]:
    """``lines`` as HTML in letters as large as fit, numbered from ``first`` on; with its width and height."""
    digits = 0 if first is None else len(str(first + len(lines)))
    columns = max([*map(len, lines), 1]) + (digits and digits + 2)
    size = min(LARGEST, (width - 8) / (columns * LETTER), height / ((len(lines) + 1) * LINE))
    numbered_lines = []
    for number, line in enumerate(lines, first or 0):
        text = escape(line) or " "
        faint = " class=faint" if line.strip() == GAP or line.startswith(PROMPT) else ""
        if first is None:
            numbered_lines.append(f"<span{faint}>{text}</span>")
        else:
            numbered_lines.append(f'<span data-line="{number}"><i>{number:>{digits}}</i>  {text}</span>')
    pre = f'<pre style="font-size:{size:.1f}px">' + "\n".join(numbered_lines) + "</pre>"
    return pre, columns * LETTER * size, (len(lines) + 1) * LINE * size


def _scaled(svg: str, width: float, height: float) -> str:
    """The picture as large as fits."""
    head, rest = svg.split(">", 1)
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', head)
    assert found, "pictures of the project have one"
    scale = min(width / float(found[1]), height / float(found[2]), MAGNIFIED)
    head = re.sub(r'\b(width|height)="[^"]*"', "", head)
    return f'{head} width="{scale * float(found[1]):.0f}" height="{scale * float(found[2]):.0f}">{rest}'
