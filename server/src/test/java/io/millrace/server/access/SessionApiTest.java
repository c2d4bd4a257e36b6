package io.millrace.server.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jwt.JWTClaimsSet;
import io.millrace.http.json.Json;
import io.millrace.server.TestServer;
import io.millrace.server.config.ConfigurationException;
import io.millrace.store.TaskStore;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Sessions of browsers: by a password or a key, at a provider of identities, behind a proxy. */
@NullMarked
@Timeout(60)
final class SessionApiTest {
  private static final String CSRF = "X-CSRF-Token";

  @TempDir private Path folder;
  private final List<AutoCloseable> opened = new ArrayList<>();
  private TestServer server;
  private IdentityProvider provider;

  @BeforeEach
  void start() throws IOException {
    provider = new IdentityProvider();
    opened.add(provider);
    open();
  }

  private void open(String... more) throws IOException {
    Path secret = Files.writeString(folder.resolve("secret"), IdentityProvider.SECRET);
    List<String> settings =
        new ArrayList<>(
            List.of(
                "access.oidc.issuer",
                provider.issuer(),
                "access.oidc.client-id",
                IdentityProvider.CLIENT,
                "access.oidc.client-secret-file",
                secret.toString(),
                "access.oidc.label",
                "Example",
                "access.roles.staff.roles",
                "operator",
                "access.roles.staff.queues",
                "mail"));
    settings.addAll(List.of(more));
    server = TestServer.in(folder, settings.toArray(String[]::new));
    opened.add(server);
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
  }

  private static JsonNode json(HttpResponse<String> response) {
    return Json.read(response.body().getBytes(StandardCharsets.UTF_8));
  }

  /** Creates a principal and returns its key. */
  private String create(String name, String role) throws Exception {
    HttpResponse<String> created =
        server.send(
            "POST",
            "/access/principals",
            "{\"name\":\"%s\",\"roles\":[\"%s\"],\"password\":\"a long password\",\"key\":{}}"
                .formatted(name, role),
            "Authorization",
            "Bearer " + server.server().principals().bootstrapKey().orElseThrow());
    assertThat(created.statusCode()).as(created.body()).isEqualTo(201);
    return json(created).path("key").path("key").asString();
  }

  private static String basic(String user, String password) {
    return "Basic "
        + Base64.getEncoder()
            .encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
  }

  /** A browser: it keeps cookies, and sends those of the host with every request. */
  private final class Browser {
    private final Map<String, String> cookies = new LinkedHashMap<>();
    private @Nullable String csrf;

    HttpResponse<String> send(String method, String path, String body, String... headers)
        throws Exception {
      List<String> all = new ArrayList<>(List.of(headers));
      if (!cookies.isEmpty()) {
        all.addAll(List.of("Cookie", header()));
      }
      return took(server.send(method, path, body, all.toArray(String[]::new)));
    }

    String header() {
      return String.join(
          "; ", cookies.entrySet().stream().map(c -> c.getKey() + "=" + c.getValue()).toList());
    }

    HttpResponse<String> get(String path, String... headers) throws Exception {
      return send("GET", path, "", headers);
    }

    HttpResponse<String> change(String method, String path, String body) throws Exception {
      return send(method, path, body, CSRF, String.valueOf(csrf));
    }

    private HttpResponse<String> took(HttpResponse<String> response) {
      for (String cookie : response.headers().allValues("Set-Cookie")) {
        String pair = cookie.substring(0, cookie.indexOf(';'));
        int equals = pair.indexOf('=');
        if (cookie.contains("Max-Age=0")) {
          cookies.remove(pair.substring(0, equals));
        } else {
          cookies.put(pair.substring(0, equals), pair.substring(equals + 1));
        }
      }
      return response;
    }

    Browser signedIn(String authorization) throws Exception {
      HttpResponse<String> begun =
          send("POST", "/access/sessions", "", "Authorization", authorization);
      assertThat(begun.statusCode()).as(begun.body()).isEqualTo(201);
      csrf = json(begun).path("csrf").asString();
      return this;
    }

