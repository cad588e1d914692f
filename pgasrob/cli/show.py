"""`pgasrob show`: a stage of the decision procedure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pgasrob.cli.exit_codes import NOT_ROBUST
from pgasrob.cli.options import HELP, c_options, load_instance

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd


EXAMPLES = """\b
Examples:
  pgasrob show ring.pgas --stage control
  pgasrob show ring.pgas --stage state-space --dot | dot -Tsvg > ring.svg
"""


@click.command(context_settings=HELP, epilog=EXAMPLES)
@click.argument("file", type=click.Path())
@click.option("--stage", type=click.Choice(["program", "control", "state-space", "normal-form", "cycle-types"]),
              default="program", show_default=True,
              help="What to show: one of the steps from the program to the answer.")  # fmt: skip
@click.option("-n", "--nodes", type=click.IntRange(min=1), help="Node count. Default: the program's own, or 2.")
@click.option("--heads", type=click.IntRange(2, 4), default=2, show_default=True,
              help="Heads of the normal-form automaton.")  # fmt: skip
@click.option("--dot", is_flag=True, help="Only the graph, in the DOT language: pgasrob show ... --dot | dot -Tsvg.")
@c_options
def show(
    file: str,
    stage: str,
    nodes: int | None,
    heads: int,
    dot: bool,
    front_end: FrontEnd,
) -> None:
    """Show a stage of the decision procedure: its counts, and its graph while it is small.

    program: the program itself, for a C file what it means, as a .pgas text. control: the control automata of the
    ranks, guards simplified. state-space: X(P, N), what the network can do. normal-form: Y(P, N), the computations the
    search has to look at. cycle-types: the automata Z that recognise cycles.
    """
    from pgasrob.render.dot import to_dot
    from pgasrob.render.stage import stage_lines
    from pgasrob.robustness import stages

    instance = load_instance(file, nodes, front_end)
    if stage == "program":
        from pgasrob.program.printer import to_source

        click.echo(to_source(instance.program), nl=False)
        return
    if stage == "control":
        from pgasrob.render.algebra import simplify_guard

        shown = stages.control(instance, simplify_guard)
    elif stage == "normal-form":
        shown = stages.normal_form(instance, heads)
    else:
        shown = stages.STAGES[stage](instance)
    for line in [] if dot else stage_lines(shown):
        click.echo(line)
    if shown.graphs:
        click.echo(to_dot(shown.graphs), nl=False)
    elif dot:
        click.echo("\n".join(f"pgasrob: {remark}" for remark in shown.remarks or ["nothing to draw"]), err=True)
        raise click.exceptions.Exit(NOT_ROBUST)
