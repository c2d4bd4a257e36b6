package io.millrace.server.openapi;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.http.Caller.Role;
import io.millrace.http.Route;
import io.millrace.server.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The table of routes in the documentation is what the code says. */
final class DocumentedRoutesTest {
  private static final Path DOCUMENT = Path.of("../docs/routes.md");
  private static final String HEAD =
      """
      # All routes

      What every server answers, part by part; [api.md](api.md) describes it. A GET answers HEAD too,
      and every path answers OPTIONS. The role is what a caller needs,
      see [access.md](access.md): whoever has the server's token, or uses a server that requires no
      credentials from the same machine, has all of them. The API key of the job server
      gives viewer, submitter and operator on its routes, the token of workers gives worker, and the token of
      a running command of a graph gives viewer, submitter and operator for the nodes below its own.

      A route whose reach is *kept* serves callers with a limited reach, within their limits; every other
      one is refused to them, unless anyone may use it.

      `/v1` answers parameters of the query that are not named here with 400; elsewhere they are passed
      over. A body of *fields* is a JSON object, a form, or the query. The action is what the
      [audit log](audit.md) says of a request.

      | method | path | query | body | role | reach | action |
      |---|---|---|---|---|---|---|
      """;

  @Test
  void the_table_of_routes_is_that_of_the_code(@TempDir Path folder) throws IOException {
    String table;
    try (TestServer server = TestServer.in(folder)) {
      table =
          HEAD
              + server.routes().stream()
                  .map(DocumentedRoutesTest::row)
                  .collect(Collectors.joining("\n", "", "\n"));
      assertThat(server.routes())
          .filteredOn(route -> route.role() == Role.ANYONE)
          .extracting(Route::path)
          .filteredOn(path -> !path.startsWith("/dashboard/"))
          .containsExactlyInAnyOrder(
              "/",
              "/health",
              "/health/leader",
              "/access/me",
              "/access/sessions",
              "/access/sign-out",
              "/access/sign-in",
              "/access/callback");
    }
    if (Boolean.getBoolean("millrace.write.docs")) {
      Files.writeString(DOCUMENT, table);
    }
    assertThat(Files.readString(DOCUMENT))
        .as("docs/routes.md; run this test with -Dmillrace.write.docs=true to write it")
        .isEqualTo(table);
  }

  private static String row(Route route) {
    String query =
        new TreeSet<>(route.parameters().names())
            .stream().map(name -> "`" + name + "`").collect(Collectors.joining(", "));
    return "| %s | `%s` | %s | %s | %s | %s | %s |"
        .formatted(
            route.method(),
            route.path(),
            query,
            route.body() == Route.Body.NONE ? "" : word(route.body()),
            word(route.role()),
            route.limitable() ? "kept" : "",
            route.action() == null ? "" : route.action());
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
