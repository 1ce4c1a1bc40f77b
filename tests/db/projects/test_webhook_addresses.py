"""Which addresses webhooks may have."""

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allpairs.db.errors import InputError
from allpairs.db.projects.webhook_addresses import VARIABLE, allowed_networks, checked_url, is_allowed_address
from tests.helpers.machine import examples

PUBLIC = ("8.8.8.8", "1.1.1.1", "172.32.0.1", "192.169.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808")
PRIVATE = (
    "127.0.0.1", "127.8.9.10", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
    "100.64.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "203.0.113.5", "224.0.0.1", "239.255.255.250", "240.0.0.1",
    "255.255.255.255", "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12:3456::1", "fec0::1", "ff02::1",
    "ff0e::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "2001:db8::1",
    "2002:7f00:1::", "2002:a00:1::1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1",
)  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    assert is_allowed_address(address, [])


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_not(address: str) -> None:
    assert not is_allowed_address(address, [])


@settings(max_examples=examples(200))
@given(st.ip_addresses(v=4))
def test_an_ipv6_address_that_stands_for_ipv4_is_treated_like_it(address: IPv4Address) -> None:
    number = int(address)
    mapped, translated, tunnelled = (0xFFFF << 32) | number, (0x64FF9B << 96) | number, (0x2002 << 112) | (number << 80)
    allowed = is_allowed_address(str(address), [])
    assert is_allowed_address(str(IPv6Address(mapped)), []) == allowed
    assert is_allowed_address(str(IPv6Address(translated)), []) == allowed
    assert allowed or not is_allowed_address(str(IPv6Address(tunnelled)), [])


@settings(max_examples=examples(200))
@given(st.ip_addresses())
def test_nothing_that_python_calls_private_is_allowed(address: IPv4Address | IPv6Address) -> None:
    stands_for_ipv4 = isinstance(address, IPv6Address) and address.ipv4_mapped
    if not stands_for_ipv4 and (address.is_private or address.is_multicast or address.is_link_local):
        assert not is_allowed_address(str(address), [])


def test_an_operator_allows_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, " 10.1.0.0/16, ::1 ,")
    networks = allowed_networks()
    assert (
        is_allowed_address("10.1.2.3", networks)
        and is_allowed_address("::1", networks)
        and is_allowed_address("::ffff:10.1.2.3", networks)
    )
    assert not is_allowed_address("10.2.0.1", networks) and not is_allowed_address("127.0.0.1", networks)
    assert checked_url("http://[::1]:8080/x", networks) == "http://[::1]:8080/x"


@pytest.mark.parametrize("value", ["10.1.0.0/33", "everything", "10.1.2.3/16"])
def test_a_wrong_network_is_named(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(InputError, match=VARIABLE):
        allowed_networks()


@pytest.mark.parametrize(
    "url",
    [
        "", "example.org", "ftp://example.org", "file:///etc/passwd", "https://", "https://me:secret@example.org/",
        "https://me@example.org/", "https://example.org/#part", "https://example.org/a b", "https://exa\nmple.org",
        "https://example.org:99999/", "https://example.org:x/", "https://[::1/", "https://bücher.example/",
        "http://localhost:8501/", "http://LOCALHOST./", "http://a.localhost/", "http://127.0.0.1/", "http://[::1]/",
        "http://169.254.169.254/latest", "http://[::ffff:10.0.0.1]/", "https://example.org/" + "x" * 2000,
    ],
)  # fmt: skip
def test_other_addresses_are_refused_when_they_are_entered(url: str) -> None:
    with pytest.raises(InputError):
        checked_url(url, [])


def test_usual_addresses_are_taken() -> None:
    for url in ("https://example.org/hook?key=1", "http://example.org:8080", "https://8.8.8.8/x"):
        assert checked_url(f" {url} ", []) == url
