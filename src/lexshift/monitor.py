"""What is told about a run while it goes on."""

from __future__ import annotations

from typing import Protocol


class Monitor(Protocol):
    """Hears of the stages of a run."""

    def stage(self, name: str, total: int, unit: str) -> None:
        """A stage begins, of a known size (0 if it is not known), in bytes or in sentences."""

    def advance(self, done: int, items: int = 0) -> None:
        """So much of the stage is done, out of its size; ``items`` of a finer count, for the eye."""

    def note(self, text: str) -> None:
        """Something worth knowing."""


class Silent:
    """Tells nobody."""

    def stage(self, name: str, total: int, unit: str) -> None:
        """Nothing."""

    def advance(self, done: int, items: int = 0) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""
