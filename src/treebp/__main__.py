"""``python -m treebp`` is ``treebp``."""

from treebp.cli import main

if __name__ == "__main__":
    main()
