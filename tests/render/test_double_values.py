"""Values of doubles are shown as the numbers that they are, in every output; JSON has their bits."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from pgasrob.api import check
from pgasrob.cli import cli
from pgasrob.program.parser import parse
from pgasrob.render.double_values import Double
from pgasrob.render.output_files import FORMATS
from pgasrob.render.verdict_json import to_json
from pgasrob.render.witness_file import read_results
from tests.render.test_explorer import Browser, browser, context  # noqa: F401

TENTH, HALVES = 4591870180066957722, 4615063718147915776  # 0.1 and 3.5; in Javascript the first is no integer any more
TEXT = """
#include <shmem.h>
double x = 3.5, y; long n = 4615063718147915776;
int main(void) {
  shmem_init();
  int me = shmem_my_pe();
  shmem_double_p(&x, 0.1, 1 - me);
  double v = x;
  y = v;
  shmem_double_p(&y, v + 1.0, 1 - me);
  shmem_long_p(&n, 5, 1 - me);
  shmem_finalize();
  return 0;
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tenth.c"
    path.write_text(TEXT, encoding="utf-8")
    return path


def printed(*arguments: object) -> str:
    result = CliRunner().invoke(cli, [str(each) for each in arguments])
    assert result.exit_code in (0, 1), result.output
    return " ".join(result.stdout.split())


def no_bits(text: str) -> None:
    """The bits of 0.1 are nowhere, those of 3.5 only where the integer n has that value."""
    assert str(TENTH) not in text
    assert not re.search(rf"\b[xyv](@\d)?( reads|:| =|\s)[^a-z]*{HALVES}", text)


def test_double() -> None:
    value = Double(TENTH)
    assert (str(value), f"{value}", f"{value:>5}", repr(value)) == ("0.1", "0.1", "  0.1", str(TENTH))
    assert json.dumps([value]) == f"[{TENTH}]"
    assert [str(Double(bits)) for bits in (0, -(1 << 63), 0x7FF0 << 48)] == ["0.0", "-0.0", "inf"]


def test_a_report(file: Path) -> None:
    told = printed("check", file)
    assert "x = 3.5 on every rank" in told and f"n = {HALVES} on every rank" in told
    assert "x@1: 3.5 -> 0.1" in told or "x@0: 3.5 -> 0.1" in told
    no_bits(told)


def test_outcomes_and_a_simulated_run(file: Path) -> None:
    told = printed("outcomes", file, "--example", 1)
    assert "3.5" in told and "4.5" in told
    no_bits(told)
    told = printed("run", file, "--seed", 1).replace(f"n = {HALVES}", "")
    assert re.search(r"y(@\d)? = (4\.5|1\.1|3\.5|0\.1)", told)
    no_bits(told)


def test_an_explanation(file: Path) -> None:
    told = printed("explain", file)
    assert re.search(r"x@[01]: 3\.5 -> 0\.1", told)
    assert not re.search(rf"(= |-> ){TENTH}", told)  # commands of the core language have the bits


@pytest.mark.parametrize("ending", sorted(set(FORMATS) - {".json"}))
def test_every_format(file: Path, tmp_path: Path, ending: str) -> None:
    """Also when the run comes back from a file: there its values are integers."""
    printed("check", file, "--witness", tmp_path / f"run{ending}", "--witness", tmp_path / "run.json")
    drawn = (tmp_path / f"run{ending}").read_text(encoding="utf-8")
    shown = drawn.replace(TEXT, "").replace(json.dumps(TEXT)[1:-1], "").replace("#46;", ".")
    assert "0.1" in shown and not re.search(str(TENTH), shown)
    printed("draw", tmp_path / "run.json", "-o", tmp_path / f"again{ending}")
    assert (tmp_path / f"again{ending}").read_text(encoding="utf-8") == drawn


def test_json_has_the_bits_and_says_of_what(file: Path, tmp_path: Path) -> None:
    found = json.loads(printed("check", file, "--format", "json"))
    run = found["witness"]
    assert run["doubles"] == ["v", "x", "y"]
    assert TENTH in [event["written"]["after"] for event in run["computation"] if event["written"]]
    outcomes = json.loads(printed("outcomes", file, "--format", "json"))
    assert {"v@0", "v@1", "x@0", "x@1", "y@0", "y@1"} == set(outcomes["doubles"])
    assert outcomes["outcomes"][0]["values"]["x@0"] == TENTH
    simulated = json.loads(printed("run", file, "--format", "json"))
    again = read_results(json.dumps(simulated).encode())[0]
    assert str(again["simulation"]["final"]["x@0"]) == "0.1"  # type: ignore[typeddict-item]
    # A file of a version that did not say of what is read as it was.
    del run["doubles"]
    [older] = read_results(json.dumps(found).encode())
    assert older["witness"] is not None and "doubles" not in older["witness"]
    del found["findings"]  # they are made again
    assert json.loads(json.dumps(older)) == found


def test_a_pgas_program_has_no_doubles() -> None:
    text = "memory x; register r; queue q; process { write(x, 1 - me, x, q); r <- mem[x]; }"
    witness = to_json(check(parse(text), 2))["witness"]
    assert witness is not None and witness["doubles"] == []


def test_the_page_steps_through_doubles(browser: Browser, file: Path, tmp_path: Path) -> None:  # noqa: F811
    found = json.loads(printed("check", file, "--format", "json"))
    page = browser.open(read_results(json.dumps(found).encode())[0])
    text = page.locator("#variables").inner_text()
    assert "3.5" in text and "0.0" in text
    page.keyboard.press("End")
    assert "0.1" in page.locator("#variables").inner_text()
