"""Articles -> a wiki or a blog on loopback that shows each at many URLs, as these programs do.

    mediawiki    SQLite; /index.php/Title beside /index.php?title=Title&action=...
    dokuwiki     files; /doku.php?id=title beside &do=..., &idx=..., &rev=...
    wordpress    MariaDB; /2026/01/title/ beside ?replytocom=..., archives by date, author, category

The programs are Debian's, as they are installed, with their usual settings; all that they write
is in a folder of the caller's, and their server is PHP's own. Articles link to one another. Every
fifth has an older version in the wikis; every second has comments in the blog, whose sample post is
gone.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from html import escape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import URLError
from urllib.request import urlopen

from lxml import html as lxml_html

__all__ = ["SOFTWARE", "Article", "articles_in", "served"]

_WORDS = 60
"""Words of an article, at least."""
_LINKS = 4
"""Other articles that each links to."""
_COMMENTS = 3
_PATIENCE = 60
"""Seconds in which a server must be there."""
_INSTALL = "apt-get install --no-install-recommends php-cli"


class Article(NamedTuple):
    """A text with its title, and the numbers of the articles that it links to."""

    title: str
    paragraphs: list[str]
    linked: list[int]


def articles_in(folder: Path, most: int) -> list[Article]:
    """Read articles from the HTML pages below a folder: their titles and paragraphs."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*.html")):
        if len(found) == most:
            break
        tree: Any = lxml_html.fromstring(path.read_bytes())
        title = _plain(tree.findtext(".//title") or path.stem)[:60].strip()
        texts = (" ".join(_plain(each.text_content()).split()) for each in tree.iter("p"))
        paragraphs = [text for text in texts if text.count(" ") > 3]
        if title and " ".join(paragraphs).count(" ") >= _WORDS:
            found.setdefault(title[0].upper() + title[1:].lower(), paragraphs)
    count = len(found)
    return [
        Article(title, paragraphs, [(number * 7 + step * step) % count for step in range(_LINKS)])
        for number, (title, paragraphs) in enumerate(found.items())
    ]


def _plain(text: str) -> str:
    """Take what is markup in a wiki out of a text."""
    return " ".join(re.sub(r"[^\w\s.,:;?!()'-]", " ", text).replace("__", " ").split())


@contextmanager
def served(name: str, articles: list[Article], folder: Path) -> Iterator[str]:
    """Fill one of the programs, run its server, and give the URL of its front page."""
    program = SOFTWARE[name]
    missing = [path for path in (*program.needs, "/usr/bin/php") if not Path(path).exists()]
    if missing:
        raise SystemExit(f"{missing[0]} is missing: {_INSTALL} {program.packages}")
    with ExitStack() as stack:
        url = f"http://127.0.0.1:{_free_port()}"
        root, variables = program.prepare(articles, folder, url, stack)
        options = ["-d", "error_reporting=0", "-d", "opcache.enable_cli=1"]
        command = ["php", *options, "-S", url.partition("//")[2], "-t", str(root)]
        router = root / "router.php"
        command += [str(router)] if router.exists() else []
        log = stack.enter_context((folder / "server.log").open("wb"))
        workers = {"PHP_CLI_SERVER_WORKERS": "4"}
        variables = {**os.environ, **variables, **workers}
        server = subprocess.Popen(
            command, env=variables, stdout=log, stderr=log, start_new_session=True
        )
        stack.callback(server.wait)
        stack.callback(os.killpg, server.pid, signal.SIGTERM)  # its workers, too
        _wait(lambda: urlopen(f"{url}/", timeout=_PATIENCE).close())
        yield f"{url}/"


