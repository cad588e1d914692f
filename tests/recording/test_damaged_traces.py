"""A trace is an untrusted input: what is wrong with it is found, said, and does no harm; what comes before is answered
for."""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from pgasrob import twins
from pgasrob.cli import cli
from pgasrob.frontends.options import FrontEnd
from pgasrob.program.reading import DEFAULT_READING
from pgasrob.recording.recorded_answers import alarm_lines, check_trace, trace_races
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import Races
from pgasrob.runtime.record.records import TraceError
from pgasrob.runtime.record.trace_appendix import Appendix, appendix_of
from pgasrob.runtime.record.trace_reader import ABOUT, APPENDIX, HEADER_BYTES, Trace
from tests.recording.damaged_traces import SAMPLES, appendix, damaged, packed, records, samples, sealed
from tests.support import examples

pytestmark = pytest.mark.skipif(not twins.available(), reason="the kernel is not built")

LIMITS = Limits(timeout=5.0, memory=500_000_000)
NOT_ROBUST = "message_passing_no_fence"
END, RUN = 0x3F, 0x06
COMMANDS = (("check",), ("race", "--all"), ("race", "--analysis", "must-rma"), ("check", "--brief"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A trace with a violation, between lines 17 and 21."""
    path = tmp_path / "run.pgastrace"
    path.write_bytes(next(sample for sample in samples() if NOT_ROBUST.encode() in sample))
    return path


def test_samples_are_read(tmp_path: Path) -> None:
    path = tmp_path / "run.pgastrace"
    verdicts = {}
    for file, content in zip(sorted(SAMPLES.glob("*.pgastrace.xz")), samples(), strict=True):
        path.write_bytes(content)
        verdicts[file.name.partition(".")[0]] = check_trace(str(path)).verdict
        assert sealed(content) == content == packed(content, records(path))
    assert verdicts == {
        "barrier_halo": "not robust", "figure_1": "robust", "message_passing_no_fence": "not robust",
        "mpi_calls": "not robust", "openshmem_calls": "not robust", "transpose_sync": "not robust",
    }  # fmt: skip


def test_whatever_is_damaged_is_said(tmp_path: Path) -> None:
    """At random: exit codes are those of the manual, limits hold, and what was changed by accident never passes for a
    trace that is robust or has no races."""
    of, path = samples(), tmp_path / "run.pgastrace"
    codes = set()
    for seed in range(examples(120)):
        random = Random(seed)
        sample = random.choice(of)
        content = damaged(random, sample)
        path.write_bytes(content)
        accident = len(content) < HEADER_BYTES or (content != sample and content != sealed(content))
        command = random.choice(COMMANDS)
        result = CliRunner().invoke(cli, [*command, str(path), "--timeout", "5"])
        assert result.exception is None or isinstance(result.exception, SystemExit), seed
        assert result.exit_code in ((1, 2, 3) if accident else (0, 1, 2, 3)), (seed, result.output)
        codes.add(result.exit_code)
    assert {1, 2} <= codes


def changed(form: str, place: int, value: int) -> Callable[[bytearray], None]:
    return lambda trace: struct.pack_into(form, trace, place, value)


def with_appendix(text: bytes) -> Callable[[bytearray], None]:
    def change(trace: bytearray) -> None:
        at, _ = appendix(trace)
        trace[at:] = text
        struct.pack_into("<QQ", trace, APPENDIX, at, len(text))

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (changed("<I", 12, 16), "damaged at byte 12: the size of its chunks"),
        (changed("<I", 12, 1 << 31), "damaged at byte 12: the size of its chunks"),
        (changed("<I", 16, 0), "damaged at byte 16: it has 0 ranks"),
        (changed("<I", 16, 1 << 31), "damaged at byte 16: it has 2147483648 ranks"),
        (changed("<I", 20, 0), "damaged at byte 20: the API of the program is not known"),
        (changed("<I", 24, 77), "damaged at byte 24: how the run has ended is not known"),
        (changed("<I", 8, 9), "of version 9"),
        (changed("<Q", 64, 3), "the numbers of its records are out of order"),
        (changed("<Q", APPENDIX, 5000), "damaged at byte 40: the place of its appendix"),
    ],
)
def test_headers(path: Path, change: Callable[[bytearray], None], said: str) -> None:
    content = bytearray(path.read_bytes())
    change(content)
    for damage in (content, sealed(content)):
        path.write_bytes(damage)
        for command in ("check", "race"):
            result = CliRunner().invoke(cli, [command, str(path)])
            assert result.exit_code == 2 and (damage is content or said in " ".join(result.output.split()))


def test_a_rank_that_is_not_there(path: Path) -> None:
    """The others never get past the first barrier, so nothing is known of what they did next."""
    content = bytearray(path.read_bytes())
    struct.pack_into("<I", content, 16, 3)
    path.write_bytes(sealed(content))
    found = check_trace(str(path))
    assert (found.verdict, found.nodes) == ("unknown", 3) and "went on before all had come" in str(found.reason)


@pytest.mark.parametrize("text", [b"[]", b"{", b"7", b"[" * 100_000, b'{"files": [], "functions": [], "sites": 1}'])
def test_what_stands_behind_the_records(path: Path, text: bytes) -> None:
    """Without lines there are answers, too."""
    content = bytearray(path.read_bytes())
    at, _ = appendix(content)
    with_appendix(text)(content)
    path.write_bytes(content)
    found = check_trace(str(path))
    assert found.verdict == "not robust" and f"damaged at byte {at}: its list of lines" in str(found.reason)
    assert trace_races(str(path), Races(every=True)).verdict == "race"
    content[ABOUT:HEADER_BYTES] = text[:100].ljust(HEADER_BYTES - ABOUT, b"\0")
    path.write_bytes(content)
    assert check_trace(str(path)).program == path.name


@pytest.mark.parametrize(
    "wrong",
    [
        {"files": [1]}, {"functions": {}}, {"sites": [[0, 1, 2]]}, {"sites": [[0, 1, 9, 1, -1]]},
        {"sites": [[0, 1, -2, 1, -1]]}, {"sites": [[0, "1", 0, 1, 0]]}, {"sites": [[0, 1, 0, -5, 0]]},
        {"sites": [[0, 1, 0, 1 << 70, 0]]}, {"symbols": [[0, 1, 2]]}, {"symbols": [[0, 1, True, "x"]]}, {"hashes": []},
        {"hashes": {"a": "b"}}, {"sums": [-1]}, {"sums": {}}, {"root": 1},
    ],
)  # fmt: skip
def test_lists_of_another_form(wrong: dict[str, object]) -> None:
    right = {"files": ["a.c"], "functions": ["f"], "sites": [[0, 1, 0, 3, -1]], "symbols": []}
    assert list(appendix_of(json.dumps(right).encode()).sites.values()) == [("a.c", 3, "")]
    with pytest.raises(ValueError):  # noqa: PT011  # any of its subclasses
        appendix_of(json.dumps({**right, **wrong}).encode())


def last_record(log: list[bytes]) -> bytes:
    assert log[-1][0] == END
    return log[-1]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([b"\x7f" + bytes(7)], "a record of kind 0x7f, which is not known"),
        ([struct.pack("<QQ", 0x10 | 99 << 8 | 2 << 16, 0)], "a record of a wrong length"),
        ([struct.pack("<QQQ", 0x10 | 99 << 8 | 3 << 16, 0, 0)], "a call of an operation 99, which is not known"),
        ([struct.pack("<QQQ", 0x10 | 7 << 8 | 3 << 16, 0, 0)], "a call with 0 operands"),
        ([struct.pack("<QQQ", 0x10 | 255 << 8 | 3 << 16, 0, 77)], "it names a text that is not there"),
        ([struct.pack("<QQ", 0x11 | 8 << 8 | 2 << 16, 0)], "a return of a call that is not there"),
        ([struct.pack("<QQ", 1 | 2 << 8 | 1 << 16, 1 << 31 | 99)], "it names a place in the program that is not there"),
        ([struct.pack("<QQ", 1 | 2 << 8 | ((1 << 48) - 1) << 16, 0)], "an access that cannot be"),
        ([struct.pack("<6Q", 5 | 3 << 8 | 1 << 16, 18 << 32, 0, 0, 0, 0)], "an atomic update that is not known"),
        ([struct.pack("<4Q", RUN | 1 << 8 | 4 << 16, 1 << 50, 1, 8 << 32)], "accesses of a loop that cannot be"),
        ([struct.pack("<4Q", RUN | 2 << 8 | 4 << 16, 1, 1, 0)], "a record of a wrong length"),
        ([struct.pack("<QQQ", 0x23 | 3 << 16 | 2 << 32, 9, 7)], "rank 7, which is not there"),
        ([struct.pack("<QQQ", 0x23 | 3 << 16 | 2 << 32, 9, 0)], "a group that has a rank twice"),
        ([struct.pack("<QQ", 0x23 | 2 << 16 | 2 << 32, 9)], "a group of a wrong length"),
        ([struct.pack("<QQQ", 0x21 | 3 << 16, 5, 0)], "a place in a module that is not there"),
        ([struct.pack("<7Q", 0x24 | 6 << 8 | 7 << 16, 0, 1, 1, 0, 0, 0)], "a region of kind 6, which is not known"),
        ([struct.pack("<7Q", 0x24 | 5 << 8 | 7 << 16, 0, 1, 1, 0, 2, 0)], "rank 2, which is not there"),
        ([struct.pack("<7Q", 0x24 | 1 << 8 | 7 << 16, 0, 1, 1 << 63, 0, 0, 0)], "an address that no memory has"),
        ([struct.pack("<QQ", END, 0)], "the numbers of its records are out of order"),
    ],
)
def test_records(path: Path, wrong: list[bytes], said: str) -> None:
    """The same in front of the last record of rank 0, behind what makes the run not robust."""
    logs = records(path)
    logs[0, 0] = [*logs[0, 0][:-1], *wrong, logs[0, 0][-1]]
    path.write_bytes(packed(path.read_bytes(), logs))
    with Trace(path) as trace, pytest.raises(TraceError, match=f"damaged at byte [0-9]*: {said}"):
        list(trace.in_order())
    found = check_trace(str(path))
    assert found.verdict == "not robust" and f": {said}" in str(found.reason) and "not looked at" in str(found.reason)
    races = trace_races(str(path), Races(every=True))
    assert races.verdict == "race" and f": {said}" in str(races.reason)
    logs[0, 0] = [*wrong, *logs[0, 0]]  # and before it
    path.write_bytes(packed(path.read_bytes(), logs))
    found = check_trace(str(path))
    byte = HEADER_BYTES + 32 + 16 * (wrong[0][0] == END)
    assert found.verdict == "error" and f"damaged at byte {byte}" in str(found.reason)


def test_what_comes_before_damage_is_answered_for_without_a_barrier_behind_it(path: Path) -> None:
    """Rank 1 has read what makes the run not robust, and nothing else is whole."""
    logs = records(path)
    last = max(index for index, record in enumerate(logs[1, 0]) if record[0] == 1)
    logs[1, 0] = [*logs[1, 0][: last + 1], b"\x7f" + bytes(7)]
    path.write_bytes(packed(path.read_bytes(), logs))
    assert check_trace(str(path)).verdict == "not robust"
    assert [race.lines for race in trace_races(str(path), Races(every=True)).races] == [(17, 21)]
    logs[1, 0] = [*logs[1, 0][: last - 1], b"\x7f" + bytes(7)]  # neither of two longs is read
    path.write_bytes(packed(path.read_bytes(), logs))
    assert check_trace(str(path)).verdict == "error"


def test_operands(path: Path) -> None:
    """Of the first put each: what no library is called with is found, and all else is answered for."""
    logs = records(path)
    put = next(index for index, record in enumerate(logs[0, 0]) if record[:2] == b"\x10\x01")
    said = set()
    for operand in range(12):
        for value in (1 << 48, 1 << 63, (1 << 64) - 1, 7, 0):
            record = bytearray(logs[0, 0][put])
            struct.pack_into("<Q", record, 24 + 8 * operand, value)
            changed = [*logs[0, 0][:put], bytes(record), *logs[0, 0][put + 1 :]]
            path.write_bytes(packed(path.read_bytes(), {**logs, (0, 0): changed}))
            found = check_trace(str(path), limits=LIMITS)
            why = str(found.reason).partition(": ")[2] if found.verdict == "error" else found.verdict
            said.add(re.sub("-?[0-9]{5,}", "N", why))
    counts, sides = ("block", "blocks", "element", "local block", "local blocks"), ("local", "remote")
    assert said == {
        *("not robust", "robust", "unknown"),
        *(f"rank {rank}, which is not there" for rank in ("N", "7", "-1")),
        *(f"shmem_long_put with N for {name}" for name in (*counts, *sides, "stride", "local stride")),
        *(f"shmem_long_put with -1 for {name}" for name in (*counts, *sides)),
    }


def test_bytes_that_were_changed_later_are_found(path: Path) -> None:
    """Each byte of each record: nothing else says of a value, an address, a line that it is another one now."""
    content = path.read_bytes()
    at, _ = appendix(content)
    places = [place for place in range(HEADER_BYTES, at) if content[place]]
    for place in Random(0).sample(places, 40):
        path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        assert check_trace(str(path)).verdict != "robust" and "damaged at byte" in str(check_trace(str(path)).reason)
    line = content.index(b"17,", at)
    path.write_bytes(content[:line] + b"19," + content[line + 3 :])
    assert "its list of lines cannot be read (it is not what was written)" in str(check_trace(str(path)).reason)
    path.write_bytes(content[:28] + b"\1" + content[29:])
    assert "its first 4096 bytes are not what was written" in str(check_trace(str(path)).reason)


def test_traces_that_are_cut_off(path: Path) -> None:
    """What was recorded before is answered for, and it is said where the rest is missing."""
    content = path.read_bytes()
    logs = records(path)
    at, length = appendix(content)
    verdicts = set()
    for end in (0, 100, HEADER_BYTES, *range(HEADER_BYTES + 40, at, 1000), at, at + 1, at + length - 1):
        path.write_bytes(content[:end])
        found = check_trace(str(path))
        verdicts.add(found.verdict)
        assert found.verdict == "error" or (found.verdict == "not robust" and f"at byte {end}" in str(found.reason))
    assert verdicts == {"error", "not robust"}
    # Both orders of the chunks: the log that is whole comes first, or last.
    for order in (((0, 0), (1, 0)), ((1, 0), (0, 0))):
        trace = packed(content, {key: logs[key] for key in order})
        end, _ = appendix(trace)
        path.write_bytes(trace[: end - 4096])
        assert check_trace(str(path)).verdict == "error"


def test_chunks_that_are_missing_or_in_another_place(path: Path) -> None:
    """Strings make a log of three chunks."""
    logs = records(path)
    texts = [struct.pack("<Q", 0x20 | 300 << 16 | number << 32) + b"x" * 299 * 8 for number in range(1000, 1004)]
    logs[1, 0] = [*texts, *logs[1, 0]]
    content = packed(path.read_bytes(), {key: logs[key] for key in sorted(logs, reverse=True)})
    path.write_bytes(content)
    assert check_trace(str(path)).verdict == "not robust"
    first, second = HEADER_BYTES, HEADER_BYTES + 4096
    one, other = content[first:second], content[second : second + 4096]
    swapped = content[:first] + other + one + content[second + 4096 :]
    path.write_bytes(sealed(swapped))
    assert check_trace(str(path)).reason is None  # they say themselves which they are
    path.write_bytes(swapped)
    assert "4096 bytes that are not what was written" in str(check_trace(str(path)).reason)
    for lost, said in (
        (bytes(4096), f"damaged at byte {first + 8192}: a part of what rank 1 did is missing"),
        (one, "a part of what rank 1 did is missing"),
        (b"XXXX" + other[4:], "a part of what rank 1 did is missing"),
        (other[:4] + b"\7" + other[5:], "a part of what rank 1 did is missing"),
        (other[:32] + bytes(8) + other[40:], f"damaged at byte {second + 32}: a record without a first word"),
    ):
        path.write_bytes(sealed(content[:second] + lost + content[second + 4096 :]))
        found = check_trace(str(path))
        assert found.verdict == "error" and said in str(found.reason)


def test_excerpts_are_of_recorded_sources_alone(path: Path, tmp_path: Path) -> None:
    folder, secret = tmp_path / "sources", tmp_path / "secret.c"
    folder.mkdir()
    source = folder / "message.c"
    lines = [f"line {number} of it;" for number in range(1, 30)]
    for file in (source, secret):
        file.write_text("\n".join(lines))
    right = hashlib.sha256(source.read_bytes()).hexdigest()
    (folder / "link.c").symlink_to(secret)

    def shown(file: Path | str, root: Path | str, sum: str = right) -> bool:
        listed = {"files": [str(file)], "root": str(root), "hashes": {str(file): sum}}
        content = bytearray(path.read_bytes())
        at, length = appendix(content)
        text = json.loads(content[at : at + length])
        with_appendix(json.dumps({**text, **listed}).encode())(content)
        path.write_bytes(sealed(content))
        pages = [tmp_path / f"run.{ending}" for ending in ("sarif", "html", "txt", "json", "svg")]
        options = [word for page in pages for word in ("--witness", str(page))]
        result = CliRunner().invoke(cli, ["check", str(path), *options])
        races = CliRunner().invoke(cli, ["race", str(path), "--all"])
        assert result.exit_code == races.exit_code == 1
        outputs = [result.output, races.output, *(page.read_text() for page in pages)]
        return any("line 17 of it" in output for output in outputs)

    assert shown(source, folder)
    assert (
        not shown(secret, folder)
        and not shown(folder / "link.c", folder)
        and not shown(f"{folder}/../secret.c", folder)
    )
    assert not shown(source, "/") and not shown(source, "") and not shown(source, tmp_path / "elsewhere")
    assert not shown(source, folder, "0" * 64)
    source.write_text("\n".join([*lines, "and one more"]))
    assert not shown(source, folder)
    source.unlink()
    source.mkdir()
    assert not shown(source, folder)


def test_names_cannot_steer_a_terminal(path: Path) -> None:
    steers, shown = "x\x1b[31m\n.c", "x\\x1b[31m\\n.c"
    lists = {"files": [steers], "functions": [steers], "sites": [[0, 1, 0, 3, 0]], "symbols": [[0, 1, 2, steers]]}
    found = appendix_of(json.dumps(lists).encode())
    assert list(found.sites.values()) == [(shown, 3, shown)] and list(found.symbols) == [(0, 1, 2, shown)]
    logs = records(path)
    text = steers.encode().ljust(16, b"\0")
    logs[0, 0] = [struct.pack("<Q", 0x20 | 3 << 16 | 999 << 32) + text, *logs[0, 0]]
    content = bytearray(packed(path.read_bytes(), logs))
    content[ABOUT:HEADER_BYTES] = json.dumps({"command": [steers]}).encode().ljust(HEADER_BYTES - ABOUT, b"\0")
    path.write_bytes(sealed(content))
    with Trace(path) as trace:
        log = trace.logs()[0]
        list(log)
        assert log.strings[999] == shown
    assert check_trace(str(path)).program == path.name


def endless(path: Path) -> None:
    """A loop of 2 ** 60 loads in the log of rank 0."""
    logs = records(path)
    region = next(record for record in logs[0, 0] if record[0] == 0x24)
    (address,) = struct.unpack_from("<Q", region, 16)
    loop = struct.pack("<4Q", RUN | 1 << 8 | 4 << 16, 1 << 60, 1 | 3 << 8 | address << 16, 0)
    place = logs[0, 0].index(region) + 1
    logs[0, 0] = [*logs[0, 0][:place], loop, *logs[0, 0][place:]]
    path.write_bytes(packed(path.read_bytes(), logs))


def test_limits_hold_in_each_answer(path: Path) -> None:
    """Also where accesses are to memory that does not matter, and become no events."""
    endless(path)
    for limits, said in ((Limits(timeout=0.3), "time limit"), (replace(LIMITS, max_states=2000), "2,000 states")):
        answers = [check_trace(str(path), limits=limits), trace_races(str(path), Races(), limits=limits)]
        assert [answer.verdict for answer in answers] == ["unknown"] * 2
        lines, reason = alarm_lines(str(path), None, FrontEnd(), DEFAULT_READING, limits)
        assert all(said in why for why in (*(str(answer.reason) for answer in answers), str(reason))) and not lines
    result = CliRunner().invoke(cli, ["race", str(path), "--analysis", "must-rma", "--timeout", "0.4"])
    assert result.exit_code == 3 and "no answer by MUST-RMA: the time limit of 0.4 s" in " ".join(result.output.split())
    asked = ["race", str(path), "--analysis", "must-rma", "--timeout", "0.4", "--format", "json"]
    told = json.loads(CliRunner().invoke(cli, asked).output)
    assert told["must_rma"] == [] and told["must_rma_reason"].startswith("the time limit of 0.4 s was reached")


def test_the_reader_lets_itself_be_ended(path: Path) -> None:
    """By whom it calls, and not only by a thread that raises something in it."""
    endless(path)
    calls = 0

    def look() -> None:
        nonlocal calls
        calls += 1
        if calls > 10:
            raise KeyError

    with Trace(path, look) as trace, pytest.raises(KeyError):
        for _ in trace.in_order():
            pass


def test_no_source_without_a_list_of_them() -> None:
    assert Appendix().source("/etc/hostname") == ""
