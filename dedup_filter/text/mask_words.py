"""The words beside which `masks` masks a number, by languages.

Each line of a table is one language and its words. "hour*" is any word that begins so; "min_read"
is "min read". The forms are those that site software writes: ages by Unicode CLDR 46 (relative
time, past; long, short and narrow) with the abbreviations that date libraries add; names of months
and days by CLDR; counters and stamps as translations of blogs, wikis, boards and shops have them.
"""

AGES = """
en …_ago sec* s min* m hour* hr hrs h day* d week* wk* w month* mo mos year* yr* y
de vor_… sek* s min* m stunde* std h tag* woche* wo monat* jahr*
fr il_y_a_… sec* s min* m heure* h jour* j sem* mois ans an a
es hace_… seg* s min* m hora* h día* dia* d sem* mes* año* a
pt há_… seg* s min* hora* h dia* d sem* mês mes* m ano*
ca fa_… seg* s min* hora hores h dia dies d setm* mes mesos any anys
it …_fa sec* s min* ora ore h giorn* gg g sett* mes* ann*
nl …_geleden sec* s min* uur uren u dag* dgn d week weken w maand* jaar jaren
sv …_sedan sek* s min* tim* h dag* d veck* v mån* år
sv för_…_sedan sek* s min* tim* h dag* d veck* v mån* år
sv för_…_sen sek* s min* tim* h dag* d veck* v mån* år
sv …_sen sek* s min* tim* h dag* d veck* v mån* år
da …_siden sek* s min* tim* t dag* døgn d uge* uke* u mån* mdr md år
da for_…_siden sek* s min* tim* t dag* døgn d uge* uke* u mån* mdr md år
fi …_sitten sek* s min* tun* t päiv* pv viik* vk kuuka* kk vuo* v
et …_eest sek* s min* tunn* t päev* p näd* kuu k aasta* a
pl ?…_temu sek* s min* godz* dni dnia dzień tydz* tyg* mies* rok roku lata lat g
cs ?před_… sek* s min* hodin* h dne dnem dny týd* měs* rok* r let* l
sk ?pred_… sek* s min* hodin* h dň* dni d týž* mes* rok* r
sl pred_… sek* s min* ur* h dnev* d ted* mes* let* l
hr ?prije_… sek* s min* sat* h dan dana d tj* mj* god* g
ro acum_… sec* s min* or* h zi zile săpt* lun* an ani
ro acum_… de_sec* de_min* de_ore de_zile de_săpt* de_luni de_ani
ro acum_…_în_urmă sec* min* or* zi zile săpt* lun* an ani
hu …_ezelőtt másodp* perc* ór* nap* hét* hón* év*
hu … másodperce m.perce perce órája napja hete hónapja éve
lv ?pirms_… sek* s min* st* h dien* d ned* mēn* gad* g
lt ?prieš_… sek* s min* val* dien* d sav* mėn* met* m
tr …_önce saniye sn dakika dk saat sa gün hafta hf ay yıl
vi …_trước giây phút giờ ngày tuần tháng năm
vi cách_đây_… giây phút giờ ngày tuần tháng năm
id …_yang_lalu detik menit minit saat jam hari minggu bulan tahun
id …_lalu detik dtk menit mnt minit min saat jam h hari minggu mgg mgu bulan bln tahun thn
ru ?…_назад сек* с мин* м час* ч день дня дней дн нед* месяц* мес год года г лет л
uk ?…_тому сек* с хв* годин* год день дня дні днів дн тиж* міс* рік рок* р
bg пр._… сек мин ч д седм м г
bg ?преди_… сек* мин* час* ч ден дни д седм* месец* м годин* г
sr ?пре_… сек* с мин* м сат* ч дан дана д нед* н мес* годин* год г
el πριν_από_… δευτ* λεπ* ώρ* ώ ημ* ημέρ* εβδ* μήν* έτ* χρόν*
el πριν_… δευτ* λεπ* ώρ* ώ ημ* ημέρ* εβδ* μήν* έτ* χρόν*
el …_πριν δ λ ώ ημ εβδ μ έτ*
ar ?منذ_… ثان* ثوان* دقيق* دقائق ساع* يوم* أيام ايام أسبوع* أسابيع شهر* أشهر سن* عام* أعوام
ar ?قبل_… ثان* ثوان* دقيق* دقائق ساع* يوم* أيام ايام أسبوع* أسابيع شهر* أشهر سن* عام* أعوام
fa …_پیش ثانیه دقیقه ساعت روز هفته ماه سال
fa …_قبل ثانیه دقیقه ساعت روز هفته ماه سال
he ?לפני_… שני* דק* שע* יום ימים יומיים שבוע* חודש* חו* שנ*
hi …_पहले सेकंड से॰ मिनट मि॰ घंटे घंटा घं॰ दिन सप्ताह हफ़्ते महीने महीना माह वर्ष साल
bn …_পূর্বে সেকেন্ড মিনিট ঘণ্টা দিন সপ্তাহ মাস বছর
bn …_আগে সেকেন্ড মিনিট ঘণ্টা দিন সপ্তাহ মাস বছর
th …_ที่แล้ว วินาที นาที ชม. ชั่วโมง วัน สัปดาห์ เดือน ปี
th …ที่แล้ว วินาที นาที ชม. ชั่วโมง วัน สัปดาห์ เดือน ปี
th …ที่ผ่านมา วินาที นาที ชม. ชั่วโมง วัน สัปดาห์ เดือน ปี
zh …前 秒 秒钟 秒鐘 分钟 分鐘 分 小时 小時 天 日 周 週 星期 个月 個月 月 年
zh …以前 天 日 个月 個月 月 年
zh …之前 秒 分钟 分鐘 小时 小時 天 日 周 週 个月 個月 月 年
ja …前 秒 分 時間 日 週間 か月 ヶ月 カ月 ヵ月 年
ko …전 초 분 시간 일 주 개월 달 년
ko …_전 초 분 시간 일 주 개월 달 년
"""
"""Its second word is the form; "?": one unit may stand without a number ("a month ago")."""

