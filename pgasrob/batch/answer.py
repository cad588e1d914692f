"""Calls the function that decides a question about robustness, by what is asked."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from pgasrob.robustness.question import AboutRobustness, Robustness, RobustnessOnEveryCount, RobustnessOnTso
from pgasrob.robustness.session import Session
from pgasrob.robustness.verdict import Verdict


def about_robustness(session: Session, asked: AboutRobustness) -> Verdict:
    """The answer to what is ``asked`` about the program of ``session``."""
    session = session.asking(replace(session.question, asked=asked))
    match asked:
        case Robustness():
            from pgasrob.robustness.check import check

            return check(session)
        case RobustnessOnTso():
            from pgasrob.models.store_buffers.tso_check import check_on_tso

            return check_on_tso(session)
        case RobustnessOnEveryCount():
            from pgasrob.robustness.every_n.every_count_check import check_every_count

            return check_every_count(session)
        case _:
            assert_never(asked)
