"""TLS, mutual TLS, tokens, metadata and trace context."""

from __future__ import annotations

import datetime
import ipaddress
import pathlib
import subprocess
from typing import NamedTuple

import grpc
import pytest
from conftest import Server
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from doubles import refuse, serve, unchanged
from opentelemetry.sdk.trace import TracerProvider

import elbowroom
from elbowroom import AsyncClient, Client

HELLO = [{"role": "user", "content": "hello"}]


class Certificate(NamedTuple):
    certificate: bytes
    key: bytes


def make(
    name: str, issuer: tuple[x509.Certificate, ec.EllipticCurvePrivateKey] | None = None
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer[0].subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
    )
    if issuer:
        names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(issuer[1] if issuer else key, hashes.SHA256()), key


def pem(made: tuple[x509.Certificate, ec.EllipticCurvePrivateKey]) -> Certificate:
    return Certificate(
        made[0].public_bytes(serialization.Encoding.PEM),
        made[1].private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
    )


@pytest.fixture(scope="module")
def authority() -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    return make("test authority")


def server_credentials(authority: tuple[x509.Certificate, ec.EllipticCurvePrivateKey], *, mutual: bool) -> grpc.ServerCredentials:
    certificate, key = pem(make("localhost", authority))
    return grpc.ssl_server_credentials(
        [(key, certificate)],
        root_certificates=pem(authority).certificate if mutual else None,
        require_client_auth=mutual,
    )


async def test_tls_with_an_authority_of_ones_own(
    authority: tuple[x509.Certificate, ec.EllipticCurvePrivateKey], tmp_path: pathlib.Path
) -> None:
    roots = pem(authority).certificate
    file = tmp_path / "roots.pem"
    file.write_bytes(roots)
    with serve(unchanged, credentials=server_credentials(authority, mutual=False)) as double:
        for tls in (roots, str(file), file):
            with Client(double.address, tls=tls) as client:
                assert client.compress(HELLO, format="openai_chat").body == HELLO
        async with AsyncClient(double.address, tls=roots) as other:
            assert (await other.compress(HELLO, format="openai_chat")).body == HELLO


def test_an_unknown_authority_is_not_trusted(authority: tuple[x509.Certificate, ec.EllipticCurvePrivateKey]) -> None:
    with serve(unchanged, credentials=server_credentials(authority, mutual=False)) as double:
        for tls in (True, pem(make("another authority")).certificate, False):
            with Client(double.address, tls=tls) as client, pytest.raises(elbowroom.Unavailable):
                client.compress(HELLO, format="openai_chat")
        assert not double.requests


async def test_mutual_tls(authority: tuple[x509.Certificate, ec.EllipticCurvePrivateKey]) -> None:
    roots = pem(authority).certificate
    own = pem(make("agent", authority))
    with serve(unchanged, credentials=server_credentials(authority, mutual=True)) as double:
        with Client(double.address, tls=roots, client_cert=(own.certificate, own.key)) as client:
            assert client.compress(HELLO, format="openai_chat").body == HELLO
        async with AsyncClient(double.address, tls=roots, client_cert=(own.certificate, own.key)) as other:
            assert (await other.compress(HELLO, format="openai_chat")).body == HELLO
        with Client(double.address, tls=roots) as client, pytest.raises(elbowroom.Unavailable):
            client.compress(HELLO, format="openai_chat")
        assert len(double.requests) == 2


async def test_tokens_go_with_every_call() -> None:
    tokens = iter(["one", "two", "three"])
    with serve(unchanged) as double:
        with Client(double.address, token="secret") as client:
            client.compress(HELLO, format="openai_chat")
        async with AsyncClient(double.address, token=lambda: next(tokens)) as other:
            await other.compress(HELLO, format="openai_chat")
            await other.prepare(HELLO, format="openai_chat")
    sent = [metadata["authorization"] for metadata in double.metadata]
    assert sent == ["Bearer secret", "Bearer one", "Bearer two"]


ELSEWHERE = [
    "192.0.2.2:50469",
    "elbowroom.example:50051",
    "dns:///elbowroom.example:50051",
    "dns://127.0.0.1/elbowroom.example",
    "xds:///localhost",
    "ipv4:127.0.0.1:1,192.0.2.2:1",
    "localhost.example:1",
    "localhost@192.0.2.2:1",
    "127.0.0.1.example:1",
    "[2001:db8::1]:1",
    "0.0.0.0:1",
    "",
]
HERE = [
    "localhost:1",
    "localhost",
    "127.0.0.1:1",
    "127.9.9.9:1",
    "[::1]:1",
    "::1",
    "dns:///localhost:1",
    "ipv4:127.0.0.1:1,127.0.0.2:1",
    "ipv6:[::1]:1",
    "unix:/run/elbowroom.sock",
    "unix:///run/elbowroom.sock",
    "unix-abstract:elbowroom",
]


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize("target", ELSEWHERE)
def test_a_token_does_not_travel_in_the_open(kind: type[Client] | type[AsyncClient], target: str) -> None:
    for token in ("secret", lambda: "secret"):
        with pytest.raises(elbowroom.InvalidRequest, match="insecure_token=True") as caught:
            kind(target, token=token)
        assert caught.value.field == "token"
        assert "secret" not in str(caught.value)
    kind(target, token="secret", tls=True)
    kind(target, token="secret", insecure_token=True)
    kind(target)


