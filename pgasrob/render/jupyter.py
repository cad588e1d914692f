"""Verdicts, other answers and programs in Jupyter: HTML fragments and SVG.

A fragment comes among others on a page that is not ours, so every rule of its style sheet begins with its own class,
nothing has an id, and it brings its background along: light, or dark where the page says that it is dark (JupyterLab,
nbconvert, VS Code, Sphinx themes, Colab). What the system prefers does not count, for the notebook may differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING, Literal, cast

from pgasrob.diagnostics import SourceError, visible
from pgasrob.drawing.palette import COLOURS
from pgasrob.models.litmus_answers import Answers
from pgasrob.program.program import Program
from pgasrob.races.race_verdict import RaceVerdict
from pgasrob.render import english, words
from pgasrob.render.diagram.model import numbered, shown
from pgasrob.render.litmus_json import litmus_to_json
from pgasrob.render.litmus_text import NO, OPEN, YES
from pgasrob.render.one_race_text import sentence
from pgasrob.render.one_run_json import simulated_to_json
from pgasrob.render.one_run_text import sentences as of_one_run
from pgasrob.render.outcomes_json import outcomes_to_json
from pgasrob.render.outcomes_text import count_text
from pgasrob.render.races_json import is_about_races, races_to_json
from pgasrob.render.races_text import cost, drawable
from pgasrob.render.races_text import sentences as of_races
from pgasrob.render.repair_text import answer_text, beside
from pgasrob.render.repair_text import sentences as of_repair
from pgasrob.render.run_json import Witness
from pgasrob.render.synchronised_text import in_short
from pgasrob.render.verdict_json import RaceResult, Result, to_json
from pgasrob.render.verdict_text import initially
from pgasrob.render.verdict_text import sentences as of_verdict
from pgasrob.repairs import Repair
from pgasrob.robustness.verdict import Verdict
from pgasrob.runs.outcomes import Outcomes
from pgasrob.runs.simulate import Simulated

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.program.declarations import MemoryObject
    from pgasrob.robustness.stages import Stage

Answered = Verdict | RaceVerdict | Outcomes | Simulated | Repair | Answers
"""The answers that the library gives."""

MOST_EVENTS = 300
"""Events up to which a run is drawn: a notebook keeps what it has shown."""
MOST_STATES = 60
"""Control states of all ranks up to which the control automata are drawn."""
MOST_VALUES = 8
MOST_ROWS = 100
LANGUAGE = "C"
"""The name of the library that is always there, of the language itself."""
LEGEND = (
    "po: program order, solid. cf: conflict, dashed. id: one command, dotted. The heavy numbered edges are the cycle:"
)
DARK = (
    '[data-jp-theme-light="false"]',
    ".vscode-dark",
    ".vscode-high-contrast",
    '[data-theme="dark"]',
    '[theme="dark"]',
)
"""What says that the page around is dark."""
FROM_THE_PAGE = {"paper": "--jp-layout-color0", "ink": "--jp-content-font-color1"}
"""Colours that JupyterLab has names for."""
RULES = """
.pgasrob{background:var(--pg-paper);color:var(--pg-ink);font:14px/1.45 system-ui,sans-serif;padding:8px 12px}
.pgasrob p{margin:4px 0}
.pgasrob ol{margin:4px 0;padding-left:2.2em}
.pgasrob .pgasrob-name{font-size:16px;font-weight:bold}
.pgasrob .pgasrob-faint,.pgasrob .pgasrob-number{color:var(--pg-faint)}
.pgasrob .pgasrob-verdict{font-weight:bold}
.pgasrob .pgasrob-bad{color:var(--pg-accent)}
.pgasrob .pgasrob-scroll{overflow:auto;max-height:48em;margin:8px 0}
.pgasrob svg{max-width:none;background:none}
.pgasrob pre,.pgasrob .pgasrob-mono{font:13px/1.4 ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;
color:inherit}
.pgasrob pre{background:none;border:none;margin:8px 0;padding:0;max-height:60em;overflow:auto;white-space:pre}
.pgasrob .pgasrob-number{user-select:none;-webkit-user-select:none}
.pgasrob summary{cursor:pointer}
.pgasrob table{border-collapse:collapse;margin:8px 0;background:none}
.pgasrob td,.pgasrob th{padding:1px 10px;text-align:right;border-bottom:1px solid var(--pg-faint);
background:none;color:inherit}
"""


def html(shown: Answered | Program | CProgram) -> str:
    """An answer or a program as an HTML fragment."""
    match shown:
        case Verdict():
            return verdict_html(shown)
        case RaceVerdict():
            return races_html(shown)
        case Outcomes():
            return outcomes_html(shown)
        case Simulated():
            return simulated_html(shown)
        case Repair():
            return repair_html(shown)
        case Answers():
            return litmus_html(shown)
        case _:
            return program_html(shown)


def svg(shown: Answered | Program | CProgram) -> str | None:
    """The picture of a verdict, a race, a single run, what is to be repaired, or a program; None when there is none
    that can be drawn."""
    match shown:
        case Verdict():
            return verdict_svg(shown)
        case RaceVerdict():
            return _svg(drawable(races_to_json(shown)))
        case Simulated():
            return _svg(_run_of(shown))
        case Repair():
            return _svg(beside(shown))
        case Outcomes() | Answers():
            return None
        case _:
            return program_svg(shown)


def verdict_html(verdict: Verdict) -> str:
    """The headline, what is known, and the runs that show it, each with its cycle in sentences."""
    result = to_json(verdict)
    faults = result["witness"] and result["witness"]["fault"]  # its run says why there is no verdict
    runs = [each for _, run in words.runs(result) for each in _run(result, run)]
    return _answer(verdict, result, not faults, [text for text, _ in of_verdict(result)], runs, words.cost(result))


def races_html(verdict: RaceVerdict) -> str:
    """The headline, the races in sentences, what else is known, and the run to the first one."""
    result = races_to_json(verdict)
    drawn = drawable(result)
    run = shown(drawn)
    sentences = [f"{english.capital(sentence(race))}." for race in result["races"]]
    sentences += [text for text, _ in of_races(result)]
    return _answer(verdict, result, True, sentences, _run(drawn, run) if run else (), cost(result))


def _answer(
    verdict: Verdict | RaceVerdict, result: Result | RaceResult, with_reason: bool, sentences: Iterable[str],
    runs: Iterable[str], cost: str,
) -> str:  # fmt: skip
    """The fragment of an answer: its headline, its reason, what else is known, errors, runs, and what it cost."""
    bad = result["verdict"] in ("not robust", "race", "error")
    found = result.get("synchronised")
    if isinstance(found, dict):
        bad = found["answer"] != "harmless" and (bad or found["answer"] == "no")
    answer = result["verdict"] if is_about_races(result) else in_short(cast(Result, result))
    body = [_heading(result["program"], answer, result["file"], result["nodes"], bad)]
    if result["reason"] and not result["errors"] and with_reason:
        body.append(f"<p>{_text(result['reason'])}</p>")
    body += [f"<p>{_text(each)}</p>" for each in sentences]
    body += [f"<pre>{escape(error.render())}</pre>" for error in verdict.errors]
    body += runs
    if result["stats"]["seconds"]:
        body.append(f'<p class="pgasrob-faint">{_text(cost)}</p>')
    return _fragment(body)


def simulated_html(simulated: Simulated) -> str:
    """The run, how it ends, and whether an SC run looks like it."""
    result = _run_of(simulated)
    run = result["witness"]
    assert run is not None
    how = f"seed {simulated.seed}, {'on the network' if simulated.network else 'SC'}"
    body = [_heading(result["program"], how, result["file"], result["nodes"])]
    body += [f"<p>{_text(english.capital(sentence))}</p>" for sentence, _ in of_one_run(result, run)]
    return _fragment([*body, *_run(result, run)])


def _run_of(simulated: Simulated) -> Result:
    """A single run in the form that pictures are drawn from."""
    return cast(Result, simulated_to_json(simulated))


def outcomes_html(found: Outcomes) -> str:
    """A table of the outcomes, those that no SC run has marked."""
    result = outcomes_to_json(found, examples=())
    places = [column["name"] for column in result["columns"]]
    rows = result["outcomes"][:MOST_ROWS]
    table = [
        (
            [
                *(str(row["values"][name]) for name in places),
                row["ending"],
                count_text(row["sc_runs"]),
                count_text(row["network_runs"]),
            ],
            bool(row["network_only"]),
        )
        for row in rows
    ]
    only = f", {len(found.network_only)} network-only" if found.network_only else ""
    number = f"{english.count(len(found.outcomes), 'outcome')}{'' if found.complete else ' so far'}{only}"
    body = [_heading(result["program"], number, result["file"], result["nodes"], bad=bool(found.network_only))]
    if result["reason"]:
        body.append(f"<p>{_text(result['reason'])}</p>")
    body.append(_table([*places, "end", "SC runs", "network runs"], table))
    if len(rows) < len(found.outcomes):
        body.append(f'<p class="pgasrob-faint">{len(found.outcomes) - len(rows):,} more outcomes are not listed.</p>')
    return _fragment(body)


def repair_html(repair: Repair) -> str:
    """What is to be repaired, and what each repair changes."""
    first = repair.verdicts[0]
    body = [_heading(first.program, repair.state, first.file, None, repair.state in ("not repaired", "error"))]
    body += [f"<p>{_text(sentence)}</p>" for sentence, _ in of_repair(repair)]
    body += [f"<pre>{escape(error.render())}</pre>" for verdict in repair.verdicts for error in verdict.errors]
    for answer in repair.answers:
        body.append(f"<p><strong>{_text(answer_text(repair, answer))}.</strong></p>")
        diff = "\n".join(_text(line.expandtabs(4)) for line in repair.diff(answer).rstrip("\n").split("\n"))
        body.append(f"<pre>{diff}</pre>")
    return _fragment(body)


def litmus_html(answers: Answers) -> str:
    """A table: which model has which outcome."""
    results = [litmus_to_json(answers.file, each) for each in answers.answers]
    names = list(dict.fromkeys(name for result in results for name in result["names"]))
    found = [{tuple(str(outcome[name]) for name in names) for outcome in result["outcomes"]} for result in results]
    missing = [NO if result["complete"] else OPEN for result in results]
    table = [
        ([*row, *(YES if row in rows else no for rows, no in zip(found, missing, strict=True))], False)
        for row in sorted(set().union(*found))
    ]
    body = [_heading(None, "outcomes", answers.file, None)]
    body += [f'<p class="pgasrob-mono">{_text(result["text"] or "")}</p>' for result in results[:1]]
    body.append(_table([*names, *(result["label"] for result in results)], table))
    for result in results:
        body += [f"<p>{_text(result['label'])}: {_text(refusal['reason'])}</p>" for refusal in result["refusals"]]
        if result["reason"]:
            body.append(f"<p>{_text(result['label'])}: {_text(result['reason'])}</p>")
    return _fragment(body)


def _heading(name: str | None, answer: str, file: str, nodes: int | Literal["all"] | None, bad: bool = False) -> str:
    return (
        f'<p><span class="pgasrob-name">{_text(name or file)}</span> '
        f'<span class="pgasrob-verdict{" pgasrob-bad" * bad}">{_text(answer)}</span>{english.on_nodes(nodes)} '
        f'<span class="pgasrob-faint">{_text(file)}</span></p>'
    )


def _table(names: Iterable[str], rows: Iterable[tuple[Iterable[str], bool]]) -> str:
    """A table; a row stands out where it says so."""
    head = "".join(f"<th>{_text(name)}</th>" for name in names)
    style = ("", ' class="pgasrob-bad"')
    body = "".join(
        f"<tr{style[bad]}>" + "".join(f"<td>{_text(cell)}</td>" for cell in cells) + "</tr>" for cells, bad in rows
    )
    return f'<table class="pgasrob-mono"><tr>{head}</tr>{body}</table>'


def verdict_svg(verdict: Verdict) -> str | None:
    """The space-time diagram of the first run of ``verdict``; None when there is none, or none that can be drawn."""
    return _svg(to_json(verdict))


def _svg(result: Result) -> str | None:
    run = shown(result)
    return None if run is None or not _drawable(run) else _drawing(result, run, captions=True)


def program_html(program: Program | CProgram) -> str:
    """The declarations, the source text with line numbers and, while they are small, the control automata."""
    text = program.source.text
    if isinstance(program, Program):
        from pgasrob.program.printer import to_source

        # A program that was put together without a text has one all the same.
        text = text or to_source(program)
        declared = list(_declarations(program))
    else:
        names = [api.name for api in program.compiled.apis if api.name != LANGUAGE]
        declared = [" with ".join(filter(None, (LANGUAGE, ", ".join(names))))]
    stage = _control(program)
    nodes = "no node count" if program.nodes is None else f"{program.nodes} node{'s' * (program.nodes != 1)}"
    return _fragment(
        [
            f'<p><span class="pgasrob-name">{_text(program.name or "program")}</span> {nodes} '
            f'<span class="pgasrob-faint">{_text(program.source.file)}</span></p>',
            *(f'<p class="pgasrob-mono">{_text(line)}</p>' for line in declared),
            _listing(text),
            f"<details><summary>{stage.title}</summary>{_scrolling(_graphs(stage))}</details>" if stage else "",
        ]
    )


def program_svg(program: Program | CProgram) -> str | None:
    """The control automata at the program's own node count, or 2; None when they are too large or there are none."""
    stage = _control(program)
    return _graphs(stage) if stage else None


