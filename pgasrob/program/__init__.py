"""Programs: expressions, commands, control automata, and the core syntax."""
