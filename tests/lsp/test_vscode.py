"""The extension for Visual Studio Code: it fits the server, the commands and the languages."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import pgasrob
from pgasrob.models.litmus.litmus_words import KEYWORDS

FOLDER = Path(pgasrob.__file__).parent / "lsp" / "vscode"
PACKAGE: dict[str, Any] = json.loads((FOLDER / "package.json").read_text())
CONTRIBUTED = PACKAGE["contributes"]
EDITOR = """
const Module = require("node:module"), told = [];
const load = Module._load;
const command = (name, act) => { told.push(["command", name]); commands[name] = act; return name; };
const FOUND = [["clang", 1], ["pgasrob", 7]];
const commands = {}, file = process.argv[1], program = process.argv[2];
const vscode = {
  workspace: { getConfiguration: () => ({ get: (key, other) => (key === "command" ? program : ["-n", "2"]) }) },
  window: {
    activeTextEditor: { document: { fileName: file, uri: file, save: async () => told.push(["saved"]) } },
    showInformationMessage: async (text) => told.push(["message", text]),
  },
  env: { openExternal: async (page) => told.push(["opened", require("node:fs").readFileSync(page, "utf8")]) },
  Uri: { file: (path) => path },
  Selection: class { constructor(start, end) { this.start = start; } },
  languages: { getDiagnostics: () => FOUND.map(([source, start]) => ({ source, range: { start } })) },
  commands: { registerCommand: command, executeCommand: async (name) => told.push(["executed", name]) },
};
class LanguageClient {
  constructor(id, name, server, options) { told.push(["server", server, options.documentSelector]); }
  async start() { told.push(["started"]); }
  async stop() { told.push(["stopped"]); }
}
Module._load = (name, ...rest) =>
  name === "vscode" ? vscode : name === "vscode-languageclient/node" ? { LanguageClient } : load(name, ...rest);
(async () => {
  const extension = require(process.argv[3]);
  await extension.activate({ subscriptions: [] });
  await commands["pgasrob.showRun"]();
  await commands["pgasrob.repair"]();
  told.push(["at", vscode.window.activeTextEditor.selection.start]);
  await extension.deactivate();
  console.log(JSON.stringify(told));
})();
"""


def test_what_is_contributed_is_there() -> None:
    paths = [
        each[key] for kind, key in (("languages", "configuration"), ("grammars", "path")) for each in CONTRIBUTED[kind]
    ]
    assert all((FOLDER / each).is_file() for each in (*paths, PACKAGE["main"]))
    text = (FOLDER / PACKAGE["main"]).read_text()
    registered = set(re.findall(r'registerCommand\("([^"]+)"', text))
    assert registered == {each["command"] for each in CONTRIBUTED["commands"]}
    settings = {f"pgasrob.{name}" for name in re.findall(r'found\.get\("(\w+)"', text)}
    assert settings == set(CONTRIBUTED["configuration"]["properties"])


def _words(language: str) -> set[str]:
    """The words that the grammar of a language knows."""
    grammar = json.loads((FOLDER / "syntaxes" / f"{language}.tmLanguage.json").read_text())
    assert grammar["scopeName"] == f"source.{language}"
    matches = [each.get("match", each.get("begin")) for each in grammar["patterns"]]
    assert all(re.compile(each) for each in matches)
    lists = [
        each.removeprefix(r"\b(?:").removesuffix(r")\b").split("|") for each in matches if each.startswith(r"\b(?:")
    ]
    found = [word for words in lists for word in words]
    assert len(found) == len(set(found))
    return set(found)


def test_grammars_know_the_words_of_the_languages() -> None:
    rules = (Path(pgasrob.__file__).parent / "program" / "grammar.lark").read_text()
    plain = set(re.findall(r'^[A-Z_]+(?:\.1)?: "(\w+)"$', rules, re.MULTILINE)) | {"else"}
    for alternatives in re.findall(r"^(?:ATOMIC|FETCH_UPDATE|OPERATION)\.1: /\((.*?)\)", rules, re.MULTILINE):
        plain |= set(alternatives.split("|"))
    plain |= {
        "update",
        "update_from",
        "update_located",
        "update_from_located",
        "notify",
        "notify_all",
        "signal",
        "thread",
    }
    assert _words("pgas") == plain
    assert _words("litmus") == KEYWORDS


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js runs the extension")
def test_commands(tmp_path: Path) -> None:
    """In an editor that only notes what it is asked, with a program that writes its arguments to the page."""
    program = tmp_path / "pgasrob"
    program.write_text('#!/bin/sh\nprintf "%s" "$*" > "$4"\n')
    program.chmod(0o755)
    command = ["node", "-e", EDITOR, "ring.c", str(program), str(FOLDER / PACKAGE["main"])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    said = json.loads(done.stdout)
    server, opened = said[0], next(each for each in said if each[0] == "opened")
    assert server == [
        "server",
        {"command": str(program), "args": ["lsp", "-n", "2"]},
        [{"language": "c"}, {"language": "pgas"}],
    ]
    assert re.fullmatch(r"check ring\.c --witness \S+/run\.html -n 2", opened[1])
    assert said[-3:] == [["executed", "editor.action.quickFix"], ["at", 7], ["stopped"]]
    assert ["saved"] in said and ["started"] in said
