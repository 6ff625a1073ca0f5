package io.elbowroom.client;

/** The server wants a token or a client certificate, or does not accept the one it got. */
public final class UnauthenticatedException extends ElbowroomException {
    private static final long serialVersionUID = 1L;

    UnauthenticatedException(Failure failure) {
        super(failure);
    }
}
