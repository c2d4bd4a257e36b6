package io.millrace.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.http.AccessCheck.Person;
import io.millrace.http.AccessCheck.Source;
import io.millrace.http.message.Head;
import io.millrace.http.message.HttpProblem;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** For whom servers believe each other that they pass a request on. */
final class RelaySignaturesTest {
  private static final InetAddress FELLOW = InetAddress.ofLiteral("10.0.0.2");
  private static final InetAddress CLIENT = InetAddress.ofLiteral("192.0.2.7");
  private static final Person ANNA = new Person("anna.é", "staff, mail\u00fcr");
  private static final String TARGET = "/shards/3/dci/queues?limit=2";

  private final AtomicLong millis = new AtomicLong(1_800_000_000_000L);
  private final RelaySignatures sender = by("secret-of-all", 1);
  private final RelaySignatures receiver = by("secret-of-all", 2);

  private RelaySignatures by(String secret, int seed) {
    return new RelaySignatures(
        secret,
        () -> Instant.ofEpochMilli(millis.get()),
        new Random(seed),
        new SignInPace(() -> millis.get() * 1_000_000));
  }

  private static Head head(String method, String target, String header) {
    byte[] bytes =
        "%s %s HTTP/1.1\r\nHost: b:8048\r\n%s: %s\r\n\r\n"
            .formatted(method, target, RelaySignatures.HEADER, header)
            .getBytes(StandardCharsets.ISO_8859_1);
    return Head.read(bytes, bytes.length);
  }

  private @Nullable Person person(InetAddress peer, Head head) {
    return receiver.source(new Source(peer, peer, null), head).person();
  }

  private void refused(String why, String method, String target, String header) {
    assertThatThrownBy(() -> person(FELLOW, head(method, target, header)))
        .isInstanceOfSatisfying(
            HttpProblem.class, problem -> assertThat(problem.status()).isEqualTo(403))
        .hasMessageContaining(why);
  }

  @Test
  void a_fellow_server_is_believed_whom_it_names() {
    String signed = sender.sign("GET", TARGET, CLIENT, ANNA);
    assertThat(person(FELLOW, head("GET", TARGET, signed))).isEqualTo(ANNA);
    String withoutQuery = sender.sign("GET", "/v1/nodes?", CLIENT, new Person("bob", ""));
    assertThat(person(FELLOW, head("GET", "/v1/nodes", withoutQuery)))
        .isEqualTo(new Person("bob", ""));
    Source direct = new Source(FELLOW, CLIENT, null);
    byte[] without = "GET / HTTP/1.1\r\nHost: b\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1);
    assertThat(receiver.source(direct, Head.read(without, without.length))).isSameAs(direct);
  }

  @ParameterizedTest
  @ValueSource(strings = {"192.0.2.7", "2001:db8::7"})
  void a_fellow_server_is_believed_the_address_of_the_client(String address) {
    InetAddress client = InetAddress.ofLiteral(address);
    String signed = sender.sign("GET", TARGET, client, null);
    Source direct = new Source(FELLOW, FELLOW, null);
    for (int i = 0; i < 2; i++) {
      assertThat(receiver.source(direct, head("GET", TARGET, signed)))
          .isEqualTo(new Source(FELLOW, client, null));
    }
    String named = sender.sign("GET", TARGET, client, ANNA);
    assertThat(receiver.source(direct, head("GET", TARGET, named)))
        .isEqualTo(new Source(FELLOW, client, ANNA));
  }

  @Test
  void an_address_alone_that_is_not_signed_so_means_nothing() {
    Source direct = new Source(FELLOW, FELLOW, null);
    String made = by("another", 3).sign("GET", TARGET, CLIENT, null);
    assertThat(receiver.source(direct, head("GET", TARGET, made))).isSameAs(direct);
    String other = sender.sign("GET", "/shards/2/dci/queues", CLIENT, null);
    assertThat(receiver.source(direct, head("GET", TARGET, other))).isSameAs(direct);
    String old = sender.sign("GET", TARGET, CLIENT, null);
    millis.addAndGet(RelaySignatures.VALID.toMillis() + 1);
    assertThat(receiver.source(direct, head("GET", TARGET, old))).isSameAs(direct);
    // Wrong ones are guesses at the token, too.
    for (int i = 0; i <= SignInPace.FREE; i++) {
      String guess = by("guess-" + i, i).sign("GET", TARGET, CLIENT, null);
      assertThat(receiver.source(direct, head("GET", TARGET, guess))).isSameAs(direct);
    }
    String right = sender.sign("GET", TARGET, CLIENT, null);
    assertThat(receiver.source(direct, head("GET", TARGET, right))).isSameAs(direct);
  }

