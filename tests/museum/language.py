"""Sentences, names and things in English and Chinese, drawn by a `random.Random`.

Sentences have function words and lengths as real ones have; two of them are hardly ever equal.
"""

from random import Random

NOUNS = """teacher harbour bridge council letter vineyard roof orchid depot boat reservoir map
prison opera tower goat signal market painter monk mast crane account refinery orchard tunnel
telescope archive mayor ferry captain bishop library clinic baker goalkeeper watchman founder
gardener minister road astronomer lighthouse brewery forest cellar river station border volcano
suburb viaduct hospital factory choir island valley museum judge engine window doctor candle silver
village kitchen blanket mountain compass farmer engineer fire flood strike festival newspaper
contract insurance neighbour witness""".split()
ADJECTIVES = """wooden old rare frozen copper unfinished broken retired young northern elderly new
former local empty quiet famous narrow rusty painted forgotten expensive hollow crowded modest
stubborn early distant yellow hungry patient cheerful muddy secret wealthy fragile noisy proud
sleepy honest""".split()
VERBS = """opened repaired described defended painted measured sold rejected inherited discovered
photographed abandoned insured inspected praised rebuilt catalogued criticised borrowed restored
counted hid replaced closed followed ignored moved weighed copied drew remembered warned
visited""".split()
PLACES = "near behind above below beside beyond under inside around opposite before without".split()
LINKS = "because although while as before if and but until after when since unless where".split()
WHEN = """in the spring of {}|shortly before Christmas {}|on the second Sunday of May {}
|after the flood of {}|during the dry summer of {}|at the end of {}|since the strike of {}
|in the last week of August {}|on a foggy morning in {}|two years after the fire of {}"""
ZH_NOUNS = """教师 港口 大桥 议会 书信 葡萄园 屋顶 兰花 车库 渔船 水库
地图 监狱 歌剧 水塔 山羊 市场 画家 僧人 天线 账目 糖厂 果园 隧道 望远镜 档案 镇长
渡轮 船长 图书馆 诊所 面包师 守门员 园丁 公路 灯塔 啤酒厂 森林 地下室 河流 车站
边境 火山 郊区 医院 工厂 合唱团 海岛 山谷 博物馆 法官 发动机 窗户 医生 蜡烛 村庄
厨房 毛毯 农民 工程师""".split()
ZH_ADJECTIVES = """木制 古老 罕见 结冰 未完成 损坏 退休 年轻 北方
新来 空荡 安静 著名 狭窄 生锈 被遗忘 昂贵 拥挤 朴素 固执 遥远 黄色 饥饿 耐心 快乐
泥泞 秘密 富裕 脆弱 吵闹 骄傲 诚实""".split()
ZH_VERBS = """修复 介绍 买下 拆除 检查 拍摄 继承 发现 测量 开放 出售
批评 捐赠 登记 粉刷 租用 保护 放弃 清点 赞扬 参观 记住 忽视 搬走 模仿
警告""".split()
ZH_LINKS = "因为 虽然 为了让 但是 而且 直到 如果 于是 后来 由于".split()
ZH_WHEN = """{}年春天|{}年圣诞节前不久|{}年五月的第二个星期日|{}年洪水之后|{}年干旱的夏天|{}年年底
|{}年大罢工以来|{}年八月的最后一周|{}年一个有雾的早晨"""
FIRST = "Ada Bruno Clara Dmitri Elena Farid Greta Hugo Ines Jonas Karin Luis Mara Nils Olga".split()
LAST = """Abbott Berger Castro Dahl Eriksen Fontaine Graves Horvat Ivanov Jansen Kowalski Lindqvist
Moreau Novak Okafor Petrov Quinn Rossi Schmidt Tanaka Urban Vega Weber Young Zimmer""".split()
TOWNS = """Ashford Brackley Crewe Dunster Ely Frome Goole Hexham Ilkley Jarrow Keswick Ludlow
Malvern Nairn Oakham Penrith Ripon Selby Thirsk Ulverston Ventnor Whitby Yarm Alnwick Buxton Calne
Diss Epsom Fowey Girvan""".split()
KINDS_OF_WOOD = "oak walnut pine ash beech cherry maple birch teak larch".split()
THINGS = "table chair shelf bench stool desk wardrobe cradle mirror ladder lamp cabinet".split()
ZH_TOWNS = "杭州 苏州 宁波 青岛 大连 厦门 昆明 成都 兰州 西安 长沙 武汉 合肥 南昌 福州 贵阳".split()
ZH_NAMES = "李明 王芳 张伟 刘洋 陈静 杨帆 赵磊 黄丽 周强 吴敏 徐杰 孙燕 胡军 朱琳 高峰 林涛".split()
ZH_THINGS = (
    "书桌 餐椅 衣柜 书架 茶几 床头柜 鞋柜 屏风 梳妆台 沙发 木凳 台灯 镜子 花架 米桶 案板".split()
)


def clause(chance: Random, language: str = "en") -> str:
    """Who did what, and where or with whom."""
    if language == "zh":
        one, other = (
            f"{chance.choice(ZH_ADJECTIVES)}的{chance.choice(ZH_NOUNS)}" for _ in range(2)
        )
        place = f"在{chance.choice(ZH_TOWNS)}的{chance.choice(ZH_NOUNS)}"
        return f"{one}{place}{chance.choice(ZH_VERBS)}了{other}"
    one, other = (f"{chance.choice(ADJECTIVES)} {chance.choice(NOUNS)}" for _ in range(2))
    of = chance.choice(["", f" of {chance.choice(TOWNS)}", f" and {person(chance)}"])
    place = f"{chance.choice(PLACES)} the {chance.choice(NOUNS)}"
    return f"the {one}{of} {chance.choice(VERBS)} {chance.choice(['a', 'the'])} {other} {place}"


def sentence(chance: Random, language: str = "en") -> str:
    """When it was, and two clauses: some 28 words."""
    phrases = ZH_WHEN if language == "zh" else WHEN
    when = chance.choice(phrases.split("|")).strip().format(chance.randrange(1890, 2024))
    one, other = clause(chance, language), clause(chance, language)
    if language == "zh":
        return f"{when}，{one}，{chance.choice(ZH_LINKS)}{other}。"
    return f"{when[0].upper()}{when[1:]} {one}, {chance.choice(LINKS)} {other}."


def text(chance: Random, sentences: int, language: str = "en") -> str:
    """Several sentences."""
    return ("" if language == "zh" else " ").join(
        sentence(chance, language) for _ in range(sentences)
    )


def paragraphs(chance: Random, count: int, language: str = "en") -> str:
    """Paragraphs of three to five sentences, marked up."""
    return "".join(f"<p>{text(chance, chance.randint(3, 5), language)}</p>" for _ in range(count))


def headline(chance: Random, language: str = "en") -> str:
    """A clause with a capital."""
    said = clause(chance, language)
    return f"{said[0].upper()}{said[1:]}"


def person(chance: Random) -> str:
    """A first and a last name."""
    return f"{chance.choice(FIRST)} {chance.choice(LAST)}"


def day(chance: Random) -> str:
    """A date."""
    month = chance.choice("January March April June July September October December".split())
    return f"{chance.randint(1, 28)} {month} {chance.randrange(2001, 2025)}"


def table(rows: list[tuple[object, ...]]) -> str:
    """Rows of cells, marked up."""
    cells = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def listed(entries: list[str]) -> str:
    """A list, marked up."""
    return f"<ul>{''.join(f'<li>{entry}</li>' for entry in entries)}</ul>"