ONES = """
en a an one few a_few several half_an a_couple_of less_than_a
de ein eine einem einer einigen wenigen
fr un une quelques
es un uno una unos unas
pt um uma
nl een enkele
sv en ett
da et
fi muutama yksi
ru один одну одна несколько
ca un una
ro un o
el ένα μία μια έναν
hu egy
tr bir birkaç
hi एक
vi vài
zh 几 幾 半 数 几个 半个
"""
"""Numbers in words."""

DAYS = """
en just_now moments_ago a_moment_ago yesterday today
de gestern heute gerade_eben
fr hier aujourd'hui aujourd’hui à_l'instant à_l’instant
es ayer hoy ahora_mismo
pt ontem hoje agora_mesmo
ca ahir avui
it ieri oggi
nl gisteren vandaag zojuist
sv igår idag just_nu
da i_går i_dag lige_nu akkurat_nå
fi eilen tänään juuri_nyt
et eile täna
pl wczoraj dzisiaj dziś przed_chwilą
cs včera dnes právě_teď
hr jučer danas
sl včeraj
ro azi
hu tegnap
lv vakar
lt šiandien
tr dün bugün az_önce
vi hôm_qua hôm_nay vừa_xong
id kemarin hari_ini baru_saja
ru вчера сегодня только_что
uk вчора сьогодні щойно
bg днес
el χθες σήμερα
ar أمس اليوم الآن
fa دیروز امروز
he אתמול היום
hi कल आज अभी
th เมื่อวาน วันนี้ เมื่อสักครู่
zh 昨天 前天 今天 刚刚 刚才 剛剛
ja 昨日 今日 たった今
ko 어제 오늘 방금
"""
"""Ages without a number."""

