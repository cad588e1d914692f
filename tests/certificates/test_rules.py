# ruff: noqa: E501
"""Each rule of the checker is needed: without it a certificate is written, and accepted, for a program that is not
robust. The checker as it is refuses it."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from pgasrob.certificates import write
from pgasrob.certificates.check.accept import examine
from pgasrob.certificates.check.states import Source
from pgasrob.program.parser import parse
from pgasrob.program.program import Program
from pgasrob.program.reading import Reading
from tests.certificates.mutants import Edit, mutant, random_program, text_of

PROGRAMS = Path(__file__).parents[2] / "programs"

STATES, INFEASIBLE, COMMANDS = (f"check/{name}.py" for name in ("states", "infeasible", "command_effects"))


class Rule(NamedTuple):
    """What is changed, and a program that is not robust and is accepted then: its name, its seed, or its ranks."""

    name: str
    program: str | int | tuple[str, ...] | None
    edits: tuple[Edit, ...]


OF_STATES = [
    Rule("m1: a source is chosen", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "if (*command.at, number) in self.sources:", "if False:"),)),
    Rule("m1: later steps are sources too", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "if (*command.at, number) in self.sources:", "if number == 0 and (*command.at, number) in self.sources:"),)),
    Rule("m2: a tainted rank enters", "all_to_all/all_to_all_counter_late_wait.pgas", ((COMMANDS, "enters = self.tainted or may_hit(chain[:place], self.done) or may_hit(chain[place:], self.made)", "enters = may_hit(chain[:place], self.done) or may_hit(chain[place:], self.made)"),)),
    Rule("m2: t enters", "exchange/exchange.pgas", ((COMMANDS, "enters = self.tainted or may_hit(chain[:place], self.done) or may_hit(chain[place:], self.made)", "enters = self.tainted or may_hit(chain[place:], self.delayed)"),)),
    Rule("m2: an access at the issue leaves", "all_to_all/all_to_all_counter_late_wait.pgas", ((COMMANDS, "if enters and each.may_hit(self.source):", "if enters and place > len(command.bound) and each.may_hit(self.source):"),)),
    Rule("m2: a step leaves", "captured_put/value.pgas", ((COMMANDS, "enumerate(chain[: len(command.bound) + command.ready(self.facts)], 1)", "enumerate(command.bound, 1)"),)),
    Rule("m3: a rank in T is reached", "all_to_all/all_to_all_counter_late_wait.pgas", ((COMMANDS, "entered = self.tainted or may_hit(command.chain, self.done)", "entered = may_hit(command.chain, self.done)"),)),
    Rule("m3: what hits t or d is reached", "all_to_all/all_to_all_counter_late_wait.pgas", ((COMMANDS, "yield first, entered or bool(hit)", "yield first, self.tainted"),)),
    Rule("m3: a command that is reached taints its rank", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "attack = source, state.tainted | {rank},", "attack = source, state.tainted or frozenset({rank}),"),)),
    Rule("m3: t grows", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "state.done | now,", "state.done if state.tainted else now,"),)),
    Rule("m3': further sources", ("update(add, 1, 0, w, u); update(add, 1, 0, w, v); await(mem[w] == 0);", "skip;"), ((COMMANDS, "for place, each in enumerate(command.steps[:first]):", "for place, each in ():"),)),
    Rule("m4: a barrier taints all", "captured_put/still_on_its_way.pgas", ((STATES, "tainted = frozenset(range(self.instance.nodes) if state.source else ())", "tainted = state.tainted"),)),
    Rule("m4: barriers", "all_to_all/all_to_all_no_wait.pgas", ((STATES, "for arrivals in self.instance.barriers(state.control) if members is None else ():", "for arrivals in ():"),)),
    Rule("what is delayed has not happened", "lectures/7_races_and_real_executions/7_e2_awaits.pgas", ((STATES, "state.memory, first)", "state.memory, None)"),)),
    Rule("a wait for what has happened is over", "completion/wait_local_then_atomic_flag.pgas", ((COMMANDS, "and (\"local\" if form.local else \"pending\", self.queue) in facts", "and bool(facts)"),)),
    Rule("reads and writes conflict", "all_to_all/all_to_all_counter_late_wait.pgas", ((COMMANDS, "any(way != each or way == \"w\" for each in ways)", "any({way, each} != {\"r\", \"w\"} and way != each or way == each == \"w\" for each in ways)"),)),
    Rule("updates of several kinds conflict", "commuting_updates/minimum_and_maximum.pgas", ((COMMANDS, "any(way != each or way == \"w\" for each in ways)", "any(way != each and {way, each} & {\"r\", \"w\"} or way == \"w\" for each in ways)"),)),
    Rule("updates conflict with reads", 305, ((COMMANDS, "any(way != each or way == \"w\" for each in ways)", "any(way != each and (\"r\" not in (way, each) or \"w\" in (way, each)) or way == \"w\" for each in ways)"),)),
    Rule("FIFO: of one stage", "coherence/put_get_fifo.pgas", ((COMMANDS, "((\"stage\", queue, step.stage), fifo, fifo)", "((\"stage\", queue, 0), fifo, fifo)"),)),
    Rule("fences bind, and nothing else", "broadcast/broadcast_fence_one_target.pgas", ((COMMANDS, "step.fenced and not fifo, step.after_writes)", "step.fenced and not fifo, step.fenced and not fifo)"),)),
    Rule("fences bind to one target", "broadcast/broadcast_fence_one_target.pgas", ((COMMANDS, " if rank is None or to == self.to}", "}"),)),
    Rule("fences are of one queue", "coherence/puts_fence_other_queue.pgas", ((COMMANDS, "{fact[2] for fact in facts if fact[:2] == (\"fenced\", self.queue)}", "{fact[1:] for fact in facts if fact[0] == \"fenced\"}"), (COMMANDS, "{(\"bound\", self.queue, to) for to in fenced if rank is None or to == self.to}", "{(\"bound\", *each) for each in fenced}"),)),
    Rule("notifications come after writes to their target", "notification/other_rank.pgas", ((COMMANDS, "((\"fenced\", queue, to), step", "((\"fenced\", queue, 0), step"),)),
    Rule("notifications come after writes of their queue", "notification/other_queue.pgas", ((COMMANDS, "((\"fenced\", queue, to), step", "((\"fenced\", 0, to), step"),)),
    Rule("signals alone come after bundles", 52, ((COMMANDS, "instance.signals, step.after_bundle)", "instance.signals, True)"),)),
    Rule("located steps of one cell", 307, ((COMMANDS, "(\"located\", reach.cell)", "(\"located\", 0)"),)),
    Rule("a bundle begins anew", "bundled_signal/earlier_put.pgas", ((COMMANDS, "return facts - {(\"bundled\",)}", "return facts"),)),
    Rule("undisturbed: conflicts", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "may_hit(command.chain, near):\n                    return rank\n", "may_hit(command.chain, near):\n                    continue\n"),)),
    Rule("undisturbed: what awaits wait for may come", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "if not isinstance(form, core.Immediate) or not form.may_block or command.chain[0].cell in changed:", "if not isinstance(form, core.Immediate) or not form.may_block:"),)),
    Rule("undisturbed: the others go on", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "todo += after - seen", "pass"),)),
    Rule("undisturbed: one of them is before no barrier", ("choose { barrier; r <- mem[x]; } or { s <- 1; }", "write(one, 0, x, q); barrier;"), ((STATES, "begins = any(not any(each.is_barrier for each in own) for own in standing) if members", "begins = True if members"), ("write.py", " and not all(at_barrier[each] for each in members)", ""), ("write.py", "if len(members) == most == 1 and at_barrier[members[0]]:", "if False:"),)),
    Rule("what is followed alone leads on", ("loop { write(x, 0, y, q); }", "write(x, 1, y, q); r <- mem[y];"), ((STATES, "(number[target] > number[state] and ordinary)", "True"), ("write.py", "any(bool(each.source) == bool(state.source) and each not in reached for each in targets)", "any(True for each in targets)"),)),
    Rule("no ordinary move is a source", ("loop { write(x, 0, y, q); }", "write(x, 1, y, q); r <- mem[y];"), ((STATES, "(number[target] > number[state] and ordinary)", "number[target] > number[state]"), ("write.py", "bool(each.source) == bool(state.source) and each not", "each not"),)),
    Rule("hopeless: all go on behind barriers", "all_to_all/all_to_all_no_wait.pgas", ((STATES, "if len(arrived) == self.instance.nodes else set()", "if False else set()"),)),
    Rule("hopeless: accesses of the source's cell", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "return begins and set(members)", "return bool(state.source and not members) or begins and set(members)"),)),
]  # fmt: skip
"""Where no source is infeasible."""

RULES = [
    Rule("F1", "all_to_all/all_to_all_counter_late_wait.pgas", ((INFEASIBLE, "        yield from self._issued(known, (rank, state, 0), empty, command, step)  # F1\n", ""),)),
    Rule("F1: d has what is certain alone", ("s <- swap(0, w, 1); write(x, 0, y + s, q); r <- mem[z]; mem[x] <- 2;", "s <- 0;"), ((INFEASIBLE, " if each.cell is not None", ""),)),
    Rule("F2", "all_to_all/all_to_all_counter_late_wait.pgas", ((INFEASIBLE, "                    if reached:\n", "                    if reached and not tainted:\n"),)),
    Rule("F2: waits that are over", "bakery/bakery_put_no_first_wait.pgas", ((COMMANDS, "if command.waits(self.facts) or", "if isinstance(command.transition.form, core.Wait) or"),)),
    Rule("F3: the source's rank arrives", "captured_put/still_on_its_way.pgas", ((INFEASIBLE, "if tainted == (other == rank or phase > 0):", "if tainted == (phase > 0):"),)),
    Rule("F3: further barriers", "one_to_one/one_to_one_two_barriers.pgas", ((INFEASIBLE, "if tainted == (other == rank or phase > 0):", "if phase == 0 and tainted == (other == rank):"),)),
    Rule("F4", "bakery/bakery_put_no_first_wait.pgas", ((INFEASIBLE, "                    if reached:\n", "                    if tainted:\n"),)),
    Rule("E1: at the issue", "bakery/bakery_get_no_wait.pgas", ((COMMANDS, "if enters and each.may_hit(self.source):", "if enters and place > len(command.bound) and each.may_hit(self.source):"),)),
    Rule("E1: by a step", "captured_put/value.pgas", ((COMMANDS, "enumerate(chain[: len(command.bound) + command.ready(self.facts)], 1)", "enumerate(command.bound, 1)"),)),
    Rule("E2: by done", "iriw/iriw_get_unordered.pgas", ((COMMANDS, "enters = self.tainted or may_hit(chain[:place], self.done) or may_hit(chain[place:], self.made)", "enters = self.tainted or may_hit(chain[place:], self.made)"),)),
    Rule("E2: by made", "exchange/exchange.pgas", ((COMMANDS, "enters = self.tainted or may_hit(chain[:place], self.done) or may_hit(chain[place:], self.made)", "enters = self.tainted or may_hit(chain[:place], self.done)"),)),
    Rule("company: all phases of the control state", ("loop { barrier; } write(x, 1, y, q); r <- fetch_add(1, z, 1);", "barrier; mem[z] <- 1; r <- mem[y];"), ((INFEASIBLE, "frozenset().union(*(phase[other] for phase in self.values.phases if state in phase[rank]))", "next(phase[other] for phase in self.values.phases if state in phase[rank])"),)),
    Rule("by others of several ranks", ("write(x, 1, y, q); mem[z] <- 1; s <- 1; s <- 2; mem[w] <- 1;", "choose { s <- fetch(0, z); s <- swap(0, w, 2); } or { s <- fetch(0, w); r <- mem[y]; }"), ((INFEASIBLE, "for other, each in enumerate(touched) if other != rank or rest))", "for other, each in enumerate(touched) if other != rank or rest)) - touched[rank]"),)),
    Rule("what is read is not known", "control/reachable_violation.pgas", ((COMMANDS, "left = [put(file, register, each) for each in held]", "left = [put(file, register, 0)]"),)),
    Rule("assigns", "control/last_put_after_the_wait.pgas", ((COMMANDS, "left = [put(file, register, value)]", "left = [file]"),)),
    Rule("tests of what is not known may hold", "control/reachable_violation.pgas", ((COMMANDS, "core.Test(blocks=True) if value == 0", "core.Test(blocks=True) if not value"),)),
    Rule("addresses that are not known", ("r <- mem[one]; write(one, 1, a + r, q); mem[w] <- 1;", "s <- fetch(0, w); s <- mem[a + 1];"), ((COMMANDS, "[range(size) if at is None", "[range(1) if at is None"),)),
    Rule("awaits for what is there pass", "all_to_all/all_to_all_counter_late_wait.pgas", ((STATES, "return unknown or issue(self.instance.operands(rank, command.transition, file), file, state.memory) is not None", "return unknown"),)),
]  # fmt: skip


OF_SOURCES = [
    Rule("F5", ("write(x, 1, y, q);", "write(w, 1, y, q); wait(u); mem[y] <- 1;"), ((COMMANDS, "yield first, entered or bool(hit)", "yield first, entered"),)),
    Rule("F6", ("update(add, 1, 0, w, u); await(mem[w] == 0);", "update(add, 1, 0, w, u);"), ((COMMANDS, "                yield place, True\n", "                pass\n"),)),
]  # fmt: skip
"""Rules without which a source counts as infeasible from which there is a violation, and there is another one too."""

OF_MOVES = [
    Rule("m2: d enters", 1, ((COMMANDS, "enters = self.tainted or may_hit(chain[:place], self.done) or may_hit(chain[place:], self.made)", "enters = self.tainted or may_hit(chain[:place], self.done) or may_hit(chain[place:], self.done)"),)),
    Rule("m3: what hits d is delayed", 1, ((COMMANDS, "*stops, *(", "*("),)),
    Rule("m3: d grows", 1, ((STATES, "state.delayed | later", "state.delayed or later"),)),
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


@pytest.mark.parametrize("rule", [*OF_STATES, *RULES], ids=lambda rule: rule.name)
def test_without_a_rule_what_is_not_robust_is_accepted(rule: Rule, tmp_path: Path) -> None:
    program, nodes = program_of(rule)
    without = mutant(tmp_path, f"mutant_{[*OF_STATES, *RULES].index(rule)}", *rule.edits)
    if rule in OF_STATES or rule.edits[0][0] == STATES:
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
        return set(write._settled(write.Infeasible(write._values(case))))

    assert infeasible(write) < infeasible(without.write)


@pytest.mark.parametrize("rule", OF_MOVES, ids=lambda rule: rule.name)
def test_without_a_rule_the_moves_are_others(rule: Rule, tmp_path: Path) -> None:
    without = mutant(tmp_path, f"moves_{OF_MOVES.index(rule)}", *rule.edits)

    def edges(write: ModuleType) -> set[Any]:
        (case,) = write.subjects(program, None, None, Reading())
        values = write._values(case)
        asked = write.States(values, {(*command.at, step) for command, step in values.sources})
        found, seen, todo = set[Any](), {asked.initial}, [asked.initial]
        while todo:
            state = todo.pop()
            targets = set(asked.followed(state, None))
            found |= {(state, target) for target in targets}
            todo += targets - seen - {None}
            seen |= targets
        return found

    program = parse(text_of("write(x, 1, y, q); write(x, 1, w, q);", "write(y, 1, w, u); write(w, 1, y, u);"))
    assert edges(write) != edges(without.write)
