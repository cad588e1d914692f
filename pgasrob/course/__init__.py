"""Teaching with the lectures: their pages as parts, hand-outs without the answers, and marks for what is handed in."""
