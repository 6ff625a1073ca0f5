package io.elbowroom.client;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.elbowroom.client.ElbowroomException.Failure;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** From gRPC statuses and their google.rpc details to exceptions. */
final class Errors {
    private static final Pattern ERROR_ID = Pattern.compile("logged as ([0-9a-f]+)");

    private Errors() {}

    /** The exception for a failed call. */
    static ElbowroomException of(Throwable thrown) {
        if (thrown instanceof ElbowroomException already) {
            return already;
        }
        Status status = Status.fromThrowable(thrown);
        com.google.rpc.Status details = StatusProto.fromThrowable(thrown);
        BadRequest.FieldViolation violation = detail(details, BadRequest.class)
                .filter(bad -> bad.getFieldViolationsCount() > 0)
                .map(bad -> bad.getFieldViolations(0))
                .orElse(BadRequest.FieldViolation.getDefaultInstance());
        ErrorInfo info = detail(details, ErrorInfo.class).orElse(ErrorInfo.getDefaultInstance());
        Duration retryAfter = detail(details, RetryInfo.class)
                .map(retry -> Duration.ofSeconds(
                        retry.getRetryDelay().getSeconds(), retry.getRetryDelay().getNanos()))
                .orElse(null);
        int index = (int) number(info.getMetadataMap(), "message_index");

        String description = status.getDescription() != null ? status.getDescription() : describe(status);
        Failure failure = new Failure(
                status.getCode(), description, advice(status.getCode(), info.getReason(), retryAfter), info.getReason(), thrown);
        return switch (status.getCode()) {
            case INVALID_ARGUMENT, OUT_OF_RANGE -> new InvalidRequestException(
                    failure, violation.getField(), number(info.getMetadataMap(), "byte_offset"), index);
            case FAILED_PRECONDITION -> new RefusedException(failure, index);
            case RESOURCE_EXHAUSTED -> new OverloadedException(failure, retryAfter);
            case UNAVAILABLE -> new UnavailableException(failure, retryAfter);
            case DEADLINE_EXCEEDED -> new DeadlineExceededException(failure);
            case UNAUTHENTICATED -> new UnauthenticatedException(failure);
            case PERMISSION_DENIED -> new PermissionDeniedException(failure);
            case INTERNAL, UNKNOWN, DATA_LOSS -> new InternalException(failure, errorId(description));
            default -> new ElbowroomException(failure);
        };
    }

    /** A request that is refused before it is sent. */
    static InvalidRequestException invalid(String field, String description, String advice, long byteOffset, Throwable cause) {
        return new InvalidRequestException(
                new Failure(Status.Code.INVALID_ARGUMENT, description, advice, "", cause), field, byteOffset, -1);
    }

    /** An answer that breaks the protocol. */
    static InternalException broken(String description) {
        return new InternalException(
                new Failure(Status.Code.INTERNAL, description, advice(Status.Code.INTERNAL, "", null), "", null), "");
    }

    private static String describe(Status status) {
        return status.getCause() != null ? status.getCause().toString() : "the call failed";
    }

    private static String advice(Status.Code code, String reason, Duration retryAfter) {
        return switch (code) {
            case INVALID_ARGUMENT, OUT_OF_RANGE -> "Correct the request: it fails however often it is sent.";
            case FAILED_PRECONDITION -> reason.equals(Conversation.BASE_UNKNOWN)
                    ? "Send the body in full."
                    : "Correct the conversation or the options that the reason names.";
            case RESOURCE_EXHAUSTED -> retryAfter != null
                    ? "Send the same request again after retryAfter."
                    : "Send less at once, or raise the limits of the server.";
            case UNAVAILABLE -> reason.equals("SUMMARIZER_FAILED")
                    ? "Send the request again after retryAfter, or with FAILURE_POLICY_FALLBACK."
                    : "Check that the service runs at this target and whether it wants TLS, then send the request again.";
            case DEADLINE_EXCEEDED -> "Give the call more time, or send the original conversation for this turn.";
            case UNAUTHENTICATED -> "Give the client a token or a certificate that the server accepts.";
            case PERMISSION_DENIED -> "Ask the operator of the server to allow this call.";
            case UNIMPLEMENTED -> "Check that the target is an Elbowroom server that is not older than this client.";
            case CANCELLED -> "Nothing is to be done if the call was meant to be cancelled.";
            default -> "Look into the log of the server, under the error id if there is one, and report it.";
        };
    }

    private static String errorId(String description) {
        Matcher found = ERROR_ID.matcher(description);
        return found.find() ? found.group(1) : "";
    }

    private static long number(Map<String, String> facts, String key) {
        try {
            return Long.parseLong(facts.getOrDefault(key, "-1"));
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    private static <M extends Message> Optional<M> detail(com.google.rpc.Status status, Class<M> type) {
        if (status == null) {
            return Optional.empty();
        }
        for (Any any : status.getDetailsList()) {
            if (any.is(type)) {
                try {
                    return Optional.of(any.unpack(type));
                } catch (InvalidProtocolBufferException e) {
                    return Optional.empty(); // a detail that cannot be read says nothing
                }
            }
        }
        return Optional.empty();
    }
}
