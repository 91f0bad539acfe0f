"""Whatever a site sends and a spider makes of it: the crawl goes on and the item is kept."""

CHINESE = (
    "本文介紹如何在大規模網頁抓取中發現近似重複的頁面。我們首先把頁面的文字切成詞,"
    "然後把每個詞的散列值加權相加,得到一個六十四位的指紋。如果兩個指紋只有幾位不同,"
    "那麼這兩個頁面很可能是同一篇文章的不同版本。索引把指紋分成幾塊,每一塊都有自己的表,"
    "因此查找只需要看很少的候選。這種方法既準確又節省內存,適合很大的抓取任務。"
)
# Of other words than the text above: a page that is a part of another repeats it.
TRADITIONAL = (
    "春天來了,港口的冰慢慢融化,漁船又可以出海。碼頭上的工人一早起來,把網和繩子搬到船上。"
    "孩子們在岸邊撿貝殼,老師帶著學生參觀燈塔,聽守燈的老人說從前的故事。中午市場很熱鬧,"
    "攤販叫賣新鮮的魚和蔬菜。晚上大家回到家裡,圍著桌子吃飯,談今天的天氣和明天的潮水。"
)
SIMPLIFIED = (
    "春天来了,山上的雪慢慢化了,河里的水又开始流动。村里的人早早起来,去田里种菜和玉米。"
    "孩子们在学校的院子里踢球,老师在教室里准备今天的课。中午的时候太阳很暖和,"
    "老人坐在门口喝茶,谈论去年的收成和今年的天气。晚上大家一起吃饭,然后看星星。"
    "这样的生活虽然简单,但是每个人都觉得很满足,也不想搬到很远的城市里去。"
)


GBK_TWINS = {"/gbk", "/gbk-as-utf-8"}


def test_pages_that_cannot_be_judged_are_kept_and_counted(project, site, article):
    def page(text, head=""):
        return f"<html><head>{head}</head><body><p>{text}</p></body></html>"

    site.add("/empty", b"")
    site.add("/png-as-html", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 20)
    site.add("/image", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(256), "image/png")
    site.add("/json", '{"text": "hello"}', "application/json")
    site.add("/large", b"<html><body>" + b"<p>large page</p>" * 3_000_000)
    site.add("/nul", page("a\0b").encode())
    site.add("/nested", "<div>" * 100_000 + article(1))
    site.add("/gbk", page(SIMPLIFIED).encode("gbk"), "text/html; charset=gbk")
    site.add("/gbk-as-utf-8", page(SIMPLIFIED).encode("gbk"), "text/html; charset=utf-8")
    site.add("/big5", page(CHINESE, '<meta charset="big5">').encode("big5"), "text/html")
    site.add("/no-charset", page(TRADITIONAL).encode("big5"), "text/html")
    site.add("/no-such-charset", page(article(2)), "text/html; charset=x-none")
    site.add("/no-type", page(article(3)), None)
    site.add("/text", article(4), "text/plain")
    project.spider()

    crawl = project.crawl(*site.urls())

    assert crawl.exit_code == 0
    kept = {item["url"].removeprefix(site.url) for item in crawl.items}
    assert kept | GBK_TWINS == set(site.pages)
    assert len(kept & GBK_TWINS) == 1, "the page with the wrong charset is read and recognised"
    stats = crawl.stats
    assert stats["dedup/errors"] == 0
    assert stats["dedup/pages"] == len(site.pages)
    assert stats["dedup/unjudged/not_html"] == 2
    assert stats["dedup/unjudged/too_large"] == 1
    assert stats["dedup/unjudged/binary"] == 1
    assert stats["dedup/unjudged/no_text"] + stats["dedup/unjudged/too_short"] >= 2
    assert not crawl.lines("ERROR")
