# ruff: noqa: E501
"""Each rule of the checker is needed: without it a certificate is written, and accepted, for a program that is not
robust. The checker as it is refuses it."""

from __future__ import annotations

from math import inf
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from pgasrob.certificates import write
from pgasrob.certificates.check.accept import examine
from pgasrob.certificates.check.infeasible import Source
from pgasrob.certificates.check.states import Moves
from pgasrob.program.parser import parse
from pgasrob.program.program import Program
from pgasrob.program.reading import Reading
from tests.certificates.mutants import Edit, mutant, random_program, text_of

PROGRAMS = Path(__file__).parents[2] / "programs"

STATES, INFEASIBLE, VALUES, ORDER = (f"check/{name}.py" for name in ("states", "infeasible", "values", "order"))


class Rule(NamedTuple):
    """What is changed, and a program that is not robust and is accepted then: its name, its seed, or its ranks."""

    name: str
    program: str | int | tuple[str, ...] | None
    edits: tuple[Edit, ...]


RULES = [
    Rule("m1: a source is chosen", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "for step in range(len(steps)):\n                    if", "for step in range(len(steps)):\n                    if False and"),)),
    Rule("m1: later steps are sources too", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "for step in range(len(steps)):\n                    if", "for step in range(len(steps)):\n                    if step == 0 and"),)),
    Rule("m2: a tainted rank enters", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "enters = rank in attack.tainted or", "enters ="),)),
    Rule("m2: t enters", "exchange/exchange.pgas", ((STATES, "or any(in_done) or any(in_delayed[first:])", "or any(in_delayed[first:])"),)),
    Rule("m2: an access at the issue leaves", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "            if any(is_late[: place + 1 - bound] if place >= bound else ()):", "            if place < bound or any(is_late[: place + 1 - bound] if place >= bound else ()):"),)),
    Rule("m2: a step leaves", "captured_put/value.pgas", ((STATES, "            if any(is_late[: place + 1 - bound] if place >= bound else ()):", "            if place >= bound:"),)),
    Rule("m3: a rank in T is reached", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "if attack and (rank in attack.tainted or any(", "if attack and (not attack.done | attack.delayed or any("),)),
    Rule("m3: what hits t or d is reached", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "if attack and (rank in attack.tainted or any(", "if attack and (rank in attack.tainted and any("),)),
    Rule("m3: a command that is reached taints its rank", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "                tainted=attack.tainted | {rank},\n                done", "                tainted=attack.tainted,\n                done"),)),
    Rule("m3: t grows", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "done=attack.done.union((each.cell, way) for each in happened for way in ways(each)),", "done=attack.done,"),)),
    Rule("m3': further sources", ("update(add, 1, 0, w, u); update(add, 1, 0, w, v); await(mem[w] == 0);", "skip;"), ((STATES, "for step in range(first):  # (m3')", "for step in ():  # (m3')"),)),
    Rule("m4: a barrier taints all", "captured_put/still_on_its_way.pgas", ((STATES, "attack = state.attack and state.attack._replace(tainted=frozenset(range(self.instance.nodes)))", "attack = state.attack"),)),
    Rule("m4: barriers", "all_to_all/all_to_all_no_wait.pgas", ((STATES, "for arrivals in self.instance.barriers(state.control):", "for arrivals in ():"),)),
    Rule("what is delayed has not happened", "lectures/7_races_and_real_executions/7_e2_awaits.pgas", ((STATES, "state.memory, first)", "state.memory, None)"),)),
    Rule("a wait for what has happened is over", "completion/wait_local_then_atomic_flag.pgas", ((ORDER, "of.queue) in facts", "of.queue) in facts or isinstance(of, core.Wait) and bool(facts)"),)),
    Rule("reads and writes conflict", "all_to_all/all_to_all_counter_late_wait.pgas", ((ORDER, "else access.writes or way != \"r\"", "else access.writes and way != \"r\""),)),
    Rule("updates of several kinds conflict", "commuting_updates/minimum_and_maximum.pgas", ((ORDER, "return way != access.commutes if access.commutes", "return way in (\"r\", \"w\") if access.commutes"),)),
    Rule("updates conflict with reads", 305, ((ORDER, "return way != access.commutes if access.commutes", "return way not in (access.commutes, \"r\") if access.commutes"),)),
    Rule("FIFO: of one stage", "coherence/put_get_fifo.pgas", ((ORDER, "(fifo and (\"stage\", queue, step.stage) in facts)", "(fifo and (\"pending\", queue) in facts)"),)),
    Rule("fences bind, and nothing else", "broadcast/broadcast_fence_one_target.pgas", ((ORDER, "step.fenced and (\"bound\", queue, target) in facts)", "step.fenced and (\"fenced\", queue, target) in facts)"),)),
    Rule("fences bind to one target", "broadcast/broadcast_fence_one_target.pgas", ((ORDER, "and to in (None, each[2])}", "}"),)),
    Rule("fences are of one queue", "coherence/puts_fence_other_queue.pgas", ((ORDER, "if each[:2] == (\"fenced\", queue)", "if each[0] == \"fenced\""),)),
    Rule("notifications come after writes to their target", "notification/other_rank.pgas", ((ORDER, "if kind == \"fenced\" and rest[1] == target)", "if kind == \"fenced\")"),)),
    Rule("notifications come after writes of their queue", "notification/other_queue.pgas", ((ORDER, "any(of.everywhere or rest[0] == queue for rest in written)", "any(True for rest in written)"),)),
    Rule("signals alone come after bundles", 52, ((ORDER, "(step.after_bundle and (\"bundled\",) in facts)", "((\"bundled\",) in facts)"),)),
    Rule("located steps of one cell", 307, ((ORDER, "(step.located and (\"located\", step.access.cell) in facts)", "(step.located and any(kind == \"located\" for kind, *_ in facts))"),)),
    Rule("a bundle begins anew", "bundled_signal/earlier_put.pgas", ((ORDER, "return facts - {(\"bundled\",)}", "return facts"),)),
    Rule("undisturbed: conflicts", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "            return rank\n", "            continue\n"),)),
    Rule("undisturbed: what awaits wait for may come", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "if not cells & changed and not any(", "if not any("),)),
    Rule("undisturbed: the others go on", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "todo += behind - seen", "pass"),)),
    Rule("undisturbed: one of them is before no barrier", ("choose { barrier; r <- mem[x]; } or { s <- 1; }", "write(one, 0, x, q); barrier;"), ((STATES, "return not all(at_barrier) and", "return"), ("write.py", " and not all(at_barrier[each] for each in members)", ""), ("write.py", "if len(members) == most == 1 and at_barrier[members[0]]:", "if False:"))),
    Rule("what is followed alone leads on", ("loop { write(x, 0, y, q); }", "write(x, 1, y, q); r <- mem[y];"), ((STATES, "(ordinary and place[target] > number)", "True"), ("write.py", "any(ordinary and target not in reached for target, ordinary in", "any(True for _ in"),)),
    Rule("no ordinary move is a source", ("loop { write(x, 0, y, q); }", "write(x, 1, y, q); r <- mem[y];"), ((STATES, "(ordinary and place[target] > number)", "place[target] > number"), ("write.py", "any(ordinary and target not in reached for", "any(target not in reached for"),)),
    Rule("hopeless: all go on behind barriers", "all_to_all/all_to_all_no_wait.pgas", ((STATES, "if len(arrived) == self.instance.nodes else set()", "if False else set()"),)),
    Rule("hopeless: accesses of the source's cell", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "return self._toucher(state, (), [Reach(source, cells, cells, source.cell)]) is None", "return True"),)),
    Rule("F1", "all_to_all/all_to_all_counter_late_wait.pgas", ((INFEASIBLE, "        yield from self._issue(known, rank, 0, Way(frozenset(), frozenset()), command, step)  # F1\n", ""),)),
    Rule("F1: d has what is certain alone", ("s <- swap(0, w, 1); write(x, 0, y + s, q); r <- mem[z]; mem[x] <- 2;", "s <- 0;"), ((INFEASIBLE, "((each.cell, way) for each in steps if each.cell is not None for", "((cell, way) for each in steps for cell in each.cells for"),)),
    Rule("F2", "all_to_all/all_to_all_counter_late_wait.pgas", ((INFEASIBLE, "        if not any(must_hit(each, way.delayed) for each in command.bound):\n            hit", "        if False:\n            hit"),)),
    Rule("F2: waits that are over", "bakery/bakery_put_no_first_wait.pgas", ((INFEASIBLE, "        if blocks(way.facts, command.operands):", "        if isinstance(command.operands, core.Wait):"),)),
    Rule("F3: the source's rank arrives", "captured_put/still_on_its_way.pgas", ((INFEASIBLE, "if at == phase and (tainted == rank or phase):", "if at == phase and phase:"),)),
    Rule("F3: further barriers", "one_to_one/one_to_one_two_barriers.pgas", ((INFEASIBLE, "if at == phase and (tainted == rank or phase):", "if at == phase and tainted == rank and not phase:"),)),
    Rule("F4", "bakery/bakery_put_no_first_wait.pgas", ((INFEASIBLE, "            if any(in_done):\n                yield from", "            if False:\n                yield from"),)),
    Rule("E1: at the issue", "bakery/bakery_get_no_wait.pgas", ((INFEASIBLE, "for each in command.bound + command.steps[: _first(is_late)]):", "for each in command.steps[: _first(is_late)]):"),)),
    Rule("E1: by a step", "captured_put/value.pgas", ((INFEASIBLE, "for each in command.bound + command.steps[: _first(is_late)]):", "for each in command.bound):"),)),
    Rule("E2: by done", "iriw/iriw_get_unordered.pgas", ((INFEASIBLE, "(any(in_done[: place + 1]) or any(in_made[place + 1 :]))", "any(in_made[place + 1 :])"),)),
    Rule("E2: by made", "exchange/exchange.pgas", ((INFEASIBLE, "(any(in_done[: place + 1]) or any(in_made[place + 1 :]))", "any(in_done[: place + 1])"),)),
    Rule("company: all phases of the control state", ("loop { barrier; } write(x, 1, y, q); r <- fetch_add(1, z, 1);", "barrier; mem[z] <- 1; r <- mem[y];"), ((INFEASIBLE, "together = [phase for phase in self.phases if state in phase[rank]]", "together = [phase for phase in self.phases if state in phase[rank]][:1]"),)),
    Rule("by others of several ranks", ("write(x, 1, y, q); mem[w] <- 1;", "choose { s <- swap(0, w, 2); } or { s <- fetch(0, w); r <- mem[y]; }"), ((INFEASIBLE, "known.get((cell, way), set()).difference(own)", "rank not in known.get((cell, way), {rank})"),)),
    Rule("what is read is not known", "control/reachable_violation.pgas", ((VALUES, "files = [put(file, register, None)]", "files = [put(file, register, 0)]"),)),
    Rule("assigns", "control/last_put_after_the_wait.pgas", ((VALUES, "files = [put(file, register, value)]", "files = [file]"),)),
    Rule("tests of what is not known may hold", "control/reachable_violation.pgas", ((VALUES, "core.Test(blocks=True) if value == 0", "core.Test(blocks=True) if not value"),)),
    Rule("addresses that are not known", ("r <- mem[one]; write(one, 1, a + r, q); mem[w] <- 1;", "s <- fetch(0, w); s <- mem[a + 1];"), ((VALUES, "between = 0, size - 1", "between = 0, 0"),)),
    Rule("awaited cells", ("update(add, 1, 0, w, u); update(add, 1, 0, w, v); await(mem[w] == 0);", "skip;"), ((VALUES, "if form.may_block or", "if False or"),)),
    Rule("awaits for what is there pass", "all_to_all/all_to_all_counter_late_wait.pgas", ((VALUES, "and not RELATIONS[form.condition.relation](held, wanted):", ":"),)),
]  # fmt: skip


