"""Patterns of dates, amounts and names in English, in search order."""

import re

NAME = "name"
BLANK = "\0"  # replaces the characters of spans found before; no pattern matches it

_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)"
)
_DAY = r"(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?:1\d{3}|20\d{2})"
_AMOUNT = r"\d+(?:,\d{3})*(?:\.\d+)?"
_RANGE = rf"{_AMOUNT}(?:[-–]{_AMOUNT})?"
_MANY = r"(?:\s?(?:hundred|thousand|million|billion|trillion|bn|m)\b)"
_NUMERAL = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    r"|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|dozen|hundred|thousand|million|billion"
    r"|half|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)"
)
_UNIT = (
    r"(?:(?:square|cubic|sq)\s(?:kilomet(?:re|er)s?|met(?:re|er)s?|miles|feet|mi|km|ft)|(?:kilo|centi|milli)?met(?:re|er)s?"
    r"|miles?|km2?|cm|mm|m|feet|foot|ft|inch(?:es)?|yards?|acres?|hectares?|ha|(?:kilo)?grams?|kg|tonnes?|tons?|pounds|lbs?"
    r"|lit(?:re|er)s?|gallons?|seconds?|minutes?|hours?|days?|weeks?|months?|years?|decades?|centur(?:y|ies)"
    r"|mph|km/h|[kMG]?W|watts?|volts?|[KMGT]B|[kMG]?Hz|k?Pa|°\s?[CF]|degrees?|people|points?)"
)
_CAPITAL = "[A-ZÀ-ÖØ-Þ]"
_CAPITALISED = (
    rf"(?:(?:{_CAPITAL}\.)+(?=\s?{_CAPITAL})|(?:[a-z]{{1,2}}(?={_CAPITAL}))?{_CAPITAL}\w*(?:[.&’'-](?!s\b)\w+)*)"
)
_LINK = r"(?:(?:of|the|de|la|du|von|van|der|al|del|di|da|&)\s)"

PATTERNS = {
    "title": re.compile(rf"(?<=“)[^“”\n{BLANK}]{{2,100}}(?=”)|(?<=\")\b[^\"\n{BLANK}]{{2,100}}(?<!\s)(?=\")"),
    "money": re.compile(rf"[$€£¥]\s?{_RANGE}{_MANY}?|\b{_AMOUNT}{_MANY}?\s(?:dollars?|euros?|cents?)\b", re.IGNORECASE),
    "percentage": re.compile(rf"\b{_RANGE}(?:\s?%|\sper\s?cent\b)"),
    "date": re.compile(
        rf"\b{_MONTH}\s{_DAY}(?:,?\s{_YEAR})?\b|\b{_DAY}\s{_MONTH}(?:,?\s{_YEAR})?\b|\b{_MONTH},?\s{_YEAR}\b"
        rf"|\b{_YEAR}-\d\d-\d\d\b|\b\d\d?[/.]\d\d?[/.](?:\d\d)?\d\d\b"
    ),
    "quantity": re.compile(rf"\b{_RANGE}{_MANY}?[\s-]?{_UNIT}\b"),
    "year": re.compile(
        rf"\b\d{{1,2}}(?:st|nd|rd|th)[\s-]centur(?:y|ies)\b|\b{_YEAR}(?:[-–](?:{_YEAR}|\d\d))?s?\b(?:\s(?:BCE?|CE|AD)\b)?"
    ),
    NAME: re.compile(rf"\b(?!I\b){_CAPITALISED}(?:\s{_LINK}{{0,2}}(?:{_CAPITALISED}|\d{{1,3}}\b(?!,\d)))*"),
    "number": re.compile(rf"\b{_RANGE}(?:{_MANY}|st|nd|rd|th)?\b|\b{_NUMERAL}(?:[\s-]{_NUMERAL})*\b", re.IGNORECASE),
}
WORD = re.compile(_CAPITALISED)

_FUNCTION_WORDS = """
a about after all also although among an and another any are as at because before being between both but by can could
despite did do does during each even every few first following for from further had has have he her here his how however
i if in into is it its later like many more most much my neither no nor not now of on once only or other our out over
several she since so some such than that the their them then there these they this those though through thus to today
under unlike until up upon was we were what when where whether which while who whom whose why will with within without
would yet you your
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())  # capitalised, they begin a sentence, not the name that may follow
