package io.elbowroom.client;

/** A fault of the server, or an answer that no Elbowroom server gives. */
public final class InternalException extends ElbowroomException {
    private static final long serialVersionUID = 1L;

    private final String errorId;

    InternalException(Failure failure, String errorId) {
        super(failure);
        this.errorId = errorId;
    }

    /** The id under which the server logged what happened. Empty where it gave none. */
    public String errorId() {
        return errorId;
    }
}
