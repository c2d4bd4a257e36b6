package io.millrace.cluster.documents.elastic;

import io.millrace.work.elastic.Credentials;
import io.millrace.work.elastic.ElasticClient;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A real Elasticsearch or OpenSearch in a process of its own, with a port and a folder of its own.
 * It ends when it is closed, and also when the JVM that started it dies.
 */
public final class SearchEngine implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Path folder;
  private final SearchEngineLaunch launch;
  private final @Nullable SearchEngineSecurity security;
  private final int port;
  private SearchEngineProcess process;

  private SearchEngine(
      Path folder, SearchEngineLaunch launch, @Nullable SearchEngineSecurity security)
      throws IOException {
    this.folder = folder;
    this.launch = launch;
    this.security = security;
    process = SearchEngineProcess.start(launch.at(0));
    port = process.port();
  }

  private interface IoCall<T> {
    T in(Path folder) throws IOException;
  }

  private static SearchEngine start(String name, IoCall<SearchEngine> preparation) {
    try {
      return preparation.in(Files.createTempDirectory(name));
    } catch (IOException e) {
      throw new AssertionError(name + " cannot be started", e);
    }
  }

  /** Starts an Elasticsearch and waits until it is ready. */
  public static SearchEngine elasticsearch() {
    return start(
        "elasticsearch",
        folder -> new SearchEngine(folder, SearchEngineLaunch.elasticsearch(folder), null));
  }

  /** Starts an Elasticsearch with encryption and users, and waits until it is ready. */
  public static SearchEngine securedElasticsearch() {
    return start(
        "elasticsearch",
        folder -> {
          SearchEngineSecurity security =
              SearchEngineSecurity.make(Files.createDirectories(folder.resolve("config")));
          return new SearchEngine(
              folder, SearchEngineLaunch.securedElasticsearch(folder), security);
        });
  }

  /** Starts an OpenSearch and waits until it is ready. */
  public static SearchEngine opensearch() {
    return start(
        "opensearch",
        folder -> new SearchEngine(folder, SearchEngineLaunch.opensearch(folder), null));
  }

  /** Its address, which stays the same after a restart. */
  public URI address() {
    return URI.create((security == null ? "http" : "https") + "://127.0.0.1:" + port);
  }

  /** Its certificates; empty without encryption. */
  public Optional<Path> certificates() {
    return Optional.ofNullable(security).map(SearchEngineSecurity::certificates);
  }

  /** Credentials of a cluster member as environment variables; empty if it needs none. */
  public Map<String, String> environment() {
    return security == null
        ? Map.of()
        : SearchEngineSecurity.environment(SearchEngineSecurity.MEMBER);
  }

  /** Options for a client with all privileges. */
  public ElasticOptions options() {
    ElasticOptions options = ElasticOptions.at(address()).withTimeout(PATIENCE);
    return security == null
        ? options
        : options
            .withCertificates(security.certificates())
            .withCredentials(
                Credentials.from(SearchEngineSecurity.environment(SearchEngineSecurity.OWNER))
                    .orElseThrow());
  }

  /**
   * Sends a request with all privileges.
   *
   * @param json the body; null for none
   * @return the body of the response, whatever the status
   */
  public String send(String method, String path, @Nullable String json) throws IOException {
    try (ElasticClient engine = options().connect()) {
      return new String(engine.send(method, path, json).body(), StandardCharsets.UTF_8);
    }
  }

  /** Kills it with SIGKILL. Its folder stays. */
  public void kill() {
    process.kill();
  }

  /** Starts it again after it was killed, with the same folder and address. */
  public void startAgain() throws IOException {
    process = SearchEngineProcess.start(launch.at(port));
  }

  /** Kills it and removes its folder. */
  @Override
  public void close() {
    kill();
    try {
      List<Path> all;
      try (Stream<Path> found = Files.walk(folder)) {
        all = found.sorted(Comparator.reverseOrder()).toList();
      }
      for (Path path : all) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
