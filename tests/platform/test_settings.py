"""What an operator sets: read strictly, refused by name."""

from pathlib import Path

import pytest

from searchport_platform.app import build_app, build_router
from searchport_platform.routing.clients import HttpClients
from searchport_platform.settings import Settings, SettingsError, load_settings


def test_nothing_set_is_a_development_server_for_this_machine() -> None:
    assert load_settings() == Settings()
    assert not load_settings().is_production


def test_every_setting_is_read_from_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCHPORT_OPS_TOKEN", "t")
    monkeypatch.setenv("SEARCHPORT_TOOLKITS", "acme-search, -brave")
    monkeypatch.setenv("SEARCHPORT_KEEP", "google-cse")
    monkeypatch.setenv("SEARCHPORT_ENV", "production")
    monkeypatch.setenv("SEARCHPORT_PROVIDER_BASE_URLS", '{"brave": "http://127.0.0.1:9001"}')
    settings = load_settings()
    assert (settings.ops_token, settings.is_production) == ("t", True)
    assert settings.toolkit_changes == ("acme-search", "-brave")
    assert settings.kept_providers == {"google-cse"}
    assert settings.origins == {"brave": "http://127.0.0.1:9001"}


def test_a_token_can_come_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret\n", encoding="utf-8")
    monkeypatch.setenv("SEARCHPORT_OPS_TOKEN_FILE", str(tmp_path / "token"))
    assert load_settings().ops_token == "secret"


def test_a_token_and_a_file_for_it_cannot_both_be_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("b", encoding="utf-8")
    monkeypatch.setenv("SEARCHPORT_OPS_TOKEN", "a")
    monkeypatch.setenv("SEARCHPORT_OPS_TOKEN_FILE", str(tmp_path / "token"))
    with pytest.raises(SettingsError, match="both set"):
        load_settings()


def test_a_blank_token_file_stops_the_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("\n", encoding="utf-8")
    monkeypatch.setenv("SEARCHPORT_OPS_TOKEN_FILE", str(tmp_path / "token"))
    with pytest.raises(SettingsError, match="the file is blank"):
        load_settings()


def test_what_a_cluster_sets_by_itself_is_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCHPORT_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("SEARCHPORT_SERVICE_PORT_HTTP", "80")
    monkeypatch.setenv("SEARCHPORT_PORT", "tcp://10.0.0.1:80")
    monkeypatch.setenv("SEARCHPORT_PORT_80_TCP_ADDR", "10.0.0.1")
    assert load_settings() == Settings()


def test_a_token_is_not_in_what_settings_show() -> None:
    assert "canary" not in repr(Settings(ops_token="canary"))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("SEARCHPORT_OPS_TOKN", "canary", "did you mean 'OPS_TOKEN'?"),
        ("SEARCHPORT_ZZZ", "canary", "no such setting (known, after SEARCHPORT_: "),
        ("SEARCHPORT_OPS_TOKEN", " ", "is blank"),
        ("SEARCHPORT_PUBLIC_URL", "searchport.example", "write scheme, host and port alone"),
        ("SEARCHPORT_ENV", "prod", "not one of: production, development"),
        ("SEARCHPORT_PROVIDER_BASE_URLS", "{canary", "not a JSON object from provider id to origin"),
        ("SEARCHPORT_PROVIDER_BASE_URLS", "[]", "not a JSON object from provider id to origin"),
        ("SEARCHPORT_PROVIDER_BASE_URLS", '{"brave": 5}', "not a JSON object from provider id to origin"),
        ("SEARCHPORT_PROVIDER_BASE_URLS", '{"brave": "http://127.0.0.1:1/path"}', "'brave'"),
        ("SEARCHPORT_PROVIDER_BASE_URLS", '{"brave": "ftp://127.0.0.1"}', "'brave'"),
        ("SEARCHPORT_PROVIDER_BASE_URLS", '{"brave": "http://k:canary@127.0.0.1"}', "'brave'"),
        ("SEARCHPORT_OPS_TOKEN_FILE", "/nowhere/canary", "cannot be read"),
    ],
)
def test_a_wrong_setting_stops_the_start_by_its_name(monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert name in str(caught.value)
    assert words in str(caught.value)
    assert "canary" not in str(caught.value)


def test_an_address_for_a_provider_that_is_not_enabled_stops_the_start() -> None:
    with pytest.raises(
        SettingsError, match="SEARCHPORT_PROVIDER_BASE_URLS: 'bravo' is no enabled provider; did you mean 'brave'"
    ):
        build_router(Settings(provider_base_urls='{"bravo": "http://127.0.0.1:9001"}'), HttpClients())


def test_keeping_a_provider_that_is_not_enabled_stops_the_start() -> None:
    with pytest.raises(SettingsError, match="SEARCHPORT_KEEP: 'google' is no enabled provider; did you mean 'google-cse'"):
        build_router(Settings(keep="google"), HttpClients())


def test_production_does_not_start_without_a_token() -> None:
    with pytest.raises(SettingsError, match="SEARCHPORT_OPS_TOKEN: required"):
        build_app(Settings(env="production"), build_router(Settings(), HttpClients()))
    assert build_app(Settings(env="production", ops_token="t"), build_router(Settings(), HttpClients()))
