"""Why RDMA-TSO forbids an outcome: the smallest sets of rules without which it is allowed, and a cycle."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pgasrob.models.candidate_executions import candidates
from pgasrob.models.litmus.litmus_program import Outcome, Program
from pgasrob.models.model_interface import Forbidden
from pgasrob.models.rdma_tso.axioms import cycle
from pgasrob.models.rdma_tso.execution_search import Search, Solution, execution
from pgasrob.models.rdma_tso.expansion import expand, kinds_in_order
from pgasrob.models.rdma_tso.orders import CELLS, TERMS, Rules, kinds_of
from pgasrob.stop_points import stop_point


def why(program: Program, wanted: Callable[[Outcome], bool], rules: Rules) -> Forbidden | None:
    """Why no consistent execution of ``program`` has an outcome that is ``wanted``; None when one has.

    The rules looked at are the cells of Figure 9 and the terms of ib and ob. A core is a set of rules that forbid the
    outcome by themselves. A set without which it is allowed has a member of every core; so the smallest such sets are
    tried, and each that fails gives another core. All minimal sets of at most :data:`MOST` rules are found; those of
    cells and polls come before those of what rf, mo and rb mean.
    """
    every = tuple(candidates(program, expand))

    def allowed(without: frozenset[str]) -> Solution | None:
        return next(Search(program, rules.leaving_out(without), every=every).each_new({}, wanted), None)

    if allowed(frozenset()):
        return None
    looked_at = frozenset(_that_matter(program, rules))
    last = allowed(looked_at)
    if last is None:
        return Forbidden()
    hitting = {frozenset[str]()}
    fine: dict[frozenset[str], Solution] = {}
    while untried := [each for each in hitting if each not in fine]:
        stop_point()
        tried = min(untried, key=_rank)
        found = allowed(tried)
        if found is not None:
            fine[tried] = found
            continue
        core = looked_at - tried
        for rule in sorted(core):
            if not allowed(looked_at - core | {rule}):
                core -= {rule}
        hitting = _hitting(hitting, core)
    sets = tuple(sorted(fine, key=_rank))
    shown = execution(fine[sets[0]] if sets else last)
    return Forbidden(sets, shown, cycle(shown, rules))


MOST = 4
"""The largest size of a set of rules that is looked for."""
MEANING = frozenset(("ib.rf", "ib.rbb", "ib.nfo", "ob.rfb", "ob.rb", "ob.mo", "ob.nfo", "ob.rmw"))
"""The terms that say what reading from a write means, and the order of writes, rather than what the network orders."""


def _rank(rules: frozenset[str]) -> tuple[bool, int, list[str]]:
    return bool(rules & MEANING), len(rules), sorted(rules)


def _hitting(sets: set[frozenset[str]], core: frozenset[str]) -> set[frozenset[str]]:
    """The minimal sets that have a member of ``core`` and of every core before it (Berge), of the minimal ``sets`` for
    those."""
    kept = {each for each in sets if each & core}
    more = {each | {rule} for each in sets - kept if len(each) < MOST for rule in core}
    return kept | {each for each in more if not any(other < each for other in kept | more)}


def _that_matter(program: Program, rules: Rules) -> Iterator[str]:
    """The cells whose events the program has in this order, and the terms."""
    pairs = kinds_in_order(program)
    for cell in CELLS:
        if kinds_of(cell) in pairs and rules.orders.at(cell) != "no":
            yield cell
    idle = []
    if ("naR", "nlW") not in pairs:
        idle = ["ob.rmw", "ob.lock"] if rules.pcie else ["ob.rmw", "ob.lock", "ib.nfo", "ob.nfo"]
    yield from (term for term in TERMS if rules.has(term) and term not in idle)
