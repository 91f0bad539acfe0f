"""News, pictures, videos, recipes and events."""

from random import Random

from museum.frames import legal
from museum.hidden_text import article
from museum.kinds import Page, kind
from museum.language import (
    ADJECTIVES,
    NOUNS,
    TOWNS,
    clause,
    day,
    headline,
    listed,
    paragraphs,
    person,
    sentence,
    table,
    text,
)

PAYWALL = """You have read your three free articles this month. To go on reading, choose the
subscription that suits you: the whole newspaper every morning on all your devices for nine pounds
a month, or the weekend edition with the crossword and the magazine for four. You can cancel at any
time, and students pay half. If you take the printed paper already, reading here is free: you only
have to tell us the number on your last bill."""
INTRODUCTION = f"<p>{text(Random('introduction'), 4)}</p>"
COMMENTS = "".join(f"<p>{person(Random(n))} says: {text(Random(n), 2)}</p>" for n in range(12))
FOODS = "flour butter leeks barley trout apples honey walnuts plums lentils cream eggs".split()


@kind(pages=20, amount="story", notice=9, related=True)
def news(chance: Random, number: int) -> Page:
    page = article(chance)
    return page._replace(title=f"{page.title} | Gazette")


@kind(pages=20, amount="wire", layout="divs", related=True)
def wire_stories(chance: Random, number: int) -> Page:
    title = headline(chance)
    lead = f"<p>{TOWNS[number].upper()} (Wire) - {text(chance, 2)}</p>"
    return Page(title, f"<h1>{title}</h1>{lead}{paragraphs(chance, 5)}")


@kind(pages=12, amount="wire", layout="tables", notice=12)
def wire_stories_in_tables(chance: Random, number: int) -> Page:
    title = headline(chance)
    return Page(title, f"<h1>{title}</h1><p>By {person(chance)}</p>{paragraphs(chance, 6)}")


@kind(pages=10, amount="story")
def parts_of_one_long_article(chance: Random, number: int) -> Page:
    head = f"<h1>A journey along the border</h1>{INTRODUCTION}<p>Part {number + 1} of 10</p>"
    return Page("A journey along the border", f"{head}{paragraphs(chance, 5)}")


@kind(pages=20, notice=3)
def teasers_above_a_paywall(chance: Random, number: int) -> Page:
    title = headline(chance)
    body = f"<h1>{title}</h1><p>{clause(chance)} …</p><div class='wall'><p>{PAYWALL}</p></div>"
    return Page(title, body)


@kind(pages=20, notice=2)
def short_reports_above_the_same_comments(chance: Random, number: int) -> Page:
    wall = f"<h2>What our readers say</h2><div class='talk'>{COMMENTS}</div>"
    return Page("In short", f"<h2>In short</h2><p>{sentence(chance)}</p>{wall}")


@kind(pages=20, layout="divs")
def galleries(chance: Random, number: int) -> Page:
    names = [f"The {chance.choice(ADJECTIVES)} {chance.choice(NOUNS)}" for _ in range(5)]
    pictures = "".join(
        f'<figure><img src="/p{number}-{n}.jpg"><figcaption>{name}</figcaption></figure>'
        for n, name in enumerate(names)
    )
    return Page("Pictures", f"{INTRODUCTION}{pictures}")


@kind(pages=30, notice=7)
def pictures_with_one_caption(chance: Random, number: int) -> Page:
    caption = f"{chance.choice(ADJECTIVES)} {NOUNS[number]}"
    picture = f'<img src="/{number}.jpg" alt=""><div class="caption">{caption}</div>'
    return Page("Picture of the day", f"<h1>Picture of the day</h1>{picture}{INTRODUCTION}")


@kind(pages=20, layout="divs", related=True, notice=6)
def videos(chance: Random, number: int) -> Page:
    title = f"{NOUNS[number]} {chance.choice(ADJECTIVES)} video".capitalize()
    facts = f"<div>{chance.randrange(90, 99999)} views, {chance.randrange(60)} minutes</div>"
    about = f"<div>Subscribe to our channel. {text(Random('channel'), 3)}</div>"
    return Page(f"{title} - Tube", f"<div><video></video></div><div>{title}</div>{facts}{about}")


@kind(pages=20, amount="passage", related=True)
def recipes(chance: Random, number: int) -> Page:
    name = f"{' and '.join(chance.sample(FOODS, 2))} from {TOWNS[number]}".capitalize()
    parts = [f"{chance.randrange(20, 500)} g of {food}" for food in chance.sample(FOODS, 6)]
    steps = listed(
        ["Heat the oven to 180 degrees.", clause(chance), clause(chance), sentence(chance)]
    )
    return Page(
        name, f"<h1>{name}</h1>{listed(parts)}{steps}<p>Serve at once. Enjoy your meal.</p>"
    )


@kind(pages=20, layout="divs")
def recipes_whose_quantities_differ(chance: Random, number: int) -> Page:
    steps = f"<p>Mix all of it and bake it for {number + 20} minutes.</p>{INTRODUCTION}"
    parts = listed([f"{chance.randrange(20, 900)} g of {food}" for food in FOODS[:5]])
    return Page("Bread", f"<h1>Bread for {number + 2}</h1>{parts}{steps}")


@kind(pages=20, notice=10)
def events(chance: Random, number: int) -> Page:
    return Page("Events", f"<h1>Events</h1><p>{sentence(chance)}</p><p>{PAYWALL}</p>")


@kind(pages=20, layout="divs", notice=4)
def dates_of_one_tour(chance: Random, number: int) -> Page:
    facts = listed([day(chance), f"Town hall, {TOWNS[number]}", f"{20 + number}.50 EUR"])
    name = "The night watchman: an opera"
    return Page(name, f"<h1>{name}</h1>{facts}{INTRODUCTION}<p>{' '.join(legal(9)[5:])}</p>")


@kind(pages=20, layout="tables")
def timetables(chance: Random, number: int) -> Page:
    stops = [(town, f"{chance.randrange(5, 23)}:{chance.randrange(60):02}") for town in TOWNS[:9]]
    rules = "<p>Not on public holidays. Bicycles are taken if there is room for them.</p>"
    return Page("Timetable", f"<h2>Bus {number + 1}</h2>{table(stops)}{rules}")


@kind(pages=16, amount="story", language="zh", notice=7, related=True)
def chinese_news(chance: Random, number: int) -> Page:
    return article(chance, "zh")


@kind(pages=16, language="zh", notice=3)
def chinese_recipes(chance: Random, number: int) -> Page:
    parts = listed(
        [f"{food}{chance.randrange(5, 500)}克" for food in "面粉 白糖 鸡蛋 猪肉".split()]
    )
    return Page("家常菜谱", f"<h1>家常菜谱</h1>{parts}<p>{text(Random('菜谱'), 3, 'zh')}</p>")