    /** Goes to the provider, and returns to where that sends it. */
    URI toProvider(String back) throws Exception {
      HttpResponse<String> away = get("/access/sign-in?return=" + back);
      assertThat(away.statusCode()).as(away.body()).isEqualTo(303);
      try (HttpClient client = HttpClient.newHttpClient()) {
        HttpResponse<String> there =
            client.send(
                HttpRequest.newBuilder(location(away)).build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(there.statusCode()).as(there.body()).isEqualTo(302);
        return location(there);
      }
    }

    HttpResponse<String> callback(URI address) throws Exception {
      return get(address.getRawPath() + "?" + address.getRawQuery());
    }

    HttpResponse<String> signInAtProvider() throws Exception {
      HttpResponse<String> done = callback(toProvider("/"));
      JsonNode me = json(get("/access/me"));
      csrf = me.path("csrf").asString(null);
      return done;
    }
  }

  private static URI location(HttpResponse<String> response) {
    return URI.create(response.headers().firstValue("Location").orElseThrow());
  }

  private static String cookie(HttpResponse<String> response) {
    return response.headers().firstValue("Set-Cookie").orElseThrow();
  }

  @Test
  void a_password_and_a_key_are_exchanged_for_a_cookie() throws Exception {
    String key = create("root", "admin");
    for (String authorization : List.of("Bearer " + key, basic("root", "a long password"))) {
      Browser browser = new Browser();
      HttpResponse<String> begun =
          browser.send("POST", "/access/sessions", "", "Authorization", authorization);
      assertThat(cookie(begun))
          .startsWith("millrace-session=ms_")
          .endsWith("; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax");
      assertThat(json(begun).path("principal").asString()).isEqualTo("root");
      JsonNode me = json(browser.get("/access/me"));
      assertThat(me.path("principal").asString()).isEqualTo("root");
      assertThat(me.path("csrf").asString()).isEqualTo(json(begun).path("csrf").asString());
      assertThat(browser.get("/dci/queues").statusCode()).isEqualTo(200);
    }
    assertThat(
            server
                .send("POST", "/access/sessions", "", "Authorization", basic("root", "wrong"))
                .statusCode())
        .isEqualTo(401);
  }

  @Test
  void over_tls_cookies_are_secure_and_belong_to_the_host() throws Exception {
    server.close();
    server =
        TestServer.with(
            TestServer.Wire.TLS, TaskStore::open, folder, "server.require-credentials", "true");
    opened.add(server);
    HttpResponse<String> begun =
        server.send(
            "POST", "/access/sessions", "", "Authorization", "Bearer " + create("root", "admin"));
    assertThat(cookie(begun)).startsWith("__Host-millrace-session=ms_").endsWith("; Secure");
    String plain = cookie(begun).replace("__Host-", "").replaceAll(";.*", "");
    assertThat(server.get("/dci/queues", "Cookie", plain).statusCode()).isEqualTo(401);
    assertThat(server.get("/dci/queues", "Cookie", "__Host-" + plain).statusCode()).isEqualTo(200);
  }

  @Test
  void a_change_needs_the_second_secret() throws Exception {
    Browser browser = new Browser().signedIn("Bearer " + create("root", "admin"));
    String queue = "{\"name\":\"mail\",\"plugin\":\"shell\"}";
    HttpResponse<String> without = browser.send("POST", "/dci/queues", queue);
    assertThat(without.statusCode()).isEqualTo(403);
    assertThat(without.body()).contains("X-CSRF-Token");
    assertThat(browser.send("POST", "/dci/queues", queue, CSRF, "guessed").statusCode())
        .isEqualTo(403);
    assertThat(browser.send("POST", "/access/sign-out", "").statusCode()).isEqualTo(403);
    assertThat(browser.change("POST", "/dci/queues", queue).statusCode()).isEqualTo(200);
  }

