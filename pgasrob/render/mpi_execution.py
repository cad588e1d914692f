"""Draws an execution in a memory model of MPI: its actions and their orders, as SVG or as lines of text.

As in the figures of the paper (Hoefler et al., 2014) every rank has a column, and beside it one for what happens there
on behalf of calls: virtual actions, and accesses to their buffers. Of consistency order only the edges that do not
follow from others are drawn, each with its rule. Happens-before is what paths of program order and synchronisation
order lead to; between conflicting accesses it is drawn, and so is what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

from pgasrob.drawing.graph_to_draw import Edge, Graph, Node
from pgasrob.program.instance import Instance
from pgasrob.races.mpi.actions import Action
from pgasrob.races.mpi.actions import Edge as Pair
from pgasrob.races.mpi.consistency import Orders
from pgasrob.races.mpi.decide import exposed_cells
from pgasrob.races.mpi.judgement import Drawn, conflicts
from pgasrob.render import english
from pgasrob.render.lane_panels import Look, Panel, panels_svg
from pgasrob.render.lines import Line

RULES = {
    "fences": "(9)", "matching_fences": "3.2.4", "general": "(9)", "matching_posts": "coso", "locks": "(10)",
    "locks_after_remote": "(11)", "buffers": "(13)", "stores": "(14)", "virtual": "(15)", "win_sync": "(18)",
    "issued_after": "(19)", "one_copy": "(20)",
}  # fmt: skip
"""The numbers of the rules of `races.mpi.consistency`."""
MOST_PAIRS = 40
"""Pairs of conflicting accesses up to which all are drawn. Of more only the races are, and a note counts the rest."""
LEGEND = (
    "gray: program order (po)",
    "so: synchronisation order",
    "co: consistency order, with its rule",
    "cohb: happens-before and consistent, of conflicting accesses",
    "hb: paths of po and so",
)
LOOKS = {
    "po": Look("po"),
    "so": Look("id", "5 3"),
    "coso": Look("id"),
    "co": Look("cf"),
    "cohb": Look("ink", width=2.2),
    "race": Look("accent", width=2.4),
}


@dataclass(frozen=True, slots=True)
class Arrow:
    """``kind``: po, so, coso (both synchronisation and consistency order), co, cohb or race. ``both``: in both
    directions, which of two calls means from the beginning of each to the end of the other."""

    kind: str
    edge: Pair
    label: str = ""
    both: bool = False


def arrows(drawn: Drawn, instance: Instance) -> tuple[list[Arrow], int]:
    """The arrows to draw, without those that follow from others: the orders of the actions that are shown, and how
    conflicting accesses are ordered. Also the number of pairs of conflicting accesses that are left out."""
    orders, execution, shown = drawn.orders, drawn.execution, _shown(drawn)
    found: dict[tuple[str, Pair], str] = {}

    def add(kind: str, edge: Pair, label: str = "") -> None:
        one, other = (shown[each] for each in edge)
        if one != other and (kind != "co" or ("coso", (one, other)) not in found):
            found.setdefault((kind, (one, other)), label)

    for edge in execution.po:
        ranks = {execution.actions[shown[each]].rank for each in edge}
        add(*(("po", edge) if len(ranks) == 1 else ("so", edge, "so")))
    for edge in execution.so:
        add("so", edge, "so")
    for edge in orders.coso:
        if not _implied(orders, edge):
            add("coso", edge, "so, co")
    for rule, edges in orders.rules.items():
        for edge in edges:
            if not _implied(orders, edge):
                add("co", edge, f"co {RULES[rule]}")
    result = [
        Arrow(kind, edge, label, (kind, edge[::-1]) in found)
        for (kind, edge), label in found.items()
        if (kind, edge[::-1]) not in found or edge < edge[::-1]
    ]
    early = _early(drawn)
    pairs = [each for each in _conflicting(drawn, instance) if early.isdisjoint(each.edge)]
    result = [each for each in result if early.isdisjoint(each.edge)]
    kept = [each for each in pairs if each.kind == "race" or len(pairs) <= MOST_PAIRS]
    return result + kept, len(pairs) - len(kept)


def _left_out(pairs: int) -> list[str]:
    """A note on the ``pairs`` that are left out, in lines."""
    those = english.count(pairs, "ordered pair of conflicting accesses is/ordered pairs of conflicting accesses are")
    return [f"{those} not drawn: of more than {MOST_PAIRS} pairs only the races are."] if pairs else []


def _early(drawn: Drawn) -> set[int]:
    """The actions that are not shown: those of a rank up to its first window, unless they are part of a race."""
    execution = drawn.execution
    first: dict[int, int] = {}
    for call in execution.synchronisations:
        if call.call.kind == "create":
            first.setdefault(call.rank, call.begin)
    racing = {action.number for race in drawn.races for action in race.actions}
    return {
        action.number
        for action in execution.actions
        if action.number not in racing and action.number <= first.get(action.rank, -1)
    }


def _order(drawn: Drawn) -> list[Action]:
    """The actions that are shown, from top to bottom. A call stands where it ends."""
    shown, early, actions = _shown(drawn), _early(drawn), drawn.execution.actions
    last = {shown[action.number]: row for row, action in enumerate(_in_order(drawn))}
    return [actions[number] for number in sorted(last, key=last.__getitem__) if number not in early]


def _shown(drawn: Drawn) -> dict[int, int]:
    """For each action the one that is shown in its place: for a synchronisation call its beginning."""
    execution = drawn.execution
    shown = {action.number: action.number for action in execution.actions}
    after: dict[int, list[int]] = {}
    for one, other in execution.po:
        after.setdefault(one, []).append(other)
    for call in execution.synchronisations:
        number = call.done
        while number != call.end:
            if number == call.done or execution.actions[number].kind == "external":
                shown[number] = min(shown[number], call.begin)
            within = [each for each in after.get(number, ()) if call.end is not None and each <= call.end]
            number = within[0] if len(within) == 1 else call.end or number
            if call.end is None:
                break
        if call.end is not None:
            shown[call.end] = call.begin
    for action in execution.actions:
        if action.kind == "external" and action.group != action.number:
            shown[action.number] = action.group
    return shown


def _implied(orders: Orders, edge: Pair) -> bool:
    """Whether consistency order leads from one to the other by a third."""
    one, other = edge
    between = orders.co[one] & ~(1 << other)
    return any(between >> number & 1 and orders.co[number] >> other & 1 for number in range(between.bit_length()))


def _conflicting(drawn: Drawn, instance: Instance) -> Iterator[Arrow]:
    orders = drawn.orders
    for one, other in conflicts(drawn.execution, orders.model, exposed_cells(instance)):
        if not orders.ordered(one, other):
            eventual = any({one, other} == {each.number for each in race.actions} for race in drawn.eventual)
            yield Arrow("race", (one, other), "eventual" if eventual else "no hb")
            continue
        edge = (one, other) if orders.before(one, other) else (other, one)
        consistent = orders.consistent(one, other)
        yield Arrow("cohb", edge, "cohb") if consistent else Arrow("race", edge, "hb, no co")


def _in_order(drawn: Drawn) -> list[Action]:
    """The actions in an order that agrees with happens-before."""
    execution = drawn.execution
    after: list[list[int]] = [[] for _ in execution.actions]
    missing = [0] * len(execution.actions)
    for one, other in {*execution.po, *drawn.orders.synchronised}:
        after[one].append(other)
        missing[other] += 1
    ready = [number for number, count in enumerate(missing) if not count]
    order = []
    while ready:
        number = heappop(ready)
        order.append(execution.actions[number])
        for other in after[number]:
            missing[other] -= 1
            if not missing[other]:
                heappush(ready, other)
    return order


def _is_beside(action: Action) -> bool:
    return action.kind in ("vac", "vas", "buffer read", "buffer write")


def _text(action: Action, instance: Instance) -> str:
    """The action in a few words."""
    cells = [instance.cell_name(cell) for cell in sorted(action.cells)]
    where = ", ".join(cells) if len(cells) < 3 else f"{cells[0]} to {cells[-1]}"
    name = "" if action.call is None else action.call.name.removeprefix("MPI_")
    match action.kind:
        case "load":
            return f"{'polls' if action.polls else 'reads'} {where}"
        case "store":
            return f"writes {where}"
        case "issue" | "begin":
            return name
        case "vac":
            does = "reads and writes" if action.reads and action.writes else "writes" if action.writes else "reads"
            return f"vac {name} of {action.origin}: {does} {where}"
        case "vas":
            return f"vas {name} of {action.origin}"
        case "buffer read" | "buffer write":
            return f"{name} {'reads' if action.reads else 'writes'} {where}"
        case "done" | "end":
            return name
        case "external":
            return "synchronises"


def execution_lines(drawn: Drawn, instance: Instance) -> list[Line]:
    """The actions, one in a line, and below them the arrows of each kind."""
    order = _order(drawn)
    place = {action.number: number for number, action in enumerate(order)}
    digits = len(str(len(order)))
    lines: list[Line] = [[]]
    for number, action in enumerate(order):
        rank = f"rank {action.rank}" + (" *" if _is_beside(action) else "  ")
        lines.append([(f"{number:>{digits + 2}}  {rank} ", "faint"), (f"{action.span.line:>4}  ", "faint"),
                      (_text(action, instance), "")])  # fmt: skip
    kinds = {"so": "so", "coso": "so and co", "co": "co", "cohb": "cohb of conflicting accesses", "race": "missing"}
    found, left_out = arrows(drawn, instance)
    for kind, name in kinds.items():
        some = [arrow for arrow in found if arrow.kind == kind]
        if some:
            lines += [[], [(f"  {name}:", "heading")]]
        for arrow in some:
            one, other = (place[each] for each in arrow.edge)
            way = "<->" if arrow.both else "->"
            label = arrow.label.removeprefix("co ") if kind in ("co", "race") else ""
            lines.append(
                [(f"  {one:>{digits}} {way:3} {other:<{digits}} {label}".rstrip(), "bad" if kind == "race" else "")]
            )
    notes = (
        "*: on behalf of a call. po is the order within a rank, hb what po and so lead to; co follows along its paths.",
        "What ranks do before they make a window is left out.",
        *_left_out(left_out),
    )
    return [*lines, [], *([(f"  {note}", "faint")] for note in notes)]


def execution_graph(drawn: Drawn, instance: Instance) -> Graph:
    """The execution with a lane for each rank, and one for what happens there on behalf of calls."""
    nodes = []
    for row, action in enumerate(_order(drawn)):
        text = f"{int(action.span.line)} {_text(action, instance)}"
        nodes.append(Node(str(action.number), (text,), lane=2 * action.rank + _is_beside(action), row=row))
    edges = []
    for arrow in sorted(arrows(drawn, instance)[0], key=lambda arrow: arrow.kind == "race"):  # races above the others
        look = arrow.kind + " both" * (arrow.both or arrow.kind == "race")
        one, other = map(str, arrow.edge)
        edges.append(Edge(one, other, look, arrow.label or None, tight=arrow.kind == "po"))
    titles = [f"{what}rank {rank}" for rank in range(drawn.execution.ranks) for what in ("", "on behalf of calls, ")]
    title = f"{drawn.status} in the {drawn.orders.model} model{english.on_nodes(drawn.execution.ranks)}"
    return Graph(title, nodes, edges, lanes=dict(enumerate(titles)))


def execution_svg(drawn: Drawn, instance: Instance) -> str:
    """The execution as an SVG document."""
    graph = execution_graph(drawn, instance)
    panel = Panel(graph.title, _left_out(arrows(drawn, instance)[1]), graph, LEGEND, graph.lanes.values())
    return panels_svg("pg-execution", graph.title, [panel], LOOKS)
