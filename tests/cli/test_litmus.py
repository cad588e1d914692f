"""`pgasrob litmus`, and what other commands do with litmus tests: exit codes, options, output, bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pgasrob.cli import cli
from pgasrob.models import litmus_answers as answers
from pgasrob.robustness import watch

CORPUS = Path(__file__).parents[2] / "programs" / "litmus"
SB = "x@1=0 y@2=0 ::\n1: y^2 = 1; a = x ||\n2: x^1 = 1; b = y\n"
REUSE = "x@1=0, z@2=0 :: 1: z^2 = x; poll(2); x = 1 || 2: a = z"
LO = "x@1=0 z@2=0 :: 1: x = 1; z^2 = x; flush(2); x = z^2; flush(2); a = x"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    texts = {
        "sb": SB,
        "right": SB + "allowed pgas, rdma-tso: a=0 b=0\nforbidden sc: a=0 b=0\n",
        "wrong": SB + "forbidden pgas: a=0 b=0\n",
        "poll": REUSE + "\nforbidden rdma-tso: a=1\n",
        "bad": "x@1=0 :: 1: x = ",
        "fault": "x@1=0 :: 1: a = 1 / x",
        "cpu": "x@1=0 :: 1: x = 1 || 1: mfence; a = x",
    }
    for name, text in texts.items():
        Path(f"{name}.litmus").write_text(text)
    return tmp_path


def pgasrob(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def loaded(result: Result) -> list[Any]:
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("sb.litmus", 0),
        ("right.litmus", 0),
        ("right.litmus --expect", 0),
        ("right.litmus --model sc", 0),
        ("wrong.litmus", 1),
        ("wrong.litmus --expect", 1),
        ("wrong.litmus --model sc", 0),
        ("fault.litmus", 2),
        ("wrong.litmus right.litmus --expect", 1),
        ("wrong.litmus bad.litmus", 2),
        ("bad.litmus", 2),
        ("none.litmus", 2),
        ("sb.litmus --model tso", 2),
        ("sb.litmus --model power", 2),
        ("sb.litmus --model tso --vpi", 2),
        ("sb.litmus --forbidden q=0", 2),
        ("sb.litmus --forbidden a", 2),
        ("sb.litmus --compare pgas", 2),
        ("sb.litmus --compare pgas,sc --model sc", 2),
        ("sb.litmus --compare pgas,sc", 0),
        ("sb.litmus --model pgas --max-states 3", 3),
        ("wrong.litmus --model rdma-tso --max-states 1", 3),
        ("cpu.litmus --model pgas", 2),
        ("", 2),
    ],
)
def test_exit_codes(arguments: str, code: int) -> None:
    assert pgasrob("litmus", *arguments.split()).exit_code == code


def test_a_table_of_what_each_model_allows() -> None:
    result = pgasrob("litmus", "right.litmus", "--model", "pgas,corerma,rdma-tso,sc")
    assert (
        result.stdout
        == """\
right.litmus:
  4 outcomes in pgas, 4 outcomes in corerma, 4 outcomes in rdma-tso, 3 outcomes
  in sc
  x@1=0 y@2=0 :: 1: y^2 = 1; a = x; || 2: x^1 = 1; b = y;

  a  b │  pgas  corerma  rdma-tso  sc
───────┼───────────────────────────────
  0  0 │  yes     yes      yes      -
  0  1 │  yes     yes      yes     yes
  1  0 │  yes     yes      yes     yes
  1  1 │  yes     yes      yes     yes
  In all of them x=1 y=1.

  line 4: allowed pgas, rdma-tso: a=0 b=0: as expected in pgas and rdma-tso
  line 5: forbidden sc: a=0 b=0: as expected in sc
