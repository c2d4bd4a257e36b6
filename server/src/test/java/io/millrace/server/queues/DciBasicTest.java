package io.millrace.server.queues;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.TestServer;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The command interface of a server with a token, as clients of Disbatch authenticate there. */
final class DciBasicTest {
  private static final String TOKEN = "s3:cret";

  private final TestServer server;

  DciBasicTest(@TempDir Path folder) throws IOException {
    Path token = Files.writeString(folder.resolve("token"), TOKEN + "\n");
    server = TestServer.in(folder.resolve("data"), "server.token-file", token.toString());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private HttpResponse<String> queues(String... headers) throws Exception {
    return server.send("GET", "/dci/queues", "", headers);
  }

  private static String basic(String pair) {
    return Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @ValueSource(strings = {"disbatch:", ":", "Jörg:"})
  void any_user_name_with_the_token_as_the_password_is_let_in(String user) throws Exception {
    String credentials = basic(user + TOKEN);
    assertThat(queues("Authorization", "Basic " + credentials).statusCode()).isEqualTo(200);
    assertThat(queues("Authorization", "basic  " + credentials).statusCode()).isEqualTo(200);
  }

  @Test
  void the_token_as_bearer_is_let_in_as_before() throws Exception {
    assertThat(queues("Authorization", "Bearer " + TOKEN).statusCode()).isEqualTo(200);
    assertThat(queues("Authorization", "Bearer wrong").statusCode()).isEqualTo(403);
  }

  @Test
  void without_credentials_the_answer_asks_for_them_in_the_realm_of_disbatch() throws Exception {
    HttpResponse<String> response = queues();
    assertThat(response.statusCode()).isEqualTo(401);
    assertThat(response.headers().allValues("WWW-Authenticate"))
        .containsExactly("Basic realm=\"disbatch\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"user:wrong", "s3:cret", "user", "", "user:s3:cret2"})
  void other_passwords_are_asked_for_again(String pair) throws Exception {
    HttpResponse<String> response = queues("Authorization", "Basic " + basic(pair));
    assertThat(response.statusCode()).isEqualTo(401);
    assertThat(response.headers().firstValue("WWW-Authenticate"))
        .contains("Basic realm=\"disbatch\"");
  }

  @Test
  void credentials_that_are_no_base64_are_asked_for_again() throws Exception {
    assertThat(queues("Authorization", "Basic %%%").statusCode()).isEqualTo(401);
  }

  @Test
  void elsewhere_it_does_not_count() throws Exception {
    HttpResponse<String> response =
        server.send("GET", "/store/groups", "", "Authorization", "Basic " + basic("user:" + TOKEN));
    assertThat(response.statusCode()).isEqualTo(401);
    assertThat(response.headers().allValues("WWW-Authenticate")).containsExactly("Bearer");
  }
}
