"""Normalised passages -> the text of each to compare: lines lose text that changes by itself.

    3 hours ago         ->
    updated 5 min ago   -> updated
    14:03, 1,204 views  -> 14:03, 1,204 views      with ignore_numbers: views

A line is a name, a price, a date. An age ("3 hours ago") differs at each fetch and does not
distinguish two pages. A time of day or a number may: two concerts, two prices. So numbers, with
times and dates, are left out only with the option `ignore_numbers`. Sentences stay whole.

The patterns cover the languages in which site software writes ages most often. In other languages
lines are compared whole.

Cost: 20 us for 100 lines without such words.
"""

import re
from collections.abc import Sequence

_AGES = {
    " ago": r"(?:\d+|an?)(?: few)? ?(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w"
    r"|weeks?|mo|months?|y|yrs?|years?) ago",
    "vor ": r"vor (?:\d+|ein(?:er|em)) (?:sek(?:unden?|\.)?|min(?:uten?|\.)?|std\.?|stunden?"
    r"|tag(?:en)?|wochen?|monat(?:en)?|jahr(?:en)?)",
    "il y a ": r"il y a (?:\d+|une?) (?:s|sec|secondes?|min|minutes?|h|heures?|j|jours?"
    r"|semaines?|mois|ans?)",
    "hace ": r"hace (?:\d+|una?) (?:s|segundos?|min|minutos?|h|horas?|días?|semanas?|mes(?:es)?"
    r"|años?)",
    "há ": r"há (?:\d+|uma?) (?:segundos?|min|minutos?|h|horas?|dias?|semanas?|m(?:ê|e)s(?:es)?"
    r"|anos?)",
    " fa": r"(?:\d+|un['oa]?) ?(?:second[oi]|min|minut[oi]|or[ae]|giorn[oi]|settiman[ae]|mes[ei]"
    r"|ann[oi]) fa",
    " geleden": r"(?:\d+|een) (?:seconden?|min|minu(?:ut|ten)|uur|uren|dag(?:en)?|we(?:ek|ken)"
    r"|maand(?:en)?|ja(?:ar|ren)) geleden",
    " назад": r"(?:\d+ )?(?:секунд[уы]?|мин(?:ут[уы]?|\.)?|час(?:а|ов)?|ч\.?|день|дня|дней"
    r"|недел[юиь]|месяц(?:а|ев)?|года?|лет) назад",
    " temu": r"(?:\d+ )?(?:sek(?:und[yę]?|\.)?|min(?:ut[yę]?|\.)?|godz(?:in[yę]?|\.)?|dni|dzień"
    r"|tydzień|tygodni[ea]?|miesi(?:ąc[e]?|ęcy)|lata?|rok) temu",
    " önce": r"\d+ (?:saniye|sn|dakika|dk|saat|gün|hafta|ay|yıl) önce",
    "前": r"(?<!\d)(?:\d{1,3}|几|幾|半) ?[个個]?(?:秒钟?|秒鐘?|分钟?|分鐘?|小时|小時|時間|天|日|周"
    r"|週間?|星期|[个個かヶ]?月|年)[以之]?前",
    "전": r"(?<!\d)\d{1,3} ?(?:초|분|시간|일|주|개월|달|년) ?전",
}
"""A sign that each match contains -> a pattern for ages as pages write them."""
_PATTERNS = {
    sign: re.compile(age if sign in ("前", "전") else rf"\b(?:{age})(?!\w)")
    for sign, age in _AGES.items()
}
_NUMBER = re.compile(r"(?<![a-z\d])\d+(?:[.,:'’]\d+)*(?:[km](?![a-z])|(?![a-z\d]))")
"""A number, but not the digits of a code such as "b12"."""


def compared_lines(
    passages: Sequence[str], are_lines: Sequence[bool], *, with_numbers: bool = True
) -> list[str]:
    """Return the text to compare of normalised passages; `are_lines`: whether each is a line.

    >>> compared_lines(["updated 2 days ago", "seen 2 days ago"], [True, False])
    ['updated ', 'seen 2 days ago']
    >>> compared_lines(["14:03", "size 40"], [True, True], with_numbers=False)
    ['', 'size ']
    """
    # A normal form contains no line end.
    lines = "\n".join([each for each, is_line in zip(passages, are_lines, strict=True) if is_line])
    left = lines
    for sign, pattern in _PATTERNS.items():
        if sign in left:
            left = pattern.sub("", left)
    if not with_numbers:
        left = _NUMBER.sub("", left)
    if left == lines:
        return list(passages)
    compared = iter(left.split("\n"))
    return [
        next(compared) if is_line else each
        for each, is_line in zip(passages, are_lines, strict=True)
    ]
