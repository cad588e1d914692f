"""The chapters of an explanation as one self-contained HTML page without scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from pgasrob.render import words
from pgasrob.render.explanation.blocks import Block, Drawing, Points, Remark, Rows, ShownRun, Text, Word, witness_of
from pgasrob.render.explanation.chapters import Chapter
from pgasrob.render.page import framed
from pgasrob.render.run_json import Event, Witness
from pgasrob.render.run_svg import to_svg as run_to_svg
from pgasrob.render.stage_pictures import automaton_svg
from pgasrob.render.verdict_text import initially

STYLE = """
:root{color-scheme:light dark;--pg-paper:#ffffff;--pg-ink:#1a1d21;--pg-faint:#5b6470;--pg-accent:#b3261e;
--rule:#dfe3e8;--shade:#f4f6f9;--step:#e9f0f8}
@media (prefers-color-scheme:dark){:root{--pg-paper:#14171a;--pg-ink:#e6e8eb;--pg-faint:#9aa4b0;--pg-accent:#ff8a80;
--rule:#2a3037;--shade:#1a1f25;--step:#1d2b3a}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem 1rem 4rem;max-width:62rem;background:var(--pg-paper);color:var(--pg-ink);
font:1rem/1.55 system-ui,"DejaVu Sans","Liberation Sans",sans-serif;overflow-wrap:break-word}
sub{font-size:.8rem}h1{font-size:1.5rem;line-height:1.3;margin:.2em 0 .6em}
h2{font-size:1.25rem;line-height:1.3;margin:2.6rem 0 .8rem;padding-top:.8rem;border-top:1px solid var(--rule)}
p{max-width:46rem;margin:.8rem 0}
a{color:inherit;text-underline-offset:.2em;text-decoration-color:var(--pg-faint)}
nav ol{columns:18rem;padding-left:1.6rem;margin:0}
nav,details{background:var(--shade);border-radius:8px;padding:.8rem 1rem;margin:1rem 0}
code,pre,td,.word{font-family:ui-monospace,"DejaVu Sans Mono","Liberation Mono",Menlo,Consolas,monospace;
font-size:.85rem}
pre{margin:.6rem 0 0;line-height:1.45}
summary{cursor:pointer}
.remark{color:var(--pg-faint);font-size:.9rem}
.wide{overflow-x:auto;margin:1rem 0;-webkit-overflow-scrolling:touch}
.wide:focus-visible{outline:2px solid var(--pg-accent);outline-offset:2px}
.wide svg{display:block}
.figures{display:flex;flex-wrap:wrap;gap:0 3rem}
figure{margin:.6rem 0;max-width:100%}
figcaption{font-size:.9rem;color:var(--pg-faint)}
table{border-collapse:collapse}
th{text-align:left;font-size:.8rem;color:var(--pg-faint);font-weight:600}
th,td{padding:.28rem .9rem .28rem 0;vertical-align:top;border-bottom:1px solid var(--rule)}
.run th,.run td{padding:.28rem .7rem;min-width:9rem}
.run th:first-child,.run td:first-child{text-align:right;color:var(--pg-faint);min-width:0;white-space:nowrap}
.run .steps{background:var(--step)}
.run .cycle{box-shadow:inset 3px 0 var(--pg-accent);font-weight:600}
.run .part td{text-align:left;color:var(--pg-faint);background:var(--shade);font-style:italic}
.effect{display:block;color:var(--pg-faint);font-weight:400}
.faint{color:var(--pg-faint)}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.35rem 1rem;max-width:46rem;margin:.8rem 0}
dt{font-weight:600;font-family:ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;font-size:.85rem;
padding-top:.15rem}
dd{margin:0}
.word{display:flex;flex-wrap:wrap;gap:.3rem;margin:.8rem 0}
.word span{background:var(--step);border-radius:5px;padding:.05rem .4rem}
.word .bar{background:none;color:var(--pg-faint);font-weight:700}
.word .marked{outline:2px solid var(--pg-accent);outline-offset:-1px}
.verdict{white-space:nowrap}
@media (max-width:30rem){dl{grid-template-columns:minmax(0,1fr);gap:0}dd{margin:0 0 .5rem .8rem}}
@media print{:root{--pg-paper:#fff;--pg-ink:#000;--pg-faint:#444;--pg-accent:#000;--rule:#bbb;--shade:#fff;--step:#fff}
body{max-width:none;padding:0;font-size:10pt}nav,details{border:1px solid #bbb}h2{break-after:avoid}
tr,dl>*,.word span{break-inside:avoid}.wide{overflow:visible}.wide svg{max-width:100%;height:auto}}
"""


def to_html(title: str, chapters: Sequence[Chapter], source: str) -> str:
    """``chapters`` under ``title`` as a page; ``source`` is the text of the program."""
    contents = "".join(
        f'<li value="{each.number}"><a href="#{each.name}">{escape(each.title)}</a></li>\n' for each in chapters
    )
    body = "\n".join(_chapter(each) for each in chapters)
    return framed(
        title,
        STYLE,
        f"""<body>
<header>
<h1>{escape(title)}</h1>
<p>The theory of the paper on this program, step by step: G. Calin, E. Derevenetc, R. Majumdar, R. Meyer,
<cite>A Theory of Partitioned Global Address Spaces</cite>, FSTTCS 2013.</p>
<nav aria-label="Chapters">
<ol>
{contents}</ol>
</nav>
<details>
<summary>The program</summary>
<div class="wide" tabindex="0" role="region" aria-label="The program"><pre>{_numbered(source)}</pre></div>
</details>
</header>
<main>
{body}
</main>
</body>
""",
    )


def _numbered(source: str) -> str:
    lines = source.splitlines()
    width = len(str(len(lines)))
    return "\n".join(
        f'<span class="faint">{number:>{width}}</span>  {escape(line)}' for number, line in enumerate(lines, 1)
    )


def _chapter(chapter: Chapter) -> str:
    blocks = "\n".join(_grouped(chapter.blocks))
    return f'<section id="{chapter.name}">\n<h2>{chapter.number}. {escape(chapter.title)}</h2>\n{blocks}\n</section>'


def _grouped(blocks: Sequence[Block]) -> Iterator[str]:
    """The blocks, with neighbouring drawings side by side where there is room."""
    for drawings, group in groupby(blocks, lambda block: isinstance(block, Drawing)):
        inside = "\n".join(map(_block, group))
        yield f'<div class="figures">{inside}</div>' if drawings else inside


def _block(block: Block) -> str:
    match block:
        case Text(text):
            return f"<p>{_with_code(text)}</p>"
        case Remark(text):
            return f'<p class="remark">{_with_code(text)}</p>'
        case Points(points):
            return (
                "<dl>"
                + "".join(f"<dt>{escape(label)}</dt><dd>{_with_code(text)}</dd>" for label, text in points)
                + "</dl>"
            )
        case Rows(header, rows):
            return _wide(_table(header, rows), "A table")
        case Word(letters):
            return '<div class="word">' + "".join(map(_symbol, letters)) + "</div>"
        case Drawing(graph, caption, taken, _):
            drawn = _wide(automaton_svg(graph, taken), graph.title)
            return f"<figure><figcaption>{escape(caption)}</figcaption>{drawn}</figure>"
        case ShownRun(result, "table"):
            return _wide(_run(witness_of(result)), "A run")
        case ShownRun(result, _):
            return _wide(run_to_svg(result, embedded=True, captions=False), "Happens-before, drawn")


def _with_code(text: str) -> str:
    """``text`` escaped for HTML, with backquoted pieces as code."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if index % 2 else piece for index, piece in enumerate(pieces))


def _wide(inside: str, label: str) -> str:
    """``inside`` in a box that scrolls sideways, by the keyboard too."""
    return f'<div class="wide" tabindex="0" role="region" aria-label="{escape(label)}">{inside}</div>'


def _symbol(letter: str) -> str:
    kind = "bar" if letter == "|" else "marked" if "{" in letter else ""
    return f'<span class="{kind}">{escape(letter)}</span>' if kind else f"<span>{escape(letter)}</span>"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"


def _run(witness: Witness) -> str:
    """A run as a table with a column per rank that has an event."""
    events = witness["computation"]
    ranks = sorted({event["rank"] for event in events})
    head = "<th>step</th>" + "".join(f"<th>rank {rank}</th>" for rank in ranks)
    marked = words.cycle_steps(witness)
    rows, part = [], None
    for places in words.rows(events):
        first = events[places[0]]
        if first["part"] != part:
            part = first["part"]
            rows.append(f'<tr class="part"><td colspan="{len(ranks) + 1}">τ<sub>{part}</sub></td></tr>')
        number = str(places[0] + 1) if len(places) == 1 else f"{places[0] + 1}-{places[-1] + 1}"
        here = {events[place]["rank"]: place for place in places}
        cells = "".join(_cell(here.get(rank), events, marked) for rank in ranks)
        rows.append(f"<tr><td>{number}</td>{cells}</tr>")
    begin = f'<p class="remark">{escape(initially(witness))}</p>'
    body = "\n".join(rows)
    return f'{begin}<table class="run"><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>'


def _cell(place: int | None, events: list[Event], marked: set[int]) -> str:
    if place is None:
        return "<td></td>"
    event = events[place]
    step = event["event"] in words.STEPS
    classes = " ".join(["steps"] * step + ["cycle"] * (place in marked))
    action = event["command"]
    if step:
        action = f"{words.step_name(place, events).rstrip(':')} of step {words.issue_of(place, events) + 1}"
    line = f'<span class="faint" title="line {event["line"]}">{event["line"]}</span> ' if event["line"] else ""
    effects = "".join(f'<span class="effect">{escape(effect)}</span>' for effect in words.effects(event))
    return f'<td{f""" class="{classes}" """.rstrip() if classes else ""}>{line}{escape(action)}{effects}</td>'
