package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.StoreException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
  void a_port_in_use_is_named_with_the_setting_that_chooses_another(@TempDir Path folder)
      throws IOException {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(other.getLocalPort());
      assertThatThrownBy(() -> TestServer.in(folder, "server.port", port).close())
          .isInstanceOf(ServerException.class)
          .hasMessageContainingAll("port " + port + ": ", "in use; server.port (--port)");
    }
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
