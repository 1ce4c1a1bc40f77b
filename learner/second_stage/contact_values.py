"""E-mail addresses, phone numbers, addresses and organisations in the form in which two of them are compared."""

import re

import phonenumbers

from allpairs.db.corpus.field_kinds import LEGAL_FORM
from allpairs.db.identity import unaccented

REGION = "DE"  # of numbers without a country: its prefixes, 00 and 0, are those of most countries
EXTENSION = "x"  # between a number and its extension
SIGNS = re.compile(r"[\W_]+")
HOUSE_NUMBER = re.compile(r"(?<!\d)0*(\d+)(?:([a-h])\b|\w*)(?: ([a-h])\b)?")
INITIALS = re.compile(r"\b(\w) (?=\w\b)")  # of s a r l
AND = frozenset({"and", "et", "und"})
FIRST_FORMS = frozenset({"ets", "eurl", "sa", "sarl", "sas", "sci", "snc"})  # legal forms that stand before a name, too
# Words of addresses that are often short, in the short form that they share.
SHORT = {
    "alley": "all",
    "allee": "all",
    "apartment": "apt",
    "avenue": "av",
    "ave": "av",
    "blvd": "bd",
    "boul": "bd",
    "boulevard": "bd",
    "chemin": "ch",
    "court": "ct",
    "drive": "dr",
    "east": "e",
    "faubourg": "fg",
    "fbg": "fg",
    "highway": "hwy",
    "impasse": "imp",
    "lane": "ln",
    "north": "n",
    "place": "pl",
    "road": "rd",
    "route": "rte",
    "rue": "r",
    "saint": "st",
    "sainte": "ste",
    "south": "s",
    "square": "sq",
    "street": "st",
    "suite": "ste",
    "west": "w",
}


def email_mailbox(value: str) -> str:
    """Return what stands before the @ of an e-mail address, without its tag (`+shop`) and without dots and hyphens."""
    mailbox = value.casefold().partition("@")[0]
    return SIGNS.sub("", mailbox.partition("+")[0] or mailbox)


def email_domain(value: str) -> str:
    """Return the domain of an e-mail address, gmail.com also for its other name; empty without an @."""
    domain = value.casefold().partition("@")[2].strip(" .>")
    return "gmail.com" if domain == "googlemail.com" else domain


def phone_digits(value: str) -> str:
    """Return a phone number's digits without the codes of its country and of long distance, then `x` and its extension.

    A value that is no phone number has the digits that it has, maybe none.
    """
    try:
        number = phonenumbers.parse(value, REGION)
    except phonenumbers.NumberParseException:
        return re.sub(r"\D", "", value)
    return str(number.national_number) + (EXTENSION + number.extension if number.extension else "")


def street_words(value: str) -> str:
    """Return the words of an address without its numbers; Straße, rue, Street and their like in one short form."""
    words = HOUSE_NUMBER.sub(" ", _address_words(value)).split()
    return " ".join(words)


def house_numbers(value: str) -> frozenset[str]:
    """Return the numbers of an address and the letters that belong to them, such as 12 and a of 12a."""
    return frozenset(filter(None, (part for parts in HOUSE_NUMBER.findall(_address_words(value)) for part in parts)))


def organisation_words(value: str) -> str:
    """Return the name of an organisation in lower case, without its legal form unless it is all there is."""
    words = INITIALS.sub(r"\1", SIGNS.sub(" ", unaccented(value).replace(".", "")).strip()).split()
    name = [word for word in words if word not in AND]
    while name and LEGAL_FORM.fullmatch(name[-1]):
        name.pop()
    while name and name[0] in FIRST_FORMS:
        del name[0]
    return " ".join(name or words)


def _address_words(value: str) -> str:
    words = SIGNS.sub(" ", re.sub(r"str(asse\b|\.)", "str ", unaccented(value)))
    return " ".join(SHORT.get(word, word) for word in words.split())