  @Test
  void a_websocket_with_a_session_needs_the_origin_of_its_page() throws Exception {
    create("root", "admin");
    Browser browser = new Browser().signedIn(basic("root", "a long password"));
    String upgrade =
        """
        GET /api/worker HTTP/1.1
        Host: 127.0.0.1:%d
        Connection: Upgrade, close
        Upgrade: websocket
        Sec-WebSocket-Version: 13
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==
        Cookie: %s
        """
            .formatted(server.port(), browser.header());
    assertThat(server.raw(upgrade + "\n")).startsWith("HTTP/1.1 403").contains("header Origin");
    assertThat(server.raw(upgrade + "Origin: http://elsewhere.example\n\n"))
        .startsWith("HTTP/1.1 403");
  }

  @Test
  void a_session_ends_by_sign_out_by_administrators_and_with_what_was_shown() throws Exception {
    String key = create("root", "admin");
    Browser one = new Browser().signedIn("Bearer " + key);
    Browser two = new Browser().signedIn(basic("root", "a long password"));
    Browser three = new Browser().signedIn(basic("root", "a long password"));
    String stolen = one.header();

    assertThat(one.change("POST", "/access/sign-out", "").statusCode()).isEqualTo(200);
    assertThat(one.cookies).isEmpty();
    HttpResponse<String> late = server.get("/dci/queues", "Cookie", stolen);
    assertThat(late.statusCode()).isEqualTo(401);
    assertThat(late.body()).contains("this session has ended");

    JsonNode sessions = json(two.get("/access/sessions"));
    assertThat(sessions.size()).isEqualTo(2);
    String prefix = three.header().replaceFirst(".*=ms_", "").replaceFirst("_.*", "");
    assertThat(two.change("DELETE", "/access/sessions/" + prefix, "").statusCode()).isEqualTo(200);
    assertThat(three.get("/dci/queues").statusCode()).isEqualTo(401);
    assertThat(two.change("DELETE", "/access/sessions/" + prefix, "").statusCode()).isEqualTo(404);

    assertThat(
            two.change("PATCH", "/access/principals/root", "{\"password\":\"another password\"}")
                .statusCode())
        .isEqualTo(200);
    assertThat(two.get("/dci/queues").statusCode()).isEqualTo(401);
  }

  @Test
  void a_session_outlives_a_restart_and_ends_with_its_key() throws Exception {
    String root = create("root", "admin");
    HttpResponse<String> created =
        server.send(
            "POST",
            "/access/principals",
            "{\"name\":\"ann\",\"roles\":[\"viewer\"],\"key\":{}}",
            "Authorization",
            "Bearer " + root);
    String key = json(created).path("key").path("key").asString();
    Browser browser = new Browser().signedIn("Bearer " + key);
    server.stopServing();
    open();
    assertThat(browser.get("/dci/queues").statusCode()).isEqualTo(200);

    try (InputStream events = events(browser)) {
      assertThat(events.read()).isPositive();
      assertThat(
              server
                  .send(
                      "DELETE",
                      "/access/keys/" + key.substring(3, 11),
                      "",
                      "Authorization",
                      "Bearer " + root)
                  .statusCode())
          .isEqualTo(200);
      // The stream ends, though nothing happens on it.
      events.transferTo(java.io.OutputStream.nullOutputStream());
    }
    assertThat(browser.get("/dci/queues").statusCode()).isEqualTo(401);
  }

  private InputStream events(Browser browser) throws Exception {
    HttpClient client = HttpClient.newHttpClient();
    opened.add(client);
    return client
        .send(
            HttpRequest.newBuilder(server.at("/dci/events"))
                .header("Cookie", browser.header())
                .build(),
            HttpResponse.BodyHandlers.ofInputStream())
        .body();
  }

  @Test
  void a_page_gets_no_challenge_that_would_open_the_window_of_the_browser() throws Exception {
    assertThat(server.get("/dci/queues").headers().firstValue("WWW-Authenticate")).isPresent();
    assertThat(
            server
                .get("/dci/queues", "Sec-Fetch-Mode", "cors")
                .headers()
                .firstValue("WWW-Authenticate"))
        .isEmpty();
  }

