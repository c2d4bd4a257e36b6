package io.millrace.server.blobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.blobs.Blob;
import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobStream;
import io.millrace.blobs.NoSuchBlobException;
import io.millrace.client.HttpBlobStore;
import io.millrace.server.FakeStore;
import io.millrace.server.TestServer;
import java.io.ByteArrayInputStream;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Blobs through the client and a real server, and ranges by plain requests. */
@ParameterizedClass
@EnumSource(TestServer.Wire.class)
final class BlobsOverHttpTest {
  @Parameter private TestServer.Wire wire = TestServer.Wire.PLAIN;
  @TempDir private Path folder;
  private TestServer server;
  private HttpBlobStore blobs;

  @BeforeEach
  void start() {
    server = TestServer.with(wire, _ -> new FakeStore(), folder, "blobs.max-bytes", "1MiB");
    blobs = HttpBlobStore.at(server.options());
  }

  @AfterEach
  void stop() {
    blobs.close();
    server.close();
  }

  private void put(String name, String content) {
    blobs.put(name, new ByteArrayInputStream(content.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void what_was_put_is_read_listed_and_deleted() throws Exception {
    put("a.1", "x".repeat(700_000));
    put("a.2", "");
    put("b", "other");
    try (BlobStream read = blobs.open("a.1", 699_990)) {
      assertThat(read.readAllBytes()).hasSize(10);
    }
    assertThat(blobs.size("a.2")).hasValue(0);
    try (Stream<Blob> listed = blobs.list("a.")) {
      assertThat(listed.map(Blob::name)).containsExactlyInAnyOrder("a.1", "a.2");
    }
    assertThat(blobs.delete("a.1")).isTrue();
    assertThat(blobs.delete("a.1")).isFalse();
    assertThat(blobs.exists("a.1")).isFalse();
    assertThatThrownBy(() -> blobs.open("a.1").close()).isInstanceOf(NoSuchBlobException.class);
  }

  @ParameterizedTest
  @CsvSource({
    "bytes=0-3, 206, 0123, bytes 0-3/10",
    "bytes=7-, 206, 789, bytes 7-9/10",
    "bytes=-2, 206, 89, bytes 8-9/10",
    "bytes=8-99, 206, 89, bytes 8-9/10",
    "'bytes=0-1,3-4', 200, 0123456789,",
    "lines=1-2, 200, 0123456789,",
    "bytes=5-3, 200, 0123456789,",
  })
  void a_range_is_answered_in_part(String range, int status, String body, String content)
      throws Exception {
    put("digits", "0123456789");
    HttpResponse<String> response = server.get("/blobs/digits", "Range", range);
    assertThat(response.statusCode()).isEqualTo(status);
    assertThat(response.body()).isEqualTo(body);
    assertThat(response.headers().firstValue("Content-Range").orElse(null)).isEqualTo(content);
  }

  @Test
  void a_range_past_the_end_is_416_with_the_size() throws Exception {
    put("digits", "0123456789");
    HttpResponse<String> response = server.get("/blobs/digits", "Range", "bytes=10-");
    assertThat(response.statusCode()).isEqualTo(416);
    assertThat(response.headers().firstValue("Content-Range")).contains("bytes */10");
  }

  @Test
  void a_blob_beyond_the_limit_is_413_and_leaves_nothing() {
    assertThatThrownBy(() -> put("big", "x".repeat((1 << 20) + 1)))
        .isInstanceOf(BlobException.class)
        .hasMessageContaining("413");
    assertThat(blobs.exists("big")).isFalse();
  }

  @Test
  void a_name_that_no_blob_can_have_is_400() throws Exception {
    assertThat(server.get("/blobs/..%2Fsecret").statusCode()).isEqualTo(400);
    assertThat(server.send("PUT", "/blobs/.hidden", "x").statusCode()).isEqualTo(400);
    assertThat(server.get("/blobs?prefix=%2F").statusCode()).isEqualTo(400);
    assertThat(server.get("/blobs/none").statusCode()).isEqualTo(404);
  }
}
