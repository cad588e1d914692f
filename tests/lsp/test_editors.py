"""The settings for Neovim and Emacs that the manual shows: with them, each editor shows what the server finds."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pgasrob

MANUAL = Path(pgasrob.__file__).parent / "manual" / "editors.md"
NEOVIM = """lua
vim.wait(60000, function() return #vim.diagnostic.get(0) > 1 end)
for _, found in ipairs(vim.diagnostic.get(0)) do print(found.lnum + 1, found.severity, found.message, "\\n") end
"""
EMACS = """
(package-initialize)
(load-file "init.el")
(find-file "one_to_one.pgas")
(call-interactively 'eglot) ; what `eglot-ensure` does after the next command, and there is none in a batch
(let ((turns 0))
  (while (and (< turns 600) (null (cdr (flymake-diagnostics))))
    (accept-process-output nil 0.1)
    (setq turns (1+ turns))))
(dolist (found (flymake-diagnostics))
  (princ (format "%s %s\\n" (line-number-at-pos (flymake-diagnostic-beg found)) (flymake-diagnostic-text found))))
"""


def shown(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", MANUAL.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return found[1]


def run(folder: Path, *command: str) -> str:
    """What an editor writes in `folder`, with a home of its own, in which it finds `pgasrob` and the program."""
    shutil.copy(pgasrob.example("one_to_one"), folder)
    server = folder / "pgasrob"
    server.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pgasrob "$@"\n', encoding="utf-8")
    server.chmod(0o755)
    home = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder), "XDG_STATE_HOME": str(folder)}
    root = Path(pgasrob.__file__).parents[1]
    environment = {**os.environ, **home, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(root)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("nvim") is None, reason="needs Neovim")
def test_neovim_shows_what_is_found(tmp_path: Path) -> None:
    (tmp_path / "init.lua").write_text(shown("lua"), encoding="utf-8")
    (tmp_path / "look.vim").write_text(f"lua << END\n{NEOVIM.partition(chr(10))[2]}END\nqa!\n", encoding="utf-8")
    text = run(tmp_path, "nvim", "--headless", "-u", "init.lua", "one_to_one.pgas", "-S", "look.vim")
    assert re.search(r"^11 1 not robust on 2 nodes", text, re.MULTILINE), text
    assert re.search(r"^\s*11 2 race on 2 nodes: lines 11 and 13 race", text, re.MULTILINE), text


def has_eglot() -> bool:
    look = '(progn (package-initialize) (kill-emacs (if (locate-library "eglot") 0 1)))'
    command = ["emacs", "--batch", "--eval", look]
    return (
        shutil.which("emacs") is not None and subprocess.run(command, capture_output=True, check=False).returncode == 0
    )


def test_emacs_shows_what_is_found(tmp_path: Path) -> None:
    if not has_eglot():
        pytest.skip("needs Emacs with eglot")
    (tmp_path / "init.el").write_text(shown("elisp"), encoding="utf-8")
    (tmp_path / "look.el").write_text(EMACS, encoding="utf-8")
    text = run(tmp_path, "emacs", "--batch", "-l", "look.el")
    assert re.search(r"^11 .*not robust on 2 nodes", text, re.MULTILINE), text
    assert re.search(r"^11 .*race on 2 nodes: lines 11 and 13 race", text, re.MULTILINE), text
