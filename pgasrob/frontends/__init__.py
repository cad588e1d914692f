"""From C sources to programs of the calculus: `c` reads and runs the language, `apis` knows what each call promises."""
