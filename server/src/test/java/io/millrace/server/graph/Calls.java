package io.millrace.server.graph;

import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphException.NotAllowedException;
import io.millrace.graph.GraphException.StaleViewException;
import io.millrace.graph.GraphException.UnknownKeyException;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphException.VersionException;
import io.millrace.graph.GraphException.VersionLostException;
import io.millrace.graph.NodeId;
import io.millrace.http.json.Json;
import io.millrace.server.Contract;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Requests to the API of graphs, and what its refusals stand for. */
final class Calls implements AutoCloseable {
  private static final Pattern NO_KEY = Pattern.compile("node (\\d+) has no data \"(.*)\"");
  private static final Pattern NO_NODE = Pattern.compile("there is no node (\\d+)");

  private final URI root;
  private final Contract contract;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  Calls(URI root, Contract contract) {
    this.root = root;
    this.contract = contract;
  }

  JsonNode send(String method, String path, @Nullable JsonNode body, @Nullable Long expected) {
    return Json.MAPPER.readTree(exchange(method, path, body, expected).body());
  }

  private HttpResponse<String> exchange(
      String method, String path, @Nullable JsonNode body, @Nullable Long expected) {
    HttpRequest.Builder request =
        request(path)
            .method(
                method,
                body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body.toString()));
    if (expected != null) {
      request.header("If-Match", "\"" + expected + "\"");
    }
    try {
      HttpResponse<String> answer = client.send(request.build(), BodyHandlers.ofString());
      contract.check(method, request.build().uri(), body == null ? "" : body.toString(), answer);
      if (answer.statusCode() >= 400) {
        throw meaning(answer.statusCode(), path, answer.body());
      }
      return answer;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  JsonNode get(String path) {
    return send("GET", path, null, null);
  }

  /** An answer with the version that its tag tells. */
  record Tagged(JsonNode body, long version) {}

  Tagged tagged(String path) {
    HttpResponse<String> answer = exchange("GET", path, null, null);
    String tag = answer.headers().firstValue("ETag").orElseThrow();
    return new Tagged(
        Json.MAPPER.readTree(answer.body()), Long.parseLong(tag.substring(1, tag.length() - 1)));
  }

  /** An answer that goes on. */
  InputStream stream(String path) {
    try {
      HttpResponse<InputStream> answer =
          client.send(request(path).build(), BodyHandlers.ofInputStream());
      if (answer.statusCode() == 200) {
        return answer.body();
      }
      try (InputStream body = answer.body()) {
        String error = new String(body.readAllBytes(), StandardCharsets.UTF_8);
        throw meaning(answer.statusCode(), path, error);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(root + path)).timeout(Duration.ofSeconds(60));
  }

  private static RuntimeException meaning(int status, String path, String body) {
    String error = Json.MAPPER.readTree(body).required("error").asString();
    return switch (status) {
      case 400 -> new InvalidGraphException(error);
      case 403 -> new NotAllowedException(error);
      case 404 -> unknown(error);
      case 409 ->
          path.contains("pid=") ? new StaleViewException(error) : new NodeStateException(error);
      case 410 -> new VersionLostException(error);
      case 412 -> new VersionException(error);
      default -> throw new AssertionError(status + " " + body);
    };
  }

  private static RuntimeException unknown(String error) {
    Matcher key = NO_KEY.matcher(error);
    if (key.matches()) {
      return new UnknownKeyException(NodeId.parse(key.group(1)).orElseThrow(), key.group(2));
    }
    Matcher node = NO_NODE.matcher(error);
    if (node.matches()) {
      return new UnknownNodeException(NodeId.parse(node.group(1)).orElseThrow());
    }
    throw new AssertionError(error);
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