"""
    )


def test_what_is_not_as_expected_is_marked() -> None:
    result = pgasrob("litmus", "wrong.litmus", "--model", "pgas")
    assert "wrong.litmus: 4 outcomes in pgas (not as expected)\n" in result.stdout
    assert "  0  0 │  yes!\n" in result.stdout
    assert "  line 4: forbidden pgas: a=0 b=0: NOT in pgas\n" in result.stdout


def test_a_line_each_with_expect() -> None:
    result = pgasrob("litmus", "right.litmus", "poll.litmus", "sb.litmus", "--expect")
    assert result.stdout.splitlines() == [
        "right.litmus: as expected in pgas, rdma-tso, sc",
        "poll.litmus: as expected in rdma-tso",
        "sb.litmus: nothing expected",
    ]


def test_models_that_nobody_asked_for_are_named_where_they_do_not_know_the_program() -> None:
    said = pgasrob("litmus", "poll.litmus").stdout
    assert "Not a program of corerma or tso; --model NAME says why." in said
    refused = pgasrob("litmus", "poll.litmus", "--model", "corerma").stdout
    assert "refused by corerma" in refused and "poll" in refused.partition("refused")[2]


def test_why_something_is_forbidden() -> None:
    said = pgasrob("litmus", REUSE, "--model", "rdma-tso", "--forbidden", "a=1", "--forbidden", "a=0").stdout
    assert "Why a=1 is forbidden in rdma-tso: by " in said
    assert " 1. ippo (ippo.F7): z^2 = x (nlR x = 1) before z^2 = x (nrW z = 1)\n" in said
    assert "  a=0 is allowed in rdma-tso.\n" in said


def test_a_value_that_nobody_writes() -> None:
    said = pgasrob("litmus", REUSE, "--model", "rdma-tso", "--forbidden", "a=7").stdout
    assert "Why a=7 is forbidden in rdma-tso: no execution at all has these values." in said


def test_reasons_that_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a line of the test have less time than those that are asked for; that it is forbidden is known."""
    monkeypatch.setattr(answers, "LONGEST_WHY", 2e-9)
    monkeypatch.setattr(answers, "LONGEST_UNASKED", 1e-9)
    result = pgasrob("litmus", "poll.litmus", "--model", "rdma-tso")
    assert result.exit_code == 0
    said = " ".join(result.stdout.split())
    assert "Why a=1 is forbidden in rdma-tso is open: the time limit of 1e-09 s was reached" in said
    assert "--forbidden 'a=1' looks for longer." in said
    result = pgasrob("litmus", "poll.litmus", "--model", "rdma-tso", "--forbidden", "a=1")
    said = " ".join(result.stdout.split())
    assert "the time limit of 2e-09 s was reached" in said and "looks for longer" not in said
    (found,) = loaded(pgasrob("litmus", "poll.litmus", "--model", "rdma-tso", "--format", "json"))
    assert found["forbidden"][0]["rules"] is None and "time limit" in found["forbidden"][0]["reason"]


def test_reasons_are_not_looked_for_where_nobody_reads_them() -> None:
    (message,) = loaded(pgasrob("litmus", "poll.litmus", "--model", "rdma-tso", "--format", "json"))
    (brief,) = loaded(pgasrob("litmus", "poll.litmus", "--model", "rdma-tso", "--format", "json", "--expect"))
    assert message["forbidden"][0]["rules"] and brief["forbidden"] == []
    assert message["as_expected"] is brief["as_expected"] is True


def test_whether_something_is_forbidden_is_open_where_outcomes_are() -> None:
    result = pgasrob("litmus", "sb.litmus", "--model", "pgas", "--max-states", "3", "--forbidden", "a=0 b=0")
    said = " ".join(result.stdout.split())
    assert "Whether and why a=0 b=0 is forbidden in pgas is open: the limit of 3 states was reached" in said


def test_models_without_reasons_say_so_where_they_are_asked_for_them() -> None:
    message = "a=0 b=0 is forbidden in sc; reasons are known of corerma and rdma-tso alone."
    assert message in pgasrob("litmus", "right.litmus", "--model", "sc", "--forbidden", "a=0 b=0").stdout
    assert "reasons" not in pgasrob("litmus", "right.litmus", "--model", "sc").stdout


