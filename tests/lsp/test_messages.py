"""What an editor sends: lengths are bounded, and what is no message is passed over."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="comes with the extra lsp")

from pgasrob.lsp.messages import MOST_BYTES, MOST_HEADER, Messages, log_to_stderr

ROOT = Path(__file__).parents[2]
CLIENT = {"processId": None, "rootUri": None, "capabilities": {}}
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT}
SHUTDOWN = {"jsonrpc": "2.0", "id": 2, "method": "shutdown"}
EXIT = {"jsonrpc": "2.0", "method": "exit"}


def framed(message: object) -> bytes:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def passed_on(sent: bytes) -> tuple[list[object], list[str], str | None]:
    """The messages that pygls gets of what is ``sent``, what is said of others, and why no more are read."""
    said: list[str] = []
    messages = Messages(io.BytesIO(sent), said.append)
    found: list[object] = []
    while header := messages.readline():
        length = int(header.removeprefix(b"Content-Length: "))
        assert messages.readline() == b"\r\n"
        found.append(json.loads(messages.read(length)))
    return found, said, messages.refused


def test_messages_are_passed_on_whatever_their_header_looks_like() -> None:
    header = b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:\t%d \r\n\r\n%b"
    body = json.dumps(EXIT).encode()
    sent = framed(INITIALIZE) + header % (len(body), body) + b"\r\n" + framed(SHUTDOWN)
    assert passed_on(sent) == ([INITIALIZE, EXIT, SHUTDOWN], [], None)
    assert passed_on(framed(INITIALIZE) + framed(EXIT)[:-1]) == ([INITIALIZE], [], None), "the last one is cut"


@pytest.mark.parametrize("zeros", [9, 12, 18, 30, 4000])
def test_absurd_lengths_are_refused_before_anything_is_read(zeros: int) -> None:
    sent = framed(INITIALIZE) + b"Content-Length: 1%b\r\n\r\n" % (zeros * b"0")
    found, said, refused = passed_on(sent + framed(EXIT))
    assert (found, said) == ([INITIALIZE], [])
    assert refused is not None and f"the most is {MOST_BYTES:,}" in refused and len(refused) < 100


def test_a_header_without_end_is_refused() -> None:
    assert passed_on(b"x" * 10**6)[2] == f"the header of a message has a line of more than {MOST_HEADER:,} bytes"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"{", "it is no JSON"),
        (b'"\xff"', "it is no JSON"),
        (b"[" * 100_000, "it is no JSON"),
        (b'{"jsonrpc": "2.0", "id": ' + b"1" * 5000 + b"}", "it is no JSON"),
        (b"7", "no object of JSON-RPC 2.0"),
        (b"[]", "no object of JSON-RPC 2.0"),
        (b'{"jsonrpc": {}}', "no object of JSON-RPC 2.0"),
        (b'{"jsonrpc": "2.0", "method": []}', "its method is no text"),
        (b'{"jsonrpc": "2.0", "method": "exit", "id": {}}', "its id is neither a number nor a text"),
    ],
)
def test_what_is_no_message_is_passed_over(body: bytes, why: str) -> None:
    found, said, refused = passed_on(framed(INITIALIZE) + framed(body) + framed(EXIT))
    assert found == [INITIALIZE, EXIT] and refused is None
    assert len(said) == 1 and why in said[0]


def session(*sent: bytes) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "pgasrob", "lsp"]
    return subprocess.run(command, cwd=ROOT, input=b"".join(sent), capture_output=True, timeout=600, check=False)


def test_a_session_ends_in_words_or_goes_on() -> None:
    refused = session(framed(INITIALIZE), b"Content-Length: 99999999999\r\n\r\n")
    assert refused.returncode == 2 and b"Traceback" not in refused.stderr
    assert refused.stderr.startswith(b"pgasrob: a message is to have 99999999999 bytes; the most is ")
    wrong = {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": 7}}
    strange = {"jsonrpc": "2.0", "id": 5, "result": None, "params": 7}
    gone_on = session(framed(INITIALIZE), framed(wrong), framed(strange), framed(b"{"), framed(SHUTDOWN), framed(EXIT))
    assert gone_on.returncode == 0 and b"Traceback" not in gone_on.stderr
    assert gone_on.stderr.count(b"pgasrob: a message of the editor is passed over: ") == 3
    assert b'"id": 2' in gone_on.stdout and b"Internal Error" not in gone_on.stdout


def test_what_goes_wrong_in_the_server_keeps_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("pygls")
    before = logger.handlers, logger.propagate
    try:
        log_to_stderr()
        try:
            raise ValueError("of the server")
        except ValueError:
            logging.getLogger("pygls.protocol").exception("Exception occurred")
    finally:
        logger.handlers, logger.propagate = before
    said = capsys.readouterr().err
    assert said.startswith("pgasrob: Exception occurred\nTraceback") and said.endswith("ValueError: of the server\n")
