package io.millrace.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.http.AccessCheck;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller;
import io.millrace.http.Caller.Role;
import io.millrace.http.Route;
import io.millrace.http.message.Headers;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.server.ServerException;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may talk to the server. */
final class AccessTest {
  @TempDir private Path folder;

  private static InetAddress address(int... parts) throws IOException {
    byte[] bytes = new byte[parts.length];
    for (int i = 0; i < parts.length; i++) {
      bytes[i] = (byte) parts[i];
    }
    return InetAddress.getByAddress(bytes);
  }

  private static Access loopback() {
    return Access.to(InetAddress.getLoopbackAddress(), null, Origins.NONE);
  }

  private Token token(String content) throws IOException {
    return Token.read(Files.writeString(folder.resolve("token"), content));
  }

  private static final Route ROUTE =
      ApiRoutes.below("").get("/store/groups", _ -> Response.nothing()).routes().getFirst();

  private static final Route PUBLIC =
      ApiRoutes.below("")
          .role(Role.ANYONE)
          .get("/health", _ -> Response.nothing())
          .routes()
          .getFirst();

  private static AccessCheck.Source from(InetAddress client) {
    return new AccessCheck.Source(client, client, null);
  }

  private static Caller check(
      Access access, Route route, String host, @Nullable String origin, @Nullable String bearer) {
    return Objects.requireNonNull(
        access.check(
            new AccessCheck.Attempt(
                route,
                host,
                name ->
                    switch (name) {
                      case Headers.ORIGIN -> origin;
                      case Headers.AUTHORIZATION -> bearer;
                      default -> null;
                    },
                from(InetAddress.getLoopbackAddress()),
                false,
                true)));
  }

