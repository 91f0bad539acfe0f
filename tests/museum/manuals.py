"""References and sources: pages that share most of their text with one that is not the same."""

from random import Random

from museum.frames import legal
from museum.hidden_text import article
from museum.kinds import Page, kind
from museum.language import day, headline, listed, paragraphs, person, sentence, table, text

METHODS = "append insert delete reverse replace indexOf length charAt compareTo setLength".split()
CLASSES = """StringBuilder StringBuffer Math StrictMath Timer TimerMBean HashMap TreeMap LinkedList
ArrayList Reader Writer AbstractElementVisitor6 AbstractElementVisitor7 AbstractElementVisitor8
AbstractElementVisitor9 SimpleTypeVisitor6 SimpleTypeVisitor7 Stream IntStream""".split()
COMMANDS = """diff diff-files diff-index diff-tree show log whatchanged format-patch range-diff
shortlog blame annotate""".split()
OPERANDS = """vdst vdata vaddr saddr sdst sbase soffset ssrc0 ssrc1 ssrc2 vsrc0 vsrc1 vsrc2 simm16
simm32 imask hwreg waitcnt label msg""".split()
OPTIONS = "".join(
    f"<dt>--{word}</dt><dd>{sentence(Random(word))}</dd>"
    for word in "patch stat raw unified minimal color follow quiet exit-code ignore notes".split()
)
MIT = """Permission is hereby granted, free of charge, to any person who has a copy of this work and
of what documents it, to deal in it without limits, and that means to use it, copy it, change it,
join it to other works, publish it, hand it on and sell copies of it, and to let others do so to
whom it is given, as long as the notice above and this permission stand in all copies of it or of
large parts of it. The work is given as it is, without a promise of any kind, neither spoken nor
meant, that it can be sold, that it suits a purpose or that it takes nobody's rights. In no case do
those who made it or hold the rights in it answer for a claim, a damage or a duty of any kind."""


@kind(pages=20, layout="manual", related=True, notice=2)
def instruction_operands(chance: Random, number: int) -> Page:
    size = [32, 64, 96, 128][number % 4]
    said = f"Instruction output: data read from or written to a register of {size} bits."
    rest = f"<p><i>Size</i>: {size // 32} dwords.</p><p><i>Operands</i>: v, s, ttmp, null</p>"
    name = OPERANDS[number]
    return Page(f"{name} - Backend guide", f"<h1>{name}</h1><p>{said}</p>{rest}")


@kind(pages=20, layout="manual", notice=6)
def operands_under_one_title(chance: Random, number: int) -> Page:
    use = ["data to store", "instruction output", "an address", "a scalar offset"][number % 4]
    said = f"<h3>{OPERANDS[number]}</h3><p>{8 << number // 4}-bit {use}. {text(Random('o'), 3)}</p>"
    return Page("Syntax of operands", said)


@kind(pages=20, layout="manual", notice=3)
def classes_that_are_twins(chance: Random, number: int) -> Page:
    name = CLASSES[number]
    shared = "".join(f"<h4>{each}</h4><p>{sentence(Random(each))}</p>" for each in METHODS)
    said = f"<pre>public final class {name} extends Object</pre><p>{sentence(chance)}</p>"
    return Page(f"{name} (API)", f"<h1>Class {name}</h1>{said}<h3>Methods</h3>{shared}")


@kind(pages=20, layout="manual", notice=3)
def uses_of_classes(chance: Random, number: int) -> Page:
    name, users = CLASSES[number], chance.sample(CLASSES, 4)
    rows = [(f"{user}.{chance.choice(METHODS)}({name} given)", "Uses it.") for user in users]
    head = f"<h1>Uses of Class java.util.{name}</h1><p>Packages that use {name}</p>"
    body = f"{head}{table([('java.util', 'Collections, dates, and other things.'), *rows])}"
    return Page(f"Uses of Class java.util.{name}", body)


@kind(pages=12, layout="manual", notice=1, related=True)
def commands_with_the_same_options(chance: Random, number: int) -> Page:
    name = f"git-{COMMANDS[number]}"
    said = f"<h1>{name}(1) Manual Page</h1><h2>NAME</h2><p>{name} - {sentence(chance)}</p>"
    return Page(f"{name}(1)", f"{said}<h2>OPTIONS</h2><dl>{OPTIONS}</dl>")


@kind(pages=12, layout="manual", notice=1)
def release_notes(chance: Random, number: int) -> Page:
    release, same = f"3.{37 + number // 3}.{number % 3}", Random(f"release {number // 3}")
    fixed = [sentence(same) for _ in range(8)] + [sentence(chance)]
    hashes = f"<p>{chance.randbytes(32).hex()}</p><p>{day(chance)}</p>"
    name = f"Release {release} on {day(chance)}"
    return Page(f"Library {name}", f"<h1>{name}</h1>{listed(fixed)}<h3>Hashes</h3>{hashes}")


