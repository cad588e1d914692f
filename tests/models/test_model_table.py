"""The registry of models: names, which options each takes, and what is said of one that it does not."""

from __future__ import annotations

from random import Random

import pytest

from pgasrob.models import model_table as known
from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.model_interface import Model
from pgasrob.models.model_table import Options, UnknownModel, unfit


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
        ("corerma", Options(atomics="glob"), "corerma takes no --glob; rdma-tso does"),
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
    assert Options(pcie=False, atomics="glob").words == ("no-pcie", "glob")
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


def variants() -> list[Model]:
    """Models in many variants, each option with each other one."""
    random = Random("variants of models")
    found = [known.asked(name) for name in known.NAMES]
    for name, entry in known.MODELS.items():
        changes = [change for change in known.WORDS.values() if change[0] in entry.options]
        for _ in range(40):
            settings = {key: value for key, value in changes if random.random() < 0.4}
            semantics = random.choice([None, *entry.semantics])
            rules = entry.rules() if semantics in (None, "declarative") else ()
            without = tuple(random.sample(rules, random.choice((0, 1, 2, 3)))) if rules else ()
            found.append(known.model(name, Options(semantics, without=without, **settings)))
    return found


def test_a_label_is_read_back_wherever_models_are_named() -> None:
    """By --model, --compare and --distinguish (`parted`, `asked`), and by lines of expectations."""
    models = variants()
    texts = {known.label(model) for model in models}
    assert len(texts) > 60 and {"corerma", "sc split", "rdma-tso concrete"} < texts
    for model in models:
        text = known.label(model)
        assert known.parted(text) == (text,)
        again = known.asked(text)
        assert (known.label(again), again.variant, again.semantics) == (text, model.variant, model.semantics)
        named = f"{model.name} {known.variant_of(model)}".strip()
        assert named == text or model.semantics in ("simplified", "concrete")
        (line,) = parse(f"x@1=0 :: 1: x = 1 || 1: a = x allowed {named}: a=0").expectations
        assert line.concerns(model.name, model.variant)
        assert str(line) == f"allowed {named}: a=0"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("corerma vpi, without LO", ["corerma vpi without LO"]),
        ("corerma without F3 IR, without GA, sc", ["corerma without F3 IR without GA", "sc"]),
        ("sc, split,tso", ["sc split", "tso"]),
        ("rdma-tso, concrete", ["rdma-tso concrete"]),
        ("rdma-tso:no-pcie, placed", ["rdma-tso:no-pcie placed"]),
        ("vpi, corerma", ["vpi", "corerma"]),
        (" , ", []),
    ],
)
def test_commas_part_models_and_words_of_their_variants(text: str, names: list[str]) -> None:
    assert list(known.parted(text)) == names


def test_one_without_may_have_several_rules() -> None:
    assert known.label(known.asked("corerma without F3 IR")) == "corerma without F3 without IR"
    (line,) = parse("x@1=0 :: 1: x = 1 || 1: a = x allowed corerma without F3 IR vpi: a=0").expectations
    assert line.concerns("corerma", "vpi, without F3, without IR") and not line.concerns("corerma", "vpi, without F3")


@pytest.mark.parametrize(
    ("texts", "options", "said"),
    [
        (["rdma-tso without"], Options(), "`without` names no rule of rdma-tso; there is ippo.A1, "),
        (["corerma without vpi"], Options(), "`without` names no rule of corerma; there is R1, "),
        (["tso without IR"], Options(), "tso takes no --without; corerma or rdma-tso does"),
        (["sc split"], Options("merged"), "'sc split' and --semantics merged: these are two semantics of sc; choose"),
        (["sc split merged"], Options(), "'sc split merged': these are two semantics of sc; choose one"),
        (list(known.NAMES), Options("concret"), "no model has a semantics 'concret'; did you mean `concrete`?"),
        (["rdma-tso"], Options(without=("IR",)), "rdma-tso has no rule 'IR'; it is a rule of corerma"),
        (["corerma without ippo.A1"], Options(), "corerma has no rule 'ippo.A1'; it is a rule of rdma-tso"),
        ([""], Options(), "no model ''; there is pgas, "),
    ],
)
def test_what_cannot_be_asked(texts: list[str], options: Options, said: str) -> None:
    with pytest.raises(UnknownModel) as error:
        known.all_asked(texts, options)
    assert str(error.value).startswith(said)


def test_a_model_that_is_named_twice_is_asked_once() -> None:
    found = known.all_asked(["sc", "sc:merged", "corerma vpi without LO", "corerma without LO, vpi"])
    assert [known.label(each) for each in found] == ["sc", "corerma vpi without LO"]


def test_options_for_which_there_is_no_model() -> None:
    options = Options("concrete", vpi=True, without=("IR",))
    assert known.idle(options, ["pgas", "sc"]) == [
        "--semantics is about rdma-tso", "--vpi is about corerma", "--without is about corerma",
    ]  # fmt: skip
    assert known.idle(options, ["corerma", "rdma-tso"]) == known.idle(Options(), ["tso"]) == []