@pytest.mark.parametrize("target", HERE)
def test_a_token_for_this_machine_needs_no_tls(target: str) -> None:
    Client(target, token="secret").close()
    AsyncClient(target, token="secret")


@pytest.mark.parametrize("token", ["secret\n", "sec\nret", "secret\r", " ", "s\u00e9cret", "sec\0ret"])
async def test_a_token_that_no_header_can_carry_is_refused(token: str) -> None:
    for kind in (Client, AsyncClient):
        with pytest.raises(elbowroom.InvalidRequest, match="line break") as caught:
            kind(token=token)
        assert caught.value.field == "token"
    with serve(unchanged) as double:
        with Client(double.address, token=lambda: token) as client, pytest.raises(elbowroom.InvalidRequest, match="line break"):
            client.compress(HELLO, format="openai_chat")
        async with AsyncClient(double.address, token=lambda: token) as other:
            with pytest.raises(elbowroom.InvalidRequest, match="line break"):
                await other.compress(HELLO, format="openai_chat")
        assert not double.requests


async def test_an_empty_token_is_none() -> None:
    with serve(unchanged) as double:
        for token in ("", lambda: ""):
            with Client(double.address, token=token) as client:
                client.compress(HELLO, format="openai_chat")
            async with AsyncClient(double.address, token=token) as other:
                await other.compress(HELLO, format="openai_chat")
    assert [metadata.get("authorization") for metadata in double.metadata] == [None] * 4
    Client("192.0.2.2:1", token="").close()  # nothing would travel in the open


def test_a_missing_token_is_named() -> None:
    refusal = refuse(grpc.StatusCode.UNAUTHENTICATED, "no token")
    names_it = pytest.raises(elbowroom.Unauthenticated, match="token=")
    with serve(refusal) as double, Client(double.address) as client, names_it:
        client.compress(HELLO, format="openai_chat")


def test_the_service_itself_takes_tokens_and_certificates(
    authority: tuple[x509.Certificate, ec.EllipticCurvePrivateKey], tmp_path: pathlib.Path, binary: str
) -> None:
    own, roots, agent = pem(make("localhost", authority)), pem(authority), pem(make("team-b", authority))
    made = subprocess.run([binary, "token", "team-a"], capture_output=True, text=True, check=True).stdout
    token = next(word for word in made.split() if word.startswith("elbow_"))
    files = {"tls.crt": own.certificate, "tls.key": own.key, "ca.crt": roots.certificate}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "tokens").write_text(made.strip().split("\n")[-1].strip() + "\n")
    (tmp_path / "config.yaml").write_text(
        f"tls: {{cert_file: {tmp_path}/tls.crt, key_file: {tmp_path}/tls.key,"
        f" client_ca_file: {tmp_path}/ca.crt, client_auth: optional}}\n"
        f"auth: {{tokens_file: {tmp_path}/tokens, certificates: true}}\n"
    )
    server = Server(binary, "127.0.0.1:0", "--config", str(tmp_path / "config.yaml"))
    try:
        with Client(server.address, tls=roots.certificate, token=token) as client:
            assert client.compress(HELLO, format="openai_chat").body == HELLO
        with Client(server.address, tls=roots.certificate, client_cert=(agent.certificate, agent.key)) as client:
            assert client.compress(HELLO, format="openai_chat").body == HELLO
        for wrong in (None, token + "x"):
            refused = pytest.raises(elbowroom.Unauthenticated)
            with Client(server.address, tls=roots.certificate, token=wrong) as client, refused:
                client.compress(HELLO, format="openai_chat")
    finally:
        server.stop()


def test_metadata_of_the_client_and_of_the_call_are_sent() -> None:
    with serve(unchanged) as double, Client(double.address, metadata={"X-Team": "a"}) as client:
        client.compress(HELLO, format="openai_chat", metadata=[("x-turn", "7")])
    assert double.metadata[0]["x-team"] == "a"
    assert double.metadata[0]["x-turn"] == "7"


async def test_the_current_trace_is_passed_on() -> None:
    tracer = TracerProvider().get_tracer("test")
    with serve(unchanged) as double:
        with Client(double.address) as client, tracer.start_as_current_span("turn") as span:
            client.compress(HELLO, format="openai_chat")
        async with AsyncClient(double.address) as other:
            with tracer.start_as_current_span("turn") as other_span:
                await other.compress(HELLO, format="openai_chat")
    for current, metadata in zip((span, other_span), double.metadata, strict=True):
        context = current.get_span_context()
        assert metadata["traceparent"].startswith(f"00-{context.trace_id:032x}-{context.span_id:016x}-")


def test_a_trace_of_the_caller_is_left_alone() -> None:
    own = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    with serve(unchanged) as double, Client(double.address) as client:
        with TracerProvider().get_tracer("test").start_as_current_span("turn"):
            client.compress(HELLO, format="openai_chat", metadata={"traceparent": own, "tracestate": "a=b"})
        client.compress(HELLO, format="openai_chat")
    assert (double.metadata[0]["traceparent"], double.metadata[0]["tracestate"]) == (own, "a=b")
    assert "traceparent" not in double.metadata[1]


async def test_an_asyncio_client_can_be_opened_again() -> None:
    with serve(unchanged) as double:
        client = AsyncClient(double.address)
        await client.close()
        await client.compress(HELLO, format="openai_chat")
        await client.close()
        await client.compress(HELLO, format="openai_chat")
        await client.close()
    assert len(double.requests) == 2
