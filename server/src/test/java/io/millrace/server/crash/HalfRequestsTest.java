package io.millrace.server.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A server with a small heap or few files, in a process of its own, to which thousands of clients
 * send half of a request. {@code -Dmillrace.halves=N} sets how many.
 */
@Timeout(600)
class HalfRequestsTest {
  private static final int HALVES = Integer.getInteger("millrace.halves", 3_000);

  /** The jars of the class path, each of which the server has open. */
  private static final int JARS =
      System.getProperty("java.class.path").split(File.pathSeparator, -1).length;

  private static final String UPDATE =
      "{\"clientid\":1,\"adds\":[{\"group\":\"a\",\"data\":\"b\"}]}";

  @TempDir private Path folder;

  private String post(String headers) {
    return "POST /store/update HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n\r\n";
  }

  private ServerProcess start(String before, String heap, boolean token) throws IOException {
    Path secret = Files.writeString(folder.resolve("token"), "secret");
    String data = folder.resolve("store").toString();
    return token
        ? ServerProcess.start(
            before, heap, "store.data", data, "server.token-file", secret.toString())
        : ServerProcess.start(before, heap, "store.data", data);
  }

  private static String files(int limit) {
    return "ulimit -n " + limit + ";";
  }

  /** Connects and sends as much of {@code text} as the server takes without waiting. */
  private static SocketChannel half(URI address, byte[] text) throws IOException {
    SocketChannel client =
        SocketChannel.open(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), address.getPort()));
    client.configureBlocking(false);
    try {
      client.write(ByteBuffer.wrap(text));
    } catch (IOException _) {
      // It has been turned away.
    }
    return client;
  }

  /** The answer to an update with the token, or "" if there is none. */
  private String update(URI address) {
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), address.getPort())) {
      client.setSoTimeout(60_000);
      String headers =
          "Connection: close\r\nAuthorization: Bearer secret\r\nContent-Length: " + UPDATE.length();
      client.getOutputStream().write((post(headers) + UPDATE).getBytes(StandardCharsets.UTF_8));
      return new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (SocketTimeoutException e) {
      throw new AssertionError("the server is mute", e);
    } catch (IOException _) {
      return "";
    }
  }

  /** Asks until it is answered as hoped for: a refusal may come, silence may not. */
  private void assertServes(URI address) {
    String answer = update(address);
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    while (!answer.startsWith("HTTP/1.1 200 ")) {
      assertThat(answer)
          .as("answer")
          .satisfiesAnyOf(
              each -> assertThat(each).startsWith("HTTP/1.1 503 "),
              each -> assertThat(each).isEmpty());
      assertThat(System.nanoTime() - end).as("nanoseconds beyond a minute").isNegative();
      answer = update(address);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "true, Content-Length: 63000, 62000",
    "false, Content-Length: 63000, 62000",
    "false, Transfer-Encoding: chunked, 62000",
    "true, X-Long:, 15000"
  })
  void thousands_of_half_requests_leave_a_small_heap_alive(boolean token, String header, int bytes)
      throws Exception {
    String head = post(header);
    // The last has no complete head; the body of another may be one chunk.
    String begin = header.startsWith("X") ? head.strip() : head;
    String chunk = header.startsWith("T") ? "f230\r\n" : "";
    byte[] half = (begin + chunk + "x".repeat(bytes)).getBytes(StandardCharsets.US_ASCII);
    List<SocketChannel> clients = new ArrayList<>();
    try (ServerProcess server = start("", "-Xmx64m", token)) {
      for (int i = 0; i < HALVES; i++) {
        clients.add(half(server.address(), half));
        if (i % 500 == 499) {
          assertServes(server.address());
        }
      }
      assertServes(server.address());
      for (SocketChannel client : clients) {
        client.close();
      }
      clients.clear();
      for (int i = 0; i < 20; i++) {
        assertServes(server.address());
      }
      server.kill();
    } finally {
      for (SocketChannel client : clients) {
        client.close();
      }
    }
  }

  /** A quarter of the files is reserved; what remains is enough for jars and some connections. */
  @Test
  void idle_connections_leave_the_journal_its_files() throws Exception {
    List<SocketChannel> clients = new ArrayList<>();
    try (ServerProcess server = start(files((JARS + 70) * 4 / 3), "-Xmx128m", true)) {
      for (int i = 0; i < 1_000; i++) {
        clients.add(half(server.address(), new byte[0]));
      }
      for (int i = 0; i < 20; i++) {
        assertServes(server.address());
      }
      server.kill();
    } finally {
      for (SocketChannel client : clients) {
        client.close();
      }
    }
    try (ServerProcess server = start("", "-Xmx128m", true)) {
      assertServes(server.address());
      server.kill();
    }
  }

  @Test
  void a_server_that_may_open_too_few_files_says_so() {
    assertThatThrownBy(() -> start(files(JARS + 40), "-Xmx128m", true))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("open files");
  }
}
