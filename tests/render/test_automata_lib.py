"""Graphs as automata of automata-lib: the same words as ours, and the same automata as those that Z has anyway."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Hashable
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from automata.fa.dfa import DFA
from automata.fa.nfa import NFA
from hypothesis import given, settings

from pgasrob.automata.automaton import Automaton
from pgasrob.program.instance import Instance
from pgasrob.render import automata_lib
from pgasrob.render.automata_lib import MissingExtra, picture, state_names, to_automaton, write
from pgasrob.render.stage_pictures import to_dot
from pgasrob.robustness import stages
from pgasrob.robustness.cycle_types import CycleTypeAutomata
from pgasrob.robustness.normal_form import NormalForm
from pgasrob.robustness.stages import Graph
from pgasrob.semantics.state_space import StateSpace
from tests.support import examples, instance, one_to_one, tiny_instances

ROOT = Path(__file__).parents[2]

drawing = pytest.mark.skipif(
    not all(map(find_spec, automata_lib.PACKAGES)), reason="needs the extra `diagrams` (pip install '.[diagrams]')"
)


def accepted(graph: Graph, length: int) -> set[tuple[str, ...]]:
    """The words of at most ``length`` letters that automata-lib says ``graph`` accepts, all words tried."""
    automaton = to_automaton(graph)
    symbols = sorted(automaton.input_symbols)
    words = (word for size in range(length + 1) for word in product(symbols, repeat=size))
    return {word for word in words if automaton.accepts_input(list(word))}


def spelled(automaton: Automaton[Any, Any], graph: Graph, length: int) -> set[tuple[str, ...]]:
    """The words of at most ``length`` transitions of ``automaton`` itself, in the labels of ``graph``.

    The labels are looked up by the letters alone, so that the edges of the graph are not believed.
    """
    labels: dict[tuple[Hashable, ...], str] = {}
    seen, states = {automaton.initial}, [automaton.initial]
    edges = iter(graph.edges)
    for state in states:
        for word, target in automaton.successors(state):
            label = next(edges)[2]
            assert labels.setdefault(word, label) == label
            if target not in seen:
                seen.add(target)
                states.append(target)
    found: set[tuple[str, ...]] = set()

    def walk(state: Any, sofar: tuple[str, ...]) -> None:
        if automaton.is_final(state):
            found.add(sofar)
        if len(sofar) < length:
            for word, target in automaton.successors(state):
                walk(target, (*sofar, labels[word]))

    walk(automaton.initial, ())
    return found


# The automata


@given(tiny_instances(most=4))
@settings(max_examples=examples(40))
def test_a_control_automaton_accepts_what_a_rank_may_issue(program: Instance) -> None:
    for graph in stages.control(program).graphs:
        ranks = [int(rank) for rank in graph.title.split("rank")[1].removeprefix("s").split(",")]
        for rank in ranks:
            out = program.automata[rank].out
            labels = iter(graph.edges)
            named = [[(next(labels)[2], edge.target) for edge in leaving] for leaving in out]
            words, frontier = {()}, {((), 0)}
            for _ in range(3):
                frontier = {((*word, label), target) for word, state in frontier for label, target in named[state]}
                words |= {word for word, _ in frontier}
            assert accepted(graph, 3) == words


def test_y_and_x_accept_what_ours_do() -> None:
    program = instance("write(x, 1, y, q); r <- mem[x];", "r <- mem[y];")
    (y,) = stages.normal_form(program).graphs
    words = spelled(NormalForm(program, 2), y, 3)
    assert accepted(y, 3) == words
    assert len(words) == 23
    (x,) = stages.state_space(program).graphs
    words = spelled(StateSpace(program), x, 5)
    assert accepted(x, 5) == words
    assert ("write0", "popa0 x@0", "popb0 y@1", "load0 x@0", "load1 y@1") in words
    assert not any(word[-1:] == ("write0",) for word in words), "an operation is pending"


@pytest.mark.parametrize(
    ("program", "cycle"),
    [
        (one_to_one(), (0, 1)),
        (one_to_one(), (1,)),
        (one_to_one(nodes=3), (0, 2, 1)),
        (instance("mem[x] <- 1; r <- mem[x];", nodes=2), (0,)),
    ],
)
def test_z_is_the_automaton_that_the_engine_has(program: Instance, cycle: tuple[int, ...]) -> None:
    automata = CycleTypeAutomata(program)
    graphs = stages.cycle_type_automata(program).graphs
    assert graphs
    for graph in graphs:
        source, target = (int(word) for word in graph.title.split() if word.isdigit())
        assert DFA.from_nfa(to_automaton(graph)) == automata.pair(source, target).automaton()
    (whole,) = stages.cycle_type(program, cycle).graphs
    drawn, expected = to_automaton(whole), automata.automaton(cycle)
    assert drawn.input_symbols <= expected.input_symbols
    # A letter that is rejected wherever it comes stands at no edge, and equality is for automata over the same letters.
    drawn = NFA(**{**drawn.input_parameters, "input_symbols": expected.input_symbols})
    assert DFA.from_nfa(drawn) == expected


def test_states_have_their_labels_for_names_unless_two_are_alike() -> None:
    assert state_names(Graph("", ["start", "joined"], frozenset(), [])) == ["start", "joined"]
    assert state_names(Graph("", ["same", "same", "other"], frozenset(), [])) == ["0", "1", "2"]
    assert state_names(Graph("", ["", "other"], frozenset(), [])) == ["0", "1"]


def test_an_edge_without_a_label_is_silent() -> None:
    automaton = to_automaton(Graph("", ["a", "b", "c"], frozenset([2]), [(0, 1, ""), (1, 2, "x"), (0, 2, "y")]))
    assert automaton.input_symbols == {"x", "y"}
    assert [word for word in ([], ["x"], ["y"], ["x", "y"]) if automaton.accepts_input(word)] == [["x"], ["y"]]


# Their diagrams


def test_without_the_extra_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(automata_lib, "find_spec", lambda package: None)
    with pytest.raises(MissingExtra, match="pip install pygraphviz"):
        write(stages.control(one_to_one()).graphs, tmp_path / "control.png")
    assert not list(tmp_path.iterdir())


def test_every_node_and_edge_is_drawn_with_its_label() -> None:
    graphs = stages.cycle_type_automata(one_to_one()).graphs
    text = to_dot(graphs, bundled=True)
    assert re.findall(r"^ +label=(.*);", text, re.MULTILINE) == [f'"{graph.title}"' for graph in graphs]
    nodes = dict(re.findall(r"^ +(n\d+_\d+) \[(.*)\];", text, re.MULTILINE))
    found = re.findall(r'(\S+) -> (\S+) \[label="(.*)"\];', text)
    edges = {(source, target): label for source, target, label in found}
    assert len(edges) == len(found)
    for index, graph in enumerate(graphs):
        assert f"start_{index} -> n{index}_0;" in text
        for number, label in enumerate(graph.nodes):
            look = nodes[f"n{index}_{number}"]
            assert look.startswith(f'label="{label}"')
            assert ("peripheries=2" in look or "doublecircle" in look) is (number in graph.finals)
            assert ("shape=box" in look) is (len(label) > 3)
        for source, target, label in graph.edges:
            assert label in edges[f"n{index}_{source}", f"n{index}_{target}"].split("\\n")
    assert len(nodes) == sum(len(graph.nodes) for graph in graphs)
    assert len(edges) == sum(len({edge[:2] for edge in graph.edges}) for graph in graphs)


@drawing
def test_labels_are_shown_as_they_are() -> None:
    edges = [(0, 1, "mem[x] <- a, b"), (0, 1, 'say("a\\n")'), (1, 1, "<b>bold</b>"), (1, 0, "")]
    drawn = picture([Graph("50% {a|b} &lt;", ["left a[2] w", "right"], frozenset([1]), edges)], "svg").decode()
    for text in (
        "mem[x] &lt;&#45; a, b",
        "say(&quot;a\\n&quot;)",
        "&lt;b&gt;bold&lt;/b&gt;",
        "ε",
        "left a[2] w",
        "50% {a|b} &amp;lt;",
    ):
        assert f">{text}<" in drawn, text


@drawing
@pytest.mark.parametrize(("ending", "magic"), [("svg", b"<?xml"), ("PNG", b"\x89PNG"), ("pdf", b"%PDF")])
def test_the_ending_says_what_is_written(tmp_path: Path, ending: str, magic: bytes) -> None:
    write(stages.control(one_to_one()).graphs, tmp_path / f"control.{ending}")
    assert (tmp_path / f"control.{ending}").read_bytes().startswith(magic)


@drawing
def test_the_same_program_gives_the_same_file(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        command = ["show", "programs/one_to_one/one_to_one.pgas", "--stage", "cycle-types", "--layout", "graphviz"]
        subprocess.run(
            [sys.executable, "-m", "pgasrob", *command, "-o", str(tmp_path / f"{seed}.svg")],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
    assert (tmp_path / "1.svg").read_text() == (tmp_path / "2.svg").read_text()
