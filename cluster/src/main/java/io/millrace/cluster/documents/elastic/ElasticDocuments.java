package io.millrace.cluster.documents.elastic;

import io.millrace.cluster.documents.DocumentsUnavailableException;
import io.millrace.cluster.documents.Keys;
import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.work.elastic.ElasticClient;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Documents in an index of Elasticsearch 8 or OpenSearch 3. The first change creates the index.
 *
 * <p>A change is sent once. If it was certainly not made (nothing was sent, or the engine is too
 * busy, blocked, or refuses it), it throws {@link DocumentsUnavailableException}; if there was no
 * answer in time, or an inconclusive one, {@link UnclearOutcomeException}. Each write stores a
 * random name in the index: an engine of several machines may repeat a write if an internal
 * connection breaks, and then report a conflict of the write with itself. So after a conflict the
 * document is read to find out whose write it contains.
 *
 * <p>{@link #list} is a search and lags behind by the index's refresh interval, a second by
 * default.
 */
public final class ElasticDocuments implements VersionedDocuments {
  /** The number of documents in a page. This many of the maximum size fit into memory. */
  private static final int PAGE = 200;

  private static final JsonMapper JSON = new JsonMapper();
  private static final Pattern VERSION = Pattern.compile("([0-9]{1,18})\\.([0-9]{1,18})");

  /** Errors by which an engine says that it has not begun a change. */
  private static final Set<String> NOT_BEGUN =
      Set.of(
          "cluster_block_exception",
          "es_rejected_execution_exception",
          "rejected_execution_exception",
          "circuit_breaking_exception");

  private final ElasticClient client;
  private final Index index;

  private ElasticDocuments(ElasticOptions options) {
    client = options.connect();
    index = new Index(client, options.prefix());
  }

  /**
   * Opens the documents of the engine at an address, with default options. Connects on first use.
   */
  public static ElasticDocuments open(URI server) {
    return open(ElasticOptions.at(server));
  }

  /**
   * Opens the documents that the options name. Connects on first use.
   *
   * @throws IllegalArgumentException if the certificates cannot be read
   */
  public static ElasticDocuments open(ElasticOptions options) {
    return new ElasticDocuments(options);
  }

  @Override
  public Optional<VersionedDocument> get(String key) {
    Keys.check(key);
    return read(() -> hit(key)).map(ElasticResponses.Hit::document);
  }

  private Optional<ElasticResponses.Hit> hit(String key) throws IOException {
    HttpResponse<byte[]> answer = client.send("GET", path("_doc", key), null);
    return switch (answer.statusCode()) {
      case 200 -> ElasticResponses.document(answer.body());
      case 404 -> {
        String error = ElasticClient.errorType(answer.body());
        if (!error.isEmpty() && !error.equals("index_not_found_exception")) {
          throw refused(answer);
        }
        yield Optional.empty();
      }
      default -> throw refused(answer);
    };
  }

  @Override
  public Optional<Version> put(String key, Version expected, String json) {
    Keys.check(key, json);
    String path =
        expected.equals(Version.NONE)
            ? path("_create", key) + "?" + patience()
            : path("_doc", key) + "?" + at(expected) + "&" + patience();
    String write = UUID.randomUUID().toString();
    String source =
        "{\"key\":%s,\"write\":\"%s\",\"document\":%s}"
            .formatted(JSON.writeValueAsString(key), write, json);
    HttpResponse<byte[]> answer = change("PUT", path, source);
    if (answer.statusCode() == 409) {
      return sure(() -> hit(key))
          .filter(hit -> hit.write().equals(write))
          .map(hit -> hit.document().version());
    }
    return Optional.of(sure(() -> ElasticResponses.version(answer.body())));
  }

  @Override
  public boolean delete(String key, Version expected) {
    Keys.checkDelete(key, expected);
    String path = path("_doc", key) + "?" + at(expected) + "&" + patience();
    int status = change("DELETE", path, null).statusCode();
    return status == 200;
  }

  /** Sends a change; returns the response if the change was made or conflicted. */
  private HttpResponse<byte[]> change(String method, String path, @Nullable String json) {
    read(() -> {
      index.ensure();
      return index;
    });
    HttpResponse<byte[]> answer;
    try {
      answer = client.send(method, path, json);
    } catch (ElasticClient.NotSentException e) {
      throw unavailable(e);
    } catch (IOException e) {
      throw unclear(e);
    }
    int status = answer.statusCode();
    boolean gone =
        status == 404
            && method.equals("DELETE")
            && ElasticClient.errorType(answer.body()).isEmpty();
    if (status == 200 || status == 201 || status == 409 || gone) {
      return answer;
    }
    if (status >= 500 && !NOT_BEGUN.contains(ElasticClient.errorType(answer.body()))) {
      throw unclear(refused(answer));
    }
    throw unavailable(refused(answer));
  }

  @Override
  public List<VersionedDocument> list(String prefix) {
    Keys.checkPrefix(prefix);
    TreeMap<String, VersionedDocument> documents = new TreeMap<>();
    String after = null;
    while (true) {
      String last = after;
      List<ElasticResponses.Hit> page = read(() -> page(prefix, last));
      page.forEach(hit -> documents.put(hit.document().key(), hit.document()));
      if (page.size() < PAGE) {
        return List.copyOf(documents.values());
      }
      after = page.getLast().document().key();
    }
  }

  /** The default refresh interval of an index, doubled to allow for the refresh itself. */
  @Override
  public long listingAgeMillis() {
    return 2000;
  }

  /** The next documents in the engine's order of keys, which differs from that of a listing. */
  private List<ElasticResponses.Hit> page(String prefix, @Nullable String after)
      throws IOException {
    String query =
        prefix.isEmpty()
            ? "{\"match_all\":{}}"
            : "{\"prefix\":{\"key\":{\"value\":%s}}}".formatted(JSON.writeValueAsString(prefix));
    String from =
        after == null ? "" : ",\"search_after\":[%s]".formatted(JSON.writeValueAsString(after));
    String search =
        "{\"size\":%d,\"query\":%s,\"sort\":[{\"key\":\"asc\"}]%s,\"seq_no_primary_term\":true,\"track_total_hits\":false}"
            .formatted(PAGE, query, from);
    HttpResponse<byte[]> answer =
        client.send(
            "POST",
            index.path() + "/_search?ignore_unavailable=true&allow_partial_search_results=false",
            search);
    if (answer.statusCode() != 200) {
      throw refused(answer);
    }
    return ElasticResponses.found(answer.body());
  }

  private String path(String verb, String key) {
    String name =
        URLEncoder.encode(key, StandardCharsets.UTF_8)
            .replace("+", "%20")
            .replace("*", "%2A")
            .replace(".", "%2E");
    return index.path() + "/" + verb + "/" + name;
  }

  private static String at(Version version) {
    Matcher matcher = VERSION.matcher(version.text());
    if (!matcher.matches()) {
      throw new IllegalArgumentException("not a version of these documents: " + version);
    }
    return "if_seq_no=" + matcher.group(1) + "&if_primary_term=" + matcher.group(2);
  }

  /** Limits the engine's wait for its shard to the time that the caller waits for the engine. */
  private String patience() {
    return "timeout=" + Math.max(1, client.timeout().toMillis()) + "ms";
  }

  private interface Request<T> {
    T send() throws IOException;
  }

  /** Runs a request that changes no document. */
  private <T> T read(Request<T> request) {
    try {
      return request.send();
    } catch (IOException e) {
      throw unavailable(e);
    }
  }

  /** Runs a request for the outcome of a change that was sent. */
  private <T> T sure(Request<T> request) {
    try {
      return request.send();
    } catch (IOException e) {
      throw unclear(e);
    }
  }

  private IOException refused(HttpResponse<byte[]> answer) {
    return new IOException(
        "%s answers with status %d: %s"
            .formatted(client, answer.statusCode(), ElasticClient.error(answer.body())));
  }

  private static DocumentsUnavailableException unavailable(IOException e) {
    return new DocumentsUnavailableException("documents cannot be reached: " + e.getMessage(), e);
  }

  private static UnclearOutcomeException unclear(IOException e) {
    return new UnclearOutcomeException("a document may have changed: " + e.getMessage(), e);
  }

  @Override
  public void close() {
    client.close();
  }

  /**
   * The index of the documents. It has one shard, so that the engine numbers all changes in one
   * sequence, and a replica if there is a second machine. Documents can be searched by key only.
   */
  private static final class Index {
    private static final String DEFINITION =
        """
        {"settings":{"number_of_shards":1,"auto_expand_replicas":"0-1"},
         "mappings":{"dynamic":false,"properties":{
           "key":{"type":"keyword"},
           "write":{"type":"keyword","index":false,"doc_values":false},
           "document":{"type":"object","enabled":false}}}}\
        """;

    private final ElasticClient client;
    private final String name;
    private volatile boolean there;

    Index(ElasticClient client, String prefix) {
      this.client = client;
      this.name = prefix + "documents";
    }

    /** The path of the index. */
    String path() {
      return "/" + name;
    }

    /**
     * Creates the index if it does not exist; any number of members may do so at once.
     *
     * @throws IOException if it cannot be created, or was not created for these documents; no
     *     document was changed then
     */
    void ensure() throws IOException {
      if (there) {
        return;
      }
      HttpResponse<byte[]> mapping = client.send("GET", path() + "/_mapping", null);
      if (mapping.statusCode() == 404) {
        HttpResponse<byte[]> made = client.send("PUT", path(), DEFINITION);
        boolean lost =
            made.statusCode() == 400
                && ElasticClient.errorType(made.body()).equals("resource_already_exists_exception");
        if (made.statusCode() != 200 && !lost) {
          throw refused(made);
        }
        mapping = client.send("GET", path() + "/_mapping", null);
      }
      if (mapping.statusCode() != 200) {
        throw refused(mapping);
      }
      JsonNode properties =
          ElasticClient.tree(mapping.body()).path(name).path("mappings").path("properties");
      if (!properties.path("key").path("type").asString("").equals("keyword")
          || properties.path("document").path("enabled").asBoolean(true)) {
        throw new IOException(
            "index " + name + " was not made for these documents; choose another prefix");
      }
      there = true;
    }

    private IOException refused(HttpResponse<byte[]> answer) {
      return new IOException(
          "index %s: status %d: %s"
              .formatted(name, answer.statusCode(), ElasticClient.error(answer.body())));
    }
  }
}