def _run(result: Result, run: Witness) -> Iterator[str]:
    """A run with what it shows."""
    yield f"<p><strong>{_text(words.title(run))}.</strong> {_text(initially(run))}</p>"
    if run["fault"]:
        yield f'<p class="pgasrob-bad">{_text(words.fault(result["file"], run["fault"]))}</p>'
    if _drawable(run):
        yield _scrolling(_drawing(result, run, captions=False))
    elif run["computation"]:
        yield f'<p class="pgasrob-faint">Its {len(run["computation"])} events are too many to be drawn here.</p>'
    cycle = numbered(run)
    if cycle:
        sentences = zip(cycle, words.cycle(cycle, run["computation"]), strict=True)
        items = "".join(f"<li>{edge['relation']}: {_text(sentence)}</li>" for edge, sentence in sentences)
        yield f'<p class="pgasrob-faint">{LEGEND}</p><ol>{items}</ol>'
        yield f"<p>{words.contradiction(cycle)}</p>"
    if run["shows"] == "deadlock":
        standing = (
            f"<li>rank {rank['rank']} {_text(words.standing(rank, run['standing']))}</li>" for rank in run["standing"]
        )
        yield f"<p>Where each rank stands:</p><ul>{''.join(standing)}</ul>"


def _drawable(run: Witness) -> bool:
    return 0 < len(run["computation"]) <= MOST_EVENTS


