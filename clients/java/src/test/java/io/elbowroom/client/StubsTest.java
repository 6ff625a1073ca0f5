package io.elbowroom.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Message;
import io.elbowroom.v1.CacheProto;
import io.elbowroom.v1.CompressProto;
import io.elbowroom.v1.ContextServiceProto;
import io.elbowroom.v1.ConversationProto;
import io.elbowroom.v1.CountProto;
import io.elbowroom.v1.SimulateProto;
import io.elbowroom.v1.SummarizerProto;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The committed stubs against the published descriptor set. Comments are for generate.sh --check. */
class StubsTest {
    private static final Path PUBLISHED = Path.of("..", "..", "gen", "descriptor", "elbowroom.binpb");

    private static final List<FileDescriptor> STUBS = List.of(
            CacheProto.getDescriptor(), CompressProto.getDescriptor(), ContextServiceProto.getDescriptor(),
            ConversationProto.getDescriptor(), CountProto.getDescriptor(), SimulateProto.getDescriptor(),
            SummarizerProto.getDescriptor());

    @Test
    void theStubsAreThoseOfTheApi() throws IOException {
        Map<String, Message> want = new TreeMap<>();
        for (FileDescriptorProto file : FileDescriptorSet.parseFrom(Files.readAllBytes(PUBLISHED)).getFileList()) {
            if (file.getName().startsWith("elbowroom/")) {
                want.put(file.getName(), comparable(file));
            }
        }
        assertTrue(want.size() >= 7, want.keySet().toString());
        Map<String, Message> got = new TreeMap<>();
        for (FileDescriptor stub : STUBS) {
            got.put(stub.getFullName(), comparable(stub.toProto()));
        }
        assertEquals(want, got, "src/generated is stale: run generate.sh");
    }

    /** Without options and their import, and with the one field under the name that the stubs give it. */
    private static Message comparable(FileDescriptorProto file) {
        FileDescriptorProto.Builder plain = file.toBuilder().clearDependency();
        file.getDependencyList().stream().filter(name -> !name.startsWith("buf/")).forEach(plain::addDependency);
        return plain((Message) plain.build());
    }

    private static Message plain(Message message) {
        Message.Builder plain = message.toBuilder();
        for (Map.Entry<FieldDescriptor, Object> entry : message.getAllFields().entrySet()) {
            FieldDescriptor field = entry.getKey();
            if (field.getName().equals("options")) {
                plain.clearField(field);
            } else if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE && field.isRepeated()) {
                for (int i = 0; i < message.getRepeatedFieldCount(field); i++) {
                    plain.setRepeatedField(field, i, plain((Message) message.getRepeatedField(field, i)));
                }
            }
        }
        Message built = plain.build();
        return built instanceof FieldDescriptorProto field && field.getName().equals("json_bytes")
                ? field.toBuilder().setName("json_utf8").build() : built;
    }
}
