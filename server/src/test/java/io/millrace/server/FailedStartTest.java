package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.millrace.server.config.Configuration;
import io.millrace.store.StoreException;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** A server that does not come up leaves its store closed. */
final class FailedStartTest {
  private final FakeStore store = new FakeStore();

  @Test
  void an_error_closes_the_store_as_well() {
    Error error = new NoClassDefFoundError("gone");
    assertThatThrownBy(() -> start(error)).isSameAs(error);
    assertThat(store.closed).isTrue();
  }

  @Test
  void a_port_in_use_is_named(@TempDir Path folder) throws IOException {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(other.getLocalPort());
      assertThatThrownBy(() -> TestServer.in(folder, "server.port", port).close())
          .isInstanceOf(ServerException.class)
          .hasMessageContaining("port " + port + ": ")
          .hasCauseInstanceOf(BindException.class);
    }
  }

  /** The warnings of a server that starts with these settings and ends. */
  private static List<String> warned(Path folder, String... settings) {
    Map<String, String> flags = new HashMap<>(Map.of("server.port", "0"));
    flags.put("store.data", folder.toString());
    for (int i = 0; i < settings.length; i += 2) {
      flags.put(settings[i], settings[i + 1]);
    }
    Logger log = (Logger) LoggerFactory.getLogger(MillraceServer.class);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    log.addAppender(lines);
    log.setLevel(Level.WARN);
    try {
      MillraceServer.start(Configuration.read(MillraceServer.SECTIONS, null, flags)).close();
    } finally {
      log.setLevel(null);
      log.detachAppender(lines);
    }
    return lines.list.stream()
        .filter(line -> line.getLevel().equals(Level.WARN))
        .map(ILoggingEvent::getFormattedMessage)
        .toList();
  }

  @Test
  void a_new_store_beside_the_files_of_a_server_whose_store_is_elsewhere_is_warned_of(
      @TempDir Path root) {
    Path shared = root.resolve("shared");
    assertThat(warned(shared, "store.url", "jdbc:sqlite:" + root.resolve("store.db"))).isEmpty();
    assertThat(warned(shared))
        .singleElement()
        .asString()
        .startsWith("the folder " + shared + " has no store, but ")
        .contains("blobs")
        .endsWith("name the address of the store with store.url");
    assertThat(warned(shared)).isEmpty();
    assertThat(warned(root.resolve("new"))).isEmpty();
  }

  private void start(Error error) {
    MillraceServer.orClose(
        store,
        () -> {
          throw error;
        });
  }

  @Test
  void a_store_that_cannot_be_closed_does_not_hide_why_the_start_failed() {
    StoreException closing = new StoreException("cannot close");
    FakeStore stubborn =
        new FakeStore() {
          @Override
          public void close() {
            throw closing;
          }
        };
    Error error = new NoClassDefFoundError("gone");
    assertThatThrownBy(() ->
            MillraceServer.orClose(
                stubborn,
                () -> {
                  throw error;
                }))
        .isSameAs(error)
        .hasSuppressedException(closing);
  }
}
