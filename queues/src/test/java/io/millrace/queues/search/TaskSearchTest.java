package io.millrace.queues.search;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.QueueTask;
import io.millrace.queues.registry.Queues;
import io.millrace.store.testkit.contract.EmbeddedFixture;
import io.millrace.work.filter.Filter;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Search against a naive model, with filters and options drawn from a seed. */
final class TaskSearchTest {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final Instant NOW = Instant.parse("2026-01-02T03:04:05Z");

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void every_search_finds_what_a_look_at_all_tasks_finds(long seed) {
    Random random = new Random(seed);
    try (EmbeddedFixture fixture = new EmbeddedFixture(seed)) {
      Queues queues = Queues.in(fixture.store(), () -> NOW, random);
      Samples samples = new Samples(queues, random);
      List<QueueTask> tasks = samples.make(300);
      TaskSearch search = TaskSearch.in(queues);
      for (int i = 0; i < 150; i++) {
        ObjectNode filter = filter(random, tasks, 2);
        ObjectNode options = options(random);
        Filter read = TaskFilter.of(filter);
        assertThat(search.find(read, SearchOptions.read(options)))
            .as("seed %s, filter %s, options %s", seed, filter, options)
            .extracting(QueueTask::id)
            .isEqualTo(
                NaiveSearch.find(tasks, filter, options).stream().map(QueueTask::id).toList());
        assertThat(search.count(read))
            .as("seed %s, count of %s", seed, filter)
            .isEqualTo(NaiveSearch.count(tasks, filter));
      }
    }
  }

  private static ObjectNode options(Random random) {
    ObjectNode options = JSON.createObjectNode();
    if (random.nextBoolean()) {
      options.put("limit", 1 + random.nextInt(100));
    }
    if (random.nextInt(3) == 0) {
      options.put("skip", random.nextInt(30));
    }
    int direction = random.nextBoolean() ? 1 : -1;
    switch (random.nextInt(5)) {
      case 0 -> options.putObject("sort").put("_id", direction);
      case 1 -> options.putObject("sort").put("status", direction).put("_id", -1);
      case 2 -> options.putObject("sort").put("params.a", direction);
      default -> {}
    }
    return options;
  }

  private static ObjectNode filter(Random random, List<QueueTask> tasks, int depth) {
    ObjectNode filter = JSON.createObjectNode();
    int parts = random.nextInt(3);
    for (int i = 0; i < parts; i++) {
      String field = field(random);
      filter.set(field, condition(random, field, tasks));
    }
    if (depth > 0 && random.nextInt(4) == 0) {
      ArrayNode alternatives = filter.putArray(random.nextBoolean() ? "$or" : "$and");
      alternatives.add(filter(random, tasks, depth - 1));
      alternatives.add(filter(random, tasks, depth - 1));
    }
    return filter;
  }

  private static String field(Random random) {
    List<String> fields =
        List.of(
            "status",
            "status",
            "queue",
            "queue",
            "_id",
            "node",
            "params",
            "params.a",
            "params.list",
            "params.deep.er",
            "params.none",
            "ctime",
            "mtime");
    return fields.get(random.nextInt(fields.size()));
  }

  private static JsonNode value(Random random, String field, List<QueueTask> tasks) {
    QueueTask task = tasks.get(random.nextInt(tasks.size()));
    ObjectNode holder = JSON.createObjectNode();
    switch (field) {
      case "status" -> holder.put("v", random.nextInt(12) - 8);
      case "queue" -> holder.put("v", task.queue().hex());
      case "_id" -> holder.put("v", task.id().hex());
      case "node" -> holder.put("v", random.nextBoolean() ? "n1" : null);
      case "ctime" -> holder.put("v", task.ctimeMillis());
      case "mtime" -> holder.put("v", task.progress().mtimeMillis());
      case "params.deep.er" -> holder.put("v", random.nextBoolean());
      default -> {
        switch (random.nextInt(5)) {
          case 0 -> holder.put("v", random.nextInt(5));
          case 1 -> holder.put("v", random.nextInt(10) / 2.0);
          case 2 -> holder.put("v", random.nextBoolean() ? "x" : "text 1");
          case 3 -> holder.put("v", odd(random));
          default -> holder.putNull("v");
        }
      }
    }
    return holder.required("v");
  }

  private static String odd(Random random) {
    return Samples.ODD.get(random.nextInt(Samples.ODD.size()));
  }

  private static String contained(Random random) {
    if (random.nextBoolean()) {
      return List.of("X", "2", "1", "tru").get(random.nextInt(4));
    }
    String whole = odd(random);
    int start = random.nextInt(whole.length());
    return whole.substring(start, start + 1 + random.nextInt(whole.length() - start));
  }

  private static JsonNode condition(Random random, String field, List<QueueTask> tasks) {
    if (random.nextInt(3) == 0) {
      return value(random, field, tasks);
    }
    ObjectNode condition = JSON.createObjectNode();
    String[] operators = {
      "$in", "$nin", "$ne", "$exists", "$gt", "$gte", "$lt", "$lte", "$contains"
    };
    for (int i = 0; i <= random.nextInt(2); i++) {
      String operator = operators[random.nextInt(operators.length)];
      switch (operator) {
        case "$in", "$nin" ->
            condition
                .putArray(operator)
                .add(value(random, field, tasks))
                .add(value(random, field, tasks));
        case "$exists" -> condition.put(operator, random.nextBoolean());
        case "$contains" -> condition.put(operator, contained(random));
        default -> condition.set(operator, value(random, field, tasks));
      }
    }
    return condition;
  }
}
