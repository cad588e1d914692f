// @ts-check
// Starts `pgasrob lsp` for C and .pgas files, and adds two commands: show the run, and repair.
"use strict";

const { execFile } = require("node:child_process");
const { existsSync, mkdtempSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** @type {LanguageClient | undefined} */
let client;

/** @returns {{ command: string, options: string[] }} */
function settings() {
  const found = vscode.workspace.getConfiguration("pgasrob");
  return { command: found.get("command", "pgasrob"), options: found.get("arguments", []) };
}

/** Check the file in the editor and open the page with the run, if the program has one to show. */
async function showRun() {
  const document = vscode.window.activeTextEditor?.document;
  if (!document) return;
  await document.save();
  const { command, options } = settings();
  const page = join(mkdtempSync(join(tmpdir(), "pgasrob-")), "run.html");
  const text = await new Promise((resolve) =>
    execFile(command, ["check", document.fileName, "--witness", page, ...options], (error, out, wrong) =>
      resolve(out || wrong || String(error)),
    ),
  );
  if (existsSync(page)) await vscode.env.openExternal(vscode.Uri.file(page));
  else await vscode.window.showInformationMessage(`There is no run to show. ${text.split("\n").slice(0, 2).join(" ")}`);
}

/** Go to the first finding that has a repair, and offer its repairs. */
async function repair() {
  const editor = vscode.window.activeTextEditor;
  if (!editor) return;
  const findings = vscode.languages.getDiagnostics(editor.document.uri).filter((each) => each.source === "pgasrob");
  if (findings.length === 0) {
    await vscode.window.showInformationMessage("pgasrob has found nothing here.");
    return;
  }
  editor.selection = new vscode.Selection(findings[0].range.start, findings[0].range.start);
  await vscode.commands.executeCommand("editor.action.quickFix");
}

/** @param {import("vscode").ExtensionContext} context */
async function activate(context) {
  const { command, options } = settings();
  const server = { command, args: ["lsp", ...options] };
  const documentSelector = [{ language: "c" }, { language: "pgas" }];
  client = new LanguageClient("pgasrob", "pgasrob", server, { documentSelector });
  context.subscriptions.push(
    vscode.commands.registerCommand("pgasrob.showRun", showRun),
    vscode.commands.registerCommand("pgasrob.repair", repair),
  );
  await client.start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
