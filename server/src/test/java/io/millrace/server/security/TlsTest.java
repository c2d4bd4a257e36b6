package io.millrace.server.security;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.client.HttpTaskStore;
import io.millrace.http.transport.Certificates;
import io.millrace.server.ServerException;
import io.millrace.server.TestServer;
import io.millrace.server.config.ConfigurationException;
import io.millrace.store.Owner;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.work.TrustedCertificates;
import java.io.IOException;
import java.io.InputStream;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server with a certificate, and what clients can do to it. */
@Timeout(120)
final class TlsTest {
  private static final String GET = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

  @TempDir private Path folder;
  private @Nullable TestServer started;

  @AfterEach
  void stop() {
    if (started != null) {
      started.close();
    }
  }

  private TestServer start(String... keysAndValues) {
    TestServer server =
        TestServer.with(TestServer.Wire.TLS, TaskStore::open, folder, keysAndValues);
    started = server;
    return server;
  }

  private static String status(Socket client) throws IOException {
    return new String(client.getInputStream().readNBytes(12), UTF_8);
  }

  /** A whole answer, whose body is one JSON object without others in it. */
  private static String answer(Socket client) throws IOException {
    InputStream in = client.getInputStream();
    StringBuilder text = new StringBuilder();
    while (text.isEmpty() || text.charAt(text.length() - 1) != '}') {
      text.append(new String(in.readNBytes(1), UTF_8));
    }
    return text.toString();
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void both_versions_of_tls_are_spoken_and_http_is_agreed_on(String version) throws Exception {
    TestServer server = start();
    try (SSLSocket client = (SSLSocket) server.connect()) {
      client.setEnabledProtocols(new String[] {version});
      var parameters = client.getSSLParameters();
      parameters.setApplicationProtocols(new String[] {"h2", "http/1.1"});
      client.setSSLParameters(parameters);
      for (int i = 0; i < 3; i++) {
        client.getOutputStream().write(GET.getBytes(ISO_8859_1));
        assertThat(answer(client)).startsWith("HTTP/1.1 200");
      }
      assertThat(client.getSession().getProtocol()).isEqualTo(version);
      assertThat(client.getApplicationProtocol()).isEqualTo("http/1.1");
    }
  }

  @Test
  void many_requests_in_one_record_are_all_answered() throws Exception {
    TestServer server = start();
    String claim = "{\"clientid\":1,\"group\":\"a\",\"duration\":1000}";
    String request =
        "POST /store/claim HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"
            .formatted(claim.length(), claim);
    try (Socket client = server.connect()) {
      client.getOutputStream().write((request.repeat(50) + GET).getBytes(ISO_8859_1));
      client.shutdownOutput();
      String all = new String(client.getInputStream().readAllBytes(), UTF_8);
      assertThat(all.split("HTTP/1.1 200", -1)).hasSize(52);
    }
  }

  @Test
  void programs_of_the_same_machine_may_connect_without_tls() throws Exception {
    assertServes(start());
  }

  private static void assertServes(TestServer server) throws IOException {
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      client.setSoTimeout(30_000);
      client.getOutputStream().write(GET.getBytes(ISO_8859_1));
      assertThat(status(client)).isEqualTo("HTTP/1.1 200");
    }
  }

  @Test
  void a_page_needs_the_origin_of_https() throws Exception {
    TestServer server = start();
    String own = "127.0.0.1:" + server.port();
    assertThat(server.get("/store/groups", "Origin", "https://" + own).statusCode()).isEqualTo(200);
    assertThat(server.get("/store/groups", "Origin", "http://" + own).statusCode()).isEqualTo(403);
  }

  @Test
  void the_client_of_the_store_and_its_streams_work() throws Exception {
    TestServer server = start();
    try (TaskStore store = HttpTaskStore.open(server.options())) {
      store
          .commit(Transaction.by(Owner.client(1)).add("group", "x".repeat(500_000)).build())
          .done();
      assertThat(store.groups().value()).hasSize(1);
    }
  }

