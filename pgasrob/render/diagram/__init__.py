"""The space-time diagram of a run: its model, its layout, and how any pen draws it."""
