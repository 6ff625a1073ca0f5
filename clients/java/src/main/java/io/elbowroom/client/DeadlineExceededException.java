package io.elbowroom.client;

/** There was no result within the timeout. */
public final class DeadlineExceededException extends ElbowroomException {
    private static final long serialVersionUID = 1L;

    DeadlineExceededException(Failure failure) {
        super(failure);
    }
}
