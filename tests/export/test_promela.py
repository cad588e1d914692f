"""The Promela model as a text: what it says, what it leaves out, what has no model, and that SPIN accepts it."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from pgasrob.cli import cli
from pgasrob.export.promela import Unsupported, promela_model, to_promela
from pgasrob.program.commands import Assign, Assume, Load, Store, Write
from pgasrob.program.declarations import MemoryObject, Process
from pgasrob.program.expressions import Binary, Const, IntType, Register
from pgasrob.program.program import Program
from pgasrob.program.reading import Reading
from pgasrob.program.statements import Block, Do
from pgasrob.robustness.load import load
from tests.support import instance, one_to_one, program

CORPUS = sorted(Path(__file__).parents[2].glob("programs/*/*.pgas"))

ONE_TO_ONE = """
byte source;
bit dw_y_0;
bit dw_y_1;
bit tainted_0;
bit tainted_1;
bit tr_y_0;
bit tr_y_1;
bit tw_y_0;
bit tw_y_1;
bit arrived_0;
bit arrived_1;

/* A rank has arrived at the barrier; the last one lets all of them go on, tainted if anybody is. */
inline arrive() {
  if
  :: arrived_0 && arrived_1 ->
    arrived_0 = 0; arrived_1 = 0;
    if
    :: source != 0 ->
      tainted_0 = 1; tainted_1 = 1;
    :: else
    fi;
  :: else
  fi;
}

