"""Families with parameters are programs at every size and have the verdict that was written down beforehand."""

from __future__ import annotations

import pytest

from pgasrob.api import check, load
from pgasrob.robustness.limits import Limits
from tests.bench.templates import TEMPLATES, Template

FEW = Limits(max_states=200_000, timeout=60)


@pytest.fixture(params=list(TEMPLATES.values()), ids=list(TEMPLATES))
def family(request: pytest.FixtureRequest) -> Template:
    assert isinstance(request.param, Template)
    return request.param


def test_every_size_is_a_program(family: Template) -> None:
    assert family.idiom and family.expected
    for nodes in {8, family.least}:
        load(family.program(nodes)).instantiate(nodes)
    assert load(family.text).nodes == family.least


def test_the_verdict_is_the_one_that_was_expected(family: Template) -> None:
    assert check(family.text, limits=FEW).verdict == family.expected


def test_parameters_are_put_in_where_they_stand() -> None:
    family = Template("one", "// It.\n// grows: so.\nnodes /*N*/3; memory a[/*size*/2], b[/*N*/3];\n")
    assert family.program(5, {"size": 4}) == "// It.\n// grows: so.\nnodes 5; memory a[4], b[5];\n"
    assert (family.idiom, family.grows, family.sizes) == ("It.", "so.", {"N": 3, "size": 2})
