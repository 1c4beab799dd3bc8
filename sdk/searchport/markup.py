"""Vendor text made plain: no tags, no character references, no hidden characters, one line.

Five steps, each linear, over at most the first 16,000 characters:

1. Tags. An inline formatting tag leaves nothing, because vendors highlight inside words; any other HTML element, and
   any name with a hyphen, leaves a space. Script and style go with what they hold; comments, `<!letter …>` and `<?
   …>` go too. A `<` that opens none of these is text (`a < b`, `vector<int>`). A tag, comment, script or style that
   does not end takes the rest along. Attributes and comments are read as the HTML Standard reads them (section
   13.2.5, Tokenization): only a quote that begins a value hides a `>`.
2. Character references, decoded once and as HTML does (section 13.2.5.72), so that an escaped tag stays text.
3. Surrogates: a pair becomes its character, a lone one U+FFFD.
4. Hidden characters: every control and default-ignorable character (Unicode Character Database) goes and is counted,
   but joiners, variation selectors and flag tags where a script, an emoji or an ideograph needs them (The Unicode
   Standard, sections 9.2, 12.1 and 23.2 to 23.4; UTS 51, emoji sequences).
5. White space: every run of Unicode white space becomes one space, none at the ends.

Text that a vendor declares plain skips the first two.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from bisect import bisect_right
from functools import lru_cache
from html import unescape
from itertools import groupby
from typing import NamedTuple

__all__ = ["CleanText", "clean", "plain_text"]

_MAX_READ = 16_000

# Elements of the HTML Standard, living and obsolete. Inline formatting:
_INLINE_NAMES = """
a abbr acronym b bdi bdo big blink cite code data del dfn em font i ins kbd label mark nobr q rb rp rt ruby s samp
small span strike strong sub sup time tt u var wbr
"""
# ... and all others:
_OTHER_NAMES = """
address applet area article aside audio base basefont bgsound blockquote body br button canvas caption center col
colgroup command content datalist dd details dialog dir div dl dt embed fieldset figcaption figure footer form frame
frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe image img input isindex keygen legend li link listing
main map marquee math menu menuitem meta meter multicol nav nextid noembed noframes noscript object ol optgroup option
output p param picture plaintext portal pre progress search section select slot source spacer style script summary svg
table tbody td template textarea tfoot th thead title tr track ul video xmp
"""

# Ranges of code points, in hexadecimal. Every control but white space, every default-ignorable character, interlinear
# annotation; and surrogates, of which none is left when the hidden ones are removed.
_HIDDEN_RANGES = """
0-8 E-1F 7F-84 86-9F AD 34F 61C 115F-1160 17B4-17B5 180B-180F 200B-200F 202A-202E 2060-206F 3164 D800-DFFF FE00-FE0F
FEFF FFA0 FFF0-FFFB 1BCA0-1BCA3 1D173-1D17A E0000-E0FFF
"""
# Scripts whose letters join: Arabic, Syriac, Thaana, N'Ko, Mandaic, Mongolian, Phags-pa, Manichaean, Psalter Pahlavi,
# Hanifi Rohingya, Sogdian, Old Uyghur, Chorasmian, Adlam; then those of India and South-East Asia, Devanagari to
# Gurung Khema.
_JOINING_RANGES = """
600-7FF 840-8FF 1800-18AF A840-A87F FB50-FDFF FE70-FEFC 10AC0-10AFF 10B80-10BAF 10D00-10D3F 10F30-10FDF 1E900-1E95F
900-109F 1700-17FF 1900-1AAF 1B00-1C4F 1CD0-1CFF A800-A82F A880-A95F A980-AAFF ABC0-ABFF 11000-11FFF 16100-1613F
"""
# Extended_Pictographic and the skin tones (emoji-data.txt).
_EMOJI_RANGES = """
A9 AE 203C 2049 2122 2139 2194-2199 21A9-21AA 231A-231B 2328 2388 23CF 23E9-23F3 23F8-23FA 24C2 25AA-25AB 25B6 25C0
25FB-25FE 2600-2605 2607-2612 2614-2685 2690-2705 2708-2712 2714 2716 271D 2721 2728 2733-2734 2744 2747 274C 274E
2753-2755 2757 2763-2767 2795-2797 27A1 27B0 27BF 2934-2935 2B05-2B07 2B1B-2B1C 2B50 2B55 3030 303D 3297 3299
1F000-1F0FF 1F10D-1F10F 1F12F 1F16C-1F171 1F17E-1F17F 1F18E 1F191-1F19A 1F1AD-1F1E5 1F201-1F20F 1F21A 1F22F
1F232-1F23A 1F23C-1F23F 1F249-1F53D 1F546-1F64F 1F680-1F6FF 1F774-1F77F 1F7D5-1F7FF 1F80C-1F80F 1F848-1F84F
1F85A-1F85F 1F888-1F88F 1F8AE-1F8FF 1F90C-1F93A 1F93C-1F945 1F947-1FAFF 1FC00-1FFFD
"""
_IDEOGRAPH_RANGES = "3006-3007 3021-3029 3038-303A 3400-4DBF 4E00-9FFF F900-FAFF 20000-3FFFD"
_MONGOLIAN_RANGES = "1807 1820-18AA"
_UNSPACED_RANGES = "3001-30FF 3400-4DBF 4E00-9FFF F900-FAFF FF01-FF60 20000-3FFFD"


class CleanText(NamedTuple):
    """text: one line, nothing hidden in it. hidden: how many hidden characters were removed on the way."""

    text: str
    hidden: int


def plain_text(raw: str) -> str:
    """The text that a reader would see of `raw`, a piece of HTML: one line, nothing hidden. Never raises.

    >>> plain_text("un<strong>expected</strong> &lt;b&gt;<br>tags")
    'unexpected <b> tags'
    """
    return clean(raw, html=True).text


def clean(raw: str, *, html: bool, limit: int | None = None) -> CleanText:
    """`raw` as plain text, with the number of hidden characters that were removed. Never raises.

    html: False for text without markup, where `<form>` and `&amp;` are what a reader sees.
    limit: at most that many characters, cut at the last white space; inside a word where there is none, or where
        Chinese or Japanese, which put none between words, would lose more than half to it. A sequence is never left
        half joined.
    """
    text = raw[:_MAX_READ]
    if html:
        text = _decode_references(_strip_tags(text))
    visible, hidden = _strip_hidden(text)
    folded = _fold(visible)
    if limit is not None and len(folded) > limit:
        folded = _cut(folded, limit)
    return CleanText(folded, hidden)


def _fold(text: str) -> str:
    if "  " not in text and text.isprintable():  # then a space is the only white space it can hold
        return text.strip()
    return " ".join(text.split())


def _cut(text: str, limit: int) -> str:
    end = text.rfind(" ", 0, limit + 1)
    if end < limit // 2:
        end = next((cut for cut in range(limit, limit // 2, -1) if text[cut - 1] in _UNSPACED), end)
    return _strip_hidden(text[: end if end > 0 else limit])[0]


# Tags


def _names(names: str) -> str:
    """An alternative for each first letter, so that a name is compared with the few that begin like it."""
    initials = groupby(sorted(names.split()), key=lambda name: name[0])
    return "|".join(f"{initial}(?:{'|'.join(name[1:] for name in group)})" for initial, group in initials)


_SPACE = r"[\t\n\f\r ]"
_NAME_ENDS = rf"(?={_SPACE}|[/>]|\Z)"
_VALUE = r"""(?: "[^"]*+(?:"|\Z) | '[^']*+(?:'|\Z) | [^\t\n\f\r >"'][^\t\n\f\r >]*+ )"""
_ATTRIBUTE = rf"[^\t\n\f\r />][^\t\n\f\r />=]*+ (?: {_SPACE}*+ = {_SPACE}*+ {_VALUE}?+ )?+"
_TAG_ENDS = rf"{_NAME_ENDS} (?: [\t\n\f\r /]++ | {_ATTRIBUTE} )*+ (?: > | \Z )"
_HYPHENATED = r"[a-z][\w.]*+-(?:[\w.-]|[^\x00-\x7f])*+"
_MARKUP = re.compile(
    rf"""<(?:
        (?P<raw>script|style) {_TAG_ENDS} .*? (?: </(?P=raw) {_TAG_ENDS} | \Z )
        | /?(?: {_names(_INLINE_NAMES)} | (?P<other> {_names(_OTHER_NAMES)} | {_HYPHENATED} ) ) {_TAG_ENDS}
        | /[a-z][\w.-]*+ \Z
        | !-- (?: -?> | .*? (?: --!?> | \Z ) )
        | (?: ![a-z] | \? ) [^>]*+ (?: > | \Z )
    )""",
    re.IGNORECASE | re.ASCII | re.DOTALL | re.VERBOSE,
)
_HIGHLIGHT = re.compile("</?(?:strong|b|em|mark|i|span)>")


def _strip_tags(text: str) -> str:
    if "<" not in text:
        return text
    bare = _HIGHLIGHT.sub("", text)
    if "<" not in bare:  # then highlights were all the markup there was: the usual snippet, at a third of the cost
        return bare
    return _MARKUP.sub(_gap, text)


def _gap(markup: re.Match[str]) -> str:
    return " " if markup.lastgroup else ""


# Character references

_REFERENCE = re.compile("&(?:#(?:[xX]([0-9a-fA-F]++)|([0-9]++))|[a-zA-Z][a-zA-Z0-9]*+);?")
_USUAL_REFERENCES = {
    "&amp;": "&",
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
    "&#39;": "'",
    "&#x27;": "'",
    "&nbsp;": "\xa0",
}


def _decode_references(text: str) -> str:
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _character(reference: re.Match[str]) -> str:
    written = reference[0]
    if usual := _USUAL_REFERENCES.get(written):
        return usual
    hexadecimal, decimal = reference.groups()
    if hexadecimal:
        return _numbered(hexadecimal, 16)
    return _numbered(decimal, 10) if decimal else unescape(written)


def _numbered(digits: str, base: int) -> str:
    """The character of a numeric reference; U+0000, which step 4 removes and counts, for what HTML gives no character.

    `int` refuses 4,301 decimal digits (CVE-2020-10735); eight that count are beyond Unicode anyway.
    """
    significant = digits.lstrip("0")
    if not significant:
        return "\0"
    if len(significant) > 7:
        return "\N{REPLACEMENT CHARACTER}"
    return unescape(f"&#{int(significant, base)};") or "\0"


# Hidden characters


class _Characters:
    """A set of characters, given as ranges of code points; `in` takes one character, or "" at either end of a text."""

    __slots__ = ("_spans",)

    def __init__(self, ranges: str) -> None:
        bounds = (span.split("-") for span in ranges.split())
        self._spans = sorted((int(bound[0], 16), int(bound[-1], 16)) for bound in bounds)

    def __contains__(self, character: str) -> bool:
        if not character:
            return False
        point = ord(character)
        at = bisect_right(self._spans, (point, sys.maxunicode))
        return at > 0 and point <= self._spans[at - 1][1]

    def pattern(self) -> str:
        """A character class of a regular expression."""
        return "".join(["[", *(f"\\U{first:08x}-\\U{last:08x}" for first, last in self._spans), "]"])


_JOINING = _Characters(_JOINING_RANGES)
_EMOJI = _Characters(_EMOJI_RANGES)
_IDEOGRAPHS = _Characters(_IDEOGRAPH_RANGES)
_MONGOLIAN = _Characters(_MONGOLIAN_RANGES)
_UNSPACED = _Characters(_UNSPACED_RANGES)

_HIDDEN_RUN = re.compile(f"{_Characters(_HIDDEN_RANGES).pattern()}+")
_ZWNJ, _ZWJ = "\u200c", "\u200d"
_EMOJI_SELECTORS = frozenset("\ufe0e\ufe0f")
_MONGOLIAN_SELECTORS = frozenset("\u180b\u180c\u180d\u180f")
_IDEOGRAPH_SELECTORS = frozenset(map(chr, range(0xE0100, 0xE01F0)))
_TAGS = frozenset(map(chr, range(0xE0020, 0xE0080)))
_NEEDABLE = _EMOJI_SELECTORS | _MONGOLIAN_SELECTORS | _IDEOGRAPH_SELECTORS | _TAGS | {_ZWNJ, _ZWJ}
_KEYCAP = "\u20e3"
_BLACK_FLAG = "\U0001f3f4"
# The tags of a part of a country (ISO 3166-2: two letters, then one to three letters or digits), and the one that
# ends them.
_FLAG_TAGS = re.compile("[\U000e0061-\U000e007a]{2}[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,3}\U000e007f")
_VIRAMA = 9  # the canonical combining class
_MAX_RUN = 16  # what follows in a run is needed by nothing; bounds the cache


def _strip_hidden(text: str) -> tuple[str, int]:
    """`text` with surrogates mended and hidden characters removed, and how many were."""
    if (text.isascii() and text.isprintable()) or not _HIDDEN_RUN.search(text):
        return text, 0
    mended = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    visible = _HIDDEN_RUN.sub(_needed, mended)
    return visible, len(mended) - len(visible)


def _needed(run: re.Match[str]) -> str:
    text, start, end = run.string, run.start(), run.end()
    return _kept(run[0][:_MAX_RUN], text[start - 1 : start] if start else "", text[end : end + 1])


@lru_cache(maxsize=4_096)
def _kept(run: str, before: str, after: str) -> str:
    """What its neighbours need of a run of hidden characters: one selector, then one joiner; or the tags of a flag."""
    run = "".join(filter(_NEEDABLE.__contains__, run))
    if before == _BLACK_FLAG and (flag := _FLAG_TAGS.match(run)):
        return flag[0]
    selector = run[0] if run and _selects(run[0], before, after) else ""
    joiners = (joiner for joiner in (_ZWNJ, _ZWJ) if joiner in run and _joins(joiner, before, after))
    return selector + next(joiners, "")


def _selects(selector: str, before: str, after: str) -> bool:
    if selector in _EMOJI_SELECTORS:
        return before in _EMOJI or before in _IDEOGRAPHS or (after == _KEYCAP and before in {*"0123456789#*"})
    if selector in _MONGOLIAN_SELECTORS:
        return before in _MONGOLIAN
    return selector in _IDEOGRAPH_SELECTORS and before in _IDEOGRAPHS


def _joins(joiner: str, before: str, after: str) -> bool:
    if before and unicodedata.combining(before) == _VIRAMA:
        return True
    if joiner == _ZWJ and before in _EMOJI and after in _EMOJI:
        return True
    return _is_joining_letter(before) and _is_joining_letter(after)


def _is_joining_letter(character: str) -> bool:
    """True for a letter, or a mark on one, of a script that joins or stacks its letters."""
    return character in _JOINING and unicodedata.category(character)[0] in "LM"
