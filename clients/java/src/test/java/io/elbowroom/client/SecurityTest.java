package io.elbowroom.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.elbowroom.v1.Format;
import io.grpc.Metadata;
import io.grpc.ServerCredentials;
import io.grpc.TlsServerCredentials;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** TLS, certificates of clients, tokens and headers. */
@Timeout(60)
class SecurityTest {
    private static final Body<String> BODY = Body.of("[{\"role\":\"user\",\"content\":\"hi\"}]").as(Format.FORMAT_OPENAI_CHAT);
    private static final Metadata.Key<String> AUTHORIZATION = key("authorization");

    @TempDir
    static Path folder;

    private static Identity server;
    private static Identity caller;

    /** A self-signed certificate and its key as PEM files. */
    private record Identity(Path certificate, Path key) {}

    @BeforeAll
    static void makeCertificates() throws Exception {
        server = identity("server");
        caller = identity("caller");
    }

    private static Identity identity(String name) throws IOException, InterruptedException, GeneralSecurityException {
        Path store = folder.resolve(name + ".p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                        "-genkeypair", "-alias", name, "-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=" + name,
                        "-ext", "san=dns:localhost,ip:127.0.0.1", "-validity", "2", "-storetype", "PKCS12",
                        "-keystore", store.toString(), "-storepass", "changeit")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (!keytool.waitFor(30, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
            keytool.destroyForcibly();
            throw new IOException("keytool made no certificate");
        }
        KeyStore keys = KeyStore.getInstance(store.toFile(), "changeit".toCharArray());
        return new Identity(
                pem(name + ".crt", "CERTIFICATE", keys.getCertificate(name).getEncoded()),
                pem(name + ".key", "PRIVATE KEY", keys.getKey(name, "changeit".toCharArray()).getEncoded()));
    }

    private static Path pem(String file, String kind, byte[] der) throws IOException {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
        return Files.writeString(folder.resolve(file), "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n");
    }

    private static Metadata.Key<String> key(String name) {
        return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
    }

    private static TlsServerCredentials.Builder serverTls() throws IOException {
        return TlsServerCredentials.newBuilder().keyManager(server.certificate().toFile(), server.key().toFile());
    }

    @Test
    void tlsTrustsTheCertificateItWasGivenOnly() throws IOException {
        try (FakeServer fake = new FakeServer(serverTls().build(), FakeServer.counting(3))) {
            try (Client client = Client.builder(fake.target()).trust(server.certificate()).build()) {
                assertEquals(3, client.countTokens(BODY).getTokens());
            }
            try (Client client = Client.builder(fake.target()).trust(caller.certificate()).build()) {
                assertThrows(UnavailableException.class, () -> client.countTokens(BODY));
            }
            try (Client client = Client.builder(fake.target()).tls().build()) {
                assertThrows(UnavailableException.class, () -> client.countTokens(BODY));
            }
            try (Client client = Client.connect(fake.target())) {
                assertThrows(UnavailableException.class, () -> client.countTokens(BODY));
            }
        }
    }

    @Test
    void mutualTlsShowsTheClientsCertificate() throws IOException {
        ServerCredentials mutual = serverTls()
                .trustManager(caller.certificate().toFile())
                .clientAuth(TlsServerCredentials.ClientAuth.REQUIRE)
                .build();
        try (FakeServer fake = new FakeServer(mutual, FakeServer.counting(3))) {
            try (Client client = Client.builder(fake.target())
                    .trust(server.certificate())
                    .clientCertificate(caller.certificate(), caller.key())
                    .build()) {
                assertEquals(3, client.countTokens(BODY).getTokens());
            }
            try (Client client = Client.builder(fake.target()).trust(server.certificate()).build()) {
                assertThrows(UnavailableException.class, () -> client.countTokens(BODY));
            }
        }
    }

    @Test
    void aTokenGoesWithEachCall() throws IOException {
        AtomicInteger asked = new AtomicInteger();
        try (FakeServer fake = new FakeServer(serverTls().build(), FakeServer.counting(3));
                Client client = Client.builder(fake.target())
                        .trust(server.certificate())
                        .token(() -> "t" + asked.incrementAndGet())
                        .build()) {
            client.countTokens(BODY);
            client.async().countTokens(BODY, request -> {}).join();
            assertEquals("Bearer t1", fake.headers.get(0).get(AUTHORIZATION));
            assertEquals("Bearer t2", fake.headers.get(1).get(AUTHORIZATION));
        }
    }

    @Test
    void anEmptyTokenIsNone() throws IOException {
        try (FakeServer fake = new FakeServer(serverTls().build(), FakeServer.counting(3))) {
            for (ClientBuilder builder : new ClientBuilder[] {
                Client.builder(fake.target()).token(""),
                Client.builder(fake.target()).token((String) null),
                Client.builder(fake.target()).token("t").token(""),
                Client.builder(fake.target()).token(() -> "")
            }) {
                try (Client client = builder.trust(server.certificate()).build()) {
                    client.countTokens(BODY);
                }
            }
            assertEquals(4, fake.headers.size());
            fake.headers.forEach(headers -> assertNull(headers.get(AUTHORIZATION)));
        }
        Client.builder("10.0.0.1:1").token("").build().close(); // nothing would go there without TLS
    }

    @Test
    void aTokenGoesToOtherMachinesByTlsOnly() {
        for (String here : new String[] {"localhost:1", "127.0.0.1:1", "[::1]:1", "unix:/run/elbowroom"}) {
            Client.builder(here).token("t").build().close();
        }
        for (String elsewhere : new String[] {"127.0.0.1.example:1", "dns:///elbowroom:1", "localhost.example", "10.0.0.1:1"}) {
            assertThrows(IllegalStateException.class, () -> Client.builder(elsewhere).token("t").build());
            Client.builder(elsewhere).token("t").tokenInTheOpen().build().close();
            Client.builder(elsewhere).token("t").tls().build().close();
        }
    }

    @Test
    void theRealServerTakesTokensAndCertificates() throws IOException, GeneralSecurityException {
        byte[] hash = MessageDigest.getInstance("SHA-256").digest("secret".getBytes(StandardCharsets.UTF_8));
        Path tokens = Files.writeString(folder.resolve("tokens"), "acme " + HexFormat.of().formatHex(hash) + "\n");
        try (Server real = Server.start(0, "--tls-cert-file", server.certificate().toString(), "--tls-key-file", server.key().toString(),
                "--tls-client-ca-file", caller.certificate().toString(), "--auth-tokens-file", tokens.toString())) {
            ClientBuilder builder = Client.builder(real.target()).trust(server.certificate());
            try (Client client = builder.build()) {
                assertThrows(UnavailableException.class, () -> client.countTokens(BODY), "no certificate");
            }
            builder.clientCertificate(caller.certificate(), caller.key());
            try (Client client = builder.build()) {
                assertThrows(UnauthenticatedException.class, () -> client.countTokens(BODY), "no token");
            }
            try (Client client = builder.token("wrong").build()) {
                assertThrows(UnauthenticatedException.class, () -> client.countTokens(BODY), "another token");
            }
            try (Client client = builder.token("secret").build()) {
                assertTrue(client.countTokens(BODY).getTokens() > 0);
            }
        }
    }

    @Test
    void headersOfTheCallerGoAlong() {
        Metadata headers = new Metadata();
        headers.put(key("x-team"), "blue");
        try (FakeServer fake = new FakeServer(FakeServer.counting(3)); Client client = Client.connect(fake.target())) {
            client.withHeaders(headers).countTokens(BODY);
            client.countTokens(BODY);
            assertEquals("blue", fake.headers.get(0).get(key("x-team")));
            assertEquals(null, fake.headers.get(1).get(key("x-team")));
        }
    }

    @Test
    void aMissingCertificateIsSaid() {
        Path none = Path.of("none.pem");
        assertThrows(UncheckedIOException.class, () -> Client.builder("localhost:1").trust(none));
        String text = assertThrows(UncheckedIOException.class,
                () -> Client.builder("localhost:1").clientCertificate(none, none)).getMessage();
        assertTrue(text.contains("none.pem"), text);
    }
}