COUNTED = """
en views pageviews page_views comments replies responses thoughts reactions reviews queries
en min_read mins_read minute_read minutes_read min_to_read people_like_this
de aufrufe kommentare antworten zugriffe mal_gelesen min_lesezeit min._lesezeit minuten_lesezeit
fr vues commentaires réponses réactions min_de_lecture minutes_de_lecture
es vistas visualizaciones comentarios respuestas min_de_lectura minutos_de_lectura
pt visualizações comentários respostas min_de_leitura minutos_de_leitura
ca visualitzacions comentaris respostes
it visualizzazioni commenti risposte min_di_lettura minuti_di_lettura
nl weergaven reacties antwoorden keer_bekeken keer_gelezen min_leestijd
sv visningar kommentarer svar min_läsning
da visninger min_læsetid min_lesetid
fi katselukertaa katselua kommenttia vastausta lukukertaa
et vaatamist kommentaari
pl wyświetleń wyświetlenia komentarzy komentarze odsłon odsłony min_czytania
cs zobrazení komentářů komentáře komentárov přečtení min_čtení
hr komentara pregleda prikaza
ro vizualizări comentarii răspunsuri afișări
hu megtekintés hozzászólás komment
lt peržiūros peržiūrų komentarai komentarų
tr görüntüleme görüntülenme yorum okunma kez_okundu dk_okuma
vi lượt_xem bình_luận lượt_đọc
id komentar kali_dibaca kali_dilihat kali_ditonton
ru просмотров просмотра комментариев комментария прочтений мин_чтения
uk переглядів перегляди коментарів коментарі
bg коментара преглеждания
el σχόλια προβολές απαντήσεις
ar مشاهدة مشاهدات تعليق تعليقات تعليقًا
fa بازدید دیدگاه
he תגובות צפיות
hi टिप्पणियाँ टिप्पणी बार_देखा_गया
th ความคิดเห็น
zh 评论 条评论 個評論 个评论 則留言 条回复 条留言 阅读 次阅读 人阅读 次浏览 人浏览 次播放 次观看
zh 次点击 次访问 次下载 位访客 人参与 人评论 人收藏 人点赞 个赞 人赞 人关注 人喜欢 次瀏覽 次觀看
zh 分钟阅读
ja 件のコメント 件の返信 件のレビュー 回視聴 回閲覧 回再生 コメント 人がいいね
ko 조회 댓글 개의_댓글 회_조회
"""
"""What a site counts of its page."""

COUNTED_ALSO = """
en likes shares votes downloads followers subscribers reads hits visits visitors retweets
en upvotes bookmarks favorites ratings posts
de besucher leser abonnenten bewertungen stimmen beiträge
fr partages abonnés votes j'aime j’aime téléchargements visites lectures avis
es visitas seguidores descargas votos lecturas me_gusta
pt curtidas leituras
it voti visite condivisioni letture recensioni
nl stemmen volgers
sv röster
fi latausta tykkäystä ääntä
pl odpowiedzi głosów polubień
cs hlasů odpovědí
tr beğeni oy indirme takipçi yanıt
vi lượt_thích lượt_tải
id suka pengikut unduhan dilihat
ru ответов ответа отзывов лайков голосов скачиваний подписчиков
uk відповідей завантажень
ar قراءة زيارة
fa نظر
zh 赞 回复 收藏 转发 粉丝
ja いいね フォロワー
ko 추천 좋아요 공감
"""
"""What a site counts, words that are used for other things, too."""

NONE = """
en no_comments no_replies no_responses
de keine_kommentare kein_kommentar
fr aucun_commentaire
es sin_comentarios no_hay_comentarios ningún_comentario
pt nenhum_comentário sem_comentários
it nessun_commento
nl geen_reacties
sv inga_kommentarer
da ingen_kommentarer
fi ei_kommentteja
pl brak_komentarzy
cs žádné_komentáře
tr yorum_yok
vi không_có_bình_luận
id tidak_ada_komentar
ru нет_комментариев
uk немає_коментарів
zh 暂无评论 尚無評論
ja コメントなし コメントはありません
ko 댓글_없음
"""
"""Counters that count nothing."""

