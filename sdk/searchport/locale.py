"""Languages, countries and locales as callers write them, and the way from them to a vendor's closed list.

Sources: BCP 47, which is RFC 5646 (tags: sections 2.1 syntax, 2.1.1 case, 2.2 rules) and RFC 4647 (section 3.4,
lookup); ISO 639-1; ISO 3166-1. Babel's data, from CLDR, are compared with the lists in a test.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from searchport.errors import SearchError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "COUNTRIES",
    "LANGUAGES",
    "closed_list",
    "find_market",
    "lookup",
    "parse_country",
    "parse_language",
    "parse_locale",
    "two_part",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split())


# ISO 639-1, the 183 codes in force; withdrawn ones are among the hints below.
LANGUAGES = _words(
    """
    aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es
    et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki
    kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no
    nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te
    tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
    """
)
# ISO 3166-1 alpha-2, the 249 codes officially assigned.
COUNTRIES = _words(
    """
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC
    CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD
    GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH
    KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW
    MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC
    SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY
    UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
    """
)
# Region subtags of BCP 47 that are no ISO 3166-1 country: Ascension, Diego Garcia, the EU, Kosovo and so on.
_OTHER_REGIONS = _words("AC CP DG EA EU EZ IC TA UN XK")
_NO_LANGUAGE = _words("mis mul und zxx")
# The languages that an extended language subtag may follow (RFC 5646, section 2.2.2; the registry's prefixes).
_EXTENDABLE = _words("ar kok lv ms sgn sw uz zh")


# What callers write for a language, and its code: countries, withdrawn codes, three letters where there are two, names.
_MEANT_LANGUAGES = _pairs(
    """
    jp=ja cn=zh kr=ko ua=uk cz=cs dk=da gr=el vn=vi us=en gb=en at=de rs=sr il=he ir=fa pk=ur al=sq iw=he in=id ji=yi
    jw=jv mo=ro sh=sr ara=ar ben=bn bul=bg ces=cs cze=cs dan=da deu=de ger=de ell=el gre=el eng=en est=et fas=fa
    per=fa fin=fi fra=fr fre=fr heb=he hin=hi hrv=hr hun=hu ind=id ita=it jpn=ja kor=ko lav=lv lit=lt msa=ms may=ms
    nld=nl dut=nl nor=no pol=pl por=pt ron=ro rum=ro rus=ru slk=sk slo=sk slv=sl spa=es srp=sr swe=sv tha=th tur=tr
    ukr=uk urd=ur vie=vi zho=zh chi=zh arabic=ar bengali=bn bulgarian=bg chinese=zh croatian=hr czech=cs danish=da
    dutch=nl english=en estonian=et finnish=fi french=fr german=de greek=el hebrew=he hindi=hi hungarian=hu
    indonesian=id italian=it japanese=ja korean=ko latvian=lv lithuanian=lt norwegian=no persian=fa farsi=fa polish=pl
    portuguese=pt romanian=ro russian=ru serbian=sr slovak=sk slovenian=sl spanish=es swedish=sv thai=th turkish=tr
    ukrainian=uk urdu=ur vietnamese=vi
    """
)
# Tags that the syntax allows or once allowed, and that mean something else: RFC 5646, section 2.2.8; Windows' old
# names.
_MEANT_TAGS = _pairs(
    """
    art-lojban=jbo cel-gaulish= en-gb-oed=en-GB i-default= i-klingon=tlh i-lux=lb i-navajo=nv no-bok=nb no-nyn=nn
    zh-chs=zh-Hans zh-cht=zh-Hant zh-guoyu=cmn zh-hakka=hak zh-min= zh-min-nan=nan zh-xiang=hsn
    """
)
# What callers write for a country: reserved codes, languages, three letters.
_MEANT_COUNTRIES = _pairs(
    """
    UK=GB EL=GR JA=JP KO=KR ZH=CN DA=DK CS=CZ ARG=AR AUS=AU AUT=AT BEL=BE BRA=BR CAN=CA CHE=CH CHL=CL CHN=CN COL=CO
    CZE=CZ DEU=DE DNK=DK ESP=ES FIN=FI FRA=FR GBR=GB GRC=GR HKG=HK HUN=HU IDN=ID IND=IN IRL=IE ISR=IL ITA=IT JPN=JP
    KOR=KR MEX=MX MYS=MY NLD=NL NOR=NO NZL=NZ PHL=PH POL=PL PRT=PT ROU=RO RUS=RU SAU=SA SGP=SG SWE=SE THA=TH TUR=TR
    TWN=TW UKR=UA USA=US VNM=VN ZAF=ZA
    """
)

_TAG = re.compile(
    r"""
    (?P<language> [a-z]{2,3} ) (?P<extended> (?: -[a-z]{3} ){0,3} )
    (?: -(?P<script> [a-z]{4} ) )?
    (?: -(?P<region> [a-z]{2} | [0-9]{3} ) )?
    (?P<variants> (?: -(?: [a-z0-9]{5,8} | [0-9][a-z0-9]{3} ) )* )
    (?P<extensions> (?: -[a-wyz0-9](?: -[a-z0-9]{2,8} )+ )* )
    (?P<private> (?: -x(?: -[a-z0-9]{1,8} )+ )? )
    """,
    re.IGNORECASE | re.ASCII | re.VERBOSE,
)
_SINGLETON = re.compile(r"-([a-z0-9])(?=-)")
_MAX_LENGTH = 100
_ANY_COUNTRY = "two letters, such as 'US' or 'de'"
_ANY_TAG = "a BCP 47 tag, such as 'en' or 'pt-BR'"


class _Tag(NamedTuple):
    text: str
    region: str | None


def parse_language(text: str) -> str:
    """The BCP 47 tag that `text` is, in canonical case: `en`, `pt-BR`, `zh-Hant-TW`, `es-419`.

    Raises `SearchError` (`validation_error` at `$.language`) for what is not well-formed; a language of two letters
    that is not in ISO 639-1, of three where ISO 639-1 has two, of four and more; no language (`und`); a region that is
    none; a grandfathered or private tag; a value that is not a str.
    """
    return _parse_tag(text, "$.language").text


def parse_locale(text: str) -> tuple[str, str | None]:
    """The language tag that `text` is, whole and in canonical case, and its country: `en-US` is `("en-US", "US")`.

    The country is None where the tag has none, and for a region that is no ISO 3166-1 country (`es-419`).
    Raises `SearchError` (`validation_error` at `$.locale`) where `parse_language` would.
    """
    tag = _parse_tag(text, "$.locale")
    return tag.text, tag.region if tag.region in COUNTRIES else None


def parse_country(text: str) -> str:
    """The ISO 3166-1 alpha-2 code that `text` is, in either case, as upper case.

    Raises `SearchError` (`validation_error` at `$.country`) for anything else: `UK`, `USA`, `EU`, what is no str.
    """
    if not isinstance(text, str):
        raise _refused("$.country", text, "is not a string", _ANY_COUNTRY)
    code = text.upper() if text.isascii() else ""
    if code in COUNTRIES:
        return code
    instead = repr(_MEANT_COUNTRIES[code]) if code in _MEANT_COUNTRIES else _ANY_COUNTRY
    raise _refused("$.country", text, "is no ISO 3166-1 alpha-2 country", instead)


def closed_list(codes: str, odd: Mapping[str, str] | None = None) -> dict[str, str]:
    """A vendor's closed list as a table for `lookup`.

    codes: the vendor's codes that are tags themselves, by white space. odd: tag -> the code that the vendor spells otherwise.
    """
    return {code: code for code in codes.split()} | {**(odd or {})}


def lookup(language: str, supported: Mapping[str, str]) -> str | None:
    """The vendor's code for `language`, a BCP 47 tag; None where the vendor has none that fits (RFC 4647, section 3.4).

    supported: language tag, in any case -> the vendor's code. `sr-Latn-RS` is looked up as `sr-Latn-RS`, `sr-Latn`,
    `sr`. Chinese is also looked up by the script of its region and by the main region of its script: `zh-HK` as
    `zh-HK`, `zh-Hant`, `zh-TW`, `zh`.
    """
    codes = {tag.lower(): code for tag, code in supported.items()}
    return next((codes[candidate] for candidate in _candidates(language.lower()) if candidate in codes), None)


def two_part(language: str | None, country: str | None) -> str | None:
    """`de-AT`, or `de` where no country is known; None without a language.

    country: an ISO code, which wins over the tag's own region. The script of Chinese counts as its main region: `zh-TW`.
    """
    base, region = _base_and_region(language, country)
    return (f"{base}-{region}" if region else base) or None if language else None


def find_market(
    language: str | None, country: str | None, markets: Mapping[tuple[str, str], str]
) -> tuple[str | None, tuple[str, ...]]:
    """A vendor's code for a language and a country together, and the names of those of the two that it does not honour.

    markets: (language code, ISO country) -> the vendor's code. What fits both counts, else the country's first, else the
    language's first, in the order of `markets`. Without a country, the tag's own region is preferred, where it fits.

    >>> find_market("it", "CH", {("de", "CH"): "ch-de", ("it", "IT"): "it-it"})
    ('ch-de', ('language',))
    """
    base, region = _base_and_region(language, country)
    of_language = [market for market in markets if market[0] in (base, _SAME.get(base))]
    of_country = [market for market in markets if country and market[1] == country]
    of_both = [market for market in of_language if market[1] == region]
    best = next(iter([*of_both, *of_country, *of_language]), None)
    ignored = [] if not language or best in of_language else ["language"]
    ignored += [] if not country or best in of_country else ["country"]
    return None if best is None else markets[best], tuple(ignored)


def _base_and_region(language: str | None, country: str | None) -> tuple[str, str | None]:
    base, *subtags = (language or "").split("-")
    known = [country] if country else [subtag for subtag in subtags if subtag in COUNTRIES]
    known += [_CHINESE_REGIONS[script.lower()].upper() for script in subtags if script.lower() in _CHINESE_REGIONS]
    return base, next(iter(known), None)


def _parse_tag(text: str, path: str) -> _Tag:
    if not isinstance(text, str):
        raise _refused(path, text, "is not a string", _ANY_TAG)
    if len(text) > _MAX_LENGTH:
        raise _refused(path, text, f"is longer than {_MAX_LENGTH} characters", _ANY_TAG)
    match = _TAG.fullmatch(text)
    if match is None or text.lower() in _MEANT_TAGS:
        raise _refused(path, text, "is no BCP 47 language tag", _meant_tag(text))
    if fault := _fault(match):
        raise _refused(path, text, fault, _meant_tag(text))
    return _canonical(match)


def _fault(match: re.Match[str]) -> str | None:
    """What is wrong with a tag that the syntax allows."""
    language, region = match["language"].lower(), match["region"]
    if not _is_language(language):
        return "begins with no language code"
    if match["extended"] and language not in _EXTENDABLE:
        return f"has no such subtag {match['extended'][1:]!r}"
    if region and not (region.upper() in COUNTRIES or region.upper() in _OTHER_REGIONS or region.isdigit()):
        return f"has no region {region!r}"
    if _repeats(match["variants"].lower().split("-")[1:]) or _repeats(_SINGLETON.findall(match["extensions"].lower())):
        return "repeats a variant or an extension"
    return None


def _canonical(match: re.Match[str]) -> _Tag:
    script, region = match["script"], match["region"]
    head = (match["language"] + match["extended"]).lower()
    head += f"-{script.title()}" if script else ""
    head += f"-{region.upper()}" if region else ""
    rest = "".join(match.group("variants", "extensions", "private")).lower()
    return _Tag(head + rest, region.upper() if region else None)


def _is_language(code: str) -> bool:
    if len(code) == 2:
        return code in LANGUAGES
    return code not in _NO_LANGUAGE and code not in _MEANT_LANGUAGES and not "qaa" <= code <= "qtz"


def _repeats(subtags: list[str]) -> bool:
    return len({*subtags}) < len(subtags)


def _refused(path: str, value: object, why: str, instead: str) -> SearchError:
    return SearchError.invalid(path, f"{shorten(value)} {why}; write {instead}")


def _meant_tag(text: str) -> str:
    """The tag that a refused one seems to mean, quoted; else what a tag looks like."""
    guess = text.lower().strip().replace("_", "-")
    language, *others = _MEANT_TAGS.get(guess, guess).split("-")
    regions = (_MEANT_COUNTRIES.get(subtag.upper(), subtag) for subtag in others)
    guess = "-".join([_MEANT_LANGUAGES.get(language, language), *regions])
    match = _TAG.fullmatch(guess)
    is_tag = match is not None and guess not in _MEANT_TAGS and not _fault(match)
    return repr(_canonical(match).text) if match and is_tag else _ANY_TAG


# Chinese is written in two scripts, and vendors list it by script or by region (UTS 35, likely subtags).
_CHINESE_SCRIPTS = {"tw": "hant", "hk": "hant", "mo": "hant", "cn": "hans", "sg": "hans", "my": "hans"}
_CHINESE_REGIONS = {"hant": "tw", "hans": "cn"}
# Codes that name one language, for vendors' purposes: Bokmål and Norwegian, Filipino and Tagalog.
_SAME = {"nb": "no", "nn": "no", "no": "nb", "fil": "tl", "tl": "fil"}


def _candidates(tag: str) -> Iterator[str]:
    """Lower-case tags to look for, the most fitting first."""
    subtags = tag.split("-")
    while len(subtags) > 1:
        yield "-".join(subtags)
        subtags.pop()
        if len(subtags[-1]) == 1:  # a singleton says nothing without what follows it
            subtags.pop()
    language, *others = tag.split("-")
    if language == "zh":
        yield from _chinese(others)
    yield language
    if language == "zh":
        yield from ("zh-hans", "zh-cn")
    elif language in _SAME:
        yield _SAME[language]


def _chinese(subtags: list[str]) -> Iterator[str]:
    regions = [subtag for subtag in subtags if subtag in _CHINESE_SCRIPTS]
    scripts = [subtag for subtag in subtags if subtag in _CHINESE_REGIONS] or [_CHINESE_SCRIPTS[at] for at in regions]
    yield from (f"zh-{subtag}" for subtag in [*regions, *scripts, *(_CHINESE_REGIONS[script] for script in scripts)])
