"""Numbers and lists: weather, results, calendars, games, families."""

from random import Random

from museum.kinds import Page, kind
from museum.language import LAST, TOWNS, ZH_TOWNS, day, listed, person, table, text

METHOD = f"<h2>How we measure</h2><p>{text(Random('method'), 5)}</p>"
SERVICES = "Login Search Mail Storage Payments Maps".split()


@kind(pages=20, layout="tables", notice=3)
def tables_of_numbers(chance: Random, number: int) -> Page:
    rows = [(1990 + year, *(chance.randrange(10**4) for _ in range(4))) for year in range(12)]
    return Page("Statistics", f"<h2>Statistics</h2>{table(rows)}{METHOD}")


@kind(pages=20, layout="tables", notice=3)
def tables_of_which_one_row_differs(chance: Random, number: int) -> Page:
    rows = [(1990 + year, *(Random(year).sample(range(10**4), 4))) for year in range(20)]
    rows[number] = (1990 + number, *(chance.randrange(10**4) for _ in range(4)))
    return Page("Statistics", f"<h2>Statistics</h2>{table(rows)}{METHOD}")


@kind(pages=30, layout="divs", notice=6)
def weather(chance: Random, number: int) -> Page:
    rows = [
        (when, f"{chance.randrange(-9, 39)} degrees") for when in ("Today", "Night", "Tomorrow")
    ]
    said = f"<h1>Weather in {TOWNS[number]}</h1>{table(rows)}<p>Rain is possible.</p>"
    return Page(f"Weather {TOWNS[number]}", f"{said}{METHOD}")


@kind(pages=20, layout="divs", related=True)
def sports_results(chance: Random, number: int) -> Page:
    home, guest = chance.sample(TOWNS, 2)
    goals = [f"{chance.randrange(90)}' {person(chance)}" for _ in range(3)]
    name = f"{home} {chance.randrange(5)}:{chance.randrange(5)} {guest}"
    return Page(f"{name} - Round {number + 1}", f"<h1>{name}</h1>{listed(goals)}{METHOD}")


@kind(pages=20, layout="tables", notice=5)
def league_tables(chance: Random, number: int) -> Page:
    clubs = chance.sample(TOWNS, 10)
    rows = [(n + 1, club, chance.randrange(60)) for n, club in enumerate(clubs)]
    return Page("League table", f"<h2>League table</h2><p>Round {number + 1}</p>{table(rows)}")


@kind(pages=12, layout="tables", notice=2)
def calendars(chance: Random, number: int) -> Page:
    weeks = [tuple(range(7 * n + 1 - number % 7, 7 * n + 8 - number % 7)) for n in range(5)]
    noted = f"<p>Full moon on the {number + 3}th, {person(chance)} is on duty.</p>"
    return Page("Calendar", f"<h2>Month {number + 1}</h2>{table(weeks)}{noted}")


@kind(pages=30, layout="divs", notice=7)
def lottery_numbers(chance: Random, number: int) -> Page:
    drawn = f"<div>{day(chance)}: {' '.join(map(str, chance.sample(range(50), 6)))}</div>"
    return Page("Lottery", f"<h1>Lottery</h1>{drawn}{METHOD}")


@kind(pages=20, layout="manual", notice=3)
def chess_games(chance: Random, number: int) -> Page:
    moves = [
        f"{n}. {chance.choice('abcdefgh')}{n % 4 + 3} N{chance.choice('abcdfg')}6"
        for n in range(1, 20)
    ]
    players = f"{person(chance)} - {person(chance)}"
    return Page("Game", f"<h1>{players}</h1><p>1. e4 e5 2. Nf3 Nc6 {' '.join(moves)} 1-0</p>")


@kind(pages=20, layout="tables", notice=1)
def genealogies(chance: Random, number: int) -> Page:
    name = f"{person(chance)} ({1700 + 9 * number})"
    family = [("Father", person(chance)), ("Mother", person(chance)), ("Died", day(chance))]
    story = f"<p>The family of {LAST[3]} came from the north. {text(Random('family'), 4)}</p>"
    return Page("Family tree", f"<h2>{name}</h2>{table(family)}{story}")


@kind(pages=20, layout="divs", notice=2)
def status_pages(chance: Random, number: int) -> Page:
    bad = chance.randrange(6)
    rows = [(name, "Outage" if n == bad else "Works") for n, name in enumerate(SERVICES)]
    seen = f"<p>{day(chance)}, {number + 1}:{chance.randrange(60):02}: {99 - number}.7 % up</p>"
    return Page("Status", f"<h1>Status</h1>{table(rows)}{seen}{METHOD}")


@kind(pages=20, layout="divs", related=True, notice=8)
def places_on_a_map(chance: Random, number: int) -> Page:
    point = f"{chance.uniform(50, 55):.5f}, {chance.uniform(-5, 2):.5f}"
    open_at = listed(["Monday to Friday 9 to 17", "Closed on Sundays", "Wheelchairs: yes"])
    said = f"<div>High Street {number + 1}, {TOWNS[number]}</div><div>{point}</div>{open_at}"
    return Page("Branches", f"<h1>Branch in {TOWNS[number]}</h1>{said}")


@kind(pages=16, language="zh", layout="divs", notice=6)
def chinese_weather(chance: Random, number: int) -> Page:
    said = f"<p>{ZH_TOWNS[number]}今天{chance.randrange(-9, 39)}度，风力{number % 6 + 1}级</p>"
    return Page("天气预报", f"<h1>天气预报</h1>{said}<p>{text(Random('天气'), 4, 'zh')}</p>")
