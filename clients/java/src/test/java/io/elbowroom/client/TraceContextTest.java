package io.elbowroom.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.elbowroom.v1.Format;
import io.grpc.Metadata;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Scope;
import java.io.File;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The W3C trace context of the caller. */
@Timeout(60)
class TraceContextTest {
    private static final Metadata.Key<String> TRACEPARENT =
            Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER);

    @Test
    void theSpanOfTheCallerGoesAlong() {
        Body<String> body = Body.of("[]").as(Format.FORMAT_OPENAI_CHAT);
        SpanContext span = SpanContext.create("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331",
                TraceFlags.getSampled(), TraceState.builder().put("vendor", "x").build());
        try (FakeServer fake = new FakeServer(FakeServer.counting(1)); Client client = Client.connect(fake.target())) {
            try (Scope scope = Span.wrap(span).makeCurrent()) {
                client.countTokens(body);
            }
            client.countTokens(body);
            assertEquals("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", fake.headers.get(0).get(TRACEPARENT));
            assertEquals("vendor=x", fake.headers.get(0).get(
                    Metadata.Key.of("tracestate", Metadata.ASCII_STRING_MARSHALLER)));
            assertNull(fake.headers.get(1).get(TRACEPARENT));
        }
    }

    @Test
    void theClientWorksWithoutOpenTelemetry() throws Exception {
        List<URL> without = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (!entry.contains("opentelemetry")) {
                without.add(new File(entry).toURI().toURL());
            }
        }
        try (URLClassLoader loader = new URLClassLoader(without.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
            Method ifPresent = loader.loadClass("io.elbowroom.client.TraceContext").getDeclaredMethod("ifPresent");
            ifPresent.setAccessible(true);
            assertEquals(Optional.empty(), ifPresent.invoke(null));
        }
        assertTrue(TraceContext.ifPresent().isPresent());
    }
}
