"""Programs that are asked about again, with what they show told by commands: which answers that changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgasrob.batch.answer import about_robustness
from pgasrob.frontends.lower import CProgram
from pgasrob.program.polls import may_become_waits
from pgasrob.program.program import Program
from pgasrob.races.race_check import RaceDecision
from pgasrob.robustness.check import check
from pgasrob.robustness.question import ProgramFile, Races, Synchronisation
from pgasrob.robustness.session import Session
from pgasrob.robustness.synchronisation import synchronised
from pgasrob.robustness.verdict import Verdict
from tests.support import session_about

TEXT = """// nodes: 2
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
static long flag[2], total;
int main(void) {
    shmem_init();
    long sum = 0, last = 0, v;
    int left = 2, done[2] = {0, 0}, tries = 0, late = 0;
    if (shmem_my_pe() == 1) {
        shmem_long_p(&flag[0], 2, 0);
        shmem_long_p(&flag[1], 3, 0);
    } else {
        while (left > 0) {
            for (int i = 1; i >= 0; i--)
                if (!done[i] && (v = shmem_long_atomic_fetch(&flag[i], 0)) != 0) { SEEN done[i] = 1; left--; }
            tries++;
            if (done[1] && !done[0]) late = 1;
        }
        AFTER
    }
    (void)sum; (void)last; (void)late; (void)tries;
    shmem_finalize();
    return 0;
}
"""


def asked(folder: Path, seen: str, after: str) -> Session:
    path = folder / "program.c"
    path.write_text(TEXT.replace("SEEN", seen).replace("AFTER", after))
    return session_about(path, Synchronisation())


def answered(session: Session) -> tuple[Verdict, str]:
    verdict = about_robustness(session, Synchronisation())
    found = synchronised(verdict)
    assert found is not None
    return verdict, found.answer


@pytest.mark.parametrize(
    ("seen", "after"),
    [
        ("sum += v;", 'printf("%ld\\n", sum);'),
        ("total += v + i;", 'printf("%ld\\n", total);'),
        ("sum |= 1 << i;", 'printf("%ld after %d rounds\\n", sum, tries);'),
        ("if (v > last) last = v;", 'if (last == 3) puts("three");'),
    ],
)
def test_what_comes_out_in_any_order_is_no_alarm(tmp_path: Path, seen: str, after: str) -> None:
    session = asked(tmp_path, seen, after)
    assert check(session).verdict == "not robust"
    verdict, answer = answered(session)
    assert (verdict.verdict, answer, verdict.by_display) == ("robust", "yes", True)


@pytest.mark.parametrize(
    ("seen", "after"),
    [
        ("", 'printf("%d\\n", late);'),
        ("last = last * 2 + late;", 'if (late) puts("late");'),
    ],
)
def test_what_shows_an_order_that_no_sc_run_has_is_found(tmp_path: Path, seen: str, after: str) -> None:
    verdict, answer = answered(asked(tmp_path, seen, after))
    assert (verdict.verdict, answer) == ("not robust", "no")
    assert verdict.effect is not None and verdict.effect.kind == "outcome"


def test_races_of_the_program_are_looked_for_by_its_own_robustness(tmp_path: Path) -> None:
    """The one that tells what it shows may be robust where the program itself is not, whose races then are not all
    known."""
    session = asked(tmp_path, "sum += v;", 'printf("%ld\\n", sum);')
    verdict, _ = answered(session)
    assert verdict.by_display and not session.tells
    found = RaceDecision(session_about(tmp_path / "program.c", Races()), verdict).verdict()
    assert found.verdict == "race"


def test_what_is_unknown_or_too_much_is_not_told(tmp_path: Path) -> None:
    for after in ('printf("%d\\n", rand());', 'for (int i = 0; i < 100; i++) printf("%ld\\n", flag[i & 1]);'):
        session = asked(tmp_path, "sum += v;", after)
        program = session.load().program
        assert not isinstance(program, Program | ProgramFile) and program.telling(2) is None


LOOKS = """// nodes: 2
#include <shmem.h>
#include <stdio.h>
static long x, flag;
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 1) {
        shmem_long_p(&x, 2, 0);
        shmem_long_p(&flag, 1, 0);
    } else {
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
        long first = x, second = x;
        if (first > second) puts("less");
    }
    shmem_finalize();
    return 0;
}
"""


@pytest.mark.parametrize(
    ("text", "lowered"),
    [(TEXT.replace("SEEN", "sum += v;").replace("AFTER", 'printf("%ld\\n", sum);'), True), (LOOKS, False)],
    ids=["polls", "looks"],
)
def test_it_is_lowered_again_only_where_reads_may_be_waits_then(
    tmp_path: Path, text: str, lowered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []
    telling = CProgram.telling
    monkeypatch.setattr(CProgram, "telling", lambda program, nodes: (told.append(nodes), telling(program, nodes))[1])
    (tmp_path / "program.c").write_text(text)
    session = session_about(tmp_path / "program.c", Synchronisation())
    assert any(map(may_become_waits, session.instance(session.load()).automata))
    verdict, _ = answered(session)
    assert verdict.by_display == lowered
    assert bool(told) == lowered
