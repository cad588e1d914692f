"""Variables of small programs, as the debug information that the compiler writes has them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pgasrob.runtime.record.debug_information import DebugInformation
from pgasrob.runtime.record.trace_appendix import data_symbols

PROGRAM = """
#include <stdlib.h>
typedef struct point { int id; const double at[2]; struct point *next; } point;
static point corners[3];
unsigned char flags[2][5];
long *list;
void use(void *);
int *counted(void) { static int counter; return &counter; }
int main(void) {
    point *own = malloc(sizeof *own);
    float ratio = 1;
    use(own); use(&ratio); use(corners); use(flags); use(counted());
    { short inner[4]; use(inner); }
    return 0;
}
void use(void *what) { list = what; }
"""


@pytest.mark.skipif(not (shutil.which("gcc") and shutil.which("readelf")), reason="no gcc or no binutils")
@pytest.mark.parametrize("options", [("-O0",), ("-O2", "-no-pie"), ("-O1", "-gdwarf-4")])
def test_names_places_and_types(options: tuple[str, ...], tmp_path: Path) -> None:
    source, program = tmp_path / "p.c", tmp_path / "p"
    source.write_text(PROGRAM)
    subprocess.run(["gcc", "-g", "-fno-inline", *options, source, "-o", program], check=True)
    known = DebugInformation(str(program))
    found = {name: (address, type) for address, name, type in known.globals()}
    symbols = {name.partition(".")[0]: address for address, _, name in data_symbols(str(program))}
    assert {name: address for name, (address, _) in found.items()}.items() <= symbols.items()
    assert {"corners", "flags", "list", "counter"} <= found.keys()

    def described(type: int) -> object:
        match known.types[type]:
            case ["array", int(of), counts]:
                return "array", counts, described(of)
            case ["struct", size, list(members)]:
                return "struct", size, {name: (offset, described(of)) for name, offset, of in members}
            case [kind, size]:
                return kind, size
        raise AssertionError

    point = "struct", 32, {
        "id": (0, ("signed", 4)), "at": (8, ("array", [2], ("float", 8))), "next": (24, ("unsigned", 8)),
    }  # fmt: skip
    assert described(found["corners"][1]) == ("array", [3], point)
    assert described(found["flags"][1]) == ("array", [2, 5], ("unsigned", 1))
    assert described(found["counter"][1]) == ("signed", 4)
    frame = {name: described(type) for _, name, type in known.frame(-1, "main")}
    assert frame["ratio"] == ("float", 4) and frame["inner"] == ("array", [4], ("signed", 2))
    assert described(known.pointed_to("own", -1, "main")) == point
    assert described(known.pointed_to("list", -1, "main")) == ("signed", 8)
    assert described(known.pointed_to("corners[1].at", -1, "main")) == ("float", 8)
    assert described(known.pointed_to("own->next", -1, "main")) == point
    assert known.pointed_to("own->id", -1, "main") == known.pointed_to("nobody", -1, "main") == 0


def test_without_debug_information(tmp_path: Path) -> None:
    nothing = DebugInformation(str(tmp_path / "none"))
    assert list(nothing.globals()) == list(nothing.frame(0, "main")) == [] and nothing.pointed_to("x", 0, "main") == 0
