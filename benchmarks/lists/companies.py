"""Suppliers, in several countries: legal forms in many spellings, trades cut short, branches that are not doubles."""

from random import Random

from benchmarks.lists.mistakes import chance, digits, mail_name, often, spoiled
from benchmarks.lists.words import (
    COUNTRIES,
    ENGLISH_CITIES,
    ENGLISH_STREETS,
    ENGLISH_SURNAMES,
    FIRM_WORDS,
    GERMAN_SURNAMES,
    LEGAL_FORMS,
    STREET_TYPES,
    TRADES,
)

TITLE = "companies with branches"
COLUMNS = {
    "Account": "id",
    "Company": "organisation",
    "Street": "address",
    "City": "text",
    "Zip": "code",
    "Country": "text",
    "Website": "text",
    "Phone": "phone",
    "VAT no": "code",
    "Account manager": "keep",
    "Revenue": "keep",
    "Last order": "keep",
}
FILE = ("utf-8", ",")
TYPOS = {"Company": 0.1, "Street": 0.12, "City": 0.06, "Website": 0.02}
GAPS = {"Street": 0.12, "City": 0.05, "Zip": 0.15, "Country": 0.2, "Website": 0.35, "Phone": 0.3, "VAT no": 0.55}
ENDINGS = {"Ltd": "co.uk", "PLC": "co.uk", "B.V.": "nl", "S.A.": "fr", "S.r.l.": "it", "Inc.": "com", "LLC": "com"}
MANAGERS = ("A. Weaver", "J. Lindqvist", "M. Okafor", "R. Sato", "T. Novak")


def thing(rng: Random) -> dict[str, str]:
    """Make a company at a place."""
    legal = rng.choice(list(LEGAL_FORMS))
    surnames = GERMAN_SURNAMES if legal in ("GmbH", "GmbH & Co. KG", "AG") else ENGLISH_SURNAMES
    words = (
        f"{rng.choice(FIRM_WORDS)} {rng.choice(FIRM_WORDS)}",
        often(surnames, rng),
        f"{often(surnames, rng)} & {often(surnames, rng)}",
        f"{often(surnames, rng)} {rng.choice(FIRM_WORDS)}",
    )
    name = rng.choices(words, (5, 2, 3, 4))[0]
    vat = f"{COUNTRIES[legal][1]}{digits(9, rng)}"
    firm = {"name": name, "trade": rng.choice(list(TRADES)), "legal": legal, "vat": vat}
    return firm | {"site": _site(firm)} | _place(rng)


def _site(firm: dict[str, str]) -> str:
    return f"{mail_name(firm['name'].replace(' & ', '-'))}-{firm['trade'].lower()}.{ENDINGS.get(firm['legal'], 'de')}"


def _place(rng: Random) -> dict[str, str]:
    return {
        "street": f"{often(ENGLISH_STREETS, rng)} {rng.choice(list(STREET_TYPES))}",
        "number": str(rng.randint(1, 240)),
        "city": rng.choice(ENGLISH_CITIES),
        "zip": digits(5, rng),
        "phone": digits(9, rng),
    }


def near_miss(firm: dict[str, str], rng: Random) -> dict[str, str]:
    """Make a branch elsewhere, a sister at the same address, or a firm of the same name and another trade."""
    kind = rng.randrange(4)
    if kind < 2:
        return firm | _place(rng)
    trade = rng.choice([trade for trade in TRADES if trade != firm["trade"]])
    other = firm | {"trade": trade, "vat": firm["vat"][:2] + digits(9, rng)}
    if kind == 2:
        return other | {"phone": digits(9, rng)}
    return other | {"site": _site(other)} | _place(rng) | {"city": firm["city"]}


def written(firm: dict[str, str], rng: Random) -> dict[str, str]:
    """Write a record of a company."""
    street_name, _, street_type = firm["street"].rpartition(" ")
    street = f"{street_name} {STREET_TYPES[street_type]}" if chance(0.35, rng) else firm["street"]
    number = firm["number"]
    phone = firm["phone"]
    values = {
        "Company": _name(firm, rng),
        "Street": rng.choice((f"{number} {street}", f"{number}, {street}", f"{street} {number}")),
        "City": firm["city"].upper() if chance(0.1, rng) else firm["city"],
        "Zip": firm["zip"],
        "Country": rng.choice(COUNTRIES[firm["legal"]]),
        "Website": rng.choice(("", "www.", "https://www.", "http://")) + firm["site"] + rng.choice(("", "", "/")),
        "Phone": rng.choice((f"0{phone[:4]} {phone[4:]}", f"+44 {phone[:4]} {phone[4:]}", f"0{phone[:4]}-{phone[4:]}")),
        "VAT no": f"{firm['vat'][:2]} {firm['vat'][2:]}" if chance(0.3, rng) else firm["vat"],
        "Account manager": rng.choice(MANAGERS),
        "Revenue": f"{rng.randrange(1_000, 900_000):,}",
        "Last order": f"{rng.randint(1, 12)}/{rng.randint(2019, 2024)}",
    }
    return spoiled(values, TYPOS, GAPS, rng)


def _name(firm: dict[str, str], rng: Random) -> str:
    name = firm["name"].replace(" & ", rng.choice((" & ", " & ", " and ", "+")))
    trade = TRADES[firm["trade"]] if chance(0.2, rng) else firm["trade"]
    kind = rng.random()
    if kind < 0.25:
        words = f"{name} {trade}"
    elif kind < 0.55:
        words = f"{name} {trade} {rng.choice(LEGAL_FORMS[firm['legal']])}"
    elif kind < 0.62:
        words = f"The {name} {trade} Company"
    else:
        words = f"{name} {trade} {firm['legal']}"
    return words.upper() if chance(0.12, rng) else words
