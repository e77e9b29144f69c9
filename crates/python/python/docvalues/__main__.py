"""`python -m docvalues`, and the command `dv`."""

import sys

from ._docvalues import main as run


def main() -> None:
    sys.exit(run(["dv", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
