"""Results that are kept: what is there is not checked again, what has changed is, and nothing is lost or doubled."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import random
import re
import signal
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pgasrob.batch import build_id, checker, store
from pgasrob.batch.answer import about_robustness
from pgasrob.batch.job import Checked, Job, asked
from pgasrob.batch.kept import Kept
from pgasrob.batch.side_by_side import convert_all
from pgasrob.cli import cli
from pgasrob.frontends.options import FrontEnd
from pgasrob.races.race_verdict import RaceVerdict
from pgasrob.render.verdict_json import checked_to_json
from pgasrob.render.witness_file import FORMS
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import EngineChoice, Resources
from pgasrob.robustness.reasons import (
    FaultPossible,
    Interruption,
    LeftUndone,
    MemoryLimit,
    NoProgram,
    Reason,
    StateLimit,
    TimeLimit,
    WorkerDied,
)
from pgasrob.robustness.session import Session
from pgasrob.robustness.verdict import Effect, Verdict
from tests.bench.small import write_small_programs
from tests.cli.commands import QUIET

ROOT = Path(__file__).parents[2]
ROBUST = "memory x; process { mem[x] <- 1; }"
NOT_ROBUST = "memory x; queue q; nodes 1; process { write(x, 0, x, q); mem[x] <- 1; }"
ENDLESS = """memory x, y; register r; queue q; process {
  loop { mem[x] <- r; r <- r + 1; assert(1); if (r < 0) { write(x, me, y, q); r <- mem[y]; } } }"""
TWO_FILES = {
    "main.c": '#include <shmem.h>\n#include "far.h"\ndouble a = 0.5, b;\nvoid send(void);\n'
    "int main(void) { shmem_init(); send(); a = WANTED; shmem_barrier_all(); shmem_finalize(); return 0; }\n",
    "far.h": "#define WANTED 2.25\nextern double a, b;\n",
    "send.c": '#include <shmem.h>\n#include "far.h"\n'
    "void send(void) { shmem_double_put_nbi(&b, &a, 1, (shmem_my_pe() + 1) % shmem_n_pes()); }\n",
}
noted: list[str] = []
said: list[str] = []


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    noted.clear()
    said.clear()
    return tmp_path


@pytest.fixture(autouse=True)
def noting(monkeypatch: pytest.MonkeyPatch) -> None:
    """All checks are noted."""

    def note(session: Session, asked: Any) -> Verdict:
        noted.append(session.question.file)
        return about_robustness(session, asked)

    monkeypatch.setattr(checker, "about_robustness", note)


def results(*files: str, jobs: int = 1, **options: Any) -> list[Any]:
    """Check the files that are not kept; all results."""
    job = Job(resources=Resources(jobs=jobs), **options)
    return list(convert_all(files, replace(job, kept=kept(job)), checked_to_json))


def kept(job: Job) -> Kept:
    return Kept("kept.db", asked(job, "check"), FORMS["check"], said.append)


def rows(path: str = "kept.db") -> int:
    with closing(sqlite3.connect(path)) as connection:
        found: int = connection.execute("select count(*) from results").fetchone()[0]
    return found


def alike(one: object, other: object) -> bool:
    """Whether they are equal, and of the same types all through: doubles and lines of other files are integers."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return type(one) is type(other) and str(one) == str(other)


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_is_kept_is_what_was_found(jobs: int) -> None:
    """To the last place of a double, with lines of other files, files that are no programs and what headers say."""
    for name, text in {**TWO_FILES, "no.pgas": "process { skip }", "not.pgas": NOT_ROBUST}.items():
        Path(name).write_text(text)
    options: dict[str, Any] = {"nodes": (2, 3), "expect": True, "front_end": FrontEnd(units=("send.c",))}
    first = results("main.c", "no.pgas", "not.pgas", "absent.pgas", jobs=jobs, **options)
    assert [result["verdict"] for result in first] == [
        *("not robust", "not robust"), "error", *("not robust", "not robust"), "error"
    ]  # fmt: skip
    noted.clear()
    again = results("main.c", "no.pgas", "not.pgas", "absent.pgas", jobs=jobs, **options)
    assert alike(again, first) and rows() == len(first)
    assert noted == ["<string>"] * (jobs - 1), "that by which all modules are there before there are processes"


