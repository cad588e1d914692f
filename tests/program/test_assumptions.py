"""Assumptions as data: each kind has its sentence, its explanation, and says for which verdicts it matters."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics.catalogue import UnknownCode
from pgasrob.program.assumption_texts import CATALOGUE, explain
from pgasrob.program.assumptions import Assumption, Kind, Noted, conflicts, failed_polls

LONGEST = 130


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_sentence_for_one_name_and_for_several(kind: Kind) -> None:
    one, several = str(Assumption(kind, ("f",))), str(Assumption(kind, ("f", "g", "h")))
    for text in (one, several, str(Assumption(kind))):
        assert (not text.endswith(".") and not text[:1].isupper()) or text.startswith(("SPIN", "MPI")) or text == ""
        assert len(text) <= LONGEST
    assert ("f, g and h" in several) == (one != several)
    assert isinstance(kind.shapes_runs, bool)


def test_codes_are_those_that_are_explained_in_their_order() -> None:
    assert [kind.value for kind in Kind] == list(CATALOGUE)


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_is_explained(kind: Kind) -> None:
    entry = CATALOGUE[kind.value]
    assert entry.title and not entry.title.endswith(".") and not entry.wrong
    assert len(entry.explanation) > 60 and entry.explanation.endswith(".")
    text = explain(kind.value.upper())
    assert text.startswith(f"{kind.value}: {entry.title}\n\n") and max(map(len, text.splitlines())) <= 88


def test_what_is_no_code() -> None:
    with pytest.raises(UnknownCode, match="no assumption 'program-ordre'; did you mean `program-order`"):
        explain("program-ordre")
    with pytest.raises(UnknownCode, match="lists all"):
        explain("x")


def test_readings_are_told_apart() -> None:
    texts = {
        str(each) for each in (failed_polls("wait"), failed_polls("count"), conflicts("commuting"), conflicts("all"))
    }
    assert len(texts) == 4
    assert Kind.FAILED_POLLS.scope == Kind.CONFLICTS.scope == "every"


def test_what_is_noted_of_a_kind_comes_together() -> None:
    noted = Noted()
    noted.add(Kind.NO_EFFECT, "puts", line=7)
    noted.add(Kind.SIZES)
    noted.add(Kind.NO_EFFECT, "printf", line=3)
    noted.add(Kind.NO_EFFECT, "puts", line=3)
    assert list(noted) == [Assumption(Kind.SIZES), Assumption(Kind.NO_EFFECT, ("puts", "printf"), (3, 7))]