def test_lines_that_are_about_no_model_that_is_asked_are_named() -> None:
    text = "x@1=0 z@2=0 :: 1: z^2 = x || 2: a = z allowed tso: a=1 forbidden a=2 forbidden rdma-tso no-pcie: a=1"
    said = " ".join(pgasrob("litmus", text).stdout.split())
    assert "line 1: allowed tso: a=1: not compared, --expect asks the models that it names" in said
    assert "line 1: forbidden rdma-tso no-pcie: a=1: not compared," in said
    assert "line 1: forbidden a=2: as expected in pgas, corerma, rdma-tso and sc" in said
    assert "not compared" not in pgasrob("litmus", text, "--model", "sc").stdout


def test_remote_atomics_that_nothing_tears() -> None:
    text = "x@1=9 z@2=0 :: 1: x = rfaa(z^2, 1) || 2: z = 5"
    assert pgasrob("litmus", text, "--model", "rdma-tso").stdout.startswith("<test>: 3 outcomes in rdma-tso\n")
    glob = pgasrob("litmus", text, "--model", "rdma-tso", "--glob")
    assert glob.stdout.startswith("<test>: 2 outcomes in rdma-tso glob\n")


def test_options_without_effect_are_named() -> None:
    said = pgasrob("litmus", "poll.litmus", "--vpi", "--semantics", "concrete").stderr
    assert said == "pgasrob: poll.litmus: --vpi is about corerma, which is not asked about this program\n"
    assert pgasrob("litmus", "sb.litmus", "--vpi").stderr == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sb.litmus", "--outcome", "a=0"], "--outcome says which outcomes --graph draws: add --graph PATH."),
        (["sb.litmus", "--expect", "--compare", "sc,pgas", "--executions"], "leave --compare and --executions out"),
        (["sb.litmus", "--expect", "--forbidden", "a=0"], "leave --forbidden out, or --expect."),
        (["sb.litmus", "--model", ""], "it names no model."),
        (["sb.litmus", "--model", " , "], "it names no model."),
        (["sb.litmus", "--without", ","], "--without names no rule, as in --without IR."),
        (["sb.litmus", "--model", "rdma-tso without"], "`without` names no rule of rdma-tso"),
        (["sb.litmus", "--compare", "sc,sc merged"], "--compare takes two models: sc and sc merged are one."),
        (["sb.litmus", "--forbidden", "a=2 a=3"], "the value of `a` is given twice; drop one of them."),
        (["sb.litmus", "--model", "sc split", "--semantics", "merged"], "these are two semantics of sc; choose one."),
        (["sb.litmus", "--semantics", "concret"], "did you mean `concrete`?\n"),
        (["sb.litmus", "--model", "rdma-tso", "--without", "IR"], "no rule 'IR'; it is a rule of corerma.\n"),
        (["twoo.litmus", ""], "'' is no file, and no test: its locations stand first, with `::`;"),
        (["1: x = 1"], "'1: x = 1' is no file, and no test: its locations stand first, with `::`;"),
        (["p.pgas"], "p.pgas is a program: `pgasrob outcomes` lists how it ends, `pgasrob check` says whether"),
    ],
)
def test_what_has_no_effect_or_no_meaning_is_said(arguments: list[str], said: str) -> None:
    Path("p.pgas").write_text("process { skip; }")
    result = pgasrob("litmus", *arguments)
    assert result.exit_code == 2 and said in result.stderr and "?." not in result.stderr


def test_a_model_that_is_named_twice_is_asked_once() -> None:
    found = loaded(pgasrob("litmus", "sb.litmus", "--model", "sc,corerma vpi, without LO,sc", "--format", "json"))
    assert [each["label"] for each in found] == ["sc", "corerma vpi without LO"]


