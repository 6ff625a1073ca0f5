package io.elbowroom.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.elbowroom.v1.Format;
import io.elbowroom.v1.Splice;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What goes in comes out: kinds of bodies, and their way through JSON. */
class BodyTest {
    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "{\"z\":1,\"a\":2,\"m\":{\"y\":null,\"b\":[]}}",
        "[0,-0,7,-7,2147483647,-2147483648,2147483648,9007199254740993,9223372036854775807,-9223372036854775808]",
        "[9223372036854775808,9999999999999999999,123456789012345678901234567890]",
        "[-1.7976931348623157E308,4.9E-324,0.1,0.10,1.0,1e5,1E+5,-0.0,1e400,1e99999999999,3.141592653589793238462643383279,1e-7,100.0,1.0E10]",
        "{\"a\":\"\\ud800\",\"b\":\"x\\udc00y\",\"c\":\"\\udc00\\ud800\"}",
        "{\"emoji\":\"😀 漢字 é\",\"html\":\"<a href='x'>&amp;</a>\"}",
        "{\"t\":true,\"f\":false,\"n\":null,\"e\":\"\",\"q\":\"\\\"\\\\\\n\\t\"}"
    })
    void treesAreWrittenAsTheyWereRead(String json) throws IOException {
        assertEquals(json, new String(Json.write(Json.parse(utf8(json))), StandardCharsets.UTF_8));
    }

    @Test
    void numbersAreReadAsThePlainestTypeThatHoldsThem() throws IOException {
        Object tree = Json.parse(utf8("[7,2147483648,12345678901234567890,0.5,0.50,1e5]"));
        List<?> numbers = (List<?>) tree;
        assertEquals(
                List.of(7, 2147483648L, new BigInteger("12345678901234567890"), 0.5, new BigDecimal("0.50")),
                numbers.subList(0, 5));
        assertEquals(100000, assertInstanceOf(Number.class, numbers.get(5)).intValue());
    }

    @Test
    void aMapKeepsOrderNullsAndLoneSurrogates() {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("zulu", null);
        body.put("alpha", "\ud83d");
        body.put("list", new Object[] {1, "x", List.of()});
        assertEquals("{\"zulu\":null,\"alpha\":\"\\ud83d\",\"list\":[1,\"x\",[]]}",
                new String(Body.of(body).json(), StandardCharsets.UTF_8));
    }

    @Test
    void whatJsonCannotHoldIsRefused() {
        List<Object> values = new ArrayList<>(List.of(Double.NaN, Float.POSITIVE_INFINITY, new Object(), Map.of(1, 2)));
        List<Object> ring = new ArrayList<>();
        ring.add(ring);
        values.add(ring);
        for (Object value : values) {
            Map<String, Object> body = Map.of("a", value);
            assertEquals(Body.FIELD, assertThrows(InvalidRequestException.class, () -> Body.of(body)).field());
        }
    }

    @Test
    void textWithALoneSurrogateIsRefusedWithItsOffset() {
        InvalidRequestException error = assertThrows(InvalidRequestException.class, () -> Body.of("é😀\ud800"));
        assertEquals(OptionalLong.of(6), error.byteOffset());
    }

    @Test
    void anUnchangedBodyIsTheCallersOwnObject() {
        Map<String, Object> tree = Map.of("messages", List.of());
        assertSame(tree, Body.of(tree).apply(List.of()));
        byte[] bytes = utf8("[]");
        assertSame(bytes, Body.of(bytes).apply(List.of()));
    }

    @Test
    void splicesCountUtf8Bytes() {
        List<Splice> splices = List.of(
                Splice.newBuilder().setOffset(0).setLength(2).setText("").build(),
                Splice.newBuilder().setOffset(2).setLength(0).setText("漢").build(),
                Splice.newBuilder().setOffset(6).setLength(1).setText("!?").build());
        assertEquals("漢😀!?", Body.of("é😀.").apply(splices));
        assertThrows(InternalException.class, () -> Body.of("abc").apply(splices));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
        "{\"system\":\"s\",\"messages\":[]} | FORMAT_ANTHROPIC_MESSAGES",
        "{\"max_tokens\":5,\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\"}]}]} | FORMAT_ANTHROPIC_MESSAGES",
        "{\"tools\":[{\"name\":\"f\",\"input_schema\":{}}],\"messages\":[]} | FORMAT_ANTHROPIC_MESSAGES",
        "[{\"role\":\"assistant\",\"content\":[{\"text\":\"x\",\"type\":\"thinking\"}]}] | FORMAT_ANTHROPIC_MESSAGES",
        "{\"tools\":[{\"type\":\"function\"}],\"messages\":[]} | FORMAT_OPENAI_CHAT",
        "[{\"role\":\"developer\",\"content\":\"x\"}] | FORMAT_OPENAI_CHAT",
        "[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[]}] | FORMAT_OPENAI_CHAT",
        "{\"model\":\"claude-sonnet-4-5\",\"max_tokens\":5,\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]} | FORMAT_UNSPECIFIED",
        "[{\"role\":\"assistant\",\"content\":\"x\",\"tool_calls\":null}] | FORMAT_UNSPECIFIED",
        "[{\"role\": | FORMAT_UNSPECIFIED",
        "7 | FORMAT_UNSPECIFIED"
    })
    void theFormatIsToldByWhatOnlyOneProviderWrites(String json, Format want) {
        assertEquals(want, Formats.of(utf8(json)));
    }

    @Test
    void aFormatThatCannotBeToldIsAskedFor() {
        Body<String> body = Body.of("[{\"role\":\"user\",\"content\":\"x\"}]");
        InvalidRequestException error = assertThrows(InvalidRequestException.class, body::conversation);
        assertEquals("conversation.native.format", error.field());
        assertEquals(Format.FORMAT_OPENAI_CHAT, body.as(Format.FORMAT_OPENAI_CHAT).conversation().getNative().getFormat());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
        "[ 1 , {\"a\":\"]\"},\"x\\\"y\"] | 1 {\"a\":\"]\"} \"x\\\"y\" | -",
        "{\"m\":{\"messages\":[9]},\"messages\" : [[1,2],3],\"system\":[{\"t\":\"}\"}]} | [1,2] 3 | [{\"t\":\"}\"}]",
        "{\"system\":\"s\",\"messages\":[]} | `` | \"s\"",
        "{\"messages\":[{\"a\":1}],\"n\":-1.5e3,\"b\":true} | {\"a\":1} | -"
    })
    void theLayoutFindsMessagesAndSystem(String json, String messages, String system) {
        BodyLayout layout = BodyLayout.of(utf8(json));
        List<String> found = new ArrayList<>();
        for (int i = 0; i < layout.count(); i++) {
            found.add(new String(utf8(json), layout.start(i), layout.end(i) - layout.start(i), StandardCharsets.UTF_8));
        }
        assertEquals(messages, String.join(" ", found));
        assertEquals(system, layout.hasSystem()
                ? json.substring(layout.systemStart(), layout.systemEnd()) : "-");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "  ", "7", "{}", "{\"messages\":7}", "[1,2", "[1,}]", "{\"messages\":[{]", "{\"messages\"", "[\"\\", "{:}", "[}"})
    void whatHasNoMessagesHasNoLayout(String json) {
        assertEquals(null, BodyLayout.of(utf8(json)));
    }

    @Test
    void aBodyIsReadToItsEndHoweverItIsBroken() {
        byte[] json = utf8("{\"system\":[{\"a\":\"\\\"}\"}],\"messages\":[{\"b\":[1,2.5,true,null]},\"x\"]}");
        for (int end = 0; end < json.length; end++) {
            BodyLayout.of(Arrays.copyOf(json, end)); // returns, whatever it returns
        }
    }
}
