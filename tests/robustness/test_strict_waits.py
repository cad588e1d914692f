"""Runs that get stuck where calls wait that may do so and need not: programs with the answer, and random ones against
an interpreter in which each call waits or not, as it likes."""

from __future__ import annotations

import random

import pytest

from pgasrob.batch.answer import about_robustness
from pgasrob.frontends.lower import parse_c
from pgasrob.program.assumptions import Kind
from pgasrob.render.brief import brief
from pgasrob.render.sarif import to_sarif
from pgasrob.render.synchronised_text import deadlock
from pgasrob.render.verdict_json import to_json
from pgasrob.robustness import strict_waits
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import Question, RobustnessOnEveryCount, Synchronisation
from pgasrob.robustness.reasons import WaitingLeft
from pgasrob.robustness.session import Session
from pgasrob.robustness.verdict import Verdict
from pgasrob.semantics.sequential import SequentialFacts

MPI = """
#include <mpi.h>
#include <stdlib.h>
int main(void) {{
int me, n, x = 1, y = 0, z[8] = {{0}}, *w; MPI_Win win; MPI_Comm d; MPI_Request q, p; MPI_File f;
MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Comm_size(MPI_COMM_WORLD, &n);
MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &w, &win);
for (int i = 0; i < 8; i++) w[i] = 0;
MPI_Barrier(MPI_COMM_WORLD); MPI_Win_lock_all(0, win);
{}
MPI_Barrier(MPI_COMM_WORLD); MPI_Win_unlock_all(win); MPI_Win_free(&win); MPI_Finalize(); return 0; }}
"""
SHMEM = """
#include <shmem.h>
long flag, a[4], b[4];
int main(void) {{ shmem_init(); int me = shmem_my_pe();
{}
shmem_barrier_all(); shmem_finalize(); return 0; }}
"""
ARMCI = """
#include <armci.h>
int main(int argc, char **argv) {{ int me, x = 1, y = 0, got; ARMCI_Init(); me = armci_msg_me();
{}
ARMCI_Finalize(); return 0; }}
"""
W, ONE = "MPI_COMM_WORLD", "1, MPI_INT"


def put(target: int, flag: int) -> str:
    operation = f"MPI_Accumulate(&x, {ONE}, {target}, {flag}, {ONE}, MPI_REPLACE, win);"
    return f"{operation} MPI_Win_flush({target}, win);"


def poll(flag: int) -> str:
    fetch = f"MPI_Fetch_and_op(&v, &v, MPI_INT, me, {flag}, MPI_NO_OP, win); MPI_Win_flush(me, win);"
    return f"{{ int v = 0; while (!v) {{ {fetch} }} }}"


def send(to: int | str, kind: str = "Send", tag: int = 0) -> str:
    return f"MPI_{kind}(&x, {ONE}, {to}, {tag}, {W});"


def recv(source: int | str, tag: int = 0) -> str:
    return f"MPI_Recv(&y, {ONE}, {source}, {tag}, {W}, MPI_STATUS_IGNORE);"


def isend(to: int | str) -> str:
    return f"MPI_Isend(&x, {ONE}, {to}, 0, {W}, &q);"


def irecv(source: int | str) -> str:
    return f"MPI_Irecv(&y, {ONE}, {source}, 0, {W}, &p);"


WAIT_SEND, WAIT_RECV = (f"MPI_Wait(&{each}, MPI_STATUS_IGNORE);" for each in "qp")
BCAST = f"MPI_Bcast(&y, {ONE}, 0, {W});"


def behind(call: str, giver: int = 0) -> str:
    """The other rank comes to ``call`` when it sees what the ``giver`` does behind it."""
    other = 1 - giver
    return f"if (me == {giver}) {{ {call} {put(other, 0)} }} else {{ {poll(0)} {call} }}"


FENCED = (
    f"int *u; MPI_Win v; MPI_Win_allocate(4, 4, MPI_INFO_NULL, {W}, &u, &v); {{}}"
    " MPI_Win_fence(MPI_MODE_NOSUCCEED, v); MPI_Win_free(&v);"
)
FENCE = "MPI_Win_fence(MPI_MODE_NOPRECEDE, v);"

