"""The space-time diagram of a run before it is drawn: lanes, rows, boxes, lines, the numbers of the cycle."""