def _mediawiki(
    articles: list[Article], folder: Path, url: str, _: ExitStack
) -> tuple[Path, Mapping[str, str]]:
    root = Path("/usr/share/mediawiki")
    variables = {"MW_CONFIG_FILE": str(folder / "LocalSettings.php")}
    maintenance = root / "maintenance"
    options = {"dbtype": "sqlite", "dbpath": folder, "confpath": folder, "server": url}
    options |= {"scriptpath": "", "pass": "a long pass phrase"}
    given = [f"--{name}={value}" for name, value in options.items()]
    _php(variables, str(maintenance / "install.php"), *given, "Manual", "Admin")
    texts = folder / "texts"
    texts.mkdir()
    for is_newer in (False, True):
        files = []
        for number, article in enumerate(articles):
            if is_newer and number % 5:
                continue
            links = "".join(f"* [[{articles[other].title}]]\n" for other in article.linked)
            kind = f"[[Category:Letter {article.title[0]}]]"
            text = "\n\n".join([*_version(article, is_newer), links, kind])
            files.append(texts / f"{article.title}.txt")
            files[-1].write_text(text, "utf-8")
        importing = str(maintenance / "importTextFiles.php")
        _php(variables, importing, "--user=Admin", "--overwrite", *map(str, files))
    every = "".join(f"* [[{article.title}]]\n" for article in articles)
    (texts / "Main Page.txt").write_text(every, "utf-8")
    _php(variables, importing, "--user=Admin", "--overwrite", str(texts / "Main Page.txt"))
    _php(variables, str(maintenance / "runJobs.php"))
    return root, variables


def _dokuwiki(
    articles: list[Article], folder: Path, url: str, _: ExitStack
) -> tuple[Path, Mapping[str, str]]:
    root, conf, data = folder / "dokuwiki", folder / "conf", folder / "data"
    shutil.copytree("/usr/share/dokuwiki", root, ignore_dangling_symlinks=True)
    shutil.copytree("/etc/dokuwiki", conf, ignore=shutil.ignore_patterns("*.auth.php"))
    shutil.copytree("/var/lib/dokuwiki/data", data)
    (conf / "local.php").write_text(
        f"<?php $conf['savedir']='{data}'; $conf['useacl']=1; $conf['baseurl']='{url}';"
    )
    # Visitors may read. Where they may write, a request for the form locks the page for others.
    (conf / "acl.auth.php").write_text("* @ALL 1\n")
    (conf / "users.auth.php").touch()
    preload = f"<?php define('DOKU_CONF', '{conf}/'); define('DOKU_MAIN_CONF', '{conf}/');\n"
    (root / "inc" / "preload.php").write_text(preload)
    names = [
        f"{article.title[0].lower()}:{re.sub(r'[^a-z0-9]+', '_', article.title.lower()).strip('_')}"
        for article in articles
    ]
    pages = []
    for is_newer in (False, True):
        for number, article in enumerate(articles):
            if is_newer and number % 5:
                continue
            links = "".join(f"  * [[{names[other]}]]\n" for other in article.linked)
            head = f"====== {article.title} ======"
            text = "\n\n".join([head, *_version(article, is_newer), links])
            pages.append((names[number], text))
    every = "".join(f"  * [[{name}]]\n" for name in names)
    _fill(
        folder,
        {"pages": [*pages, ("start", f"====== Manual ======\n\n{every}")]},
        f"""
        define('NOSESSION', 1);
        $_SERVER['HTTP_HOST'] = '{url.partition("//")[2]}';
        require '{root}/inc/init.php';
        foreach ($given['pages'] as $page) saveWikiText($page[0], $page[1], 'imported');
    """,
    )
    return root, {}


