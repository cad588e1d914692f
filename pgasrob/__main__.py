"""``python -m pgasrob`` is the command ``pgasrob``."""

from pgasrob.cli import main

if __name__ == "__main__":
    main()
