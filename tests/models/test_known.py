"""The registry of models: names, which options each takes, and what is said of one that it does not."""

from __future__ import annotations

import pytest

from pgasrob.models import known
from pgasrob.models.known import Options, UnknownModel, unfit


def test_names() -> None:
    assert known.NAMES == ("pgas", "corerma", "rdma-tso", "tso", "sc")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rdmatso", "no model 'rdmatso'; did you mean `rdma-tso`?"),
        ("CoreRMA", "no model 'CoreRMA'; did you mean `corerma`?"),
        ("power", "no model 'power'; there is pgas, corerma, rdma-tso, tso, sc"),
    ],
)
def test_a_name_that_no_model_has(name: str, said: str) -> None:
    with pytest.raises(UnknownModel) as error:
        known.model(name)
    assert str(error.value) == said


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("corerma", Options(pcie=False), "corerma takes no --no-pcie; rdma-tso does"),
        ("pgas", Options(placed=True), "pgas takes no --placed; rdma-tso does"),
        ("rdma-tso", Options(vpi=True), "rdma-tso takes no --vpi; corerma does"),
        ("rdma-tso", Options(hb="least"), "rdma-tso takes no --hb; corerma does"),
        ("sc", Options(repair=False), "sc takes no --no-repair; corerma does"),
        ("tso", Options(without=("IR",)), "tso takes no --without; corerma or rdma-tso does"),
        ("tso", Options(semantics="concrete"), "tso has one semantics, and none that is called 'concrete'"),
        (
            "rdma-tso",
            Options(semantics="concret"),
            "rdma-tso has no semantics 'concret'; did you mean `concrete`?",
        ),
        ("sc", Options(semantics="atomic"), "sc has no semantics 'atomic'; it has merged, split"),
    ],
)
def test_an_option_that_the_model_does_not_take(name: str, options: Options, said: str) -> None:
    assert unfit(known.known(name), options) == said
    with pytest.raises(UnknownModel) as error:
        known.model(name, options)
    assert str(error.value) == said


def test_words_of_what_is_not_stock() -> None:
    assert known.STOCK.words == ()
    assert Options("concrete").words == ()
    assert Options(pcie=False, placed=True).words == ("no-pcie", "placed")
    assert Options(vpi=True, hb="least", repair=False).words == ("vpi", "hb-least", "no-repair")
    assert Options(without=("IR", "GA", "IR")).words == ("without GA", "without IR")


def test_a_model_with_its_variant_in_words() -> None:
    assert known.label(known.asked("pgas")) == "pgas"
    assert known.label(known.asked("pgas unordered")) == "pgas unordered"
    assert known.label(known.asked("pgas:unordered")) == "pgas unordered"
    assert known.label(known.asked("pgas", Options(semantics="unordered", pcie=False))) == "pgas unordered"
    assert known.label(known.asked("pgas", Options(semantics="concrete"))) == "pgas"
    with pytest.raises(UnknownModel) as error:
        known.asked("pgas ordered")
    assert str(error.value) == "pgas has no variant 'ordered'; did you mean `unordered`?"
    with pytest.raises(UnknownModel) as error:
        known.asked("pgas vpi")
    assert str(error.value) == "pgas takes no --vpi; corerma does"


def test_an_option_that_none_of_the_models_takes() -> None:
    with pytest.raises(UnknownModel) as error:
        known.all_asked(["pgas", "tso"], Options(vpi=True))
    assert str(error.value) == "pgas takes no --vpi; corerma does"
    with pytest.raises(UnknownModel) as error:
        known.all_asked(["pgas"], Options(semantics="concrete"))
    assert str(error.value) == "pgas has no semantics 'concrete'; it has fifo, unordered"