def _wordpress(
    articles: list[Article], folder: Path, url: str, stack: ExitStack
) -> tuple[Path, Mapping[str, str]]:
    root, tables, at = folder / "wordpress", folder / "tables", folder / "socket"
    shutil.copytree("/usr/share/wordpress", root, ignore_dangling_symlinks=True)
    user = ["--user=root"] if os.geteuid() == 0 else []
    making = ["mariadb-install-db", "--no-defaults", f"--datadir={tables}", *user]
    _run([*making, "--auth-root-authentication-method=normal"])
    command = ["/usr/sbin/mariadbd", "--no-defaults", f"--datadir={tables}", f"--socket={at}"]
    log = stack.enter_context((folder / "tables.log").open("wb"))
    server = subprocess.Popen([*command, "--skip-networking", *user], stdout=log, stderr=log)
    stack.callback(server.wait)
    stack.callback(server.terminate)
    asking = ["mariadb", "--no-defaults", f"--socket={at}", "--user=root", "-e"]
    _wait(lambda: _run([*asking, "CREATE DATABASE blog"]))
    (root / "wp-config.php").write_text(f"""<?php
        define('DB_NAME', 'blog'); define('DB_USER', 'root'); define('DB_PASSWORD', '');
        define('DB_HOST', 'localhost:{at}'); define('DB_CHARSET', 'utf8mb4');
        define('WP_HTTP_BLOCK_EXTERNAL', true); define('DISABLE_WP_CRON', true);
        foreach (['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'] as $name) {{
            define("{{$name}}_KEY", $name); define("{{$name}}_SALT", $name);
        }}
        $table_prefix = 'wp_';
        define('ABSPATH', '{root}/'); require ABSPATH . 'wp-settings.php';
    """)
    (root / "router.php").write_text(f"""<?php
        $path = '{root}' . rawurldecode(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH));
        if (is_file($path)) return false;
        $_SERVER['SCRIPT_NAME'] = '/index.php';
        require '{root}/index.php';
    """)
    posts = []
    for number, article in enumerate(articles):
        text = "".join(f"<p>{escape(paragraph)}</p>\n" for paragraph in article.paragraphs)
        # What a post is commented with is of another.
        others = articles[(number + 1) % len(articles)].paragraphs[: _COMMENTS * (number % 2)]
        kind = f"Letter {article.title[0]}"
        posts.append([article.title, text, f"2026-{number % 12 + 1:02}-01", kind, others])
    _fill(
        folder,
        {"posts": posts},
        f"""
        define('WP_INSTALLING', true);
        $_SERVER['HTTP_HOST'] = '{url.partition("//")[2]}';
        require '{root}/wp-load.php';
        require '{root}/wp-admin/includes/upgrade.php';
        function wp_mail() {{}}
        wp_install('Manual', 'admin', 'admin@example.com', true, '', 'a long pass phrase');
        update_option('siteurl', '{url}'); update_option('home', '{url}');
        update_option('thread_comments', 1);
        switch_theme('twentytwentyone');
        global $wp_rewrite;
        $wp_rewrite->set_permalink_structure('/%year%/%monthnum%/%postname%/');
        $wp_rewrite->flush_rules();
        foreach ($given['posts'] as [$title, $text, $day, $kind, $comments]) {{
            $kinds = [wp_create_category($kind)];
            $made = ['post_title' => $title, 'post_content' => $text, 'post_date' => $day,
                     'post_status' => 'publish', 'post_author' => 1, 'post_category' => $kinds];
            $post = wp_insert_post($made);
            foreach ($comments as $comment) wp_insert_comment(['comment_post_ID' => $post,
                'comment_content' => $comment, 'comment_author' => "Reader $post"]);
        }}
        wp_delete_post(1, true);
    """,
    )
    return root, {}


def _version(article: Article, is_newer: bool) -> list[str]:
    """Return the paragraphs of an article; the older version lacks the last."""
    return article.paragraphs[: None if is_newer or len(article.paragraphs) < 2 else -1]


def _fill(folder: Path, given: Mapping[str, Any], script: str) -> None:
    """Run a script of PHP that finds values as `$given`."""
    (folder / "given.json").write_text(json.dumps(given))
    path = folder / "fill.php"
    reading = f"json_decode(file_get_contents('{folder}/given.json'), true)"
    path.write_text(f"<?php $given = {reading};\n{script}")
    _php({}, "-d", "error_reporting=0", str(path))


def _php(variables: Mapping[str, str], *arguments: str) -> None:
    _run(["php", "-d", "memory_limit=-1", *arguments], {**os.environ, **variables})


def _run(command: list[str], variables: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(command[:5])}: {done.stdout[-1000:]}{done.stderr[-1000:]}")


def _wait(work: Callable[[], object]) -> None:
    """Try until it can be done."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        with suppress(OSError, URLError):
            work()
            return
        time.sleep(0.2)
    work()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


class _Program(NamedTuple):
    prepare: Callable[[list[Article], Path, str, ExitStack], tuple[Path, Mapping[str, str]]]
    """Returns the folder to serve, and variables of the server's environment."""
    packages: str
    """Of Debian."""
    needs: tuple[str, ...]


SOFTWARE = {
    "mediawiki": _Program(_mediawiki, "mediawiki php-sqlite3", ("/usr/share/mediawiki/index.php",)),
    "dokuwiki": _Program(_dokuwiki, "dokuwiki", ("/usr/share/dokuwiki/doku.php",)),
    "wordpress": _Program(
        _wordpress,
        "wordpress wordpress-theme-twentytwentyone php-mysql mariadb-server",
        ("/usr/share/wordpress/wp-content/themes/twentytwentyone", "/usr/sbin/mariadbd"),
    ),
}
