"""The command line, as a user has it: processes, pipes, exit codes, lines."""

import os
import re
import shutil
import signal
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from command_line import COMMAND, lines, refused, run, run_process, start

from dedup_filter import NearDuplicateFilter, __version__
from dedup_filter.hamming.planner import plan

BAD_LINES = "abc|-1|18446744073709551616|0x|0x1" + "0" * 16 + "|1 2|1_000|1.5|٣|" + "1" * 5000


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "stored.txt"
    path.write_text("8\n11\n4096\n0xffffffffffffffff\n")
    return str(path)


@pytest.mark.parametrize(
    ("arguments", "text", "found"),
    [
        ("pairs --max-distance 3", "8\n11\n11\n4096\n", [[8, 11], [8, 4096]]),
        ("pairs --json", "8\n4096\n", [{"pair": [8, 4096], "distance": 2}]),
        ("pairs --max-distance 2", " 8 \r\n\r\n\t11\n\n0x0F", [[8, 11], [11, 15]]),
        ("pairs --max-distance 3", f"000\n{2**64 - 1}\n{2**64 - 2}\n", [[2**64 - 2, 2**64 - 1]]),
        ("pairs --hex", "0xFF\n0Xfe\n255\n", [["0xfe", "0xff"]]),
        ("clusters --hex", "0xff\n254\n", [["0xff", "0xfe"]]),
        ("clusters --max-distance 2", "11\n77777\n8\n12288\n8\n0\n", [[11, 8, 12288, 0]]),
        (
            "clusters --json",
            "11\n8\n",
            [{"representative": 11, "size": 2, "spread": 2, "members": [11, 8]}],
        ),
        ("near STORED --max-distance 3", "15\n1048575\n9\n", [[11, 8], [], [8, 11, 4096]]),
        ("near STORED STORED --max-distance 0", "", [[8], [11], [4096], [2**64 - 1]]),
        (
            "near STORED --json --max-distance 1",
            "15\n",
            [{"fingerprint": 15, "near": [{"fingerprint": 11, "distance": 1}]}],
        ),
        ("near EMPTY", "1\n2\n", [[], []]),
        ("pairs", "\n\n", []),
        ("clusters", "", []),
    ],
)
def test_what_is_read_and_written(stored, tmp_path, arguments, text, found):
    (tmp_path / "empty").touch()
    paths = {"STORED": stored, "EMPTY": str(tmp_path / "empty")}
    assert lines("bits", *(paths.get(each, each) for each in arguments.split()), text=text) == found


@pytest.mark.parametrize("bad", BAD_LINES.split("|"))
def test_a_bad_line_is_named_and_nothing_is_written(bad):
    err = refused("bits", "pairs", text=f"8\n11\n\n{bad}\n8\n")
    assert "standard input, line 4: " in err
    assert len(err) < 250


