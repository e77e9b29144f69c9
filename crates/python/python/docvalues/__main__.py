"""`python -m docvalues`, and the command `dv`."""

import signal
import sys

from ._docvalues import main as run


def main() -> None:
    # Python would note Ctrl-C, and wait for the command to end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(run(["dv", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
