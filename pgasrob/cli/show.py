"""`pgasrob show`: print or draw a stage of the decision procedure, such as an automaton."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pgasrob.cli.declare import argument, command, flag, group, option
from pgasrob.cli.exit_codes import NOT_ROBUST, ROBUST
from pgasrob.cli.option_groups import COptions, TimeAndMemory, node_count_option
from pgasrob.cli.parameter_types import OneOf
from pgasrob.cli.shared_steps import limited, load_instance, refuse

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.instance import Instance
    from pgasrob.robustness.limits import Limits
    from pgasrob.robustness.stages import Stage

EXAMPLES = """\b
Exit code:
  0  it is shown
  1  there is no graph to draw
  2  a program with an error, or wrong usage
  3  a limit was reached before it was done

\b
Examples:
  pgasrob show ring.pgas --stage control
  pgasrob show ring.pgas --stage control -o ring.svg
  pgasrob show ring.pgas --stage normal-form -o ring.pdf
  pgasrob show ring.pgas --stage cycle-types --cycle-type 0,1 -o z.svg
  pgasrob show ring.pgas --stage state-space --dot | dot -Tsvg > ring.svg
"""
ENDINGS = {".svg": "own", ".dot": "none", ".png": "graphviz", ".pdf": "graphviz"}
"""The endings that --output knows, and what lays the graphs out unless --layout says otherwise."""


class CycleType(click.ParamType):  # type: ignore[type-arg]
    """A cycle type: different ranks, ``0,2,1``."""

    name = "cycle type"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        ranks = [rank.strip() for rank in str(value).split(",")]
        if not all(rank.isascii() and rank.isdigit() and len(rank) < 10 for rank in ranks):
            self.fail(f"{value!r} is no cycle type; write its ranks as in 0,2,1.", param, ctx)
        return tuple(map(int, ranks))


@dataclass(frozen=True)
class ShowOptions:
    """The options of `pgasrob show`."""

    # fmt: off
    file: str = argument(type=click.Path())
    stage: str = option(
        "--stage", type=OneOf(["program", "control", "state-space", "normal-form", "cycle-types"]),
        default="program", show_default=True, help="What to show: one of the steps from the program to the answer.")
    nodes: int | None = node_count_option()
    heads: int = option("--heads", type=click.IntRange(2, 4), default=2, show_default=True,
        help="Heads of the normal-form automaton.")
    cycle: tuple[int, ...] | None = option("--cycle-type", type=CycleType(), metavar="RANKS",
        help="With --stage cycle-types: only the automaton Z of this cycle type, for example 0,2,1.")
    dot: bool = flag("--dot", help="Only the graph, in the DOT language: pgasrob show ... --dot | dot -Tsvg.")
    output: str | None = option("-o", "--output", type=click.Path(dir_okay=False), metavar="FILE",
        help="Draw the graph into FILE: .svg, .png, .pdf or .dot.")
    layout: str | None = option("--layout", type=OneOf(["own", "graphviz"]),
        help="The layout of the drawing of -o: own (the default for .svg) needs nothing else; graphviz needs the "
        "extra `diagrams`.")
    limits: Limits = group(TimeAndMemory, beside="")
    front_end: FrontEnd = group(COptions)
    # fmt: on


@command(ShowOptions, examples=EXAMPLES)
def show(options: ShowOptions) -> int:
    """Show one stage of the decision procedure.

    It prints the numbers of states and transitions, and the graph if it is small.

    program: the program itself; a C file as the .pgas text to which it is lowered. A text with doubles or integers of
    more than 32 bits cannot be read back, and says so. control: the control automata of the ranks, guards simplified.
    state-space: X(P, N), what the network can do. normal-form: Y(P, N), the computations that the search has to
    consider. cycle-types: the automata Z that recognise cycles.
    """
    layout = _layout(options)
    if options.cycle and options.stage != "cycle-types":
        raise click.UsageError("--cycle-type goes with --stage cycle-types.")
    click.echo(
        limited(options.limits, "while showing the program", partial(_shown, options, layout), looks=False), nl=False
    )
    return ROBUST


def _shown(options: ShowOptions, layout: str) -> str:
    """What is printed; draws what is to be drawn."""
    instance = load_instance(options.file, options.nodes, options.front_end)
    if options.stage == "program":
        from pgasrob.program.printer import to_source

        return to_source(instance.program)
    from pgasrob.render.stage_pictures import stage_lines, to_dot

    shown = _stage(instance, options)
    only_graph = options.dot or options.output is not None
    if only_graph and not shown.graphs:
        refuse("\n".join(f"pgasrob: {remark}" for remark in shown.remarks or ["nothing to draw"]), NOT_ROBUST)
    if options.output is not None:
        _draw(shown, Path(options.output), layout)
        return ""
    lines = [] if options.dot else stage_lines(shown)
    return "".join(f"{line}\n" for line in lines) + (to_dot(shown.graphs) if shown.graphs else "")


def _layout(options: ShowOptions) -> str:
    """The layouter: "own", "graphviz", or "none" for DOT; ends the command when the options do not fit together."""
    output, layout = options.output, options.layout
    if output is None:
        if layout:
            raise click.UsageError("--layout goes with -o FILE.")
        return "none"
    usual = ENDINGS.get(Path(output).suffix.lower())
    if usual is None:
        raise click.UsageError(f"-o {output}: a graph is drawn as {', '.join(list(ENDINGS)[:-1])} or .pdf.")
    if options.stage == "program":
        raise click.UsageError("-o draws a graph, and a program is a text; choose another --stage.")
    if options.dot:
        raise click.UsageError("--dot prints the graph; with -o the ending of the file says what is drawn.")
    if layout and usual == "none":
        raise click.UsageError("--layout does not go with .dot, which has no layout.")
    if layout == "own" and usual != "own":
        raise click.UsageError(f"--layout own draws .svg; {Path(output).suffix} takes graphviz.")
    return layout or usual


def _stage(instance: Instance, options: ShowOptions) -> Stage:
    from pgasrob.robustness import stages

    if options.stage == "control":
        from pgasrob.render.algebra import simplify_guard

        return stages.control(instance, simplify_guard)
    if options.stage == "normal-form":
        return stages.normal_form(instance, options.heads)
    if options.cycle is None:
        return stages.STAGES[options.stage](instance)
    try:
        return stages.cycle_type(instance, options.cycle)
    except ValueError as error:
        raise click.BadParameter(f"{error}.", param_hint="--cycle-type") from None


def _draw(shown: Stage, path: Path, layout: str) -> None:
    """Draw the graphs of ``shown`` into ``path``."""
    from pgasrob.render import automata_lib
    from pgasrob.whole_files import replace_file

    try:
        if layout == "graphviz":
            automata_lib.write(shown.graphs, path)
        elif layout == "own":
            from pgasrob.render.stage_pictures import stage_svg

            replace_file(path, stage_svg(shown))
        else:
            from pgasrob.render.stage_pictures import to_dot

            replace_file(path, to_dot(shown.graphs))
    except automata_lib.MissingExtra as error:
        refuse(f"pgasrob: cannot draw {path}: {error}; an .svg without --layout graphviz needs neither")