def test_a_bad_line_in_a_file_is_named_with_the_file(stored, tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_text("8\nnine\n")
    assert run("bits", "near", str(bad), stored)[:2] == (2, "")
    code, out, err = run("bits", "near", stored, str(bad), "--max-distance", "3")
    assert (code, out) == (2, "[8, 11, 4096]\n")
    assert f"{str(bad)!r}, line 2: 'nine'" in err


def test_control_characters_do_not_reach_the_terminal(tmp_path):
    for arguments, text in (
        (["bits", "pairs"], "\x1b[31mred\x07\n"),
        (["bits", "pairs", str(tmp_path / "\x1b[31mnone")], ""),
        (["\x1b[31mnone"], ""),
        (["bits", "pairs", "--\x1b[31mnone"], ""),
        (["bits", "plan", "--pages", "\x1b[31m"], ""),
    ):
        code, out, err = run(*arguments, text=text)
        assert (code, out) == (2, "")
        assert "\\x1b[31m" in err
        assert not re.search(r"[\x00-\x09\x0b-\x1f]", err)


def test_a_file_that_is_not_there_or_a_folder_is_named(tmp_path):
    for command, path in (("pairs", tmp_path / "none"), ("clusters", tmp_path), ("near", tmp_path)):
        code, out, err = run("bits", command, str(path))
        assert (code, out) == (2, "")
        assert f"{str(path)!r}: " in err


@pytest.mark.parametrize(
    "arguments",
    [
        *("nothing", "bits near", "bits near - -", "bits pairs -d 3", "scan x --colour red"),
        *("bits pairs --max-distance 13", "bits pairs --max-distance x"),
        *("index nothing", "index stats", "index forget somewhere"),
        *("bits plan", *(f"bits plan --pages {each}" for each in ("0", "1.5", "nan", "inf"))),
    ],
)
def test_wrong_arguments_end_with_2_and_a_word_why(arguments):
    code, out, err = run(*arguments.split())
    assert (code, out) == (2, "")
    assert "Error: " in err
    assert "Traceback" not in err


@pytest.mark.parametrize("group", [[], ["index"], ["bits"]])
def test_a_group_without_a_command_lists_its_commands_as_its_help_does(group):
    code, out, err = run(*group)
    assert (code, out) == (2, "")
    assert err == run(*group, "--help")[1]
    assert len(commands_in(err)) >= 4


def test_a_process_says_what_is_said_in_that_of_the_tests():
    """By the script of the installed package, if it is one."""
    script = shutil.which("dedup-filter", path=Path(sys.executable).parent)
    command = [script] if script else COMMAND
    said = run_process("bits", "pairs", text="8\nnine\n", command=command)
    assert said[0] == 2
    assert said == run("bits", "pairs", text="8\nnine\n")


@pytest.mark.slow
def test_a_reader_that_goes_away_ends_it_quietly():
    many = "".join(f"{1 << a | 1 << b}\n" for a in range(64) for b in range(a))
    with start("bits", "pairs", "--max-distance", "4") as process:
        process.stdin.write(many.encode())
        process.stdin.close()
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


def test_each_line_is_answered_at_once_and_an_interrupt_ends_it_quietly(stored):
    with start("bits", "near", stored, "--max-distance", "3") as process:
        for asked, answer in ((b"15\n", b"[11, 8]\n"), (b"4096\n", b"[4096, 8]\n")):
            process.stdin.write(asked)
            process.stdin.flush()
            assert process.stdout.readline() == answer
        process.send_signal(signal.SIGINT)
        assert process.stderr.read().strip() == b""
        assert process.wait() == 130


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_a_failure():
    command = ["sh", "-c", '"$0" -m dedup_filter bits pairs > /dev/full', sys.executable]
    code, _, err = run_process(text="1\n3\n", command=command)
    assert (code, err[:7]) == (1, "Error: ")


def test_a_plan_lists_the_choices_best_first():
    found = lines("bits", "plan", "--pages", "1e7", "--max-distance", "3", "--json")
    assert [one["layout"] for one in found if one["chosen"]] == [repr(plan(3, 10**7))]
    times = [one["page_us"] for one in found if not one["from_literature"]]
    assert times == sorted(times)
    assert {16, 20} <= {one["tables"] for one in found if one["from_literature"]}


def test_a_plan_for_people_marks_the_choice_and_has_the_chance_of_a_collision():
    code, out, err = run("bits", "plan", "--pages", "1e9", "--max-distance", "3")
    assert (code, err) == (0, "")
    for part in (
        "1,000,000,000 pages, at most 3 bits apart.",
        "near to each by chance: 2.4e-06",
        "all compared",
    ):
        assert part in out
    assert [line.split("  ")[0] for line in out.splitlines() if line.endswith(" *")] == [
        repr(plan(3, 10**9))
    ]
    assert max(map(len, out.splitlines())) <= 120
    assert "1,000,000 pages, at most 12 bits apart." in run("bits", "plan", "--pages", "1e6")[1]


def commands_in(text):
    """Names of the commands that a help lists."""
    return re.findall(r"^  ([a-z]+)  ", text.partition("Commands:")[2], re.MULTILINE)


def test_help_lists_the_commands_and_each_has_help_and_json():
    assert run("--version") == (0, f"dedup-filter, version {__version__}\n", "")
    code, out, _ = run("--help")
    assert (code, "Exit codes:" in out) == (0, True)
    assert "..." not in out.partition("Commands:")[2], "no summary is cut off"
    commands = commands_in(out)
    assert commands[:5] == ["scan", "report", "explain", "compare", "find"]
    groups = {name: commands_in(run(name, "--help")[1]) for name in ("index", "bits")}
    assert groups["bits"] == ["clusters", "fingerprint", "near", "pairs", "plan"]
    named = [[name] for name in commands if name not in groups]
    for command in named + [[group, name] for group, names in groups.items() for name in names]:
        code, out, _ = run(*command, "--help")
        assert code == 0
        assert command[0] in ("see", "serve") or "--json" in out
        assert len(out.splitlines()) <= 40
        assert len(out.splitlines()[2]) < 80


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        (["scn"], "did you mean scan?"),
        (["bits", "pears"], "did you mean pairs?"),
        (["find", "--max-distanc", "3"], "--max-distance"),
        (["nothing"], "there are scan, report,"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(wrong, meant):
    code, _, err = run(*wrong)
    assert (code, meant in err) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["near", "pairs", "clusters"])
def test_the_examples_in_the_help_print_what_they_say(command, tmp_path):
    shown = [line.strip() for line in run("bits", command, "--help")[1].splitlines()]
    script = [line[2:] for line in shown if line.startswith("$ ")]
    printed = [line for line in shown if line[:1] in ("[", "{")]
    assert script
    me = f'dedup_filter() {{ "{sys.executable}" -m dedup_filter "$@"; }}\n'
    command = ["sh", "-c", me + "\n".join(script).replace("dedup-filter ", "dedup_filter ")]
    _, out, err = run_process(command=command, cwd=tmp_path)
    assert (out.splitlines(), err) == (printed, "")


COMMANDS = commands_in(run("--help")[1])


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("dedup-filter ", [f"plain,{each}" for each in COMMANDS]),
        ("dedup-filter bits p", ["plain,pairs", "plain,plan"]),
        ("dedup-filter index e", ["plain,export"]),
        ("dedup-filter index stats --ch", ["plain,--check"]),
        ("dedup-filter index stats new", ["dir,new"]),
        ("dedup-filter index import news_index fe", ["file,fe"]),
        ("dedup-filter bits near st", ["file,st"]),
    ],
)
def test_a_shell_completes_commands_options_folders_and_files(line, found):
    words = line.split(" ")
    asked = {"_DEDUP_FILTER_COMPLETE": "bash_complete", "COMP_WORDS": line}
    with patch.dict(os.environ, asked, COMP_CWORD=str(len(words) - 1)):
        code, out, err = run(*words[1:])
    assert (code, out.splitlines(), err) == (0, found, "")


