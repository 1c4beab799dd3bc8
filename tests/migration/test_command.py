"""`searchport migrate google-cse`, against vendors on loopback."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from .conftest import TO_BRAVE, WITH_GOOGLE, Migrate, Vendor, call, read_report

OLD = [f"https://example.com/{number}" for number in range(1, 11)]
NEW = [*[f"http://www.example.com/{number}/" for number in range(1, 5)], *[f"https://other.example/{n}" for n in range(1, 7)]]


# What is asked, and what is compared


def test_both_are_asked_and_their_first_ten_compared(migrate: Migrate, google: Vendor, brave: Vendor) -> None:
    google.pages, brave.pages = {"*": OLD}, {"*": NEW}
    done = migrate([call("tea"), call("coffee")], *TO_BRAVE, *WITH_GOOGLE, "--json")
    report = read_report(done)
    assert (done.exit_code, done.stderr) == (0, "")
    assert (report["asked"], report["compared"], report["overlap"]) == (2, 2, 0.4)
    assert (report["googleNumbers"]["answered"], report["targetNumbers"]["answered"]) == (2, 2)
    assert report["googleNumbers"]["resultsPerCall"] == report["targetNumbers"]["resultsPerCall"] == 10


def test_google_gets_the_call_word_for_word_with_the_key_of_the_file(migrate: Migrate, google: Vendor, brave: Vendor) -> None:
    migrate([call("tea", num="3", dateRestrict="m6", hl="de", quotaUser="u")], *TO_BRAVE, *WITH_GOOGLE)
    (asked,) = google.asked
    given = {"q": "tea", "num": "3", "dateRestrict": "m6", "hl": "de", "quotaUser": "u"}
    assert asked.query == {"key": "google-canary", "cx": "engine", **given}
    assert [request.headers["x-subscription-token"] for request in brave.asked] == ["brave-canary"]


def test_google_is_left_alone_without_its_key(migrate: Migrate, google: Vendor, brave: Vendor) -> None:
    brave.pages = {"*": NEW}
    report = read_report(migrate([call()], *TO_BRAVE, "--json"))
    assert (len(google.asked), report["googleNumbers"], report["overlap"]) == (0, None, None)


def test_equal_calls_are_asked_once_and_counted_as_often_as_they_stand(migrate: Migrate, brave: Vendor) -> None:
    report = read_report(migrate([call("tea"), call("tea", quotaUser="x"), call("milk")], *TO_BRAVE, "--json"))
    assert (report["calls"], report["distinctCalls"], report["asked"], len(brave.asked)) == (3, 2, 2, 2)
    assert [(each["line"], each["times"]) for each in report["askedCalls"]] == [(1, 2), (3, 1)]


def test_the_limit_takes_the_most_frequent_calls_that_would_go_out(migrate: Migrate, brave: Vendor) -> None:
    lines = [call("a", exactTerms="x")] * 3 + [call("b")] * 2 + [call("c")]
    report = read_report(migrate(lines, *TO_BRAVE, "--limit", "1", "--json"))
    assert [asked.query["q"] for asked in brave.asked] == ["b"]
    assert (report["examined"], report["refused"], report["asked"]) == (6, 3, 1)


def test_a_later_page_is_compared_with_the_same_part_of_the_new_results(migrate: Migrate, google: Vendor, brave: Vendor) -> None:
    google.pages, brave.pages = {"*": OLD[5:]}, {"*": OLD}
    report = read_report(migrate([call("tea", num="5", start="6")], *TO_BRAVE, *WITH_GOOGLE, "--json"))
    assert (report["overlap"], brave.asked[0].query["count"]) == (1.0, "10")


def test_dates_are_counted_alike_on_both_sides(migrate: Migrate, google: Vendor, brave: Vendor) -> None:
    google.pages, brave.pages = {"*": OLD}, {"*": NEW}
    google.date, brave.date = "20.09.", "July 25, 2024"
    report = read_report(migrate([call()], *TO_BRAVE, *WITH_GOOGLE, "--json"))
    assert (report["googleNumbers"]["datedShare"], report["targetNumbers"]["datedShare"]) == (0.0, 1.0)


def test_latency_is_measured_on_each_side(migrate: Migrate, google: Vendor, brave: Vendor) -> None:
    report = read_report(migrate([call("tea"), call("milk")], *TO_BRAVE, *WITH_GOOGLE, "--json"))
    for numbers in (report["googleNumbers"], report["targetNumbers"]):
        assert 0 < numbers["medianSeconds"] <= numbers["p95Seconds"] < 15


def test_cost_comes_from_the_declared_prices_and_the_operators(migrate: Migrate, brave: Vendor) -> None:
    lines = [call("tea"), call("tea"), call("milk", num="10", start="31")]
    first = read_report(migrate(lines, *TO_BRAVE, "--json"))
    assert (first["expectedCostMicrousd"], first["googleCostMicrousd"]) == (4 * 5_000, 3 * 5_000)
    assert first["targetNumbers"]["costMicrousd"] == first["targetNumbers"]["vendorRequests"] * 5_000
    second = read_report(migrate(lines, *TO_BRAVE, "--json", SEARCHPORT_PRICES='{"brave": 1}'))
    assert second["expectedCostMicrousd"] == 4 * 1_000


# What would change


def test_what_the_new_side_does_not_honour_is_counted_by_parameter(migrate: Migrate, brave: Vendor) -> None:
    lines = [call("a", sort="date"), call("a", sort="date"), call("b", gl="vn"), call("c", dateRestrict="m6"), call("d", gl="de")]
    report = read_report(migrate(lines, *TO_BRAVE, "--json"))
    told = [(change["parameter"], change["becomes"], change["calls"]) for change in report["changes"]]
    assert told == [("sort", "refused", 2), ("gl", "ignored", 1), ("dateRestrict", "differs", 1)]
    assert (report["refused"], report["refusals"], len(brave.asked)) == (2, {"validation_error": 2}, 3)


def test_what_a_provider_refuses_is_named_as_the_call_names_it(migrate: Migrate, brave: Vendor) -> None:
    report = read_report(migrate([call("w+" * 60), call("tea")], *TO_BRAVE, "--json"))
    assert [(change["parameter"], change["calls"]) for change in report["changes"]] == [("q", 1)]
    duck = read_report(migrate([call("tea", safe="high", dateRestrict="d3")], "--provider", "duckduckgo", "--dry-run", "--json"))
    assert [(change["parameter"], change["becomes"]) for change in duck["changes"]] == [("safe", "refused")]
    assert duck["refusals"] == {"unsupported_option": 1}


def test_an_ignored_language_is_told_by_the_parameter_that_gave_it(migrate: Migrate) -> None:
    given = (("hl", {"hl": "sw"}), ("lr", {"lr": "lang_sw", "hl": "de"}))
    for name, parameters in given:
        report = read_report(migrate([call("tea", **parameters)], *TO_BRAVE, "--dry-run", "--json"))
        assert [(change["parameter"], change["becomes"]) for change in report["changes"]] == [(name, "ignored")]


def test_a_dry_run_asks_nobody_and_needs_no_key(migrate: Migrate, google: Vendor, brave: Vendor) -> None:
    done = migrate([call("tea"), call("milk", sort="date")], "--provider", "brave", *WITH_GOOGLE, "--dry-run", "--json")
    report = read_report(done)
    assert (done.exit_code, len(google.asked) + len(brave.asked)) == (0, 0)
    assert (report["isDryRun"], report["refused"], report["expectedCostMicrousd"]) == (True, 1, 5_000)
    assert (report["targetNumbers"], report["askedCalls"]) == (None, [])


# Failures


def test_a_failure_is_counted_as_one_and_compared_with_nothing(migrate: Migrate, google: Vendor, brave: Vendor) -> None:
    google.pages = {"*": OLD, "b": 500}
    brave.pages = {"*": NEW, "a": 500, "c": []}
    done = migrate([call(q) for q in "abcd"], *TO_BRAVE, *WITH_GOOGLE, "--json")
    report = read_report(done)
    assert done.exit_code == 0
    assert report["targetNumbers"]["failed"] == report["googleNumbers"]["failed"] == {"provider_unavailable": 1}
    assert (report["targetNumbers"]["answered"], report["targetNumbers"]["withoutResults"]) == (3, 1)
    assert (report["compared"], report["overlap"]) == (2, 0.2)


def test_a_refused_key_is_tried_once(migrate: Migrate, google: Vendor, brave: Vendor) -> None:
    google.pages, brave.pages = {"*": OLD}, {"*": 401}
    done = migrate([call(q) for q in "abcdef"], *TO_BRAVE, *WITH_GOOGLE, "--concurrency", "1", "--json")
    report = read_report(done)
    assert (done.exit_code, report["targetNumbers"]["failed"]) == (1, {"provider_unauthorized": 6})
    assert (len(brave.asked), len(google.asked)) == (1, 6)


def test_a_call_without_an_engine_is_not_asked_of_google(migrate: Migrate, google: Vendor, brave: Vendor) -> None:
    brave.pages = {"*": NEW}
    line = "https://www.googleapis.com/customsearch/v1?q=tea"
    report = read_report(migrate([line], *TO_BRAVE, *WITH_GOOGLE, "--json"))
    assert (report["googleNumbers"]["failed"], report["targetNumbers"]["answered"]) == ({"validation_error": 1}, 1)
    assert google.asked == []


@pytest.mark.parametrize(
    ("lines", "arguments", "status", "words"),
    [
        ([], TO_BRAVE, 2, "FILE: holds no Custom Search call (skipped lines: 0; other requests: 0)"),
        (["canary", "canary"], TO_BRAVE, 2, "holds no Custom Search call (skipped lines: 2; other requests: 0)"),
        ([call("canary")], (), 2, "give either --provider, or the --url of a platform"),
        ([call("canary")], (*TO_BRAVE, "--url", "http://127.0.0.1:1"), 2, "give either --provider, or the --url of a platform"),
        ([call("canary")], ("--provider", "bravo"), 1, "provider_not_configured"),
        ([call("canary")], ("--provider", "brave"), 1, "SEARCHPORT_API_KEY"),
        ([call("canary")], ("--provider", "vertex", "--key-file", "brave.key"), 1, "provider_not_configured: settings."),
        ([call("canary")], ("--url", "http://127.0.0.1:1"), 1, "SEARCHPORT_TOKEN"),
        ([call("canary")], (*TO_BRAVE, "--limit", "0"), 2, "0 is not in the range x>=1"),
        ([call("canary", sort="date")], TO_BRAVE, 1, ""),
    ],
)
def test_what_cannot_be_done_is_told_without_a_word_of_the_calls(
    migrate: Migrate, lines: list[str], arguments: tuple[str, ...], status: int, words: str
) -> None:
    done = migrate(lines, *arguments)
    assert (done.exit_code, words in done.stderr) == (status, True)
    assert "canary" not in done.output


def test_google_after_its_end_is_told_before_anything_is_sent(migrate: Migrate, brave: Vendor, freezer: Any) -> None:
    freezer("2027-01-02")
    done = migrate([call()], *TO_BRAVE, *WITH_GOOGLE, SEARCHPORT_KEEP="")
    assert (done.exit_code, brave.asked) == (1, [])
    assert "Google cannot be asked: " in done.stderr
    assert "it ended on 2027-01-01" in done.stderr
    assert "leave out --google-key-file" in done.stderr
    assert migrate([call()], *TO_BRAVE, *WITH_GOOGLE, "--dry-run", SEARCHPORT_KEEP="").exit_code == 0


@pytest.fixture
def freezer() -> Any:
    """Sets the day."""
    import freezegun

    running: list[Any] = []

    def start(day: str) -> None:
        running.append(freezegun.freeze_time(day, real_asyncio=True))
        running[0].start()

    yield start
    for each in running:
        each.stop()


def test_skipped_lines_are_told_by_number_and_the_rest_goes_on(migrate: Migrate, brave: Vendor) -> None:
    done = migrate(["canary", call("tea"), *["canary"] * 12], *TO_BRAVE, "--json")
    assert done.exit_code == 0
    assert done.stderr.splitlines()[0] == "searchport: line 1 is skipped: it is neither a URL nor a line of an access log"
    assert done.stderr.splitlines()[-1] == "searchport: 3 more lines are skipped"
    report = read_report(done)
    assert (report["skippedLines"], report["calls"], report["unread"][1]["number"]) == (13, 1, 3)


# What is shown


def test_nothing_of_a_call_is_shown_but_its_line(migrate: Migrate, google: Vendor, brave: Vendor) -> None:
    google.pages, brave.pages = {"*": ["https://canary.example/"]}, {"*": ["https://canary.example/"]}
    lines = [call("canary", siteSearch="canary.example", gl="canary"), call("canary", siteSearch="canary.example"), "canary"]
    for arguments in ((), ("--json",)):
        done = migrate(lines, *TO_BRAVE, *WITH_GOOGLE, *arguments)
        assert (done.exit_code, "canary" in done.output) == (0, False)


def test_queries_are_shown_where_they_are_asked_for_and_keys_never(migrate: Migrate, google: Vendor, brave: Vendor) -> None:
    google.pages = brave.pages = {"*": OLD}
    for arguments in ((), ("--json",)):
        done = migrate([call("red+pandas"), call("esc%1B[31m")], *TO_BRAVE, *WITH_GOOGLE, "--show-queries", *arguments)
        assert ("red pandas" in done.stdout, "canary" in done.output, "\x1b" in done.output) == (True, False, False)


def test_the_report_is_a_few_tables_on_a_terminal(migrate: Migrate, google: Vendor, brave: Vendor) -> None:
    google.pages, brave.pages = {"*": OLD}, {"*": NEW}
    shown = migrate([call("tea"), call("tea"), call("milk", sort="date")], *TO_BRAVE, *WITH_GOOGLE).stdout
    rows = [" ".join(line.split()) for line in shown.splitlines()]
    assert "google-cse → brave. Calls: 3; different ones: 2." in rows
    assert "Examined: 3; would go out: 2; would be refused: 1 (validation_error 1)." in rows
    assert "sort 1 refused the order is the provider's" in rows
    assert "of Google's first ten 40%" in rows
    assert "paid for these 0.005 USD 0.005 USD" in rows
    assert "1 2 40% 10 10 ok" in rows
    assert rows[-1].endswith("free quotas aside: brave: 0.01 USD; google-cse: 0.01 USD.")


def test_standard_input_is_read_too(environment: dict[str, str], tmp_path: Path) -> None:
    done = start("-", "--provider", "fake", "--json", environment=environment, cwd=tmp_path, stdin=subprocess.PIPE)
    out, _ = done.communicate(call("tea"), timeout=30)
    assert (done.returncode, '"asked": 1' in out) == (0, True)


def start(*arguments: str, environment: dict[str, str], cwd: Path, stdin: int | None = None) -> subprocess.Popen[str]:
    """The real command, in a process of its own."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SEARCHPORT_")}
    command = [sys.executable, "-m", "searchport_platform", "migrate", "google-cse", *arguments]
    streams: dict[str, Any] = {"stdin": stdin, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=clean | environment, cwd=cwd, **streams)


def test_an_interrupted_run_prints_what_it_has(environment: dict[str, str], brave: Vendor, tmp_path: Path) -> None:
    brave.pages, brave.hold = {"*": NEW}, threading.Event()
    (tmp_path / "calls.txt").write_text("\n".join(call(q) for q in "abcd"), encoding="utf-8")
    with start("calls.txt", *TO_BRAVE, "--concurrency", "1", environment=environment, cwd=tmp_path) as process:
        wait_until(lambda: len(brave.asked) == 2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, "")
    assert "Interrupted: 1 of 4 had been asked." in out
    assert "Asked: 1" in out


def wait_until(is_so: Any) -> None:
    """Until the vendor's thread has taken a request."""
    ticking = threading.Event()
    for _ in range(3_000):
        if is_so():
            return
        ticking.wait(0.01)
    raise AssertionError("it never was")