OF_SOURCES = [
    Rule("F5", ("write(x, 1, y, q);", "write(w, 1, y, q); wait(u); mem[y] <- 1;"), ((INFEASIBLE, "            elif hitting:", "            elif False:"),)),
    Rule("F6", ("update(add, 1, 0, w, u); await(mem[w] == 0);", "update(add, 1, 0, w, u);"), ((INFEASIBLE, "if alike and each.cells & chosen.cells & self.waited_for:", "if False:"),)),
]  # fmt: skip
"""Rules without which a source counts as infeasible from which there is a violation, and there is another one too."""

OF_MOVES = [
    Rule("m2: d enters", 1, ((STATES, "or any(in_done) or any(in_delayed[first:])", "or any(in_done)"),)),
    Rule("m3: what hits d is delayed", 1, ((STATES, "if is_late[n] or in_delayed[bound + n]), len(steps))", "if is_late[n]), len(steps))"),)),
    Rule("m3: d grows", 1, ((STATES, "delayed=attack.delayed.union((each.cell, way) for each in later for way in ways(each)),", "delayed=attack.delayed or frozenset((each.cell, way) for each in later for way in ways(each)),"),)),
]  # fmt: skip
"""Rules without which the moves are others; no program has been found that is accepted then."""


def program_of(rule: Rule) -> tuple[Program, int]:
    match rule.program:
        case str(path):
            program = parse((PROGRAMS / path).read_text())
        case int(seed):
            return random_program(seed)
        case ranks:
            assert ranks is not None
            program = parse(text_of(*ranks))
    return program, program.nodes or 2


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_without_a_rule_what_is_not_robust_is_accepted(rule: Rule, tmp_path: Path) -> None:
    program, nodes = program_of(rule)
    without = mutant(tmp_path, f"mutant_{RULES.index(rule)}", *rule.edits)
    if rule.edits[0][0] == STATES:
        without.write.MOST_ACCESSES = -1  # no source is infeasible
    written = without.write.write(program, nodes, most_states=2_000)
    assert without.accept.examine(program, written.text).reason is None
    assert examine(program, written.text).reason is not None