@pytest.mark.slow
def test_the_documented_line_makes_bash_complete(tmp_path):
    """Bash itself, with a script on PATH, as the documentation sets it up."""
    document = Path(__file__).parents[1] / "docs" / "command-line.md"
    [set_up] = re.findall(
        r"eval .*_DEDUP_FILTER_COMPLETE=bash_source.*", document.read_text("utf-8")
    )
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash on this system")
    script = tmp_path / "dedup-filter"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dedup_filter "$@"\n')
    script.chmod(0o755)
    asked = (
        f'PATH="{tmp_path}:$PATH"; {set_up}\n'
        "complete -p dedup-filter; COMP_WORDS=(dedup-filter index st); COMP_CWORD=2\n"
        '_dedup_filter_completion dedup-filter; echo "${COMPREPLY[@]}"'
    )
    code, out, err = run_process(command=[bash, "-c", asked])
    assert (code, err) == (0, "")
    assert out.splitlines()[0].endswith("-F _dedup_filter_completion dedup-filter")
    assert out.splitlines()[1:] == ["stats"]


def test_what_needs_no_command_loads_no_filter():
    command = [sys.executable, "-X", "importtime", "-m", "dedup_filter"]
    code, _, err = run_process("--version", command=command)
    loaded = set(re.findall(r"\| +(\w+)", err))
    assert (code, "click" in loaded) == (0, True)
    assert not {"numpy", "lxml", "redis", "jinja2", "urllib3"} & loaded


def test_commands_load_neither_scrapy_nor_a_dictionary(tmp_path):
    NearDuplicateFilter.open(tmp_path / "index").close()
    command = [sys.executable, "-X", "importtime", "-m", "dedup_filter"]
    code, _, err = run_process("index", "stats", str(tmp_path / "index"), command=command)
    loaded = set(re.findall(r"\| +(\w+)", err))
    assert (code, "sqlite3" in loaded) == (0, True)
    assert not {"scrapy", "itemadapter", "twisted", "jieba"} & loaded
