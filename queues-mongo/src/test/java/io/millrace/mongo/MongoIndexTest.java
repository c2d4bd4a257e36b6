package io.millrace.mongo;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.blobs.FileBlobStore;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.Output;
import io.millrace.queues.Output.OutputRecovery;
import io.millrace.queues.Queue;
import io.millrace.queues.Queue.Settings;
import io.millrace.queues.Queue.Sort;
import io.millrace.queues.QueueBackend.Terms;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/**
 * Every query on tasks that nodes and runners make has an index that they create. The server of the
 * tests plans no queries, so this compares the form of each query with the indexes.
 */
class MongoIndexTest {
  private static final Duration LEASE = Duration.ofMinutes(5);

  /** Fields that are looked at in the few documents that the index finds. */
  private static final Set<String> LOOKED_AT = Set.of("mtime");

  @Test
  void every_query_of_nodes_and_runners_has_an_index(@TempDir Path folder) {
    try (TestDatabase database = new TestDatabase();
        MongoQueues queues = database.node("77 start");
        MongoQueues runner = database.runner(FileBlobStore.open(folder))) {
      try (MongoConnection connection =
          MongoConnection.open(database.address().address(), MongoConnection.MongoRole.DISBATCHD)) {
        MongoIndexes.ensure(connection);
      }
      database.record();
      NodeRecord node =
          queues
              .nodes()
              .take("a", null, new NodeIdentity("a", "here", "77 start", List.of("demo")))
              .orElseThrow();
      for (Sort sort : Sort.values()) {
        Queue queue =
            queues
                .queues()
                .create(sort.word(), "demo", new Settings(2, sort, List.of(), List.of(), 0));
        JsonMapper json = new JsonMapper();
        queues
            .submission()
            .submit(
                queue,
                List.of(json.createObjectNode(), json.createObjectNode(), json.createObjectNode()),
                Terms.DEFAULTS,
                _ -> {});
        if (sort == Sort.FIFO) {
          database.loseNextAnswer();
        }
        List<Run> runs = queues.runs().claim(node, queue, 2, LEASE, OutputRecovery.NOTHING);
        assertThat(runs).hasSize(2);
        var started = runner.runs().begin(runs.getFirst(), "78 start", LEASE);
        runner.runs().renew(started.run(), LEASE);
        runner
            .runs()
            .finish(
                started,
                new Report(
                    1, new TaskOutput(new Output.Text("o"), Output.none()), List.of(), null));
        var _ = queues.runs().giveBack(runs.getLast());
        queues.queues().counts(List.of(queue));
      }
      var _ = queues.runs().ofNode("a");
      MongoRuns runs = (MongoRuns) queues.runs();
      var _ = runs.toStop("a");
      runs.orphanUnbegun("a");
      runs.orphanUnbegunOfDead(queues.queues().all(), queues.nodes().all());

      List<List<String>> indexes = new ArrayList<>();
      for (Document index : database.collection("tasks").listIndexes()) {
        indexes.add(
            index.get("key", Document.class).entrySet().stream()
                .map(key -> key.getKey() + (key.getKey().equals("_id") ? key.getValue() : ""))
                .toList());
      }
      Set<String> forms = new TreeSet<>();
      for (Map<String, Object> command : database.recorded()) {
        if (command.values().iterator().next().equals("tasks")) {
          for (Query query : queries(command)) {
            forms.add(query.toString());
            assertThat(indexes).as("%s: %s", query, command).anyMatch(query::isServedBy);
          }
        }
      }
      assertThat(forms).hasSizeGreaterThan(5);
      assertThat(new Query(Set.of("status"), List.of()))
          .as("this can fail")
          .matches(query -> indexes.stream().noneMatch(query::isServedBy));
    }
  }

  /**
   * The form of a query.
   *
   * @param fields the fields of its filter
   * @param sort its order
   */
  private record Query(Set<String> fields, List<String> sort) {
    boolean isServedBy(List<String> index) {
      if (fields.contains("_id")) {
        return index.equals(List.of("_id1"));
      }
      Set<String> wanted = new HashSet<>(fields);
      wanted.removeAll(LOOKED_AT);
      int prefix = wanted.size();
      return index.size() >= prefix + sort.size()
          && new HashSet<>(index.subList(0, prefix)).equals(wanted)
          && index.subList(prefix, prefix + sort.size()).equals(sort);
    }
  }

  private static List<?> list(Map<String, Object> command, String name) {
    return (List<?>) Objects.requireNonNull(command.get(name));
  }

  private static List<Query> queries(Map<String, Object> command) {
    return switch (command.keySet().iterator().next()) {
      case "find" -> List.of(query(command.get("filter"), command.get("sort")));
      case "findAndModify" -> List.of(query(command.get("query"), command.get("sort")));
      case "update" ->
          list(command, "updates").stream()
              .map(each -> query(((Map<?, ?>) each).get("q"), null))
              .toList();
      case "aggregate" -> {
        Map<?, ?> first = (Map<?, ?>) list(command, "pipeline").getFirst();
        yield List.of(query(first.get("$match"), null));
      }
      case "insert", "listIndexes" -> List.of();
      default -> throw new AssertionError("a command that is not known here: " + command);
    };
  }

  private static Query query(@Nullable Object filter, @Nullable Object sort) {
    Set<String> fields = new TreeSet<>();
    if (filter instanceof Map<?, ?> all) {
      all.keySet().forEach(key -> fields.add(String.valueOf(key)));
    }
    List<String> order = new ArrayList<>();
    if (sort instanceof Map<?, ?> keys) {
      keys.forEach((key, direction) ->
          order.add(key + (key.equals("_id") ? String.valueOf(direction) : "")));
    }
    return new Query(fields, order);
  }
}
