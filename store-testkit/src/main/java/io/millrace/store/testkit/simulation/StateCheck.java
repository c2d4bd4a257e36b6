package io.millrace.store.testkit.simulation;

import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.DocumentQuery.Order;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupQuery.Selection;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.TaskStore.Read;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads a store and passes the results to the history checker. */
final class StateCheck {
  private final HistoryChecker historyChecker;
  private final CommandMix mix;
  private final RandomGenerator random;

  StateCheck(HistoryChecker historyChecker, CommandMix mix, RandomGenerator random) {
    this.historyChecker = historyChecker;
    this.mix = mix;
    this.random = random;
  }

  /** Makes one small random read. */
  void readSomething(EmbeddedTaskStore store) {
    switch (random.nextInt(5)) {
      case 0 -> readTasks(store);
      case 1 -> readGroup(store, new GroupQuery(mix.group(), random.nextInt(5), selection()));
      case 2 -> readGroups(store);
      case 3 -> readDocument(store, mix.documentKey());
      default -> {
        String after = "k" + random.nextInt(12);
        readDocuments(
            store,
            new DocumentQuery(
                mix.collection(),
                "k",
                random.nextBoolean() ? after : "",
                random.nextInt(4),
                random.nextBoolean() ? Order.ASCENDING : Order.DESCENDING));
      }
    }
  }

  private Selection selection() {
    Selection[] all = Selection.values();
    return all[random.nextInt(all.length)];
  }

  /** Reads everything. */
  void readEverything(EmbeddedTaskStore store) {
    readGroups(store);
    for (GroupSummary group : store.groups().value()) {
      readGroup(store, GroupQuery.all(group.name()));
    }
    for (String collection : mix.collections()) {
      readDocuments(store, DocumentQuery.prefix(collection, ""));
    }
    readTasks(store);
  }

  private void readTasks(EmbeddedTaskStore store) {
    List<TaskRef> refs = new ArrayList<>();
    for (int i = random.nextInt(1, 6); i > 0; i--) {
      refs.add(mix.ref());
    }
    Read<List<Optional<Task>>> read = store.tasks(refs);
    observe(
        read,
        refs,
        model -> refs.stream().map(ref -> Optional.ofNullable(model.find(ref))).toList());
  }

  private void readGroup(EmbeddedTaskStore store, GroupQuery query) {
    Read<List<Task>> read = store.group(query);
    observe(
        read,
        query,
        model -> {
          List<Task> waiting = model.waiting(query.group(), read.timeMillis());
          List<Task> busy = model.busy(query.group(), read.timeMillis());
          List<Task> tasks =
              switch (query.selection()) {
                case WAITING -> waiting;
                case DELAYED -> busy.stream().filter(task -> task.owner() == null).toList();
                case ALL -> Stream.concat(waiting.stream(), busy.stream()).toList();
              };
          return first(tasks, query.limit());
        });
  }

  private void readGroups(EmbeddedTaskStore store) {
    Read<List<GroupSummary>> read = store.groups();
    observe(read, "groups", model -> model.summaries(read.timeMillis()));
  }

  private void readDocument(EmbeddedTaskStore store, DocumentKey key) {
    Read<Optional<Document>> read = store.document(key);
    observe(read, key, model -> Optional.ofNullable(model.document(key)));
  }

  private void readDocuments(EmbeddedTaskStore store, DocumentQuery query) {
    Read<List<Document>> read = store.documents(query);
    observe(
        read,
        query,
        model -> {
          List<Document> found =
              model.documents().stream()
                  .filter(document -> document.key().collection().equals(query.collection()))
                  .filter(document -> document.key().key().startsWith(query.prefix()))
                  .toList();
          List<Document> ordered = query.order() == Order.ASCENDING ? found : found.reversed();
          return first(
              ordered.stream().filter(document -> isAfter(document, query)).toList(),
              query.limit());
        });
  }

  private static boolean isAfter(Document document, DocumentQuery query) {
    int order = document.key().key().compareTo(query.after());
    return query.after().isEmpty() || (query.order() == Order.ASCENDING ? order > 0 : order < 0);
  }

  private static <T> List<T> first(List<T> all, int limit) {
    return limit == 0 || limit >= all.size()
        ? List.copyOf(all)
        : List.copyOf(all.subList(0, limit));
  }

  private <T> void observe(Read<T> read, Object what, Function<Model, T> right) {
    // Copied now, since the store may change it.
    Object value = read.value() instanceof List<?> list ? List.copyOf(list) : read.value();
    historyChecker.observe(
        read.position(), read.timeMillis(), what, model -> difference(value, right.apply(model)));
  }

  private static @Nullable String difference(Object actual, Object expected) {
    return Objects.equals(actual, expected) ? null : "read " + actual + " but it was " + expected;
  }
}