def test_a_column_is_as_wide_as_its_cells() -> None:
    head, _, *rows = pgasrob("litmus", "wrong.litmus", "--model", "sc,pgas").stdout.splitlines()[3:8]
    assert [row.index("│") for row in (head, *rows)] == [7] * 4
    assert head == "  a  b │  sc   pgas" and rows[0] == "  0  0 │   -   yes!"
    wide = [row[8:] for row in pgasrob("litmus", SB + "forbidden b=1", "--model", "sc,tso").stdout.splitlines()]
    assert "  yes!" in wide


def test_two_models_compared() -> None:
    said = pgasrob("litmus", "sb.litmus", "--compare", "pgas,sc").stdout
    assert "pgas allows x=1 y=1 a=0 b=0, sc does not:\n  thread 1 on node 1\n    1  y^2 = 1  popa constant 1\n" in said
    assert said.endswith("sc allows nothing that pgas does not.\n")
    one, other = loaded(pgasrob("litmus", "sb.litmus", "--compare", "pgas,sc", "--format", "json"))
    assert (one["only"], other["only"]) == ([{"x": 1, "y": 1, "a": 0, "b": 0}], [])


def test_nothing_is_compared_with_a_model_that_does_not_know_the_program() -> None:
    result = pgasrob("litmus", "poll.litmus", "--compare", "pgas,corerma")
    assert result.exit_code == 2
    assert "refused by corerma" in result.stdout
    assert "pgas allows" not in result.stdout
    found = loaded(pgasrob("litmus", "poll.litmus", "--compare", "pgas,corerma", "--format", "json"))
    assert not any("only" in each for each in found)


def test_variants_in_words_and_by_options() -> None:
    found = loaded(
        pgasrob("litmus", LO, "--model", "corerma,corerma:without:LO", "--model", "corerma vpi", "--format", "json")
    )
    assert [each["label"] for each in found] == ["corerma", "corerma without LO", "corerma vpi"]
    assert [each["variant"] for each in found] == ["", "without LO", "vpi"]
    values = [{outcome["a"] for outcome in each["outcomes"]} for each in found]
    assert values == [{1}, {0, 1}, {1}]
    (left_out,) = loaded(pgasrob("litmus", LO, "--model", "corerma", "--without", "LO", "--format", "json"))
    assert left_out["outcomes"] == found[1]["outcomes"]


def test_semantics_of_one_model_are_the_same() -> None:
    found = loaded(
        pgasrob("litmus", REUSE, "--model", "rdma-tso:concrete,rdma-tso:simplified,rdma-tso", "--format", "json")
    )
    assert [each["semantics"] for each in found] == ["concrete", "simplified", "declarative"]
    assert [each["outcomes"] for each in found] == [[{"x": 1, "z": 0, "a": 0}]] * 3
    (alone,) = loaded(pgasrob("litmus", REUSE, "--model", "rdma-tso", "--semantics", "concrete", "--format", "json"))
    assert alone["label"] == "rdma-tso concrete"


def test_options_that_no_model_takes() -> None:
    assert "tso takes no --vpi; corerma does." in pgasrob("litmus", "sb.litmus", "--model", "tso", "--vpi").stderr
    said = pgasrob("litmus", "sb.litmus", "--model", "corerma", "--without", "IRR").stderr
    assert "no rule 'IRR'; did you mean `IR`?" in said
    said = pgasrob("litmus", "sb.litmus", "--model", "rdma_tso").stderr
    assert "no model 'rdma_tso'; did you mean `rdma-tso`?" in said
    said = pgasrob("litmus", "sb.litmus", "--forbidden", "z=0").stderr
    assert "sb.litmus has no register or location 'z'; there is x, y, a, b." in said


