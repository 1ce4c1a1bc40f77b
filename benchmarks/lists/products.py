"""Products of several suppliers: three price formats, words in any order, model numbers that differ in one digit."""

from random import Random

from benchmarks.lists.mistakes import chance, changed_digit, digits, spoiled
from benchmarks.lists.words import BRANDS, MAKES, PARTS

TITLE = "products, three price formats"
COLUMNS = {
    "Item": "id",
    "Title": "text",
    "Brand": "organisation",
    "Model": "code",
    "Price": "price",
    "EAN": "code",
    "Supplier": "keep",
    "Stock": "keep",
    "Delivery": "keep",
}
FILE = ("utf-8", ",")
TYPOS = {"Title": 0.1, "Brand": 0.04}
GAPS = {"Brand": 0.25, "Model": 0.35, "Price": 0.05, "EAN": 0.7}
SUPPLIERS = ("Northwind", "Brenner", "Solis", "Kappa Trade")
DELIVERIES = ("24 h", "2-3 days", "on request", "1 week", "")


def thing(rng: Random) -> dict[str, str]:
    """Make a product."""
    make = rng.choice(list(MAKES))
    versions, usual = MAKES[make]
    letters = "".join(rng.choice("ABCDEFGKLMPRSTVX") for _ in range(rng.randint(1, 3)))
    return {
        "brand": rng.choice(BRANDS),
        "make": make,
        "model": f"{letters}{digits(rng.randint(3, 4), rng)}",
        "version": rng.choice(versions),
        "part": "",
        "price": f"{usual * rng.uniform(0.6, 2.8):.2f}",
        "ean": digits(13, rng),
    }


def near_miss(product: dict[str, str], rng: Random) -> dict[str, str]:
    """Make the next model, another version of the model, or a part for it."""
    kind = rng.randrange(4)
    new = {"ean": digits(13, rng), "price": f"{float(product['price']) * rng.uniform(0.85, 1.25):.2f}"}
    if kind < 2:
        return product | new | {"model": changed_digit(product["model"], rng)}
    if kind == 2:
        versions = [version for version in MAKES[product["make"]][0] if version != product["version"]]
        return product | new | {"version": rng.choice(versions)}
    return product | new | {"part": rng.choice(PARTS), "price": f"{rng.uniform(9, 59):.2f}"}


def written(product: dict[str, str], rng: Random) -> dict[str, str]:
    """Write a record of a product, as a supplier does."""
    model = product["model"]
    place = next(place for place, letter in enumerate(model) if letter.isdigit())
    model = rng.choice((model, model, f"{model[:place]}-{model[place:]}", f"{model[:place]} {model[place:]}"))
    price = float(product["price"]) * (1 + rng.choice((0, 0, rng.uniform(-0.08, 0.08))))
    values = {
        "Title": _title(product, model, rng),
        "Brand": product["brand"].upper() if chance(0.2, rng) else product["brand"],
        "Model": model,
        "Price": _price(price, rng),
        "EAN": product["ean"],
        "Supplier": rng.choice(SUPPLIERS),
        "Stock": str(rng.choice((0, 0, rng.randrange(400)))),
        "Delivery": rng.choice(DELIVERIES),
    }
    spoilt = spoiled(values, TYPOS, GAPS, rng)
    if model not in values["Title"]:
        spoilt["Model"] = model
    return spoilt


def _title(product: dict[str, str], model: str, rng: Random) -> str:
    make = product["make"]
    brand = product["brand"]
    version = product["version"].replace(" ", "") if chance(0.4, rng) else product["version"]
    what = f"{product['part']} for {make}" if product["part"] else make
    titles = (
        f"{brand} {what} {model} {version}",
        f"{brand} {model} {what}, {version}",
        f"{what.capitalize()} {brand} {model} ({version})",
        f"{what.capitalize()} {version} {brand}",
        f"{brand} {model} - {version} {what}",
        f"{model} {what} {version}",
    )
    title = rng.choices(titles, (4, 4, 3, 2, 3, 2))[0]
    return f"{title} {rng.choice(('NEW', '2024', 'EU plug', '- free delivery'))}" if chance(0.2, rng) else title


def _price(price: float, rng: Random) -> str:
    english = f"{price:,.2f}"
    german = english.translate(str.maketrans(",.", ".,"))
    return rng.choice((f"{german} €", f"EUR {english}", str(round(price))))
