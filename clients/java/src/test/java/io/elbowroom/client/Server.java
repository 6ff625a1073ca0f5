package io.elbowroom.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/** The real server: the one at ELBOWROOM_ADDR, else one that is started from ELBOWROOM_BIN. */
final class Server implements AutoCloseable {
    private static Server shared;

    private final Process process;
    private final String target;

    private Server(Process process, String target) {
        this.process = process;
        this.target = target;
    }

    /** One server for all tests that leave it as it is. Skips the test where there is none. */
    static synchronized Server shared() {
        if (shared == null) {
            String address = System.getenv("ELBOWROOM_ADDR");
            if (address != null && !address.isEmpty()) {
                shared = new Server(null, address);
            } else {
                shared = start(0);
                Runtime.getRuntime().addShutdownHook(new Thread(shared::close));
            }
        }
        return shared;
    }

    /** A server of the test's own, on a port or, if it is 0, on any, with more flags. */
    static Server start(int port, String... flags) {
        String binary = System.getenv("ELBOWROOM_BIN");
        if (binary == null || binary.isEmpty()) {
            missing("neither ELBOWROOM_ADDR names a server nor ELBOWROOM_BIN a binary that can be started");
        }
        try {
            List<String> command = new ArrayList<>(List.of(
                    binary, "serve", "--grpc-addr", "127.0.0.1:" + port, "--http-addr=", "--admin-addr=", "--log-level", "error"));
            command.addAll(List.of(flags));
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            BufferedReader out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                if (line.startsWith("gRPC: ")) {
                    Thread rest = new Thread(() -> drain(out));
                    rest.setDaemon(true);
                    rest.start();
                    return new Server(process, line.substring("gRPC: ".length()).trim());
                }
            }
            process.destroyForcibly();
            throw new AssertionError(binary + " ended without saying its address");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void drain(BufferedReader out) {
        try {
            while (out.readLine() != null) {
                // a full pipe would stop the server
            }
        } catch (IOException e) {
            // the server was stopped
        }
    }

    /** Skips the test, or fails it where everything is expected to be there. */
    static void missing(String what) {
        if ("true".equals(System.getenv("CI"))) {
            Assertions.fail(what);
        }
        System.out.println("skipped: " + what);
        Assumptions.abort(what);
    }

    String target() {
        return target;
    }

    int port() {
        return Integer.parseInt(target.substring(target.lastIndexOf(':') + 1));
    }

    @Override
    public void close() {
        if (process == null) {
            return;
        }
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
