package io.millrace.journal.elastic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cluster.documents.elastic.SearchEngine;
import io.millrace.journal.shared.SharedJournal;
import io.millrace.store.Bytes;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Transaction;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.Retention;
import io.millrace.store.testkit.contract.JournalContract;
import io.millrace.store.testkit.contract.JournalFixture;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The journal in an Elasticsearch of one machine keeps the contract of journals, and says what it
 * cannot use. {@link OpenSearchBucketTest} is about OpenSearch.
 */
final class ElasticJournalTest extends JournalContract {
  private static final Duration LEASE = Duration.ofMillis(1_500);

  private static SearchEngine engine;

  @TempDir private Path folder;

  @BeforeAll
  static void start() {
    engine = SearchEngine.elasticsearch();
  }

  @AfterAll
  static void stop() {
    engine.close();
  }

  private static ElasticJournalOptions place(String index) {
    return ElasticJournalOptions.at("elasticsearch:" + engine.address() + "/" + index);
  }

  /** Another store in one index, which takes the engine a while to create. */
  private static ElasticJournalOptions newPlace() {
    return place("journals").withStore(UUID.randomUUID().toString(), Set.of());
  }

  @Override
  protected JournalFixture newFixture() {
    ElasticJournalOptions options = newPlace().with(Retention.NONE, LEASE);
    return new JournalFixture() {
      @Override
      public Journal open() {
        return SharedJournal.open(Environment.system(), options);
      }

      @Override
      public <T> T await(CompletableFuture<T> answer) {
        return answer.join();
      }

      @Override
      public void close() {}
    };
  }

  private EmbeddedTaskStore open(ElasticJournalOptions options) {
    return TaskStore.open(
        StoreOptions.in(folder), () -> SharedJournal.open(Environment.system(), options));
  }

  private static Transaction task(String data) {
    return Transaction.by(Owner.client(1)).add("group", Bytes.of(data)).build();
  }

  @Test
  void a_standby_takes_over_with_everything_when_the_leader_ends() throws Exception {
    // Nobody waits for this lease, since the leader gives it up; it must not end before that.
    ElasticJournalOptions options = newPlace().with(Retention.DEFAULTS, Duration.ofSeconds(5));
    CompletableFuture<EmbeddedTaskStore> second;
    try (EmbeddedTaskStore first = open(options)) {
      first.commit(task("one"));
      second = CompletableFuture.supplyAsync(() -> open(options));
      first.commit(task("two"));
    }
    try (EmbeddedTaskStore next = second.get(30, TimeUnit.SECONDS)) {
      assertThat(next.group(GroupQuery.all("group")).value()).hasSize(2);
      next.commit(task("three"));
      assertThat(next.group(GroupQuery.all("group")).value()).hasSize(3);
    }
  }

  @Test
  void objects_are_created_once_and_an_index_that_was_deleted_is_not_created_again()
      throws Exception {
    try (ElasticBucket bucket = new ElasticBucket(place("objects"))) {
      ObjectsProbe.run(bucket);
      engine.send("DELETE", "/objects-objects", null);
      assertThatThrownBy(() -> bucket.create("log/9", new byte[1]))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("404");
      assertThatThrownBy(() -> bucket.put("lease", new byte[1])).isInstanceOf(IOException.class);
      assertThatThrownBy(() -> bucket.get("log/9")).isInstanceOf(IOException.class);
      assertThatThrownBy(() -> bucket.list("log/", "", 1)).isInstanceOf(IOException.class);
      assertThat(engine.send("GET", "/_cat/indices?h=index", null))
          .doesNotContain("objects-objects");
    }
  }

  @Test
  void settings_that_lose_commits_are_refused() throws Exception {
    SharedJournal.check(place("careless"));
    try (ElasticBucket bucket = new ElasticBucket(place("careless"))) {
      bucket.prepare();
    }
    SharedJournal.check(place("careless"));
    engine.send("PUT", "/careless/_settings", "{\"index.translog.durability\":\"async\"}");
    assertThatThrownBy(() -> SharedJournal.check(place("careless")))
        .isInstanceOf(JournalException.class)
        .hasMessageContaining("index.translog.durability = async")
        .hasMessageContaining("request is needed");
    engine.send("PUT", "/plain", null);
    assertThatThrownBy(() -> SharedJournal.check(place("plain")))
        .isInstanceOf(JournalException.class)
        .hasMessageContaining("not an alias that was made for a store");
  }

  /** The Elasticsearch of the tests has no lifecycle policies. */
  @Test
  void an_index_with_a_lifecycle_policy_is_refused_unless_that_is_accepted() {
    JsonNode index =
        new JsonMapper()
            .readTree(
                """
                {"mappings":{"properties":{"key":{"type":"keyword"}}},
                 "settings":{"index.number_of_shards":"1","index.lifecycle.name":"old"},
                 "defaults":{"index.translog.durability":"REQUEST"}}\
                """);
    try (ElasticBucket bucket = new ElasticBucket(place("kept"));
        ElasticBucket accepting =
            new ElasticBucket(place("kept").withStore("main", Set.of("lifecycle")))) {
      assertThatThrownBy(() -> bucket.requireFit("kept-objects", index))
          .hasMessageContaining("lifecycle policy old");
      accepting.requireFit("kept-objects", index);
    }
  }

  @Test
  void addresses_that_are_wrong_are_refused_by_name() {
    for (String wrong :
        List.of("http://host:9200", "http://host:9200/", "host/index", "ftp://host/index", "a b")) {
      assertThatThrownBy(() -> ElasticJournalOptions.at("elasticsearch:" + wrong))
          .hasMessageContaining("elasticsearch:https://HOST:PORT/INDEX is wanted");
    }
    assertThatThrownBy(() -> ElasticJournalOptions.at("elasticsearch:http://host:9200/Index"))
        .hasMessageContaining("small letters");
    assertThatThrownBy(() -> ElasticJournalOptions.at("elasticsearch:http://u:secret@host/index"))
        .hasMessageContaining("store.user")
        .hasMessageNotContaining("secret");
    assertThatThrownBy(() -> ElasticJournalOptions.at("elasticsearch:http://host/index?zone=1"))
        .hasMessageContaining("not zone=1");
    ElasticJournalOptions options =
        ElasticJournalOptions.at("elasticsearch:https://host:9200/search/index?certificates=a.pem");
    assertThat(options.server()).hasToString("https://host:9200/search");
    assertThat(options.index()).isEqualTo("index");
    assertThat(options.certificates()).isEqualTo(Path.of("a.pem"));
    assertThatThrownBy(() -> options.withUser("user", null)).hasMessageContaining("a password");
    assertThatThrownBy(() -> options.withStore("main", Set.of("all")))
        .hasMessageContaining("'lifecycle' can be accepted");
    assertThat(options.withUser("user", "secret"))
        .hasToString("elasticsearch:https://host:9200/search/index (store main)");
    assertThatThrownBy(() ->
            SharedJournal.check(ElasticJournalOptions.at("elasticsearch:http://127.0.0.1:1/index")))
        .isInstanceOf(JournalException.class)
        .hasMessageContaining("cannot be opened")
        .hasMessageContaining("http://127.0.0.1:1");
  }
}
