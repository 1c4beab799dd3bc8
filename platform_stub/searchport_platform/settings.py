"""What an operator sets, read once at start-up from the environment."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

import attrs
import typed_settings as ts
from typed_settings.loaders import EnvLoader

from searchport.egress.outgoing import parse_origin
from searchport.wire import nearest
from searchport_platform.metering.prices import Prices, PricesError
from searchport_platform.metering.retention import RECORD_DAYS
from searchport_platform.storage.urls import DEFAULT_URL

__all__ = [
    "BASE_URLS",
    "DEFAULT_PROVIDER",
    "KEEP",
    "PREFIX",
    "PRICES",
    "Settings",
    "SettingsError",
    "load_settings",
    "read_secret",
]

PREFIX = "SEARCHPORT_"
BASE_URLS = f"{PREFIX}PROVIDER_BASE_URLS"
KEEP = f"{PREFIX}KEEP"
DEFAULT_PROVIDER = f"{PREFIX}DEFAULT_PROVIDER"
PRICES = f"{PREFIX}PRICES"

_DAYS = f"{PREFIX}RECORD_DAYS"
_MOST_DAYS = 36_500
_ORIGINS_EXAMPLE = '{"brave": "http://127.0.0.1:9001"}'

_ENVIRONMENTS = ("production", "development")
_TOKEN_FILE = f"{PREFIX}OPS_TOKEN_FILE"
_OF_KUBERNETES = re.compile(r"SEARCHPORT_(?:SERVICE_(?:HOST|PORT)|PORT)(?:_\w+)?")
"""What a cluster sets by itself in every container beside a Service that is named `searchport`."""

_OTHER_VARIABLES = frozenset({"OPS_TOKEN_FILE", "API_KEY", "TOKEN"})
"""Read elsewhere: the key by `searchport search`, the token by `searchport mcp`, both by `searchport migrate`; but a server that
inherits one of them is not set up wrongly."""


class SettingsError(ValueError):
    """A setting that cannot be used; its text names the variable and what is allowed, never a secret's value."""


def _parse_names(text: str) -> tuple[str, ...]:
    return tuple(name for name in (part.strip() for part in text.split(",")) if name)


def _parse_base_urls(text: str) -> Mapping[str, str]:
    if not text.strip():
        return MappingProxyType({})
    try:
        origins = json.loads(text)
    except ValueError:
        origins = None
    if not isinstance(origins, dict) or not all(isinstance(origin, str) for origin in origins.values()):
        raise SettingsError(f"{BASE_URLS}: not a JSON object from provider id to origin, such as {_ORIGINS_EXAMPLE}")
    for provider, origin in origins.items():
        try:
            parse_origin(origin)
        except ValueError:
            fix = f"write scheme, host and port alone, as in {_ORIGINS_EXAMPLE}"
            raise SettingsError(f"{BASE_URLS}: the address of {provider[:64]!r} is no origin; {fix}") from None
    return MappingProxyType(origins)


def _parse_days(text: str) -> int:
    if re.fullmatch(r"[0-9]{1,5}", text) and int(text) <= _MOST_DAYS:
        return int(text)
    raise SettingsError(f"{_DAYS}: {text[:80]!r} is no whole number of days from 0 (for ever) to {_MOST_DAYS:,}")


