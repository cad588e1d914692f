"""The stages that `pgasrob show` prints: their counts are those of the automata, their graphs are whole."""

from __future__ import annotations

from pathlib import Path

import pytest

import pgasrob
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.robustness import stages

ROOT = Path(__file__).parents[2]


@pytest.fixture
def one_to_one() -> Instance:
    return pgasrob.load(ROOT / "programs/one_to_one/one_to_one.pgas").instantiate(2)


def test_control_counts_and_shares_graphs_of_equal_ranks(one_to_one: Instance) -> None:
    stage = stages.control(one_to_one)
    assert stage.counts == [("rank 0", "5 states, 4 transitions"), ("rank 1", "5 states, 4 transitions")]
    assert len(stage.graphs) == 2  # the ranks write to different neighbours
    labels = [label for _, _, label in stage.graphs[0].edges]
    assert labels == ["write(x, 1, y, q)", "barrier", "r <- mem[y]", "assert(r == 1)"]


def test_equal_ranks_share_one_control_graph() -> None:
    stage = stages.control(parse("process { barrier; }").instantiate(3))
    assert [graph.title for graph in stage.graphs] == ["control automaton of ranks 0, 1, 2"]


def test_the_state_space_of_one_to_one(one_to_one: Instance) -> None:
    stage = stages.state_space(one_to_one)
    assert stage.counts == [("states", "137, of which 29 final"), ("transitions", "319")]
    (graph,) = stage.graphs
    assert (len(graph.nodes), len(graph.edges), len(graph.finals)) == (137, 319, 29)


@pytest.mark.parametrize(("heads", "states", "transitions"), [(2, 97, 141), (4, 1021, 1520)])
def test_the_normal_form_of_one_to_one(one_to_one: Instance, heads: int, states: int, transitions: int) -> None:
    stage = stages.normal_form(one_to_one, heads)
    assert stage.counts[:2] == [("states", f"{states}, of which {states} final"), ("transitions", str(transitions))]
    assert bool(stage.graphs) == (states <= stages.LARGEST_GRAPH)
    assert bool(stage.remarks) != bool(stage.graphs)


def test_cycle_types_of_one_to_one(one_to_one: Instance) -> None:
    stage = stages.cycle_type_automata(one_to_one)
    assert stage.counts[0] == ("cycle types", "3, of which 3 possible")
    assert [graph.title for graph in stage.graphs] == [
        f"Z from rank {source} to rank {target}" for source in (0, 1) for target in (0, 1)
    ]


def test_an_infinite_state_space_says_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "LARGEST_COUNT", 100)
    instance = parse("memory x, y; queue q; process { loop { read(x, 0, y, q); } }").instantiate(1)
    stage = stages.state_space(instance)
    assert stage.counts[0][1].startswith("at least 10")
    assert not stage.graphs
    assert "no end" in stage.remarks[0]


def test_the_automaton_of_a_cycle_type(one_to_one: Instance) -> None:
    stage = stages.cycle_type(one_to_one, (0, 1))
    assert stage.counts == [("states", "26"), ("letters", "25"), ("transitions", "82")]
    (graph,) = stage.graphs
    assert (len(graph.nodes), len(graph.edges), len(graph.finals)) == (26, 82, 1)
    assert graph.edges[0] == (0, 0, "0: barrier")


@pytest.mark.parametrize("cycle", [(), (0, 0), (0, 2), (-1,)])
def test_what_is_no_cycle_type(one_to_one: Instance, cycle: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"different ranks, each of 0\.\.1"):
        stages.cycle_type(one_to_one, cycle)


def test_a_cycle_type_without_a_graph_says_why(one_to_one: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    apart = stages.cycle_type(parse("memory x; register r; process { r <- mem[x]; }").instantiate(2), (0, 1))
    assert (apart.counts, apart.graphs) == ([("states", "0")], [])
    assert "neither a cell nor a barrier" in apart.remarks[0]
    monkeypatch.setattr(stages, "LARGEST_GRAPH", 25)
    assert "more than 25 states" in stages.cycle_type(one_to_one, (0, 1)).remarks[0]
    monkeypatch.setattr(stages, "LARGEST_COUNT", 24)
    assert stages.cycle_type(one_to_one, (0, 1)).remarks == ["not intersected: up to 25 states"]
