"""The server: who is answered, what is refused and how clearly, and that it ends."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

import pytest

pytest.importorskip("starlette", reason="no starlette (pip install '.[test]')")
pytest.importorskip("uvicorn", reason="no uvicorn (pip install '.[test]')")
httpx = pytest.importorskip("httpx", reason="no httpx (pip install '.[test]')")

import anyio  # noqa: E402

from pgasrob.explore import answer_processes, answers, serve  # noqa: E402
from pgasrob.explore.answer_processes import Turn, Workers  # noqa: E402
from pgasrob.explore.answers import answer as answer_of  # noqa: E402
from pgasrob.explore.app import Shown, application  # noqa: E402
from pgasrob.explore.asked_run import AskedRun, Reads  # noqa: E402
from pgasrob.explore.link import Linked  # noqa: E402
from pgasrob.explore.request_bounds import MOST_BYTES, MOST_CHOICES, MOST_TEXT  # noqa: E402
from pgasrob.explore.service import Service  # noqa: E402
from pgasrob.frontends.options import FrontEnd  # noqa: E402
from pgasrob.program.reading import DEFAULT_READING  # noqa: E402
from tests.processes import children, gone, needs_proc, ticks  # noqa: E402

ROOT = Path(__file__).parents[2]
FILE = ROOT / "programs/one_to_one/one_to_one.pgas"
TEXT = FILE.read_text()
PORT, TOKEN = 4711, "the-token"
HERE = f"http://127.0.0.1:{PORT}"
EXPLORE = Service("explore", port=PORT, token=TOKEN)
READS = Reads((("pgas", "x.pgas"),), FrontEnd(), DEFAULT_READING)


class Directly(Workers):
    """Answers in this process; ``asked`` counts."""

    def __init__(self) -> None:
        super().__init__(EXPLORE)
        self.asked = 0

    async def answer(self, turn: Turn, asked: AskedRun) -> tuple[int, str]:
        self.asked += 1
        return answer_of(turn.what, asked, 10.0, 1 << 30)


def application_with(workers: Workers, service: Service = EXPLORE) -> Any:
    shown = Shown(str(FILE), Linked(TEXT, "pgas", None, ()), FrontEnd(), DEFAULT_READING, not service.token)
    return application(shown, service, workers)


def ask(method: str, path: str, workers: Workers | None = None, **options: Any) -> Any:
    """The answer to one request, from the page itself unless ``options`` say otherwise."""

    async def asked() -> Any:
        transport = httpx.ASGITransport(app=application_with(workers or Directly()))
        async with httpx.AsyncClient(transport=transport, base_url=HERE) as client:
            return await client.request(method, path, **options)

    return anyio.run(asked)


def position(workers: Workers | None = None, headers: dict[str, str] | None = None, **changes: Any) -> Any:
    body = {"text": TEXT, "language": "pgas", "nodes": None, "run": [], **changes}
    return ask("POST", f"/{TOKEN}/position", workers, json=body, headers={"Origin": HERE, **(headers or {})})


def test_the_page_may_run_its_own_script_alone_and_is_kept_nowhere() -> None:
    answer = ask("GET", f"/{TOKEN}/")
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert re.search(r"default-src 'none'; script-src 'sha256-[\w+/=]+'; ", policy)
    assert "frame-ancestors 'none'" in policy and "unsafe-eval" not in policy
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in answer.headers
    assert TOKEN not in answer.text


def test_the_page_itself_is_answered() -> None:
    answer = position(run=["0.0"])
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    found = answer.json()
    assert [step["what"] for step in found["steps"]] == ["Rank 0 issues the write"]
    assert found["ranks"][0]["blocked"] == [{"line": 12, "command": "barrier", "why": "it waits for rank 1"}]
    assert found["drawing"].startswith("<svg")
    assert position(headers={"Origin": f"http://localhost:{PORT}", "Host": f"localhost:{PORT}"}).status_code == 200


@pytest.mark.parametrize("what", ["", "position", "violation"])
@pytest.mark.parametrize(
    ("headers", "refusal"),
    [
        ({"Host": "evil.example"}, "'evil.example'"),
        ({"Host": f"evil.example:{PORT}"}, "header Host"),
        ({"Host": f"127.0.0.1.evil.example:{PORT}"}, "header Host"),
        ({"Host": "127.0.0.1"}, "header Host"),
        ({"Origin": "https://evil.example"}, "'https://evil.example'"),
        ({"Origin": "null"}, "header Origin"),
        ({"Origin": f"http://127.0.0.1:{PORT + 1}"}, "header Origin"),
        ({"Origin": f"https://127.0.0.1:{PORT}"}, "header Origin"),
        ({"Sec-Fetch-Site": "cross-site"}, "another origin"),
        ({"Sec-Fetch-Site": "same-site"}, "another origin"),
    ],
)
def test_other_hosts_and_origins_are_refused(what: str, headers: dict[str, str], refusal: str) -> None:
    workers = Directly()
    body = {"json": {"text": TEXT, "language": "pgas"}} if what else {}
    answer = ask("POST" if what else "GET", f"/{TOKEN}/{what}", workers, headers=headers, **body)
    assert answer.status_code == 403
    assert "pgasrob explore refuses this request" in answer.text and refusal in answer.text
    assert "access-control-allow-origin" not in answer.headers
    assert TOKEN not in answer.text and "one_to_one" not in answer.text
    assert workers.asked == 0


@pytest.mark.parametrize(
    "path", ["/", "/favicon.ico", "/other/", f"/{TOKEN}x/", f"/{TOKEN[:-1]}/", f"/{TOKEN.upper()}/", "/%C3%BC/", "//"]
)
def test_without_the_token_nothing_is_there(path: str) -> None:
    answer = ask("GET", path)
    assert answer.status_code == 403
    assert "token" in answer.text
    assert TOKEN not in answer.text


def test_a_link_from_another_page_opens_this_one() -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert ask("GET", f"/{TOKEN}/", headers=headers).status_code == 200
    body = {"text": TEXT, "language": "pgas"}
    assert ask("POST", f"/{TOKEN}/position", json=body, headers=headers).status_code == 403


@pytest.mark.parametrize(
    ("changes", "status", "refusal"),
    [
        ({"text": "x" * (MOST_TEXT + 1)}, 413, f"at most {MOST_TEXT:,}"),
        ({"run": ["0.0"] * (MOST_CHOICES + 1)}, 413, f"at most {MOST_CHOICES}"),
        ({"text": 7}, 400, "`text`"),
        ({"language": "sh"}, 400, "`language`"),
        ({"language": []}, 400, "`language`"),
        ({"language": {"pgas": 1}}, 400, "`language`"),
        ({"text": None}, 400, "`text`"),
        ({"nodes": "2"}, 400, "`nodes`"),
        ({"nodes": [2]}, 400, "`nodes`"),
        ({"nodes": 2.0}, 400, "`nodes`"),
        ({"run": {"0": "1"}}, 400, "`run`"),
        ({"run": [["0.0"]]}, 400, "`run`"),
        ({"automatic": 1}, 400, "`automatic`"),
        ({"nodes": 10**6}, 400, "`nodes`"),
        ({"nodes": True}, 400, "`nodes`"),
        ({"run": "0.0"}, 400, "`run`"),
        ({"run": ["0.0" * 100]}, 400, "`run`"),
        ({"automatic": "yes"}, 400, "`automatic`"),
    ],
)
def test_what_is_too_large_or_no_question_is_refused(changes: dict[str, Any], status: int, refusal: str) -> None:
    workers = Directly()
    answer = position(workers, **changes)
    assert answer.status_code == status
    assert refusal in answer.json()["refused"]
    assert workers.asked == 0


def test_bodies_are_bounded_whether_or_not_they_say_how_long_they_are() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(MOST_BYTES // 1024 + 1):
            yield b"x" * 1024

    path, headers = f"/{TOKEN}/position", {"Content-Type": "application/json"}
    refusal = ask("POST", path, content=b"x" * (MOST_BYTES + 1), headers=headers)
    unannounced = ask("POST", path, content=pieces(), headers=headers)
    assert (refusal.status_code, unannounced.status_code) == (413, 413)
    assert f"{MOST_BYTES:,}" in refusal.text and f"{MOST_BYTES:,}" in unannounced.text


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b"\xff", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"{}", "text/plain", 415),  # what a page of another origin may send without being asked
        (b"text=", "application/x-www-form-urlencoded", 415),
    ],
)
def test_bodies_are_json_objects(body: bytes, kind: str, status: int) -> None:
    answer = ask("POST", f"/{TOKEN}/position", content=body, headers={"Content-Type": kind})
    assert answer.status_code == status
    assert "body" in answer.text


@pytest.mark.parametrize(("method", "path"), [("GET", "position"), ("POST", ""), ("PUT", "position"), ("OPTIONS", "")])
def test_other_methods_are_not_allowed(method: str, path: str) -> None:
    headers = {"Content-Type": "application/json"}
    assert ask(method, f"/{TOKEN}/{path}", headers=headers).status_code == 405
    assert ask("GET", f"/{TOKEN}/../{path}x", headers=headers).status_code in (403, 404)


def test_errors_of_a_program_are_diagnostics() -> None:
    answer = position(text="program p;\nprocess { r <- ; }\n")
    assert answer.status_code == 422
    assert [(error["line"], error["column"]) for error in answer.json()["errors"]] == [(2, 16)]
    c = position(text="int main(void) { return x; }\n", language="c")
    assert (c.status_code, c.json()["errors"][0]["line"]) == (422, 1)
    nodes = position(text="program p;\nnodes 64;\nprocess { skip; }\n")
    assert (nodes.status_code, "too many" in nodes.json()["errors"][0]["message"]) == (422, True)


def test_an_internal_error_is_a_diagnostic(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_: object) -> NoReturn:
        raise ValueError("something is wrong")

    monkeypatch.setattr(answers, "follow", wrong)
    asked = AskedRun("process { skip; }", "pgas", 2, (), True, READS)
    status, text = answers.answer("position", asked, 10.0, 1 << 30)
    (error,) = json.loads(text)["errors"]
    assert (status, error["code"]) == (500, "PG190") and "something is wrong" in error["message"]


def test_the_nearest_violation_is_a_list_of_choices() -> None:
    body = {"text": TEXT, "language": "pgas", "run": ["0.0"]}
    found = ask("POST", f"/{TOKEN}/violation", json=body).json()
    assert found["found"]
    assert position(run=["0.0", *found["choices"]]).json()["violating"]
    none = ask("POST", f"/{TOKEN}/violation", json={**body, "text": TEXT.replace("barrier", "wait(q); barrier")}).json()
    assert (none["found"], none["proved"]) == (False, True)
    assert none["sentence"].startswith("None, proved")


# Robust, with more states than a search goes through in its seconds.
LARGE = """program large; nodes 8; memory x; register r;
process { loop { r <- fetch_add(me, x, me); } }
"""


def test_what_takes_too_long_is_given_up_and_the_next_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(answer_processes.SECONDS, "violation", 0.3)
    body = {"text": LARGE, "language": "pgas", "nodes": 8, "run": []}

    async def asked() -> tuple[Any, Any]:
        transport = httpx.ASGITransport(app=application_with(Workers(EXPLORE)))
        async with httpx.AsyncClient(transport=transport, base_url=HERE, timeout=60) as client:
            slow = await client.post(f"/{TOKEN}/violation", json=body)
            return slow, await client.post(f"/{TOKEN}/position", json=body)

    slow, quick = anyio.run(asked)
    assert slow.status_code == 503
    assert "longer than 0.3 s" in slow.json()["refused"]
    assert quick.status_code == 200


def test_more_than_can_wait_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    release = anyio.Event()

    async def stuck(*_: object, **__: object) -> tuple[int, str]:
        await release.wait()
        return 200, "{}"

    monkeypatch.setattr(answer_processes.bounded, "run", stuck)
    question = AskedRun(TEXT, "pgas", None, (), True, READS)
    given: list[str] = []

    async def asked() -> None:
        workers = Workers(EXPLORE)

        async def one() -> None:
            try:
                given.append((await workers.answer(workers.turn("position"), question))[1])
            except answer_processes.Refused as refused:
                given.append(f"{refused.status} {refused}")

        async with anyio.create_task_group() as tasks:
            for _ in range(EXPLORE.at_once + EXPLORE.waiting + 3):
                tasks.start_soon(one)
                await anyio.sleep(0)
            release.set()

    anyio.run(asked)
    assert len([each for each in given if each.startswith("503 8 requests are waiting already")]) == 3
    assert given.count("{}") == EXPLORE.at_once + EXPLORE.waiting


# --- The command -----------------------------------------------------------------------------------------------------


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pgasrob", "explore", *arguments, "--no-browser"]


@pytest.fixture
def served() -> Iterator[tuple[subprocess.Popen[str], str]]:
    started = subprocess.Popen(
        command(str(FILE), "--run", "0.0,1.0"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert started.stdout
    found = re.search(r"http://127\.0\.0\.1:\d+/[\w-]{30,}/", started.stdout.readline())
    assert found
    yield started, found[0]
    started.kill()
    started.communicate()


def used_by_children(process: int) -> int:
    return sum(map(ticks, children(process)))


@needs_proc
def test_it_serves_this_machine_alone_and_ends_on_ctrl_c(served: tuple[subprocess.Popen[str], str]) -> None:
    started, address = served
    port = int(address.split(":")[2].partition("/")[0])
    opening = re.search(r'id="opening">(.*?)</script>', httpx.get(address, timeout=60).text)
    assert opening and json.loads(opening[1])["run"] == ["0.0", "1.0"]
    assert httpx.get(address, headers={"Host": "evil.example"}, timeout=60).status_code == 403
    with socket.socket() as other:  # any other address of this machine
        assert other.connect_ex(("127.0.0.2", port)) != 0
    body = {"text": LARGE, "language": "pgas", "nodes": 8, "run": []}
    assert httpx.post(f"{address}position", json=body, timeout=60).status_code == 200  # who answers is there and idle
    idle = used_by_children(started.pid)
    with ThreadPoolExecutor() as pool:
        searching = pool.submit(httpx.post, f"{address}violation", json=body, timeout=60)
        while used_by_children(started.pid) < idle + 10 and not searching.done():  # of some hundred
            time.sleep(0.05)
        started.send_signal(signal.SIGINT)
    assert searching.result().json() == {"refused": "the server ends"}
    _, said = started.communicate(timeout=60)
    assert (started.returncode, said) == (130, "")


@needs_proc
def test_who_answers_ends_with_a_server_that_is_killed(served: tuple[subprocess.Popen[str], str]) -> None:
    started, address = served
    body = {"text": LARGE, "language": "pgas", "nodes": 8, "run": []}
    assert httpx.post(f"{address}position", json=body, timeout=60).status_code == 200
    idle, workers = used_by_children(started.pid), children(started.pid)
    with ThreadPoolExecutor() as pool:
        searching = pool.submit(httpx.post, f"{address}violation", json=body, timeout=60)
        while used_by_children(started.pid) < idle + 10 and not searching.done():
            time.sleep(0.05)
        started.kill()
    assert workers and gone(workers, 3) and searching.exception() is not None


def test_that_a_killed_process_had_ended_is_said_to_nobody(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    said = logging.getLogger("asyncio")
    monkeypatch.setattr(serve._Server, "run", lambda *_, **__: said.warning("Unknown child process pid 1"))
    before = said.level
    try:
        shown = Shown("", Linked(TEXT, "pgas", None, ()), FrontEnd(), DEFAULT_READING, alone=True)
        serve.serve(shown, Service("serve"), False, lambda _: None)
    finally:
        said.setLevel(before)
    assert caplog.messages == []


def test_who_brings_no_request_is_sent_away() -> None:
    """Where as many connections as may be would wait for nothing, nobody else was served."""
    quick = "from pgasrob.explore import serve; serve.HEAD_SECONDS = 1; from pgasrob.cli import cli; cli()"
    asked = [sys.executable, "-c", quick, "explore", str(FILE), "--no-browser"]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout
        address = re.findall(r"http://\S+", started.stdout.readline())[0]
        port = int(address.split(":")[2].partition("/")[0])
        for said in (b"", f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n".encode()):
            with socket.create_connection(("127.0.0.1", port), timeout=30) as silent:
                silent.sendall(said)
                assert silent.recv(1) == b""
        with httpx.Client(timeout=60) as client:  # one that asks again and again is served on one connection
            assert [client.get(address).status_code for _ in range(3)] == [200] * 3
        started.send_signal(signal.SIGINT)


def test_no_argument_of_the_browser_has_the_token(tmp_path: Path) -> None:
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(
        f"#!{sys.executable}\nimport sys, os, urllib.request as r\n"
        f'page = r.url2pathname(sys.argv[1].removeprefix("file://"))\n'
        f"rights = os.stat(os.path.dirname(page)).st_mode & 0o77\n"
        f'open({str(tmp_path / "new")!r}, "w").write(f"{{sys.argv[1]}} {{rights}} {{open(page).read()}}")\n'
        f"os.rename({str(tmp_path / 'new')!r}, {str(seen)!r})\n"
    )
    browser.chmod(0o700)
    environment = {**os.environ, "BROWSER": f"{browser} %s"}
    with subprocess.Popen(command(str(FILE))[:-1], stdout=subprocess.PIPE, text=True, env=environment) as started:
        assert started.stdout
        address = re.findall(r"http://\S+", started.stdout.readline())[0]
        for _ in range(2_400):
            if seen.exists():
                break
            time.sleep(0.05)
        started.send_signal(signal.SIGTERM)
    assert started.returncode == 130
    argument, rights, text = seen.read_text().split(" ", 2)
    assert address.split("/")[3] not in argument and rights == "0" and f"url={address}" in text
    assert not Path(argument.removeprefix("file://")).exists()


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (("nowhere.pgas",), "nowhere.pgas"),
        (("README.md",), ".pgas or .c"),
        ((), "name a FILE"),
        (("--run", "#p=!"), "damaged"),
        ((str(FILE), "--run", "#p=!"), "its own program"),
        ((str(FILE), "-n", "64"), "at most 16"),
    ],
)
def test_what_cannot_be_explored_is_refused(arguments: tuple[str, ...], refusal: str) -> None:
    from click.testing import CliRunner

    from pgasrob.cli import cli

    answer = CliRunner().invoke(cli, ["explore", *arguments, "--no-browser"])
    assert answer.exit_code == 2
    assert refusal in answer.output


def test_a_port_that_is_taken_is_told() -> None:
    from click.testing import CliRunner

    from pgasrob.cli import cli

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        answer = CliRunner().invoke(cli, ["explore", str(FILE), "--port", port, "--no-browser"])
    assert answer.exit_code == 2
    assert f"cannot listen on port {port}" in answer.output


@pytest.mark.parametrize("package", ["uvicorn", "h11"])
def test_without_the_extra_one_line_says_what_to_install(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from pgasrob.cli import cli

    for name in [name for name in sys.modules if name == package or name.startswith("pgasrob.explore")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    answer = CliRunner().invoke(cli, ["explore", str(FILE), "--no-browser"])
    assert answer.exit_code == 2
    assert answer.output == f"pgasrob: explore needs {package}: pip install 'pgasrob[explore]'\n"