@kind(pages=20, layout="divs", notice=4)
def api_endpoints(chance: Random, number: int) -> Page:
    noun = "order invoice customer parcel refund coupon review branch staff shift".split()[
        number // 2
    ]
    verb = ("GET", "DELETE")[number % 2]
    rows = [
        ("200", "Fine"),
        ("401", "No token was sent"),
        ("404", "There is none"),
        ("429", "Wait"),
    ]
    call = f"<pre>{verb} /v2/{noun}s/{{id}}</pre><p>Needs a token with the right to do so.</p>"
    return Page(
        "API reference", f"<h2>{verb} {noun}</h2>{call}{table(rows)}<p>{text(Random('api'), 3)}</p>"
    )


@kind(pages=20, layout="manual", notice=2)
def error_codes(chance: Random, number: int) -> Page:
    said = f"This error is raised while compiling. {text(Random('code'), 4)}"
    code = f"E{chance.randrange(10**4):04}{number}"
    return Page(
        f"Error {code}", f"<h1>Error code {code}</h1><p>{said}</p><p>{sentence(chance)}</p>"
    )


@kind(pages=20, layout="manual", notice=1)
def source_listings(chance: Random, number: int) -> Page:
    names = chance.sample(METHODS, 3)
    code = "".join(f"def {each}_{number}(self):\n    return self.{each}\n\n" for each in names)
    notice = "\n".join(f"# {line}" for line in MIT.splitlines())
    return Page("Source", f"<pre>{notice}\n\nimport os\nimport sys\n\n{code}</pre>")


@kind(pages=20, layout="divs", notice=1)
def licences_whose_holder_alone_differs(chance: Random, number: int) -> Page:
    return Page("LICENSE", f"<pre>Copyright (c) {2001 + number} {person(chance)}\n\n{MIT}</pre>")


@kind(pages=10, layout="divs", notice=0)
def long_terms_of_companies(chance: Random, number: int) -> Page:
    name = f"{person(chance)} & Sons"
    parties = f"<p>These terms hold between {name} and whoever buys from them.</p>"
    terms = "".join(f"<h3>{n}.</h3><p>{text(Random(n), 3)}</p>" for n in range(20))
    return Page(f"Terms of {name}", f"<h1>Terms of {name}</h1>{parties}{terms}")


@kind(pages=12, layout="manual", amount="passage")
def changelogs(chance: Random, number: int) -> Page:
    changes = listed([sentence(chance) for _ in range(3)] + ["Update the dependencies."])
    return Page("Changes", f"<h1>Changes</h1><h2>{day(chance)}</h2>{changes}")


@kind(pages=20, layout="tables", notice=3)
def downloads(chance: Random, number: int) -> Page:
    rows = [("Size", chance.randrange(10**7)), ("SHA-256", chance.randbytes(32).hex())]
    name = f"library-1.{number}.tar.gz"
    return Page("Download", f"<h2>{name}</h2>{table(rows)}<p>{text(Random('download'), 4)}</p>")


@kind(pages=20, layout="manual", notice=0)
def listings_of_folders(chance: Random, number: int) -> Page:
    names = [f"{chance.choice(METHODS)}{n}.txt" for n in range(6)]
    rows = [(name, day(chance), f"{chance.randrange(900)}K") for name in names]
    return Page(f"Index of /pub/{number}", f"<h1>Index of /pub/{number}</h1>{table(rows)}")


@kind(pages=20, layout="divs", notice=6)
def dictionary_entries(chance: Random, number: int) -> Page:
    word = "".join(chance.choice("bcdfglmnprst") + chance.choice("aeiou") for _ in range(4))
    parts = "<h3>Origin</h3><p>Of unknown origin.</p><h3>Use</h3><p>Rare, old, of the north.</p>"
    return Page("Dictionary", f"<h2>{word}</h2><p>noun. {headline(chance)}.</p>{parts}")


@kind(pages=20, layout="divs", amount="story")
def court_rulings(chance: Random, number: int) -> Page:
    case = f"Case {number + 1} C {chance.randrange(1000)}/23"
    law = f"<p>{' '.join(legal(12)[9:])} {text(Random('law'), 4)}</p>"
    body = f"<h1>{case}</h1><p>In the name of the people</p>{paragraphs(chance, 4)}{law}"
    return Page(f"{case} - Court of the county", body)


@kind(pages=20, layout="divs", notice=2)
def court_orders_of_one_form(chance: Random, number: int) -> Page:
    who = f"{person(chance)} against {person(chance)}"
    order = f"<p>In the matter of {who} the claim is dismissed. {text(Random('order'), 7)}</p>"
    return Page("Order of the court", f"<h1>Order of the court</h1>{order}")


@kind(pages=20, layout="tables", notice=4)
def patents(chance: Random, number: int) -> Page:
    claims = [f"A method of claim {n}, whereby {sentence(Random(f'claim {n}'))}" for n in range(5)]
    rows = [("Number", f"US{9000000 + 17 * number}"), ("Inventor", person(chance))]
    name = f"Patent US{9000000 + 17 * number}"
    body = f"<h1>{name}</h1>{table(rows)}<p>{sentence(chance)}</p>{listed(claims)}"
    return Page(name, body)


@kind(pages=12, amount="story", language="zh")
def chinese_court_rulings(chance: Random, number: int) -> Page:
    return article(chance, "zh")._replace(title=f"民事判决书（2023）第{310 + 9 * number}号")
