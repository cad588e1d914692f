"""`pgasrob check --certificate` and `pgasrob certify`: what is written and printed, exit codes, wrong usage."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import NoReturn

import pytest
from click.testing import CliRunner, Result

from pgasrob import file_input
from pgasrob.certificates import certificate_files as files
from pgasrob.cli import cli
from pgasrob.robustness.watch import Progress

PROGRAMS = Path(__file__).parents[2] / "programs"
HALO = str(PROGRAMS / "halo" / "halo.pgas")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def test_what_is_written_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    assert run("check", HALO, "-n", "3", "--certificate", str(path)).exit_code == 0
    found = json.loads(path.read_text())
    assert (found["name"], found["nodes"], found["failed_polls"], found["kind"]) == ("halo", 3, "wait", "infeasibility")
    result = run("certify", HALO, str(path))
    assert result.exit_code == 0
    assert "robust on 3 nodes, read with --failed-polls wait --conflicts commuting" in result.output
    assert "accepted by 12 infeasible sources" in result.output


def lasts_for_ever(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have something of the checker take for ever without a stop point, from when on there is no time and no memory
    left."""
    from pgasrob.robustness import watch

    begun: list[bool] = []

    def for_ever(*ignored: object) -> NoReturn:
        begun.append(True)
        while True:
            pass

    monkeypatch.setattr(f"pgasrob.certificates.check.{place}", for_ever)
    monkeypatch.setattr(watch, "HARD", 0.1)
    monkeypatch.setattr(watch, "perf_counter", lambda: 1e6 * len(begun))
    monkeypatch.setattr(watch, "resident_memory", lambda: 10**10 * len(begun))


