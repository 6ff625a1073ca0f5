package io.elbowroom.client;

import java.util.OptionalInt;

/** The request can be read, but not be served as things are; {@link #reason()} says which rule is broken. */
public final class RefusedException extends ElbowroomException {
    private static final long serialVersionUID = 1L;

    private final int index;

    RefusedException(Failure failure, int index) {
        super(failure);
        this.index = index;
    }

    /** The message concerned, as its index in the caller's array. */
    public OptionalInt index() {
        return index < 0 ? OptionalInt.empty() : OptionalInt.of(index);
    }
}
