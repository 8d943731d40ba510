"""`amfgate completion`: what a shell needs to complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from .options import debug_option


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@debug_option
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the lines that make a shell complete `amfgate`.

    \b
    amfgate completion bash >> ~/.bashrc
    amfgate completion zsh >> ~/.zshrc
    amfgate completion fish > ~/.config/fish/completions/amfgate.fish
    """
    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(context.find_root().command, {}, "amfgate", "_AMFGATE_COMPLETE").source())
