"""`python -m demur` is the command `demur`."""

from demur.cli import main

if __name__ == "__main__":
    main()
