"""The library takes files, texts and programs alike, and its answers print, save and show themselves."""

from __future__ import annotations

import doctest
import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import pgasrob
from pgasrob.render.output_files import FORMATS

EXCHANGE = """memory x, y; register r; queue q;
process { mem[x] <- 1; write(x, 1 - me, y, q); barrier; r <- mem[y]; }
"""
C = """#include <shmem.h>
static int flag;
int main(void)
{
    shmem_init();
    shmem_int_p(&flag, 1, 1 - shmem_my_pe());
    shmem_barrier_all();
    shmem_finalize();
}
"""
LITMUS = "x@1=0, z@2=0 :: 1: z^2 = x; poll(2); x = 1 || 2: a = z"
TESTED = ("pgasrob", "pgasrob.api", "pgasrob.display", "pgasrob.program.corpus")


@pytest.mark.parametrize("module", TESTED)
def test_examples_in_docstrings(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.testmod(import_module(module), optionflags=options, extraglobs={"pgasrob": pgasrob})
    assert result.attempted
    assert not result.failed


def test_public_functions_have_examples_and_docstrings_stay_in_the_package() -> None:
    for name in pgasrob.__all__:
        told = getattr(pgasrob, name).__doc__ or ""
        assert told or name == "__version__", name
        assert not re.search(r"\b(proofs|tests|DESIGN|README|the design)\b", told), name
        if name.islower() and name != "__version__":
            assert ">>> " in told, name


@pytest.mark.parametrize("ask", [pgasrob.check, pgasrob.race, pgasrob.outcomes, pgasrob.repair])
def test_files_texts_and_programs_are_taken_alike(ask: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for text, name in ((EXCHANGE, "exchange.pgas"), (C, "exchange.c")):
        path = Path(name)
        path.write_text(text)
        answers = [ask(given, nodes=2).to_json() for given in (text, path, str(path), pgasrob.load(path))]
        for answer in answers:
            for changing in ("file", "program", "stats", "seconds"):
                answer.pop(changing, None)
            answer.get("consequences", {}).pop("stats", None)
        told = [re.sub(rf"<string>|{re.escape(str(path))}", "FILE", json.dumps(answer)) for answer in answers]
        assert told[0].replace("<string>", "FILE") == told[1] == told[2] == told[3]


def test_a_loaded_c_program_is_repaired_as_it_was_read(tmp_path: Path) -> None:
    """With its macros: without them it would be another program, or none."""
    path = tmp_path / "flag.c"
    path.write_text(C.replace("shmem_barrier_all()", "WAIT()").replace("shmem_finalize", "flag = 2; shmem_finalize"))
    program = pgasrob.load(path, pgasrob.FrontEnd(defines=(("WAIT()", "shmem_sync_all()"),)))
    found = pgasrob.repair(program, nodes=2)
    assert found.state == "repaired"
    assert "+    shmem_" in found.diff(found.answers[0])


def test_what_has_no_text_cannot_be_repaired() -> None:
    import dataclasses

    program = pgasrob.load(EXCHANGE)
    without = dataclasses.replace(program, source=dataclasses.replace(program.source, text=""))
    with pytest.raises(ValueError, match="without a text"):
        pgasrob.repair(without)


def test_every_number_of_nodes() -> None:
    text = "memory x; queue q; process { write(x, (me + 1) % nodes, x, q); wait(q); barrier; }"
    assert pgasrob.check(text, nodes="all").nodes == 2
    with pytest.raises(ValueError, match="progress"):
        pgasrob.check(text, nodes="all", progress=print)


@pytest.fixture(scope="module")
def answers() -> dict[str, Any]:
    return {
        "verdict": pgasrob.check(EXCHANGE),
        "robust": pgasrob.check("memory x; process { mem[x] <- 1; }"),
        "races": pgasrob.race(EXCHANGE),
        "outcomes": pgasrob.outcomes(EXCHANGE),
        "run": pgasrob.simulate(EXCHANGE, seed=7),
        "repair": pgasrob.repair(EXCHANGE),
        "litmus": pgasrob.litmus(LITMUS),
    }


SHORT = {
    "verdict": "<Verdict <string>: not robust on 2 nodes>",
    "robust": "<Verdict <string>: robust on 2 nodes>",
    "races": "<RaceVerdict <string>: race on 2 nodes>",
    "repair": "<Repair <string>: repaired on 2 nodes>",
}
DRAWN = {"verdict", "races", "run", "repair"}
"""Those with a run."""


@pytest.mark.parametrize("name", ["verdict", "robust", "races", "outcomes", "run", "repair", "litmus"])
def test_answers_print_show_and_save_themselves(name: str, answers: dict[str, Any], tmp_path: Path) -> None:
    answer = answers[name]
    assert len(repr(answer)) < 120 and "\n" not in repr(answer)
    assert repr(answer) == SHORT.get(name, repr(answer))
    fragment = answer._repr_html_()
    read = ElementTree.fromstring(fragment)
    assert "pgasrob" in read.attrib["class"]
    assert len("".join(read.itertext())) > 100
    assert bool(answer._repr_svg_()) == (name in DRAWN)
    assert json.loads(json.dumps(answer.to_json()))
    answer.save(tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_text() == f"{answer}\n"
    answer.save(tmp_path / "a.json")
    kept = [json.loads(line) for line in (tmp_path / "a.json").read_text().splitlines()]
    assert kept == (answer.to_json() if name == "litmus" else [answer.to_json()])
    for ending in FORMATS.keys() - {".txt", ".json", ".html", ".sarif"}:
        if name in DRAWN:
            answer.save(tmp_path / f"a{ending}")
            assert (tmp_path / f"a{ending}").read_text()
        else:
            with pytest.raises(ValueError, match=r"write \.txt or \.json"):
                answer.save(tmp_path / f"a{ending}")
            assert not (tmp_path / f"a{ending}").exists()
    with pytest.raises(ValueError, match="there is no format"):
        answer.save(tmp_path / "a.png")


def test_tables_of_outcomes_and_models(answers: dict[str, Any]) -> None:
    rows = [[cell.text for cell in row] for row in ElementTree.fromstring(answers["outcomes"]._repr_html_()).iter("tr")]
    assert rows[0][-3:] == ["end", "SC runs", "network runs"]
    assert len(rows) == 1 + len(answers["outcomes"].outcomes)
    models = list(ElementTree.fromstring(answers["litmus"]._repr_html_()).iter("tr"))
    assert [cell.text for cell in models[0]][-len(answers["litmus"].answers) :] == [
        n for n, _ in answers["litmus"].items()
    ]
    with pytest.raises(KeyError, match="there is"):
        answers["litmus"]["nothing"]
    with pytest.raises(KeyError, match="the test has"):
        answers["litmus"].allowed("rdma-tso", nothing=0)


def test_what_is_no_option_or_node_count_is_refused() -> None:
    path = pgasrob.example("one_to_one")
    for nodes in ("2", "2..3", "every"):
        with pytest.raises(ValueError, match=f"nodes is '{nodes}'; it is a number, or \"all\""):
            pgasrob.check(path, nodes=nodes)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"check\(\) got an unexpected keyword argument 'foo'"):
        pgasrob.check(path, foo=1)
    for name in ("heads", "reductions", "effect", "foo"):
        with pytest.raises(TypeError, match=rf"race\(\) got an unexpected keyword argument '{name}'"):
            pgasrob.race(path, **{name: 3})


def test_a_limit_before_anything_else_leaves_the_node_count_known() -> None:
    path, limits = pgasrob.example("one_to_one_wait"), pgasrob.Limits(timeout=1e-9)
    for verdict in (pgasrob.check(path, limits=limits), pgasrob.race(path, limits=limits)):
        assert (verdict.verdict, verdict.nodes) == ("unknown", 2)