STUCK = {
    "a broadcast": (behind(BCAST), "MPI_Bcast"),
    "a reduction": (behind(f"MPI_Reduce(&x, &y, {ONE}, MPI_SUM, 0, {W});", 1), "MPI_Reduce"),
    "a gather": (behind(f"MPI_Gather(&x, {ONE}, z, {ONE}, 0, {W});", 1), "MPI_Gather"),
    "a scatter": (behind(f"MPI_Scatter(z, {ONE}, &y, {ONE}, 0, {W});"), "MPI_Scatter"),
    "a scan": (behind(f"MPI_Scan(&x, &y, {ONE}, MPI_SUM, {W});"), "MPI_Scan"),
    "a communicator": (behind("MPI_Comm_dup(MPI_COMM_WORLD, &d);"), "MPI_Comm_dup"),
    "a communicator that is freed": (
        f"MPI_Comm_split({W}, 0, 0, &d); {behind('MPI_Comm_free(&d);')}",
        "MPI_Comm_free",
    ),
    "a file": (behind('MPI_File_open(MPI_COMM_WORLD, "f", 0, MPI_INFO_NULL, &f);'), "MPI_File_open"),
    "a fence that ends no epoch": (FENCED.format(behind(FENCE)), "MPI_Win_fence"),
    "a broadcast, nonblocking": (behind(f"MPI_Ibcast(&y, {ONE}, 0, {W}, &q); {WAIT_SEND}"), "MPI_Wait"),
    "a reduction, nonblocking": (
        behind(f"MPI_Ireduce(&x, &y, {ONE}, MPI_SUM, 0, {W}, &q); {WAIT_SEND}", 1),
        "MPI_Wait",
    ),
    "two communicators": (
        f"MPI_Comm_dup({W}, &d); "
        f"if (me == 0) {{ {BCAST} {BCAST.replace(W, 'd')} }} else {{ {BCAST.replace(W, 'd')} {BCAST} }}",
        "MPI_Bcast",
    ),
    "sends to each other": (f"{send('1 - me')} {recv('1 - me')}", "MPI_Send"),
    "sends whose wait comes first": (f"{isend('1 - me')} {WAIT_SEND} {recv('1 - me')}", "MPI_Wait"),
    "a message and a broadcast": (
        f"if (me == 0) {{ {BCAST} {recv(1)} }} else {{ {send(0)} {BCAST} }}",
        "MPI_Bcast",
    ),
}
FREE = {
    "a broadcast": f"if (me == 0) {{ {put(1, 0)} {BCAST} }} else {{ {poll(0)} {BCAST} }}",
    "nonblocking, what is behind it before the wait": (
        f"if (me == 0) {{ MPI_Ibcast(&y, {ONE}, 0, {W}, &q); {put(1, 0)} {WAIT_SEND} }} "
        f"else {{ {poll(0)} MPI_Ibcast(&y, {ONE}, 0, {W}, &q); {WAIT_SEND} }}"
    ),
    "a fence": FENCED.format(f"if (me == 0) {{ {put(1, 0)} {FENCE} }} else {{ {poll(0)} {FENCE} }}"),
    "a test, not a wait": behind(
        f"MPI_Ibcast(&y, {ONE}, 0, {W}, &q); int done; MPI_Test(&q, &done, MPI_STATUS_IGNORE);"
    ),
    "one sends first": f"if (me == 0) {{ {send(1)} {recv(1)} }} else {{ {recv(0)} {send(0)} }}",
    "receives that have begun": f"{irecv('1 - me')} {send('1 - me')} {WAIT_RECV}",
    "synchronous sends, receives that have begun": f"{irecv('1 - me')} {send('1 - me', 'Ssend')} {WAIT_RECV}",
    "sends that are waited for last": f"{isend('1 - me')} {recv('1 - me')} {WAIT_SEND}",
    "both at once": f"MPI_Sendrecv(&x, {ONE}, 1 - me, 0, &y, {ONE}, 1 - me, 0, {W}, MPI_STATUS_IGNORE);",
    "both at once and a send": (
        f"if (me == 0) MPI_Sendrecv(&x, {ONE}, 1, 0, &y, {ONE}, 1, 0, {W}, MPI_STATUS_IGNORE); "
        f"else {{ {send(0)} {recv(0)} }}"
    ),
    "buffered sends": f"{send('1 - me', 'Bsend')} {recv('1 - me')}",
    "a communicator of its own, freed": (
        f"MPI_Comm_dup(MPI_COMM_SELF, &d); if (me == 0) {{ MPI_Comm_free(&d); {put(1, 0)} }} "
        f"else {{ {poll(0)} MPI_Comm_free(&d); }}"
    ),
    "nobody else": f"{BCAST.replace(W, 'MPI_COMM_SELF')} {send('MPI_PROC_NULL')}",
    "rounds": f"for (int i = 0; i < 6; i++) {{ {irecv('1 - me')} {isend('1 - me')} {WAIT_SEND} {WAIT_RECV} {BCAST} }}",
}


