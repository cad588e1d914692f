"""What editors show while a program is written: a language server (LSP), by pygls.

The server (`server`) keeps the texts of the editor and answers at once; whatever has to read a program, or search, is
asked of a process of its own (`bounded`) by `edited_program`.
"""
