"""Indexes on servers that speak TLS: certificates that are verified, and what is said if not."""

import os
import re
import shutil
import subprocess

import pytest

from dedup_filter import ConfigError, NearDuplicateFilter
from dedup_filter.errors import StoreError

CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]


def openssl(*command):
    subprocess.run(["openssl", *map(str, command)], check=True, capture_output=True)


def certificate(folder, name, authority, subject="IP:127.0.0.1"):
    """Make a key, and a certificate that an authority of the folder has signed."""
    key, request, signed, names = (
        folder / f"{name}{end}" for end in ("key.pem", ".csr", "cert.pem", ".ext")
    )
    openssl("req", *CURVE, "-keyout", key, "-out", request, "-subj", f"/CN={name or 'server'}")
    names.write_text(f"subjectAltName={subject}\n")
    by = ["-CA", folder / f"{authority}.pem", "-CAkey", folder / f"{authority}-key.pem"]
    openssl("x509", "-req", "-in", request, *by, "-out", signed, "-days", "2", "-extfile", names)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A folder with two authorities, and what the first one has signed."""
    if shutil.which("openssl") is None and os.environ.get("CI", "false") in ("", "0", "false"):
        pytest.skip("openssl is not on PATH (on Debian: apt-get install openssl)")
    folder = tmp_path_factory.mktemp("certificates")
    for name in ("ca", "other"):
        key, made = folder / f"{name}-key.pem", folder / f"{name}.pem"
        openssl("req", "-x509", *CURVE, "-keyout", key, "-out", made, "-subj", f"/CN={name}")
    certificate(folder, "", "ca")
    certificate(folder, "mine-", "ca")
    certificate(folder, "stranger-", "other")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    for name in ("ca.pem", "ca-key.pem"):
        shutil.copy(folder / name, elsewhere)
    certificate(elsewhere, "", "ca", "DNS:db.example")
    return folder


@pytest.fixture
def start_tls(start_redis, certificates):
    """Start a server; return its address, to be followed by options."""

    def start(folder=certificates, *, asks="no", password=None):
        settings = {"tls-auth-clients": asks}
        server = start_redis(tls=folder, settings=settings, password=password)
        login = f":{password}@" if password else ""
        return f"rediss://{login}127.0.0.1:{server.tls_port}?"

    return start


def is_kept_once(url):
    with NearDuplicateFilter.open(url) as one, NearDuplicateFilter.open(url) as other:
        text = "the page of which there are two is kept once in the end " * 5
        first = one.see("http://a.example/", text=text).outcome
        return first, other.see("http://b.example/", text=text).outcome


def refusal(url, kind):
    with pytest.raises(kind) as refused:
        NearDuplicateFilter.open(url)
    assert type(refused.value) is kind
    said = str(refused.value)
    assert "\n" not in said
    assert not re.search(r"_ssl\.c|\[SSL", said), "raw words of the library"
    return said


@pytest.mark.parametrize("password", [None, "pass"])
def test_an_index_behind_tls(start_tls, certificates, password):
    url = start_tls(password=password) + f"ssl_ca_certs={certificates / 'ca.pem'}"
    assert is_kept_once(url) == ("new", "exact")


def test_an_index_on_a_cluster_behind_tls(start_redis_cluster, certificates):
    settings = {"tls-auth-clients": "no"}
    cluster = start_redis_cluster(tls=certificates, settings=settings)
    nodes = ",".join(f"127.0.0.1:{node.tls_port}" for node in cluster.nodes)
    url = f"rediss+cluster://{nodes}?ssl_ca_certs="
    assert is_kept_once(url + str(certificates / "ca.pem")) == ("new", "exact")
    said = refusal(url + str(certificates / "other.pem"), StoreError)
    assert "certificate verify failed" in said


@pytest.mark.parametrize("authority", ["", "ssl_ca_certs=other.pem"])
def test_a_certificate_of_an_unknown_authority_is_refused(start_tls, certificates, authority):
    url = start_tls()
    said = refusal(url + authority.replace("=", f"={certificates}/"), StoreError)
    where = f"the shared index {url}name=pages: ".replace("?", "/0?")
    assert said.startswith(
        f"{where}no connection by TLS with the server: certificate verify failed"
    )
    assert "is set by ssl_ca_certs, ssl_check_hostname, ssl_certfile and ssl_keyfile in the" in said


def test_a_certificate_for_another_host_is_refused_unless_so_wished(start_tls, certificates):
    url = start_tls(certificates / "elsewhere") + f"ssl_ca_certs={certificates / 'ca.pem'}"
    assert "certificate is not valid for '127.0.0.1'" in refusal(url, StoreError)
    assert is_kept_once(f"{url}&ssl_check_hostname=False") == ("new", "exact")


def test_any_certificate_will_do_if_so_wished(start_tls, certificates):
    assert is_kept_once(start_tls() + "ssl_cert_reqs=none") == ("new", "exact")


def test_a_server_that_asks_for_certificates(start_tls, certificates):
    url = start_tls(asks="yes") + f"ssl_ca_certs={certificates / 'ca.pem'}"
    mine, strangers = (
        f"&ssl_certfile={certificates / f'{whose}-cert.pem'}"
        f"&ssl_keyfile={certificates / f'{whose}-key.pem'}"
        for whose in ("mine", "stranger")
    )
    assert is_kept_once(url + mine) == ("new", "exact")
    for shown in ("", strangers):
        assert "ssl_certfile" in refusal(url + shown, StoreError)


@pytest.mark.parametrize("option", ["ssl_ca_certs", "ssl_certfile", "ssl_keyfile"])
def test_a_file_that_is_not_there_is_named(tmp_path, option):
    said = refusal(f"rediss://h?{option}={tmp_path}/no.pem", ConfigError)
    assert said == f"location: {option} must be a file; there is none at {tmp_path}/no.pem"
