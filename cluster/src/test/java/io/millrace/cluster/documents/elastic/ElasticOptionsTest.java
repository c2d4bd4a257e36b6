package io.millrace.cluster.documents.elastic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.millrace.cluster.documents.DocumentsUnavailableException;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.work.elastic.Credentials;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ElasticOptionsTest {
  private static final ElasticOptions OPTIONS =
      ElasticOptions.at(URI.create("http://127.0.0.1:9200"));

  @Test
  void credentials_come_from_the_environment() throws IOException {
    assertThat(authorization(null)).containsExactly("none");
    assertThat(
            authorization(
                Credentials.from(
                        Map.of(
                            "MILLRACE_ELASTICSEARCH_USER", "user",
                            "MILLRACE_ELASTICSEARCH_PASSWORD", "pass:w\u00f6rd"))
                    .orElseThrow()))
        .containsExactly("Basic dXNlcjpwYXNzOnfDtnJk");
    assertThat(
            authorization(
                Credentials.from(Map.of("MILLRACE_ELASTICSEARCH_API_KEY", "a2V5")).orElseThrow()))
        .containsExactly("ApiKey a2V5");
    assertThat(Credentials.from(Map.of())).isEmpty();
    assertThat(Credentials.from(Map.of("MILLRACE_ELASTICSEARCH_USER", ""))).isEmpty();
  }

  /** Returns the authorization headers of a request. */
  private static Queue<String> authorization(@Nullable Credentials credentials) throws IOException {
    Queue<String> seen = new ConcurrentLinkedQueue<>();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          String header = exchange.getRequestHeaders().getFirst("Authorization");
          seen.add(header == null ? "none" : header);
          exchange.sendResponseHeaders(401, -1);
          exchange.close();
        });
    server.start();
    URI address = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    try (VersionedDocuments documents =
        ElasticDocuments.open(ElasticOptions.at(address).withCredentials(credentials))) {
      assertThatThrownBy(() -> documents.get("leader"))
          .isInstanceOf(DocumentsUnavailableException.class)
          .hasMessageContaining("401");
    } finally {
      server.stop(0);
    }
    return seen;
  }

  @Test
  void incomplete_or_contradictory_credentials_are_refused_and_the_error_names_their_variables() {
    for (Map<String, String> environment :
        List.of(
            Map.of("MILLRACE_ELASTICSEARCH_USER", "user"),
            Map.of("MILLRACE_ELASTICSEARCH_PASSWORD", "secret"),
            Map.of(
                "MILLRACE_ELASTICSEARCH_USER", "us:er",
                "MILLRACE_ELASTICSEARCH_PASSWORD", "secret"),
            Map.of("MILLRACE_ELASTICSEARCH_API_KEY", "two words"),
            Map.of(
                "MILLRACE_ELASTICSEARCH_API_KEY", "key",
                "MILLRACE_ELASTICSEARCH_USER", "user"))) {
      assertThatThrownBy(() -> Credentials.from(environment))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("MILLRACE_ELASTICSEARCH_");
    }
    assertThat(Credentials.apiKey("secret").toString()).doesNotContain("secret");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"ftp://host", "host:9200", "http:///x", "http://host/?a=b", "http://a:b@host"})
  void an_invalid_address_is_refused(String address) {
    assertThatThrownBy(() -> ElasticOptions.at(URI.create(address)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("address of Elasticsearch");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "A", "-a", "_a", ".a", "a/b", "a b", "a*", "a,b", "a#b"})
  void an_invalid_index_prefix_is_refused(String prefix) {
    assertThatThrownBy(() -> OPTIONS.withPrefix(prefix))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("prefix");
  }

  @Test
  void a_timeout_must_be_positive_and_certificates_readable(@TempDir Path folder)
      throws IOException {
    assertThatThrownBy(() -> OPTIONS.withTimeout(Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class);
    Path empty = Files.createFile(folder.resolve("empty.pem"));
    for (Path file : List.of(empty, folder.resolve("absent.pem"))) {
      assertThatThrownBy(() -> ElasticDocuments.open(OPTIONS.withCertificates(file)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(file.toString());
    }
  }
}
