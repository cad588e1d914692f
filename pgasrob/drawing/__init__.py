"""Pictures of graphs: what a graph to draw is, where its nodes and edges go, and how each format writes it."""
