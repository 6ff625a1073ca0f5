package io.elbowroom.client;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import java.util.Optional;

/** Passes the caller's span on as traceparent and tracestate, where the application has OpenTelemetry. */
final class TraceContext implements ClientInterceptor {
    private final W3CTraceContextPropagator propagator = W3CTraceContextPropagator.getInstance();

    private TraceContext() {}

    /** The interceptor, empty where the application has no OpenTelemetry. */
    static Optional<ClientInterceptor> ifPresent() {
        try {
            return Optional.of(new TraceContext());
        } catch (NoClassDefFoundError e) { // the dependency is optional
            return Optional.empty();
        }
    }

    @Override
    public <Q, R> ClientCall<Q, R> interceptCall(MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
        Context caller = Context.current();
        return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
            @Override
            public void start(Listener<R> listener, Metadata headers) {
                propagator.inject(caller, headers, (carrier, name, value) ->
                        carrier.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value));
                super.start(listener, headers);
            }
        };
    }
}