COUNTED_ONE = """
en comment reply response view review like share vote download follower reaction thought
de kommentar antwort aufruf
fr commentaire réponse vue partage
es comentario respuesta visita
pt comentário resposta
it commento risposta
nl reactie antwoord
sv kommentar visning
fi kommentti
pl komentarz odpowiedź wyświetlenie
cs komentář
ru просмотр комментарий ответ
uk коментар перегляд
el σχόλιο
he תגובה
"""
"""The words of the tables above for one."""

LABELS = """
en number_of_views number_of_comments number_of_visits number_of_visitors number_of_downloads
en viewed read reading_time read_time time_to_read execution_time visitors_today
de gelesen lesezeit besucher_heute
fr lu affichages temps_de_lecture
es leído visto tiempo_de_lectura número_de_visitas
pt lido acessos tempo_de_leitura
it letto tempo_di_lettura
nl gelezen bekeken leestijd
sv läst visad lästid
da læst vist læsetid lesetid
fi luettu katsottu lukuaika
pl przeczytano wyświetlono czas_czytania
cs přečteno zobrazeno doba_čtení
tr okuma_süresi okunma_sayısı görüntülenme_sayısı
vi số_lượt_xem
id dibaca
ru прочитано просмотрено просмотры комментарии время_чтения прочитали
uk прочитано
ar عدد_المشاهدات عدد_القراءات عدد_الزيارات
fa تعداد_بازدید
th อ่าน เข้าชม ผู้ชม
zh 阅读量 阅读数 阅读次数 浏览 浏览量 浏览数 浏览次数 点击 点击量 点击数 点击率 点击次数 访问量
zh 访问次数 评论数
zh 人气 点赞 点赞数 踩 播放 播放量 下载次数 下载量 在线人数 瀏覽 瀏覽數 點擊 閱讀 您是第 今日访问
zh 阅读时间 预计阅读
ja 閲覧数 再生回数 コメント数 アクセス数 訪問者数
ko 조회수 댓글수 방문자 방문자수
"""
"""Words before a number that says how often a page was read, and the like."""

TIMES = """
en times time minutes minute mins min seconds secs sec s ms
de mal minuten
fr fois
es veces minutos
pt vezes
it volte minuti
nl keer
sv gånger minuter
da gange ganger minutter
fi kertaa
pl razy raz
cs krát
tr kez defa dakika dk
vi lần phút
id kali menit
ru раз раза мин минут минуты
uk рази хв
ar مرة
th ครั้ง
zh 次 人次 人 条 篇 分钟 位访客 位
ja 回 件 人 分
ko 회 번 개 명 분
"""
"""Words that may stand after such a number."""

PEOPLE = """
en users guests members visitors people robots user guest member visitor
de gäste benutzer mitglieder besucher gast
fr invités membres utilisateurs visiteurs invité
es usuarios invitados miembros visitantes
pt usuários
it utenti ospiti visitatori
nl gebruikers gasten leden bezoekers
sv gäster medlemmar
da gæster brugere
pl użytkowników gości
cs hostů uživatelů
tr ziyaretçi kullanıcı misafir
vi khách thành_viên
id pengunjung tamu
ru гостей гостя гость пользователей посетителей
ar زوار زائر
zh 游客 访客 会员 人 名 位 訪客
ja 人
"""

ONLINE = """
en online
fr en_ligne connectés
es en_línea conectados
tr çevrimiçi
vi trực_tuyến
ru онлайн на_сайте
ar متصل
zh 在线 在線
ja オンライン
"""

