"""Contacts at firms, in French: accents, particles, rue or r., two given names, colleagues at one address."""

from random import Random

from benchmarks.lists.mistakes import chance, day, digits, mail_name, often, spoiled, without_accents
from benchmarks.lists.words import (
    FRENCH_CITIES,
    FRENCH_FIRMS,
    FRENCH_JOBS,
    FRENCH_MEN,
    FRENCH_STREETS,
    FRENCH_SURNAMES,
    FRENCH_WOMEN,
)

TITLE = "contacts, French"
COLUMNS = {
    "Réf.": "id",
    "Civilité": "keep",
    "Prénom": "name",
    "Nom": "name",
    "Société": "organisation",
    "Adresse": "address",
    "Code postal": "code",
    "Ville": "text",
    "Téléphone": "phone",
    "Courriel": "e-mail",
    "Fonction": "keep",
    "Dernier contact": "keep",
    "Origine": "keep",
}
FILE = ("utf-8-sig", ";")
TYPOS = {"Prénom": 0.07, "Nom": 0.1, "Société": 0.08, "Adresse": 0.1, "Ville": 0.05, "Courriel": 0.03}
GAPS = {
    "Prénom": 0.04,
    "Société": 0.15,
    "Adresse": 0.15,
    "Code postal": 0.12,
    "Ville": 0.06,
    "Téléphone": 0.35,
    "Courriel": 0.35,
}
SHORT = {
    "rue": ("r.", "R", "rue"),
    "avenue": ("av.", "Av", "ave"),
    "boulevard": ("bd", "Bd.", "boul."),
    "place": ("pl.", "Pl"),
    "chemin": ("ch.", "chem."),
    "allée": ("all.",),
    "impasse": ("imp.",),
}
ORIGINS = ("salon 2023", "site web", "ancien fichier", "annuaire", "parrainage")


def thing(rng: Random) -> dict[str, str]:
    """Make a contact at a firm."""
    city = rng.choice(list(FRENCH_CITIES))
    founder = often(FRENCH_SURNAMES, rng)
    firm = f"{rng.choice(FRENCH_FIRMS)} {founder}"
    return _person(rng) | {
        "firm": firm,
        "legal": rng.choice(("SARL", "SA", "SAS", "EURL", "")),
        "domain": f"{mail_name(firm.split()[0])}-{mail_name(founder)}.fr",
        "number": f"{rng.randint(1, 140)}{rng.choice(('', '', '', ' bis', ' ter'))}",
        "street": rng.choice(FRENCH_STREETS),
        "zip": f"{FRENCH_CITIES[city]}{rng.randrange(0, 900, 100):03d}",
        "city": city,
    }


def _person(rng: Random) -> dict[str, str]:
    sex = rng.choice("mw")
    return {
        "sex": sex,
        "first": often(FRENCH_MEN if sex == "m" else FRENCH_WOMEN, rng),
        "last": often(FRENCH_SURNAMES, rng),
        "phone": digits(8, rng),
        "job": rng.choice(FRENCH_JOBS),
        "mail_style": rng.choice(("dotted", "initial", "last")),
    }


def near_miss(contact: dict[str, str], rng: Random) -> dict[str, str]:
    """Make a colleague, one of the family at the same firm, or a namesake elsewhere."""
    kind = rng.randrange(3)
    person = _person(rng)
    if kind == 2:
        return thing(rng) | {name: contact[name] for name in ("sex", "first", "last")}
    last = contact["last"] if kind == 1 else person["last"]
    names = [name for name in (FRENCH_MEN if person["sex"] == "m" else FRENCH_WOMEN) if name != contact["first"]]
    return contact | person | {"first": rng.choice(names), "last": last}


def written(contact: dict[str, str], rng: Random) -> dict[str, str]:
    """Write a record of a contact, who may have changed to another firm."""
    work = contact
    if chance(0.05, rng):
        new = thing(rng)
        work = contact | {name: new[name] for name in ("firm", "legal", "domain", "number", "street", "zip", "city")}
    first = contact["first"]
    if chance(0.12, rng):
        first = ".-".join(part[0] for part in first.split("-")) + "."
    elif "-" in first and chance(0.4, rng):
        first = first.replace("-", rng.choice((" ", "")))
    values = {
        "Civilité": rng.choice(("M.", "Monsieur", "")) if contact["sex"] == "m" else rng.choice(("Mme", "Madame", "")),
        "Prénom": first,
        "Nom": _last(contact["last"], rng),
        "Société": _firm(work, rng),
        "Adresse": _address(work, rng),
        "Code postal": work["zip"],
        "Ville": _city(work["city"], rng),
        "Téléphone": _phone(contact["phone"], rng),
        "Courriel": _mail(work),
        "Fonction": contact["job"] if chance(0.5, rng) else "",
        "Dernier contact": day(2018, 2024, rng),
        "Origine": rng.choice(ORIGINS),
    }
    if chance(0.25, rng):
        values |= {name: without_accents(values[name]) for name in ("Prénom", "Nom", "Société", "Adresse", "Ville")}
    return spoiled(values, TYPOS, GAPS, rng)


def _last(last: str, rng: Random) -> str:
    kind = rng.random()
    if kind < 0.35:
        return last.upper()
    if kind < 0.5:
        return last.replace(" ", "").replace("'", "").capitalize()
    return last[0].upper() + last[1:] if kind < 0.6 else last


def _firm(work: dict[str, str], rng: Random) -> str:
    legal = work["legal"] if chance(0.6, rng) else ""
    return f"{legal} {work['firm']}".strip() if chance(0.3, rng) else f"{work['firm']} {legal}".strip()


def _address(work: dict[str, str], rng: Random) -> str:
    kind, _, name = work["street"].partition(" ")
    if chance(0.45, rng) and kind in SHORT:
        kind = rng.choice(SHORT[kind])
    name = name.replace("Saint-", rng.choice(("Saint-", "St ", "St-"))).replace(
        "Général", rng.choice(("Général", "Gal"))
    )
    return f"{work['number']}{rng.choice((' ', ', '))}{kind} {name}"


def _city(city: str, rng: Random) -> str:
    if city.startswith("Saint-") and chance(0.4, rng):
        city = city.replace("Saint-", rng.choice(("St ", "St-", "Saint ")))
    if chance(0.25, rng):
        return city.upper()
    return f"{city} Cedex" if chance(0.08, rng) else city


def _phone(phone: str, rng: Random) -> str:
    pairs = [phone[place : place + 2] for place in range(0, 8, 2)]
    return rng.choice(
        (f"06 {' '.join(pairs)}", f"06.{'.'.join(pairs)}", f"06{phone}", f"+33 6 {' '.join(pairs)}", f"00336{phone}")
    )


def _mail(work: dict[str, str]) -> str:
    first = mail_name(work["first"])
    last = mail_name(work["last"])
    names = {"dotted": f"{first}.{last}", "initial": f"{first[0]}{last}", "last": last}
    return f"{names[work['mail_style']]}@{work['domain']}"
