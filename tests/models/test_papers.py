"""The litmus tests in programs/litmus: every model allows and forbids what they say.

What they say was derived from the texts of the papers before any model ran, and for remote atomics from what
proofs/models.md says of them. Each test runs in each model and variant that a line of it names, and in each stock model
that takes the program, in all semantics of the model.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pgasrob.models.litmus.expected_outcomes import LitmusTest, compare
from pgasrob.models.litmus.litmus_parser import parse_file
from pgasrob.models.model_interface import Model
from pgasrob.models.model_table import NAMES, asked
from pgasrob.render.litmus_catalogue import litmus_files, make_litmus_catalogue, said

ROOT = Path(__file__).parents[2] / "programs" / "litmus"
FILES = litmus_files(ROOT)
OPERATIONAL = ("simplified", "concrete")


def named(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").as_posix()


def models_of(test: LitmusTest) -> list[Model]:
    """Those that it names, and every stock model that takes it, for a line that names none is for all of these."""
    wanted = dict.fromkeys([*test.models, *((name, "") for name in NAMES)])
    found = []
    for name, variant in wanted:
        every = ("", *OPERATIONAL) if name == "rdma-tso" and "without" not in variant else ("",)
        for semantics in every:
            model = asked(f"{name} {semantics} {variant}")
            if (name, variant) in test.models or not model.refusals(test.program):
                found.append(model)
    return found


@pytest.mark.parametrize("path", FILES, ids=named)
def test_what_is_said_of_a_test_is_so(path: Path) -> None:
    test = parse_file(path)
    wrong = []
    for model in models_of(test):
        found = model.outcomes(test.program).found
        for line in compare(test, model.name, model.variant, found):
            if line.holds is False:
                wrong.append((model.name, model.variant, model.semantics, line.line, str(line.expectation)))
    assert wrong == []


def test_every_line_is_compared() -> None:
    """Each line is for some model that is run, and how many comparisons there are."""
    compared: Counter[str] = Counter()
    for path in FILES:
        test = parse_file(path)
        models = models_of(test)
        for line in test.expectations:
            concerned = [model for model in models if line.concerns(model.name, model.variant)]
            assert concerned, f"{path}:{line.span.line}"
            compared.update(f"{model.name} {model.variant}".strip() for model in concerned)
    assert {"rdma-tso", "rdma-tso no-pcie", "rdma-tso placed", "corerma", "corerma vpi", "tso", "sc"} <= set(compared)


def test_how_many_tests_there_are() -> None:
    assert Counter(path.parent.name for path in FILES) == {
        "rdma_tso": 50,
        "corerma": 30,
        "tso": 22,
        "rdma": 19,
        "atomics": 13,
    }


def test_every_test_says_where_it_is_from() -> None:
    for path in FILES:
        text = said(path.read_text())
        assert len(text) > 30, path
        if path.parent.name in ("rdma_tso", "corerma"):
            assert text.startswith(("Figure", "Section")), path
            number = path.stem.partition("_")[0]
            if number.startswith("s"):
                assert text.startswith(f"Section{'s' * text.startswith('Sections')} {'.'.join(number[1:])}"), path
            else:
                assert number in text or text.startswith(f"Figure {number.rstrip('ab')},"), path


def test_every_figure_with_a_program_is_there() -> None:
    have = {(path.parent.name, path.stem.partition("_")[0]) for path in FILES}
    tso = {"1a", "1b", "1c", "1d", *(f"2{letter}" for letter in "abcdefghi"), *(f"3{letter}" for letter in "abcde")}
    rma = {"1", "3a", "3b", "3c", "3d", "6", "7a", "7b", "8", "9"}
    assert have >= {("rdma_tso", figure) for figure in tso} | {("corerma", figure) for figure in rma}


def test_a_catalogue_tells_of_its_own_folder(tmp_path: Path) -> None:
    """Of no subfolders that it does not have; a test may stand in the folder itself, and have no comment."""
    (tmp_path / "sb.litmus").write_text("x@1=0 :: 1: x = 1 || 1: a = x allowed a=1")
    made = make_litmus_catalogue(tmp_path, "pgasrob catalogue it")
    assert "rdma_tso" not in made and "##" not in made and "<br>*" not in made
    assert "\n1 test with 1 line that allows and 0 that forbid. Made with" in made
    assert "\n| [sb](sb.litmus) | `x@1=0 ::`<br>`1: x = 1;`<br>`1: a = x;` | *allowed* a=1 |\n" in made
    for name in ("a", "z"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mp.litmus").write_text("// Why.\nx@1=0 :: 1: x = 1 forbidden x=0 forbidden x=2")
    (tmp_path / "y.litmus").write_text("x@1=0 :: 1: x = 1")
    made = make_litmus_catalogue(tmp_path, "pgasrob catalogue it")
    assert [line for line in made.splitlines() if line.startswith(("##", "| ["))] == [
        "| [sb](sb.litmus) | `x@1=0 ::`<br>`1: x = 1;`<br>`1: a = x;` | *allowed* a=1 |",
        "| [y](y.litmus) | `x@1=0 ::`<br>`1: x = 1;` |  |",
        "## a",
        "| [mp](a/mp.litmus) | `x@1=0 ::`<br>`1: x = 1;` | Why.<br>*forbidden* x=0<br>*forbidden* x=2 |",
        "## z",
        "| [mp](z/mp.litmus) | `x@1=0 ::`<br>`1: x = 1;` | Why.<br>*forbidden* x=0<br>*forbidden* x=2 |",
    ]


def test_the_catalogue_is_up_to_date() -> None:
    kept = (ROOT / "README.md").read_text(encoding="utf-8")
    assert kept == make_litmus_catalogue(ROOT, "pgasrob catalogue litmus"), (
        "stale: run `pgasrob catalogue programs/litmus`"
    )