def test_json_has_a_line_for_each_model() -> None:
    pgas, sc = loaded(pgasrob("litmus", "right.litmus", "--model", "pgas,sc", "--format", "json"))
    assert (pgas["file"], pgas["model"], pgas["semantics"], pgas["complete"]) == ("right.litmus", "pgas", "fifo", True)
    assert pgas["outcomes"][0] == {"x": 1, "y": 1, "a": 0, "b": 0}
    assert pgas["expected"] == [
        {
            "line": 4,
            "text": "allowed pgas, rdma-tso: a=0 b=0",
            "allowed": True,
            "values": {"a": 0, "b": 0},
            "holds": True,
        }
    ]
    assert (sc["model"], len(sc["outcomes"]), sc["as_expected"]) == ("sc", 3, True)
    (bad,) = loaded(pgasrob("litmus", "bad.litmus", "--format", "json"))
    assert bad["model"] is None and bad["errors"][0]["line"] == 1
    (refused,) = loaded(pgasrob("litmus", "poll.litmus", "--model", "corerma", "--format", "json"))
    assert refused["refusals"][0]["line"] == 1 and refused["outcomes"] == [] and not refused["complete"]


def test_undefined_values_are_t() -> None:
    (found,) = loaded(
        pgasrob("litmus", "x@1=0 y@2=1 :: 1: x.n = y^2.n; a = x.n", "--model", "corerma", "--format", "json")
    )
    assert {outcome["a"] for outcome in found["outcomes"]} == {0, 1, "T"}


def test_tests_in_a_line_and_folders(folder: Path) -> None:
    (folder / "some" / ".hidden").mkdir(parents=True)
    (folder / "some" / "one.litmus").write_text(SB)
    (folder / "some" / ".hidden" / "two.litmus").write_text(SB)
    found = loaded(pgasrob("litmus", "some", "-e", REUSE, "--model", "sc", "--format", "json"))
    assert [each["file"] for each in found] == ["some/one.litmus", "<test>"]
    (folder / "empty").mkdir()
    empty = pgasrob("litmus", "empty", "sb.litmus")
    assert empty.exit_code == 2 and "no .litmus file in the folder empty" in empty.stderr


def test_a_test_in_a_line_may_be_longer_than_a_name() -> None:
    loads = "; ".join(f"a{number} = x" for number in range(100))
    assert len(loads) > 255
    result = pgasrob("litmus", f"x@1 :: 1: {loads}", "--model", "sc", "--format", "json")
    assert result.exit_code == 0 and len(loaded(result)[0]["outcomes"]) == 1


def test_memory_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = iter(range(0, 1 << 60, 1 << 20))
    monkeypatch.setattr(watch, "resident_memory", lambda: next(sizes))
    monkeypatch.setattr(watch, "LOOK_AROUND", 0.0)
    for arguments in (("litmus", "sb.litmus", "--model", "sc"), ("check", "sb.litmus", "--network", "rdma-tso")):
        result = pgasrob(*arguments, "--memory-limit", "2M", "--format", "json")
        assert result.exit_code == 3
        assert "memory limit of 2 MB" in loaded(result)[0]["reason"]


def test_a_limit_leaves_open_what_is_expected() -> None:
    said = pgasrob("litmus", "right.litmus", "--model", "pgas", "--max-states", "3").stdout
    assert "unknown in pgas, 0 outcomes so far" in said
    assert "the limit of 3 states was reached" in said
    assert "line 4: allowed pgas, rdma-tso: a=0 b=0: open in pgas" in said


