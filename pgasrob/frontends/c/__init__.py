"""The C language: preprocessor, parser, code, and the machine that runs the code for one rank with what is known."""
