package io.millrace.server.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.TestServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The dashboard as a browser gets it. */
final class DashboardTest {
  @TempDir private Path folder;

  @Test
  void the_page_and_all_that_it_names_are_served() throws Exception {
    try (TestServer server = TestServer.in(folder)) {
      HttpResponse<String> page = server.get("/");
      assertThat(page.statusCode()).isEqualTo(200);
      assertThat(page.headers().firstValue("Content-Type")).contains("text/html; charset=utf-8");
      assertThat(page.headers().firstValue("Cache-Control")).contains("no-cache");
      assertThat(page.headers().firstValue("X-Frame-Options")).contains("DENY");
      assertThat(page.headers().firstValue("Content-Security-Policy").orElse(""))
          .contains("default-src 'none'", "connect-src 'self'")
          .doesNotContain("unsafe");
      List<String> addresses = named(page.body());
      assertThat(addresses).hasSize(4);
      for (String address : addresses) {
        HttpResponse<String> file = server.get("/" + address);
        assertThat(file.statusCode()).as(address).isEqualTo(200);
        assertThat(file.headers().firstValue("Cache-Control"))
            .contains("public, max-age=31536000, immutable");
        assertThat(file.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
      }
    }
  }

  @Test
  void files_are_compressed_for_browsers_that_take_it() throws Exception {
    try (TestServer server = TestServer.in(folder);
        HttpClient client = HttpClient.newHttpClient()) {
      String plain = server.get("/").body();
      HttpResponse<byte[]> compressed =
          client.send(
              HttpRequest.newBuilder(server.at("/")).header("Accept-Encoding", "br, gzip").build(),
              BodyHandlers.ofByteArray());
      assertThat(compressed.headers().firstValue("Content-Encoding")).contains("gzip");
      assertThat(compressed.headers().firstValue("Vary")).contains("Accept-Encoding");
      assertThat(unpacked(compressed.body())).isEqualTo(plain);
    }
  }

  @Test
  void a_page_of_another_version_gets_files_that_it_does_not_keep() throws Exception {
    try (TestServer server = TestServer.in(folder)) {
      HttpResponse<String> file = server.get("/dashboard/0123456789abcdef/app.js");
      assertThat(file.statusCode()).isEqualTo(200);
      assertThat(file.headers().firstValue("Cache-Control")).contains("no-cache");
    }
  }

  @Test
  void what_does_not_exist_is_404() throws Exception {
    try (TestServer server = TestServer.in(folder)) {
      for (String path :
          List.of("x/nothing.js", "x/index.html", "x/..%2Fapp.js", "x/lib/lit/package.json")) {
        assertThat(server.get("/dashboard/" + path).statusCode()).as(path).isEqualTo(404);
      }
    }
  }

  @Test
  void the_page_is_public_and_what_it_shows_is_not() throws Exception {
    Path token = Files.writeString(folder.resolve("token"), "a-long-enough-token-for-a-server");
    try (TestServer server = TestServer.in(folder, "server.token-file", token.toString())) {
      assertThat(server.get("/").statusCode()).isEqualTo(200);
      assertThat(server.get("/" + named(server.get("/").body()).getFirst()).statusCode())
          .isEqualTo(200);
      assertThat(server.get("/metrics").statusCode()).isEqualTo(401);
      assertThat(server.send("POST", "/", "").statusCode()).isIn(401, 405);
      String header = "Bearer a-long-enough-token-for-a-server";
      assertThat(server.get("/metrics", "Authorization", header).statusCode()).isEqualTo(200);
    }
  }

  private static List<String> named(String page) {
    Matcher matcher = Pattern.compile("(?:href|src)=\"([^\"]+)\"").matcher(page);
    return matcher.results().map(result -> result.group(1)).toList();
  }

  private static String unpacked(byte[] bytes) throws IOException {
    try (GZIPInputStream source = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
      return new String(source.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
