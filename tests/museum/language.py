"""Words and sentences in English and Chinese, drawn at random.

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
METHODS = "append insert delete reverse replace indexOf length charAt compareTo setLength".split()
CLASSES = """StringBuilder StringBuffer Math StrictMath Timer TimerMBean HashMap TreeMap LinkedList
ArrayList Reader Writer AbstractElementVisitor6 AbstractElementVisitor7 AbstractElementVisitor8
AbstractElementVisitor9 SimpleTypeVisitor6 SimpleTypeVisitor7 Stream IntStream""".split()
COMMANDS = """diff diff-files diff-index diff-tree show log whatchanged format-patch range-diff
shortlog blame annotate""".split()
OPERANDS = """vdst vdata vaddr saddr sdst sbase soffset ssrc0 ssrc1 ssrc2 vsrc0 vsrc1 vsrc2 simm16
simm32 imask hwreg waitcnt label msg""".split()
OPTIONS = "patch stat raw unified minimal color follow quiet exit-code ignore notes".split()
FOODS = "flour butter leeks barley trout apples honey walnuts plums lentils cream eggs".split()
SERVICES = "Login Search Mail Storage Payments Maps".split()
MONEY = "dollar euro yen pound franc krona peso rand rupee won real lira zloty baht dinar".split()
SIGNS = """Aries Taurus Gemini Cancer Leo Virgo Libra Scorpio Sagittarius Capricorn Aquarius
Pisces""".split()
MIT = """Permission is hereby granted, free of charge, to any person who has a copy of this work and
of what documents it, to deal in it without limits, and that means to use it, copy it, change it,
join it to other works, publish it, hand it on and sell copies of it, and to let others do so to
whom it is given, as long as the notice above and this permission stand in all copies of it or of
large parts of it. The work is given as it is, without a promise of any kind, neither spoken nor
meant, that it can be sold, that it suits a purpose or that it takes nobody's rights. In no case do
those who made it or hold the rights in it answer for a claim, a damage or a duty of any kind."""
PAYWALL = """You have read your three free articles this month. To go on reading, choose the
subscription that suits you: the whole newspaper every morning on all your devices for nine pounds
a month, or the weekend edition with the crossword and the magazine for four. You can cancel at any
time, and students pay half. If you take the printed paper already, reading here is free: you only
have to tell us the number on your last bill."""
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


class Writer:
    def __init__(self, seed: str | int, language: str = "en") -> None:
        chance = Random(seed)
        self._is_chinese = language == "zh"
        self.choice, self.sample, self.randbytes = chance.choice, chance.sample, chance.randbytes
        self.randrange, self.uniform = chance.randrange, chance.uniform

    def thing(self) -> str:
        return f"{self.choice(ADJECTIVES)} {self.choice(NOUNS)}"

    def clause(self) -> str:
        """Who did what, and where or with whom."""
        choice = self.choice
        if self._is_chinese:
            one, other = (f"{choice(ZH_ADJECTIVES)}的{choice(ZH_NOUNS)}" for _ in range(2))
            place = f"在{choice(ZH_TOWNS)}的{choice(ZH_NOUNS)}"
            return f"{one}{place}{choice(ZH_VERBS)}了{other}"
        one, other = self.thing(), self.thing()
        of = choice(["", f" of {choice(TOWNS)}", f" and {self.person()}"])
        place = f"{choice(PLACES)} the {choice(NOUNS)}"
        return f"the {one}{of} {choice(VERBS)} {choice(['a', 'the'])} {other} {place}"

    def headline(self) -> str:
        return _with_capital(self.clause())

    def sentence(self) -> str:
        """When it was, and two clauses: some 28 words."""
        phrases = ZH_WHEN if self._is_chinese else WHEN
        when = self.choice(phrases.split("|")).strip().format(self.randrange(1890, 2024))
        one, other = self.clause(), self.clause()
        if self._is_chinese:
            return f"{when}，{one}，{self.choice(ZH_LINKS)}{other}。"
        return f"{_with_capital(when)} {one}, {self.choice(LINKS)} {other}."

    def text(self, sentences: int) -> str:
        blank = "" if self._is_chinese else " "
        return blank.join(self.sentence() for _ in range(sentences))

    def paragraphs(self, count: int) -> str:
        return "".join(f"<p>{self.text(self.randrange(3, 6))}</p>" for _ in range(count))

    def article(self, paragraphs: int = 5) -> str:
        return f"<h1>{self.headline()}</h1>{self.paragraphs(paragraphs)}"

    def person(self) -> str:
        return f"{self.choice(FIRST)} {self.choice(LAST)}"

    def day(self) -> str:
        month = self.choice("January March April June July September October December".split())
        return f"{self.randrange(1, 29)} {month} {self.randrange(2001, 2025)}"

    def price(self) -> str:
        return f"{self.randrange(10, 2000)}.{self.randrange(10, 100)}"


def _with_capital(said: str) -> str:
    return f"{said[0].upper()}{said[1:]}"


def shared(seed: str | int, sentences: int, language: str = "en") -> str:
    """A text that is the same on all pages that ask for it."""
    return Writer(seed, language).text(sentences)


def ware(number: int) -> str:
    """The name of something for sale, that nothing else has."""
    return f"{KINDS_OF_WOOD[number % 10]} {THINGS[(number // 10 + number) % 12]}".capitalize()
