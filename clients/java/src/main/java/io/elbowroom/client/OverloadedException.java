package io.elbowroom.client;

import java.time.Duration;
import java.util.Optional;

/** The server has too much to do, or a message is larger than it accepts. */
public final class OverloadedException extends ElbowroomException {
    private static final long serialVersionUID = 1L;

    private final Duration retryAfter;

    OverloadedException(Failure failure, Duration retryAfter) {
        super(failure);
        this.retryAfter = retryAfter;
    }

    /** How long to wait before the next attempt. Empty where the server did not say. */
    public Optional<Duration> retryAfter() {
        return Optional.ofNullable(retryAfter);
    }
}