  @ParameterizedTest
  @CsvSource({
    "POST, /shards/3/dci/queues?limit=2",
    "GET, /shards/3/dci/queues?limit=3",
    "GET, /shards/2/dci/queues?limit=2",
    "GET, /shards/3/dci/queues",
  })
  void a_signature_holds_for_one_method_and_one_target(String method, String target) {
    refused("is not signed", method, target, sender.sign("GET", TARGET, CLIENT, ANNA));
  }

  @Test
  void what_a_client_makes_up_is_refused() {
    String signed = sender.sign("GET", TARGET, CLIENT, ANNA);
    String[] parts = signed.split("\\.", -1);
    refused("is not signed", "GET", TARGET, "anna");
    refused("is not signed", "GET", TARGET, "");
    refused("is not signed", "GET", TARGET, by("another", 3).sign("GET", TARGET, CLIENT, ANNA));
    for (int i = 0; i < parts.length; i++) {
      String[] changed = parts.clone();
      changed[i] = (parts[i].charAt(0) == '2' ? '3' : '2') + parts[i].substring(1);
      refused("is not signed", "GET", TARGET, String.join(".", changed));
    }
    assertThat(person(FELLOW, head("GET", TARGET, signed))).isEqualTo(ANNA);
  }

  @Test
  void a_signature_holds_for_half_a_minute_by_either_clock() {
    String signed = sender.sign("GET", TARGET, CLIENT, ANNA);
    long now = millis.get();
    millis.set(now + RelaySignatures.VALID.toMillis() + 1);
    refused("do the clocks of the servers agree?", "GET", TARGET, signed);
    millis.set(now - RelaySignatures.VALID.toMillis() - 1);
    refused("do the clocks of the servers agree?", "GET", TARGET, signed);
    millis.set(now - RelaySignatures.VALID.toMillis());
    assertThat(person(FELLOW, head("GET", TARGET, signed))).isEqualTo(ANNA);
    millis.set(now + RelaySignatures.VALID.toMillis());
    refused("was shown before", "GET", TARGET, signed);
  }

  @Test
  void a_signature_holds_once() {
    String signed = sender.sign("POST", TARGET, CLIENT, ANNA);
    assertThat(person(FELLOW, head("POST", TARGET, signed))).isEqualTo(ANNA);
    refused("was shown before", "POST", TARGET, signed);
    String again = sender.sign("POST", TARGET, CLIENT, ANNA);
    assertThat(again).isNotEqualTo(signed);
    assertThat(person(FELLOW, head("POST", TARGET, again))).isEqualTo(ANNA);
  }

  @Test
  void what_is_remembered_is_limited_and_forgotten() {
    for (int i = 0; i < RelaySignatures.MOST_REMEMBERED; i++) {
      person(FELLOW, head("GET", TARGET, sender.sign("GET", TARGET, CLIENT, ANNA)));
    }
    String next = sender.sign("GET", TARGET, CLIENT, ANNA);
    assertThatThrownBy(() -> person(FELLOW, head("GET", TARGET, next)))
        .isInstanceOfSatisfying(
            HttpProblem.class, problem -> assertThat(problem.status()).isEqualTo(503));
    millis.addAndGet(2 * RelaySignatures.VALID.toMillis() + 1);
    String later = sender.sign("GET", TARGET, CLIENT, ANNA);
    assertThat(person(FELLOW, head("GET", TARGET, later))).isEqualTo(ANNA);
  }

  @Test
  void who_guesses_the_token_by_signatures_is_slowed_down() {
    for (int i = 0; i <= SignInPace.FREE; i++) {
      refused(
          "is not signed", "GET", TARGET, by("guess-" + i, i).sign("GET", TARGET, CLIENT, ANNA));
    }
    String right = sender.sign("GET", TARGET, CLIENT, ANNA);
    assertThatThrownBy(() -> person(FELLOW, head("GET", TARGET, right)))
        .isInstanceOfSatisfying(
            HttpProblem.class, problem -> assertThat(problem.status()).isEqualTo(429));
    InetAddress other = InetAddress.ofLiteral("10.0.0.3");
    assertThat(person(other, head("GET", TARGET, right))).isEqualTo(ANNA);
  }
}
