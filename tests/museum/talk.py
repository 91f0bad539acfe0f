"""What people write: threads, questions, quotes, mails, profiles."""

from random import Random

from museum.kinds import Page, kind
from museum.language import (
    ADJECTIVES,
    NOUNS,
    TOWNS,
    ZH_NAMES,
    ZH_NOUNS,
    clause,
    day,
    headline,
    listed,
    person,
    sentence,
    table,
    text,
)

QUOTED = f"<blockquote><p>Anna wrote: {text(Random('quoted'), 8)}</p></blockquote>"
RULES = f"<p>Be kind to each other, and stay with the topic. {text(Random('rules'), 3)}</p>"
SIGNATURE = f"<p>-- <br>{text(Random('signature'), 3)}</p>"


@kind(pages=20, layout="tables", notice=2)
def forum_threads(chance: Random, number: int) -> Page:
    title = f"{headline(chance)}?"
    posts = [(person(chance), f"{sentence(chance)} {SIGNATURE}") for _ in range(2)]
    return Page(title, f"<b>{title}</b>{table(posts)}{RULES}")


@kind(pages=20, layout="divs", notice=1)
def forum_replies_that_quote_the_same_post(chance: Random, number: int) -> Page:
    reply = f"<div class='post'>{QUOTED}<div>{clause(chance)}, I think.</div></div>"
    return Page("Re: The ferry", f"<h1>Re: The ferry</h1>{reply}{RULES}")


@kind(pages=20, notice=3, related=True)
def questions_and_answers(chance: Random, number: int) -> Page:
    asked = f"Why did {clause(chance)}?"
    answer = f"<h2>1 answer</h2><p>{sentence(chance)}</p>{RULES}{RULES}"
    return Page(f"{asked} - Answers", f"<h1>{asked}</h1>{answer}")


@kind(pages=12, amount="passage")
def comments_below_one_article(chance: Random, number: int) -> Page:
    story = f"<h1>The ferry</h1><p>{text(Random('ferry'), 6)}</p><p>{text(Random('boat'), 5)}</p>"
    comments = "".join(f"<p>{person(chance)}: {sentence(chance)}</p>" for _ in range(4))
    return Page("The ferry", f"{story}<h2>Comments, page {number + 1}</h2>{comments}")


@kind(pages=20, layout="divs", notice=4)
def questions_without_answers(chance: Random, number: int) -> Page:
    asked = f"<div>How do I mend a {chance.choice(ADJECTIVES)} {NOUNS[number]}?</div>"
    return Page("Question", f"{asked}<div>Nobody has answered yet. Can you help?</div>{RULES}")


@kind(pages=20, layout="divs")
def quotes(chance: Random, number: int) -> Page:
    said = f"<blockquote>{clause(chance)}.</blockquote><p>{person(chance)}</p>"
    return Page("Quote of the day", f"<h1>Quote of the day</h1>{said}{RULES}")


@kind(pages=30, layout="divs", notice=8)
def profiles(chance: Random, number: int) -> Page:
    facts = listed([TOWNS[number], f"since {day(chance)}", f"{chance.randrange(999)} posts"])
    return Page("Profile", f"<h1>{person(chance)} {number}</h1>{facts}<p>No posts yet.</p>")


@kind(pages=20, notice=2)
def staff(chance: Random, number: int) -> Page:
    name = f"Dr {person(chance)}"
    facts = listed([f"Room {100 + number}", f"Telephone {chance.randrange(1000, 9999)}"])
    about = f"<h2>The department</h2><p>{text(Random('department'), 6)}</p>"
    return Page(f"{name} - Department of law", f"<h1>{name}</h1>{facts}{about}")


@kind(pages=20, layout="manual", notice=0)
def mails_of_a_list(chance: Random, number: int) -> Page:
    head = f"From: {person(chance)}\nDate: {day(chance)}\nSubject: Re: [PATCH] Close the log"
    quoted = "\n".join(f"&gt; {sentence(Random(n))}" for n in range(8))
    body = f"<h1>Re: [PATCH] Close the log</h1><pre>{head}\n\n{quoted}\n\n{clause(chance)}.</pre>"
    return Page("Re: [PATCH] Close the log", body)


@kind(pages=12, layout="divs")
def horoscopes(chance: Random, number: int) -> Page:
    signs = (
        "Aries Taurus Gemini Cancer Leo Virgo Libra Scorpio Sagittarius Capricorn Aquarius Pisces"
    )
    sign = signs.split()[number]
    return Page("Horoscope", f"<h1>Horoscope</h1><h2>{sign}</h2><p>{sentence(chance)}</p>{RULES}")


@kind(pages=16, language="zh", layout="divs")
def chinese_forum_replies(chance: Random, number: int) -> Page:
    quoted = f"<blockquote>{text(Random('引用'), 5, 'zh')}</blockquote>"
    return Page(
        "回复：渡轮", f"<div>{quoted}<div>{ZH_NAMES[number]}：{clause(chance, 'zh')}</div></div>"
    )


@kind(pages=16, language="zh", notice=7)
def chinese_questions(chance: Random, number: int) -> Page:
    asked = f"怎样修理{ZH_NOUNS[number]}？"
    return Page(f"{asked}_问答", f"<h1>{asked}</h1><p>还没有人回答这个问题，您可以第一个回答。</p>")
