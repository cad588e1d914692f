"""What the compiled code computes is what gcc's programs compute."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest

from tests.frontends.c.interpreter import Interpreter
from tests.frontends.c.snippets import SNIPPETS, program

GCC = shutil.which("gcc")


@pytest.mark.skipif(GCC is None, reason="there is no gcc")
@pytest.mark.parametrize("name", SNIPPETS)
def test_snippets_print_what_gcc_says(name: str, tmp_path: Path) -> None:
    source = tmp_path / "test.c"
    source.write_text(program(name))
    subprocess.run([str(GCC), "-w", "-std=gnu11", "-O0", str(source), "-o", str(tmp_path / "test")], check=True)
    ran = subprocess.run([str(tmp_path / "test")], capture_output=True, text=True, check=False, timeout=10)
    assert Interpreter(program(name)).run() == (ran.stdout, ran.returncode)


TYPES = ("char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long", "_Bool")


def expression(random: Random, depth: int) -> str:
    """A random integer expression over variables of all types that C defines (with wrapping)."""
    if depth == 0 or random.random() < 0.15:
        number = random.choice((0, 1, 2, 7, 127, 128, 255, 32768, 65535, 2**31 - 1, 2**31, 2**32, 2**40 + 3))
        name = random.choice("abcdefghi")
        element = f"v[{random.randrange(3)}]"
        return random.choice(
            (f"{number}", f"{number}u", name, name, element, f"s.{random.choice('xyz')}", f"(*p{name})")
        )
    left, right = expression(random, depth - 1), expression(random, depth - 1)
    match random.randrange(10):
        case 0:
            return f"({random.choice('-~!+')}{left})"
        case 1:
            return f"(({random.choice(TYPES)}){left})"
        case 2:
            return f"({left} {random.choice(('/', '%'))} ((int)({right}) & 15 | 1))"
        case 3:
            return f"({left} {random.choice(('<<', '>>'))} ({right} & 15))"
        case 4:
            return f"({left} {random.choice(('<', '>', '<=', '>=', '==', '!=', '&&', '||'))} {right})"
        case 5:
            return f"({left} ? {right} : {expression(random, depth - 1)})"
        case 6:
            return f"({random.choice('abcdefghi')} {random.choice(('=', '+=', '-=', '^=', '*='))} {left})"
        case 7:
            return (
                f"{random.choice(('++', '--'))}v[{random.randrange(3)}]"
                if random.random() < 0.5
                else f"({left}, {right})"
            )
        case _:
            return f"({left} {random.choice('+-*&|^')} {right})"


def random_program(seed: int) -> str:
    """Random assignments without effects inside their values (gcc may order those freely), and what they give.

    In every other program the variables are addressed, so that they lie in memory.
    """
    random = Random(seed)
    names = "abcdefghi"
    lines = [
        f"  {type} {name} = {random.randrange(-300, 300)}, *p{name} = &{name};"
        for type, name in zip(TYPES, names, strict=True)
    ]
    lines.append("  struct { char x; unsigned y; long z; } s = {1, 2, 3}; short v[3] = {5, -6, 7};")
    for _ in range(60):
        value = expression(random, random.randrange(1, 5))
        while any(sign in value for sign in ("++", "--", "+=", "-=", "*=", "^=", " = ", ", ")):
            value = expression(random, random.randrange(1, 5))
        name = random.choice(names)
        lines.append(f"  {name} {random.choice(('=', '=', '+=', '-=', '^=', '*=', '|=', '&='))} {value};")
        lines.append(
            f"  s.{random.choice('xyz')} = v[{random.randrange(3)}] {random.choice(('+=', '=', '-='))} {value};"
        )
        lines.append(
            f'  printf("%ld %ld %ld %ld\\n", (long)({value}), (long){name}, (long)s.x, (long)sizeof({value}));'
        )
    text = "#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\n  return 0;\n}\n"
    return re.sub(r", \*p. = &.;", ";", re.sub(r"\(\*p(.)\)", r"\1", text)) if seed % 2 else text


@pytest.mark.skipif(GCC is None, reason="there is no gcc")
@pytest.mark.parametrize("seed", range(12))
def test_random_expressions_print_what_gcc_says(seed: int, tmp_path: Path) -> None:
    text = random_program(seed)
    source = tmp_path / "test.c"
    source.write_text(text)
    arguments = ["-w", "-std=gnu11", "-O0", "-fwrapv", str(source), "-o", str(tmp_path / "test")]
    subprocess.run([str(GCC), *arguments], check=True)
    ran = subprocess.run([str(tmp_path / "test")], capture_output=True, text=True, check=False, timeout=10)
    assert Interpreter(text).run() == (ran.stdout, ran.returncode)
