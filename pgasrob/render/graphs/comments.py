"""A stage of the decision procedure as a few lines of text; its graphs go through `render.graphs.dot`."""

from __future__ import annotations

from pgasrob.robustness.stages import Stage


def stage_lines(stage: Stage) -> list[str]:
    """Title, counts and remarks, every line as a DOT comment, so that the whole output is one DOT file."""
    width = max((len(name) for name, _ in stage.counts), default=0)
    return [
        f"// {stage.title}",
        *(f"//   {name:<{width}}  {value}" for name, value in stage.counts),
        *(f"//   {remark}" for remark in stage.remarks),
    ]