def asked(text: str, nodes: int = 2, limits: Limits | None = None) -> Verdict:
    question = Question(parse_c(text, "test.c"), nodes, limits=limits or Limits())
    return about_robustness(Session(question), Synchronisation(("progress",)))


@pytest.mark.parametrize(("body", "call"), STUCK.values(), ids=STUCK.keys())
def test_programs_that_rest_on_calls_that_do_not_wait(body: str, call: str) -> None:
    verdict = asked(MPI.format(body))
    assert verdict.deadlock is True
    assert verdict.strict_waits is not None and call in verdict.strict_waits.about
    assert verdict.deadlock_run is not None and verdict.deadlock_run.shows == "deadlock"


NONE_MAY_WAIT = (
    "synchronous sends, receives that have begun",
    "buffered sends",
    "a communicator of its own, freed",
    "nobody else",
)


@pytest.mark.parametrize(("name", "body"), FREE.items(), ids=FREE.keys())
def test_programs_that_do_not(name: str, body: str) -> None:
    verdict = asked(MPI.format(body))
    assert verdict.deadlock is False and verdict.strict_waits is None
    kinds = {each.kind for each in verdict.assumptions}
    assert Kind.NOT_SYNCHRONISING not in kinds
    assert (Kind.WAITING_ALIKE in kinds) == (name not in NONE_MAY_WAIT)


def test_what_is_said() -> None:
    result = to_json(asked(MPI.format(STUCK["a message and a broadcast"][0])))
    assert result["deadlock_by"] == [
        {"call": "MPI_Bcast", "line": 10, "section": "MPI-4.1, 6.14"},
        {"call": "MPI_Send", "line": 10, "section": "MPI-4.1, 3.5"},
    ]
    why = "where MPI_Bcast and MPI_Send wait for other ranks, as MPI-4.1, 6.14 and MPI-4.1, 3.5 allow"
    assert f"ends in a deadlock {why}: rank 0 waits in line 10" in deadlock(result)
    assert f"test.c:10:16: error: deadlock on 2 nodes {why}: rank 0 waits" in "".join(brief(result))
    assert why in to_sarif([result])


def test_other_libraries() -> None:
    broadcast = "shmem_long_broadcast(SHMEM_TEAM_WORLD, b, a, 1, 0);"
    wait, tell = "shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);", "shmem_long_p(&flag, 1, 1); shmem_quiet();"
    assert asked(SHMEM.format(f"if (!me) {{ {broadcast} {tell} }} else {{ {wait} {broadcast} }}")).deadlock is True
    assert asked(SHMEM.format(f"if (!me) {{ {tell} {broadcast} }} else {{ {wait} {broadcast} }}")).deadlock is False
    split = "shmem_team_t t; shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, 0, 0, &t);"
    assert asked(SHMEM.format(f"if (!me) {{ {split} {tell} }} else {{ {wait} {split} }}")).deadlock is True
    assert asked(SHMEM.format(f"if (!me) {{ {tell} {split} }} else {{ {wait} {split} }}")).deadlock is False
    receive = "armci_msg_rcv(0, &y, 4, &got, 1 - me);"
    assert asked(ARMCI.format(f"armci_msg_snd(0, &x, 4, 1 - me); {receive}")).deadlock is True


