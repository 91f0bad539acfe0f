"""What changes by itself is masked, and only that: ages, counters, stamps, years of a copyright."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dedup_filter.text.blocks import compared_text
from dedup_filter.text.masks import masked, without_numbers
from dedup_filter.text.plain_text import normalize

AGES = """
ar منذ 4 ساعات | منذ 5 أيام | قبل 10 دقائق | منذ ساعة
bg преди 3 часа | преди 5 дни | преди месец
bn 3 ঘণ্টা আগে | 5 দিন আগে
ca fa 3 hores | fa 2 dies
cs před 3 hodinami | před 5 dny | před rokem | před 2 lety
da for 3 timer siden | 2 dage siden
de vor 3 Stunden | vor einer Stunde | vor 5 Min. | vor 2 Tagen | vor einem Jahr
de vor 1 Jahr, 2 Monaten
el πριν από 3 ώρες | πριν 5 ημέρες
en 3 hours ago | an hour ago | a few minutes ago | 1 day ago | 5 min ago | 5m ago | 11 mo ago
en 2 years ago | 1 year, 7 months ago | 30+ days ago | 3 HOURS AGO | yesterday | just now
en ３ days ago
es hace 3 horas | hace un mes | hace 5 días | ayer
et 3 tunni eest | 5 päeva eest
fa ۳ ساعت پیش | 5 روز قبل
fi 3 tuntia sitten | 5 päivää sitten | eilen
fr il y a 3 heures | il y a 2 ans | Il y a 1 mois
he לפני 3 שעות | לפני יומיים
hi 3 घंटे पहले | ५ दिन पहले
hr prije 3 sata | prije 5 dana
hu 3 órával ezelőtt | 5 napja
id 3 jam yang lalu | 5 hari lalu
it 3 ore fa | un'ora fa | 2 giorni fa | ieri
ja 3時間前 | 5日前 | 2 か月前
ko 3시간 전 | 2 일 전 | 5분 전
lt prieš 3 valandas | prieš 5 dienas
lv pirms 3 stundām | pirms 5 dienām
nl 3 uur geleden | 2 weken geleden | gisteren
no 3 døgn siden | for 2 uker siden
pl 3 godziny temu | rok temu | 5 dni temu
pt há 3 horas | há um mês | ontem
ro acum 3 ore | acum 5 zile
ru 3 часа назад | 5 минут назад | месяц назад | вчера
sk pred 3 hodinami | pred 5 dňami
sl pred 3 urami | pred 5 dnevi
sr пре 3 сата | пре 5 дана
sv 3 timmar sedan | för 2 dagar sedan | igår
th 3 ชั่วโมงที่ผ่านมา | 5 วันที่แล้ว
tr 5 dakika önce | 3 gün önce | dün
uk 3 години тому | 5 днів тому
vi 3 giờ trước | 5 ngày trước
zh 3 小时前 | 3小时前 | 5分钟前 | 2天之前 | 3個月前 | 几分钟前 | 半小时前 | 昨天 | 刚刚
"""
SHORT_AGES = "9h | 3d | 2w | 5m | 1y | 11mo | 45 min".split(" | ")

COUNTERS = """
ar 31 مشاهدة | عدد المشاهدات: ٣١ | 3 تعليقات
cs 31 zobrazení | Přečteno 31 krát
da 31 visninger | Læst 31 gange
de 101.220 Aufrufe | 3 Kommentare | 31 mal gelesen | Gelesen: 31 mal | Zugriffe: 4711
de Lesezeit: 4 Minuten
de Keine Kommentare | 5 Gäste online
el 3 σχόλια | 31 προβολές
en 1,037 views | 3 comments | 1 comment | No comments | Number of views (4099) | Read 1,037 times
en 27 guests online | 1.2k views | 12 likes | 3 shares | Replies: 8 | Comments (3) | 4 min read
en Views 31
en Viewed 89 times | 2 votes | 300K downloads | Followers: 12 | 13 more comments... | １０ replies
en Users online: 31 | 17 minutes read | Reading time: 4 min
es 31 visitas | 3 comentarios | Leído 31 veces | 4 min de lectura
fa بازدید: ۳۱ | ۳ دیدگاه
fi 31 katselukertaa | 3 kommenttia
fr 1 037 vues | 3 commentaires | Lu 31 fois | 4 min de lecture | Aucun commentaire
he 3 תגובות | 31 צפיות
hi 3 टिप्पणियाँ
hu 3 hozzászólás
id 31 kali dibaca | 3 komentar | Dibaca 31 kali
it 31 visualizzazioni | 3 commenti | Letto 31 volte
ja 3 件のコメント | コメント (3) | 閲覧数: 31 | 31 回視聴
ko 조회수 31 | 댓글 3 | 조회 1,037
nl 31 weergaven | 3 reacties | Gelezen: 31 keer
no 31 visninger
pl 31 wyświetleń | 3 komentarze | Przeczytano 31 razy
pt 31 visualizações | 3 comentários | Lido 31 vezes
ro 31 vizualizări | 3 comentarii
ru 31 просмотров | 3 комментария | Просмотров: 31 | Прочитано 31 раз | Лайков: 5
sv 31 visningar | 3 kommentarer
tr 31 görüntüleme | 3 yorum | Okunma sayısı: 31
uk 31 переглядів | 3 коментарі
vi 31 lượt xem | 3 bình luận | Lượt xem: 31
zh 阅读 31 | 阅读(31) | 浏览次数：31次 | 31次阅读 | 8条回复 | 3 条评论 | 点击数：9526 | 1.2万阅读
zh 回复 踩5 赞54 收藏
zh 当前在线31人 | 您好，第31位访客
"""

STAMPS = """
ar آخر تحديث: 3 مايو 2026
cs Aktualizováno 3. května 2026
da Opdateret 3. maj 2026
de Aktualisiert am 3. Mai 2026 | Zuletzt geändert: 03.05.2026, 14:03 Uhr | Gedruckt am 3.5.2026
de Stand: 3.5.2026
el Τελευταία ενημέρωση: 3 Μαΐου 2026
en Updated 3 May, 14:03 | Last modified: 2026-05-03 | Page last updated May 3rd, 2026
en Printed on 5/3/2026
en Last updated: March 2026 | Today is Monday, 3 May | It is now 14:03 | Accessed 3 May 2026
en Updated yesterday | Last edited on 4 March 2026, at 08:07 (UTC) | Last updated date: May 3, 2026
es Última actualización: 3 de mayo de 2026
fi Päivitetty 3.5.2026 klo 14.03
fr Mis à jour le 3 mai 2026 à 14h03 | Dernière modification : 3 mai 2026
he עודכן: 3 במאי 2026
hu Frissítve: 2026. május 3.
id Terakhir diperbarui: 3 Mei 2026
it Ultimo aggiornamento: 3 maggio 2026 alle 14:03
ja 最終更新日：2026年5月3日(日) | 更新日時: 2026/05/03 14:03
ko 최종수정 2026년 5월 3일
nl Laatst bijgewerkt op 3 mei 2026
pl Ostatnia aktualizacja: 3 maja 2026
pt Atualizado em 3 de maio de 2026 às 14:03
ro Ultima actualizare: 3 mai 2026
ru Обновлено 3 мая 2026 г. в 14:03
sv Senast uppdaterad den 3 maj 2026 kl. 14.03
tr Son güncelleme: 3 Mayıs 2026
uk Оновлено 3 травня 2026
vi Cập nhật ngày 3 tháng 5 2026
zh 更新时间：2026年5月3日 14:03 | 最后更新：2026-05-03 | 今天是2026年5月3日 星期日
"""

SENTENCES = """
de Das Konzert beginnt um 20 Uhr, Karten kosten 12 Euro.
en The bridge has 3 arches and was opened on 3 May 1901.
fr Le pont a 3 arches depuis 1901.
zh 这座桥有3个桥洞，建于1901年。
"""

VALUES = """
Powered by Core i7 2.4 GHz
Built with 3.2 million bricks
Total running time: 95 min
Revised edition 2019
Created by Anna 3
10 December 2026, Leeds | Price: 26.90 EUR | Rooms: 5 | Room for 3 guests | Serves 4 | Result 2:1
2 votes to 1 | Won by 3 votes | 5 views of the city from the tower | Score 3 | 12 Likes Street
Online until 3 May | Posted on 3 May | Published 3 May | Monday, 3 May, 14:03 | Fri 3 May 21:00
3d printer | 9h exam | 4K | B12 | 24h | 48h | HDMI cable 5m | Ski pass 3d | Duration: 3d | 3D | 5M
2 miles ago | 3 hours | ago | Chicago | vor 3 Personen | vor Gericht | il y a | hace frío | 3 fa
4 door sedan | 2013年前 | 前3天 | 3 月 | 전 3 | 3 전 | назад | temu | Yesterday once more
Printed on 300 gsm paper | Updated 3 rooms | Edited by Smith, 2019 | Modified 2.0 TDI
Workshop for 12 people | Online course for 12 users | Online price: $15.63 | Speedcross 6 Review
更新：第3章 | 2023年12月5日 第1908次会议通过 | 阅读 3 小时 | 2026年11月4日 | 尺码 40码
14:03 | 3 May 2026 | Size 40 | A-20817 | Copyright | No number | 12 nights from 3 May | Reading 2
(c) the accounts of 2019 | Copyright Act 1911 | 12 votes Labour | 31 Views You Must See
3 Zimmer, 82 m² | Preis: 780 € | 3 мая 2026 | Цена: 780 ₽ | 3 chambres | 780 kr | 5 habitaciones
"""


def listed(table):
    return [each for row in table.strip().splitlines() for each in row.split(" | ")]


def by_language(table):
    return [
        each for row in table.strip().splitlines() for each in row.partition(" ")[2].split(" | ")
    ]


def test_an_age_is_masked_wherever_it_is_a_part_of_the_line():
    for age in [*by_language(AGES), *SHORT_AGES]:
        assert masked(age) == "#"
        assert masked(f"Anna Berg · {age}") == "Anna Berg · #"
        assert masked(f"{age} | Anna Berg") == "# | Anna Berg"


def test_counters_and_stamps_are_masked():
    for text in [*by_language(COUNTERS), *by_language(STAMPS)]:
        left = masked(text)
        assert "#" in left, text
        assert not re.search(r"\d", left), text


def test_values_stay():
    for text in [*listed(VALUES), *by_language(SENTENCES)]:
        assert masked(text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("来源：新城网 2026年11月4日 阅读 2835", "来源：新城网 2026年11月4日 阅读 #"),
        ("发布于3小时前 来源", "发布于# 来源"),
        ("3 May 2026 · 1,037 views · 12 comments", "3 May 2026 · # · #"),
        ("Posted by Anna 3 May 2026 103 views 12 comments", "Posted by Anna 3 May 2026 # #"),
        ("Room 3, EUR 26.90, updated 2 days ago", "Room 3, EUR 26.90, updated #"),
        ("vor 14 Tagen von N. Cada", "# von N. Cada"),
        ("Anna B. 3d", "Anna B. #"),
        ("@anna 3d", "@anna #"),
        ("2 responses to “The mill”", "# to “The mill”"),
        ("Published 3 May 2026, updated 4 May 2026", "Published 3 May 2026, updated #"),
        ("Version 3.1 – Updated January 16, 2020", "Version 3.1 – Updated #"),
        ("Generated on Fri Mar 5 21:08:57 2021 by tool 0.9.26", "Generated on # by tool #"),
        ("Generated by tool 2.1 on 3 May 2026", "Generated by tool #"),
        ("Page generated in 0.034 seconds with 12 queries", None),
        ("Total running time of the script: ( 0 minutes 0.034 seconds)", None),
        (
            "© Anna 2026. Last updated on Mar 3, 2026. Created using Scribe 1.1.3.",
            "© Anna #. Last updated #. Created using Scribe #.",
        ),
        (
            "Powered by Quill Board v2.0rc1, 5 May 2026",
            "Powered by Quill Board #, 5 May 2026",
        ),
        ("Powered by Quill-Board v2.0.1-rc1 and oil", "Powered by Quill-Board v2.0.1-rc1 and oil"),
        ("Erstellt mit Feder 0.92.1 · Eis", "Erstellt mit Feder # · Eis"),
        ("(Terms of the ferry revised on 02/01/2026)", "(Terms of the ferry revised #)"),
        ("最后修订于2026年1月2日", "最后修订于#"),
        ("5 users online, 3 of them guests", "# users online, # of them guests"),
        ("当前在线31人，其中游客7人", "当前在线#人，其中游客#人"),
        (
            "Copyright 2023 The Town. All rights reserved.",
            "Copyright # The Town. All rights reserved.",
        ),
        ("© 2019–2026 The Town, Mill Lane 4", "© # The Town, Mill Lane 4"),
        ("All contents © Anna Berg 2026", "All contents © Anna Berg #"),
        ("(c) 2026 Anna Berg", "(c) # Anna Berg"),
        ("31 views Share", "# Share"),
        ("31 views 12 likes 3 comments", "# # #"),
    ],
)
def test_the_rest_of_the_line_stays(text, left):
    if left is None:
        assert not re.search(r"\d", masked(text))
    else:
        assert masked(text) == left


@pytest.mark.parametrize(
    ("text", "later"),
    [
        ("yesterday", "2 days ago"),
        ("1 comment", "12 comments"),
        ("No comments", "1 comment"),
        ("an hour ago", "3 hours ago"),
        ("Updated 2 days ago", "Updated 3 May 2026"),
        ("1 Kommentar", "2 Kommentare"),
        ("1 просмотр", "5 просмотров"),
        ("45m", "1h"),
        ("Last updated: 1 month ago", "Last updated: 2 months ago"),
    ],
)
def test_two_visits_find_the_same(text, later):
    assert masked(text) == masked(later)


@pytest.mark.parametrize("text", ["3d", "Anna B. 3d", "yesterday", "Today", "昨天"])
def test_what_fills_a_cell_is_its_value(text):
    assert masked(text) != text
    assert masked(text, in_table=True) == text


@pytest.mark.parametrize("text", ["3 hours ago", "12 comments", "Updated 3 May 2026"])
def test_what_has_a_sign_is_masked_in_a_cell_too(text):
    assert masked(text, in_table=True) == masked(text)


@pytest.mark.parametrize(
    "text",
    [
        *("Built with Scribe 1.1.3", "Powered by Quill 2.4", "Erstellt mit Feder 0.92.1"),
        *("8 votes", "1,245 visitors", "1.245 Besucher", "收藏 54", "© 1911 Studio Prell"),
    ],
)
def test_what_may_be_a_fact_is_the_value_of_a_cell(text):
    assert masked(text, in_table=True) == text != masked(text)


@pytest.mark.parametrize(
    ("text", "is_masked"),
    [
        ("© 2025 The town and {}. Last updated on May 5, 2026", True),
        ("(c) The town and {}. Created using Scribe 1.1.3", True),
        ("The town and {}. Last updated on May 5, 2026", False),
        ("Copyrighted by {}, updated on May 5, 2026", False),
    ],
)
def test_a_notice_is_masked_even_if_it_is_longer_than_a_line(text, is_masked):
    text = text.format("Anna Berg, " * 10)
    assert (compared_text(text, 30, "paragraph") != text) == is_masked


def test_a_long_line_stays():
    text = "3 hours ago, " * 30
    assert masked(text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("14:03", ""),
        ("1,204 views", "views"),
        ("12.5k views, 3 likes", "views, likes"),
        ("共有3条评论", "共有条评论"),
        ("尺码 40码", "尺码 码"),
        ("$ 19.90", "$"),
        ("b12 vitamins, mp3", "b12 vitamins, mp3"),
        ("no number", "no number"),
    ],
)
def test_numbers_are_left_out_if_that_is_wanted(text, left):
    assert without_numbers(normalize(text)).split() == left.split()


SIGNED = [*by_language(AGES), *by_language(COUNTERS), *by_language(STAMPS), *SHORT_AGES]
parts = st.one_of(
    st.sampled_from([*SIGNED, *listed(VALUES)]),
    st.text(max_size=10),
    st.text("0123456789 .,:/#", max_size=8),
)
lines = st.lists(parts, max_size=4).flatmap(
    lambda texts: st.sampled_from([" · ", ", ", " | "]).map(lambda space: space.join(texts))
)


@given(lines, st.booleans())
@example("İ 3 comments", False)
@example("3 comments 5 views 3 May 2026", False)
def test_masking_again_changes_nothing(line, in_table):
    left = masked(line, in_table=in_table)
    assert masked(left, in_table=in_table) == left


@given(st.lists(st.sampled_from("room eur table 3 26.90 2026 14:03 x2 · , : / Nr.".split())))
def test_numbers_without_a_sign_stay(words):
    line = " ".join(words)
    assert masked(line) == line


@given(st.text(st.characters(exclude_categories=["Nd"], max_codepoint=0x2FF), max_size=40))
def test_text_without_numbers_and_ages_stays(text):
    assert masked(text, in_table=True) == text
