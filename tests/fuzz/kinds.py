"""The kinds of inputs: what each is made of, and which command gets it.

Opening a kind in a folder prepares its samples there, and gives a function that makes the input of a random number
generator: files in the folder, and a case of what is run on them.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

from click.testing import CliRunner

from pgasrob.batch.store import DIGEST_BYTES
from tests.fuzz.damage import JUNK, damaged, damaged_bytes, damaged_json
from tests.fuzz.faults import faulty
from tests.recording.damaged_traces import damaged as damaged_trace
from tests.recording.damaged_traces import samples

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "programs"
SAMPLES = Path(__file__).parent / "samples"
SECONDS = 1.0
MEMORY = 300_000_000
LIMITS = ("--timeout", f"{SECONDS:g}", "--memory-limit", f"{MEMORY // 1_000_000}M")
MOST_STATES = ("--max-states", "2000")
MOST_BYTES = 2_000
"""Of a sample: what is large takes long and shows nothing more."""


@dataclass(frozen=True)
class Case:
    """The ``arguments`` of `pgasrob`, what it reads from its standard input; or ``work`` that is done in its place.
    ``shown``: what it prints, or it ends with exit code 2."""

    arguments: tuple[str, ...] = ()
    stdin: bytes = b""
    work: Callable[[], object] | None = None
    shown: str | None = None


Maker = Callable[[Random], Case]

# What may be put into a text: the words are parted by two blanks.
C_WORDS = (
    b"(  )  {  }  [  ]  ;  ,  *  &  ->  ...  =  ?  :  ##  \\\n  0  1  -1  ~  /  %  <<  &&  int  char  void  "
    b"unsigned  double  struct  union  enum  typedef  static  extern  if  else  for  while  do  switch  "
    b"case 1:  break  continue  return  goto  sizeof  main  NULL  1.5  _Generic(  \n#if 1\n  \n#endif\n  "
    b'\n#else\n  \n#define x   \n#include <stdio.h>\n  \n#undef x\n  printf("%2000000000d", 1);  '
    b'snprintf(0, 9, "%.99999f", 1.0);  malloc(-1)  memcpy(  int a[1 << 30];  for (;;);  main();  exit(1);  '
    b"assert(0);  strlen(0)"
).split(b"  ")
PGAS_WORDS = (
    b"me  nodes  x  r  q  1  -1  memory  register  queue  process  unordered  program  loop {  while (1) {  "
    b"if (r == 1) {  } else {  }  choose {  } or {  ;  mem[x]  <-  @  %  /  <<  r <- fetch_add(0, -1, 1);  "
    b"write(x, 1, x, q);  read(x, 0, x, q);  wait(q);  fence(q, 1);  barrier;  await(mem[x] == 1);  "
    b"assume(r);  assert(0);  update(add, 1, 1, x, q);  bundle;  signal(set, 1, 1, x, q);  "
    b"memory a[1000000];  nodes 100;  nodes 1000000000;  mem[r / 0] <- 1;  for i in 0 .. 1000000 {"
).split(b"  ")
LITMUS_WORDS = (
    b"x  y  z^2  a  =  poll(2);  ||  ::  1:  @1=0  0  9  -1  get  put  flush(2);  rcas(  cas(  faa(  rfence  "
    b"mfence;  exists  allowed  forbidden  nodes  ;  \n  //"
).split(b"  ")

EXTRAS = ((), (), ("--format", "json"), ("-v",), ("--format", "gcc"), ("--brief",), ("--full", "--races"))


def _asked(random: Random, file: str, c: bool) -> tuple[str, ...]:
    """A command about the program in a file, mostly `check`, with its limits."""
    match random.choice(
        ("check",) * 8 + ("every", "race", "outcomes", "run", "repair", "thrift", "explain", "show", "export")
    ):
        case "check":
            return ("check", file, *LIMITS, *MOST_STATES, "-j", "1", *random.choice(EXTRAS))
        case "every":
            return ("check", file, "-n", "all", *LIMITS, *MOST_STATES, "-j", "1")
        case "race":
            return (
                "race",
                file,
                *LIMITS,
                *MOST_STATES,
                "-j",
                "1",
                *random.choice(((), ("--all",), ("--format", "json"))),
            )
        case "run":
            return ("run", file, "--seed", "1")
        case "explain":
            return ("explain", file, "--timeout", f"{SECONDS:g}", "--max-states", "200")
        case "show":
            return ("show", file, "--stage", random.choice(("program", "control")), *LIMITS)
        case "export":
            return ("show", file, *LIMITS) if c else ("export", file, "--to", "promela")
        case command:
            return (command, file, *LIMITS, *MOST_STATES)


def _texts(ending: str) -> list[bytes]:
    files = sorted(PROGRAMS.rglob(f"*{ending}"))
    return [text for text in (file.read_bytes() for file in files) if len(text) <= MOST_BYTES]


def _of_text(
    ending: str, words: Sequence[bytes], asked: Callable[[Random, str], tuple[str, ...]]
) -> Callable[[Path], Maker]:
    def opened(folder: Path) -> Maker:
        texts = _texts(ending)

        def make(random: Random) -> Case:
            (folder / f"fuzzed{ending}").write_bytes(damaged(random, random.choice(texts), texts, words))
            return Case(asked(random, f"fuzzed{ending}"))

        return make

    return opened


def _faults(folder: Path) -> Maker:
    """Programs with addresses and ranks out of range, asked about in all ways."""
    check, limits = ("check", "-j", "1"), (*LIMITS, *MOST_STATES)
    others: tuple[tuple[str, ...], ...] = (
        (*check, "--certificate", "found.json", *limits),
        (*check, "--cpu", "tso", *limits),
        (*check, "-n", "1..3", "--races", *limits),
        (*check, "--engine", "attack", "--no-reduction", *limits),
        *(("show", "--stage", stage, *LIMITS) for stage in ("state-space", "normal-form", "cycle-types")),
        ("run", "--until", "fault", "--tries", "20", "--steps", "100"),
        ("outcomes", "--example", "1", "--format", "json", *limits),
    )

    def make(random: Random) -> Case:
        ending, text = faulty(random)
        file = f"fuzzed{ending}"
        Path(file).write_text(text, encoding="utf-8")
        if random.random() < 0.3:
            command, *options = random.choice(others)
            return Case((command, file, *options))
        return Case(_asked(random, file, ending == ".c"))

    return make


def _litmus(random: Random, file: str) -> tuple[str, ...]:
    limits = (*LIMITS, *MOST_STATES)
    check = ("check", file, "--network", random.choice(("pgas", "rdma-tso", "corerma")), *limits, "-j", "1")
    return random.choice((("litmus", file, *limits), ("litmus", file, *limits, "--expect"), check))


def _traces(folder: Path) -> Maker:
    """Recordings of small programs: bytes are changed, or what a reader looks at, with and without the right sums."""
    of = samples()

    def make(random: Random) -> Case:
        sample = random.choice(of)
        content = damaged_bytes(random, sample, of) if random.random() < 0.3 else damaged_trace(random, sample)
        Path("fuzzed.pgastrace").write_bytes(content)
        command = random.choice((("check",), ("race", "--all"), ("race", "--analysis", "must-rma")))
        return Case((*command, "fuzzed.pgastrace", *LIMITS, *random.choice(((), ("--format", "json")))))

    return make


def printed(*arguments: str) -> str:
    """What the command prints about a sample."""
    from pgasrob.cli import cli

    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code in (0, 1), result.output
    return result.stdout


SMALL = (
    "one_to_one/one_to_one.pgas", "one_to_one/one_to_one_wait.pgas", "store_buffering/store_buffering_assert.pgas",
    "deadlock/missing_barrier.pgas", "c/openshmem/message_passing_fence.c", "c/openshmem/message_passing_no_fence.c",
)  # fmt: skip
"""Programs of few commands: robust, with violations, a failing assertion, a deadlock."""
CERTIFIED = (
    ("one_to_one/one_to_one_wait.pgas",), ("one_to_one/one_to_one_atomic.pgas",),
    ("store_buffering/store_buffering_wait.pgas",),
    ("ring/ring_shift.pgas", "-n", "all"), ("c/openshmem/message_passing_fence.c",),
)  # fmt: skip
"""Robust programs with small certificates of all kinds."""


def _copied(folder: Path, names: Sequence[str]) -> list[str]:
    """Programs of the corpus, in the folder; their names there."""
    for name in names:
        (folder / Path(name).name).write_bytes((PROGRAMS / name).read_bytes())
    return [Path(name).name for name in names]


def _certificates(folder: Path) -> Maker:
    samples = []
    for name, *options in CERTIFIED:
        (file,) = _copied(folder, [name])
        printed("check", file, *options, "--certificate", "kept.json")
        samples.append((file, json.loads(Path("kept.json").read_text())))
    values = [value for _, value in samples]

    def make(random: Random) -> Case:
        file, value = random.choice(samples)
        Path("fuzzed.json").write_bytes(damaged_json(random, value, values))
        return Case(("certify", file, "fuzzed.json", *LIMITS))

    return make


def _resumed(folder: Path) -> Maker:
    """Whatever is in the file: the results are those without it, or the command cannot use the file and says so."""
    files = _copied(folder, SMALL[:2])
    check = ("check", *files, "-j", "1", "--resume", "kept.db")
    before = printed(*check)
    with closing(sqlite3.connect("kept.db")) as kept:
        kept.execute("pragma wal_checkpoint(truncate)")
        (whole,) = kept.execute("select count(*) from results").fetchone()
    assert whole == len(files)
    sample = Path("kept.db").read_bytes()

    def make(random: Random) -> Case:
        for old in folder.glob("kept.db*"):
            old.unlink()
        if random.random() < 0.4:
            Path("kept.db").write_bytes(damaged_bytes(random, sample, [sample]))
        else:
            Path("kept.db").write_bytes(sample)
            _damage_a_row(random)
        return Case(check, shown=before)

    return make


def _damage_a_row(random: Random) -> None:
    with closing(sqlite3.connect("kept.db", isolation_level=None)) as kept:
        rows: list[tuple[str, bytes]] = kept.execute("select key, result from results order by key").fetchall()
        key, result = random.choice(rows)
        digest = result[:DIGEST_BYTES]  # with one that fits, a result that is changed would be a forged one
        unpacked = [zlib.decompress(each[DIGEST_BYTES:]) for _, each in rows]
        changed: Any = damaged_bytes(random, result, [each for _, each in rows])
        if random.random() < 0.6:
            changed = digest + zlib.compress(damaged_bytes(random, zlib.decompress(result[DIGEST_BYTES:]), unpacked))
        elif random.random() < 0.3:
            changed = random.choice(
                (None, 1, 0.5, "text", digest + zlib.compress(json.dumps(random.choice(JUNK)).encode()))
            )
        kept.execute("update results set result = ? where key = ?", (changed, key))


def _drawn(folder: Path) -> Maker:
    files = _copied(folder, SMALL)
    samples = [json.loads(printed("check", file, "--format", "json")) for file in files]
    samples += [json.loads(printed("run", files[0], "--seed", seed, "--format", "json")) for seed in "12"]
    samples += [json.loads(printed("race", files[5], "--format", "json"))]

    def make(random: Random) -> Case:
        text = damaged_json(random, random.choice(samples), samples)
        Path("fuzzed.json").write_bytes(text)
        form = random.choice(("svg", "html", "dot", "mmd", "tex", "json", "sarif", "txt"))
        fold = random.choice(((), ("--fold",)))
        if random.random() < 0.1:
            return Case(("draw", "-", "--to", form, *fold), text)
        return Case(("draw", "fuzzed.json", "--to", form, *fold))

    return make


RESPONSE = b"-DN=4 -I include '-DNAME=\"a b\"' -include \\\n config.h -Wp,-DX,-DY -U N\n"
OPTIONS = (
    "-DN=3", "-Iinclude", "-I", "include", "-isystem", "include", "@options.rsp", "-include", "config.h", "-Wp,-DA=1",
    "-UN", "-fopenmp", "-o", "CMakeFiles/ring.dir/ring.c.o", "-DF(x)=x", "-O2", "-c",
)  # fmt: skip


def _databases(folder: Path) -> Maker:
    (folder / "include").mkdir()
    (folder / "include" / "config.h").write_text("#define CONFIGURED 1\n")
    files = _copied(folder, SMALL[4:])
    here = str(folder)

    def entry(random: Random, file: str) -> dict[str, Any]:
        words = ["cc", *random.choices(OPTIONS, k=random.randrange(6)), file]
        how = {"arguments": words} if random.random() < 0.5 else {"command": " ".join(words)}
        return {"directory": random.choice((here, ".", "include/..")), "file": file, "output": "a.o", **how}

    def make(random: Random) -> Case:
        value = [entry(random, file) for file in files]
        response = RESPONSE
        if random.random() < 0.3:
            response = damaged(
                random, RESPONSE, [b" ".join(each.encode() for each in OPTIONS)], (b"@options.rsp", b"-I", b'"')
            )
            text = json.dumps([{**each, "arguments": ["cc", "@options.rsp", each["file"]]} for each in value]).encode()
        else:
            text = damaged_json(random, value, [value])
        Path("options.rsp").write_bytes(response)
        Path("compile_commands.json").write_bytes(text)
        files_given = random.choice(((), (files[0],)))
        return Case(
            (
                "check",
                *files_given,
                "--compile-commands",
                "compile_commands.json",
                "--brief",
                *LIMITS,
                *MOST_STATES,
                "-j",
                "1",
            )
        )

    return make


def _baselines(folder: Path) -> Maker:
    files = _copied(folder, SMALL)
    printed("check", *files, "-j", "1", "--witness", "found.sarif")
    sample = json.loads(Path("found.sarif").read_text())

    def make(random: Random) -> Case:
        Path("old.sarif").write_bytes(damaged_json(random, sample, [sample]))
        extra = random.choice((("--format", "gcc"), ("--witness", "new.sarif"), ("--format", "json")))
        return Case(("check", random.choice(files[:4]), "-j", "1", "--baseline", "old.sarif", *extra, *LIMITS))

    return make


def _explored(folder: Path) -> Maker:
    import anyio
    import httpx

    from tests.explore.test_server import HERE, TOKEN, Directly, application_with

    texts = {"pgas": _texts(".pgas"), "c": _texts(".c")}
    app = application_with(Directly())

    def make(random: Random) -> Case:
        language = random.choice(("pgas", "pgas", "c"))
        text = random.choice(texts[language]).decode()
        run = random.choices(("0.0", "1.0", "0.1", "b", "0.0.0", "1.q.0"), k=random.choice((0, 0, 1, 3)))
        value = {
            "text": text,
            "language": language,
            "nodes": random.choice((None, 2, 3)),
            "run": run,
            "automatic": True,
        }
        body = damaged_json(random, value, [value])
        if random.random() < 0.2:
            body = json.dumps(
                {**value, "text": damaged(random, text.encode(), [text.encode()]).decode(errors="replace")}
            ).encode()
        path, method = (
            random.choice(("position", "position", "violation", "", "x")),
            random.choice(("POST",) * 9 + ("GET",)),
        )
        headers = {"Origin": HERE, "Content-Type": random.choice(("application/json", "text/plain", ""))}

        async def ask() -> None:
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=HERE) as client:
                answer = await client.request(method, f"/{TOKEN}/{path}", content=body, headers=headers)
                assert answer.status_code < 500 or answer.status_code == 503, answer.text
                if answer.headers["content-type"].startswith("application/json"):
                    answer.json()

        return Case(work=lambda: anyio.run(ask))

    return make


def _framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def _edited(folder: Path) -> Maker:
    """Sessions with a language server, of which one or two messages are damaged."""
    texts = {"pgas": [(PROGRAMS / name).read_bytes() for name in SMALL[:3]], "c": [(PROGRAMS / SMALL[4]).read_bytes()]}

    def session(language: str, text: str) -> list[dict[str, Any]]:
        document = {"uri": (folder / f"edited.{language}").as_uri()}
        place = {"line": 3, "character": 5}
        after = {"textDocument": {**document, "version": 2}, "contentChanges": [{"text": text + "\n"}]}
        opened = {**document, "version": 1}
        here = {"textDocument": document, "range": {"start": place, "end": place}, "context": {"diagnostics": []}}
        encodings = {"general": {"positionEncodings": ["utf-8"]}}
        asked: list[tuple[str, Any]] = [
            ("initialize", {"processId": None, "rootUri": None, "capabilities": encodings}),
            ("initialized", {}),
            (
                "textDocument/didOpen",
                {"textDocument": {**opened, "languageId": language, "text": text}},
            ),
            ("textDocument/codeLens", {"textDocument": document}),
            ("textDocument/hover", {"textDocument": document, "position": place}),
            ("textDocument/didChange", after),
            ("textDocument/codeAction", here),
            ("textDocument/didClose", {"textDocument": document}),
            ("shutdown", None),
            ("exit", None),
        ]
        notes = ("initialized", "textDocument/did", "exit")
        return [
            {
                "jsonrpc": "2.0",
                "method": method,
                "params": given,
                **({} if method.startswith(notes) else {"id": number}),
            }
            for number, (method, given) in enumerate(asked)
        ]

    def make(random: Random) -> Case:
        language = random.choice(("pgas", "pgas", "pgas", "c"))
        messages = session(language, random.choice(texts[language]).decode())
        written = [_framed(json.dumps(each).encode()) for each in messages]
        for _ in range(random.choice((1, 1, 2))):
            at = random.randrange(len(written))
            if random.random() < 0.7:
                written[at] = _framed(damaged_json(random, messages[at], messages))
            else:
                written[at] = damaged(
                    random, written[at], written, (b"Content-Length: ", b"Content-Type: x", b"\r\n\r\n")
                )
        return Case(("lsp", *LIMITS, *MOST_STATES), b"".join(written))

    return make


COUNTING = "process { loop { update(add, 1, 0, counter, q); barrier; } }"
KEPT: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "rounds between barriers that are all different, gone through for deadlocks: 28 s in one piece",
        f"program p; memory counter; queue q; {COUNTING}",
        ("check", "kept.pgas", "-n", "16", "--engine", "attack", "--no-reduction", *LIMITS, *MOST_STATES),
    ),
)
"""Inputs that took too long, and what they did, with the commands that got them."""


def _kept(folder: Path) -> Maker:
    number = iter(range(int(folder.name.rpartition("-")[2]), len(KEPT)))

    def make(random: Random) -> Case:
        _, text, arguments = KEPT[next(number)]
        Path(arguments[1]).write_text(text)
        return Case(arguments)

    return make


def _breaking(folder: Path) -> Maker:
    """What the watching is tested with."""
    ways: list[Callable[[], object]] = [lambda: None, os.abort, lambda: None, Event().wait, lambda: 1 // 0]
    left = iter(ways[int(folder.name.rpartition("-")[2]) :])  # the first number is in the name of the folder
    return lambda random: Case(work=next(left))


KINDS: dict[str, Callable[[Path], Maker]] = {
    "c": _of_text(".c", C_WORDS, lambda random, file: _asked(random, file, True)),
    "pgas": _of_text(".pgas", PGAS_WORDS, lambda random, file: _asked(random, file, False)),
    "faults": _faults,
    "litmus": _of_text(".litmus", LITMUS_WORDS, _litmus),
    "trace": _traces,
    "certificate": _certificates,
    "resume": _resumed,
    "draw": _drawn,
    "database": _databases,
    "baseline": _baselines,
    "explore": _explored,
    "lsp": _edited,
}
"""Functions that open a kind in a folder, which is the working directory, too."""
ALL = {**KINDS, "breaking": _breaking, "kept": _kept}
