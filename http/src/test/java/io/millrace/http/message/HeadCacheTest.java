package io.millrace.http.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Heads that come again. */
class HeadCacheTest {
  private static final String HEAD =
      "POST /store/update HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n";

  private final HeadCache cache = new HeadCache();

  private Head read(String text) {
    byte[] bytes = (text + "{}").getBytes(StandardCharsets.ISO_8859_1);
    Head known = cache.find(bytes, text.length());
    if (known != null) {
      return known;
    }
    Head head = Head.read(bytes, text.length());
    cache.add(bytes, head);
    return head;
  }

  @Test
  void a_head_that_comes_again_is_not_parsed_again() {
    Head first = read(HEAD);
    assertThat(read(HEAD)).isSameAs(first);
    assertThat(first.bodyBytes()).isEqualTo(5);
  }

  @Test
  void a_head_that_differs_in_one_byte_means_something_else() {
    Head first = read(HEAD);
    assertThat(read(HEAD.replace("5", "6")).bodyBytes()).isEqualTo(6);
    assertThat(read(HEAD).bodyBytes()).isEqualTo(first.bodyBytes());
  }

  @Test
  void many_heads_take_the_places_of_each_other_and_stay_right() {
    for (int round = 0; round < 2; round++) {
      for (int length = 0; length < 1_000; length++) {
        assertThat(read(HEAD.replace("5", "" + length)).bodyBytes()).isEqualTo(length);
      }
    }
  }

  @Test
  void a_head_with_credentials_is_not_kept() {
    String head = HEAD.replace("\r\n\r\n", "\r\nAuthorization: Bearer abc\r\n\r\n");
    assertThat(read(head)).isNotSameAs(read(head));
  }

  @Test
  void a_head_that_is_not_plain_is_not_kept() {
    String head = HEAD.replace("Content-Length: 5", "Transfer-Encoding: chunked");
    assertThat(read(head).isPlain()).isFalse();
    assertThat(read(head)).isNotSameAs(read(head));
  }
}
