"""`pgasrob explain-assumption`: print what an assumption of a verdict means, by its code."""

from __future__ import annotations

import click

from pgasrob.cli.declare import HELP
from pgasrob.cli.explain_error import explain_code


@click.command("explain-assumption", context_settings=HELP)
@click.argument("code", required=False)
def explain_assumption(code: str | None) -> None:
    """Explain an assumption, or list them all.

    Verdicts rest on assumptions; `pgasrob check --assumptions` lists the codes of those that a verdict rests on.
    """
    from pgasrob.program.assumption_texts import CATALOGUE, explain

    explain_code(code, CATALOGUE, explain)