  private static int status(Runnable check) {
    try {
      check.run();
      return 200;
    } catch (HttpProblem problem) {
      return problem.status();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "localhost",
        "localhost:8048",
        "LOCALHOST:1",
        "127.0.0.1",
        "127.0.0.1:9",
        "[::1]",
        "[::1]:8048"
      })
  void a_loopback_name_is_served_with_any_port_or_none(String host) {
    assertThatCode(() -> check(loopback(), ROUTE, host, null, null)).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "example.com", "example.com:8048", "localhost.example.com", "127.0.0.1.example.com",
        "10.0.0.1", "[::2]", "", "localhost@example.com"
      })
  void any_other_host_is_turned_away(String host) {
    assertThat(status(() -> check(loopback(), ROUTE, host, null, null))).isEqualTo(403);
  }

  @ParameterizedTest
  @CsvSource({
    "http://localhost:8048, localhost:8048",
    "HTTP://LocalHost:8048, localhost:8048",
    "http://127.0.0.1:8048, 127.0.0.1:8048",
    "http://[::1]:8048, [::1]:8048",
    "http://localhost, localhost:80",
    "http://localhost:80, localhost"
  })
  void pages_of_the_origin_that_is_addressed_may_ask(String origin, String host) {
    assertThat(status(() -> check(loopback(), ROUTE, host, origin, null))).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://localhost:3000",
        "http://localhost",
        "https://localhost:8048",
        "http://127.0.0.1:8048",
        "http://[::1]:8048",
        "http://localhost:80480",
        "http://localhost:8048.example.com",
        "http://localhost:8048/",
        "http://user@localhost:8048",
        "ftp://localhost:8048"
      })
  void pages_of_other_servers_on_the_same_machine_may_not(String origin) {
    assertThat(status(() -> check(loopback(), ROUTE, "localhost:8048", origin, null)))
        .isEqualTo(403);
  }

  @Test
  void pages_of_the_origins_of_a_proxy_may_ask_and_their_host_is_served() {
    Origins origins = Origins.read("https://Millrace.example.com, http://intern:8080");
    Access access = Access.to(InetAddress.getLoopbackAddress(), null, origins);
    String published = "https://millrace.example.com";
    for (String host : List.of("millrace.example.com", "localhost:8048")) {
      assertThat(status(() -> check(access, ROUTE, host, published, null))).isEqualTo(200);
      assertThat(status(() -> check(access, ROUTE, host, published + ":443", null))).isEqualTo(200);
      assertThat(status(() -> check(access, ROUTE, host, published + ":8443", null)))
          .isEqualTo(403);
      assertThat(status(() -> check(access, ROUTE, host, "https://example.com", null)))
          .isEqualTo(403);
    }
    assertThat(status(() -> check(access, ROUTE, "intern:8080", "http://intern:8080", null)))
        .isEqualTo(200);
    assertThat(status(() -> check(access, ROUTE, "intern", null, null))).isEqualTo(403);
    assertThat(status(() -> check(access, ROUTE, "example.com", null, null))).isEqualTo(403);
  }

  @ParameterizedTest
  @ValueSource(strings = {"millrace.example.com", "https://a/b", "https://", "https://a,,http://b"})
  void what_is_no_origin_is_refused(String text) {
    assertThatThrownBy(() -> Origins.read(text)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void a_caller_is_known_by_the_token_or_if_there_is_none() throws IOException {
    assertThat(check(loopback(), ROUTE, "localhost", null, null)).isEqualTo(Caller.LOCAL);
    Access access = Access.to(InetAddress.getLoopbackAddress(), token("t"), Origins.NONE);
    assertThat(check(access, ROUTE, "localhost", null, "Bearer t")).isEqualTo(Caller.OWNER);
    assertThat(check(access, PUBLIC, "localhost", null, "Bearer t").isKnown()).isTrue();
    assertThat(check(access, PUBLIC, "localhost", null, null).isKnown()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"null", "http://example.com", "https://localhost.example.com", "", "localhost"})
  void pages_of_other_origins_may_not(String origin) {
    assertThat(status(() -> check(loopback(), ROUTE, "localhost", origin, null))).isEqualTo(403);
  }

  @Test
  void another_address_is_refused_without_a_token() throws IOException {
    InetAddress everywhere = address(0, 0, 0, 0);
    assertThatThrownBy(() -> Access.to(everywhere, null, Origins.NONE))
        .isInstanceOf(ServerException.class)
        .hasMessageContaining("token-file");
    assertThatCode(() -> Access.to(everywhere, token("secret"), Origins.NONE))
        .doesNotThrowAnyException();
  }

  @Test
  void with_a_token_every_request_but_health_needs_it() throws IOException {
    Access access = Access.to(InetAddress.getLoopbackAddress(), token("  s3cret\n"), Origins.NONE);
    assertThat(status(() -> check(access, ROUTE, "localhost", null, null))).isEqualTo(401);
    assertThat(status(() -> check(access, ROUTE, "localhost", null, "Basic s3cret")))
        .isEqualTo(401);
    assertThat(status(() -> check(access, ROUTE, "localhost", null, "Bearer "))).isEqualTo(401);
    assertThat(status(() -> check(access, ROUTE, "localhost", null, "Bearer wrong")))
        .isEqualTo(403);
    assertThat(status(() -> check(access, ROUTE, "localhost", null, "Bearer s3cret")))
        .isEqualTo(200);
    assertThat(status(() -> check(access, ROUTE, "localhost", null, "bearer s3cret")))
        .isEqualTo(200);
    assertThat(status(() -> check(access, PUBLIC, "localhost", null, null))).isEqualTo(200);
    assertThat(status(() -> check(access, ROUTE, "localhost", null, null))).isEqualTo(401);
    assertThat(status(() -> check(access, PUBLIC, "example.com", null, null))).isEqualTo(403);
  }

  @Test
  void elsewhere_any_host_is_served_and_only_pages_of_that_host() throws IOException {
    Access access = Access.to(address(0, 0, 0, 0), token("t"), Origins.NONE);
    assertThat(status(() -> check(access, ROUTE, "example.com", null, "Bearer t"))).isEqualTo(200);
    assertThat(status(() -> check(access, ROUTE, "example.com", "http://example.com", "Bearer t")))
        .isEqualTo(200);
    assertThat(status(() -> check(access, ROUTE, "example.com", "https://example.com", "Bearer t")))
        .isEqualTo(403);
  }

  @Test
  void a_token_file_holds_one_token() {
    assertThatThrownBy(() -> token(" \n")).hasMessageContaining("empty");
    assertThatThrownBy(() -> token("two tokens")).isInstanceOf(ServerException.class);
    assertThatThrownBy(() -> token("ü")).isInstanceOf(ServerException.class);
    assertThatThrownBy(() -> token("x".repeat(5000))).isInstanceOf(ServerException.class);
    assertThatThrownBy(() -> Token.read(folder.resolve("none"))).hasMessageContaining("none");
  }

  private static int status(Access access, InetAddress client, @Nullable String authorization) {
    return status(() ->
        access.check(
            new AccessCheck.Attempt(
                ROUTE,
                "localhost",
                name -> name.equals(Headers.AUTHORIZATION) ? authorization : null,
                from(client),
                false,
                true)));
  }

  @Test
  void who_guesses_waits_longer_and_longer_and_others_do_not() throws IOException {
    AtomicLong nanos = new AtomicLong();
    Access access =
        Access.to(
            InetAddress.getLoopbackAddress(),
            token("s3cret"),
            Origins.NONE,
            Proxies.NONE,
            nanos::get);
    InetAddress guesser = address(10, 0, 0, 1);
    for (int i = 0; i < SignInPace.FREE; i++) {
      assertThat(status(access, guesser, "Bearer guess" + i)).isEqualTo(403);
    }
    assertThat(status(access, guesser, "Bearer s3cret")).isEqualTo(200);
    assertThat(status(access, guesser, "Bearer one too many")).isEqualTo(403);
    assertThat(status(access, guesser, "Bearer s3cret")).isEqualTo(429);
    assertThat(status(access, address(10, 0, 0, 2), "Bearer s3cret")).isEqualTo(200);
    assertThat(status(access, guesser, null)).isEqualTo(401);
    nanos.addAndGet(Duration.ofMillis(999).toNanos());
    assertThat(status(access, guesser, "Bearer s3cret")).isEqualTo(429);
    nanos.addAndGet(Duration.ofMillis(1).toNanos());
    assertThat(status(access, guesser, "Bearer another")).isEqualTo(403);
    nanos.addAndGet(Duration.ofMillis(1_999).toNanos());
    assertThat(status(access, guesser, "Bearer s3cret")).isEqualTo(429);
    nanos.addAndGet(Duration.ofMillis(1).toNanos());
    assertThat(status(access, guesser, "Bearer s3cret")).isEqualTo(200);
  }

  @Test
  void the_same_wrong_credentials_again_are_no_guess() throws IOException {
    Access access = Access.to(InetAddress.getLoopbackAddress(), token("s3cret"), Origins.NONE);
    InetAddress client = address(10, 0, 0, 1);
    for (int i = 0; i < 100; i++) {
      assertThat(status(access, client, "Bearer old" + i % 3)).isEqualTo(403);
    }
    assertThat(status(access, client, "Bearer s3cret")).isEqualTo(200);
  }

  @Test
  void a_route_that_is_open_to_all_is_no_way_to_guess() throws IOException {
    Access access = Access.to(InetAddress.getLoopbackAddress(), token("s3cret"), Origins.NONE);
    for (int i = 0; i <= SignInPace.FREE; i++) {
      assertThat(check(access, PUBLIC, "localhost", null, "Bearer guess" + i).isKnown()).isFalse();
    }
    assertThat(status(() -> check(access, PUBLIC, "localhost", null, "Bearer s3cret")))
        .isEqualTo(429);
    assertThat(status(() -> check(access, PUBLIC, "localhost", null, null))).isEqualTo(200);
  }

  @Test
  void addresses_of_one_network_of_ipv6_are_one_source() throws IOException {
    Access access = Access.to(InetAddress.getLoopbackAddress(), token("s3cret"), Origins.NONE);
    for (int i = 0; i <= SignInPace.FREE; i++) {
      InetAddress client = InetAddress.ofLiteral("2001:db8:0:1::" + i);
      assertThat(status(access, client, "Bearer guess" + i)).isEqualTo(403);
    }
    assertThat(status(access, InetAddress.ofLiteral("2001:db8:0:1::99"), "Bearer s3cret"))
        .isEqualTo(429);
    assertThat(status(access, InetAddress.ofLiteral("2001:db8:0:2::1"), "Bearer s3cret"))
        .isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource({
    "10.0.0.9, '1.2.3.4', 10.0.0.9",
    "127.0.0.1, , 127.0.0.1",
    "127.0.0.1, '1.2.3.4', 1.2.3.4",
    "127.0.0.1, '6.6.6.6, 1.2.3.4', 1.2.3.4",
    "127.0.0.1, '6.6.6.6, 1.2.3.4, 10.0.0.7', 1.2.3.4",
    "127.0.0.1, '10.0.0.7', 10.0.0.7",
    "127.0.0.1, 'nonsense', 127.0.0.1",
    "127.0.0.1, 'nonsense, 10.0.0.7', 10.0.0.7",
    "127.0.0.1, '', 127.0.0.1",
    "127.0.0.1, '2001:db8::1', 2001:db8::1"
  })
  void the_client_is_the_last_address_that_is_no_proxy(
      String peer, @Nullable String forwarded, String client) {
    Proxies proxies = Proxies.read("127.0.0.1, 10.0.0.7");
    assertThat(proxies.clientOf(InetAddress.ofLiteral(peer), _ -> forwarded))
        .isEqualTo(InetAddress.ofLiteral(client));
  }

  @ParameterizedTest
  @ValueSource(strings = {"proxy.example.com", "10.0.0.0/8", "10.0.0.1,,10.0.0.2", "300.1.1.1"})
  void what_is_no_address_of_a_proxy_is_refused(String text) {
    assertThatThrownBy(() -> Proxies.read(text)).isInstanceOf(IllegalArgumentException.class);
  }
}
