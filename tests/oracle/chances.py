"""Random choices from a source of small numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


class Chances:
    """Number 0 is the simplest choice, so that hypothesis shrinks."""

    def __init__(self, below: Callable[[int], int]) -> None:
        self.below = below

    def chance(self, likely: int, outof: int) -> bool:
        return self.below(outof) >= outof - likely

    def pick(self, items: Sequence[T], weights: Sequence[int] | None = None) -> T:
        if weights is None:
            return items[self.below(len(items))]
        number = self.below(sum(weights[: len(items)]))
        for item, weight in zip(items, weights, strict=False):
            if number < weight:
                return item
            number -= weight
        raise AssertionError("weights")