active proctype rank_0() {
  bit q_q_dst;

  /* 1: write(x, 1, y, q) */
  if
  :: d_step { true ->
       if
       :: dw_y_1 ->
         dw_y_1 = 1; q_q_dst = 1;
       :: else ->
         if
         :: tainted_0 || tw_y_1 || tr_y_1 ->
           tw_y_1 = 1;
         :: else
         fi;
       fi;
     };
  :: d_step { source == 0 ->
       source = 2;
       dw_y_1 = 1; q_q_dst = 1;
     };
  :: d_step { source == 2 && (tainted_0 || tw_y_1 || tr_y_1) ->
       assert(false);
     };
  fi;
  /* 1: wait(q) */
  d_step { !q_q_dst ->
    arrived_0 = 1;  /* 1: barrier */
    arrive();
  };
  /* 1: r <- mem[y] */
  if
  :: d_step { !arrived_0 && !dw_y_0 ->
       if
       :: tainted_0 || tw_y_0 ->
         tr_y_0 = 1;
       :: else
       fi;
     };
  :: d_step { !arrived_0 && dw_y_0 && source == 1 && (tainted_0 || tw_y_0) ->
       assert(false);
     };
  fi;
  goto end_of_rank;
end_of_rank:
  false  /* a process that ended would be one more transition */
}
"""


def test_the_model_of_one_program() -> None:
    text = to_promela(one_to_one("wait(q);"))
    heading, body = text.split("*/", 1)
    assert (
        "source      the first step that is delayed: 0 none\n               1 the write of y@0, 2 the write of y@1"
        in heading
    )
    assert body.partition("active proctype rank_1")[0].strip() == ONE_TO_ONE.strip()
    assert body.count("active proctype") == 2


def declared(text: str) -> set[str]:
    return set(re.findall(r"^ *((?:bit|byte|short|int) \w+(?: = [^;]+)?);", text, re.MULTILINE))


def values(text: str) -> set[str]:
    """The declared registers and cells."""
    return {each for each in declared(text) if re.search(r" [mr]_", each)}


def test_values_are_of_the_smallest_type() -> None:
    body = "mem[x] <- 1; mem[y] <- {}; r <- mem[x]; s <- mem[y]; assume(r == s);"
    for value, type in (("1", "bit"), ("255", "byte"), ("256", "short"), ("-1", "short"), ("40000", "int")):
        text = to_promela(instance(body.format(value), nodes=1, declarations="memory x, y; register r, s; queue q;"))
        assert values(text) == {"bit m_x_0", "bit r_r", f"{type} m_y_0", f"{type} r_s"}


def test_values_that_nobody_reads_are_not_stored() -> None:
    text = to_promela(instance("r <- mem[x]; mem[x] <- r + 1; s <- swap(0, y, 2); write(x, me, z, q); assert(r == 5);"))
    assert values(text) == set() and "m_" not in text.split("*/", 1)[1]


def test_cells_that_nobody_writes_are_numbers() -> None:
    text = to_promela(instance("r <- mem[x]; write(x, me, y, q); wait(q); s <- mem[y]; assume(r == s);"))
    assert values(text) == {"bit m_y_0", "bit r_r", "bit r_s"} and "r_r = 1;" in text and "m_y_0 = 1;" in text


def test_bits_only_where_somebody_asks() -> None:
    def bits(body: str) -> set[str]:
        declarations = "memory x, y, z; register r; queue q, u unordered, v unordered;"
        text = to_promela(instance(body, nodes=1, declarations=declarations))
        return {each.split()[1] for each in declared(text) if re.search(r" (q_|at_|bundled)", each)}

    assert bits("write(x, 0, y, q);") == set()
    assert bits("write(x, 0, y, q); wait(u);") == set()
    assert bits("write(x, 0, y, q); wait(q);") == {"q_q_dst"}
    assert bits("write(x, 0, y, q); write(y, 0, x, q);") == {"q_q_src", "q_q_dst"}
    assert bits("write(x, 0, y, q); wait_local(q);") == {"q_q_loc"}
    assert bits("write(x, 0, y, u); fence(u);") == set()
    assert bits("write(x, 0, y, u); fence(u); write(x, 0, y, u);") == {"q_u_to_0", "q_u_bound_0"}
    assert bits("write(x, 0, y, u); fence(u); read(x, 0, y, u); wait(u);") == {"q_u_any"}
    assert bits("wait(q); write(x, 0, y, q);") == set()
    # A put has one step; an atomic with a result ends with a third stage.
    assert bits("put(x, 0, y, q); put(y, 0, x, q);") == {"q_q_dst"}
    assert bits("update(add, 1, 0, y, q, z); wait(q);") == {"q_q_dst", "q_q_res"}
    assert bits("update_from(fetch, 0, y, q, z); update_from(fetch, 0, x, q, z);") == {"q_q_src", "q_q_res"}
    assert bits("update_from(fetch, 0, y, u, z); wait_local(u);") == {"q_u_loc"}
    # Notifications come after writes in their queue, or in all, where a FIFO queue does not see to it.
    assert bits("write(x, 0, y, u); notify(add, 1, 0, z, u);") == {"q_u_to_0"}
    assert bits("write(x, 0, y, u); notify(add, 1, 0, z, v);") == set()
    assert bits("write(x, 0, y, u); notify_all(add, 1, 0, z, v);") == {"q_u_to_0"}
    assert bits("write(x, 0, y, q); notify_all(add, 1, 0, z, v);") == {"q_q_to_0"}
    assert bits("read(x, 0, y, u); notify_all(add, 1, 0, z, v);") == set()
    # Signals come after what there has been since the bundle began.
    assert bits("write(x, 0, y, u); signal(add, 1, 0, z, v);") == {"bundled"}
    assert bits("write(x, 0, y, u); bundle; signal(add, 1, 0, z, v);") == set()
    assert bits("loop { write(x, 0, y, u); bundle; write(x, 0, y, v); signal(add, 1, 0, z, v); }") == {"bundled"}
    # Located atomics come after each other at one cell.
    assert bits("update_located(add, 1, 0, y, u); update_located(set, 2, 0, y, v);") == {"at_y_0"}
    assert bits("update_located(add, 1, 0, y, u); update_located(set, 2, 0, z, v);") == set()


def test_a_bundle_forgets_what_was_before_it() -> None:
    body = "loop { bundle; write(x, 0, y, u); signal(add, 1, 0, z, v); }"
    assert "bundled = 0;" in to_promela(instance(body))
    assert "bundled = 0;" not in to_promela(instance(body.replace("bundle;", "")))


@pytest.mark.parametrize(
    ("poll", "guard"),
    [
        ("while (r < s) { r <- mem[y]; }", "(!((!(!(m_y_0 < r_s))) || (m_y_0 == 0)))"),
        ("while (r < s) { r <- fetch(1, x); }", "(!((!(!(m_x_1 < r_s))) || (m_x_1 == 1)))"),
    ],
)
def test_what_a_poll_waits_for(poll: str, guard: str) -> None:
    """A guard over the cell that is read, in place of the register; to y and x comes one value alone, so that they are
    flags."""
    blocks = (f"s <- mem[z]; {poll}", "mem[x] <- 3; r <- swap(0, y, 40); r <- swap(0, z, 2);")
    assert f"d_step {{ {guard} ->" in to_promela(instance(*blocks))
    counted = to_promela(program(*blocks).instantiate(reading=Reading(failed_polls="count")))
    assert guard not in counted and "r_r = m_" in counted


def test_a_condition_that_may_fault_is_no_wait() -> None:
    """A run that faults in it shows something, whatever it read."""
    blocks = ("while (1 << r == 1) { r <- mem[y]; }", "mem[x] <- 3; r <- swap(0, y, 40); r <- swap(0, z, 2);")
    counted = program(*blocks).instantiate(reading=Reading(failed_polls="count"))
    assert to_promela(instance(*blocks)) == to_promela(counted)


def test_a_poll_of_what_nobody_writes() -> None:
    """It is over at once or never."""
    assert "r_r = 1;" in to_promela(instance("while (r != 1) { r <- mem[x]; } assume(r);"))
    assert "r_r = " not in to_promela(instance("while (r != 2) { r <- mem[x]; } assume(r);"))


def test_updates_that_commute_have_bits_of_their_own() -> None:
    blocks = "update(add, 1, 1, y, q); update(add, 1, 1, z, q);", "update(add, 1, 1, y, q); update(or, 1, 1, y, q);"
    model = to_promela(instance(*blocks))
    marks = {each for each in declared(model) if re.match(r"bit [td][ruw]", each)}
    # Nobody else touches z, whose additions commute.
    assert marks == {f"bit {part}u_{kind}_int32_y_1" for part in "td" for kind in ("add", "or")}
    assert "1 the add int32 of y@1, 2 the or int32 of y@1" in model and "tu_ du_" in model
    model = to_promela(program(*blocks).instantiate(reading=Reading(conflicts="all")))
    marks = {each for each in declared(model) if re.match(r"bit [td][ruw]", each)}
    assert marks == {"bit tw_y_1", "bit dw_y_1", "bit tw_z_1", "bit dw_z_1"} and "tu_" not in model


def test_further_sources() -> None:
    """Updates of cells that somebody waits for, when they and the steps before them would happen now."""
    update = "write(z, 1, x, q); write(x, 0, z, q); update_from(add, z, 1, y, q);"
    further = [
        line.strip()
        for line in to_promela(instance(update, "await(mem[y] == 0); r <- fetch(0, z);")).splitlines()
        if re.search(r" && source == \d ->", line)
    ]
    assert further == [":: d_step { !q_q_src && !dw_z_0 && !q_q_dst && source == 4 ->"]
    assert not re.search(r" && source == \d ->", to_promela(instance(update, "r <- mem[y]; r <- fetch(0, z);")))


def test_the_steps_of_a_chain() -> None:
    """What happens now is a prefix of the steps; the old value is put aside where a result is written."""
    # x = 1 is never written; nothing but z is looked at.
    text = to_promela(
        instance(
            "update_from(compare_swap, x, y, 0, z, q, w); mem[y] <- 2; r <- mem[z]; assume(r);",
            declarations="memory x = 1, y, z, w; register r; queue q;",
        )
    )
    assert text.count("m_z_0 = ((m_z_0 == m_y_0) -> 1 : m_z_0);") == 3 and "m_w_0" not in text
    assert "hidden int old" not in text
    body = "update(add, 1, 0, z, q, w); r <- mem[z]; assume(r); r <- mem[w]; assume(r);"
    lines = [line.strip() for line in to_promela(instance(body)).splitlines()]
    both = lines.index("old = m_z_0;")
    assert lines[both : both + 3] == ["old = m_z_0;", "m_z_0 = (m_z_0 + 1);", "m_w_0 = old;"]
    # The result is delayed, or is the source: z changes all the same.
    assert lines.count("m_z_0 = (m_z_0 + 1);") == 3 and lines.count("m_w_0 = old;") == 1


def test_values_that_32_bits_do_not_hold_are_of_c() -> None:
    register, cell = Register("r", 0), Const(0)
    wide = IntType(64, False)
    body = Block(
        (
            Do(Load(register, cell)),
            Do(Assign(register, Binary("+", register, Const(1 << 40), wide))),
            Do(Store(cell, register)),
            Do(Assume(Binary("==", register, Const(1)))),
            Do(Write(cell, Const(0), cell, Const(0))),
        )
    )
    memory = (MemoryObject("x", 0, None, (5,)),)
    model = promela_model(Program("p", 1, memory, ("r.s",), (), (Process(None, body),)).instantiate())
    assert model.options == ("-o1", "-o2") and "spin -o1 -o2 -a model.pml" in model.text
    assert 'c_state "uint64 m_x_0" "Global" "5"' in model.text
    assert 'c_state "uint64 r_r_s" "Local rank_0" "0"' in model.text
    assert "c_code { now.m_x_0 = (wide) Prank_0->r_r_s; };" in model.text
    accepted(model.text)
    assert promela_model(one_to_one("wait(q);")).options == ()


def test_names_that_are_words_of_c_or_promela_or_alike() -> None:
    declarations = "memory int, a[2], a_1, atomic = 1; register double, d_step; queue q, proctype;"
    body = (
        "mem[a + 1] <- 1; mem[a_1] <- 2; mem[int] <- 3; double <- mem[a + 1]; d_step <- mem[a_1]; "
        "write(atomic, me, int, proctype); wait(proctype); assume(double == d_step); double <- mem[int]; "
        "assume(double);"
    )
    text = to_promela(instance(body, nodes=1, declarations=declarations))
    assert {"bit m_a_1_0", "byte m_a_1__0", "byte m_int_0", "byte r_double"} <= declared(text)
    accepted(text)


# What has no model


def test_what_has_no_model_says_so() -> None:
    with pytest.raises(Unsupported, match=r"the queue of write.* may have too many values"):
        to_promela(instance("loop { r <- r + 1; write(x, me, y, r); }"))
    with pytest.raises(Unsupported, match="256 ranks, and SPIN has no more than 255 processes"):
        to_promela(instance("skip;", nodes=256))
    declarations = "memory a[100]; register r, s; queue q;"
    anywhere = instance("loop { r <- r * 3 + 1; s <- s + 1; } read(a + r, 0, a + s, q);", declarations=declarations)
    with pytest.raises(Unsupported, match=r"the operands of read.* \(line 1\) may have too many values"):
        to_promela(anywhere)
    with pytest.raises(Unsupported, match=r"an expression takes .* characters"):
        to_promela(instance("loop { r <- r + 1; } s <- " + " / (r + ".join(["r"] * 18) + ")" * 17 + "; assume(s);"))


# SPIN


def accepted(text: str) -> None:
    """SPIN reads the model and writes a verifier for it."""
    if not shutil.which("spin") or not shutil.which("cc"):
        pytest.skip("spin and cc are not installed")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "model.pml").write_text(text, encoding="utf-8")
        result = subprocess.run(["spin", "-a", "model.pml"], cwd=folder, capture_output=True, text=True, check=False)
        assert result.returncode == 0 and not result.stdout and not result.stderr
        assert (Path(folder) / "pan.c").exists()


@pytest.mark.parametrize("moves", [False, True])
def test_spin_accepts_many_ranks_and_long_programs(moves: bool) -> None:
    halo = next(path for path in CORPUS if path.stem == "halo")
    accepted(promela_model(load(halo).instantiate(32), moves).text)
    long = " ".join(
        f"r <- mem[x]; write(x, (me + {turn}) % nodes, y, q); if (r == {turn}) {{ wait(q); }}" for turn in range(60)
    )
    accepted(promela_model(instance(long, nodes=4), moves).text)
    nested = "if (r == 1) { " * 30 + "mem[x] <- 2; " + "} else { mem[y] <- 2; }" * 30
    accepted(promela_model(instance("r <- mem[x]; " + nested), moves).text)


def test_large_states_are_announced() -> None:
    body = "write(x, (me + 1) % nodes, y, q); r <- mem[y];"
    assert "-DVECTORSZ" not in to_promela(instance(body, nodes=2))
    model = promela_model(instance(body, nodes=60))
    assert f"-DVECTORSZ={model.bytes}" in model.text and model.bytes > 1_024


def test_spin_accepts_as_many_processes_as_it_has() -> None:
    accepted(to_promela(instance("r <- mem[x];", nodes=255, declarations="memory x; register r;")))


# The command


def test_export(tmp_path: Path) -> None:
    source = next(path for path in CORPUS if path.stem == "one_to_one")
    target = tmp_path / "model.pml"
    run = CliRunner().invoke(cli, ["export", str(source), "--to", "promela", "-n", "3"])
    assert run.exit_code == 0 and run.output == to_promela(load(source).instantiate(3))
    run = CliRunner().invoke(cli, ["export", str(source), "--to", "promela", "-o", str(target)])
    assert run.exit_code == 0 and run.output == ""
    assert target.read_text(encoding="utf-8") == to_promela(load(source).instantiate())


def test_export_of_what_cannot_be_exported(tmp_path: Path) -> None:
    file = tmp_path / "p.pgas"
    file.write_text("memory x; register r; process { loop { r <- r + 1; write(x, 0, x, r); } }", encoding="utf-8")
    run = CliRunner().invoke(cli, ["export", str(file), "--to", "promela"])
    assert run.exit_code == 2 and "p.pgas has no promela model: the queue of write(x, 0, x, r)" in run.output
    file.write_text("process { nonsense }", encoding="utf-8")
    run = CliRunner().invoke(cli, ["export", str(file), "--to", "promela"])
    assert run.exit_code == 2 and "PG" in run.output
    run = CliRunner().invoke(cli, ["export", str(file), "--to", "tla"])
    assert run.exit_code == 2 and "promela" in run.output
