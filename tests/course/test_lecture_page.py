"""Lecture pages in parts: nothing of a page is lost, and what is no part is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgasrob.course.lecture_page import BadPage, Part, beginning, first_line, parts

LECTURES = Path(__file__).parents[2] / "programs" / "lectures"
PAGES = sorted(LECTURES.glob("*/lecture.md"))


def test_a_page_in_parts() -> None:
    text = """# Lecture 9: Puts

*An hour.*

**Claim 9.1.** It is
late.

```
$ pgasrob check a.pgas -n 2
a.pgas: robust
```

```c a.c
int x;
```

```text
free
```

- one

> Definition.

| a |
|---|
| 1 |

![a run](run.svg)

<details>
<summary>Solution</summary>

No.

</details>
"""
    assert parts(text) == [
        Part("heading", "Lecture 9: Puts", "1"),
        Part("prose", "*An hour.*"),
        Part("claim", "It is\nlate.", "9.1"),
        Part("command", "a.pgas: robust\n", "pgasrob check a.pgas -n 2"),
        Part("program", "int x;\n", "a.c"),
        Part("text", "free\n"),
        Part("list", "- one\n"),
        Part("quote", "> Definition."),
        Part("table", "| a |\n|---|\n| 1 |"),
        Part("picture", "a run", "run.svg"),
        Part("solution", ""),
        Part("prose", "No."),
        Part("end", ""),
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_every_word_of_a_lecture_is_in_a_part(page: Path) -> None:
    text = page.read_text()
    found = [word for part in parts(text) for word in re.findall(r"\w+", f"{part.name} {part.text}")]
    assert set(re.findall(r"\w{4,}", text)) - set(found) <= {"details", "summary", "Solution", "text", "pgas", "Claim"}


def test_what_no_part_stands_for_is_named() -> None:
    with pytest.raises(BadPage, match="line 3: a lecture page has no hr"):
        parts("# A\n\n---\n")


def test_the_first_line_of_a_listing(tmp_path: Path) -> None:
    file = tmp_path / "a.pgas"
    file.write_text("// expect: robust\nprogram a;\nprocess {\n}\n")
    assert first_line("program a;\nprocess {\n}\n", file) == 2
    assert first_line("program a;\n...\n}\n", file) is None
    assert first_line("program b;\n", file) is None


@pytest.mark.parametrize(
    ("room", "kept"),
    [(1, "One (e.g. this)."), (35, "One (e.g. this). Two is `a.b`:"), (99, "One (e.g. this). Two is `a.b`: Three!")],
)
def test_the_beginning_of_a_paragraph(room: int, kept: str) -> None:
    assert beginning("One (e.g. this). Two\nis `a.b`: Three!", room) == kept
    assert beginning("no end", 1) == "no end"
