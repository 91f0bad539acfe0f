"""Indexes on servers that speak TLS: certificates that are verified, and what is said if not."""

import os
import re
import shutil
import subprocess

import pytest

from dedup_filter import ConfigError, NearDuplicateFilter
from dedup_filter.errors import StoreError

CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]


def certificate(folder, name, authority=None, subject="IP:127.0.0.1"):
    """Make a certificate of an authority, or one of its own, and its key."""
    key, signed = folder / f"{name}key.pem", folder / f"{name}cert.pem"
    command = ["openssl", "req", "-x509", *CURVE, "-keyout", key, "-out", signed]
    command += ["-subj", f"/CN={name or 'server'}"]
    if authority:
        by = ["-CA", folder / f"{authority}cert.pem", "-CAkey", folder / f"{authority}key.pem"]
        names = [f"subjectAltName={subject}", "basicConstraints=critical,CA:FALSE"]
        command += [*by, "-addext", names[0], "-addext", names[1]]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A folder with two authorities, and what the first one has signed."""
    if shutil.which("openssl") is None and os.environ.get("CI", "false") in ("", "0", "false"):
        pytest.skip("openssl is not on PATH (on Debian: apt-get install openssl)")
    folder = tmp_path_factory.mktemp("certificates")
    certificate(folder, "ca-")
    certificate(folder, "other-")
    elsewhere = folder / "elsewhere"
    shutil.copytree(folder, elsewhere)
    certificate(folder, "", "ca-")
    certificate(folder, "mine-", "ca-")
    certificate(folder, "stranger-", "other-")
    certificate(elsewhere, "", "ca-", "DNS:db.example")
    return folder


@pytest.fixture
def start_tls(start_redis, certificates):
    """Start a server; return its address, to be followed by options."""

    def start(folder=certificates, *, asks="no", password=None):
        server = start_redis(tls=folder, settings={"tls-auth-clients": asks}, password=password)
        login = f":{password}@" if password else ""
        return f"rediss://{login}127.0.0.1:{server.tls_port}?"

    return start


def is_kept_once(url):
    with NearDuplicateFilter.open(url) as one, NearDuplicateFilter.open(url) as other:
        text = "the ferry of which there are two copies is kept once in the harbour " * 5
        assert one.see("http://a.example/", text=text).outcome == "new"
        assert other.see("http://b.example/", text=text).outcome == "exact"
        return one.forget("http://a.example/") == 1


def refusal(url):
    with pytest.raises(StoreError) as refused:
        NearDuplicateFilter.open(url)
    assert type(refused.value) is StoreError
    said = str(refused.value)
    assert "\n" not in said
    assert not re.search(r"_ssl\.c|\[SSL", said), "raw words of the library"
    return said


def test_an_index_behind_tls(start_tls, certificates):
    url = start_tls(password="pass")
    assert is_kept_once(f"{url}ssl_ca_certs={certificates}/ca-cert.pem")
    assert is_kept_once(f"{url}ssl_cert_reqs=none")
    for of_another in ("", f"ssl_ca_certs={certificates}/other-cert.pem"):
        said = refusal(url + of_another)
        where = f"the shared index {url}name=pages: ".replace("?", "/0?").replace(":pass@", "")
        assert said.startswith(
            f"{where}no connection by TLS with the server: certificate verify failed"
        )
        options = "ssl_ca_certs, ssl_check_hostname, ssl_certfile and ssl_keyfile"
        assert f"is set by {options} in the" in said


@pytest.mark.slow
def test_an_index_on_a_cluster_behind_tls(start_redis_cluster, certificates):
    cluster = start_redis_cluster(tls=certificates)
    nodes = ",".join(f"127.0.0.1:{node.tls_port}" for node in cluster.nodes)
    url = f"rediss+cluster://{nodes}?ssl_ca_certs={certificates}"
    assert is_kept_once(f"{url}/ca-cert.pem")
    assert "certificate verify failed" in refusal(f"{url}/other-cert.pem")


def test_a_certificate_for_another_host_is_refused_unless_so_wished(start_tls, certificates):
    url = start_tls(certificates / "elsewhere") + f"ssl_ca_certs={certificates}/ca-cert.pem"
    assert "certificate is not valid for '127.0.0.1'" in refusal(url)
    assert is_kept_once(f"{url}&ssl_check_hostname=False")


def test_a_server_that_asks_for_certificates(start_tls, certificates):
    url = start_tls(asks="yes") + f"ssl_ca_certs={certificates}/ca-cert.pem"
    mine, strangers = (
        f"&ssl_certfile={certificates}/{whose}-cert.pem&ssl_keyfile={certificates}/{whose}-key.pem"
        for whose in ("mine", "stranger")
    )
    assert is_kept_once(url + mine)
    for shown in ("", strangers):
        assert "ssl_certfile" in refusal(url + shown)


@pytest.mark.parametrize("option", ["ssl_ca_certs", "ssl_certfile", "ssl_keyfile"])
def test_a_file_that_is_not_there_is_named(tmp_path, option):
    with pytest.raises(ConfigError) as refused:
        NearDuplicateFilter.open(f"rediss://h?{option}={tmp_path}/no.pem")
    said = f"location: {option} must be a file; there is none at {tmp_path}/no.pem"
    assert str(refused.value) == said
