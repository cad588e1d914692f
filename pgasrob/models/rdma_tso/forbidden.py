"""Why an outcome is forbidden: the smallest sets of rules without which it is allowed, and a cycle."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pgasrob.models.litmus.program import Outcome, Program
from pgasrob.models.model import Forbidden
from pgasrob.models.rdma_tso.axioms import cycle
from pgasrob.models.rdma_tso.events import kinds_in_order
from pgasrob.models.rdma_tso.orders import CELLS, TERMS, kinds_of
from pgasrob.models.rdma_tso.rules import Rules
from pgasrob.models.rdma_tso.search import Search, Solution, execution


def why(program: Program, wanted: Callable[[Outcome], bool], rules: Rules) -> Forbidden | None:
    """Why no consistent execution of ``program`` has an outcome that is ``wanted``; None when one has.

    The rules looked at are the cells of Figure 9 and the terms of ib and ob. A core is a set of rules that forbid the
    outcome, all others left out. A set without which it is allowed has a member of every core; so the smallest sets
    that have are tried, and each that fails gives one core more.
    """

    def allowed(without: frozenset[str]) -> Solution | None:
        return next(Search(program, rules.leaving_out(without)).each_new({}, wanted), None)

    if allowed(frozenset()):
        return None
    looked_at = frozenset(_that_matter(program, rules))
    if not allowed(looked_at):
        return Forbidden()
    cores: list[frozenset[str]] = []
    fine: dict[frozenset[str], Solution] = {}
    while True:
        hitting = _smallest_hitting(cores)
        failed = None
        for each in hitting:
            if each not in fine:
                found = allowed(each)
                if found is None:
                    failed = each
                    break
                fine[each] = found
        if failed is None:
            break
        core = looked_at - failed
        for rule in sorted(core):
            if not allowed(looked_at - core | {rule}):
                core -= {rule}
        cores.append(core)
    sets = tuple(sorted(hitting, key=sorted))
    shown = execution(fine[sets[0]])
    return Forbidden(sets, shown, cycle(shown, rules))


def _that_matter(program: Program, rules: Rules) -> Iterator[str]:
    """The cells whose events the program has in this order, and the terms."""
    pairs = kinds_in_order(program)
    for cell in CELLS:
        if kinds_of(cell) in pairs and rules.orders.at(cell) != "no":
            yield cell
    yield from (term for term in TERMS if rules.has(term) and (rules.pcie or not term.endswith(".nfo")))


def _smallest_hitting(cores: list[frozenset[str]]) -> list[frozenset[str]]:
    """The sets of the smallest size that have a member of every core."""
    found: set[frozenset[str]] = {frozenset()}
    while True:
        hitting = [each for each in found if all(each & core for core in cores)]
        if hitting:
            return hitting
        found = {
            each | {rule} for each in found for rule in next((core for core in cores if not each & core), frozenset())
        }
