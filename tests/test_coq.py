"""The mechanised proofs in `proofs/coq` compile, assume nothing, and prove what their README names."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "proofs" / "coq"
CLOSED = "Closed under the global context"
"""What Coq prints of what has no axioms."""

THEOREMS = [
    "same_happens_before", "swap_independent", "violating_dec", "shasha_snir", "two_parts_trace", "no_write_between",
    "same_cell", "rearrangement", "same_look_same_run", "same_look_same_values", "shasha_snir_program",
    "cancellation", "some_last_command_closes", "two_parts", "robust_iff_two_parts", "attack_sound",
    "attack_complete", "attack_decides", "search_before_source", "reinsertion", "robust_iff_normal_forms",
    "heads_are_normal_forms", "robust_iff_heads", "queues_can_be_emptied", "robust_program_is_where_blocks_are",
    "infeasible_source", "infeasible_robust", "every_n", "every_number", "Own.own_robust", "simulation_near",
    "persistent_sets", "merging_keeps", "merging_adds_nothing", "independent_to_front", "independent_along",
    "finds_after", "attack_persistent", "futures_apart", "reduced_attack_complete", "merged_attack_decides",
    "forgetting_keeps", "path_is_run", "unblocked_goes_on", "trace_decides", "one_run_of_each_trace",
    "word_is_a_computation", "word_is_violating",
]  # fmt: skip
"""The main theorems: those of `Assumptions.v`, in its order."""


def files() -> list[str]:
    """The files to compile, in their order."""
    return [line for line in (SOURCE / "_CoqProject").read_text().splitlines() if line.endswith(".v")]


def named() -> list[str]:
    """The theorems that the README names, as `File.theorem`."""
    names = re.findall(r"`([A-Z]\w*(?:\.\w+)+)`", (SOURCE / "README.md").read_text())
    return [name for name in dict.fromkeys(names) if not name.endswith((".v", ".py", ".md"))]


def without_comments(text: str) -> str:
    """The text of a Coq file without its comments, which nest."""
    kept, depth = [], 0
    for part in re.split(r"(\(\*|\*\))", text):
        if part == "(*":
            depth += 1
        elif part == "*)":
            depth -= 1
        elif depth == 0:
            kept.append(part)
    return "".join(kept)


def coqc(folder: Path, file: str) -> str:
    """What Coq prints when it compiles the file."""
    command = ["coqc", "-Q", ".", "Pgas", file]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    assert result.returncode == 0, f"{file}: {result.stdout}{result.stderr}"
    return result.stdout


def axioms(printed: str) -> list[str]:
    """The axioms that `Print Assumptions` prints."""
    lines = printed.splitlines()
    assert lines[:1] in ([CLOSED], ["Axioms:"]), printed
    return [name[1] for line in lines[1:] if (name := re.match(r"(\S+)\s*:", line))]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with all files compiled, and what `Assumptions.v`, the last of them, has printed."""
    if shutil.which("coqc") is None:
        pytest.skip("needs coqc")
    folder = tmp_path_factory.mktemp("coq")
    for file in files():
        shutil.copy(SOURCE / file, folder)
    printed = [coqc(folder, file) for file in files()]
    return folder, printed[-1]


def test_all_files_are_compiled() -> None:
    assert sorted(files()) == sorted(path.name for path in SOURCE.glob("*.v"))
    assert files()[-1] == "Assumptions.v"


@pytest.mark.parametrize("file", files())
def test_nothing_is_taken_for_granted(file: str) -> None:
    text = without_comments((SOURCE / file).read_text())
    words = r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjecture|Abort|bypass_check|Unset\s+\w+\s+Checking)\b"
    assert re.findall(words, text) == []


@pytest.mark.parametrize("file", files())
def test_what_is_assumed_is_assumed_in_a_section(file: str) -> None:
    """Outside of one, a variable would be an axiom."""
    open_sections: list[str] = []
    for line in without_comments((SOURCE / file).read_text()).splitlines():
        words = line.split()
        if words[:1] == ["Section"]:
            open_sections.append(words[1].rstrip("."))
        elif words[:1] == ["End"] and open_sections and open_sections[-1] == words[1].rstrip("."):
            open_sections.pop()
        elif words[:1] in (["Variable"], ["Variables"], ["Hypothesis"], ["Hypotheses"], ["Context"]):
            assert open_sections, line


def test_the_main_theorems_have_no_axioms(compiled: tuple[Path, str]) -> None:
    assert re.findall(r"^  @(\S+?)[,)]", (SOURCE / "Assumptions.v").read_text(), re.MULTILINE) == THEOREMS
    assert axioms(compiled[1]) == []


def test_what_the_readme_names_is_there(compiled: tuple[Path, str]) -> None:
    folder, _ = compiled
    names = named()
    assert {name.rpartition(".")[2] for name in names} >= {name.rpartition(".")[2] for name in THEOREMS}
    used = sorted({name.partition(".")[0] for name in names})
    lines = [f"Require Pgas.{file}." for file in used] + [f"Check Pgas.{name}." for name in names]
    (folder / "Named.v").write_text("\n".join(lines) + "\n")
    coqc(folder, "Named.v")


def test_pages_name_theorems_that_the_readme_names() -> None:
    for page in SOURCE.parent.glob("*.md"):
        for line in page.read_text().split("\n\n"):
            if line.startswith("Mechanised"):
                assert set(re.findall(r"`([A-Z]\w*(?:\.\w+)+)`", line)) <= set(named()), page.name
