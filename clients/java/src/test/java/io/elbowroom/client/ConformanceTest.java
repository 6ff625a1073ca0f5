package io.elbowroom.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import io.elbowroom.v1.ApplyCacheControlRequest;
import io.elbowroom.v1.CompressRequest;
import io.elbowroom.v1.ContextServiceGrpc;
import io.elbowroom.v1.CountTokensRequest;
import io.elbowroom.v1.ListModelsRequest;
import io.elbowroom.v1.NativeRequest;
import io.elbowroom.v1.PrepareRequest;
import io.elbowroom.v1.SimulateCacheRequest;
import io.elbowroom.v1.Splice;
import io.elbowroom.v1.StreamCompressRequest;
import io.elbowroom.v1.StreamCompressResponse;
import io.elbowroom.v1.View;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The cases of ../conformance against the real server, through the stub and through the client. */
class ConformanceTest {
    private static final Path CASES = Path.of("..", "conformance");

    // The stubs know the field json_bytes as json_utf8; its JSON name is the same.
    private static final String PROTO_NAME = "\"json_bytes\":";
    private static final String JSON_NAME = "\"jsonBytes\":";

    private static Client client;
    private static ContextServiceGrpc.ContextServiceBlockingStub stub;

    @BeforeAll
    static void connect() {
        client = Client.connect(Server.shared().target());
        stub = ContextServiceGrpc.newBlockingStub(client.channel());
    }

    @AfterAll
    static void close() {
        if (client != null) {
            client.close();
        }
    }

    @TestFactory
    List<DynamicTest> cases() throws IOException {
        if (!Files.isDirectory(CASES)) {
            Server.missing("there is no folder " + CASES);
        }
        List<DynamicTest> tests = new ArrayList<>();
        try (Stream<Path> files = Files.list(CASES).filter(file -> file.toString().endsWith(".json")).sorted()) {
            for (Path file : (Iterable<Path>) files::iterator) {
                for (JsonElement element : JsonParser.parseString(Files.readString(file)).getAsJsonArray()) {
                    JsonObject one = element.getAsJsonObject();
                    tests.add(DynamicTest.dynamicTest(one.get("name").getAsString(), () -> runNamed(one)));
                }
            }
        }
        assertFalse(tests.isEmpty(), "no cases in " + CASES);
        return tests;
    }

    /** Maven's report names dynamic tests by number only. */
    private static void runNamed(JsonObject test) throws Exception {
        try {
            run(test);
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError(test.get("name").getAsString() + ": " + e.getMessage(), e);
        }
    }

    private static void run(JsonObject test) throws Exception {
        JsonObject given = test.getAsJsonObject("request");
        JsonObject carried = before(test);
        for (Map.Entry<String, JsonElement> member : carried.entrySet()) {
            given.add(member.getKey(), member.getValue());
        }
        String call = test.get("call").getAsString();
        Message request = parse(given, request(call));
        JsonObject expect = test.getAsJsonObject("expect");
        JsonElement error = expect.get("error");

        Message response = null;
        try {
            response = viaStub(call, request);
        } catch (RuntimeException e) {
            compareError(error, e);
        }
        if (response != null) {
            assertTrue(error == null, () -> "no error, wanted " + error);
            JsonObject actual = print(response);
            if (expect.has("response")) {
                compare("response", expect.get("response"), actual);
            }
            if (expect.has("json")) {
                assertEquals(expect.get("json").getAsString(), resultOf(request, response), "the stub's result");
            }
        }

        NativeRequest body = nativeOf(request);
        if (body == null || body.hasDelta() || body.getBodyCase() == NativeRequest.BodyCase.BODY_NOT_SET) {
            return;
        }
        String result = null;
        try {
            result = viaClient(call, request, body);
        } catch (ElbowroomException e) {
            compareError(error, e);
            return;
        }
        assertTrue(error == null, () -> "the client's method has no error, wanted " + error);
        if (result != null) {
            String want = expect.has("json") ? expect.get("json").getAsString() : resultOf(request, response);
            assertEquals(want, result, "the client's result");
        }
    }

