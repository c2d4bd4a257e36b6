package io.millrace.journal.elastic;

import io.millrace.journal.shared.Bucket;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.JournalException;
import io.millrace.work.elastic.Credentials;
import io.millrace.work.elastic.ElasticClient;
import java.io.IOException;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The objects of a store in an index of Elasticsearch or OpenSearch: each is a document whose id is
 * the name of the store and the key, and which has the bytes in base64. The index is reached by an
 * alias only: a write that demands an alias does not create an index if that of the store was
 * deleted.
 *
 * <p>An engine of several machines may repeat a write if an internal connection breaks, and then
 * report a conflict of the write with itself. So each write has a random name, and after a conflict
 * the document is read to find out whose it is.
 */
final class ElasticBucket implements Bucket {
  /** After this long without an answer, a request counts as lost. */
  private static final Duration SILENCE = Duration.ofSeconds(15);

  /** How often a request is sent that may be repeated. */
  private static final int ATTEMPTS = 3;

  private static final String TIMEOUT = "timeout=10s";
  private static final String CHANGE = "?require_alias=true&" + TIMEOUT;

  /** OpenSearch's choice of how replicas get what is written, which Elasticsearch does not know. */
  private static final String REPLICATION = "index.replication.type";

  private static final JsonMapper JSON = new JsonMapper();

  /** The indices of which this process knows that they keep conditions. */
  private static final Set<String> TRIED = ConcurrentHashMap.newKeySet();

  private final ElasticJournalOptions options;
  private final String prefix;
  private final String alias;
  private @Nullable ElasticClient client;

  ElasticBucket(ElasticJournalOptions options) {
    this.options = options;
    this.prefix = options.store() + "/";
    this.alias = "/" + options.index();
  }

  // ---- requests

  private synchronized ElasticClient client() {
    ElasticClient open = client;
    if (open == null) {
      Credentials credentials = options.credentials();
      open = new ElasticClient(options.server(), credentials, options.certificates(), SILENCE);
      client = open;
    }
    return open;
  }

  private HttpResponse<byte[]> send(String method, String path, @Nullable String json)
      throws IOException {
    return client().send(method, path, json);
  }

  private interface Request<T extends @Nullable Object> {
    T send() throws IOException;
  }

