"""Processes are numbers that print as names, and stand with the others of their rank."""

from __future__ import annotations

import json
import pickle

from pgasrob.api import check
from pgasrob.program.parser import parse
from pgasrob.render.barriers_waited_at import mismatch
from pgasrob.render.process_numbers import home_of, numbered
from pgasrob.render.result_report import report
from pgasrob.render.run_graph import to_dot, to_mermaid
from pgasrob.render.run_svg import to_svg
from pgasrob.render.verdict_json import to_json
from pgasrob.render.witness_file import read_results
from pgasrob.render.words import standing
from pgasrob.robustness.stages import control


def test_numbers_that_are_named() -> None:
    instance = parse("nodes 2; process { skip; } process 0 thread 1 { skip; }").instantiate()
    all_of_them = [numbered(instance, process) for process in (1, 2, 0)]
    assert json.dumps(all_of_them) == "[1, 2, 0]"
    assert [str(each) for each in pickle.loads(pickle.dumps(all_of_them))] == ["1", "0.1", "0.0"]
    assert [str(each) for each in sorted(all_of_them)] == [f"{each}" for each in sorted(all_of_them)]
    assert [str(each) for each in sorted(all_of_them)] == ["0.0", "0.1", "1"]
    assert [home_of(each) for each in all_of_them] == [1, 0, 0]
    assert sorted(all_of_them)[1] == 2 and {2: "found"}[all_of_them[1]] == "found"


THREADS = """
nodes 2;
memory x, y, done;
register r;
queue q;
process 0 { await(mem[done] == 1); barrier; }
process 0 thread 1 { write(x, 1, y, q); mem[done] <- 1; }
process 1 { barrier; r <- mem[y]; }
"""


def test_threads_in_the_theory() -> None:
    program = parse(THREADS)
    text = "".join(piece for line in report(to_json(check(program, engine="product"))) for piece, _ in line)
    assert "(barrier₀.₀, " in text or "(await₀.₀, " in text
    assert [name for name, _ in control(program.instantiate()).counts] == ["rank 0.0", "rank 1", "rank 0.1"]


def test_threads_in_json_and_pictures() -> None:
    result = to_json(check(parse(THREADS)))
    run = result["witness"]
    assert run is not None and run.get("threads") == [{"rank": 0, "thread": 1}]
    assert {event["rank"] for event in run["computation"]} == {0, 1, 2}
    text = " ".join("".join(piece for piece, _ in line) for line in report(result))
    text = " ".join(text.split())
    assert "before the write of rank 0.1 in line 7 has arrived there. " in text
    (again,) = read_results(json.dumps(result).encode())
    assert to_svg(again) == to_svg(result)
    names = [to_svg(result).index(f">{name}<") for name in ("rank 0.0", "rank 0.1", "rank 1")]
    assert names == sorted(names)
    assert "subgraph r2[" in to_mermaid(result) and "lane2 [" in to_dot(result)


def test_a_barrier_waits_for_ranks_and_not_for_threads() -> None:
    text = "nodes 2; memory x; process { barrier(a); } process thread 1 { skip; } process 1 thread 2 { barrier(b); }"
    result = to_json(check(parse(text.replace("process { barrier(a); }", "process 0 { barrier(a); } process 1 { }"))))
    run = result["deadlock_run"]
    assert run is not None and mismatch(run)
    texts = [standing(each, run["standing"]) for each in run["standing"]]
    assert texts[0] == "stands before barrier(a) (line 1; it does not match line 1 of rank 1.2)"
    assert texts[1:4] == ["has ended"] * 3
