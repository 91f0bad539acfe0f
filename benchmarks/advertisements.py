"""Which shingles are taken for advertisements, of advertisements and of prose.

The advertisements are calls to action, menus and lists of products, written for this; each line is
analysed by itself. Prose is the paragraphs of documents: lines that end as a sentence does. What
else documents have (headings, lists, tables, listings) is counted with the whole documents only.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from dedup_filter.features.analysis import Vocabulary, analyse
from dedup_filter.text.plain_text import normalize

__all__ = ["ADVERTISEMENTS", "dropped", "paragraphs"]

_SHINGLE_SIZE = 3
_LINE = 60
"""Bytes of UTF-8 up to which a line that ends as a sentence does may be a caption."""

_ENGLISH_CALLS = """Buy now and get free shipping today
Order online and save big
Click here to download our free app
Sign up today for exclusive deals
Shop new arrivals now
Limited time offer: 50% off everything
Start your free trial now
Subscribe to our newsletter today
Get 20% off your first order
Call now for a free quote
Book now, pay later
Add to cart
Hurry, sale ends tonight
Free returns within 30 days
Download the app on Google Play
Join thousands of happy customers
Try it free for 30 days
Learn more about premium plans
Claim your discount code today
Save up to 70% on designer brands
Upgrade to Pro and unlock all features
Refer a friend, earn $10 credit
Best price guaranteed, lowest prices online
Last chance to buy summer collection
Follow us on Facebook, Twitter, Instagram
Download free ebook today
Compare car insurance quotes online
Win a brand new iPhone, enter now
New customers save an extra 15% today
Request a demo, talk to sales
Top rated hotels, cheap flights, best deals
Click to view special offers
Unlock VIP access, register free today
Flash sale: 24 hours only, shop now"""

_ENGLISH_MENUS = """Home Products Services About us Contact
Home News Sport Weather Business Technology Entertainment
Log in Sign up Help Cart Checkout
Privacy policy Terms of use Cookie settings Sitemap
Women Men Kids Shoes Bags Accessories Sale
Careers Press Investors Blog Partners Developers
Latest posts Popular posts Categories Archives Tags
Share Print Email Bookmark Report
Previous Next First Last Page 1 2 3 4 5
My account Orders Wishlist Addresses Payment methods Log out
Electronics Computers Phones Cameras Audio Gaming
Documentation API reference Tutorials Changelog Download GitHub
English Deutsch Français Español Italiano Polski
Company Team History Awards Newsroom Media kit
Support Shipping Returns Size guide Gift cards Store locator
Videos Photos Podcasts Newsletters Events Jobs"""

_ENGLISH_PRODUCTS = """Wireless bluetooth headphones black $59.99 in stock
Stainless steel water bottle 750 ml $18.50
Men's running shoes size 10 blue $89.00
4K smart TV 55 inch HDR $499 free delivery
Organic green tea 100 bags $7.25
Leather wallet brown RFID blocking $24.95
USB-C charging cable 2 m 3 pack $12.99
Cotton bed sheets queen white 400 thread count $45.00
Cast iron skillet 12 inch pre-seasoned $34.90
Gaming mouse 16000 DPI RGB wired $39.99
Yoga mat extra thick 6 mm purple $22.00
Kids rain jacket waterproof yellow age 5 $29.95
Electric kettle 1.7 litre 2200 W glass $32.00
Ceramic coffee mug set of 4 $19.99
Portable power bank 20000 mAh fast charging $35.50
Dog food chicken rice 12 kg bag $41.20
LED desk lamp dimmable USB port $27.80
Mountain bike 29 inch aluminium frame 21 speed $349.00"""

_CHINESE_CALLS = """立即购买,全场包邮
点击下载免费客户端
限时抢购,低至五折
新用户注册送优惠券
马上注册,免费试用30天
关注公众号,领取红包
加入购物车
扫码下载APP,首单立减20元
会员专享,超值特惠
点击查看更多优惠
免费咨询热线,24小时在线客服
今日特价,满199减100
品牌清仓,全场一折起
立即报名,名额有限
一键分享,赢取大奖
预约试听,免费领取课程资料
订阅邮件,获取最新优惠
正品保证,七天无理由退货
下载手机版,看高清视频
开通会员,免广告观看
双十一狂欢,爆款直降
推荐好友,奖励现金50元
最后一天,错过等一年
免费领取试用装,货到付款
官方旗舰店,品质保障
快速贷款,当天放款,低利率
高薪招聘,五险一金,双休
精选酒店,特价机票,立即预订
在线客服,一对一服务
转发微博,抽奖送手机
全国包邮,假一赔十
点击进入,领取新人礼包"""

_CHINESE_MENUS = """首页 新闻 体育 财经 科技 娱乐
关于我们 联系我们 加入我们 网站地图
登录 注册 购物车 我的订单 收藏夹
产品中心 解决方案 服务支持 下载中心 新闻动态
男装 女装 童装 鞋靴 箱包 配饰
上一页 下一页 首页 尾页 共10页
版权声明 隐私政策 用户协议 意见反馈
手机 电脑 相机 家电 数码配件
热门文章 最新评论 标签云 友情链接
分享 打印 收藏 举报 字号 大 中 小
微博 微信 客户端 邮箱 论坛 博客
国内 国际 军事 社会 历史 图片 视频
招聘信息 企业文化 发展历程 荣誉资质
小说 动漫 游戏 音乐 电影 电视剧 综艺
北京 上海 广州 深圳 杭州 成都 武汉
客服中心 退换货政策 配送方式 支付方式"""

_CHINESE_PRODUCTS = """无线蓝牙耳机 黑色 降噪 199元
不锈钢保温杯 500毫升 59元 包邮
男士跑步鞋 42码 蓝色 329元
智能电视 55英寸 4K超高清 2499元
有机绿茶 250克 礼盒装 88元
真皮钱包 棕色 短款 129元
数据线 快充 2米 三条装 39元
纯棉四件套 1.8米床 白色 299元
铸铁煎锅 28厘米 不粘锅 159元
游戏鼠标 有线 机械 电竞 99元
瑜伽垫 加厚 10毫米 紫色 69元
儿童雨衣 防水 黄色 110码 45元
电热水壶 1.7升 玻璃 家用 109元
陶瓷咖啡杯 套装 四件 79元
充电宝 20000毫安 快充 大容量 129元
狗粮 鸡肉味 10公斤 成犬 168元
台灯 护眼 可调光 学生 89元
山地自行车 29寸 铝合金 21速 1299元"""

ADVERTISEMENTS = {
    language: {kind: lines.split("\n") for kind, lines in kinds.items()}
    for language, kinds in {
        "en": {
            "calls to action": _ENGLISH_CALLS,
            "menus": _ENGLISH_MENUS,
            "products": _ENGLISH_PRODUCTS,
        },
        "zh": {
            "calls to action": _CHINESE_CALLS,
            "menus": _CHINESE_MENUS,
            "products": _CHINESE_PRODUCTS,
        },
    }.items()
}
"""Lines by language and kind."""


def dropped(texts: Iterable[str], language: str | None = None) -> tuple[float, int]:
    """Return the share of shingles that are no sentence's, and how many shingles there are."""
    found = [_are_sentences(text, language) for text in texts]
    sentences = np.concatenate([np.zeros(0, np.bool_), *found])
    return float(1 - sentences.mean()), len(sentences)


def paragraphs(texts: Iterable[str]) -> list[str]:
    """Return the lines of documents that end as a sentence does."""
    lines = (line.strip() for text in texts for line in text.split("\n"))
    return [line for line in lines if len(line.encode()) > _LINE and line[-1] in ".!?。！？"]


def _are_sentences(text: str, language: str | None) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    analysis = analyse([normalize(text)], shingle_size=_SHINGLE_SIZE)
    if language:  # of a line, too short to bear it out
        values = Vocabulary(language).look_up(analysis.tokens)
        analysis = replace(analysis, words=replace(analysis.words, values=values))
    return analysis.is_sentence