@attrs.frozen(kw_only=True)
class Settings:
    """The operator's settings; each field's name in upper case, after `SEARCHPORT_`, is its environment variable."""

    ops_token: str = ts.secret(default="", help="Bearer token of /ops and /info; without one they answer loopback only.")
    toolkits: str = ts.option(default="", help="Toolkits to add and remove, by comma: acme-search,-brave.")
    keep: str = ts.option(default="", help="Providers to keep on after their vendor's end, by comma.")
    provider_base_urls: str = ts.option(
        default="", help="JSON object from provider id to origin: points a provider at another address."
    )
    database_url: str = ts.secret(
        default=DEFAULT_URL, help="The database, SQLite or PostgreSQL; by default an SQLite file in the current folder."
    )
    secret_keys: str = ts.secret(
        default="",
        help="Keys that seal credentials: base64 of 32 bytes, by comma; the first seals, all open. By default a file; "
        "required on PostgreSQL.",
    )
    default_provider: str = ts.option(default="", help="The provider that new organizations begin with.")
    prices: str = ts.option(
        default="", help="JSON object from provider id to US dollars for 1,000 requests, over what the toolkits declare."
    )
    record_days: str = ts.option(
        default=str(RECORD_DAYS), help="Days that records of searches are kept; 0: for ever. Caps and budgets do not need them."
    )
    public_url: str = ts.option(default="", help="Scheme, host and port under which users reach this server.")
    env: str = ts.option(default="development", help="production: refuse unsafe defaults.")

    @property
    def is_production(self) -> bool:
        """True where unsafe defaults must stop the start."""
        return self.env == "production"

    @property
    def toolkit_changes(self) -> tuple[str, ...]:
        """Ids to add, and ids with a leading `-` to remove."""
        return _parse_names(self.toolkits)

    @property
    def kept_providers(self) -> frozenset[str]:
        """Ids of ended providers that stay usable."""
        return frozenset(_parse_names(self.keep))

    @property
    def kept_days(self) -> int:
        """Days that records of searches are kept; 0: for ever. Raises SettingsError."""
        return _parse_days(self.record_days)

    @property
    def origins(self) -> Mapping[str, str]:
        """Provider id -> the origin to call instead of the vendor's. Raises SettingsError."""
        return _parse_base_urls(self.provider_base_urls)


def load_settings() -> Settings:
    """The settings in the process's environment; `SEARCHPORT_OPS_TOKEN_FILE` names a file that holds the token.

    Raises SettingsError, naming the variable, on a value that is not allowed and on a `SEARCHPORT_` variable that nothing
    reads: a misspelt setting must not be a setting that is silently off.
    """
    _refuse_unknown(os.environ)
    settings = ts.load_settings(Settings, [EnvLoader(PREFIX)])
    if _TOKEN_FILE in os.environ:
        if settings.ops_token:
            raise SettingsError(f"{PREFIX}OPS_TOKEN and {_TOKEN_FILE} are both set; keep one")
        settings = attrs.evolve(settings, ops_token=read_secret(_TOKEN_FILE, Path(os.environ[_TOKEN_FILE])))
    if settings.ops_token and not settings.ops_token.strip():
        raise SettingsError(f"{PREFIX}OPS_TOKEN: is blank; set it to a long random text, or leave it out")
    if settings.env not in _ENVIRONMENTS:
        raise SettingsError(f"{PREFIX}ENV: {settings.env[:80]!r} is not one of: {', '.join(_ENVIRONMENTS)}")
    _parse_base_urls(settings.provider_base_urls)
    _parse_days(settings.record_days)
    _check_prices(settings.prices)
    _check_public_url(settings.public_url)
    return settings


def _check_prices(text: str) -> None:
    try:
        Prices.parse(text)
    except PricesError as error:
        raise SettingsError(f"{PRICES}: {error}") from None


def _check_public_url(text: str) -> None:
    try:
        _ = text and parse_origin(text)
    except ValueError:
        raise SettingsError(f"{PREFIX}PUBLIC_URL: write scheme, host and port alone: https://search.example.com") from None


def read_secret(name: str, path: Path) -> str:
    """The one line of a secret's file. Raises SettingsError, which shows nothing of it, where it is blank or unreadable."""
    try:
        secret = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise SettingsError(f"{name}: the file cannot be read as UTF-8 text") from None
    if not secret:
        raise SettingsError(f"{name}: the file is blank")
    return secret


def _refuse_unknown(names: Iterable[str]) -> None:
    known = {field.name.upper() for field in attrs.fields(Settings)} | _OTHER_VARIABLES
    for name in sorted(names):
        if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in known and not _OF_KUBERNETES.fullmatch(name):
            hint = nearest(name.removeprefix(PREFIX), known)
            raise SettingsError(f"{name}: no such setting{hint} (known, after {PREFIX}: {', '.join(sorted(known))})")
