"""Members of a club, in English: short names, typos, dates in three formats, father and son at one address."""

from random import Random

from benchmarks.lists.mistakes import chance, day, digits, often, spoiled
from benchmarks.lists.words import (
    ENGLISH_CITIES,
    ENGLISH_MEN,
    ENGLISH_STREETS,
    ENGLISH_SURNAMES,
    ENGLISH_WOMEN,
    NOTES,
    SHORT_NAMES,
    STREET_TYPES,
)

TITLE = "persons, English"
COLUMNS = {
    "Member no": "id",
    "First name": "name",
    "Last name": "name",
    "Born": "date",
    "Street": "address",
    "City": "text",
    "Postcode": "code",
    "E-mail": "e-mail",
    "Phone": "phone",
    "Joined": "keep",
    "Fee": "keep",
    "Notes": "keep",
}
FILE = ("utf-8", ",")
TYPOS = {"First name": 0.08, "Last name": 0.14, "Street": 0.12, "City": 0.06, "E-mail": 0.04}
GAPS = {"First name": 0.02, "Born": 0.2, "Street": 0.12, "City": 0.06, "Postcode": 0.15, "E-mail": 0.35, "Phone": 0.35}
PROVIDERS = ("gmail.com", "outlook.com", "yahoo.co.uk", "btinternet.com")


def thing(rng: Random) -> dict[str, str]:
    """Make a person."""
    sex = rng.choice("mw")
    last = often(ENGLISH_SURNAMES, rng)
    first = often(ENGLISH_MEN if sex == "m" else ENGLISH_WOMEN, rng)
    return {
        "sex": sex,
        "first": first,
        "middle": rng.choice("ABCDEFGHJLMRST"),
        "last": last,
        "born": day(1935, 2004, rng),
        **_home(rng),
        "mail": _mail(first, last, rng),
        "phone": digits(6, rng),
        "mobile": digits(9, rng),
    }


def _home(rng: Random) -> dict[str, str]:
    city = rng.choice(ENGLISH_CITIES)
    letters = "".join(rng.choice("ABDEFGHJLNPQRSTUWXYZ") for _ in range(2))
    return {
        "street": f"{often(ENGLISH_STREETS, rng)} {rng.choice(list(STREET_TYPES))}",
        "number": str(rng.randint(1, 180)),
        "city": city,
        "area": str(1200 + 7 * ENGLISH_CITIES.index(city)),
        "postcode": f"{city[:2].upper()}{rng.randint(1, 20)} {rng.randint(1, 9)}{letters}",
    }


def _mail(first: str, last: str, rng: Random) -> str:
    names = (f"{first}.{last}", f"{first[0]}{last}", f"{first}{last}{rng.randint(1, 99)}", f"{last}.{first[0]}")
    return f"{rng.choice(names)}@{rng.choice(PROVIDERS)}".lower()


def near_miss(person: dict[str, str], rng: Random) -> dict[str, str]:
    """Make a son or daughter of the same name, a twin, a spouse or a namesake."""
    kind = rng.randrange(4)
    stranger = thing(rng)
    mobile = {"mobile": stranger["mobile"]}
    if kind == 0:
        born = f"{int(person['born'][:4]) + rng.randint(20, 38)}{stranger['born'][4:]}"
        mail = _mail(person["first"], person["last"], rng)
        return person | mobile | {"born": born, "middle": stranger["middle"], "mail": mail}
    if kind == 3:
        return stranger | {"sex": person["sex"], "first": person["first"], "last": person["last"]}
    names = ENGLISH_WOMEN if (kind == 2) == (person["sex"] == "m") else ENGLISH_MEN
    first = often([name for name in names if name != person["first"]], rng)
    born = person["born"] if kind == 1 else stranger["born"]
    mail = _mail(first, person["last"], rng)
    return person | mobile | {"first": first, "middle": stranger["middle"], "born": born, "mail": mail}


def written(person: dict[str, str], rng: Random) -> dict[str, str]:
    """Write a record of a person, who may have moved, and may have a second e-mail address."""
    home = person | _home(rng) if chance(0.06, rng) else person
    values = {
        "First name": _first(person, rng),
        "Last name": person["last"],
        "Born": _date(person["born"], rng),
        "Street": _street(home, rng),
        "City": home["city"],
        "Postcode": home["postcode"].replace(" ", "") if chance(0.2, rng) else home["postcode"],
        "E-mail": _mail(person["first"], person["last"], rng) if chance(0.12, rng) else person["mail"],
        "Phone": _phone(home, rng),
        "Joined": day(1998, 2024, rng),
        "Fee": rng.choice(("24", "48", "48.00", "60", "")),
        "Notes": rng.choice(NOTES) if chance(0.3, rng) else "",
    }
    if chance(0.03, rng):
        values |= {"First name": values["Last name"], "Last name": values["First name"]}
    if chance(0.08, rng):
        values |= {name: values[name].upper() for name in ("First name", "Last name", "Street", "City")}
    return spoiled(values, TYPOS, GAPS, rng)


def _first(person: dict[str, str], rng: Random) -> str:
    first = person["first"]
    kind = rng.random()
    if kind < 0.14:
        return SHORT_NAMES.get(first, first)
    if kind < 0.2:
        return f"{first[0]}."
    return f"{first} {person['middle']}." if kind < 0.3 else first


def _date(date: str, rng: Random) -> str:
    year, month, day_of_month = date.split("-")
    if int(day_of_month) <= 12 and chance(0.06, rng):
        return f"{year}-{day_of_month}-{month}"
    return rng.choice((date, f"{day_of_month}/{month}/{year}", f"{int(day_of_month)}.{int(month)}.{year[2:]}"))


def _street(home: dict[str, str], rng: Random) -> str:
    street = home["street"]
    if chance(0.35, rng):
        name, _, street_type = street.rpartition(" ")
        street = f"{name} {STREET_TYPES[street_type]}{rng.choice(('', '.'))}"
    return f"{home['number']}{rng.choice(('', '', ','))} {street}"


def _phone(person: dict[str, str], rng: Random) -> str:
    if chance(0.5, rng):
        number = person["mobile"]
        return rng.choice((f"07{number[:3]} {number[3:]}", f"+447{number}", f"07{number}"))
    area = person["area"]
    number = person["phone"]
    return rng.choice((f"0{area} {number}", f"(0{area}) {number[:3]} {number[3:]}", f"+44 {area} {number}"))
