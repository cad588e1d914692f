"""Writes execution graphs of litmus tests to files: chooses the executions and the name of each file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import PurePath

from pgasrob.diagnostics import visible
from pgasrob.models.litmus.litmus_program import Value
from pgasrob.render import english
from pgasrob.render.execution_graph import executions_dot, executions_svg, panel
from pgasrob.render.lane_panels import Panel
from pgasrob.render.lines import together
from pgasrob.render.litmus_json import ExecutionObject, ForbiddenObject, LitmusResult, values_text
from pgasrob.render.litmus_text import forbidding_rules
from pgasrob.whole_files import replace_file

WRITERS = {".svg": executions_svg, ".dot": executions_dot}
MOST_PANELS = 24
"""Executions in one picture."""


class NothingToDraw(Exception):
    """There is no execution to draw, or it has no file; the text says why."""


def write_graphs(
    paths: Sequence[str], results: Sequence[LitmusResult], wanted: Sequence[dict[str, Value]]
) -> Iterator[str]:
    """Draw the executions of ``results`` into each of ``paths`` and yield the name of each file that is written. Only
    executions with one of the ``wanted`` sets of values are drawn; all when that is empty. Raises
    :class:`NothingToDraw` and :class:`~pgasrob.whole_files.CannotWrite`."""
    names = _names(results)
    for path in paths:
        by_path: dict[str, list[LitmusResult]] = {}
        for result in results:
            name = names[_test(result)]
            filled = path.replace("{name}", name).replace("{model}", result["label"].replace(" ", "-"))
            by_path.setdefault(filled, []).append(result)
        for filled, mine in by_path.items():
            tests = set(map(_test, mine))
            if len(tests) > 1:
                raise NothingToDraw(f"{path}: there are {len(tests)} tests; say {{name}} in PATH")
            panels = list(_panels(mine, wanted))
            if not panels:
                raise NothingToDraw(f"{filled} is not written: there is no execution to draw")
            if len(panels) > MOST_PANELS:
                why = f"{len(panels)} executions are too many for one picture; choose with --outcome and --model"
                raise NothingToDraw(f"{filled} is not written: {why}")
            title = f"{visible(PurePath(mine[0]['file']).name)}: {english.listed([each['label'] for each in mine])}"
            replace_file(filled, WRITERS[PurePath(filled).suffix](title, panels))
            yield filled


def _test(result: LitmusResult) -> tuple[str, str]:
    return result["file"], result["text"] or ""


def _names(results: Sequence[LitmusResult]) -> dict[tuple[str, str], str]:
    """A name for each test, that of its file without the ending; tests of one name are numbered."""
    found: dict[tuple[str, str], str] = {}
    for test in dict.fromkeys(map(_test, results)):
        stem = PurePath(test[0]).stem if "<" not in test[0] else "test"
        numbered = (f"{stem}-{number}" if number > 1 else stem for number in count(1))
        found[test] = next(name for name in numbered if name not in found.values())
    return found


def _panels(results: Sequence[LitmusResult], wanted: Sequence[dict[str, Value]]) -> Iterator[Panel]:
    for result in results:
        for outcome, execution in zip(result["outcomes"], result.get("executions", []), strict=True):
            if not wanted or any(values.items() <= outcome.items() for values in wanted):
                title = f"{values_text(outcome)}: allowed in {result['label']}"
                yield panel(title, (_initially(execution),), execution)
        for why in result["forbidden"]:
            shown = why["execution"]
            if shown is not None and (not wanted or why["values"] in wanted):
                yield _forbidden(result, why, shown)


def _forbidden(result: LitmusResult, why: ForbiddenObject, execution: ExecutionObject) -> Panel:
    sentences = [_initially(execution), f"Forbidden {forbidding_rules(why['rules'] or [])}"]
    rules = [together(f"{number} {edge['rule']}") for number, edge in enumerate(execution["cycle"], 1) if edge["rule"]]
    if rules:
        sentences.append(f"The edges of the cycle are by {', '.join(rules)}.")
    return panel(f"{values_text(why['values'])}: forbidden in {result['label']}", sentences, execution)


def _initially(execution: ExecutionObject) -> str:
    shown = [each for each in execution["locations"] if each["shown"]]
    values = [f"{each['name']} = {each['initial']} on node {each['node']}" for each in shown]
    return f"Initially {', '.join(values)}." if values else ""
