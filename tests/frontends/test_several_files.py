# ruff: noqa: E501
"""Programs of several files: what is linked, where its lines are, and what is said of files that do not fit together."""

from __future__ import annotations

import csv
import json
import os
import pickle
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pgasrob.cli import cli
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.types import INT, Array
from pgasrob.frontends.compile_commands import _target, read
from pgasrob.frontends.lower import CProgram, load_c, parse_c, read_c
from pgasrob.frontends.options import Flags, FrontEnd
from pgasrob.frontends.sources import apart
from pgasrob.program.assumptions import Kind
from pgasrob.program.files import Copies, Overlay, Recorder
from pgasrob.program.printer import to_source
from pgasrob.program.statements import Line

LIBRARY = Path(__file__).with_name("library")
HEADERS = (str(LIBRARY / "include"),)
UNITS = (str(LIBRARY / "src/ring.c"), str(LIBRARY / "src/total.c"))
OPTIONS = FrontEnd(defines=(("ROUNDS", "1"), ("SCALE", "2")), folders=HEADERS, units=UNITS)


def run(*arguments: str, **options: Any) -> Result:
    return CliRunner().invoke(cli, arguments, **options)


def library(options: FrontEnd = OPTIONS) -> CProgram:
    return load_c(LIBRARY / "src/main.c", options)