def test_what_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the search is not ended the line is open, and the assumption stays."""
    text = MPI.format(FREE["rounds"])
    known = asked(text)
    program = parse_c(text, "test.c")
    monkeypatch.setattr(strict_waits, "search_of_sc_runs", lambda instance, *_: SequentialFacts(instance))
    session = Session(Question(program, 2, limits=Limits(max_sc_states=5)))
    found = strict_waits.with_strict_waits(session, program, known)
    assert found.deadlock == "unknown" and isinstance(found.reason, WaitingLeft)


def test_on_every_number_of_nodes() -> None:
    text = SHMEM.format("for (int i = 0; i < 2; i++) shmem_long_broadcast(SHMEM_TEAM_WORLD, b, a, 1, 0);")
    question = Question(parse_c(text, "test.c"))
    verdict = about_robustness(Session(question), RobustnessOnEveryCount(("progress",)))
    assert verdict.deadlock is not True


# Random programs. An operation of a rank is one of
#   (kind, collective, root) for a bcast, reduce, scan, barrier; ("put", target, flag); ("poll", flag);
#   ("send" or "ssend", to), ("isend", to, number), ("waits", number),
#   ("recv", source), ("irecv", source, number), ("waitr", number).

Operation = tuple
COLLECTIVES = ("bcast", "reduce", "scan", "barrier", "ibcast")


def drawn(seed: int) -> list[list[Operation]]:
    """What each rank does: events that could come one after the other, and then some of them changed places."""
    draw = random.Random(seed)
    ranks = draw.choice((2, 2, 3))
    does: list[list[Operation]] = [[] for _ in range(ranks)]
    for number in range(draw.randint(2, 5)):
        kind = draw.choice((*COLLECTIVES, "message", "message", "message", "signal", "signal"))
        one, other = draw.sample(range(ranks), 2)
        if kind in COLLECTIVES:
            for each in does:
                each.append((kind, one))
        elif kind == "signal":
            does[one].append(("put", other, number))
            does[other].append(("poll", number))
        else:
            how = draw.choice(("send", "send", "ssend", "isend"))
            does[one].append((how, other, number))
            does[one] += [("waits", number)] * (how == "isend")
            early = draw.random() < 0.4
            does[other] += [("irecv", one, number), ("waitr", number)] if early else [("recv", one, number)]
    for each in does:
        for _ in range(draw.randint(0, 2)):
            place = draw.randrange(max(len(each) - 1, 1))
            pair = each[place : place + 2]
            if len(pair) == 2 and _may_change(*pair):
                each[place : place + 2] = pair[::-1]
    return does


def _may_change(one: Operation, other: Operation) -> bool:
    """Not two collectives, no wait before what it is for, and not two messages in one direction."""
    waits = other[0] in ("waits", "waitr") and one[-1] == other[-1]
    messages = one[0] in ("send", "ssend", "isend", "recv", "irecv")
    same_way = messages and other[0] in ("send", "ssend", "isend", "recv", "irecv") and one[1] == other[1]
    return not (waits or same_way or (one[0] in COLLECTIVES and other[0] in COLLECTIVES))


def gets_stuck(does: list[list[Operation]], waits: bool) -> bool:
    """Whether some run gets stuck. A rank is at the operation whose number it has in a state. Where it need not wait
    any more it goes on; where it may wait it may do that as well, if calls ``waits`` at all."""
    begin = tuple(0 for _ in does)
    seen, todo = {begin}, [begin]
    while todo:
        state = todo.pop()
        ready = {rank: _ready(does, state, rank) for rank, each in enumerate(does) if state[rank] < len(each)}
        if ready and not any(now == "must" or (now == "may" and not waits) for now in ready.values()):
            return True
        for rank, now in ready.items():
            following = tuple(place + (each == rank) for each, place in enumerate(state))
            if now != "no" and following not in seen:
                seen.add(following)
                todo.append(following)
    return False


def _ready(does: list[list[Operation]], state: tuple[int, ...], rank: int) -> str:
    """Whether the next operation of ``rank`` ends: it "must", it "may", or "no"."""

    def begun(other: int, kinds: tuple[str, ...]) -> list[Operation]:
        return [each for each in does[other][: state[other] + 1] if each[0] in kinds]

    def matched(number: int, sends: bool) -> bool:
        kinds = ("recv", "irecv") if sends else ("send", "ssend", "isend")
        return any(each[2] == number for other in range(len(does)) for each in begun(other, kinds))

    kind, *about = does[rank][state[rank]]
    if kind in COLLECTIVES:
        number = len(begun(rank, COLLECTIVES))
        there = [len(begun(other, COLLECTIVES)) >= number for other in range(len(does))]
        needed = {
            "bcast": there[about[0]],
            "ibcast": there[about[0]],
            "reduce": rank != about[0] or all(there),
            "scan": all(there[:rank]),
            "barrier": all(there),
        }
        return "must" if all(there) else "may" if needed[kind] else "no"
    match kind:
        case "poll":
            put = any(("put", rank, about[0]) in does[other][: state[other]] for other in range(len(does)))
            return "must" if put else "no"
        case "ssend":
            return "must" if matched(about[1], sends=True) else "no"
        case "send" | "waits":
            return "must" if matched(about[-1], sends=True) else "may"
        case "recv" | "waitr":
            return "must" if matched(about[-1], sends=False) else "no"
        case _:
            return "must"


def as_text(does: list[list[Operation]]) -> str:
    def call(kind: str, *about: int) -> str:
        match kind:
            case "bcast":
                return f"MPI_Bcast(&y, {ONE}, {about[0]}, {W});"
            case "ibcast":
                return f"MPI_Ibcast(&y, {ONE}, {about[0]}, {W}, &c); MPI_Wait(&c, MPI_STATUS_IGNORE);"
            case "reduce":
                return f"MPI_Reduce(&x, &y, {ONE}, MPI_SUM, {about[0]}, {W});"
            case "scan":
                return f"MPI_Scan(&x, &y, {ONE}, MPI_SUM, {W});"
            case "barrier":
                return f"MPI_Barrier({W});"
            case "put":
                return put(*about)
            case "poll":
                return poll(*about)
            case "isend":
                return f"MPI_Isend(&x, {ONE}, {about[0]}, 0, {W}, &r[{about[1]}]);"
            case "irecv":
                return f"MPI_Irecv(&z[{about[1]}], {ONE}, {about[0]}, 0, {W}, &s[{about[1]}]);"
            case "waits" | "waitr":
                return f"MPI_Wait(&{'r' if kind == 'waits' else 's'}[{about[0]}], MPI_STATUS_IGNORE);"
            case "recv":
                return recv(about[0])
            case _:
                return send(about[0], kind.capitalize())

    ranks = "\n".join(
        f"if (me == {rank}) {{ {' '.join(call(*each) for each in own)} }}" for rank, own in enumerate(does)
    )
    return MPI.format(f"MPI_Request c, r[8], s[8];\n{ranks}")


@pytest.mark.parametrize("seed", range(200))
def test_random_programs(seed: int) -> None:
    does = drawn(seed)
    verdict = asked(as_text(does), len(does))
    assert verdict.deadlock is gets_stuck(does, waits=True)
    assert (verdict.deadlock is True and verdict.strict_waits is None) == gets_stuck(does, waits=False)


def test_that_it_matters() -> None:
    """How often random programs get stuck in any case, and only where calls wait."""
    found = [(gets_stuck(does, waits=False), gets_stuck(does, waits=True)) for does in map(drawn, range(200))]
    assert all(strict for weak, strict in found if weak)
    assert (sum(weak for weak, _ in found), sum(strict for _, strict in found)) == (29, 60)
