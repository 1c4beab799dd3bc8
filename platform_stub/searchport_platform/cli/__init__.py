"""The `searchport` command."""

import sys

__all__ = ["main"]


def main() -> None:
    """Runs the command line; exits 0 on success, 1 on a failure, 2 on wrong usage."""
    try:
        import click

        from searchport_platform.cli.commands import cli
    except ModuleNotFoundError as error:
        sys.exit(f"searchport: the command needs {error.name!r}; install it with: pip install 'searchport[platform]'")
    try:
        sys.exit(cli(prog_name="searchport", standalone_mode=False))
    except click.ClickException as error:
        click.echo(f"searchport: {error.format_message()}", err=True)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