    /** Sends what goes before, and returns what of its last answer goes into the request. */
    private static JsonObject before(JsonObject test) throws Exception {
        JsonObject carried = new JsonObject();
        if (!test.has("before")) {
            return carried;
        }
        JsonObject last = null;
        for (JsonElement element : test.getAsJsonArray("before")) {
            String call = element.getAsJsonObject().get("call").getAsString();
            last = print(viaStub(call, parse(element.getAsJsonObject().getAsJsonObject("request"), request(call))));
        }
        if (test.has("carry")) {
            for (JsonElement name : test.getAsJsonArray("carry")) {
                carried.add(name.getAsString(), last.get(name.getAsString()));
            }
        }
        return carried;
    }

    private static Message.Builder request(String call) {
        return switch (call) {
            case "compress" -> CompressRequest.newBuilder();
            case "stream_compress" -> StreamCompressRequest.newBuilder();
            case "apply_cache_control" -> ApplyCacheControlRequest.newBuilder();
            case "count_tokens" -> CountTokensRequest.newBuilder();
            case "prepare" -> PrepareRequest.newBuilder();
            case "simulate_cache" -> SimulateCacheRequest.newBuilder();
            case "list_models" -> ListModelsRequest.newBuilder();
            default -> fail("unknown call " + call);
        };
    }

    private static Message viaStub(String call, Message request) {
        return switch (call) {
            case "compress" -> stub.compress((CompressRequest) request);
            case "stream_compress" -> {
                Iterator<StreamCompressResponse> events = stub.streamCompress((StreamCompressRequest) request);
                StreamCompressResponse last = null;
                while (events.hasNext()) {
                    last = events.next();
                }
                assertTrue(last != null && last.hasResult(), "the last event is the result");
                yield last.getResult();
            }
            case "apply_cache_control" -> stub.applyCacheControl((ApplyCacheControlRequest) request);
            case "count_tokens" -> stub.countTokens((CountTokensRequest) request);
            case "prepare" -> stub.prepare((PrepareRequest) request);
            case "simulate_cache" -> stub.simulateCache((SimulateCacheRequest) request);
            default -> stub.listModels((ListModelsRequest) request);
        };
    }

    /** The text that the client's own method makes; null where it makes none. */
    private static String viaClient(String call, Message request, NativeRequest body) {
        if (body.hasJsonUtf8()) {
            byte[] result = viaClient(call, request, Body.of(body.getJsonUtf8().toByteArray()));
            return result == null ? null : new String(result, StandardCharsets.UTF_8);
        }
        return viaClient(call, request, Body.of(body.getJson()));
    }

    private static <B> B viaClient(String call, Message request, Body<B> body) {
        return switch (call) {
            case "compress" -> client.compress(body, options -> options.mergeFrom((CompressRequest) request)).body();
            case "stream_compress" -> client.streamCompress(
                    body, options -> options.mergeFrom(((StreamCompressRequest) request).getRequest()), event -> {}).body();
            case "apply_cache_control" ->
                client.applyCacheControl(body, options -> options.mergeFrom((ApplyCacheControlRequest) request)).body();
            case "prepare" -> client.prepare(body, options -> options.mergeFrom((PrepareRequest) request)).body();
            default -> {
                client.countTokens(body, options -> options.mergeFrom((CountTokensRequest) request));
                yield null;
            }
        };
    }

    /** The native form of a request, null where it has none. */
    private static NativeRequest nativeOf(Message request) {
        Message inner = request instanceof StreamCompressRequest stream ? stream.getRequest() : request;
        FieldDescriptor field = inner.getDescriptorForType().findFieldByName("conversation");
        if (field == null || !inner.hasField(field)) {
            return null;
        }
        io.elbowroom.v1.Conversation conversation = (io.elbowroom.v1.Conversation) inner.getField(field);
        return conversation.hasNative() ? conversation.getNative() : null;
    }

