"""Teaching with the lectures: reading their pages, making slides, notebooks and hand-outs, and grading."""
