"""`python -m searchport_platform`: the `searchport` command."""

from searchport_platform.cli import main

main()
