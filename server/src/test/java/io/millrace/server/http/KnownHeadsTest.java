package io.millrace.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Heads that come again. */
class KnownHeadsTest {
  private static final String HEAD =
      "POST /store/update HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n";

  private final PlainReader reader = new PlainReader(HttpLimits.DEFAULT);

  private @Nullable PlainHead read(String head, String body) {
    byte[] bytes = (head + body).getBytes(StandardCharsets.ISO_8859_1);
    PlainHead known = reader.known(bytes, head.length());
    return known == null
        ? reader.read(Head.read(bytes, head.length()), bytes, head.length())
        : known;
  }

  @Test
  void a_head_that_comes_again_is_not_parsed_again() {
    PlainHead first = Objects.requireNonNull(read(HEAD, "{}   "));
    assertThat(read(HEAD, "[]   ")).isSameAs(first);
    assertThat(first.bodyBytes()).isEqualTo(5);
  }

  @Test
  void a_head_that_differs_in_one_byte_means_something_else() {
    PlainHead first = Objects.requireNonNull(read(HEAD, ""));
    PlainHead other = Objects.requireNonNull(read(HEAD.replace("5", "6"), ""));
    assertThat(other.bodyBytes()).isEqualTo(6);
    assertThat(read(HEAD, "")).isEqualTo(first);
  }

  @Test
  void many_heads_take_the_places_of_each_other_and_stay_right() {
    for (int round = 0; round < 2; round++) {
      for (int length = 0; length < 1_000; length++) {
        PlainHead head = Objects.requireNonNull(read(HEAD.replace("5", "" + length), ""));
        assertThat(head.bodyBytes()).isEqualTo(length);
      }
    }
  }

  @Test
  void a_head_with_credentials_is_not_kept() {
    String head = HEAD.replace("\r\n\r\n", "\r\nAuthorization: Bearer abc\r\n\r\n");
    PlainHead first = Objects.requireNonNull(read(head, ""));
    assertThat(read(head, "")).isNotSameAs(first);
  }

  @Test
  void a_head_that_is_not_plain_never_is() {
    String head = HEAD.replace("Content-Length: 5", "Transfer-Encoding: chunked");
    assertThat(read(head, "")).isNull();
    assertThat(read(head, "")).isNull();
  }
}
