"""`pgasrob show`: a stage of the decision procedure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pgasrob.cli.exit_codes import NOT_ROBUST
from pgasrob.cli.options import HELP, c_options, load_instance, node_count, refuse

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.instance import Instance
    from pgasrob.robustness.stages import Stage


EXAMPLES = """\b
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


@click.command(context_settings=HELP, epilog=EXAMPLES)
@click.argument("file", type=click.Path())
@click.option("--stage", type=click.Choice(["program", "control", "state-space", "normal-form", "cycle-types"]),
              default="program", show_default=True,
              help="What to show: one of the steps from the program to the answer.")  # fmt: skip
@node_count
@click.option("--heads", type=click.IntRange(2, 4), default=2, show_default=True,
              help="Heads of the normal-form automaton.")  # fmt: skip
@click.option("--cycle-type", "cycle", type=CycleType(), metavar="RANKS",
              help="With --stage cycle-types: the automaton Z of this cycle type alone, say 0,2,1.")  # fmt: skip
@click.option("--dot", is_flag=True, help="Only the graph, in the DOT language: pgasrob show ... --dot | dot -Tsvg.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), metavar="FILE",
              help="Draw the graph into FILE: .svg, .png, .pdf or .dot.")  # fmt: skip
@click.option("--layout", type=click.Choice(["own", "graphviz"]),
              help="Who lays out what -o draws: own (the default for .svg) needs nothing else; graphviz, by way of "
              "automata-lib, needs the extra `diagrams`.")  # fmt: skip
@c_options
def show(
    file: str,
    stage: str,
    nodes: int | None,
    heads: int,
    cycle: tuple[int, ...] | None,
    dot: bool,
    output: str | None,
    layout: str | None,
    front_end: FrontEnd,
) -> None:
    """Show a stage of the decision procedure.

    Its counts, and its graph while it is small.

    program: the program itself, for a C file what it means, as a .pgas text; one with doubles or integers of more
    than 32 bits, which .pgas has not, cannot be read back and says so. control: the control automata of the
    ranks, guards simplified. state-space: X(P, N), what the network can do. normal-form: Y(P, N), the computations the
    search has to look at. cycle-types: the automata Z that recognise cycles.
    """
    layout = _layout(stage, output, layout, dot)
    if cycle and stage != "cycle-types":
        raise click.UsageError("--cycle-type goes with --stage cycle-types.")
    instance = load_instance(file, nodes, front_end)
    if stage == "program":
        from pgasrob.program.printer import to_source

        click.echo(to_source(instance.program), nl=False)
        return
    from pgasrob.render.stages import stage_lines, to_dot

    shown = _stage(instance, stage, heads, cycle)
    only_graph = dot or output is not None
    if only_graph and not shown.graphs:
        refuse("\n".join(f"pgasrob: {remark}" for remark in shown.remarks or ["nothing to draw"]), NOT_ROBUST)
    if output is not None:
        _draw(shown, Path(output), layout)
        return
    for line in [] if dot else stage_lines(shown):
        click.echo(line)
    if shown.graphs:
        click.echo(to_dot(shown.graphs), nl=False)


def _layout(stage: str, output: str | None, layout: str | None, dot: bool) -> str:
    """Who lays out what is drawn; ends the command when the options do not fit together."""
    if output is None:
        if layout:
            raise click.UsageError("--layout goes with -o FILE.")
        return "none"
    usual = ENDINGS.get(Path(output).suffix.lower())
    if usual is None:
        raise click.UsageError(f"-o {output}: a graph is drawn as {', '.join(list(ENDINGS)[:-1])} or .pdf.")
    if stage == "program":
        raise click.UsageError("-o draws a graph, and a program is a text; choose another --stage.")
    if dot:
        raise click.UsageError("--dot prints the graph; with -o the ending of the file says what is drawn.")
    if layout and usual == "none":
        raise click.UsageError("--layout does not go with .dot, which has no layout.")
    if layout == "own" and usual != "own":
        raise click.UsageError(f"--layout own draws .svg; {Path(output).suffix} takes graphviz.")
    return layout or usual


def _stage(instance: Instance, stage: str, heads: int, cycle: tuple[int, ...] | None) -> Stage:
    from pgasrob.robustness import stages

    if stage == "control":
        from pgasrob.render.algebra import simplify_guard

        return stages.control(instance, simplify_guard)
    if stage == "normal-form":
        return stages.normal_form(instance, heads)
    if cycle is None:
        return stages.STAGES[stage](instance)
    try:
        return stages.cycle_type(instance, cycle)
    except ValueError as error:
        raise click.BadParameter(f"{error}.", param_hint="--cycle-type") from None


def _draw(shown: Stage, path: Path, layout: str) -> None:
    """Draw the graphs of ``shown`` into ``path``."""
    from pgasrob.render import automata_lib

    try:
        if layout == "graphviz":
            automata_lib.write(shown.graphs, path)
        elif layout == "own":
            from pgasrob.render.stages import stage_svg

            path.write_text(stage_svg(shown), encoding="utf-8")
        else:
            from pgasrob.render.stages import to_dot

            path.write_text(to_dot(shown.graphs), encoding="utf-8")
    except automata_lib.MissingExtra as error:
        refuse(f"pgasrob: cannot draw {path}: {error}; an .svg without --layout graphviz needs neither")
    except OSError as error:
        refuse(f"pgasrob: cannot write {path}: {error.strerror}")
