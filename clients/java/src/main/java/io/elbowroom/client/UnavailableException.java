package io.elbowroom.client;

import java.time.Duration;
import java.util.Optional;

/** The service cannot be reached, is going down, or its summarizer failed under FAILURE_POLICY_ABORT. */
public final class UnavailableException extends ElbowroomException {
    private static final long serialVersionUID = 1L;

    private final Duration retryAfter;

    UnavailableException(Failure failure, Duration retryAfter) {
        super(failure);
        this.retryAfter = retryAfter;
    }

    /** How long to wait before the next attempt. Empty where the server did not say. */
    public Optional<Duration> retryAfter() {
        return Optional.ofNullable(retryAfter);
    }
}
