"""Cost of `searchport.markup.plain_text`, beside what most search layers do, in the same run.

Run: `.venv/bin/python benchmarks/plain_text.py`. Prints microseconds a call for snippets of about 300 characters, and
milliseconds for hostile inputs of 100 KB, each with the peer's figure and ours as a multiple of it. The peer,
`html.unescape(re.sub(...))`, removes any `<…>` and nothing hidden, fuses table cells, and reads the whole input where
ours reads 16,000 characters.
"""

from __future__ import annotations

import html
import re
import timeit
from functools import partial
from typing import TYPE_CHECKING

from searchport.markup import plain_text

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = 100_000

SNIPPETS = {
    "plain ASCII": "Python asyncio is a library to write concurrent code using the async and await syntax. It is used "
    "as a foundation for multiple Python asynchronous frameworks that provide high-performance network and web "
    "servers, database connection libraries, distributed task queues, and it is often a perfect fit for IO-bound code.",
    "highlighted": "<strong>Python</strong> asyncio is a library to write <strong>concurrent</strong> code with the "
    "async/await syntax. It&#39;s used as a foundation for multiple <strong>Python</strong> frameworks that provide "
    "fast network &amp; web servers, database connection libraries, distributed task queues, and is often a fit.",
    "blocks, attributes": '<p class="hit">Python <a href="https://example.com/?a=1&amp;b=2" title="a > b">asyncio</a> '
    "is a library<br/>to write <b>concurrent</b> code.<ul><li>one</li><li>two</li></ul>It is used as a foundation for "
    "many frameworks that provide high-performance network and web servers, and database libraries.</p>",
    "highlighted, accents": "<b>Pythoné</b> — asynchrone : une bibliothèque pour écrire du code <b>concurrent</b> à "
    "l’aide de la syntaxe async/await. Elle est utilisée comme fondation par de nombreux cadres d’applications en "
    "<b>Python</b>, qui fournissent des serveurs réseau et web performants, des bibliothèques de bases de données.",
    "Persian, with joiners": "برنامه‌نویسی هم‌زمان با <b>پایتون</b> کتابخانه‌ای است که برای نوشتن کدهای هم‌زمان به کار "
    "می‌رود. برنامه‌نویسی هم‌زمان با <b>پایتون</b> کتابخانه‌ای است که برای نوشتن کدهای هم‌زمان به کار می‌رود. "
    "برنامه‌نویسی هم‌زمان با <b>پایتون</b> کتابخانه‌ای است که برای نوشتن کدهای هم‌زمان به کار می‌رود.",
    "emoji": "Family: \U0001f468\u200d\U0001f469\u200d\U0001f467 and \u2764\ufe0f " + "some more text of a post. " * 11,
}

HOSTILE = {
    "<": "<" * SIZE,
    "<a ": "<a " * (SIZE // 3),
    "<a='": "<a a='" * (SIZE // 6),
    '<b a="': '<b a="">' * (SIZE // 8),
    "<x-": "<x-" * (SIZE // 3),
    "<!--": "<!--" * (SIZE // 4),
    "<!-- --": "<!--" + "-" * SIZE,
    "<script>": "<script>" * (SIZE // 8),
    "<script></script": "<script></script" * (SIZE // 16),
    "</b": "</b" * (SIZE // 3),
    "<div>": "<div>" * (SIZE // 5),
    "&": "&" * SIZE,
    "&#1…": "&#" + "1" * SIZE,
    "&#x0…": "&#x" + "0" * SIZE,
    "&a…": "&" + "a" * SIZE,
    "&notit;": "&notit;" * (SIZE // 7),
    "&#8203;": "&#8203;" * (SIZE // 7),
    "white space": " \n\t" * (SIZE // 3),
    "joiners": "\u200d" * SIZE,
    "letter, joiner": "\u0645\u200c" * (SIZE // 2),
    "emoji, joiner": "\U0001f468\u200d" * (SIZE // 2),
    "emoji, selectors": "\U0001f600" + "\U000e0100" * SIZE,
    "flag, tags": "\U0001f3f4\U000e0067" * (SIZE // 2),
    "combining marks": "a" + "\u0301" * SIZE,
    "lone surrogates": "\ud800" * SIZE,
    "controls": "\x00" * SIZE,
}


def peer(raw: str) -> str:
    """What most search layers do."""
    try:
        return html.unescape(re.sub(r"<[^>]+>", "", raw))
    except ValueError:  # a reference of more than 4,300 digits
        return ""


def seconds(call: Callable[[str], str], raw: str, number: int) -> float:
    """The best of five rounds, a call."""
    return min(timeit.repeat(partial(call, raw), number=number, repeat=5)) / number


def main() -> None:
    print(f"{'snippet':<24}{'characters':>12}{'ours, us':>12}{'peer, us':>12}{'ratio':>9}")
    for name, raw in SNIPPETS.items():
        ours, theirs = seconds(plain_text, raw, 5_000) * 1e6, seconds(peer, raw, 5_000) * 1e6
        print(f"{name:<24}{len(raw):>12}{ours:>12.2f}{theirs:>12.2f}{ours / theirs:>9.2f}")
    print(f"\n{'hostile, 100 KB':<24}{'':>12}{'ours, ms':>12}{'peer, ms':>12}{'ratio':>9}")
    for name, raw in HOSTILE.items():
        ours = seconds(plain_text, raw, 2) * 1e3
        theirs = timeit.timeit(partial(peer, raw), number=1) * 1e3
        print(f"{name:<24}{'':>12}{ours:>12.2f}{theirs:>12.2f}{ours / theirs:>9.2f}")


if __name__ == "__main__":
    main()
