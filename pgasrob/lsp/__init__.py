"""A language server (LSP, by pygls), which checks programs while they are written in an editor.

The server (`server`) keeps the texts of the editor and answers at once; whatever has to read a program, or search, is
asked of a process of its own (`bounded`) by `edited_program`.
"""
