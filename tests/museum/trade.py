"""Shops, offers and bills: what differs is a name, a number, a price or a table row."""

from random import Random

from museum.frames import legal
from museum.kinds import Page, kind
from museum.language import (
    KINDS_OF_WOOD,
    THINGS,
    TOWNS,
    ZH_NAMES,
    ZH_THINGS,
    ZH_TOWNS,
    day,
    listed,
    person,
    sentence,
    table,
    text,
)

TERMS = f"<h2>Delivery and returns</h2><p>{' '.join(legal(12)[4:9])}</p>"
DESCRIPTION = text(Random("description"), 5)
EMPLOYER = text(Random("employer"), 6)
ZH_TERMS = f"<p>{''.join(legal(7, 'zh')[3:])}</p>"
MONEY = "dollar euro yen pound franc krona peso rand rupee won real lira zloty baht dinar".split()


def thing(chance: Random, number: int) -> str:
    """The name of something for sale, that nothing else has."""
    return f"{KINDS_OF_WOOD[number % 10]} {THINGS[(number // 10 + number) % 12]}".capitalize()


def price(chance: Random) -> str:
    """Some amount."""
    return f"{chance.randrange(10, 2000)}.{chance.randrange(10, 100)}"


@kind(pages=40, notice=2)
def shop_items_above_terms(chance: Random, number: int) -> Page:
    facts = f"<p>Item {63000 + 7 * number}, {price(chance)} EUR</p>"
    return Page("Shop for furniture", f"<h1>{thing(chance, number)}</h1>{facts}{TERMS}{TERMS}")


@kind(pages=30, layout="divs", notice=9)
def shop_items_without_headlines(chance: Random, number: int) -> Page:
    rows = f'<div class="q">{price(chance)} EUR</div><div>In stock: {chance.randrange(90)}</div>'
    body = f'<div class="p">{thing(chance, number)}</div>{rows}<div class="t">{TERMS}</div>'
    return Page("Shop for furniture", body)


@kind(pages=20, layout="divs", notice=7)
def shop_items_that_differ_by_number_and_price(chance: Random, number: int) -> Page:
    facts = f"<div>Article number {40017 + number}</div><div>{price(chance)} EUR</div>"
    return Page("Screw", f"<h1>Screw</h1>{facts}<div>{DESCRIPTION}</div>{TERMS}")


@kind(pages=20, related=True)
def shop_variants_of_one_item(chance: Random, number: int) -> Page:
    wood, size = KINDS_OF_WOOD[number // 2], ("small", "large")[number % 2]
    name = f"Garden bench, {wood}, {size}"
    return Page(f"{name} - Benches", f"<h1>{name}</h1><p>{DESCRIPTION}</p>{TERMS}")


@kind(pages=20, layout="tables", notice=12)
def spare_parts(chance: Random, number: int) -> Page:
    rows = [
        ("Part", f"{chance.randrange(16**8):08x}"),
        ("Weight", f"{number + 11} g"),
        ("Stock", 3),
    ]
    return Page("Parts", f"<h3>Spare part</h3>{table(rows)}<p>{DESCRIPTION}</p>")


@kind(pages=20, related=True)
def reviews_of_one_item(chance: Random, number: int) -> Page:
    stars = f"<p>{number % 5 + 1} stars by {person(chance)} on {day(chance)}</p>"
    body = f"<h1>Garden bench</h1><p>{DESCRIPTION}</p>{stars}<p>{sentence(chance)}</p>{TERMS}"
    return Page("Garden bench: what a customer says", body)


@kind(pages=30, notice=3)
def jobs(chance: Random, number: int) -> Page:
    role = ["Nurse", "Cook", "Clerk"][number % 3]
    facts = [f"Place: {TOWNS[number]}", f"Pay: {price(chance)}", f"Number {8800 + 3 * number}"]
    ask = f"<p>{EMPLOYER}</p><p>Send us your letter and what you have learnt.</p>"
    return Page(f"{role} wanted", f"<h1>{role} (m/f/d)</h1>{listed(facts)}{ask}")


@kind(pages=30, layout="divs")
def jobs_whose_place_alone_differs(chance: Random, number: int) -> Page:
    where = f"<div>Where: {TOWNS[number]}</div>"
    return Page("Nurse wanted", f"<h1>Nurse (m/f/d)</h1>{where}<div>{EMPLOYER}</div>")


@kind(pages=30, notice=2)
def town_pages_of_a_plumber(chance: Random, number: int) -> Page:
    town = TOWNS[number]
    said = f"""Our plumbers in {town} are at your door in an hour. {DESCRIPTION} Whoever lives in
        {town} and has water in the cellar calls us by day and by night. {EMPLOYER}"""
    return Page(f"Plumber in {town}", f"<h1>Plumber in {town}</h1><p>{said}</p>")


@kind(pages=20, layout="divs", notice=8, related=True)
def classifieds(chance: Random, number: int) -> Page:
    name = thing(chance, number)
    facts = listed([f"{price(chance)} EUR", TOWNS[number], f"Call {chance.randrange(10**7)}"])
    said = f"I sell my {name.lower()}, as it is, no returns. Collect it yourself."
    return Page(name, f"<div><b>{name}</b></div>{facts}<div>{said}</div>")


@kind(pages=20, related=True)
def real_estate(chance: Random, number: int) -> Page:
    rows = [("Rooms", number % 5 + 1), ("Area", f"{40 + 3 * number} m2"), ("Rent", price(chance))]
    name = f"Flat in {TOWNS[number % 4]}"
    return Page(name, f"<h1>{name}</h1>{table(rows)}<p>{DESCRIPTION}</p><p>{EMPLOYER}</p>")


@kind(pages=20, layout="tables", notice=6)
def invoices(chance: Random, number: int) -> Page:
    wares = [(thing(chance, number + n), 1 + n % 3, price(chance)) for n in range(3)]
    head = f"<p>Invoice {20240 + number} of {day(chance)} to {person(chance)}</p>"
    return Page("Invoice", f"<h2>Invoice</h2>{head}{table(wares)}<p>{' '.join(legal(8)[4:])}</p>")


@kind(pages=20, layout="divs")
def exchange_rates(chance: Random, number: int) -> Page:
    rows = [(f"1 {name}", f"{chance.uniform(0.1, 90):.4f}") for name in MONEY]
    when = f"<div>Rates of {number + 1} March 2024</div>"
    return Page("Exchange rates", f"<h1>Exchange rates</h1>{when}{table(rows)}")


@kind(pages=20, layout="divs", language="zh", notice=7)
def chinese_shop_items(chance: Random, number: int) -> Page:
    name = f"{ZH_THINGS[number % 16]} {'红白'[number // 16]}色"
    facts = f"<p>编号{630 + 7 * number}，价格{chance.randrange(90, 9000)}元</p>"
    return Page("家具商城", f"<h1>{name}</h1>{facts}{ZH_TERMS}")


@kind(pages=16, language="zh")
def chinese_jobs(chance: Random, number: int) -> Page:
    said = text(Random("雇主"), 6, "zh")
    facts = listed([f"工作地点：{ZH_TOWNS[number]}", f"联系人：{ZH_NAMES[number]}"])
    return Page("招聘护士", f"<h1>招聘护士</h1>{facts}<p>{said}</p>")