def test_the_reading_is_that_of_the_check(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    assert (
        run("check", HALO, "--failed-polls", "count", "--conflicts", "all", "--certificate", str(path)).exit_code == 0
    )
    assert "--failed-polls count --conflicts all" in run("certify", HALO, str(path)).output


def test_every_number_of_nodes(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    assert run("check", HALO, "--nodes", "all", "--certificate", str(path)).exit_code == 0
    found = json.loads(path.read_text())
    assert (found["nodes"], found["frame"], len(found["parts"])) == ("all", [0, 1, 1], 2 + 3)
    result = run("certify", HALO, str(path))
    assert result.exit_code == 0 and "robust on every number of nodes, read with" in result.output
    del found["parts"][0]
    path.write_text(json.dumps(found))
    assert run("certify", HALO, str(path)).exit_code == 1


def test_what_the_checker_knows_too_little_of(tmp_path: Path) -> None:
    """Robust by views of two ranks."""
    path, program = tmp_path / "c.json", PROGRAMS / "one_to_one" / "one_to_one_flag.pgas"
    result = run("check", str(program), "--nodes", "all", "--certificate", str(path))
    assert result.exit_code == 3 and not path.exists()
    assert "no certificate is written: the proof needs more of values, or of two ranks at once" in result.output


def test_c(tmp_path: Path) -> None:
    """One trace: a run, and behind each source a state at which nothing leads to a violation."""
    source, path = str(PROGRAMS / "c" / "openshmem" / "stencil.c"), tmp_path / "c.json"
    assert run("check", source, "--certificate", str(path)).exit_code == 0
    assert "states" in run("certify", source, str(path)).output


def test_what_is_not_robust_has_none(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    assert run("check", str(PROGRAMS / "halo" / "halo_no_wait.pgas"), "--certificate", str(path)).exit_code == 1
    assert not path.exists()


def test_what_would_be_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pgasrob.certificates import write

    path = tmp_path / "c.json"
    lock = str(PROGRAMS / "ticket_lock" / "ticket_lock.pgas")
    monkeypatch.setattr(write, "MOST_ACCESSES", -1)
    monkeypatch.setattr(write.write, "__defaults__", (*write.write.__defaults__[:1], 10, str))
    result = run("check", lock, "--certificate", str(path))
    assert result.exit_code == 3 and not path.exists()
    assert "no certificate is written: more than 10 states would have to be listed" in result.output


@pytest.mark.parametrize(
    "place", ["command_effects.Known.closes", "command_effects.Values.demands", "states.States.disturber"]
)
@pytest.mark.parametrize(
    ("option", "message"), [("--timeout=9000", "time limit of 9000 s"), ("--memory-limit=1GB", "memory limit of 1 GB")]
)
def test_limits_hold_while_it_is_written(
    place: str, option: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the writer is."""
    lasts_for_ever(place, monkeypatch)
    path, source = tmp_path / "c.json", str(PROGRAMS / "all_to_all" / "all_to_all.pgas")
    result = run("check", source, option, "--certificate", str(path))
    assert result.exit_code == 3 and not path.exists()
    assert f"no certificate is written: the {message} was reached while writing it" in result.output


@pytest.mark.parametrize("place", ["accept.read", "command_effects.Known.closes", "command_effects.Values.demands"])
@pytest.mark.parametrize(
    ("option", "message"), [("--timeout=9000", "time limit of 9000 s"), ("--memory-limit=1GB", "memory limit of 1 GB")]
)
def test_limits_hold_while_it_is_checked(
    place: str, option: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "c.json")
    assert run("check", HALO, "--certificate", path).exit_code == 0
    lasts_for_ever(place, monkeypatch)
    result = run("certify", HALO, path, option)
    assert result.exit_code == 3
    assert f"{HALO}: undecided: the {message} was reached while checking it" in result.output


def test_what_is_at_work_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal, of each source and each state in its turn."""
    from pgasrob.robustness import watch

    message: list[tuple[str, str]] = []
    monkeypatch.setattr(watch, "LOOK_AROUND", -1.0)
    for command in ("check", "certify"):
        note = lambda progress: message.append((progress.phase, progress.doing))  # noqa: E731
        monkeypatch.setattr(f"pgasrob.cli.{command}.progress_display", lambda *_, note=note: Display(note))
    path, source = str(tmp_path / "c.json"), str(PROGRAMS / "faults" / "unreachable_fault.pgas")
    assert run("check", source, "--certificate", path).exit_code == 0
    assert run("certify", source, path).exit_code == 0
    written = [doing for phase, doing in message if phase == "writing the certificate"]
    checked = [doing for phase, doing in message if phase == "checking the certificate"]
    assert written[0].startswith("source 1 of ") and " states, and " in written[-1]
    assert checked[0].startswith("source 1 of ") and checked[-1].startswith("state ")
    _, number, _, count = checked[-1].split()
    assert int(number) == int(count) - 1


class Display:
    """A display that passes on to ``note`` what it gets."""

    def __init__(self, note: Callable[[Progress], None]) -> None:
        self.note = note

    def __call__(self, title: str) -> AbstractContextManager[Callable[[Progress], None]]:
        return nullcontext(self.note)

    def clear(self) -> None:
        pass


def test_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is packed is the same text, and the same bytes each time; what is no such file is refused."""
    plain, packed = tmp_path / "c.json", tmp_path / "c.json.gz"
    for path in (plain, packed):
        assert run("check", HALO, "--certificate", str(path)).exit_code == 0
    first = packed.read_bytes()
    assert gzip.decompress(first) == plain.read_bytes() and len(first) < plain.stat().st_size / 2
    assert run("certify", HALO, str(packed)).exit_code == 0
    files.store(str(packed), plain.read_text())
    assert packed.read_bytes() == first
    message = "refused: it is not packed with gzip"
    for other in (plain.read_bytes(), first[:-9], first[:30] + b"\xff\xff" + first[32:]):
        packed.write_bytes(other)
        result = run("certify", HALO, str(packed))
        assert result.exit_code == 1 and message in result.output, other
    packed.write_bytes(first)
    monkeypatch.setattr(file_input, "LARGEST", 1_000)  # fewer than there are when it is unpacked
    for path in (plain, packed):
        result = run("certify", HALO, str(path))
        assert result.exit_code == 2 and "cannot be read: it is larger than 1000 bytes" in result.output
        path.unlink()
        result = run("check", HALO, "--certificate", str(path))
        assert result.exit_code == 3 and not path.exists() and "it would be longer than 1000 bytes" in result.output


def test_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    run("check", HALO, "--certificate", str(path))
    other = run("certify", str(PROGRAMS / "halo" / "halo_no_wait.pgas"), str(path))
    assert other.exit_code == 1 and "refused: it is about another program" in other.output
    path.write_bytes(b"\xff")
    assert run("certify", HALO, str(path)).exit_code == 1


def test_wrong_usage(tmp_path: Path) -> None:
    path = str(tmp_path / "c.json")
    assert run("certify", HALO, path).exit_code == 2  # there is none
    run("check", HALO, "--certificate", path)
    (tmp_path / "p.pgas").write_text("program")
    assert run("certify", str(tmp_path / "p.pgas"), path).exit_code == 2
    for arguments in (("-n", "2..3"), ("--cpu", "tso"), (str(PROGRAMS / "ring"),)):
        assert run("check", HALO, *arguments, "--certificate", path).exit_code == 2
