package io.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.client.ResponseReader.ResponseStream;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ResponseReaderTest {
  private static ResponseReader reader(String text, int most) {
    return new ResponseReader(
        new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1)) {
          @Override
          public synchronized int read(byte[] target, int offset, int length) {
            return super.read(target, offset, Math.min(length, most));
          }
        });
  }

  private static String body(InputStream response) throws IOException {
    return new String(response.readAllBytes(), StandardCharsets.ISO_8859_1);
  }

  @Test
  void responses_that_come_in_any_pieces_are_read_one_after_the_other() throws Exception {
    String text =
        """
        HTTP/1.1 100 Continue\r
        \r
        HTTP/1.1 200 OK\r
        content-length:  5 \r
        X-One: a\r
        x-one: b\r
        \r
        firstHTTP/1.1 200 OK\r
        Transfer-Encoding: chunked\r
        Content-Length: 3\r
        \r
        4;note=x\r
        seco\r
        2\r
        nd\r
        0\r
        Trailer: t\r
        \r
        HTTP/1.1 204 No Content\r
        Connection: keep-alive\r
        \r
        HTTP/1.1 200\r
        Content-Length: 9\r
        \r
        HTTP/1.0 200 OK
        Content-Length: 0

        HTTP/1.1 404 Not Found\r
        Connection: Close\r
        \r
        the rest\
        """;
    for (int most : List.of(1, 2, 3, 7, 100, 10_000)) {
      ResponseReader reader = reader(text, most);
      ResponseStream first = reader.next("POST");
      assertThat(first.status()).isEqualTo(200);
      assertThat(first.header("X-ONE")).isEqualTo("a");
      assertThat(first.header("X-On")).isNull();
      assertThat(first.rest()).asString().isEqualTo("first");
      assertThat(first.read()).isEqualTo(-1);
      assertThat(body(reader.next("GET"))).isEqualTo("second");
      assertThat(body(reader.next("DELETE"))).isEmpty();
      assertThat(reader.next("HEAD").rest()).isEmpty();
      ResponseStream old = reader.next("GET");
      assertThat(old.rest()).isEmpty();
      assertThat(old.keepsConnection()).isFalse();
      ResponseStream last = reader.next("GET");
      assertThat(last.status()).isEqualTo(404);
      assertThat(last.rest()).asString().isEqualTo("the rest");
      assertThat(last.keepsConnection()).isFalse();
      assertThatThrownBy(() -> reader.next("GET")).isInstanceOf(EOFException.class);
    }
  }

  @Test
  void a_connection_is_kept_only_behind_a_response_that_was_read_and_allows_it() throws Exception {
    String plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    ResponseStream unread = reader(plain, 100).next("GET");
    assertThat(unread.keepsConnection()).isFalse();
    assertThat(body(unread)).isEqualTo("ok");
    assertThat(unread.keepsConnection()).isTrue();
    ResponseStream more = reader(plain + "HTTP", 100).next("GET");
    assertThat(body(more)).isEqualTo("ok");
    assertThat(more.keepsConnection()).isFalse();
    ResponseStream chunks =
        reader("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", 100)
            .next("GET");
    assertThat(body(chunks)).isEqualTo("a");
    assertThat(chunks.keepsConnection()).isTrue();
    ResponseStream old =
        reader("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n", 100)
            .next("GET");
    assertThat(old.keepsConnection()).isTrue();
  }

  @Test
  void a_body_that_breaks_off_is_an_error() throws Exception {
    for (String text :
        List.of(
            "Content-Length: 9\r\n\r\nshort",
            "Transfer-Encoding: chunked\r\n\r\n9\r\nshort",
            "Transfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
            "Transfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n0\r\n")) {
      ResponseReader reader = reader("HTTP/1.1 200 OK\r\n" + text, 3);
      assertThatThrownBy(() -> reader.next("GET").rest()).isInstanceOf(EOFException.class);
      ResponseReader again = reader("HTTP/1.1 200 OK\r\n" + text, 3);
      assertThatThrownBy(() -> body(again.next("GET"))).isInstanceOf(EOFException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SSH-2.0-server\r\n\r\n",
        "HTTP/2 200\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 20\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n12",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n"
      })
  void what_is_not_http_is_an_error(String text) {
    assertThatThrownBy(() -> reader(text, 5).next("GET").rest())
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("the response is not HTTP: ");
  }

  @Test
  void a_head_that_does_not_end_is_an_error() {
    String endless = "HTTP/1.1 200 OK\r\nX: " + "x".repeat(ResponseReader.HEAD_BYTES);
    assertThatThrownBy(() -> reader(endless, 1_000).next("GET"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("head");
  }
}
