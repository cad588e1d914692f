"""`pgasrob serve`: a page for strangers, whose programs read no file and take no more than they may."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="no starlette (pip install '.[test]')")
pytest.importorskip("uvicorn", reason="no uvicorn (pip install '.[test]')")
httpx = pytest.importorskip("httpx", reason="no httpx (pip install '.[test]')")

import anyio  # noqa: E402

from pgasrob.explore import answer_processes, answers, app, checked  # noqa: E402
from pgasrob.explore.answer_processes import Turn, Workers  # noqa: E402
from pgasrob.explore.app import Shown, application  # noqa: E402
from pgasrob.explore.asked_run import AskedRun, Reads, Refused  # noqa: E402
from pgasrob.explore.example_menu import example, menu  # noqa: E402
from pgasrob.explore.link import Linked  # noqa: E402
from pgasrob.explore.request_bounds import MOST_TEXT  # noqa: E402
from pgasrob.explore.service import Service  # noqa: E402
from pgasrob.frontends.options import FrontEnd  # noqa: E402
from pgasrob.program.reading import DEFAULT_READING  # noqa: E402
from tests.explore import serve_load  # noqa: E402
from tests.processes import children, gone, needs_proc  # noqa: E402

ROOT = Path(__file__).parents[2]
PORT = 4712
SERVE = Service("serve", port=PORT)
EVERYWHERE = Service("serve", "0.0.0.0", PORT)
HERE = f"http://127.0.0.1:{PORT}"
READS = Reads((("pgas", "program.pgas"), ("c", "program.c")), FrontEnd(), DEFAULT_READING, True)
HALO = (ROOT / "programs/c/mpi/barrier_halo.c").read_text()
TINY = "program tiny;\nnodes 2;\nprocess { skip; }\n"


def answered(what: str, text: str, language: str = "c", **changes: Any) -> tuple[int, dict[str, Any]]:
    """The answer that a process gives, but in this one, which goes on to read files."""
    asked = AskedRun(text, language, changes.pop("nodes", None), (), True, READS, **changes)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(answers.no_files, "from_now_on", lambda: None)
        patched.setattr(answers, "forget_if_larger", lambda _: None)  # this process is large by other tests
        status, found = answers.answer(what, asked, 60.0, 1 << 30)
    return status, json.loads(found)


class Directly(Workers):
    """Answers in this process."""

    async def answer(self, turn: Turn, asked: AskedRun) -> tuple[int, str]:
        status, found = answered(turn.what, asked.text, asked.language, nodes=asked.nodes)
        return status, json.dumps(found)


def ask(
    method: str, path: str, service: Service = SERVE, workers: Workers | None = None, times: int = 1, **options: Any
) -> Any:
    """The answer to one request, or the last of several."""
    shown = Shown("barrier_halo.c", Linked(HALO, "c", None, ()), FrontEnd(), DEFAULT_READING, alone=True)

    async def asked() -> Any:
        transport = httpx.ASGITransport(app=application(shown, service, workers or Directly(service)))
        async with httpx.AsyncClient(transport=transport, base_url=HERE) as client:
            for _ in range(times):
                answer = await client.request(method, path, **options)
            return answer

    return anyio.run(asked)


def position(**options: Any) -> Any:
    return ask("POST", "/position", json={"text": TINY, "language": "pgas"}, **options)


# --- Who is answered -------------------------------------------------------------------------------------------------


def test_the_page_is_for_all_and_may_do_little() -> None:
    answer, head = ask("GET", "/"), ask("HEAD", "/")
    assert (answer.status_code, head.status_code, head.text) == (200, 200, "")
    assert re.search(r"default-src 'none'; script-src 'sha256-", answer.headers["content-security-policy"])
    assert "access-control-allow-origin" not in answer.headers
    opening = json.loads(re.findall(r'id="opening">(.*?)</script>', answer.text)[0])
    assert (opening["file"], opening["text"], opening["language"]) == ("", HALO, "c")
    assert str(ROOT) not in answer.text


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "FOO"])
def test_other_methods_are_not_allowed(method: str) -> None:
    assert ask(method, "/").status_code == 405
    assert ask(method, "/check").status_code == 405


@pytest.mark.parametrize("path", ["/../README.md", "/%2e%2e/%2e%2e/etc/passwd", "/programs", "/example/x", "/x//"])
def test_no_path_leads_to_a_file(path: str) -> None:
    assert ask("GET", path).status_code in (404, 405)


def test_on_this_machine_other_names_are_refused() -> None:
    assert position(headers={"Host": "evil.example"}).status_code == 403
    assert position(headers={"Host": f"localhost:{PORT}", "Origin": f"http://localhost:{PORT}"}).status_code == 200
    assert position(headers={"Origin": "http://evil.example"}).status_code == 403


def test_on_port_80_no_address_has_a_port() -> None:
    headers = {"Host": "localhost", "Origin": "http://localhost"}
    assert [position(service=Service("serve", port=port), headers=headers).status_code for port in (80, 81)] == [
        200,
        403,
    ]


def test_elsewhere_it_has_any_name_and_other_origins_are_refused() -> None:
    headers = {"Host": "pgasrob.example", "Origin": "https://pgasrob.example"}
    assert position(service=EVERYWHERE, headers=headers).status_code == 200
    for origin in ("https://evil.example", "null", "https://pgasrob.example.evil.example", "https://pgasrob.example:1"):
        assert position(service=EVERYWHERE, headers={**headers, "Origin": origin}).status_code == 403, origin
    assert position(service=EVERYWHERE, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403


@pytest.mark.parametrize("host", ["x?", "x#", "x/check", "x/..", "[", "[::1", "x:y", "a b", "ü", "@", "x?/token/"])
def test_no_host_confuses(host: str) -> None:
    limited = Service("serve", "0.0.0.0", PORT, rate=5)
    headers = {"Host": host.encode(), "Content-Type": "application/json"}
    body = json.dumps({"text": TINY, "language": "pgas"})
    assert ask("POST", "/position", limited, times=5, content=body, headers=headers).status_code == 200
    assert ask("POST", "/check", limited, times=2, content=body, headers=headers).status_code == 429


def test_an_address_that_asks_too_much_is_asked_to_wait() -> None:
    limited = Service("serve", port=PORT, rate=10)
    body = {"text": TINY, "language": "pgas"}
    assert ask("POST", "/check", limited, times=2, json=body).status_code == 200
    refused = ask("POST", "/check", limited, times=3, json=body)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "30")
    assert refused.json()["wait"] == 30
    assert "an address may make 10 in a minute (a check counts for 5); ask again in 30 s" in refused.json()["refused"]
    assert position(service=limited, times=10).status_code == 200
    assert position(service=limited, times=11).status_code == 429


def test_a_body_says_once_how_long_it_is() -> None:
    content = json.dumps({"text": TINY, "language": "pgas"}).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(content))}
    assert ask("POST", "/position", headers=headers, content=content).status_code == 200
    twice = ask("POST", "/position", headers={**headers, "Transfer-Encoding": "chunked"}, content=content)
    assert (twice.status_code, twice.headers["connection"]) == (400, "close")


@pytest.mark.parametrize("columns", [39, 10**9, "80", True, None])
def test_widths_are_bounded(columns: object) -> None:
    body = {"text": TINY, "language": "pgas", "columns": columns}
    assert "`columns`" in ask("POST", "/check", json=body).json()["refused"]


# --- Answers ---------------------------------------------------------------------------------------------------------


def test_a_check_has_verdict_report_picture_and_the_choices_of_its_run() -> None:
    status, found = answered("check", HALO)
    assert status == 200
    assert (found["headline"], found["kind"]) == ("not correctly synchronised on 4 nodes: not robust", "not-robust")
    assert found["repairable"] and found["drawing"].startswith("<svg")
    report = ["".join(text for text, _ in line) for line in found["report"]]
    assert report[0] == f"program.c: {found['headline']}"
    assert max(len(line) for line in report) <= 80
    asked = AskedRun(HALO, "c", None, tuple(found["run"]), True, READS)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(answers.no_files, "from_now_on", lambda: None)
        shown = json.loads(answers.answer("position", asked, 10.0, 1 << 30)[1])
    assert shown["violating"] and shown["stop"] is None


def test_a_repair_has_the_changed_text_which_is_robust() -> None:
    status, found = answered("repair", (ROOT / "programs/one_to_one/one_to_one.pgas").read_text(), "pgas")
    assert (status, found["state"]) == (200, "repaired")
    assert answered("check", found["text"], "pgas")[1]["kind"] == "robust"
    status, found = answered("repair", TINY, "pgas")
    assert (found["state"], found["text"]) == ("robust", None)


def test_programs_for_many_nodes_are_refused_before_they_are_built() -> None:
    for text, language in (
        ("program p;\nnodes 4096;\nprocess { skip; }\n", "pgas"),
        (HALO.replace("nodes: 4", "nodes: 4096"), "c"),
    ):
        for what in ("position", "check", "repair", "violation"):
            status, found = answered(what, text, language)
            assert (status, "too many" in found["errors"][0]["message"]) == (422, True)


def test_a_drawing_that_is_too_large_is_left_out() -> None:
    text = (ROOT / "programs/one_to_one/one_to_one.pgas").read_text()
    title = "A run on the network that no SC run looks like, in which the assertion of rank 0 in line 14 fails"
    why = "events, too many to draw here"
    for name, most in (("MOST_DRAWING", 1_000), ("MOST_EVENTS", 8)):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(checked, name, most)
            status, found = answered("check", text, "pgas")
        assert (status, found["drawing"], found["title"]) == (200, "", f"{title} (12 {why})")
        assert found["run"] is not None


def test_a_report_that_is_too_long_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = answered("check", TINY, "pgas")[1]["report"]
    monkeypatch.setattr(checked, "MOST_REPORT", sum(len(text) for text, _ in whole[0]) + 1)
    found = answered("check", TINY, "pgas")[1]["report"]
    last = f"The last {len(whole) - 1} lines are left out: they are too many for this page."
    assert found == [whole[0], [[last, ""]]]


def test_an_answer_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MOST_ANSWER", 100)
    status, found = answered("check", TINY, "pgas")
    assert status == 503
    assert re.fullmatch(
        r"the answer has [\d,]+ characters, and at most 100 are sent; try fewer nodes", found["refused"]
    )


SHMEM, MAIN = "#include <shmem.h>\n", "int main(void) {{ shmem_init(); {} shmem_finalize(); return 0; }}\n"
HOSTILE = {
    "a bomb of macros": (
        SHMEM + "#define A0 x x x x x x x x\n" + "".join(f"#define A{i + 1} {f'A{i} ' * 9}\n" for i in range(9)) + "A9",
        "PG105",
    ),
    "a bomb of pasted tokens": (
        SHMEM + "#define P(a, b) a##b\n#define Q(x) P(x, x)\n" + MAIN.format("int " + "Q(" * 30 + "a" + ")" * 30 + ";"),
        "PG105",
    ),
    "a file that includes itself": ('#include "program.c"\n' * 2 + MAIN.format(""), "PG102"),
    "brackets": (SHMEM + MAIN.format(f"int x = {'(' * 30_000}1{')' * 30_000};"), "PG108"),
    "blocks": (SHMEM + MAIN.format("{" * 30_000 + "}" * 30_000), "PG108"),
    "signs": (SHMEM + MAIN.format("int x = " + "-" * 60_000 + "1;"), "PG108"),
    "conditions": (SHMEM + MAIN.format("int x = " + "1?" * 15_000 + "1" + ":1" * 15_000 + ";"), "PG108"),
    "pointers": (SHMEM + MAIN.format("int " + "*" * 60_000 + "p;"), "PG108"),
    "dimensions": (SHMEM + MAIN.format("int a" + "[2]" * 20_000 + ";"), "PG108"),
    "digits": (SHMEM + MAIN.format(f"long x = {'9' * 60_000};"), "PG106"),
    "an exponent": (SHMEM + MAIN.format("double x = 0x1p99999999;"), "PG106"),
    "a type without end": (
        SHMEM
        + "typedef char a0[1000000];"
        + "".join(f"typedef a{i} a{i + 1}[1000000];" for i in range(50))
        + MAIN.format("a50 x;"),
        "PG141",
    ),
    "a recursion": (SHMEM + "int f(int x) { return f(x + 1); }\n" + MAIN.format("f(0);"), "PG145"),
    "a loop of 2^64 rounds": (
        SHMEM + MAIN.format("for (unsigned long i = 0; i < 18446744073709551615UL; i++) ;"),
        "PG141",
    ),
    "zero bytes": (SHMEM + "\0" + MAIN.format(""), "PG101"),
    "marks of direction": (SHMEM + MAIN.format("int \u202ex;"), "PG101"),
    "control characters": ("".join(map(chr, range(32))) * 2_000, "PG101"),
    "an open comment": ("/*" * 30_000, "PG107"),
    "blanks": (" " * 65_536, "PG144"),
    "commands in a comment": ("/* " + "* api : " * 8_000 + "*/\n" + SHMEM + MAIN.format(""), "PG161"),
}
"""Texts in C with the code of the refusal."""
HOSTILE_PGAS = {
    "blocks": ("process {" + "loop {" * 9_000 + "}" * 9_000 + "}", "PG022"),
    "brackets": (f"register r; process {{ r <- {'(' * 30_000}1{')' * 30_000}; }}", "PG022"),
    "digits": (f"register r; process {{ r <- {'9' * 60_000}; }}", "PG016"),
    "memory": ("memory a[100000000]; process { mem[a] <- 1; }", "PG062"),
    "zero bytes": ("process { \0 }", "PG002"),
    "nodes": ("nodes 1000000000; process { skip; }", "PG031"),
    "nothing": ("", "PG003"),
}


@pytest.mark.parametrize(
    ("text", "code", "language"),
    [(*each, "c") for each in HOSTILE.values()] + [(*each, "pgas") for each in HOSTILE_PGAS.values()],
    ids=[*HOSTILE, *(f"{name} in .pgas" for name in HOSTILE_PGAS)],
)
def test_hostile_texts_are_refused(text: str, code: str, language: str) -> None:
    assert len(text) <= MOST_TEXT
    status, found = answered("check", text, language)
    assert (status, found["errors"][0]["code"]) == (422, code)


@pytest.mark.parametrize(
    "statement",
    [
        'char *s = "\ud800\udfff";', "int a[1 << 30] = {0}; a[5] = 1;", "long x = 1L << 100000000;",
        "long *p = shmem_malloc(1L << 40); shmem_long_p(p, 1, 0);", 'printf("%2000000000d", 1);',
        'char b[9]; snprintf(b, 9, "%.99999999f", 1.0);', 'system("touch FILE"); fopen("FILE", "w"); remove("FILE");',
    ],
)  # fmt: skip
def test_what_would_be_large_or_bad_when_executed_is_not_executed(statement: str, tmp_path: Path) -> None:
    text = f"{SHMEM}#include <stdio.h>\n#include <stdlib.h>\n" + MAIN.format(
        statement.replace("FILE", str(tmp_path / "new"))
    )
    status, found = answered("check", text)
    assert status == 200 and found["headline"]
    assert not [*tmp_path.iterdir()]


RUNS_AWAY = (
    SHMEM
    + "int f0(int x) { return x; }\n"
    + "".join(f"int f{i + 1}(int x) {{ return f{i}(x) + f{i}(x); }}\n" for i in range(40))
    + MAIN.format("f40(1);")
)


LARGE = (
    "#define P(a, b) a##b\n#define Z(a, b) P(a, b)\n#define Q(x) Z(x, x)\n"
    + f"#define BIG {'Q(' * 19}a{')' * 19}\n"
    + "int " + ", ".join(f"Z(BIG, {i})" for i in range(600)) + ";"
)  # fmt: skip
"""Half a megabyte for each name."""


@pytest.mark.parametrize(
    ("text", "seconds", "memory", "why"),
    [(RUNS_AWAY, 1.0, 4 << 30, "longer than 1 s"), (LARGE, 60.0, 200 << 20, "more memory than the 210 MB")],
)
def test_a_check_that_runs_away_is_ended(
    text: str, seconds: float, memory: int, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(answer_processes.SECONDS, "check", seconds)
    workers = Workers(Service("serve", memory=memory))
    asked = AskedRun(text, "c", None, (), True, READS)

    async def answer() -> None:
        await workers.answer(workers.turn("check"), asked)

    with pytest.raises(Refused) as refused:
        anyio.run(answer)
    assert (refused.value.status, why in str(refused.value)) == (503, True), refused.value


# --- No file is read -------------------------------------------------------------------------------------------------

SECRET = "int secret_of_the_host = 4711;"
WAYS = (
    '#include "{}"',
    "#include <{}>",
    '#import "{}"',
    '#include_next "{}"',
    '#define FILE "{}"\n#include FILE',
    "#define FILE <{}>\n#include FILE",
    '??=include "{}"',
    '%:include "{}"',
    '#inc\\\nlude "{}"',
    '#if __has_include("{}")\n#error there\n#endif',
    "#ifdef __has_include\n#if __has_include(<{}>)\n#error there\n#endif\n#endif",
    '#embed "{}"',
    '#if __has_embed("{}")\n#error there\n#endif',
    'const char text[] = {{\n#embed "{}"\n}};',
    '_Pragma("GCC dependency \\"{}\\"")',
    '#pragma GCC dependency "{}"',
    '#pragma include_alias("x.h", "{}")\n#include "x.h"',
    '#line 1 "{}"\nint x = ;',
    'asm(".incbin \\"{}\\"");',
    "// args: @{}\n",
    "// files: {}\n",
    "// -I{}\n// -include {}\n",
)
"""Ways in which a text may name a file."""


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_is_there_makes_no_difference(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there, missing = tmp_path / "there.h", tmp_path / "other.h"
    there.write_text(SECRET)
    (tmp_path / "alias.h").symlink_to(there)
    monkeypatch.chdir(tmp_path)
    main = "\n#include <shmem.h>\nint main(void) { shmem_init(); shmem_finalize(); return 0; }\n"
    up = "../" * 20
    for path in (str(there), f"file://{there}", f"{up}{there}", "there.h", "./there.h", "alias.h"):
        other = path.replace("there.h", "other.h").replace("alias.h", "other.h")
        assert not missing.exists()
        found = [
            answered("check", way.replace("{}", each).replace("{{", "{").replace("}}", "}") + main)
            for each in (path, other)
        ]
        said = [json.dumps(each).replace("there.h", "other.h").replace("alias.h", "other.h") for each in found]
        assert re.sub(r"\d\.\d\d s", "", said[0]) == re.sub(r"\d\.\d\d s", "", said[1]), path
        assert "4711" not in said[0]


@pytest.mark.parametrize("path", ["/etc/passwd", "/proc/self/environ", "/dev/zero", "/dev/stdin", "program.c"])
def test_files_of_the_system_are_not_there(path: str) -> None:
    status, found = answered("check", f'#include "{path}"\nint main(void) {{ return 0; }}\n')
    assert status == 422
    if path == "program.c":  # the text itself is there
        assert "does a file include itself" in found["errors"][0]["hint"]
    else:
        assert f'cannot find the header "{path}"' in found["errors"][0]["message"]
    assert "root" not in json.dumps(found)


def test_a_changed_text_reads_no_file_either(tmp_path: Path) -> None:
    """What is tried by a repair is read as the text was."""
    from pgasrob.diagnostics import SourceError
    from pgasrob.repairs.read_again import read

    (tmp_path / "there.h").write_text(SECRET)
    asked = AskedRun(HALO, "c", 2, (), True, READS)
    _, parse = read(asked.file, FrontEnd(), asked.files)
    assert parse(HALO).name == "program"
    with pytest.raises(SourceError, match="cannot find the header"):
        parse(f'#include "{tmp_path / "there.h"}"\n{HALO}')


WALL = """
import sys, os, socket, subprocess, json
from pgasrob.explore import no_files
from pgasrob.explore.answers import answer
from pgasrob.explore.asked_run import AskedRun, Reads
from pgasrob.frontends.options import FrontEnd
from pgasrob.program.reading import DEFAULT_READING
no_files.from_now_on()
link = sys.argv[1]
ways = {
    "read": lambda: open("/etc/passwd"),
    "read bytes": lambda: os.open(b"/etc/passwd", os.O_RDONLY),
    "environment": lambda: open("/proc/self/environ"),
    "up": lambda: open(os.path.join(os.path.dirname(os.__file__), "../" * 20, "etc/passwd")),
    "link": lambda: open(link),
    "list": lambda: os.listdir("/etc"),
    "scan": lambda: os.scandir("/"),
    "write": lambda: open(no_files.__file__, "a"),
    "create": lambda: os.open(os.path.join(os.path.dirname(no_files.__file__), "new"), os.O_CREAT),
    "truncate": lambda: os.open(no_files.__file__, os.O_TRUNC),
    "remove": lambda: os.remove(link),
    "folder": lambda: os.mkdir(link + "x"),
    "system": lambda: os.system("true"),
    "process": lambda: subprocess.run(["true"]),
    "fork": lambda: os.fork(),
    "connect": lambda: socket.create_connection(("127.0.0.1", 1)),
    "listen": lambda: socket.socket().bind(("127.0.0.1", 0)),
}
refused = []
for name, way in ways.items():
    try:
        way()
    except PermissionError as error:
        assert "here: " in str(error), (name, error)
        refused.append(name)
