"""Multiheaded automata: letters carry a head, and the language joins what each head has read.

An n-headed automaton over an alphabet is an :class:`~pgasrob.automata.automaton.Automaton` over pairs
``(head, letter)`` with heads 1..n.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

L = TypeVar("L")


def project(word: Iterable[tuple[int, L]], head: int) -> tuple[L, ...]:
    """The letters that ``head`` reads in ``word``, in their order, without the head (the paper: sigma down-arrow k)."""
    return tuple(letter for reader, letter in word if reader == head)


def comp(word: Sequence[tuple[int, L]], heads: int) -> tuple[L, ...]:
    """The word that ``heads`` heads accept together: the projections to 1, 2, ..., one after the other."""
    return tuple(letter for head in range(1, heads + 1) for letter in project(word, head))