def test_what_has_changed_is_checked_again() -> None:
    for name, text in {**TWO_FILES, "a.pgas": ROBUST, "b.pgas": ROBUST}.items():
        Path(name).write_text(text)
    front_end = FrontEnd(units=("send.c",))

    def checked(**options: Any) -> list[str]:
        noted.clear()
        results("a.pgas", "b.pgas", "main.c", **{"front_end": front_end, **options})
        return noted

    assert checked() == ["a.pgas", "b.pgas", "main.c"] and checked() == []
    Path("b.pgas").write_text(NOT_ROBUST)
    assert checked() == ["b.pgas"] and checked() == []
    for part in ("far.h", "send.c"):
        Path(part).write_text(Path(part).read_text() + "\n/* changed */\n")
        assert checked() == ["main.c"] and checked() == []
    Path("b.pgas").write_text(ROBUST)
    assert checked() == []
    assert checked(front_end=FrontEnd(units=("send.c",), defines=(("N", "2"),))) == ["main.c"]
    for options in (
        {"engine": EngineChoice("attack")},
        {"nodes": (3,)},
        {"expect": True},
        {"limits": Limits(max_states=99)},
    ):
        assert checked(**options) == ["a.pgas", "b.pgas", "main.c"]
        assert checked(**options, front_end=front_end) == []
    # That of the memory is of the machine, and what it has ended is not kept.
    assert checked(limits=Limits(memory=999_999_999)) == []


def test_another_build_takes_nothing_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.pgas").write_text(ROBUST)
    for rebuilt, expected in ((False, 1), (False, 1), (True, 2)):
        if rebuilt:
            monkeypatch.setattr(build_id, "build", lambda: "another")
        assert CliRunner().invoke(cli, ["check", "a.pgas", "--resume", "kept.db"]).exit_code == 0
        assert rows() == expected


