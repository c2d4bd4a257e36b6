package io.millrace.server;

import io.millrace.http.AccessCheck;
import io.millrace.http.Caller;
import io.millrace.http.HttpLimits;
import io.millrace.http.HttpServer;
import io.millrace.http.message.Headers;
import io.millrace.http.message.HttpProblem;
import io.millrace.processes.FileTree;
import io.millrace.server.MillraceServer.Setup;
import io.millrace.server.config.Configuration;
import io.millrace.server.security.Principals;
import io.millrace.server.store.StoreSettings;
import io.millrace.store.EmbeddedTaskStore;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Builds all parts once, on an empty store of their own, and sends them some requests, so that
 * their classes are loaded when a standby takes over. Without that, they are most of the time that
 * a takeover takes.
 */
final class WarmUp {
  private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);

  /** How often each of {@link #FIRST} is sent. */
  private static final int FIRST_REQUESTS = 20;

  /** Paths and bodies of requests that change an empty store, with the number of the round. */
  private static final List<List<String>> FIRST =
      List.of(
          List.of("/store/update", "{\"clientid\":1,\"adds\":[{\"group\":\"warm-up\"}]}"),
          List.of("/store/claim", "{\"clientid\":1,\"group\":\"warm-up\",\"duration\":60000}"),
          List.of("/dci/queues", "{\"name\":\"warm-up-%d\",\"plugin\":\"shell\"}"),
          List.of("/dci/tasks/warm-up-0", "[{\"command\":\"true\"}]"),
          List.of("/v1/nodes", "[{\"metadata\":{\"type\":\"group\",\"name\":\"warm-up\"}}]"));

  private WarmUp() {}

  /** Does what {@link #rehearse} does, if it can. */
  static void run() {
    try {
      rehearse();
    } catch (IOException | RuntimeException e) {
      LOG.debug("the parts could not be built on an empty store", e);
    }
  }

  /**
   * Warms up.
   *
   * @throws IllegalStateException if a request is refused
   */
  static void rehearse() throws IOException {
    Path folder = Files.createTempDirectory("millrace-warm-up-");
    try {
      Configuration usual =
          Configuration.read(
              MillraceServer.SECTIONS, null, Map.of("store.data", folder.toString()));
      EmbeddedTaskStore store = usual.get(StoreSettings.SECTION).open();
      try (Term built =
          MillraceServer.orClose(
              store,
              () ->
                  Term.of(
                      new Term.Ground(Setup.of(usual, null, null, null), store, null, null, 0)))) {
        built.start(null, "");
        sendFirstRequests(built.site());
      }
    } finally {
      FileTree.remove(folder);
    }
  }

  /**
   * Sends what clients may send first, over a connection as theirs. Graphs run commands, so nobody
   * else may send anything.
   */
  private static void sendFirstRequests(HttpServer.Site site) throws IOException {
    String secret = Principals.newLocalKey(new SecureRandom());
    AccessCheck own =
        attempt -> {
          if (!secret.equals(attempt.headers().only(Headers.AUTHORIZATION))) {
            throw new HttpProblem(403, "this port is for a standby itself");
          }
          return Caller.LOCAL;
        };
    HttpServer.Endpoint any = new HttpServer.Endpoint(InetAddress.getLoopbackAddress(), 0, null);
    HttpServer server =
        HttpServer.start(
            any,
            HttpLimits.DEFAULT,
            new HttpServer.Site(own, site.routes(), site.errorResponses(), site.audit()));
    try (HttpClient client = HttpClient.newHttpClient()) {
      URI url = URI.create(MillraceServer.url(any.address(), server.port()));
      for (int i = 0; i < FIRST_REQUESTS; i++) {
        for (List<String> request : FIRST) {
          String path = request.getFirst();
          String body = String.format(Locale.ROOT, request.getLast(), i);
          HttpRequest sent =
              HttpRequest.newBuilder(url.resolve(path))
                  .header(Headers.AUTHORIZATION, secret)
                  .POST(HttpRequest.BodyPublishers.ofString(body))
                  .build();
          var response = client.send(sent, HttpResponse.BodyHandlers.ofString());
          if (response.statusCode() / 100 != 2) {
            throw new IllegalStateException(path + " is refused: " + response.body());
          }
        }
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } finally {
      server.stop();
    }
  }
}
