"""What goes round together and what each way comes by, by following all ways."""

from __future__ import annotations

import random

from pgasrob.program.graphs import blocks, components, dominators, reached_by


def reached(successors: list[list[int]], starts: list[int], without: int | None = None) -> set[int]:
    seen, stack = set(), [start for start in starts if start != without]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += [each for each in successors[node] if each != without]
    return seen


def test_random_graphs() -> None:
    parted = dominated = 0
    for seed in range(400):
        rng = random.Random(seed)
        size = rng.randint(1, 9)
        graph = [[rng.randrange(size) for _ in range(rng.choice((0, 1, 1, 2, 3)))] for _ in range(size)]
        starts = rng.sample(range(size), rng.randint(1, min(2, size)))
        edges = ((node, target) for node, leaving in enumerate(graph) for target in leaving)
        assert reached_by(edges, starts) == reached(graph, starts)
        found = components(graph)
        for one in range(size):
            for other in range(size):
                together = other in reached(graph, [one]) and one in reached(graph, [other])
                assert (found[one] == found[other]) == together
        parted += 1 < len(set(found)) < size
        last = dominators(graph, starts)
        by = [
            {each for each in range(size) if each != node and node not in reached(graph, starts, without=each)}
            for node in range(size)
        ]
        for node in range(size):
            if node not in reached(graph, starts) or not by[node]:
                assert last[node] is None
            else:
                before = last[node]
                assert before is not None and by[node] == {before, *by[before]}
                dominated += 1
    assert parted > 50 and dominated > 200


def test_edges_on_a_common_circle() -> None:
    """Two neighbours of a node, when one is reached from the other without this node."""
    together = apart = 0
    for seed in range(300):
        rng = random.Random(seed)
        size = rng.randint(1, 9)
        pairs = [(one, other) for one in range(size) for other in range(one) if rng.random() < 0.3]
        graph = [[a + b - node for a, b in pairs if node in (a, b)] for node in range(size)]
        found = blocks(graph)
        assert set(found) == {edge for a, b in pairs for edge in ((a, b), (b, a))}
        for node, neighbours in enumerate(graph):
            for one in neighbours:
                assert found[one, node] == found[node, one]
                for other in neighbours:
                    round_it = other in reached(graph, [one], without=node)
                    assert (found[node, one] == found[node, other]) == round_it
                    together += round_it and one != other
                    apart += not round_it
    assert together > 1_000 and apart > 500


def test_edges_of_a_long_way() -> None:
    """No recursion: as many nodes as cells of a large program."""
    size = 20_000
    way: list[list[int]] = [[node - 1, node + 1] for node in range(1, size)]
    assert len(set(blocks([[1], *way, [size - 1]]).values())) == size
