"""Proves that no two accesses race on any number of nodes from the cutoff of a proof of robustness on.

Of a robust program two accesses race only if their commands are both next in some SC state (`proofs/races.md`,
Theorem 6). Where two ranks may be at once in SC runs on any such number of nodes is known, and which cells they may
access there (`proofs/every-n.md`, section 8): both are more than there are, so that where nothing is found, there is
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from pgasrob.program import core
from pgasrob.program.program import Program
from pgasrob.program.reading import Reading
from pgasrob.races.access_facts import Fact, atomic_together, facts_of, made_up
from pgasrob.robustness.every_n.flow import TooLong
from pgasrob.robustness.every_n.prove import Prover
from pgasrob.robustness.every_n.rank_cases import Frame
from pgasrob.robustness.every_n.sc_pairs import ScPairs, TooManyPairs, members
from pgasrob.robustness.session import Session

LOOKING = "looking for a proof that nothing races"

_Access = tuple[int, core.Access[core.Place], Fact, bool]
"""The cells that an access may be to, as bits; the access; what is known of it; whether it makes a value arrive."""


def no_race_beyond(
    program: Program, reading: Reading, look: Callable[[], None], frame: Frame | None = None, least: int | None = None
) -> bool:
    """Whether it is known that no two accesses of ``program`` race on a number of nodes from ``least`` on (None: the
    cutoff of the ``frame``; None: the one that fits), on all of which it is robust. ``look`` is called now and then."""
    if program.growing:  # of which pairs of ranks know nothing
        return False
    prover = Prover(program, reading, frame)
    if least is not None and least < prover.frame.cutoff:  # as of a proof with few names
        prover = Prover(program, reading, prover.plain)
        if least < prover.frame.cutoff:
            return False
    ignored = sum(1 << address for address in made_up(program))
    followed = looks = 0
    try:
        for case in prover.frame.cases():
            look()
            flow = prover.flow(case, followed)
            pairs = prover.sc_pairs(case, flow, looks)
            if _may_race(pairs, ignored):
                return False
            followed, looks = flow.followed, pairs.looks
    except (TooLong, TooManyPairs):
        return False
    return True


def is_free_of_races(session: Session) -> bool:
    """Whether it is known by a proof for every number of nodes that nothing races on that of ``session``."""
    nodes = session.load().nodes
    if not session.proof().is_about(nodes):
        return False
    return no_race_from_proof(session)


def no_race_from_proof(session: Session) -> bool:
    """Whether there is known to be no race on the numbers of nodes that the proof for ``session`` is about."""
    program = session.load().program
    if not isinstance(program, Program):
        program = program.for_every_count()
    look = partial(session.watch.look_around, "races", 0, LOOKING)
    return no_race_beyond(program, session.question.reading, look, least=session.proof().cutoff)


def _may_race(pairs: ScPairs, ignored: int) -> bool:
    """Whether a command of the first rank may be next together with one of another rank with which it races."""
    size = len(pairs.memory)
    known = {
        (rank, state): [*_accesses(pairs, rank, state, sum(ignored << name * size for name in pairs.names))]
        for rank in pairs.names
        for state, file in enumerate(pairs.files[rank])
        if file is not None
    }
    return any(
        _race(one, another)
        for (rank, state), accesses in known.items()
        if rank == 0 and accesses
        for other in pairs.others(0)
        for at in members(pairs.meanwhile[0][other][state])
        for one in accesses
        for another in known.get((other, at), ())
    )


def _accesses(pairs: ScPairs, rank: int, state: int, ignored: int) -> Iterator[_Access]:
    """The accesses of the commands of a rank before ``state``."""
    for transition in pairs.ranks[rank].automaton.out[state]:
        form = transition.form
        made = core.accesses_of(form)
        facts = [*facts_of(transition)]
        # What the command accesses first may be a cell that is read as a register: nobody else accesses it.
        for number, (access, fact) in enumerate(zip(made, facts[len(facts) - len(made) :], strict=True)):
            at_issue = number == 0 and core.at_issue(form) is not None
            arrives = access.writes and not at_issue
            looks = fact.looks and pairs.is_own(rank, state, access.cell)
            if cells := pairs.cells(rank, state, access.cell) & ~ignored:
                yield cells, access, fact._replace(looks=looks), arrives


def _race(one: _Access, other: _Access) -> bool:
    """Whether the two may race, as `racing_pairs.Pairs.race` has it for a run, which also distinguishes bytes, and
    stores that arrive at another rank."""
    cells, first, of_first, first_arrives = one
    others, second, of_second, second_arrives = other
    if not cells & others or not (first.writes or second.writes):
        return False
    if atomic_together(of_first, of_second):
        return False
    looks = (of_first.waits or of_first.looks, of_second.waits or of_second.looks)
    return not ((looks[0] and second_arrives) or (looks[1] and first_arrives))
