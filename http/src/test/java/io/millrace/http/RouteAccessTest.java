package io.millrace.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.millrace.http.AccessCheck.Credentials;
import io.millrace.http.Caller.Role;
import io.millrace.http.Route.Handler;
import io.millrace.http.message.AsyncResponse;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.Headers;
import io.millrace.http.message.Response;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a route says of itself is what counts: who may use it, what it reads, how it refuses. */
final class RouteAccessTest {
  private static final Credentials NAMES =
      new Credentials() {
        @Override
        public @Nullable Caller caller(Headers headers) {
          String name = headers.only("X-NAME");
          return name == null
              ? null
              : new Caller(name, Role.SUBMITTER.andBelow(), Caller.Reach.EVERYTHING);
        }

        @Override
        public boolean isRequired() {
          return true;
        }
      };

  private static final ErrorForm LOUD =
      problem ->
          new Response.Whole(
              problem.status(),
              Response.TEXT,
              Map.of(),
              problem
                  .message()
                  .toUpperCase(java.util.Locale.ROOT)
                  .getBytes(StandardCharsets.UTF_8));

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final HttpServer listener =
      HttpServer.start(
          InetAddress.getLoopbackAddress(),
          0,
          HttpLimits.DEFAULT,
          AccessCheck.OPEN,
          new Routes(new SimpleMeterRegistry()).addAll(routes()),
          new ErrorResponses().add(IllegalStateException.class, 409));

  private static List<Route> routes() {
    ApiRoutes api = ApiRoutes.below("/a", "/b").credentials(NAMES).errors(LOUD);
    Handler who =
        request -> Response.json(request.caller().principal().getBytes(StandardCharsets.UTF_8));
    api.get("/who", who).post("/who", who);
    api.role(Role.ADMIN)
        .post("/admin", (request, _) -> AsyncResponse.now(whole(request)), RouteAccessTest::whole);
    api.strictQuery(Set.of("known"))
        .get("/strict", who)
        .post("/strict", (request, _) -> AsyncResponse.now(whole(request)), RouteAccessTest::whole);
    api.get(
        "/fails",
        _ -> {
          throw new IllegalStateException("fails");
        });
    ApiRoutes problems = ApiRoutes.below("/c").errors(ErrorForm.PROBLEM_DETAILS);
    problems.get("/problems", who);
    return Stream.concat(api.routes().stream(), problems.routes().stream()).toList();
  }

  private static Response.Whole whole(Request request) {
    return Response.json(200, request.caller().principal().getBytes(StandardCharsets.UTF_8));
  }

  private String ask(String method, String path, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + listener.port() + path))
            .method(method, BodyPublishers.noBody());
    if (headers.length > 0) {
      request.headers(headers);
    }
    HttpResponse<String> answer = client.send(request.build(), BodyHandlers.ofString());
    return answer.statusCode() + " " + answer.body();
  }

  @AfterEach
  void stop() {
    client.shutdownNow();
    listener.stop();
  }

  @Test
  void every_handler_knows_its_caller() throws Exception {
    assertThat(ask("GET", "/a/who", "X-NAME", "ada")).isEqualTo("200 ada");
    assertThat(ask("POST", "/b/who", "X-NAME", "ada")).isEqualTo("200 ada");
  }

  @Test
  void required_credentials_are_asked_for_in_the_form_of_the_route() throws Exception {
    assertThat(ask("GET", "/a/who")).startsWith("401 THIS SERVER REQUIRES");
  }

  @Test
  void a_role_that_the_caller_lacks_is_named() throws Exception {
    assertThat(ask("POST", "/a/admin", "X-NAME", "ada"))
        .isEqualTo("403 /A/ADMIN REQUIRES THE ROLE ADMIN, WHICH ADA DOES NOT HAVE");
  }

  @Test
  void a_strict_route_names_the_parameters_that_it_knows() throws Exception {
    assertThat(ask("GET", "/a/strict?known=1", "X-NAME", "ada")).isEqualTo("200 ada");
    assertThat(ask("GET", "/a/strict?other=1", "X-NAME", "ada"))
        .startsWith("400 UNKNOWN PARAMETER \"OTHER\"; THE PARAMETERS ARE KNOWN");
  }

  @Test
  void a_strict_route_checks_what_its_non_blocking_handler_answers() throws Exception {
    assertThat(ask("POST", "/a/strict?known=1", "X-NAME", "ada")).isEqualTo("200 ada");
    assertThat(ask("POST", "/a/strict?other=1", "X-NAME", "ada"))
        .startsWith("400 UNKNOWN PARAMETER \"OTHER\"; THE PARAMETERS ARE KNOWN");
  }

  @Test
  void failures_have_the_meaning_that_was_given_and_the_form_of_the_route() throws Exception {
    assertThat(ask("GET", "/b/fails", "X-NAME", "ada")).isEqualTo("409 FAILS");
  }

  @Test
  void what_no_route_of_an_api_with_its_own_errors_answers_has_the_plain_form() throws Exception {
    assertThat(ask("GET", "/a/none")).isEqualTo("404 {\"error\":\"no such path: /a/none\"}");
    assertThat(ask("GET", "/a/who/none")).startsWith("404 {\"error\":");
    assertThat(ask("DELETE", "/a/who")).startsWith("405 {\"error\":");
  }

  @Test
  void what_no_other_route_answers_is_a_problem_of_rfc_9457() throws Exception {
    assertThat(ask("GET", "/none"))
        .isEqualTo(
            "404 {\"type\":\"about:blank\",\"title\":\"Not Found\",\"status\":404,"
                + "\"detail\":\"no such path: /none\",\"error\":\"no such path: /none\"}");
    assertThat(ask("GET", "/")).startsWith("404 {\"type\":");
    assertThat(ask("DELETE", "/c/problems"))
        .startsWith("405 {\"type\":")
        .contains("only GET, HEAD");
    assertThat(ask("GET", "/c/%80")).startsWith("400 {\"type\":");
  }
}
