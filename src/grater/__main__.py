"""`python -m grater` is `grater`."""

from grater.cli import main

main()
