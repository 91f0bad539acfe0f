"""What an address says of TLS -> options for the client; what comes of a handshake -> what to do.

    ssl_... options  -> read alike by all versions of the library, files that are not there named
    a fault of TLS   -> which of the two sides refuses the other, and by which option that is mended

Whoever says nothing more than rediss:// gets certificates verified, and for the right host.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dedup_filter.errors import ConfigError

__all__ = ["tls_doubt", "tls_fault", "tls_options"]

_FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
_FALSE = ("0", "f", "false", "n", "no")
_FAULTS = {
    r"hostname mismatch|IP address mismatch|doesn't match": (
        "its certificate is for another host; give the address that it is for, or "
        "ssl_check_hostname=False in the location"
    ),
    r"certificate has expired|not yet valid": (
        "its certificate is out of date; renew it, or look at the clocks"
    ),
    r"CERTIFICATE_VERIFY_FAILED": (
        "its certificate is signed by nobody who is known here; name who signed it by "
        "ssl_ca_certs=FILE in the location"
    ),
    r"CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE|UNKNOWN_CA|BAD_CERTIFICATE|EOF": (
        "it does not accept the certificate of this client; name one that it does by "
        "ssl_certfile=FILE and ssl_keyfile=FILE in the location"
    ),
    r"WRONG_VERSION_NUMBER|RECORD_LAYER_FAILURE": (
        "it speaks no TLS at this port; take another port, or redis:// for rediss://"
    ),
}
"""What of the library's words tells a fault, and what to do about it."""


def tls_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with which the client uses TLS.

    Raises:
        ConfigError: a file is not there.
    """
    for name in _FILES:
        if name in given and not Path(given[name]).is_file():
            raise ConfigError(f"location: {name} must be a file; there is none at {given[name]}")
    # Versions of the library have other defaults, and some take the word False for true.
    checks = str(given.get("ssl_check_hostname", True)).lower() not in _FALSE
    is_verified = str(given.get("ssl_cert_reqs", "required")).lower() != "none"
    return {"ssl": True, "ssl_check_hostname": checks and is_verified}


def tls_fault(said: str) -> str | None:
    """Say what to do about a fault of TLS; None: it is none."""
    if not re.search(r"\bSSL\b|_ssl\.c|certificate", said):
        return None
    for words, advice in _FAULTS.items():
        if re.search(words, said, re.IGNORECASE):
            return f"no connection by TLS with the server: {advice}"
    return None


def tls_doubt(said: str) -> str:
    """Say what else a silence may mean where TLS is wanted, in words that follow what was said."""
    # A server without it waits for the end of what is no command.
    is_silence = "Timeout connecting" in said
    return "; if it is there, it may speak no TLS at this port" if is_silence else ""
