"""Pages in front of others: logins, errors, archives, searches, notices."""

from random import Random

from museum.kinds import Page, kind
from museum.language import ADJECTIVES, NOUNS, ZH_TOWNS, headline, listed, text

REASONS = f"<p>An account costs nothing. {text(Random('account'), 4)}</p>"
CONSENT = f"<div class='consent'><h2>Before you go on</h2><p>{text(Random('consent'), 6)}</p></div>"
NOTICE = {
    "English": "The office is closed on Friday. Letters can be left in the box beside the door.",
    "Deutsch": "Das Amt ist am Freitag geschlossen. Briefe können in den Kasten geworfen werden.",
    "Français": "Le bureau est fermé vendredi. Les lettres peuvent être déposées dans la boîte.",
    "Español": "La oficina está cerrada el viernes. Las cartas pueden dejarse en el buzón.",
    "Italiano": "L'ufficio è chiuso venerdì. Le lettere possono essere lasciate nella cassetta.",
    "Nederlands": "Het kantoor is vrijdag gesloten. Brieven kunnen in de bus worden gedaan.",
    "Português": "O escritório está fechado na sexta-feira. As cartas podem ficar na caixa.",
    "Polski": "Biuro jest nieczynne w piątek. Listy można wrzucać do skrzynki obok drzwi.",
    "Svenska": "Kontoret är stängt på fredag. Brev kan läggas i lådan bredvid dörren.",
    "Русский": "В пятницу контора закрыта. Письма можно опустить в ящик рядом с дверью.",
    "中文": "本办事处星期五不办公。信件可以投入门旁的信箱，我们会在星期一处理。",
    "日本語": "金曜日は事務所を閉めます。手紙は入口の横の箱に入れてください。",
}


@kind(pages=20, notice=2)
def login_walls(chance: Random, number: int) -> Page:
    what = f"the {chance.choice(ADJECTIVES)} {NOUNS[number]}"
    form = "<form><label>Name <input></label><label>Password <input></label></form>"
    return Page("Log in", f"<h1>Log in</h1><p>Log in to read about {what}.</p>{form}{REASONS}")


@kind(pages=20, layout="divs", notice=4)
def cookie_walls(chance: Random, number: int) -> Page:
    return Page("Consent", f"{CONSENT}<div>{headline(chance)}</div><button>Accept</button>")


@kind(pages=20, notice=3)
def error_pages(chance: Random, number: int) -> Page:
    said = f"There is no page /{NOUNS[number]}/{chance.randrange(999)} on this site."
    more = "It may have been moved. Go to the first page, or search for it."
    return Page("Error", f"<h1>Not found</h1><p>{said}</p><p>{more}</p>")


@kind(pages=20, layout="divs", notice=12)
def searches_that_found_nothing(chance: Random, number: int) -> Page:
    said = f"<p>Nothing was found for “{chance.choice(ADJECTIVES)} {NOUNS[number]}”.</p>"
    tips = listed(["Check the spelling.", "Try fewer words.", "Try words that mean the same."])
    return Page("Search", f"<h1>Search</h1>{said}{tips}")


@kind(pages=12, related=True)
def search_results(chance: Random, number: int) -> Page:
    hits = [f"<b>{headline(chance)}</b> …{NOUNS[number]}…" for _ in range(8)]
    return Page(f"{NOUNS[number]} - Search", f"<h1>{NOUNS[number]}</h1>{listed(hits)}")


@kind(pages=15, layout="divs")
def paginated_archives(chance: Random, number: int) -> Page:
    entries = [f'<a href="/{number}-{n}">{headline(chance)}</a>' for n in range(10)]
    return Page("Archive", f"<h1>Archive</h1>{listed(entries)}<p>Page {number + 1} of 15</p>")


@kind(pages=15, layout="divs", notice=2)
def archives_that_overlap(chance: Random, number: int) -> Page:
    entries = [headline(Random(f"entry {n}")) for n in range(12 * number, 12 * number + 20)]
    return Page("Archive", f"<h1>Archive</h1>{listed(entries)}")


@kind(pages=20, notice=6)
def tag_pages(chance: Random, number: int) -> Page:
    entries = [headline(Random(f"tagged {n}")) for n in chance.sample(range(12), 6)]
    body = f"<h1>Everything about: {NOUNS[number]}</h1>{listed(entries)}"
    return Page(f"{NOUNS[number]} - Tags", body)


@kind(pages=12, notice=7)
def translations_of_a_notice(chance: Random, number: int) -> Page:
    language = list(NOTICE)[number]
    return Page("Notice", f"<h1>Notice</h1><p>{NOTICE[language]}</p>{listed(list(NOTICE))}")


@kind(pages=20, layout="divs", notice=0)
def domains_for_sale(chance: Random, number: int) -> Page:
    name = f"{chance.choice(ADJECTIVES)}-{NOUNS[number]}.example"
    return Page(name, f"<h1>{name} is for sale</h1><p>{text(Random('sale'), 5)}</p>")


@kind(pages=16, language="zh", notice=4)
def chinese_login_walls(chance: Random, number: int) -> Page:
    said = (
        f"<p>请登录后查看{ZH_TOWNS[number]}的全部内容。</p><p>{text(Random('登录'), 4, 'zh')}</p>"
    )
    return Page("用户登录", f"<h1>用户登录</h1>{said}")


@kind(pages=16, language="zh", layout="divs")
def chinese_notices(chance: Random, number: int) -> Page:
    said = f"{ZH_TOWNS[number]}营业部{number + 1}日停止营业。{text(Random('公告'), 4, 'zh')}"
    return Page("公告", f"<h1>公告</h1><p>{said}</p>")