STAMPED = """
en updated last_update last_updated modified last_modified edited last_edited last_changed printed
en last_revised last_reviewed generated accessed last_accessed retrieved today_is it_is_now cached
en it_is_currently time_now_is time_is_now current_time current_date server_time local_time
en last_visit last_seen last_active last_login last_checked last_post date_printed page_loaded
en revised revision_date
de aktualisiert stand: letzte_aktualisierung letzte_änderung geändert bearbeitet gedruckt
de druckdatum überarbeitet
de ausgedruckt abgerufen heute_ist es_ist_jetzt
fr mis_à_jour mise_à_jour dernière_modification modifié imprimé consulté nous_sommes_le il_est
fr généré révisé révisée
es revisado
pt revisado
it rivisto
es actualizado última_actualización modificado última_modificación impreso consultado hoy_es
es editado
pt atualizado atualização última_atualização modificado impresso acessado hoje_é
ca actualitzat modificat
it aggiornato ultimo_aggiornamento modificato ultima_modifica stampato oggi_è
nl bijgewerkt gewijzigd bewerkt afgedrukt laatste_wijziging laatste_update
sv uppdaterad uppdaterades ändrad utskriven redigerad
da opdateret ændret udskrevet oppdatert endret
fi päivitetty muokattu tulostettu
et uuendatud muudetud
pl zaktualizowano aktualizacja ostatnia_aktualizacja zmieniono wydrukowano edytowano dziś_jest
cs aktualizováno aktualizace změněno upraveno vytištěno dnes_je aktualizované
hr ažurirano zadnja_izmjena izmijenjeno
ro actualizat ultima_actualizare modificat
hu frissítve utolsó_frissítés módosítva nyomtatva
lt atnaujinta
tr güncellendi güncelleme güncellenme son_güncelleme güncelleme_tarihi düzenlendi yazdırıldı
vi cập_nhật cập_nhật_lần_cuối
id diperbarui pembaruan_terakhir dicetak
ru обновлено обновлён обновлен обновление изменено отредактировано распечатано
ru последнее_обновление последнее_изменение
uk оновлено оновлення змінено
bg обновено променено
el ενημερώθηκε ενημέρωση τελευταία_ενημέρωση
ar آخر_تحديث تم_التحديث آخر_تعديل
fa به‌روزرسانی بروزرسانی
he עודכן עדכון_אחרון
hi अपडेट अंतिम_अद्यतन
th อัปเดต ปรับปรุงล่าสุด แก้ไขล่าสุด
zh 更新 更新时间 更新日期 最后更新 最后修改 最后编辑 编辑于 打印时间 打印日期 现在是 今天是
zh 现在时间 修改时间
zh 当前时间 更新時間 最後更新 最後修改
zh 修订于 修订日期 最后修订 最后修订于 修訂於 修訂日期 最後修訂 最後修訂於
ja 更新 更新日 更新日時 最終更新 最終更新日
ko 수정 최종수정 업데이트
"""
"""Words before the time at which someone touched or fetched the page."""

ACTED = """
en posted published asked active seen joined commented
de gepostet veröffentlicht
fr publié posté
es publicado
pt publicado postado
it pubblicato
nl geplaatst
ru опубликовано
zh 发布于 发表于
"""
"""Words before a day, but not before a date, that changes by itself."""

COPYRIGHT = """
en © copyright c
zh 版权所有
"""
"""Signs before years; "c" in brackets."""

GENERATED = """
en generated rendered page_generated page_rendered page_created page_loaded file_generated
en document_generated documentation_generated report_generated this_page_was_generated
en this_file_was_generated this_document_was_generated page_was_generated
en running_time_of_the_script total_running_time_of_the_script
de erzeugt seite_erzeugt generiert
fr généré page_générée
es generado página_generada
pt gerado página_gerada
it generato pagina_generata
nl gegenereerd
ru сгенерировано страница_сгенерирована
zh 页面生成 生成
"""
"""Words at the beginning of a line that tells how a program made the page."""

MADE_WITH = """
en created_using created_with created_by built_using built_with built_by generated_by
en generated_with made_using made_with powered_by produced_by produced_using produced_with
de erstellt_mit erzeugt_mit erzeugt_von generiert_mit gebaut_mit betrieben_mit
fr créé_avec généré_par généré_avec fait_avec propulsé_par
es creado_con creado_usando generado_por generado_con hecho_con
pt criado_com criado_usando gerado_por feito_com
it creato_con creato_usando generato_da fatto_con
nl gemaakt_met gegenereerd_door
ru создано_с_помощью сделано_на работает_на
"""
"""Words before the name and the version of the tool that has made a page."""