def test_a_result_is_about_what_it_is_kept_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the file changes meanwhile."""
    Path("a.pgas").write_text(ROBUST)

    def changing(session: Session, asked: Any) -> Verdict:
        Path("a.pgas").write_text(NOT_ROBUST)
        return about_robustness(session, asked)

    monkeypatch.setattr(checker, "about_robustness", changing)
    job = Job((2, 3))
    job = replace(job, kept=kept(job))
    found = convert_all(["a.pgas"], job, checked_to_json)
    assert [result["verdict"] for result in found] == ["robust"] * 2


@pytest.mark.parametrize(
    ("reason", "keeps"),
    [
        (None, True),
        (StateLimit(5), True),
        (TimeLimit(1.0), True),
        (NoProgram("no"), True),
        (MemoryLimit(5), False),
        (FaultPossible(MemoryLimit(5)), False),
        (LeftUndone("the run is long", FaultPossible(WorkerDied("is gone"))), False),
        (Interruption(), False),
    ],
)
def test_what_ended_by_chance_is_asked_again(reason: Reason | None, keeps: bool) -> None:
    verdict = Verdict("a.pgas", None, 2, "portfolio", "unknown", reason)
    assert Checked("a.pgas", verdict).would_be_the_same == keeps
    assert not Checked("a.pgas", verdict, interrupted=True).would_be_the_same
    effect = replace(verdict, reason=None, effect=Effect("none found", reason))
    assert Checked("a.pgas", effect).would_be_the_same == keeps
    assert Checked("a.pgas", replace(verdict, reason=None), races=verdict_as_answer(reason)).would_be_the_same == keeps


def verdict_as_answer(reason: Reason | None) -> Any:

    return RaceVerdict("a.pgas", None, 2, "races", "unknown", reason=reason)


# The command


def command(*arguments: str) -> subprocess.Popen[str]:
    """`pgasrob check .` as a process, and all that it starts, of a group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "pgasrob", "check", ".", "--format", "json", "--resume", "kept.db", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def told(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    output, _ = process.communicate(timeout=600)
    return [json.loads(line) for line in output.splitlines()]


def test_after_a_kill_no_result_is_lost_or_doubled(folder: Path) -> None:
    names = write_small_programs(folder, 60)
    held_up = folder / names[40]
    small = held_up.read_text()
    held_up.write_text(ENDLESS)
    process = command("--jobs", "2", "--max-states", "0")
    assert process.stdout is not None
    before = [json.loads(process.stdout.readline()) for _ in range(20)]
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    there = rows()
    assert 20 <= there < 60
    held_up.write_text(small)
    after = told(command("--jobs", "2", "--max-states", "0"))
    assert [result["file"] for result in after] == names and rows() == 60
    assert after[:20] == before, "with the seconds that they took: they are not checked again"
    assert sorted(path.name for path in folder.iterdir() if path.suffix != ".pgas") == ["kept.db"]


def test_two_commands_share_a_file(folder: Path) -> None:
    """Which neither of them finds there."""
    names = write_small_programs(folder, 30)
    both = [command("--jobs", "2"), command("--jobs", "2")]
    for found in map(told, both):
        assert [result["file"] for result in found] == names
    assert rows() == 30


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["check", "a.pgas", "--resume", "a.pgas"], "cannot keep results in a.pgas: file is not a database"),
        (["check", ".", "-j2", "--resume", "none/kept.db"], "cannot keep results in none/kept.db: unable to open"),
        (["race", "a.pgas", "--resume", "a.pgas"], "cannot keep results in a.pgas: file is not a database"),
        (["check", "a.pgas", "--resume", "k", "--cluster", "tcp://x:1"], "--resume keeps the results of this machine"),
        (["check", "a.pgas", "--resume", "k", "--network", "corerma"], "--resume"),
    ],
)
def test_where_nothing_can_be_kept(folder: Path, arguments: list[str], says: str) -> None:
    Path("a.pgas").write_text(ROBUST)
    Path("b.pgas").write_text(ROBUST)
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 2 and says in result.stderr and "Traceback" not in result.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_disk_that_gets_full_takes_no_result_away(jobs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abc":
        Path(f"{name}.pgas").write_text(ROBUST)
    packed = store._packed

    def full(key: str, text: str) -> object:
        return [] if '"b.pgas"' in text else packed(key, text)  # SQLite can write no list

    monkeypatch.setattr(store, "_packed", full)
    result = CliRunner().invoke(cli, ["check", ".", "--jobs", jobs, "--resume", "kept.db", "--format", "json"])
    assert [json.loads(line)["verdict"] for line in result.stdout.splitlines()] == ["robust"] * 3
    assert result.exit_code == 2 and "Traceback" not in result.stderr
    assert result.stderr.count("pgasrob: cannot keep results in kept.db: ") == 1


def test_races_are_kept_apart() -> None:
    Path("a.pgas").write_text("nodes 2; memory x; process 0 { mem[x] <- 1; } process 1 { mem[x @ 0] <- 2; }")
    found = [
        [json.loads(line) for line in CliRunner().invoke(cli, [*words, "--resume", "k.db"]).stdout.splitlines()]
        for words in 2 * (
            ["check", "a.pgas", "--format", "json"],
            ["check", "a.pgas", "--format", "json", "--races"],
            ["race", "a.pgas", "--format", "json"],
            ["race", "a.pgas", "--format", "json", "--all"],
        )
    ]  # fmt: skip
    assert found[:4] == found[4:] and rows("k.db") == 4
    assert [("races" in each[0], each[0].get("all")) for each in found[:4]] == [
        (False, None), (True, None), (True, False), (True, True)
    ]  # fmt: skip


def test_two_programs_on_the_standard_input_are_two() -> None:
    """Though they have one name."""
    found = [
        CliRunner().invoke(cli, ["check", "-", "--resume", "k.db"], input=text).exit_code
        for text in (ROBUST, NOT_ROBUST, ROBUST, NOT_ROBUST)
    ]
    assert found == [0, 1, 0, 1] and rows("k.db") == 2


# Damage


def check_again(*files: str, jobs: str = "1") -> tuple[int, list[dict[str, Any]], str]:
    noted.clear()
    found = CliRunner().invoke(cli, ["check", *files, "--format", "json", "--resume", "kept.db", "--jobs", jobs])
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    assert "Traceback" not in found.output and "Aborted" not in found.output, found.output
    return found.exit_code, [json.loads(line) for line in found.stdout.splitlines()], found.stderr


class Evil:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, ("touch evil",)


def sealed(change: Callable[[dict[str, Any]], object]) -> Callable[[str, bytes], object]:
    """A result that has been ``changed``, behind the right digest."""

    def made(key: str, stored: bytes) -> object:
        result = change(json.loads(store._unpacked(key, stored)))
        return store._packed(key, result if isinstance(result, str) else json.dumps(result))

    return made


def flipped(place: float) -> Callable[[str, bytes], object]:
    def made(key: str, stored: bytes) -> object:
        at = int(place * (len(stored) - 1))
        return stored[:at] + bytes((stored[at] ^ 1 << at % 8,)) + stored[at + 1 :]

    return made


def with_digest(packed: bytes) -> Callable[[str, bytes], object]:
    return lambda key, stored: hashlib.sha256(key.encode() + packed).digest() + packed


ENTRIES: dict[str, Callable[[str, bytes], object]] = {
    "null": lambda key, stored: None,
    "an integer": lambda key, stored: 7,
    "a double": lambda key, stored: 0.5,
    "a text": lambda key, stored: "robust",
    "empty": lambda key, stored: b"",
    "a few bytes": lambda key, stored: stored[:10],
    "the digest alone": lambda key, stored: stored[:32],
    "half": lambda key, stored: stored[: len(stored) // 2],
    "a byte less": lambda key, stored: stored[:-1],
    "a byte more": lambda key, stored: stored + b"x",
    "zeros": lambda key, stored: bytes(len(stored)),
    "noise": lambda key, stored: random.Random(7).randbytes(len(stored)),
    "a pickle": lambda key, stored: pickle.dumps({"verdict": "robust"}),
    "a packed pickle that runs code": lambda key, stored: zlib.compress(pickle.dumps(Evil())),
    "a sealed pickle that runs code": with_digest(zlib.compress(pickle.dumps(Evil()))),
    "another one's": lambda key, stored: store._packed("another", store._unpacked(key, stored)),
    "not packed": with_digest(b'{"verdict": "robust"}'),
    "packed in part": lambda key, stored: with_digest(stored[32:-5])(key, stored),
    "not in UTF-8": with_digest(zlib.compress(b'{"verdict": "\xff"}')),
    "no JSON": sealed(lambda result: "robust"),
    "no value": sealed(lambda result: " "),
    "two values": sealed(lambda result: json.dumps(result) * 2),
    "a list": sealed(lambda result: [result]),
    "nested without end": sealed(lambda result: 100_000 * "["),
    "a number of 5000 digits": sealed(lambda result: 5_000 * "1"),
    "of another schema": sealed(lambda result: result | {"schema": 999}),
    "without a key": sealed(lambda result: {key: each for key, each in result.items() if key != "engine"}),
    "with a wrong type": sealed(lambda result: result | {"nodes": [2]}),
    "with no verdict": sealed(lambda result: result | {"verdict": "fine"}),
    "about races": sealed(lambda result: result | {"races": [], "verdict": "no race"}),
    "a run": sealed(lambda result: result | {"engine": "run", "seed": 1}),
    **{f"a bit flipped at {place}": flipped(place) for place in (0, 0.1, 0.3, 0.5, 0.7, 0.9, 1)},
}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_damaged_result_is_computed_again_and_reported(folder: Path, jobs: str) -> None:
    """One is damaged in each way, and every third is whole."""
    damages = [damage for pair in zip(*2 * [iter(ENTRIES.values())], strict=True) for damage in (*pair, None)]
    names = [f"{number}.pgas" for number in range(len(damages))]
    for number, name in enumerate(names):
        Path(name).write_text(f"{(ROBUST, NOT_ROBUST)[number % 2]} // {number}")
    _, before, _ = check_again(*names)
    with closing(sqlite3.connect("kept.db")) as connection, connection:
        for key, stored in connection.execute("select key, result from results").fetchall():
            damage = damages[names.index(json.loads(store._unpacked(key, stored))["file"])]
            if damage is not None:
                connection.execute("update results set result = ? where key = ?", (damage(key, stored), key))
    code, after, stderr = check_again(*names, jobs=jobs)
    assert code == 1
    damaged = [name for name, damage in zip(names, damages, strict=True) if damage is not None]
    assert len(damaged) >= 24 and (jobs == "2" or noted == damaged)
    for name, one, other in zip(names, before, after, strict=True):
        assert (other["file"], other["verdict"]) == (name, one["verdict"])
        said = stderr.count(f"pgasrob: kept.db: the result for {name} is damaged (")
        assert said == (name in damaged), f"{list(ENTRIES)[damaged.index(name)]}: {stderr}"
    assert not Path("evil").exists()
    assert check_again(*names) == (1, after, QUIET) and noted == [], "they are kept again"


def noise(seed: int, length: int = 64) -> Callable[[bytes], bytes]:
    """Some bytes behind the header are others."""

    def made(whole: bytes) -> bytes:
        draw = random.Random(seed)
        at = draw.randrange(100, len(whole) - length)
        return whole[:at] + draw.randbytes(length) + whole[at + length :]

    return made


FILES: dict[str, Callable[[bytes], bytes]] = {
    "half": lambda whole: whole[: len(whole) // 2],
    "the header alone": lambda whole: whole[:100],
    "a page less": lambda whole: whole[:-4096],
    "the second page of zeros": lambda whole: whole[:4096] + bytes(4096) + whole[8192:],
    "the first page of zeros": lambda whole: whole[:100] + bytes(3996) + whole[4096:],
    "a page of noise": lambda whole: whole[:4096] + random.Random(7).randbytes(4096) + whole[8192:],
    "another key": lambda whole: re.sub(rb"[0-9a-f]{64}", lambda found: found[0][::-1], whole, count=1),
    **{f"noise {seed}": noise(seed) for seed in range(8)},
}


@pytest.mark.parametrize("damage", FILES)
def test_a_damaged_file_is_set_aside_and_reported(folder: Path, damage: str) -> None:
    """Or only what is damaged in it, where SQLite can read the rest. What is taken from it is what was found."""
    Path("a.pgas").write_text(ROBUST)
    Path("b.pgas").write_text(NOT_ROBUST)
    _, before, _ = check_again("a.pgas", "b.pgas")
    whole = Path("kept.db").read_bytes()
    Path("kept.db").write_bytes(FILES[damage](whole))
    code, after, stderr = check_again("a.pgas", "b.pgas")
    assert code == 1 and [each["verdict"] for each in after] == ["robust", "not robust"]
    assert [one for one in before if one["file"] not in noted] == [one for one in after if one["file"] not in noted]
    assert bool(noted) == ("damaged" in stderr)
    assert ("it is kept.db.damaged now" in stderr) == Path("kept.db.damaged").exists()
    assert check_again("a.pgas", "b.pgas")[1] == after and noted == []


def test_what_is_no_file_of_ours_stays(folder: Path) -> None:
    """A damaged database of somebody else, and one with a table of this name."""
    Path("a.pgas").write_text(ROBUST)
    check_again("a.pgas")
    whole = Path("kept.db").read_bytes()
    others = {"damaged": whole[:68] + b"abcd" + whole[72:100], "none": b"x" + whole[1:]}
    others["theirs"] = whole[:68] + b"abcd" + whole[72:]
    for name, text in others.items():
        Path(name).write_bytes(text)
        result = CliRunner().invoke(cli, ["check", "a.pgas", "--resume", name])
        assert result.exit_code == 2 and f"pgasrob: cannot keep results in {name}: " in result.stderr, name
        assert Path(name).read_bytes() == text and not Path(f"{name}.damaged").exists()
    for table, says in (("results", "no such column: key"), ("places", "it is a database of another program")):
        with closing(sqlite3.connect(f"{table}.db")) as connection, connection:
            connection.execute(f"create table {table} (name text)")
        result = CliRunner().invoke(cli, ["check", "a.pgas", "--resume", f"{table}.db"])
        assert result.exit_code == 2 and says in result.stderr


def test_a_result_that_would_be_read_as_another_is_not_kept(folder: Path) -> None:
    """As with the name of a file that is no text, which JSON has no form for."""
    names = ["a.pgas", os.fsdecode(b"\xff.pgas")]
    for name in names:
        Path(name).write_text(ROBUST)
    for _ in range(2):
        assert [each["verdict"] for each in results(*names)] == ["robust"] * 2
    assert noted.count(names[0]) == 1 and said == []