def written(folder: Path, **files: str) -> list[str]:
    """Files of these names, `_h` and `_c` for their endings; their paths."""
    paths = [folder / f"{name[:-2]}.{name[-1]}" for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_text(text)
    return [str(path) for path in paths if path.suffix == ".c"]


def linked(folder: Path, **files: str) -> CProgram:
    first, *others = written(folder, **files)
    return load_c(first, FrontEnd(units=tuple(others)))


def refused(folder: Path, **files: str) -> tuple[str, str, int, str]:
    """Code, file, line and message of the one thing that is wrong with them."""
    with pytest.raises(SourceError) as caught:
        linked(folder, **files).instantiate()
    (found,) = caught.value.diagnostics
    return found.code, Path(found.file).name, found.line, found.message


# A library with a compilation database


def test_a_library_is_checked_as_its_database_says() -> None:
    found = run("check", "--compile-commands", str(LIBRARY), "--format", "json")
    result = json.loads(found.stdout)
    assert found.exit_code == 1 and result["verdict"] == "not robust"
    assert Path(result["file"]).name == "main.c"
    assert [Path(unit).name for unit in result["units"]] == ["ring.c", "total.c"]
    assert run("check", "--compile-commands", str(LIBRARY), "-D", "WAITS").exit_code == 0


def test_every_line_is_that_of_its_file() -> None:
    """What a command is called stands where it is said to stand."""
    found = run("check", "--compile-commands", str(LIBRARY), "--format", "json", "--full")
    witness = json.loads(found.stdout)["witness"]
    files = []
    for event in witness["computation"]:
        text = witness["sources"][event["file"]] if "file" in event else witness["source"]
        line = text.split("\n")[event["line"] - 1]
        assert line[event["column"] - 1 :].startswith(event["command"][:20])
        files.append(Path(event.get("file", "main.c")).name)
    assert set(files) == {"main.c", "ring.c", "ring.h"}
    assert [Path(file).name for file in witness["sources"]] == ["ring.h", "total.h", "ring.c", "total.c"]


def test_reports_name_the_files() -> None:
    text = run("check", "--compile-commands", str(LIBRARY)).stdout
    assert "the shmem_long_put_nbi of rank 1 in line ring.c:14 has arrived" in " ".join(text.split())
    assert "include/ring.h:15  shmem_fence()" in text
    assert "*               14  shmem_sync_all()" in text
    brief = run("check", "--compile-commands", str(LIBRARY), "--brief").stdout
    assert brief.startswith(f"{os.path.relpath(LIBRARY / 'src/ring.c')}:14:5: error: not robust on 2 nodes: ")
    assert "reads inbox in line main.c:15 before the shmem_long_put_nbi of rank 1 in line ring.c:14" in brief
    rows = csv.DictReader(run("check", "--compile-commands", str(LIBRARY), "--format", "csv").stdout.splitlines())
    (row,) = rows
    assert (Path(row["found_in"]).name, row["line"], row["column"]) == ("ring.c", "14", "5")


def test_why_lines_of_several_files_are_in_order() -> None:
    arguments = ("check", "--compile-commands", str(LIBRARY), "-D", "WAITS", str(LIBRARY / "src/main.c"), "--why")
    told = " ".join(run(*arguments, "15,ring.c:14").stdout.split())
    assert "Lines 15 and ring.c:14: The shmem_quiet in line include/ring.h:13 completes the shmem_long_put_nbi" in told
    assert "it has include/ring.h, include/total.h, ring.c and total.c" in run(*arguments, "15,rung.c:14").stderr


def test_a_witness_is_the_same_when_it_is_read_again(tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in ("run.json", "run.svg", "run.sarif", "again.svg")]
    run("check", "--compile-commands", str(LIBRARY), *(f"--witness={path}" for path in paths[:3]))
    assert run("draw", paths[0], "-o", paths[3]).exit_code == 0
    first, again = (Path(paths[index]).read_text() for index in (1, 3))
    assert first == again and "ring.c:14" in first
    (result,) = json.loads(Path(paths[2]).read_text())["runs"][0]["results"]
    files = []
    for place in (result["locations"][0], *result["relatedLocations"]):
        physical = place["physicalLocation"]
        file, region = Path(physical["artifactLocation"]["uri"]), physical["region"]
        files.append(str(file))
        line = (LIBRARY / "src" / file.name).read_text().split("\n")[region["startLine"] - 1]
        assert "shmem_" in line[region["startColumn"] - 1 : region["endColumn"] - 1] or "total_add" in line
    assert {Path(file).name for file in files} == {"main.c", "ring.c"}


def test_several_files_are_the_program_that_one_file_is() -> None:
    """The lowered program is, to the letter, that of the files one behind the other, statics with names of their own."""
    ring_h, total_h = ((LIBRARY / f"include/{name}.h").read_text() for name in ("ring", "total"))
    ring, total, first = ((LIBRARY / f"src/{name}.c").read_text() for name in ("ring", "total", "main"))
    total = total.replace("static int count", "static int many").replace("count +=", "many +=")
    total = total.replace("= count;", "= many;").replace("sent(", "noted(")
    lines = [line for line in (first + ring).split("\n") if line.startswith("#include <")]
    whole = "\n".join([*lines, ring_h, total_h, ring, total, first])
    text = "\n".join(line for line in whole.split("\n") if not line.startswith('#include "'))
    for nodes in (2, 3):
        several, one = library().program(nodes), parse_c(text, "main.c", OPTIONS).program(nodes)
        assert to_source(several).replace("count_total", "many") == to_source(one)


def test_another_machine_reads_the_same_files() -> None:
    recorder = Recorder()
    read_c(LIBRARY / "src/main.c", OPTIONS, recorder)
    copied = load_c(LIBRARY / "src/main.c", OPTIONS, Copies(recorder.kept))
    assert to_source(copied.program(2)) == to_source(library().program(2))


def test_without_its_files_it_is_refused() -> None:
    with pytest.raises(SourceError) as caught:
        library(FrontEnd(OPTIONS.dialects, defines=OPTIONS.defines, folders=HEADERS))
    found = caught.value.diagnostics
    assert [(each.code, each.line) for each in found] == [("PG125", 13), ("PG125", 15), ("PG122", 15), ("PG122", 19)]
    assert "is it defined in another file?" in found[0].hint
    with pytest.raises(SourceError) as caught:
        library(FrontEnd(defines=OPTIONS.defines, units=UNITS))
    assert [each.code for each in caught.value.diagnostics] == ["PG109"]


# What is linked

MAIN = "#include <shmem.h>\nint f(int); long g;\nint main(void) { shmem_init(); g = f(1); return 0; }\n"


def test_only_what_is_needed_is_linked(tmp_path: Path) -> None:
    program = linked(
        tmp_path,
        main_c=MAIN,
        f_c="int h(void); int f(int x) { return x + h(); }\n",
        h_c="int h(void) { return 3; }\n",
        unrelated_c="int unrelated(void) { return missing; }\n",
    )
    assert [Path(unit).name for unit in program.compiled.unit.units] == ["f.c", "h.c"]
    assert set(program.compiled.unit.functions) == {"main", "f", "h"}


def test_a_macro_may_make_the_name(tmp_path: Path) -> None:
    program = linked(
        tmp_path, main_c=MAIN, f_c="#define MAKE(a) int a##unction(int x) { return x; }\nint f(int x) {return x;}\n"
    )
    assert set(program.compiled.unit.functions) == {"main", "f"}
    main = MAIN.replace("f(int)", "function(int)").replace("f(1)", "function(1)")
    made = "#define MAKE(a) int a##unction(int x) { return x; }\nMAKE(f)\n"
    assert set(linked(tmp_path, main_c=main, f_c=made).compiled.unit.functions) == {"main", "function"}


def test_statics_belong_to_their_files(tmp_path: Path) -> None:
    """Functions, variables, and variables inside of functions; and what points to them."""
    unit = """
        static long value = {0}; static long get(void) {{ static long calls; calls += {0}; return value + calls; }}
        static long (*getter)(void) = get; static long *place = &value;
        long {1}(void) {{ return getter() + *place; }}
    """
    program = linked(
        tmp_path,
        main_c="#include <assert.h>\nlong a(void); long b(void);\nint main(void) { assert(a() + 10 * b() + a() == 3 + 90 + 4); }",
        a_c=unit.format(1, "a"),
        b_c=unit.format(3, "b"),
    )
    assert "value@b" in program.compiled.unit.objects and "get@b.calls" in program.compiled.unit.objects
    from pgasrob import check

    assert check(program).assertions != "violated"


def test_statics_of_files_of_one_name(tmp_path: Path) -> None:
    """Two files may be called alike, and what is static in the first file may be for all in others."""
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        text = (
            f"static int count; static int next(void) {{ return ++count; }} int {folder}(void) {{ return next(); }}\n"
        )
        (tmp_path / folder / "util.c").write_text(text)
    (main, count, reader) = written(
        tmp_path,
        main_c="#include <assert.h>\nint x(void); int y(void); int bump(void); int look(void);\n"
        "static int count = 50; static int next(void) { return count; }\n"
        "int main(void) { assert(x() == 1 && y() == 1 && x() == 2 && bump() == 1 && look() == 1 && next() == 50); }\n",
        count_c="int count; int bump(void) { return ++count; }\n",
        reader_c="extern int count; int look(void) { return count; }\n",
    )
    units = (count, reader, *(str(tmp_path / folder / "util.c") for folder in ("x", "y")))
    from pgasrob import check

    assert check(load_c(main, FrontEnd(units=units))).assertions != "violated"


def test_variables_without_a_value_are_one(tmp_path: Path) -> None:
    program = linked(
        tmp_path,
        main_c="#include <assert.h>\nint x; int y = 2; extern int a[]; void f(void);\n"
        "int main(void) { f(); assert(x == 5 && y == 7 && a[2] == 3); }",
        f_c="int x; int y; int a[3] = {1, 2, 3}; void f(void) { x = 5; y += 5; }",
    )
    from pgasrob import check

    assert check(program).assertions != "violated" and set(program.compiled.unit.objects) == {"x", "y", "a"}


def test_what_does_not_fit(tmp_path: Path) -> None:
    assert refused(tmp_path, main_c=MAIN, f_c="int f(long x) { return 1; }\n") == (
        "PG127", "main.c", 3, "`f` is declared here differently from its definition: "
        f"{tmp_path / 'f.c'} has `long` as the type of parameter 1, not `int`",
    )  # fmt: skip
    assert refused(tmp_path, main_c=MAIN, f_c="long f(int x) { return 1; }\n")[0] == "PG127"
    assert refused(tmp_path, main_c=MAIN, f_c="int f(int x, int y) { return 1; }\n")[0] == "PG127"
    assert refused(tmp_path, main_c=MAIN, f_c="int f;\n")[0] == "PG127"
    twice = {
        "f_c": "int f(int x) { return 1; }\nint twice = 1;\n",
        "g_c": "int h(void) { return 1; }\nint twice = 2;\n",
    }
    main = MAIN.replace("f(1)", "f(1) + h()").replace("long g", "int h(void); long g")
    assert refused(tmp_path, main_c=main, **twice) == (
        "PG127", "g.c", 2, f"`twice` is defined in {tmp_path / 'f.c'}:2 and again here",
    )  # fmt: skip


def test_variables_of_two_types(tmp_path: Path) -> None:
    main = MAIN.replace("long g", "long g; int common[2]; struct s { int a, b; }; struct s pair; extern struct s other")
    f = "int f(int x) { return x; } struct s { int a, b; }; struct s pair; struct s other;"
    assert linked(tmp_path, main_c=main, f_c=f).compiled.unit.units
    found = refused(tmp_path, main_c=main, f_c=f"{f} int common[4];")
    at = tmp_path / "main.c"
    assert found[0] == "PG127" and found[3] == (
        f"`common` is defined in {at}:2 and again here, as `int[4]` and not `int[2]`"
    )
    main = main.replace("g = f", "pair.a = other.a; g = f")
    found = refused(tmp_path, main_c=main, f_c=f.replace("int a, b", "int b, a").replace("struct s pair", "int h"))
    assert found[3].endswith("f.c has `struct s` with other members as its type")
    assert linked(
        tmp_path,
        main_c=main.replace("{ int a, b; }", "").replace("struct s pair;", "").replace("pair.a = other.a", "&other"),
        f_c=f,
    ).compiled.unit.units


def test_a_function_of_a_header_that_macros_change(tmp_path: Path) -> None:
    (tmp_path / "k.h").write_text("inline int k(void) { return K; }\n")
    main, f = '#define K 1\n#include "k.h"\n' + MAIN, '#include "k.h"\nint f(int x) { return k(); }\n'
    assert linked(tmp_path, main_c=main, f_c=f"#define K 1\n{f}").compiled.unit.units
    found = refused(tmp_path, main_c=main, f_c=f"#define K 2\n{f}")
    differs = "`k` is a different function in each file that includes this, because macros differ"
    assert found == ("PG127", "k.h", 1, differs)
    main = "#define TWO(n) struct { int a; } n; struct { long b, c; } n##2;\nTWO(x)\nint y[sizeof x2 - sizeof x];\n"
    assert linked(tmp_path, main_c=f"{main}int main(void) {{ return 0; }}\n").compiled.unit.objects["y"].type == Array(
        INT, 12
    )


def test_which_of_two_files_is_meant(tmp_path: Path) -> None:
    """The one of the same target, or else of the same folder; else it must be said."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other/f.c").write_text("int f(int x) { return 1; }\n")
    main, near = written(tmp_path, main_c=MAIN, f_c="int f(int x) { return 2; }\n")
    far = str(tmp_path / "other/f.c")
    assert load_c(main, FrontEnd(units=(far, near))).compiled.unit.units == (near,)
    commands = ((main, Flags(), "t"), (far, Flags(), "t"), (near, Flags(), "u"))
    assert load_c(main, FrontEnd(units=(far, near), commands=commands)).compiled.unit.units == (far,)
    (tmp_path / "third").mkdir()
    (tmp_path / "third/f.c").write_text("int f(int x) { return 1; }\n")
    with pytest.raises(SourceError) as caught:
        load_c(main, FrontEnd(units=(far, str(tmp_path / "third/f.c"))))
    assert caught.value.diagnostics[0].code == "PG127"


def test_a_file_with_mistakes_is_told_where_it_is_needed(tmp_path: Path) -> None:
    assert refused(tmp_path, main_c=MAIN, f_c="int f(int x) { return y; }\n")[:3] == ("PG122", "f.c", 1)
    assert refused(tmp_path, main_c=MAIN, f_c="int other(int x) { return y; }\n")[:3] == ("PG125", "main.c", 3)


def test_what_is_wrong_in_functions_that_are_not_used_does_not_matter(tmp_path: Path) -> None:
    unit = """
        int f(int x) { return x + y_of(x); } static int y_of(int x) { return KEPT; }
        int unused(void) { return missing; } int also(void) { return elsewhere(1) + unused(); } int kept = 4;
        static int (*table[])(void) = {unused}; int call(void) { return table[0](); }
    """.replace("int f", "int elsewhere(int); static int y_of(int); int f")
    program = linked(tmp_path, main_c=MAIN, f_c=unit.replace("KEPT", "x"))
    assert set(program.compiled.unit.functions) == {"main", "f", "y_of"} and set(program.compiled.unit.objects) == {
        "g",
        "kept",
    }
    assert refused(tmp_path, main_c=MAIN, f_c=unit)[:3] == ("PG122", "f.c", 2)
    for used in ("unused()", "elsewhere(2)", "table[0]()"):
        found = refused(tmp_path, main_c=MAIN, f_c=f"{unit} int g(void);".replace("KEPT", used))
        assert found[:3] in (("PG122", "f.c", 3), ("PG125", "f.c", 2)), used
    # A table for all files may be used by others, who do not call what is in it here.
    program = linked(tmp_path, main_c=MAIN, f_c=unit.replace("KEPT", "x").replace("static int (", "int ("))
    assert set(program.compiled.unit.broken) == {"unused"}


def test_a_function_that_no_run_calls_is_a_note(tmp_path: Path) -> None:
    """Whether it cannot be read or is defined nowhere, and whatever it is called elsewhere."""
    main = """
        int helped(int); int g(int); int lacking(int);
        static int wrong(void) { return g(1) + missing; } int (*table[])(void) = {wrong};
        static int other(int x) { return lacking(x); }
        int main(int argc, char **argv) { int x = helped(1); if (argc > 3) x = table[0]() + other(2); USE return x; }
    """
    helper = "static int wrong(void) { return 1; } static int lacking(int x) { return x; }\n"
    helper += (
        "int bad(void) { return missing; } int helped(int x) { return wrong() + lacking(x) + (x > 5 ? bad() : 0); }\n"
    )
    program = linked(tmp_path, main_c=main.replace("USE", ""), helper_c=helper)
    assert set(program.compiled.unit.broken) == {"wrong", "bad", "lacking"}
    noted = {each.kind: each for each in program.program(2).assumptions}[Kind.UNREAD_FUNCTIONS]
    assert noted.about == ("wrong()", "bad()", "lacking()")
    assert noted.lines == (3, 4, Line(2, str(tmp_path / "helper.c"), "helper.c"))
    for use, error in {
        "x = table[0]();": ("PG122", "main.c", 3), "x = other(2);": ("PG125", "main.c", 4),
        "x = helped(6);": ("PG122", "helper.c", 2),
    }.items():  # fmt: skip
        with pytest.raises(SourceError) as caught:
            linked(tmp_path, main_c=main.replace("USE", use), helper_c=helper).program(2)
        found = [(each.code, Path(each.file).name, each.line) for each in caught.value.diagnostics]
        assert error in found, use
    # A variable that is nowhere has no address, whoever names it.
    assert refused(tmp_path, main_c=main.replace("USE", "extern int far; x = far;"), helper_c=helper)[0] == "PG122"


def test_a_fault_and_a_problem_in_another_file_are_told_there(tmp_path: Path) -> None:
    files = written(tmp_path, main_c=MAIN, f_c="\nint a[2]; int f(int x) {\n  return a[x + 1]; }\n")
    result = run("check", *files)
    assert "f.c:3:3:error[PG041]:rank0:element2isoutsideof`a`" in "".join(result.stdout.split())
    assert "     3 | return a[x + 1]; }" in result.stdout
    recursive = "\nint f(int x) {\n  return f(x + 1); }\n"
    assert refused(tmp_path, main_c=MAIN, f_c=recursive)[:3] == ("PG145", "f.c", 3)


# The command line


def test_files_without_main_are_parts_of_the_others(tmp_path: Path) -> None:
    files = written(tmp_path, main_c=MAIN, f_c="int f(int x) { return x; }\n", two_c=MAIN)
    found = run("check", *files, "--brief")
    assert found.exit_code == 0 and found.stdout.count("correctly synchronised on 2 nodes") == 2
    assert run("check", str(tmp_path), "--brief").stdout == found.stdout
    unused = written(
        tmp_path,
        main_c=MAIN,
        unused_c="int unused(void) { return 1; } /* no main() */\n",
        f_c="int f(int x) { return x; }\n",
    )
    found = run("check", *unused, "--brief")
    assert found.exit_code == 2 and "unused.c has no `main`, and is not checked" in found.stderr
    (tmp_path / "main.c").write_text(f'#include "unused.c"\n{MAIN}')
    assert run("check", *unused, "--brief").exit_code == 0
    alone = run("check", files[1])
    assert alone.exit_code == 2 and "there is no function `main`" in alone.stdout


def test_a_main_that_macros_leave_out(tmp_path: Path) -> None:
    """A file that tests itself is a part of programs when it is compiled without its `main`."""
    unit = "int f(int x) { return x == '\"'; }\n#ifdef TEST\nint main(void) { return f(1); }\n#endif\n"
    main, part = written(tmp_path, main_c=MAIN, f_c=unit)
    assert run("check", main, part).exit_code == run("check", main, "--with", part).exit_code == 0
    assert run("check", part, "-D", "TEST").exit_code == 0
    found = run("check", main, "--with", part, "-D", "TEST")
    assert found.exit_code == 2 and "defines it, but also `main`" in found.stdout


@pytest.mark.parametrize("command", ["show", "explain", "run", "outcomes", "repair", "thrift"])
def test_every_command_takes_further_files(command: str, tmp_path: Path) -> None:
    main, unit = written(tmp_path, main_c=MAIN, f_c="int f(int x) { return x; }\n")
    assert run(command, main).exit_code == 2
    assert run(command, main, "--with", unit).exit_code == 0


def test_headers_and_macros_as_compilers_have_them(tmp_path: Path) -> None:
    """`-I` in its order, headers beside the file before them, `-U`, `-include`, `#include_next`, `__LINE__`."""
    for folder, value in (("one", 1), ("two", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "value.h").write_text(f"#ifndef V\n#define V {value}\n#endif\n")
        (tmp_path / folder / "sub").mkdir()
    (tmp_path / "two/sub/next.h").write_text("#define N 5\n")
    (tmp_path / "one/sub/next.h").write_text("#include_next <sub/next.h>\n")
    (tmp_path / "forced.h").write_text("#define FORCED 7\n")
    folders = (str(tmp_path / "one"), str(tmp_path / "two"))
    text = '#include <value.h>\n#include "sub/next.h"\nint a[V]; int b[N]; int c[__LINE__];\nint d[FORCED];\n#ifdef GONE\n#error\n#endif\nint main(void) { return 0; }\n'
    (file,) = written(tmp_path, main_c=text)
    flags = Flags((("GONE", "1"), ("GONE", None)), folders, (), (str(tmp_path / "forced.h"),))
    program = load_c(file, FrontEnd(commands=((file, flags, ""),)))
    from pgasrob.frontends.c.layout import size_of

    assert [size_of(each.type) // 4 for each in program.compiled.unit.objects.values()] == [1, 5, 3, 7]
    assert load_c(
        file, FrontEnd(commands=((file, flags, ""),), folders=folders[::-1])
    ).compiled.unit.objects.keys() == {*"abcd"}


def test_errors_in_headers_say_who_includes_them_and_what_macros_stand_for(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text('#define BOTH(x, y) ((x) + (y))\n#include "b.h"\n')
    (tmp_path / "b.h").write_text("\nstatic int f(void) { return BOTH(1, missing); }\n")
    (file,) = written(tmp_path, main_c='#include <shmem.h>\n#include "a.h"\nint main(void) { return f(); }\n')
    with pytest.raises(SourceError) as caught:
        load_c(file).program(2)
    (found,) = caught.value.diagnostics
    assert (Path(found.file).name, found.line, found.column) == ("b.h", 2, 37)
    assert found.notes == (f"included from {tmp_path / 'a.h'}:2", f"included from {file}:2")
    (file,) = written(tmp_path, main_c="#define SUM(x) ((x) + missing)\nint main(void) { return SUM(3); }\n")
    with pytest.raises(SourceError) as caught:
        load_c(file)
    assert caught.value.diagnostics[0].notes == ("`SUM` stands for `((3) + missing)`",)


def test_headers_of_the_system_are_not_read_where_build_systems_name_them() -> None:
    text = "#include <stdio.h>\nint main(void) { return EOF + VALUE; }\n"
    for header, content in (("/usr/include/stdio.h", "#error it is read\n"), ("inc/stdio.h", "#define EOF 3\n")):
        files = Overlay({header: content})
        options = FrontEnd(folders=("inc", "/usr/include"), defines=(("VALUE", "1"),))
        assert parse_c(text, "main.c", options, files).compiled.unit.functions
        with pytest.raises(SourceError) as caught:
            parse_c(text, "main.c", FrontEnd(folders=options.folders), files)
        assert caught.value.diagnostics[0].hint == "if it is a macro that the build defines: -D VALUE=VALUE"


def test_a_header_that_includes_itself(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text('#include "a.h"\n')
    (file,) = written(tmp_path, main_c='#include "a.h"\nint main(void) { return 0; }\n')
    with pytest.raises(SourceError) as caught:
        load_c(file)
    (found,) = caught.value.diagnostics
    assert found.code == "PG108" and len(found.notes) == 6


def test_members_of_what_a_null_pointer_points_to(tmp_path: Path) -> None:
    (file,) = written(tmp_path, main_c="struct s { int a, b; } *p;\nint main(void) { return p->b; }\n")
    assert "a pointer is 4 bytes behind the null pointer" in " ".join(run("check", file).stdout.split())


# The database


def test_what_a_database_says(tmp_path: Path) -> None:
    entries = [
        {"directory": "build", "file": "../x.c", "command": "cc -DA -D B=2 -DS='\"a b\"' -UC -I../inc -isystem /sys -iquote q -include f.h -c ../x.c -o CMakeFiles/t.dir/x.c.o"},
        {"directory": "/abs", "file": "y.c", "arguments": ["cc", "-c", "y.c"], "output": "sub/u.p/y.c.o"},
        {"directory": "/abs", "file": "z.cc", "arguments": ["c++", "-c", "z.cc"]},
    ]  # fmt: skip
    (tmp_path / "compile_commands.json").write_text(json.dumps(entries))
    (first, flags, target), (second, _, other) = read(str(tmp_path))
    at = str(tmp_path)
    assert [os.path.abspath(file) for file in (first, second)] == [f"{at}/x.c", "/abs/y.c"]
    assert flags.macros == (("A", "1"), ("B", "2"), ("S", '"a b"'), ("C", None))
    assert [os.path.abspath(each) for each in flags.folders] == [f"{at}/inc", "/sys"]
    assert [os.path.abspath(each) for each in (*flags.quoted, *flags.forced)] == [f"{at}/build/q", f"{at}/build/f.h"]
    assert (target, other) == (f"{at}/build/t", "/abs/sub/u")


def test_a_file_of_several_targets(tmp_path: Path) -> None:
    """Each program has the files as they are compiled for it; one that is compiled in two ways must be chosen."""
    text = "#include <assert.h>\nint f(void); int main(void) { assert(f() == N); return 0; }\n"
    files = written(tmp_path, a_c=text, b_c=text, c_c=text, util_c="int f(void) { return N; }\n")
    built = [("a", "1", "a"), ("util", "1", "a"), ("b", "2", "b"), ("util", "2", "b"), ("c", "1", "c"), ("c", "2", "d")]
    entries = [
        {
            "directory": str(tmp_path),
            "file": f"{file}.c",
            "command": f"cc -DN={n} -o CMakeFiles/{target}.dir/{file}.c.o",
        }
        for file, n, target in built
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(entries))
    found = run("check", "--compile-commands", str(tmp_path), "--format", "json")
    results = {Path(result["file"]).name: result for result in map(json.loads, found.stdout.splitlines())}
    assert {name: result["verdict"] for name, result in results.items()} == {
        "a.c": "robust", "b.c": "robust", "c.c": "error",
    }  # fmt: skip
    assert results["a.c"]["assertions"] == results["b.c"]["assertions"] != "violated"
    (error,) = results["c.c"]["errors"]
    assert error["code"] == "PG163" and "2 ways to compile this file, which differ in the macros N" in error["message"]
    assert run("check", files[2], "--with", files[3], "-D", "N=1").exit_code == 0


def test_what_compilers_are_told_on_the_way(tmp_path: Path) -> None:
    """libtool compiles a file twice, build systems put options into files, and `-o` is no prefix."""
    (tmp_path / "options").write_text("-DB='x y' -isystem/inc")
    entries = [
        {"directory": str(tmp_path), "file": "a.c", "command": f"libtool gcc -Wp,-MD,a.d,-DA @options {rest} -openmp"}
        for rest in ("-fPIC -DPIC -fopenmp -o .libs/a.o", "-fopenmp -o a.o")
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(entries))
    ((_, flags, target),) = read(str(tmp_path))
    assert flags.macros == (("A", "1"), ("B", "x y"), ("_OPENMP", "201511")) and target == ""
    assert [os.path.abspath(each) for each in flags.folders] == ["/inc"]


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '[{"file": "x.c"}]', '[{"directory": ".", "file": "x.c", "command": "cc \'"}]', "[]",
             '[{"directory": ".", "file": "x.c", "arguments": ["cc", "@options"]}]',
             '[{"directory": ".", "file": "x.c", "arguments": ["cc", "-D", "", "x.c"]}]',
             '[{"directory": ".", "file": "x.c", "arguments": ["cc", "-U3", "x.c"]}]']
)  # fmt: skip
def test_what_is_no_database(text: str, tmp_path: Path) -> None:
    (tmp_path / "compile_commands.json").write_text(text)
    found = run("check", "--compile-commands", str(tmp_path))
    assert found.exit_code == 2 and "error[PG163]" in found.stderr and "Traceback" not in found.stderr
    assert run("check", "--compile-commands", str(tmp_path / "none")).exit_code == 2


def test_a_long_output_has_no_target() -> None:
    """Which is found in one way through it: a target of CMake, of Meson, or none."""
    assert _target("b" * 300_000) == _target("a/.p/x.o") == _target("t.p") == ""
    assert _target("/x/CMakeFiles/a.p/CMakeFiles/t.dir/x.c.o") == "/x/CMakeFiles/a.p/t"
    assert _target("/x/lib/t.p/x.c.o") == "/x/lib/t" and _target("CMakeFiles/t.dir/x.o") == "t"


# Lines


def test_lines_know_their_files() -> None:
    one, other = Line(3, "a/x.c", "x.c"), Line(3, "a/y.c", "y.c")
    assert len({3, one, other, Line(3, "a/x.c", "x.c")}) == 3 and one != 3 and one > 3
    assert pickle.loads(pickle.dumps(one)) == one and f"{one}" == "x.c:3" and int(one) == 3
    order: Sequence[int] = [2, 7, one, Line(12, "a/x.c", "x.c"), other]
    assert sorted((*order[2:], *order[:2])) == order


# Changes of all files


def test_repairs_are_of_all_files(tmp_path: Path) -> None:
    """They are told, written and given to editors in the files where they are made, and repair these."""
    copy = Path(shutil.copytree(LIBRARY, tmp_path / "copy"))
    first, database = str(copy / "src/main.c"), f"--compile-commands={copy}"
    found = json.loads(run("repair", first, database, "--format", "json").stdout)
    places = [
        {Path(edit.get("file", first)).name for step in each["steps"] for edit in step["edits"]}
        for each in found["answers"]
    ]
    assert places == [{"main.c"}, {"ring.h"}, {"ring.c"}]
    fixes = json.loads(run("repair", first, database, "--format", "sarif").stdout)["runs"][0]["results"][0]["fixes"]
    assert [[Path(each["artifactLocation"]["uri"]).name for each in fix["artifactChanges"]] for fix in fixes] == [
        ["main.c"], ["ring.h"], ["ring.c"],
    ]  # fmt: skip
    main = Path(first).read_text().replace("shmem_sync_all", "shmem_barrier_all")
    Path(first).write_text(main)
    assert run("check", database).exit_code == 0
    saved = run("thrift", first, database, "--write")
    header = (copy / "include/ring.h").read_text()
    assert saved.exit_code == 0 and "shmem_fence" not in header and "shmem_quiet" in header  # behind an #ifdef
    assert (copy / "include/ring.h.orig").exists()
    assert run("check", database).exit_code == 0


def test_a_driver_calls_the_main_of_a_program_by_another_name(tmp_path: Path) -> None:
    app, driver = tmp_path / "app.c", tmp_path / "driver.c"
    app.write_text(
        "#include <shmem.h>\nstatic long x;\n"
        "int main(int argc, char **argv) { if (argc != 3) return 1; shmem_long_p(&x, 1, 0); return 0; }\n"
    )
    driver.write_text(
        "#include <shmem.h>\nint app_main(int argc, char **argv);\nint main(void) {\n"
        '  char *args[] = {"app", "1", "2", 0};\n  shmem_init(); app_main(3, args); shmem_finalize(); return 0;\n}\n'
    )
    files, renamed = [str(app), str(driver)], FrontEnd(defines=(("main", "app_main"),))
    programs, front_end = apart(files, renamed)
    assert programs == [str(driver)]
    lowered = load_c(driver, front_end).program(2)
    assert lowered.moves_data and lowered.instantiate(2).communicates
    assert apart(files, FrontEnd())[0] == files
