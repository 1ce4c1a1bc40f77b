"""Customers of a shop, in German, as Excel saves them: umlauts, Straße or Str., phones as everybody writes them."""

from random import Random

from benchmarks.lists.mistakes import GERMAN_LETTERS, chance, day, digits, mail_name, often, spoiled
from benchmarks.lists.words import GERMAN_CITIES, GERMAN_MEN, GERMAN_STREETS, GERMAN_SURNAMES, GERMAN_WOMEN

TITLE = "customers, German"
COLUMNS = {
    "Kundennr.": "id",
    "Anrede": "keep",
    "Vorname": "name",
    "Nachname": "name",
    "Straße": "address",
    "PLZ": "code",
    "Ort": "text",
    "Telefon": "phone",
    "E-Mail": "e-mail",
    "Geburtsdatum": "date",
    "Kunde seit": "keep",
    "Umsatz": "keep",
    "Bemerkung": "keep",
}
FILE = ("cp1252", ";")
TYPOS = {"Vorname": 0.08, "Nachname": 0.12, "Straße": 0.1, "Ort": 0.06, "E-Mail": 0.03}
GAPS = {"Vorname": 0.03, "Straße": 0.08, "PLZ": 0.08, "Ort": 0.04, "Telefon": 0.35, "E-Mail": 0.4, "Geburtsdatum": 0.5}
PROVIDERS = ("gmx.de", "web.de", "t-online.de", "gmail.com")
REMARKS = ("Stammkunde", "2. Mahnung", "keine Werbung", "Rückruf", "alte Nr. gelöscht", "bar bezahlt", "Messe")


def thing(rng: Random) -> dict[str, str]:
    """Make a customer."""
    sex = rng.choice("mw")
    first = often(GERMAN_MEN if sex == "m" else GERMAN_WOMEN, rng)
    last = often(GERMAN_SURNAMES, rng)
    if chance(0.06, rng):
        last = f"{last}-{rng.choice(GERMAN_SURNAMES)}"
    person = {"sex": sex, "first": first, "last": last, "born": day(1938, 2004, rng), "mobile": digits(8, rng)}
    return person | {"mail": _mail(first, last, rng)} | _home(rng)


def _home(rng: Random) -> dict[str, str]:
    city = rng.choice(list(GERMAN_CITIES))
    number = f"{rng.randint(1, 160)}{rng.choice(('', '', '', ' a', ' b', ' c'))}"
    area = str(200 + 13 * list(GERMAN_CITIES).index(city))
    plz = f"{GERMAN_CITIES[city]}{rng.randint(1, 40):03d}"
    return {
        "street": rng.choice(GERMAN_STREETS),
        "number": number,
        "plz": plz,
        "city": city,
        "area": area,
        "phone": digits(6, rng),
    }


def _mail(first: str, last: str, rng: Random) -> str:
    first = mail_name(first)
    last = mail_name(last)
    names = (f"{first}.{last}", f"{first[0]}.{last}", f"{last}{rng.randint(1, 99)}", f"{first}_{last}")
    return f"{rng.choice(names)}@{rng.choice(PROVIDERS)}"


def near_miss(person: dict[str, str], rng: Random) -> dict[str, str]:
    """Make a spouse, a child, a namesake, or another of the family in the next house."""
    kind = rng.randrange(4)
    stranger = thing(rng)
    if kind == 2:
        return stranger | {name: person[name] for name in ("sex", "first", "last")}
    names = GERMAN_WOMEN if (kind == 0) == (person["sex"] == "m") else GERMAN_MEN
    first = person["first"] if kind == 1 else often([name for name in names if name != person["first"]], rng)
    born = f"{int(person['born'][:4]) + rng.randint(20, 38)}{stranger['born'][4:]}" if kind == 1 else stranger["born"]
    personal = {"first": first, "born": born, "mobile": stranger["mobile"], "mail": _mail(first, person["last"], rng)}
    house = {"number": str(int(person["number"].split()[0]) + 2), "phone": stranger["phone"]} if kind == 3 else {}
    return person | personal | house


def written(person: dict[str, str], rng: Random) -> dict[str, str]:
    """Write a record of a customer, who may have moved, and may have a second e-mail address."""
    home = person | _home(rng) if chance(0.05, rng) else person
    mail = _mail(person["first"], person["last"], rng) if chance(0.12, rng) else person["mail"]
    values = {
        "Anrede": rng.choice(("Herr", "Hr.", "")) if person["sex"] == "m" else rng.choice(("Frau", "Fr.", "")),
        "Vorname": f"{person['first'][0]}." if chance(0.06, rng) else person["first"],
        "Nachname": person["last"],
        "Straße": _street(home, rng),
        "PLZ": f"D-{home['plz']}" if chance(0.08, rng) else home["plz"],
        "Ort": _city(home["city"], rng),
        "Telefon": _phone(home, rng),
        "E-Mail": mail.upper() if chance(0.05, rng) else mail,
        "Geburtsdatum": _date(person["born"], rng),
        "Kunde seit": str(rng.randint(1995, 2024)),
        "Umsatz": f"{rng.randrange(20, 9_000)},{rng.randrange(100):02d} €",
        "Bemerkung": rng.choice(REMARKS) if chance(0.3, rng) else "",
    }
    kind = rng.random()
    if kind < 0.04:
        values |= {"Vorname": "", "Nachname": f"{values['Nachname']}, {values['Vorname']}"}
    elif kind < 0.07:
        values |= {"Vorname": values["Nachname"], "Nachname": values["Vorname"]}
    if chance(0.2, rng):
        values |= {name: values[name].translate(GERMAN_LETTERS) for name in ("Vorname", "Nachname", "Straße", "Ort")}
    return spoiled(values, TYPOS, GAPS, rng)


def _street(home: dict[str, str], rng: Random) -> str:
    street = home["street"]
    number = home["number"].replace(" ", "") if chance(0.5, rng) else home["number"]
    if chance(0.45, rng):
        street = street.replace("straße", rng.choice(("str.", "str", "strasse")))
        street = street.replace("Straße", rng.choice(("Str.", "Str", "Strasse")))
    return f"{street} {number}"


def _city(city: str, rng: Random) -> str:
    short = city.replace(" am Main", "/M.").replace(" im Breisgau", "").replace(" (Saale)", "")
    return rng.choice((city, city, short))


def _phone(home: dict[str, str], rng: Random) -> str:
    if chance(0.4, rng):
        mobile = home["mobile"]
        return rng.choice((f"0171 {mobile}", f"0171/{mobile}", f"+49 171 {mobile}", f"0049171{mobile}"))
    area = home["area"]
    phone = home["phone"]
    grouped = f"{phone[:2]} {phone[2:4]} {phone[4:]}"
    return rng.choice((f"0{area}/{phone}", f"0{area} {grouped}", f"+49 {area} {phone}", f"+49 (0){area} {phone}"))


def _date(date: str, rng: Random) -> str:
    year, month, day_of_month = date.split("-")
    short = f"{int(day_of_month)}.{int(month)}.{year[2:]}"
    return rng.choice((f"{day_of_month}.{month}.{year}", f"{day_of_month}.{month}.{year}", short, date))