  @Test
  void a_web_socket_works_over_tls() throws Exception {
    TestServer server = start();
    CompletableFuture<String> received = new CompletableFuture<>();
    CompletableFuture<Integer> closed = new CompletableFuture<>();
    try (HttpClient client =
        HttpClient.newBuilder()
            .sslContext(TrustedCertificates.context(folder.resolve("shared.pem")))
            .build()) {
      WebSocket socket =
          client
              .newWebSocketBuilder()
              .buildAsync(
                  URI.create("wss://127.0.0.1:" + server.port() + "/api/worker"),
                  new WebSocket.Listener() {
                    @Override
                    public @Nullable CompletionStage<?> onText(
                        WebSocket from, CharSequence data, boolean last) {
                      received.complete(data.toString());
                      from.request(1);
                      return null;
                    }

                    @Override
                    public @Nullable CompletionStage<?> onClose(
                        WebSocket from, int code, String reason) {
                      closed.complete(code);
                      return null;
                    }
                  })
              .get(30, TimeUnit.SECONDS);
      socket.sendText("no registration", true).get(30, TimeUnit.SECONDS);
      assertThat(closed.get(30, TimeUnit.SECONDS)).isPositive();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 200})
  void a_slow_handshake_is_cut_off(int bytes) throws Exception {
    TestServer server = start("server.head-timeout", "1500ms");
    byte[] hello = new byte[300];
    hello[0] = 22;
    hello[1] = 3;
    hello[2] = 1;
    hello[3] = 1;
    hello[4] = 0;
    hello[5] = 1;
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      client.setSoTimeout(30_000);
      client.getOutputStream().write(hello, 0, bytes);
      assertThat(ended(client)).isTrue();
    }
    assertServes(server);
  }

  @ParameterizedTest
  @ValueSource(strings = {"16030100050100000100", "160301ffff", "1603010002ffff", "16999900050100"})
  void garbage_ends_the_connection_and_nothing_else(String hex) throws Exception {
    TestServer server = start("server.head-timeout", "1500ms");
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      client.setSoTimeout(30_000);
      client.getOutputStream().write(HexFormat.of().parseHex(hex));
      client.getOutputStream().write(new byte[40_000]);
      assertThat(ended(client)).isTrue();
    } catch (SocketException _) {
      // Cut while it was still sending.
    }
    assertServes(server);
  }

  /** Reads until the server closes, whatever alert comes before. */
  private static boolean ended(Socket client) throws IOException {
    try {
      byte[] _ = client.getInputStream().readAllBytes();
      return true;
    } catch (SocketException _) {
      return true;
    }
  }

  @Test
  void a_client_that_begins_another_handshake_is_cut_off() throws Exception {
    TestServer server = start();
    try (SSLSocket client = (SSLSocket) server.connect()) {
      client.setEnabledProtocols(new String[] {"TLSv1.2"});
      client.getOutputStream().write(GET.getBytes(ISO_8859_1));
      assertThat(status(client)).isEqualTo("HTTP/1.1 200");
      client.startHandshake();
      assertThatThrownBy(
              () -> {
                client.getOutputStream().write(GET.getBytes(ISO_8859_1));
                if (client.getInputStream().readAllBytes().length == 0) {
                  throw new SSLException("closed");
                }
              })
          .isInstanceOf(IOException.class);
    }
    assertThat(server.get("/health").statusCode()).isEqualTo(200);
  }

  private static Path replace(Path from, Path to) throws IOException {
    Path copy = Files.copy(from, to.resolveSibling("copy"), StandardCopyOption.REPLACE_EXISTING);
    return Files.move(
        copy, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private static X509Certificate presented(int port, Path... trusted) throws IOException {
    IOException failure = new IOException("no certificate");
    for (Path each : trusted) {
      try (SSLSocket client =
          (SSLSocket)
              TrustedCertificates.context(each)
                  .getSocketFactory()
                  .createSocket(InetAddress.getLoopbackAddress(), port)) {
        client.setSoTimeout(30_000);
        client.startHandshake();
        return (X509Certificate) client.getSession().getPeerCertificates()[0];
      } catch (SSLException e) {
        failure = e;
      }
    }
    throw failure;
  }

  @Test
  void a_new_certificate_is_used_for_new_connections_and_a_broken_one_is_not() throws Exception {
    TestServer server = start();
    Path shared = folder.resolve("shared.pem");
    Certificates certificates = new Certificates(folder);
    Path other = certificates.make("other", "RSA");
    Path otherKey = certificates.key("other");
    X509Certificate first = presented(server.port(), shared);
    try (Socket open = server.connect()) {
      open.getOutputStream().write(GET.getBytes(ISO_8859_1));
      assertThat(answer(open)).startsWith("HTTP/1.1 200");
      Path kept = Files.copy(shared, folder.resolve("kept.pem"));
      Path broken = Files.writeString(folder.resolve("broken.pem"), "no certificate");
      var _ = replace(broken, shared);
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(3);
      while (System.nanoTime() < end) {
        assertThat(presented(server.port(), kept)).isEqualTo(first);
        LockSupport.parkNanos(20_000_000);
      }
      var _ = replace(otherKey, folder.resolve("shared.key"));
      var _ = replace(other, shared);
      X509Certificate now = first;
      while (now.equals(first)) {
        now = presented(server.port(), kept, other);
      }
      assertThat(now.getPublicKey().getAlgorithm()).isEqualTo("RSA");
      open.getOutputStream().write(GET.getBytes(ISO_8859_1));
      assertThat(answer(open)).startsWith("HTTP/1.1 200");
    }
  }

  @Test
  void an_expired_certificate_is_served_and_shown_in_the_metrics() throws Exception {
    Certificates certificates = new Certificates(folder);
    Path expired = certificates.makeExpired("expired");
    started =
        TestServer.in(
            folder,
            "server.tls.certificate",
            expired.toString(),
            "server.tls.key",
            certificates.key("expired").toString());
    String metrics = started.get("/metrics").body();
    Matcher expires =
        Pattern.compile("(?m)^millrace_http_certificate_expires_seconds (\\S+)$").matcher(metrics);
    assertThat(expires.find()).as(metrics).isTrue();
    Instant end = Instant.ofEpochSecond((long) Double.parseDouble(expires.group(1)));
    assertThat(end).isBefore(Instant.now());
  }

  @Test
  void off_loopback_the_server_needs_tls_or_a_word_that_it_does_not() throws Exception {
    assertThatThrownBy(() -> TestServer.in(folder, "server.address", "0.0.0.0"))
        .isInstanceOf(ServerException.class)
        .hasMessageContainingAll(
            "server.tls.certificate", "server.behind-proxy", "server.allow-unencrypted");
    TestServer.in(folder, "server.address", "0.0.0.0", "server.behind-proxy", "10.9.8.7").close();
    TestServer.in(folder, "server.address", "0.0.0.0", "server.allow-unencrypted", "true").close();
    start("server.address", "0.0.0.0", "server.require-credentials", "true");
  }

  @Test
  void settings_that_cannot_be_used_are_refused() {
    assertThatThrownBy(() -> TestServer.in(folder, "server.tls.key", "a"))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("together");
    assertThatThrownBy(
            () -> TestServer.in(folder, "server.tls.certificate", "a", "server.tls.key", "b"))
        .isInstanceOf(ServerException.class)
        .hasMessageContaining("cannot read the certificate a");
  }

  /**
   * The client's address is neither loopback nor the one that it connects to, as that of another
   * machine.
   */
  @ParameterizedTest
  @ValueSource(strings = {"", "Connection: Upgrade\r\nUpgrade: websocket\r\n"})
  void a_plain_request_from_another_address_is_refused_and_changes_nothing(String more)
      throws Exception {
    InetAddress other =
        NetworkInterface.networkInterfaces()
            .flatMap(NetworkInterface::inetAddresses)
            .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress())
            .findFirst()
            .orElse(null);
    assumeTrue(other != null, "this machine has a loopback address only");
    TestServer server = start();
    String update = "{\"clientid\":1,\"adds\":[{\"group\":\"a\",\"data\":\"x\"}]}";
    String post =
        "POST /store/update HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n%s"
            .formatted(more, update.length(), update);
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), server.port(), other, 0)) {
      client.setSoTimeout(30_000);
      client.getOutputStream().write(post.getBytes(ISO_8859_1));
      assertThat(new String(client.getInputStream().readAllBytes(), UTF_8))
          .startsWith("HTTP/1.1 400")
          .contains("Connection: close")
          .contains("this port is encrypted: use https");
    }
    assertThat(server.get("/store/groups").body()).isEqualTo("[]");
    // It was for want of TLS, not for the address.
    try (Socket plain = new Socket(InetAddress.getLoopbackAddress(), server.port(), other, 0);
        Socket client =
            TrustedCertificates.context(folder.resolve("shared.pem"))
                .getSocketFactory()
                .createSocket(plain, "localhost", server.port(), true)) {
      client.setSoTimeout(30_000);
      client.getOutputStream().write(GET.getBytes(ISO_8859_1));
      assertThat(status(client)).isEqualTo("HTTP/1.1 200");
    }
  }

  @Test
  void every_address_of_this_machine_counts_as_this_machine() throws Exception {
    TestServer server = start("server.address", "0.0.0.0");
    for (NetworkInterface each : NetworkInterface.networkInterfaces().toList()) {
      for (InetAddress address : each.inetAddresses().toList()) {
        if (address instanceof Inet4Address) {
          try (Socket client = new Socket(address, server.port())) {
            client.setSoTimeout(30_000);
            client.getOutputStream().write(GET.getBytes(ISO_8859_1));
            assertThat(status(client)).isEqualTo("HTTP/1.1 200");
          }
        }
      }
    }
  }
}
