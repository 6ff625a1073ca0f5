package io.elbowroom.client;

import java.util.OptionalInt;
import java.util.OptionalLong;

/** The request is wrong: broken JSON, a value out of range, a format that cannot be told. It fails however often it is sent. */
public final class InvalidRequestException extends ElbowroomException {
    private static final long serialVersionUID = 1L;

    private final String field;
    private final long byteOffset;
    private final int index;

    InvalidRequestException(Failure failure, String field, long byteOffset, int index) {
        super(failure);
        this.field = field;
        this.byteOffset = byteOffset;
        this.index = index;
    }

    /** Path of the field in the request message, for example {@code policy.threshold}. Empty where none is named. */
    public String field() {
        return field;
    }

    /** Where the JSON is broken, in UTF-8 bytes from its start. */
    public OptionalLong byteOffset() {
        return byteOffset < 0 ? OptionalLong.empty() : OptionalLong.of(byteOffset);
    }

    /** The message concerned, as its index in the caller's array. */
    public OptionalInt index() {
        return index < 0 ? OptionalInt.empty() : OptionalInt.of(index);
    }
}
