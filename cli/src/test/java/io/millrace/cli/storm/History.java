package io.millrace.cli.storm;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Bytes;
import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What every commit did to the jobs, from a position on: read from the store's own journal. */
final class History {
  private static final String JOBS = "jobs.jobs";
  private static final String RESULTS = "jobs.results";
  private static final DocumentKey END = new DocumentKey("storm", "end");

  private final Map<String, String> keys = new HashMap<>();
  private final Set<String> ended = new HashSet<>();
  private final Set<String> results = new HashSet<>();

  private History() {}

  /** Where history stands now. */
  static Position now(TaskStore store) {
    return store.document(END).position();
  }

  /** All since then; fails where a job ends twice, changes after its end, or has two results. */
  static History since(TaskStore store, Position start) throws InterruptedException {
    store
        .commit(
            Transaction.by(Owner.client(1)).put(END, DocumentVersion.ANY, Bytes.of("end")).build())
        .done();
    History history = new History();
    Set<String> collections = Set.of(JOBS, RESULTS, END.collection());
    try (Subscription commits = store.subscribe(new Interest(start, Set.of(), collections))) {
      boolean more = true;
      while (more) {
        Commit commit = Objects.requireNonNull(commits.next(Duration.ofMinutes(1)));
        for (Change change : commit.changes()) {
          more &= history.take(change);
        }
      }
    }
    return history;
  }

  private boolean take(Change change) {
    if (!(change instanceof Change.DocumentPut put)) {
      throw new AssertionError("something was deleted: " + change);
    }
    DocumentKey key = put.document().key();
    switch (key.collection()) {
      case JOBS -> job(key.key(), JsonMapper.shared().readTree(put.document().body().utf8()));
      case RESULTS -> assertThat(results.add(key.key())).as("first result of " + key).isTrue();
      default -> {
        return false;
      }
    }
    return true;
  }

  private void job(String id, JsonNode job) {
    assertThat(ended).as("jobs that ended before a change").doesNotContain(id);
    keys.put(id, job.path("key").asString());
    String status = job.path("status").asString();
    if (status.equals("done") || status.equals("failed")) {
      ended.add(id);
    }
  }

  /** The jobs' keys by their ids. */
  Map<String, String> keys() {
    return Map.copyOf(keys);
  }

  /** The ids of those that have ended. */
  Set<String> ended() {
    return Set.copyOf(ended);
  }

  /** The ids of those that have a result. */
  Set<String> results() {
    return Set.copyOf(results);
  }
}
