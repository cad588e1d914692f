"""Programs outside the corpus with one mistake each: repair gives back the fix that was written by hand, or a cheaper
one.

A file has the fixed text. What comes behind `// seeded` in a line says how it is to be spoilt: `: remove` for the line,
or what stands there instead; in parentheses what kind of fix the line is, with the loops around, which is its cost.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import NamedTuple, cast

import pytest

from pgasrob.api import check
from pgasrob.frontends.lower import parse_c
from pgasrob.program.parser import parse
from pgasrob.repairs import Costs, Repair, repair
from pgasrob.repairs.remedies import Kind
from tests.support import sampled

PROGRAMS = sorted((Path(__file__).parent / "seeded").iterdir())
MARK = re.compile(
    r"[ \t]*// seeded(?: \((?P<kind>[a-z ]+)(?:, (?P<loops>\d) loop)?\))?: (?P<instead>.*)$", re.MULTILINE
)


class Seeded(NamedTuple):
    """The text as written by hand, the same with the mistake, and what the hand-written fix costs."""

    fixed: str
    broken: str
    cost: int


def seeded(path: Path) -> Seeded:
    text = path.read_text(encoding="utf-8")
    marks = list(MARK.finditer(text))
    broken = re.sub(
        r"^[ \t]*remove\n", "", re.sub(r"[^ \t\n][^\n]*// seeded[^\n]*?\)?: ", "", text), flags=re.MULTILINE
    )
    cost = sum(Costs().of(cast(Kind, each["kind"]), int(each["loops"] or 0)) for each in marks if each["kind"])
    return Seeded(MARK.sub("", text), broken, cost)


class Expected(NamedTuple):
    """The cost of the answers, the first of them, and where among them the hand-written text is; None: nowhere."""

    cost: int
    by_hand: int | None
    first: tuple[int, str]


ANSWERS = {
    "armci_ghost_planes.c": Expected(4, 0, (28, "ARMCI_Barrier()")),
    "armci_post_results.c": Expected(4, 0, (27, "ARMCI_Fence(0);")),
    "credits.pgas": Expected(6, None, (20, "wait_local(data);")),
    "gasnet_butterfly.c": Expected(12, 0, (36, "gasnet_wait_syncnb(sent);")),
    "gaspi_all_to_all.c": Expected(3, 0, (26, "gaspi_notify(0, to, rank, 1, QUEUE, GASPI_BLOCK)")),
    "gaspi_prefetch.c": Expected(4, None, (42, "SUCCESS_OR_DIE(gaspi_wait(0, GASPI_BLOCK));")),
    "gaspi_stream.c": Expected(12, 1, (20, "SUCCESS_OR_DIE(gaspi_wait(0, GASPI_BLOCK));")),
    "gpi_gather.c": Expected(4, 0, (20, "waitDmaGPI(GPIQueue1);")),
    "locked_account.pgas": Expected(4, 0, (15, "wait(q);")),
    "mpi_mailbox.c": Expected(12, 0, (26, "CHECK(MPI_Win_flush(consumer, win));")),
    "mpi_prefetch.c": Expected(6, 0, (44, "MPI_Wait(&request[now], MPI_STATUS_IGNORE);")),
    "mpi_ring_shift.c": Expected(12, 0, (32, "MPI_Win_flush(left, ring->win)")),
    "shmem_halo_flags.c": Expected(3, 0, (23, "shmem_fence();")),
    "shmem_key_count.c": Expected(4, 0, (21, "shmem_barrier_all()")),
    "shmem_transpose_pack.c": Expected(6, 0, (25, "shmem_long_put(&columns[me * BLOCK], buffer, BLOCK, to)")),
    "shmem_tree_reduce.c": Expected(3, None, (19, "shmem_fence();")),
    "stream.pgas": Expected(6, 2, (10, "wait_local(q);")),
    "task_board.pgas": Expected(3, None, (13, "fence(q);")),
    "transpose.pgas": Expected(4, 0, (14, "wait(q);")),
    "tree_sum.pgas": Expected(1, 0, (21, "notify(set, 1, 0, ready + me, q)")),
}  # fmt: skip


def repaired(path: Path, text: str) -> Repair:
    read = partial(parse_c if path.suffix == ".c" else parse, file=str(path))
    program = read(text)
    return repair(program, read, (program.nodes or 2,))


def test_every_program_has_its_answer() -> None:
    assert [path.name for path in PROGRAMS] == list(ANSWERS) and len(ANSWERS) == 20
    assert sum(each.by_hand is not None for each in ANSWERS.values()) == 16
    assert sum(each.by_hand == 0 for each in ANSWERS.values()) == 14


@pytest.mark.parametrize("path", sampled(PROGRAMS, 36), ids=lambda path: path.name)
def test_the_fix_by_hand_or_a_cheaper_one(path: Path) -> None:
    by_hand, expected = seeded(path), ANSWERS[path.name]
    fixed = (parse_c if path.suffix == ".c" else parse)(by_hand.fixed, str(path))
    assert check(fixed, fixed.nodes or 2).verdict == "robust"
    found = repaired(path, by_hand.broken)
    assert found.verdicts[0].verdict == "not robust" and found.state == "repaired"
    texts = [answer.text for answer in found.answers]
    [first, *more] = found.answers[0].candidates
    assert Expected(found.answers[0].cost, texts.index(by_hand.fixed) if by_hand.fixed in texts else None,
                    (first.line, first.text)) == expected and not more  # fmt: skip
    assert expected.cost <= by_hand.cost
