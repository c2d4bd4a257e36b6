package io.millrace.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.queues.Program;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Members of which one listens on a port, which is killed with signal 9. */
final class PortKillTest {
  @TempDir private Path root = Path.of("");

  private final Map<String, Program> members = new HashMap<>();

  @AfterEach
  void kill() {
    members.values().forEach(Program::kill);
  }

  private void start(int port, List<String> more) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("member"));
    arguments.addAll(List.of("--documents", "file:" + root.resolve("documents")));
    arguments.addAll(more);
    Path log = root.resolve("member-" + members.size() + "-" + port + ".log");
    Program.Ready ready = Program.startReady(log, arguments);
    members.put(ready.line().split(" ", -1)[2], ready.program());
  }

  @Test
  void when_the_one_who_listens_is_killed_another_takes_over() throws IOException {
    int port = freePort();
    Path lines = root.resolve("lines");
    start(
        port,
        List.of(
            "--lease",
            "1s",
            "--example",
            "port",
            "--port",
            Integer.toString(port),
            "--output",
            lines.toString()));
    start(port, List.of());
    Await.until("somebody listens", () -> takes(port, "first"));
    // If the lead has changed before an answer came, more than one has taken the line.
    String taken = Files.readAllLines(lines).getLast();
    String first = taken.split(" ", -1)[1];
    Objects.requireNonNull(members.remove(first), first).killAlive();
    Await.until("another listens", () -> takes(port, "second"));
    List<String> all = Files.readAllLines(lines);
    assertThat(taken).startsWith("first " + first + " ");
    assertThat(members).containsKey(all.getLast().split(" ", -1)[1]);
    assertThat(fence(all.getLast())).isGreaterThan(fence(taken));
  }

  private static long fence(String line) {
    return Long.parseLong(line.substring(line.lastIndexOf(' ') + 1));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** Whether a member listens on the port and has accepted a line. */
  private static boolean takes(int port, String line) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        BufferedReader answers =
            new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))) {
      socket.setSoTimeout(5000);
      OutputStream out = socket.getOutputStream();
      out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
      return answers.readLine() != null;
    } catch (IOException e) {
      return false;
    }
  }
}
