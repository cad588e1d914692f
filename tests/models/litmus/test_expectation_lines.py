"""The lines of a litmus text that say which outcomes are allowed and forbidden."""

from __future__ import annotations

from pgasrob.models.litmus.litmus_parser import parse

# Expectations


def test_expectations() -> None:
    test = parse(
        "x@1 :: 1: a = x || 1: b = x; x = 1\n"
        "allowed a=0, b=0\nforbidden rdma-tso, tso: a=T\nallowed corerma vpi, without IR, without LO: b=-1\n"
        "forbidden rdma-tso no-pcie: otherwise\nforbidden otherwise; allowed rdma-tso without oppo.G9: x=3"
    )
    assert [(line.allowed, line.models, line.values) for line in test.expectations] == [
        (True, (), (("a", 0), ("b", 0))),
        (False, (("rdma-tso", ""), ("tso", "")), (("a", "T"),)),
        (True, (("corerma", "vpi without IR without LO"),), (("b", -1),)),
        (False, (("rdma-tso", "no-pcie"),), ()),
        (False, (), ()),
        (True, (("rdma-tso", "without oppo.G9"),), (("x", 3),)),
    ]
    assert test.models[0] == ("rdma-tso", "")
    assert len(test.models) == 5


def test_a_line_that_says_the_same_twice_contradicts_nothing() -> None:
    assert len(parse("x@1 :: 1: a = x allowed a=0 allowed a=0 forbidden a=1 forbidden a=1").expectations) == 2
    assert len(parse("x@1 :: 1: a = x allowed tso: a=0 forbidden sc, rdma-tso placed: a=0").expectations) == 2