  @Test
  void somebody_signs_in_at_the_provider_and_has_the_roles_of_the_group() throws Exception {
    create("root", "admin");
    assertThat(json(server.get("/access/me")).at("/sign_in/oidc").asString()).isEqualTo("Example");
    Browser browser = new Browser();
    HttpResponse<String> done = browser.callback(browser.toProvider("/%23/queues"));
    assertThat(done.statusCode()).as(done.body()).isEqualTo(303);
    assertThat(done.headers().firstValue("Location")).contains("../#/queues");
    assertThat(browser.cookies).containsOnlyKeys("millrace-session");

    JsonNode me = json(browser.get("/access/me"));
    assertThat(me.path("principal").asString()).isEqualTo("oidc:anna");
    assertThat(me.path("roles").toString()).contains("operator").doesNotContain("admin");
    assertThat(me.at("/reach/queues/0").asString()).isEqualTo("mail");
    browser.csrf = me.path("csrf").asString();
    assertThat(browser.get("/dci/queues").statusCode()).isEqualTo(200);
    assertThat(browser.get("/access/sessions").statusCode()).isEqualTo(403);

    JsonNode sessions =
        json(new Browser().signedIn(basic("root", "a long password")).get("/access/sessions"));
    JsonNode session =
        sessions.path(0).path("principal").asString().equals("root")
            ? sessions.path(1)
            : sessions.path(0);
    assertThat(session.path("principal").asString()).isEqualTo("oidc:anna");
    assertThat(session.at("/groups/0").asString()).isEqualTo("staff");
    assertThat(browser.change("POST", "/access/sign-out", "").statusCode()).isEqualTo(200);
    assertThat(browser.get("/dci/queues").statusCode()).isEqualTo(401);
  }

  @Test
  void a_sign_in_belongs_to_one_browser_and_counts_once() throws Exception {
    Browser browser = new Browser();
    URI back = browser.toProvider("/");
    Browser other = new Browser();
    assertThat(other.callback(back).statusCode()).isEqualTo(400);
    other.toProvider("/");
    HttpResponse<String> mixed = other.callback(back);
    assertThat(mixed.statusCode()).isEqualTo(400);
    assertThat(mixed.body()).contains("state");

    Map<String, String> begun = Map.copyOf(browser.cookies);
    assertThat(browser.callback(back).statusCode()).isEqualTo(303);
    browser.cookies.putAll(begun);
    HttpResponse<String> again = browser.callback(back);
    assertThat(again.statusCode()).isEqualTo(400);
    assertThat(again.body()).contains("completed before");
  }

  @Test
  void id_tokens_that_are_wrong_are_refused() throws Exception {
    refused("audience", set -> set.audience("another"));
    refused("issuer", set -> set.issuer("https://elsewhere.example"));
    refused("nonce", set -> set.claim("nonce", "another"));
    refused("xpired", set -> set.expirationTime(Date.from(Instant.now().minusSeconds(600))));
    refused("no group that access.roles names", set -> set.claim("groups", List.of("others")));
    refused("sub", set -> set.subject(null));
    provider.signNothing();
    refused("", set -> set);
  }

  private void refused(String why, UnaryOperator<JWTClaimsSet.Builder> change) throws Exception {
    provider.change(change);
    Browser browser = new Browser();
    HttpResponse<String> refusal = browser.callback(browser.toProvider("/"));
    assertThat(refusal.statusCode()).as(why).isEqualTo(403);
    assertThat(refusal.body()).contains(why);
    assertThat(browser.cookies).doesNotContainKey("millrace-session");
  }

  @Test
  void the_provider_may_change_its_key() throws Exception {
    assertThat(new Browser().signInAtProvider().statusCode()).isEqualTo(303);
    provider.rotateKey();
    assertThat(new Browser().signInAtProvider().statusCode()).isEqualTo(303);
  }

