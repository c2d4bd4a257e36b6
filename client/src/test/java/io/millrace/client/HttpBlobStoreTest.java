package io.millrace.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.millrace.blobs.Blob;
import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.BlobStoreContract;
import io.millrace.blobs.BlobStream;
import io.millrace.blobs.FileBlobStore;
import io.millrace.blobs.GeneratedStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HttpBlobStoreTest extends BlobStoreContract {
  private final BlobServer server;
  private final HttpBlobStore blobs;

  HttpBlobStoreTest(@TempDir Path folder) throws IOException {
    server = new BlobServer(FileBlobStore.open(folder), "secret");
    blobs = HttpBlobStore.at(server.address(), "secret");
  }

  @AfterEach
  void close() {
    blobs.close();
    server.close();
  }

  @Override
  protected BlobStore blobs() {
    return blobs;
  }

  @Override
  protected long bytesArrived() {
    return server.received();
  }

  @Test
  void an_answer_that_was_not_expected_is_shown_with_its_status() {
    try (HttpBlobStore withoutToken = HttpBlobStore.at(server.address())) {
      assertThatThrownBy(() -> withoutToken.open("x"))
          .isInstanceOf(BlobException.class)
          .hasMessageContaining("blob x")
          .hasMessageContaining("401 a token is needed");
      assertThatThrownBy(() -> withoutToken.size("x")).hasMessageContaining("401");
      assertThatThrownBy(() -> withoutToken.delete("x")).hasMessageContaining("401");
      assertThatThrownBy(() -> withoutToken.list("x")).hasMessageContaining("401");
      assertThatThrownBy(() -> withoutToken.put("x", InputStream.nullInputStream()))
          .hasMessageContaining("401");
    }
  }

  @Test
  void a_server_that_is_not_there_is_an_error() throws IOException {
    URI address;
    try (BlobServer gone = new BlobServer(blobs, null)) {
      address = gone.address();
    }
    try (HttpBlobStore nowhere = HttpBlobStore.at(address)) {
      assertThatThrownBy(() -> nowhere.size("x"))
          .isInstanceOf(BlobException.class)
          .hasMessageContaining("blob x");
      assertThatThrownBy(() -> nowhere.put("x", InputStream.nullInputStream()))
          .isInstanceOf(BlobException.class)
          .hasMessageContaining("blob x");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"ftp://host", "host", "http:///path", "http://host/?a=b"})
  void an_address_that_is_none_is_refused(String address) {
    assertThatThrownBy(() -> HttpBlobStore.at(URI.create(address)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(address);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "two words", "line\n", "ü"})
  void a_token_that_no_header_can_carry_is_refused(String token) {
    assertThatThrownBy(() -> HttpBlobStore.at(server.address(), token))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("token");
  }

  @Test
  void a_put_that_the_server_stored_otherwise_is_an_error() throws IOException {
    assertThatThrownBy(() ->
            answering(
                201,
                "{\"name\":\"x\",\"size\":4,\"sha256\":\"00\"}",
                Map.of(),
                store -> store.put("x", new GeneratedStream(1, 5, () -> {}))))
        .isInstanceOf(BlobException.class)
        .hasMessageContaining("size=5")
        .hasMessageContaining("size=4");
  }

  @Test
  void a_server_that_knows_no_ranges_is_read_from_the_offset_all_the_same() throws IOException {
    answering(
        200,
        "abcdef",
        Map.of(),
        store -> {
          try (BlobStream in = store.open("x", 4)) {
            assertThat(new String(in.readAllBytes(), UTF_8)).isEqualTo("ef");
          }
        });
  }

  @Test
  void a_range_that_was_not_asked_for_is_an_error() {
    assertThatThrownBy(() ->
            answering(
                206, "abcdef", Map.of("Content-Range", "bytes 0-5/6"), store -> store.open("x", 4)))
        .isInstanceOf(BlobException.class)
        .hasMessageContaining("bytes 0-5/6");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{\"blobs\":[",
        "{\"blobs\":[{\"name\":\"x\"}]}",
        "{\"blobs\":[{\"name\":\"x\",\"size\":1,\"modified\":\"2026-01-01T00:00:00Z\"},",
        "<html>"
      })
  void a_listing_that_is_broken_is_an_error_and_never_a_shorter_one(String body) {
    assertThatThrownBy(() ->
            answering(
                200,
                body,
                Map.of(),
                store -> {
                  try (Stream<Blob> listed = store.list("")) {
                    assertThat(listed.toList()).isNull();
                  }
                }))
        .isInstanceOf(BlobException.class)
        .hasMessageContaining("cannot be listed");
  }

  private interface Use {
    void with(HttpBlobStore store) throws IOException;
  }

  private static void answering(int status, String body, Map<String, String> headers, Use use)
      throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          headers.forEach(exchange.getResponseHeaders()::set);
          byte[] bytes = body.getBytes(UTF_8);
          exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    server.start();
    try (HttpBlobStore store =
        HttpBlobStore.at(URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/"))) {
      use.with(store);
    } finally {
      server.stop(0);
    }
  }
}