  /** Sends a request that may be repeated, again if it fails. */
  private static <T extends @Nullable Object> T call(Request<T> request) throws IOException {
    for (int attempt = 1; ; attempt++) {
      try {
        return request.send();
      } catch (IOException e) {
        if (attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private IOException refused(HttpResponse<byte[]> answer) {
    return new IOException(
        "%s answers with status %d: %s"
            .formatted(client(), answer.statusCode(), ElasticClient.error(answer.body())));
  }

  /** The answer, whose shards have all done what was asked. */
  private JsonNode complete(HttpResponse<byte[]> answer) throws IOException {
    if (answer.statusCode() != 200 && answer.statusCode() != 201) {
      throw refused(answer);
    }
    JsonNode body = ElasticClient.tree(answer.body());
    int failed = body.path("_shards").path("failed").asInt(-1);
    if (failed != 0) {
      throw new IOException("%s: %d copies of the index have failed".formatted(client(), failed));
    }
    return body;
  }

  private static String encoded(String id) {
    // Names have no other characters that stay as they are and mean something in a path.
    return URLEncoder.encode(id, StandardCharsets.UTF_8).replace(".", "%2E");
  }

  private static String quoted(String text) {
    return JSON.writeValueAsString(text);
  }

  // ---- the index

  @Override
  public void check() throws IOException {
    var _ = isThere();
  }

  /** Whether there is an index, which is checked then. */
  private boolean isThere() throws IOException {
    HttpResponse<byte[]> answer =
        send("GET", alias + "?flat_settings=true&include_defaults=true", null);
    return switch (answer.statusCode()) {
      case 200 -> {
        JsonNode indices = ElasticClient.tree(answer.body());
        Map.Entry<String, JsonNode> only =
            indices.size() == 1 ? indices.properties().iterator().next() : Map.entry("", indices);
        requireFit(only.getKey(), only.getValue());
        yield true;
      }
      case 404 -> {
        if (ElasticClient.errorType(answer.body()).equals("index_not_found_exception")) {
          yield false;
        }
        throw refused(answer);
      }
      case 401, 403 ->
          throw new JournalException(
              "the credentials do not suffice for index %s: %s"
                  .formatted(options.index(), ElasticClient.error(answer.body())));
      default -> throw refused(answer);
    };
  }

  /** Checks an index, as the engine describes it. */
  void requireFit(String index, JsonNode found) {
    if (!index.equals(options.index() + ElasticJournalOptions.SUFFIX)
        || !found
            .path("mappings")
            .path("properties")
            .path("key")
            .path("type")
            .asString("")
            .equals("keyword")) {
      throw new JournalException(
          "%s is not an alias that was made for a store; choose another name"
              .formatted(options.index()));
    }
    JsonNode settings = found.path("settings");
    require(settings, found, "index.translog.durability", "request");
    require(settings, found, "index.number_of_shards", "1");
    if (!setting(settings, found, REPLICATION).isEmpty()) {
      require(settings, found, REPLICATION, "document");
    }
    String lifecycle = setting(settings, found, "index.lifecycle.name");
    if (!lifecycle.isEmpty() && !options.accepted().contains(ElasticJournalOptions.LIFECYCLE)) {
      throw new JournalException(
          "index %s has the lifecycle policy %s, which may delete it; remove it, or accept it by"
                  .formatted(index, lifecycle)
              + " store.accept = "
              + ElasticJournalOptions.LIFECYCLE);
    }
  }

  private static String setting(JsonNode settings, JsonNode found, String name) {
    return settings.path(name).asString(found.path("defaults").path(name).asString(""));
  }

  private static void require(JsonNode settings, JsonNode found, String name, String wanted) {
    String set = setting(settings, found, name);
    if (!set.toLowerCase(Locale.ROOT).equals(wanted)) {
      throw new JournalException(
          "the index has %s = %s, so that commits may be lost or read late; %s is needed"
              .formatted(name, set, wanted));
    }
  }

  /** Creates the index; others may do so at the same time. */
  private void createIndex() throws IOException {
    HttpResponse<byte[]> made = putIndex(",\"" + REPLICATION + "\":\"DOCUMENT\"");
    if (made.statusCode() == 400 && ElasticClient.error(made.body()).contains(REPLICATION)) {
      made = putIndex("");
    }
    if (made.statusCode() == 401 || made.statusCode() == 403) {
      throw new JournalException(
          "the credentials do not suffice to create index %s: %s"
              .formatted(options.index(), ElasticClient.error(made.body())));
    }
    if (made.statusCode() != 200
        && !ElasticClient.errorType(made.body()).equals("resource_already_exists_exception")) {
      throw refused(made);
    }
  }

  private HttpResponse<byte[]> putIndex(String more) throws IOException {
    String definition =
        """
        {"settings":{"index.number_of_shards":1,"index.auto_expand_replicas":"0-1",
           "index.translog.durability":"request","index.refresh_interval":"-1"%s},
         "aliases":{%s:{}},
         "mappings":{"dynamic":false,"properties":{
           "key":{"type":"keyword"},
           "write":{"type":"keyword","index":false,"doc_values":false},
           "content":{"type":"binary"}}}}\
        """
            .formatted(more, quoted(options.index()));
    return send("PUT", alias + ElasticJournalOptions.SUFFIX, definition);
  }

  @Override
  public void prepare() throws IOException {
    if (!isThere()) {
      createIndex();
      if (!isThere()) {
        throw new IOException("index " + options.index() + " is gone again");
      }
    }
    if (!TRIED.contains(options.place())) {
      Bucket.requireOneWinner(this, options.toString());
      TRIED.add(options.place());
    }
  }

  // ---- objects

  private String source(String key, String write, byte[] content) {
    return "{\"key\":%s,\"write\":\"%s\",\"content\":\"%s\"}"
        .formatted(quoted(prefix + key), write, Base64.getEncoder().encodeToString(content));
  }

  @Override
  public boolean create(String key, byte[] content) throws IOException {
    String write = UUID.randomUUID().toString();
    HttpResponse<byte[]> answer =
        send(
            "PUT",
            alias + "/_create/" + encoded(prefix + key) + CHANGE,
            source(key, write, content));
    if (answer.statusCode() != 409) {
      var _ = complete(answer);
      return true;
    }
    JsonNode there = document(key);
    if (there == null) {
      throw new IOException("%s: %s was there, and is not any more".formatted(client(), key));
    }
    return there.path("write").asString("").equals(write);
  }

  @Override
  public void put(String key, byte[] content) throws IOException {
    String path = alias + "/_doc/" + encoded(prefix + key) + CHANGE;
    String source = source(key, UUID.randomUUID().toString(), content);
    var _ = call(() -> complete(send("PUT", path, source)));
  }

  /** The source of a document; null if there is none. */
  private @Nullable JsonNode document(String key) throws IOException {
    return ElasticBucket.<@Nullable JsonNode>call(() -> {
      HttpResponse<byte[]> answer =
          send("GET", alias + "/_doc/" + encoded(prefix + key) + "?realtime=true", null);
      if (answer.statusCode() == 200) {
        return ElasticClient.tree(answer.body()).path("_source");
      }
      if (answer.statusCode() == 404
          && !ElasticClient.tree(answer.body()).path("found").asBoolean(true)) {
        return null;
      }
      throw refused(answer);
    });
  }

  @Override
  public byte @Nullable [] get(String key) throws IOException {
    JsonNode source = document(key);
    if (source == null) {
      return null;
    }
    try {
      return Base64.getDecoder().decode(source.path("content").asString());
    } catch (RuntimeException e) {
      throw new DamagedJournalException(prefix + key, 0, "the document has no content", e);
    }
  }

  @Override
  public List<byte @Nullable []> getAll(List<String> keys) throws IOException {
    return Bucket.getAtOnce(this, keys);
  }

  @Override
  public List<String> list(String from, String after, int most) throws IOException {
    // '~' comes after everything that a key may have.
    String search =
        "{\"size\":%d,\"query\":{\"range\":{\"key\":{%s:%s,\"lt\":%s}}},\"sort\":[{\"key\":\"asc\"}],\"_source\":false,\"track_total_hits\":false}"
            .formatted(
                most,
                after.isEmpty() ? "\"gte\"" : "\"gt\"",
                quoted(prefix + (after.isEmpty() ? from : after)),
                quoted(prefix + from + "~"));
    return call(() -> {
      // A search finds what was written before the last refresh.
      var _ = complete(send("POST", alias + "/_refresh", null));
      JsonNode found =
          complete(send("POST", alias + "/_search?allow_partial_search_results=false", search));
      List<String> keys = new ArrayList<>();
      for (JsonNode hit : found.path("hits").path("hits")) {
        keys.add(hit.path("_id").asString().substring(prefix.length()));
      }
      return keys;
    });
  }

  @Override
  public void delete(List<String> keys) throws IOException {
    StringBuilder bulk = new StringBuilder();
    for (String key : keys) {
      bulk.append("{\"delete\":{\"_id\":").append(quoted(prefix + key)).append("}}\n");
    }
    var _ =
        call(() -> {
          HttpResponse<byte[]> answer = send("POST", alias + "/_bulk?" + TIMEOUT, bulk.toString());
          if (answer.statusCode() != 200) {
            throw refused(answer);
          }
          JsonNode items = ElasticClient.tree(answer.body()).path("items");
          for (JsonNode item : items) {
            int status = item.path("delete").path("status").asInt();
            if (status != 200 && status != 404) {
              throw new IOException(
                  "%s: %s is not deleted: status %d"
                      .formatted(client(), item.path("delete").path("_id").asString(""), status));
            }
          }
          return items;
        });
  }

  @Override
  public synchronized void close() {
    if (client != null) {
      client.close();
    }
  }
}