CALENDAR = """
en jan feb mar apr may jun jul aug sep oct nov dec mon tue wed thu fri sat sun
de mär mai okt dez montag di dien mi mitt do donn fr frei sa sams so sonn
fr janv févr mars avr juin juil aoû déc lun mard merc jeu vend dim
es ene abr ago dic miér mié juev vier sáb
pt fev mai set out seg terç qua qui sex
ca gen jul des dil dim dij div dis diu
it mag giu lug ott merc giov ven gio
nl maa mei din woe don vrij zat zon
sv maj tis ons tor fre lör sön
da man tirs lør søn
fi tam hel maal huht touk kes hein elok syys loka marras joul maan tiis kesk tors perj laua sunn
pl sty lut kwi czer lip sie wrz paź lis gru pon wto śro czw pią sob nied
cs led úno bře dub kvě čer srp zář říj lis pro pon úte stř čtv pát sob ned júl štv
hr sij velj ožu tra svi lip kol ruj stu uto sri čet pet sub
ro ian iun iul noi marț
hu már ápr máj jún szep hét kedd szer csüt pént szom vas
lt sau vas kov bal geg bir lie rugp rugs spa lap gruo
tr oca şub nis haz tem ağu eyl eki kas ara paz sal çar per cum
vi tháng thg thứ chủ_nhật
id peb agt agu sen sel rab kam jum sab min
ru янв фев мар апр май мая июн июл авг сен окт ноя дек пон вт ср чет пят суб вос чт пт сб вс пн
uk січ лют бер кві тра чер лип сер вер жов лис гру вів чет нед
el ιαν φεβ μαρ απρ μαΐ μαϊ ιουν ιουλ αυγ σεπ οκτ νοε δεκ δευ τρί τετ πέμ παρ σάβ κυρ
ar يناير فبراير مارس أبريل ابريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر اكتوبر نوفمبر ديسمبر
ar الاثنين الإثنين الثلاثاء الأربعاء الخميس الجمعة السبت الأحد
fa فروردین اردیبهشت خرداد تیر مرداد شهریور مهر آبان آذر دی بهمن اسفند شنبه یکشنبه دوشنبه
he ינואר פברואר מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר
he בינואר בפברואר במרץ באפריל במאי ביוני ביולי באוגוסט בספטמבר באוקטובר בנובמבר בדצמבר
hi जन फ़र मार्च अप्रै मई जून जुला अग सित अक्टू नव दिस सोम मंगल बुध गुरु शुक्र शनि रवि
th ม.ค ก.พ มี.ค เม.ย พ.ค มิ.ย ก.ค ส.ค ก.ย ต.ค พ.ย ธ.ค มกรา กุมภา มีนา เมษา พฤษภา มิถุนา กรกฎา
th สิงหา กันยา ตุลา พฤศจิกา ธันวา วัน
zh 星期 周 礼拜 上午 下午 晚上 凌晨
ja 月曜 火曜 水曜 木曜 金曜 土曜 日曜 午前 午後
ko 월요 화요 수요 목요 금요 토요 일요 오전 오후
"""
"""Beginnings of the names of months, days and hours."""

DATE_WORDS = """
en at on the of date time as st nd rd th am pm a.m a.p p.m noon gmt utc cet cest est edt pst pdt
en bst t z
de um uhr den der vom am
fr le à h
es el la las a de del
it il alle ore
pt do das às em
nl op om
sv den kl
fi klo
pl w o godz dnia
cs v dne
tr saat
vi ngày lúc
id pada tanggal pukul
ru в г года от на
ar في بتاريخ
th เมื่อ เวลา น
zh 于 在 是 为
"""
"""Words beside and in a date."""
