package io.elbowroom.client;

/** The caller is known and may not do this. */
public final class PermissionDeniedException extends ElbowroomException {
    private static final long serialVersionUID = 1L;

    PermissionDeniedException(Failure failure) {
        super(failure);
    }
}