  @Test
  void a_provider_that_is_down_is_named_and_does_not_stop_the_server() throws Exception {
    provider.close();
    HttpResponse<String> refusal = server.get("/access/sign-in");
    assertThat(refusal.statusCode()).isEqualTo(503);
    assertThat(refusal.body()).contains(provider.issuer());
    HttpResponse<String> page = server.get("/access/sign-in", "Accept", "text/html");
    assertThat(page.statusCode()).isEqualTo(503);
    assertThat(page.body()).contains("<h1>You are not signed in</h1>");
    assertThat(server.get("/health").statusCode()).isEqualTo(200);
  }

  @Test
  void the_way_back_stays_on_this_server() throws Exception {
    for (String elsewhere :
        List.of("https://elsewhere.example", "//elsewhere.example", "/%5Celsewhere.example", "x")) {
      HttpResponse<String> refusal = server.get("/access/sign-in?return=" + elsewhere);
      assertThat(refusal.statusCode()).as(elsewhere).isEqualTo(400);
    }
  }

  @Test
  void a_refusal_of_the_provider_is_shown_as_text() throws Exception {
    Browser browser = new Browser();
    String state = browser.toProvider("/").getRawQuery().replaceFirst(".*(state=[^&]*).*", "$1");
    HttpResponse<String> refusal =
        browser.get(
            "/access/callback?error=access_denied&error_description=%3Cscript%3E&" + state,
            "Accept",
            "text/html");
    assertThat(refusal.statusCode()).isEqualTo(403);
    assertThat(refusal.body()).contains("&lt;script&gt;").doesNotContain("<script>");
  }

  @Test
  void a_proxy_names_people_from_its_addresses_only() throws Exception {
    server.close();
    server =
        TestServer.in(
            folder,
            "access.proxy-header",
            "X-Forwarded-User",
            "access.proxy-groups-header",
            "X-Forwarded-Groups",
            "access.proxy-addresses",
            "127.0.0.0/8,::1",
            "access.roles.all.group",
            "*",
            "access.roles.all.roles",
            "viewer",
            "access.roles.staff.roles",
            "operator");
    opened.add(server);
    HttpResponse<String> me =
        server.get("/access/me", "X-Forwarded-User", "anna", "X-Forwarded-Groups", "a, staff");
    assertThat(json(me).path("principal").asString()).isEqualTo("proxy:anna");
    assertThat(json(me).path("roles").toString()).contains("viewer");
    assertThat(server.get("/dci/queues", "X-Forwarded-User", "bob").statusCode()).isEqualTo(200);
    assertThat(server.get("/dci/queues").statusCode()).isEqualTo(401);

    server.close();
    server =
        TestServer.in(
            folder,
            "access.proxy-header",
            "X-Forwarded-User",
            "access.proxy-addresses",
            "10.0.0.0/8",
            "access.roles.all.group",
            "*",
            "access.roles.all.roles",
            "admin");
    opened.add(server);
    HttpResponse<String> spoofed = server.get("/dci/queues", "X-Forwarded-User", "anna");
    assertThat(spoofed.statusCode()).isEqualTo(403);
    assertThat(spoofed.body()).contains("access.proxy-addresses");
  }

  @Test
  void settings_that_belong_together_are_demanded_together() {
    for (List<String> alone :
        List.of(
            List.of("access.oidc.issuer", "https://login.example"),
            List.of("access.oidc.client-id", "millrace"),
            List.of("access.proxy-header", "X-User"),
            List.of("access.proxy-addresses", "10.0.0.1"),
            List.of("access.roles.staff.queues", "mail"))) {
      assertThatThrownBy(() -> TestServer.in(folder.resolve("x"), alone.toArray(String[]::new)))
          .as("%s", alone)
          .isInstanceOf(ConfigurationException.class)
          .hasMessageContaining("access.");
    }
    assertThatThrownBy(
            () -> TestServer.in(folder.resolve("x"), "access.oidc.issuer", "http://login.example"))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("https");
  }
}
