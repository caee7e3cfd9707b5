"""How commands ask and tell: with a command to paste, and on the standard error."""

from collections.abc import Sequence
from dataclasses import dataclass

import typer

from demur.cli.app import pasted
from demur.errors import harmless


@dataclass(frozen=True, slots=True)
class Spoken:
    """Speaks of commands, and tells on the standard error what was taken."""

    quiet: bool = False
    noun: str = "command"

    def answer(self, words: Sequence[str]) -> str:
        """What was typed with some words more, as a command to paste."""
        return pasted(words)

    def tell(self, notes: Sequence[str]) -> None:
        """Say what was taken that nobody had said."""
        if notes and not self.quiet:
            typer.echo(harmless(f"demur: {'; '.join(notes)}"), err=True)