def _drawing(result: Result, run: Witness, captions: bool) -> str:
    from pgasrob.render.run_svg import to_svg

    return _without_ids(to_svg({**result, "witness": run, "effect_run": None}, embedded=True, captions=captions))


def _graphs(stage: Stage) -> str:
    from pgasrob.render.stage_pictures import stage_svg

    return stage_svg(stage, embedded=True)


def _control(program: Program | CProgram) -> Stage | None:
    """The control automata, when all ranks together have few states; guards as they are, for sympy takes its time."""
    from pgasrob.robustness import stages

    try:
        instance = program.instantiate()
    except SourceError:  # a rank without a block, say, or C that cannot be lowered: the text is shown all the same
        return None
    if sum(len(automaton.out) for automaton in instance.automata) > MOST_STATES:
        return None
    return stages.control(instance)


def _declarations(program: Program) -> Iterator[str]:
    if program.memory:
        yield f"memory {', '.join(map(_memory, program.memory))}"
    if program.registers:
        yield f"register {', '.join(program.registers)}"
    if program.queues:
        yield "queue " + ", ".join(queue.name + " unordered" * queue.unordered for queue in program.queues)


def _memory(memory: MemoryObject) -> str:
    name = memory.name if memory.size is None else f"{memory.name}[{memory.size}]"
    if not any(memory.initial):
        return name
    values = ", ".join([*map(str, memory.initial[:MOST_VALUES]), *["..."] * (len(memory.initial) > MOST_VALUES)])
    return f"{name} = {values}" if memory.size is None else f"{name} = {{{values}}}"


