"""How a command fails: one line on standard error, and an exit status."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from searchport.errors import ErrorCode, SearchError
from searchport_platform.registry import RegistryError
from searchport_platform.settings import SettingsError
from searchport_platform.storage.engine import DatabaseUrlError
from searchport_platform.tenancy.sealing import SealingError

__all__ = ["one_line"]


@contextmanager
def one_line() -> Iterator[None]:
    """Turns every expected failure into one line; exits with 2 for wrong input, 1 for the rest."""
    try:
        yield
    except SearchError as error:
        click.echo(f"searchport: {error.code}: {error}", err=True)
        sys.exit(2 if error.code is ErrorCode.VALIDATION_ERROR else 1)
    except (SettingsError, RegistryError, SealingError, DatabaseUrlError, OSError) as error:
        click.echo(f"searchport: {error}", err=True)
        sys.exit(1)
