package io.elbowroom.client;

import io.grpc.Status;

/**
 * A call that failed, with what to do about it. The subclasses are the cases a caller may want to tell apart; what is none of
 * them (cancelled, not implemented) is this class itself.
 */
public sealed class ElbowroomException extends RuntimeException
        permits InvalidRequestException,
                RefusedException,
                OverloadedException,
                UnavailableException,
                DeadlineExceededException,
                UnauthenticatedException,
                PermissionDeniedException,
                InternalException {
    private static final long serialVersionUID = 1L;

    private final Status.Code code;
    private final String description;
    private final String advice;
    private final String reason;

    ElbowroomException(Failure failure) {
        super(failure.description() + " (" + failure.code() + "). " + failure.advice(), failure.cause());
        code = failure.code();
        description = failure.description();
        advice = failure.advice();
        reason = failure.reason();
    }

    /** The gRPC code. */
    public Status.Code code() {
        return code;
    }

    /** What happened, in the words of the server or of the transport. */
    public String description() {
        return description;
    }

    /** What to do, in one sentence. */
    public String advice() {
        return advice;
    }

    /** The stable word for what happened, for example {@code INVALID_CONVERSATION}. Empty where the server gave none. */
    public String reason() {
        return reason;
    }

    /** What every failure has. */
    record Failure(Status.Code code, String description, String advice, String reason, Throwable cause) {}
}