assert refused == list(ways), set(ways) - set(refused)
import wave, decimal  # what has not been imported yet can be
reads = Reads((("c", "program.c"),), FrontEnd(), DEFAULT_READING, True)
status, text = answer("check", AskedRun(sys.stdin.read(), "c", 2, (), True, reads), 10.0, 1 << 30)
print(status, json.loads(text)["headline"])
"""


def test_a_process_that_answers_opens_nothing_and_starts_nothing(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("/etc/passwd")
    ran = subprocess.run(
        [sys.executable, "-c", WALL, str(link)], input=HALO, text=True, capture_output=True, cwd=ROOT, check=False
    )
    assert (ran.stderr, ran.stdout) == ("", "200 not correctly synchronised on 2 nodes: not robust\n")
    assert link.is_symlink()


# --- Examples --------------------------------------------------------------------------------------------------------


def test_the_menu_has_programs_of_one_file() -> None:
    folders = dict(menu())
    assert next(iter(folders)) == "c/mpi" and "barrier_halo.c" in folders["c/mpi"]
    assert "one_to_one.pgas" in folders["one_to_one"]
    assert {"c/openshmem", "c/gaspi", "c/armci"} <= set(folders)
    assert sum(map(len, folders.values())) > 300


@pytest.mark.parametrize(
    "name",
    ["../README.md", "/etc/passwd", "c/mpi/../mpi/barrier_halo.c", "c/mpi", "", "c/mpi/barrier_halo.c\0", None, 7, []],
)
def test_an_example_is_one_of_the_menu(name: object) -> None:
    with pytest.raises(Refused, match="no such example"):
        example({"name": name})
    answer = ask("POST", "/example", json={"name": name})
    assert (answer.status_code, answer.json()) == (404, {"refused": "there is no such example"})


def test_an_example_comes_as_it_is() -> None:
    answer = ask("POST", "/example", json={"name": "c/mpi/barrier_halo.c"})
    assert answer.json() == {"name": "c/mpi/barrier_halo.c", "text": HALO, "language": "c"}


def test_every_example_of_the_menu_can_be_read() -> None:
    names = [f"{folder}/{name}" for folder, known in menu() for name in known]
    for name in names[::23]:
        asked = example({"name": name})
        status, found = answered("position", asked["text"], asked["language"])
        assert status == 200 or "too many" in found["errors"][0]["message"], (name, found)


# --- The queue -------------------------------------------------------------------------------------------------------


def test_who_waits_learns_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "WORKING_SECONDS", 0.01)
    release = anyio.Event()
    order: list[str] = []

    async def slow(*given: Any) -> tuple[int, str]:
        order.append(given[3])
        await release.wait()
        return 422, json.dumps({"what": given[3]})

    monkeypatch.setattr(answer_processes.bounded, "run", slow)
    service = Service("serve", port=PORT, at_once=1, waiting=3)
    found: dict[str, Any] = {}
    seen: set[Turn] = set()

    class Seen(Workers):
        def before(self, turn: Turn) -> int | None:
            seen.add(turn)
            return super().before(turn)

    async def asked() -> None:
        shown = Shown("x.c", Linked(HALO, "c", None, ()), FrontEnd(), DEFAULT_READING, alone=True)
        transport = httpx.ASGITransport(app=application(shown, service, Seen(service)))
        async with httpx.AsyncClient(transport=transport, base_url=HERE) as client:

            async def one(what: str) -> None:
                found[what] = await client.post(f"/{what}", json={"text": what, "language": "pgas"})

            async with anyio.create_task_group() as tasks:
                for number, what in enumerate(("check", "repair", "violation", "position"), 1):
                    tasks.start_soon(one, what)
                    while len(seen) < number:
                        await anyio.sleep(0.01)
                await anyio.sleep(0.05)
                full = await client.post("/check", json={"text": "", "language": "pgas"})
                assert (full.status_code, full.headers["retry-after"]) == (503, "5")
                assert full.json() == {"refused": "3 requests are waiting already; ask again in 5 seconds", "wait": 5}
                release.set()

    anyio.run(asked)
    assert order == ["check", "position", "violation", "repair"]  # what costs little goes first
    assert {answer.headers["content-type"] for answer in found.values()} == {"application/x-ndjson"}
    lines = {what: [json.loads(line) for line in answer.text.split("\n")] for what, answer in found.items()}
    assert {what: each[-1] for what, each in lines.items()} == {what: {"what": what} for what in order}
    assert {what: each[0]["before"] for what, each in lines.items()} == {
        **{"check": None, "repair": 0, "violation": 0, "position": 0}
    }
    assert {"before": 2} in lines["repair"]  # behind two that have come later


def test_addresses_take_turns() -> None:
    async def asked() -> list[str]:
        workers = Workers(Service("serve", at_once=1))
        order: list[str] = []
        release = anyio.Event()

        async def one(what: str, who: str) -> None:
            async with workers._process(workers.turn(what, who)):
                order.append(f"{what} of {who}")
                await release.wait()

        async with anyio.create_task_group() as tasks:
            for what, who in [("check", "a")] * 4 + [
                ("repair", "b"),
                ("check", "c"),
                ("check", "b"),
                ("position", "a"),
            ]:
                tasks.start_soon(one, what, who)
                await anyio.wait_all_tasks_blocked()
            release.set()
        assert (workers._free, workers._asked) == (1, {})
        return order

    assert anyio.run(asked) == [
        *("check of a", "position of a", "check of c", "check of b", "repair of b"),
        *("check of a", "check of a", "check of a"),
    ]


def test_an_address_that_fills_the_queue_shuts_no_other_out() -> None:
    async def asked() -> list[str]:
        workers = Workers(Service("serve", at_once=1, waiting=2))
        order: list[str] = []
        release = anyio.Event()

        async def one(what: str, who: str) -> None:
            try:
                async with workers._process(workers.turn(what, who)):
                    order.append(f"{what} of {who}")
                    await release.wait()
            except Refused as refused:
                order.append(f"{refused.status} for {who}")

        async with anyio.create_task_group() as tasks:
            for what, who in [("check", "a")] * 4 + [("check", "b"), ("check", "c"), ("check", "d"), ("repair", "a")]:
                tasks.start_soon(one, what, who)
                await anyio.wait_all_tasks_blocked()
            release.set()
        assert (workers._free, workers._asked, workers._given_way) == (1, {}, set())
        return order

    assert anyio.run(asked) == [
        *("check of a", "503 for a", "503 for a", "503 for a", "503 for d", "503 for a", "check of b", "check of c")
    ]


@pytest.mark.parametrize("gone_first", [True, False])
def test_who_does_not_wait_any_more_leaves_the_queue(gone_first: bool) -> None:
    async def asked() -> None:
        workers = Workers(Service("serve", at_once=1))
        first, second, third = (workers.turn("position") for _ in range(3))
        async with workers._process(first):
            async with anyio.create_task_group() as tasks:
                waits = anyio.CancelScope()

                async def wait() -> None:
                    with waits:
                        async with workers._process(second):
                            await anyio.sleep_forever()

                tasks.start_soon(wait)
                await anyio.sleep(0)
                await anyio.sleep(0)
                assert workers.before(second) == 0
                if not gone_first:
                    workers._hand_on()  # its turn has come at the same moment
                    workers._free -= not workers._waiting and workers._free > 0
                waits.cancel()
            assert workers.before(second) is None
            if not gone_first:
                workers._free -= 1
        assert workers._free == 1
        async with workers._process(third):
            assert workers._free == 0

    anyio.run(asked)


# --- The command -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[subprocess.Popen[str], str]]:
    with serve_load.served("--rate", "0") as found:
        yield found


Served = tuple[subprocess.Popen[str], str]


def asked_again(address: str) -> int:
    status: int = httpx.post(f"{address}position", json={"text": TINY, "language": "pgas"}, timeout=60).status_code
    return status


def sent(address: str, data: bytes) -> bytes:
    """What the server answers to these bytes, until it closes the connection."""
    port = int(address.split(":")[2].strip("/"))
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(data.replace(b"HOST", b"Host: 127.0.0.1:%d\r\nContent-Type: application/json" % port))
        found = b""
        try:
            while piece := connection.recv(65_536):
                found += piece
        except ConnectionError:
            pass
        return found


@pytest.mark.parametrize(
    "data",
    [
        b"POST /position HTTP/1.1\r\nHOST\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /",
        b"POST /position HTTP/1.1\r\nHOST\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}{}{}",
        b"POST /position HTTP/1.1\r\nHOST\r\nContent-Length: -5\r\n\r\n{}",
        b"POST /position HTTP/1.1\r\nHOST\r\nContent-Length: 99999999999999999999999\r\n\r\n{}",
        b"POST /position HTTP/1.1\r\nHOST\r\nContent-Length: 2\r\n\r\n[]GET / HTTP/1.1\r\nHOST\r\n\r\n",
        b"POST /position HTTP/1.1\r\nHOST\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"POST /position HTTP/1.1\r\nHOST\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        b"GET / HTTP/1.1\r\nHOST\r\nHOST\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET /\0 HTTP/1.1\r\nHOST\r\n\r\n",
        b"GET /\xc3\xbc HTTP/1.1\r\nHOST\r\n\r\n",
        b"GET / HTTP/1.1\r\nHOST\r\nX: " + b"a" * 1_000_000,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20,
    ],
)
def test_requests_that_two_could_read_differently_are_refused(data: bytes, served: Served) -> None:
    answer = sent(served[1], data)
    assert answer.startswith(b"HTTP/1.1 400 ") and answer.count(b"HTTP/1.1 ") == 1
    assert asked_again(served[1]) == 200


@needs_proc
def test_silent_connections_do_not_use_up_all(served: Served) -> None:
    port = int(served[1].split(":")[2].strip("/"))
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(600)]
    try:
        assert [asked_again(served[1]) for _ in range(3)] == [200] * 3
        assert len([*Path(f"/proc/{served[0].pid}/fd").iterdir()]) < 560
    finally:
        for each in silent:
            each.close()


@needs_proc
def test_an_address_that_takes_all_connections_shuts_no_other_out(served: Served) -> None:
    port = int(served[1].split(":")[2].strip("/"))
    head = f"POST /position HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    taken = [socket.create_connection(("127.0.0.1", port), source_address=("127.0.1.7", 0)) for _ in range(540)]
    try:
        for each in taken:
            each.sendall(f"{head}Content-Length: 500\r\n\r\n{{".encode())
        time.sleep(1)  # for half of their bodies to come in, which the others wait for
        assert [httpx.get(served[1], timeout=60).status_code for _ in range(3)] == [200] * 3
    finally:
        for each in taken:
            each.close()


@pytest.mark.nightly
def test_a_client_that_is_slow_is_given_up(served: Served) -> None:
    slow = b"POST /position HTTP/1.1\r\nHOST\r\nContent-Length: 500\r\n\r\n{"
    head, body = sent(served[1], b"GET / HTTP/1.1\r\nX: "), sent(served[1], slow)
    assert head == b"" and body.startswith(b"HTTP/1.1 408 ")


def test_many_clients_at_once_are_answered_rightly(served: Served) -> None:
    counted = anyio.run(serve_load.checks, served[1], 12, 24)
    assert (counted.wrong, len(counted.seconds), set(counted.statuses)) == ([], 24, {200})


@pytest.mark.nightly
def test_fifty_clients_make_a_thousand_checks(served: Served) -> None:
    counted = anyio.run(serve_load.checks, served[1], 50, 1_000)
    assert (counted.wrong, len(counted.seconds), set(counted.statuses)) == ([], 1_000, {200})


@pytest.mark.nightly
def test_a_crowd_that_has_to_wait_is_answered_in_the_end() -> None:
    with serve_load.served("--jobs", "1", "--rate", "60") as (_, address):
        counted = anyio.run(serve_load.checks, address, 150, 300)
    assert (counted.wrong, len(counted.seconds), counted.statuses[503] > 0) == ([], 300, True)


@pytest.mark.parametrize("behind", ["127.0.0.1", ""])
def test_a_proxy_says_who_asks_if_it_is_known(behind: str) -> None:
    with serve_load.served("--rate", "1", *(("--behind", behind) if behind else ())) as (_, address):
        found = [
            httpx.post(f"{address}example", json={"name": ""}, headers={"X-Forwarded-For": who}, timeout=60).status_code
            for who in ("10.0.0.1", "10.0.0.2", "10.0.0.1", "10.0.0.9, 10.0.0.2")
        ]
    assert found == ([404, 404, 429, 429] if behind else [404, 429, 429, 429])


@needs_proc
def test_processes_end_with_the_server() -> None:
    with serve_load.served() as (started, address):
        assert asked_again(address) == 200
        known = children(started.pid)
        assert len(known) >= 2
    assert gone(known)


def test_it_says_what_is_exposed() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "pgasrob", "serve", "--host", "0.0.0.0", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as started:
        assert started.stdout
        said = [started.stdout.readline() for _ in range(5)]
        started.send_signal(signal.SIGTERM)
    assert started.returncode == 130
    assert re.fullmatch(rf"Serving at http://{re.escape(socket.gethostname())}:\d+/\n", said[0])
    assert said[1].startswith("Exposed to everyone who reaches 0.0.0.0: the page, the examples, and checks of programs")
    assert "No file of this machine is exposed. There is no password" in said[2]


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (("--host", "256.0.0.1"), "cannot listen on port 8000 of 256.0.0.1"),
        (("--host", "192.0.2.1"), "cannot listen on port 8000 of 192.0.2.1"),
        (("--memory-limit", "0"), "needs one"),
        (("--jobs", "0"), "--jobs"),
        (("--rate", "-1"), "--rate"),
    ],
)
def test_what_cannot_be_served_is_refused(arguments: tuple[str, ...], refusal: str) -> None:
    from click.testing import CliRunner

    from pgasrob.cli import cli

    answer = CliRunner().invoke(cli, ["serve", *arguments])
    assert answer.exit_code == 2
    assert refusal in answer.output


def test_the_image_runs_the_server_as_nobody() -> None:
    """The file cannot be built here: what it copies and calls is there, and it installs as the README says."""
    lines = re.sub(r"\\\n", " ", (ROOT / ".github/Containerfile").read_text()).splitlines()
    does = [line.partition(" ")[::2] for line in lines if line and not line.startswith("#")]
    assert {name for name, _ in does} == {
        "FROM",
        "RUN",
        "WORKDIR",
        "COPY",
        "ENV",
        "USER",
        "EXPOSE",
        "STOPSIGNAL",
        "ENTRYPOINT",
    }
    readme = (ROOT / "README.md").read_text()
    installs = [what for name, what in does if name == "RUN" and "pip install" in what]
    assert [each.replace("'.[explore]'", ".") for each in installs] == [
        "python3 -m venv .venv && .venv/bin/pip install ."
    ]
    assert installs[0].replace("'.[explore]'", ".") in readme
    assert dict(does)["USER"] == "65534:65534"
    program, *arguments = json.loads(dict(does)["ENTRYPOINT"])
    assert program == ".venv/bin/pgasrob" and arguments[0] == "serve"
    from pgasrob.cli.serve import serve

    parsed = serve.make_context("serve", arguments[1:]).params
    assert (parsed["host"], parsed["port"]) == ("0.0.0.0", int(dict(does)["EXPOSE"]))
    rust = re.findall(r'rust-version = "1\.(\d+)"', (ROOT / "pgasrob/kernel/Cargo.toml").read_text())
    assert int(rust[0]) <= 95  # the image `rust:1` has a later one
    manual = (ROOT / "pgasrob/manual/pictures.md").read_text()
    for line in lines:
        if "podman" in line:
            assert line.removeprefix("#   ") in manual