    /** The text of the resulting body, from the whole of it or from the splices. */
    @SuppressWarnings("unchecked")
    private static String resultOf(Message request, Message response) {
        NativeRequest given = nativeOf(request);
        Message inner = request instanceof StreamCompressRequest stream ? stream.getRequest() : request;
        Object view = inner.getField(inner.getDescriptorForType().findFieldByName("view"));
        if (view.equals(View.VIEW_EDITS.getValueDescriptor())) {
            List<Splice> splices = (List<Splice>) response.getField(response.getDescriptorForType().findFieldByName("splices"));
            byte[] json = given.hasJsonUtf8() ? given.getJsonUtf8().toByteArray() : given.getJson().getBytes(StandardCharsets.UTF_8);
            return new String(Splices.apply(json, splices), StandardCharsets.UTF_8);
        }
        NativeRequest result = nativeOf(response);
        return result.hasJsonUtf8() ? result.getJsonUtf8().toStringUtf8() : result.getJson();
    }

    private static void compareError(JsonElement want, RuntimeException thrown) {
        ElbowroomException error = Errors.of(thrown);
        if (want == null) {
            throw error;
        }
        JsonObject actual = new JsonObject();
        actual.addProperty("code", error.code().name());
        actual.addProperty("reason", error.reason());
        if (error instanceof InvalidRequestException invalid) {
            actual.addProperty("field", invalid.field());
            invalid.index().ifPresent(index -> actual.addProperty("index", index));
            invalid.byteOffset().ifPresent(offset -> actual.addProperty("byte_offset", offset));
        }
        if (error instanceof RefusedException refused) {
            refused.index().ifPresent(index -> actual.addProperty("index", index));
        }
        assertFalse(error.advice().isEmpty(), "an error says what to do");
        compare("error", want, actual);
    }

    private static Message parse(JsonObject json, Message.Builder into) throws InvalidProtocolBufferException {
        String text = new Gson().toJson(json).replace(PROTO_NAME, JSON_NAME);
        JsonFormat.parser().merge(text, into);
        return into.build();
    }

    private static JsonObject print(Message message) throws InvalidProtocolBufferException {
        String text = JsonFormat.printer().preservingProtoFieldNames().print(message);
        return JsonParser.parseString(text.replace("\"json_utf8\":", PROTO_NAME)).getAsJsonObject();
    }

    /** Whether the value has what is wanted: of an object the members that are named, of anything else all of it. */
    private static void compare(String path, JsonElement want, JsonElement got) {
        if (want.isJsonObject()) {
            JsonObject members = got == null || !got.isJsonObject() ? new JsonObject() : got.getAsJsonObject();
            for (Map.Entry<String, JsonElement> member : want.getAsJsonObject().entrySet()) {
                compare(path + "." + member.getKey(), member.getValue(), members.get(member.getKey()));
            }
        } else if (want.isJsonArray()) {
            JsonArray elements = got == null ? new JsonArray() : got.getAsJsonArray();
            assertEquals(want.getAsJsonArray().size(), elements.size(), path + ": elements");
            for (int i = 0; i < elements.size(); i++) {
                compare(path + "[" + i + "]", want.getAsJsonArray().get(i), elements.get(i));
            }
        } else if (got == null) {
            assertTrue(isDefault(want), path + ": wanted " + want + ", got nothing");
        } else if (want.isJsonPrimitive() && want.getAsJsonPrimitive().isNumber()) {
            assertEquals(want.getAsDouble(), got.getAsDouble(), path);
        } else {
            assertEquals(want, got, path);
        }
    }

    private static boolean isDefault(JsonElement want) {
        if (want.isJsonNull()) {
            return true;
        }
        String text = want.getAsString();
        return text.isEmpty() || text.equals("false") || text.endsWith("_UNSPECIFIED")
                || want.getAsJsonPrimitive().isNumber() && want.getAsDouble() == 0
                || text.equals("0");
    }
}