def _listing(text: str) -> str:
    """``text`` with line numbers, which are not copied with it."""
    lines = text.rstrip("\n").split("\n")
    digits = len(str(len(lines)))
    numbered = (
        f'<span class="pgasrob-number">{number:>{digits}}  </span>{_text(line.expandtabs(4))}'
        for number, line in enumerate(lines, 1)
    )
    return "<pre>" + "\n".join(numbered) + "</pre>"


def _scrolling(drawing: str) -> str:
    return f'<div class="pgasrob-scroll">{drawing}</div>'


def _text(text: str) -> str:
    """``text`` for HTML, with an escape for each character that would not show."""
    return "\u00a0".join(escape(visible(piece)) for piece in text.split("\u00a0"))


def _without_ids(svg: str) -> str:
    """``svg`` without ids, to which nothing in it refers: shown twice, they would stand on the page twice."""
    return re.sub(r'(<g\b[^>]*?) id="[^"]*"', r"\1", svg)


def _fragment(body: list[str]) -> str:
    return f'<div class="pgasrob"><style>{_style()}</style>\n' + "\n".join(filter(None, body)) + "\n</div>"


def _style() -> str:
    """The rules, with the colours of the drawings for a light page and for a dark one."""
    light, dark = ("".join(_colour(name, values[choice]) for name, values in COLOURS.items()) for choice in (0, 1))
    inside = ",".join(f"{around} .pgasrob" for around in DARK)
    return f"\n.pgasrob{{color-scheme:light;{light}}}\n{inside}{{color-scheme:dark;{dark}}}{RULES}"


def _colour(name: str, value: str) -> str:
    page = FROM_THE_PAGE.get(name)
    return f"--pg-{name}:var({page},{value});" if page else f"--pg-{name}:{value};"
