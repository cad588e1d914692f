"""`pgasrob completion`: print the completion script of a shell."""

from __future__ import annotations

import click

from pgasrob.cli.declare import HELP
from pgasrob.cli.parameter_types import OneOf

COMPLETION = {
    "bash": 'Add to ~/.bashrc:\n#     eval "$(pgasrob completion bash)"',
    "zsh": 'Add to ~/.zshrc, after compinit:\n#     eval "$(pgasrob completion zsh)"',
    "fish": "Run once:\n#     pgasrob completion fish > ~/.config/fish/completions/pgasrob.fish",
}


@click.command(context_settings=HELP)
@click.argument("shell", type=OneOf(list(COMPLETION)))
@click.pass_context
def completion(ctx: click.Context, /, shell: str) -> None:
    """Print a shell's completion script.

    Its last lines say how to install it.
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, "pgasrob", "_PGASROB_COMPLETE").source())
    click.echo(f"\n# {COMPLETION[shell]}")