def test_graphs_are_written(folder: Path) -> None:
    drawn = pgasrob("litmus", "poll.litmus", "--model", "rdma-tso", "--graph", "p.svg", "--graph", "p.dot")
    assert drawn.exit_code == 0 and "p.svg has been drawn" in drawn.stderr
    assert (folder / "p.svg").read_text().startswith("<?xml")
    assert (folder / "p.dot").read_text().startswith("digraph executions {")
    two = pgasrob("litmus", "sb.litmus", "--model", "pgas,rdma-tso no-pcie", "--graph", "{name}-{model}.svg")
    assert two.exit_code == 0
    assert {"sb-pgas.svg", "sb-rdma-tso-no-pcie.svg"} <= {path.name for path in folder.iterdir()}
    one = pgasrob("litmus", "sb.litmus", "--model", "pgas", "--graph", "o.svg", "--outcome", "a=0 b=0")
    assert one.exit_code == 0 and (folder / "o.svg").read_text().count("allowed in pgas</text>") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("sb.litmus poll.litmus --model sc --graph a.svg", "a.svg: there are 2 tests; say {name} in PATH"),
        ("sb.litmus --model sc --graph a.png", "a.png: the ending says the format, .svg or .dot"),
        ("sb.litmus --model sc --graph a.svg --outcome a=9", "a.svg is not written: there is no execution to draw"),
        ("sb.litmus --model sc --graph none/a.svg", "cannot write none/a.svg: No such file or directory"),
    ],
)
def test_graphs_that_cannot_be_written(arguments: str, said: str) -> None:
    result = pgasrob("litmus", *arguments.split())
    assert result.exit_code == 2 and said in result.stderr


def test_tests_of_one_name_have_a_graph_each(folder: Path) -> None:
    (folder / "more").mkdir()
    (folder / "more" / "sb.litmus").write_text(SB)
    tests = ["sb.litmus", "more/sb.litmus", "-e", "x@1=0 :: 1: x = 1", "-e", "x@1=0 :: 1: x = 2"]
    assert pgasrob("litmus", *tests, "--model", "sc", "--graph", "{name}.dot").exit_code == 0
    assert {path.name for path in folder.glob("*.dot")} == {"sb.dot", "sb-2.dot", "test.dot", "test-2.dot"}
    refused = pgasrob("litmus", *tests[2:], "--model", "sc", "--graph", "one.dot")
    assert refused.exit_code == 2 and "one.dot: there are 2 tests; say {name} in PATH" in refused.stderr


def test_generate_is_a_command_of_its_own() -> None:
    assert "litmus generate [OPTIONS]" in pgasrob("litmus", "generate", "--help").stdout


def test_the_corpus_is_as_expected_by_the_command() -> None:
    result = pgasrob("litmus", str(CORPUS / "rdma_tso"), str(CORPUS / "corerma"), "--expect")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == len([*CORPUS.glob("rdma_tso/*.litmus"), *CORPUS.glob("corerma/*.litmus")])


def test_ctrl_c_is_mentioned(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(answers, "answer", interrupted)
    result = pgasrob("litmus", "sb.litmus", "right.litmus")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "pgasrob: interrupted\n")


# Other commands


def test_outcomes_takes_litmus_tests() -> None:
    assert pgasrob("outcomes", "sb.litmus").stdout == pgasrob("litmus", "sb.litmus", "--model", "pgas,sc").stdout
    found = loaded(pgasrob("outcomes", "wrong.litmus", "--model", "sc", "--format", "json"))
    assert [each["model"] for each in found] == ["sc"]
    assert pgasrob("outcomes", "wrong.litmus").exit_code == 1
    assert "sb.litmus is a litmus test" in pgasrob("outcomes", "sb.litmus", "--of", "a").stderr
    wrong = pgasrob("outcomes", "sb.litmus", "-D", "A=1", "--assume-pure", "f", "--shared-memory", "all")
    assert wrong.exit_code == 2
    assert "which --assume-pure, -D and --shared-memory are not for: --model, --format" in wrong.stderr
    Path("p.pgas").write_text("process { skip; }")
    assert "--model is for litmus tests" in pgasrob("outcomes", "p.pgas", "--model", "sc").stderr


@pytest.mark.parametrize("command", ["show", "explain", "run", "race", "repair"])
def test_commands_about_programs_say_so(command: str) -> None:
    result = pgasrob(command, "sb.litmus")
    assert result.exit_code == 2
    assert "a litmus test, where a program is asked for" in result.output


def test_check_names_the_statements() -> None:
    said = pgasrob("check", "sb.litmus").stdout
    assert "sb.litmus: not robust on 2 nodes\n" in said
    assert "before the put of rank 0 in line 2 has arrived" in " ".join(said.split())
