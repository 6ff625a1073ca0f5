package io.elbowroom.client;

import io.elbowroom.v1.ContextServiceGrpc;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.MethodDescriptor;
import io.grpc.TlsChannelCredentials;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** Options of a {@link Client}. Without any it speaks without TLS and waits 30 seconds for each call. */
public final class ClientBuilder {
    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(30);

    /** Bytes of all requests that are kept for being sent again. Those beyond it are sent once. */
    private static final long RETRY_BUFFER = 256L << 20;

    private static final Pattern THIS_MACHINE =
            Pattern.compile("^(dns:///)?(localhost|127(\\.[0-9]+){3}|\\[::1\\])(:[0-9]+)?$|^unix:");

    private final String target;
    private final List<ClientInterceptor> interceptors = new ArrayList<>();
    private ChannelCredentials credentials = InsecureChannelCredentials.create();
    private TlsChannelCredentials.Builder tls;
    private Duration timeout = DEFAULT_TIMEOUT;
    private Supplier<String> token;
    private boolean tokenInTheOpen;
    private Executor executor;

    ClientBuilder(String target) {
        this.target = target;
    }

    /** TLS, trusting what the Java runtime trusts. */
    public ClientBuilder tls() {
        tlsCredentials();
        return this;
    }

    /**
     * TLS, trusting these certificates only.
     *
     * @param certificates a PEM file
     * @throws UncheckedIOException if it cannot be read
     */
    public ClientBuilder trust(Path certificates) {
        try {
            tlsCredentials().trustManager(certificates.toFile());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the trusted certificates in " + certificates, e);
        }
        return this;
    }

    /**
     * TLS with a certificate of the client's own.
     *
     * @param chain the certificate and those it was signed with, a PEM file
     * @param key its key, a PEM file (PKCS #8, not encrypted)
     * @throws UncheckedIOException if one of them cannot be read
     */
    public ClientBuilder clientCertificate(Path chain, Path key) {
        try {
            tlsCredentials().keyManager(chain.toFile(), key.toFile());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the client certificate in " + chain + " and " + key, e);
        }
        return this;
    }

    /** Credentials of gRPC, in place of what the three methods above made: rotating certificates, say. */
    public ClientBuilder credentials(ChannelCredentials credentials) {
        this.tls = null;
        this.credentials = credentials;
        return this;
    }

    /**
     * A bearer token for each call; null and an empty one are none. Without TLS it goes to this machine only; see
     * {@link #tokenInTheOpen}.
     */
    public ClientBuilder token(String token) {
        this.token = token == null || token.isEmpty() ? null : () -> token;
        return this;
    }

    /** A bearer token that is asked for at each call; an empty one is none. It is called on the thread of the call. */
    public ClientBuilder token(Supplier<String> token) {
        this.token = token;
        return this;
    }

    /** Sends the token to other machines without TLS too: for a network where nobody else listens, a mesh say. */
    public ClientBuilder tokenInTheOpen() {
        tokenInTheOpen = true;
        return this;
    }

    /** How long each call may take, attempts that failed included. Default 30 seconds. */
    public ClientBuilder timeout(Duration timeout) {
        this.timeout = timeout;
        return this;
    }

    /** Where futures complete. Default: gRPC's own threads. */
    public ClientBuilder executor(Executor executor) {
        this.executor = executor;
        return this;
    }

    /** An interceptor round each call: headers, tracing, metrics. The first one given is the outermost. */
    public ClientBuilder interceptor(ClientInterceptor interceptor) {
        interceptors.add(interceptor);
        return this;
    }

    /**
     * The client. It connects with its first call.
     *
     * @throws IllegalStateException if a token would go to another machine without TLS
     */
    public Client build() {
        ChannelCredentials chosen = tls == null ? credentials : tls.build();
        boolean inTheOpen = chosen instanceof InsecureChannelCredentials && !THIS_MACHINE.matcher(target).find();
        if (token != null && inTheOpen && !tokenInTheOpen) {
            throw new IllegalStateException(
                    "the token would go to " + target + " without TLS; use tls(), or tokenInTheOpen() if nobody else can listen");
        }
        ManagedChannelBuilder<?> builder = Grpc.newChannelBuilder(target, chosen)
                .maxInboundMessageSize(Calls.LARGEST_RESPONSE)
                .perRpcBufferLimit(Calls.LARGEST_REQUEST + 1024L) // a request beyond it would not be sent again
                .retryBufferSize(RETRY_BUFFER)
                .defaultServiceConfig(serviceConfig());
        if (executor != null) {
            builder.executor(executor);
        }
        ManagedChannel connection = builder.build();
        List<ClientInterceptor> inOrder = new ArrayList<>(interceptors);
        TraceContext.ifPresent().ifPresent(inOrder::add);
        if (token != null) {
            inOrder.add(new BearerToken(token));
        }
        Channel channel = ClientInterceptors.interceptForward(connection, inOrder);
        return new Client(connection, channel, timeout);
    }

    private TlsChannelCredentials.Builder tlsCredentials() {
        if (tls == null) {
            tls = TlsChannelCredentials.newBuilder();
        }
        return tls;
    }

    /**
     * Calls go to all healthy servers in turn; a unary call that finds none is made again after 0.1 s, 0.2 s and 0.4 s or so. One
     * that an overloaded server refuses is made again when that says so, if it does within 2 s: gRPC reads its trailer
     * {@code grpc-retry-pushback-ms}.
     */
    private static Map<String, Object> serviceConfig() {
        List<Map<String, Object>> unary = new ArrayList<>();
        for (MethodDescriptor<?, ?> method : ContextServiceGrpc.getServiceDescriptor().getMethods()) {
            if (method.getType() == MethodDescriptor.MethodType.UNARY) {
                unary.add(Map.of("service", ContextServiceGrpc.SERVICE_NAME, "method", method.getBareMethodName()));
            }
        }
        return Map.of(
                "loadBalancingConfig", List.of(Map.of("round_robin", Map.of())),
                "healthCheckConfig", Map.of("serviceName", ContextServiceGrpc.SERVICE_NAME),
                "methodConfig", List.of(Map.of(
                        "name", unary,
                        "retryPolicy", Map.of(
                                "maxAttempts", 4.0,
                                "initialBackoff", "0.1s",
                                "maxBackoff", "2s",
                                "backoffMultiplier", 2.0,
                                "retryableStatusCodes", List.of("UNAVAILABLE", "RESOURCE_EXHAUSTED")))));
    }
}
