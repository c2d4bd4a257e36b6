package io.millrace.server.crash;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Servers killed while principals, keys and sessions come and go: what was answered holds
 * afterwards, and the audit log has one entry for each change of principals and keys.
 */
final class AccessKillTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final String TOKEN = "s3cret-of-this-server";
  private static final String CSRF = "X-CSRF-Token";
  private static final int KILLS = 2;
  private static final int CLIENTS = 3;

  /** How many answered creations are waited for before a kill. */
  private static final int CREATED = 15;

  private final Path root;
  private final HttpClient client = HttpClient.newHttpClient();
  private final Collection<Account> accounts = new ConcurrentLinkedQueue<>();
  private final Semaphore created = new Semaphore(0);
  private ServerProcess server;

  /** The key of an administrator, which counts at once, whoever guesses at the same address. */
  private String admin;

  AccessKillTest(@TempDir Path root) throws Exception {
    this.root = root;
    Files.writeString(root.resolve("token"), TOKEN);
    server = up();
    admin = TOKEN;
    admin = create("admin", "admin").required("key").asString();
  }

  /** A principal with a key, as far as its client knows. */
  private static final class Account {
    final String name;
    volatile String key = "";
    volatile String prefix = "";
    volatile String cookie = "";
    volatile String csrf = "";
    volatile boolean revoking;
    volatile boolean revoked;
    volatile boolean leaving;
    volatile boolean left;
    volatile String otherKey = "";

    Account(String name) {
      this.name = name;
    }
  }

  @AfterEach
  void close() {
    server.close();
    client.close();
  }

  private ServerProcess up() throws IOException {
    return ServerProcess.start(
        "",
        "-Xmx256m",
        "store.data",
        root.resolve("store").toString(),
        "server.token-file",
        root.resolve("token").toString());
  }

  private HttpResponse<String> send(String method, String path, String body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(server.address().resolve(path))
            .method(method, HttpRequest.BodyPublishers.ofString(body));
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private HttpResponse<String> admin(String method, String path, String body)
      throws IOException, InterruptedException {
    return send(method, path, body, "Authorization", "Bearer " + admin);
  }

  private int statusWithKey(String key) throws IOException, InterruptedException {
    return send("GET", "/store/groups", "", "Authorization", "Bearer " + key).statusCode();
  }

  /** Creates accounts, some of which lose their key or their session, until the server is gone. */
  private void change(String names) {
    try {
      for (int i = 0; ; i++) {
        Account account = new Account(names + i);
        accounts.add(account);
        create(account);
        begin(account);
        if (i % 3 == 0) {
          account.revoking = true;
          expect(200, admin("DELETE", "/access/keys/" + account.prefix, ""));
          account.revoked = true;
        } else if (i % 3 == 1) {
          account.leaving = true;
          expect(
              200,
              send("POST", "/access/sign-out", "", "Cookie", account.cookie, CSRF, account.csrf));
          account.left = true;
        } else {
          account.otherKey = createKey(account);
        }
      }
    } catch (IOException _) {
      // The server was killed.
    } catch (InterruptedException e) {
      throw new AssertionError("interrupted", e);
    }
  }

  private void create(Account account) throws IOException, InterruptedException {
    JsonNode key = create(account.name, "viewer");
    account.prefix = key.required("prefix").asString();
    account.key = key.required("key").asString();
    created.release();
  }

  /** Creates a principal, and returns its key. */
  private JsonNode create(String name, String role) throws IOException, InterruptedException {
    String body = "{\"name\":\"%s\",\"roles\":[\"%s\"],\"key\":{}}".formatted(name, role);
    return JSON.readTree(expect(201, admin("POST", "/access/principals", body)).body())
        .required("key");
  }

  private String createKey(Account account) throws IOException, InterruptedException {
    HttpResponse<String> given =
        expect(201, admin("POST", "/access/principals/" + account.name + "/keys", "{}"));
    return JSON.readTree(given.body()).required("key").asString();
  }

  private void begin(Account account) throws IOException, InterruptedException {
    HttpResponse<String> begun =
        expect(201, send("POST", "/access/sessions", "", "Authorization", "Bearer " + account.key));
    String cookie = begun.headers().firstValue("Set-Cookie").orElseThrow();
    account.csrf = JSON.readTree(begun.body()).required("csrf").asString();
    account.cookie = cookie.substring(0, cookie.indexOf(';'));
  }

  private static HttpResponse<String> expect(int status, HttpResponse<String> response) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    return response;
  }

  @Test
  void what_was_answered_holds_and_is_told_once() throws Exception {
    for (int kill = 1; kill <= KILLS; kill++) {
      created.drainPermits();
      List<Thread> clients = new ArrayList<>();
      Map<Thread, Throwable> failures = new ConcurrentHashMap<>();
      for (int i = 0; i < CLIENTS; i++) {
        String names = "kill-%s-client-%s-".formatted(kill, i);
        clients.add(
            Thread.ofVirtual()
                .uncaughtExceptionHandler((thread, thrown) -> {
                  failures.put(thread, thrown);
                  created.release(CREATED);
                })
                .start(() -> change(names)));
      }
      assertThat(created.tryAcquire(CREATED, 60, TimeUnit.SECONDS)).as("%s", failures).isTrue();
      server.kill();
      for (Thread each : clients) {
        each.join();
      }
      assertThat(failures).isEmpty();
      server = up();
      checkCredentials();
      checkAudit();
    }
  }

  private void checkCredentials() throws IOException, InterruptedException {
    for (Account account : accounts) {
      if (!account.key.isEmpty() && !account.revoking) {
        assertThat(statusWithKey(account.key)).as("key of %s", account.name).isEqualTo(200);
      }
      if (!account.otherKey.isEmpty()) {
        assertThat(statusWithKey(account.otherKey)).as("key of %s", account.name).isEqualTo(200);
      }
      if (account.revoked) {
        // Keys that are over count as guesses, and are not even looked at after some.
        assertThat(statusWithKey(account.key)).as("key of %s", account.name).isIn(401, 429);
      }
      if (!account.cookie.isEmpty()) {
        // Anybody may ask who he is.
        HttpResponse<String> me = send("GET", "/access/me", "", "Cookie", account.cookie);
        String principal = JSON.readTree(expect(200, me).body()).required("principal").asString();
        if (account.left || account.revoked) {
          assertThat(principal).as("session of %s", account.name).isEqualTo("unknown");
        } else if (!account.leaving && !account.revoking) {
          assertThat(principal).isEqualTo(account.name);
        }
      }
    }
  }

  private void checkAudit() throws IOException, InterruptedException {
    JsonNode principals = JSON.readTree(admin("GET", "/access/principals", "").body());
    JsonNode keys = JSON.readTree(admin("GET", "/access/keys", "").body());
    List<String> names = texts(principals, "name");
    List<String> prefixes = texts(keys, "prefix");
    List<String> told = new ArrayList<>();
    List<String> begun = new ArrayList<>();
    JsonNode entries = JSON.readTree(admin("GET", "/audit/export?format=json", "").body());
    for (JsonNode entry : entries) {
      String action = entry.required("action").asString();
      if (action.equals("session.create")) {
        for (int i = 0; i < entry.required("count").asInt(); i++) {
          begun.add(entry.required("principal").asString());
        }
      } else if (entry.required("result").asString().equals("done")) {
        told.add(action + " " + entry.required("first").asString());
      }
    }
    List<String> happened = new ArrayList<>(List.of("principal.create admin"));
    for (Account account : accounts) {
      if (names.contains(account.name)) {
        happened.add("principal.create " + account.name);
      }
      if (!account.prefix.isEmpty() && !prefixes.contains(account.prefix)) {
        happened.add("key.revoke " + account.prefix);
      }
    }
    told.removeIf(each -> !each.startsWith("principal.create") && !each.startsWith("key.revoke"));
    assertThat(told).containsExactlyInAnyOrderElementsOf(happened);
    assertThat(begun).as("counted at most once").doesNotHaveDuplicates();
  }

  private static List<String> texts(JsonNode objects, String field) {
    return objects.valueStream().map(each -> each.required(field).asString()).toList();
  }

  /** Counts of failures are not stored, so a restart gives as many guesses as the first start. */
  @Test
  void guesses_are_slowed_down_after_a_kill_as_before() throws Exception {
    String key = create("ann", "viewer").required("key").asString();
    for (int start = 0; start < 2; start++) {
      List<Integer> statuses = new ArrayList<>();
      // The first pause is a second, which a slow machine may wait out; each next one is longer.
      for (int guess = 0; guess < 12 || (guess < 20 && statuses.getLast() == 403); guess++) {
        statuses.add(statusWithKey("guess-%s-of-start-%s".formatted(guess, start)));
      }
      assertThat(statuses.subList(0, statuses.size() - 1)).as("%s", statuses).containsOnly(403);
      assertThat(statuses.getLast()).as("%s", statuses).isEqualTo(429);
      assertThat(statusWithKey(key)).isEqualTo(200);
      server.kill();
      server = up();
    }
  }
}