@pytest.mark.parametrize("rule", OF_SOURCES, ids=lambda rule: rule.name)
def test_without_a_rule_a_source_is_infeasible_that_is_none(rule: Rule, tmp_path: Path) -> None:
    program, nodes = program_of(rule)
    without = mutant(tmp_path, f"source_{OF_SOURCES.index(rule)}", *rule.edits)

    def infeasible(write: ModuleType) -> set[Source]:
        (case,) = write.subjects(program, nodes, None, Reading())
        values = write.Values(case, [write._files(case, rank) for rank in range(nodes)])
        assert not list(values.demands())
        phases, _ = write._phases(values.commands())
        asked = write.Infeasible(case, values.commands(), phases)
        return set(write._settled(asked, write.sources_of(case, values.commands()), inf))

    assert infeasible(write) < infeasible(without.write)


@pytest.mark.parametrize("rule", OF_MOVES, ids=lambda rule: rule.name)
def test_without_a_rule_the_moves_are_others(rule: Rule, tmp_path: Path) -> None:
    without = mutant(tmp_path, f"moves_{OF_MOVES.index(rule)}", *rule.edits)

    def edges(moves: Any) -> set[Any]:
        found, seen, todo = set[Any](), {moves.initial}, [moves.initial]
        while todo:
            state = todo.pop()
            targets = {target for rank in range(moves.instance.nodes) for target, _ in moves.of_rank(state, rank)}
            found |= {(state, target) for target in targets}
            todo += targets - seen - {None}
            seen |= targets
        return found

    ranks = "write(x, 1, y, q); write(x, 1, w, q);", "write(y, 1, w, u); write(w, 1, y, u);"
    instance = parse(text_of(*ranks)).instantiate()
    arguments = instance, frozenset[int](), lambda *source: True
    assert edges(Moves(*arguments)) != edges(without.accept.Closed.__init__.__globals__["Moves"](*arguments))
