package io.millrace.server.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/** Every answer that a client got, and what the store must hold because of them. */
final class Ledger {
  private final TreeMap<Long, Command> commits = new TreeMap<>();
  private final Map<Long, Task> byId = new HashMap<>();
  private final Map<Long, TreeMap<Long, Task>> byOrigin = new HashMap<>();
  private final Set<Long> deleted = new HashSet<>();
  private final Map<DocumentKey, TreeMap<Long, Document>> documents = new HashMap<>();
  private final Set<Bytes> seen = new HashSet<>();
  private final Set<Long> histories = new HashSet<>();

  /** Notes an answer, once for each command. */
  synchronized void acknowledge(Command command, Outcome.Done done) {
    histories.add(done.position().history());
    if (command instanceof Claim && done.tasks().isEmpty()) {
      return;
    }
    assertThat(commits.put(done.position().number(), command))
        .as("another commit at %s", done.position())
        .isNull();
    if (command instanceof Transaction transaction) {
      for (TaskRef ref : transaction.deletes()) {
        deleted.add(known(ref).origin());
      }
    }
    for (Task task : done.tasks()) {
      assertThat(byId.put(task.id(), task)).as("another use of id %s", task.id()).isNull();
      byOrigin.computeIfAbsent(task.origin(), _ -> new TreeMap<>()).put(task.id(), task);
      seen.add(task.data());
      if (command instanceof Claim) {
        assertThat(task.token()).isEqualTo(task.id());
      }
    }
    for (Document document : done.documents()) {
      documents
          .computeIfAbsent(document.key(), _ -> new TreeMap<>())
          .put(document.version(), document);
    }
  }

  private Task known(TaskRef ref) {
    return Objects.requireNonNull(byId.get(ref.id()), "a client named what it has not seen");
  }

  /** Whether an answer has shown a task with this data. */
  synchronized boolean hasSeen(Bytes data) {
    return seen.contains(data);
  }

  synchronized int size() {
    return commits.size();
  }

  /** Checks what must hold even while some outcomes are unknown. */
  synchronized void checkWhatIsCertain(Contents contents) {
    if (commits.isEmpty()) {
      return;
    }
    assertThat(histories).containsExactly(contents.position().history());
    assertThat(contents.position().number()).isGreaterThanOrEqualTo(commits.lastKey());
    assertThat(contents.tasks().values())
        .as("tasks that were deleted for certain")
        .noneMatch(task -> deleted.contains(task.origin()));
  }

  /** Checks everything, once no outcome is unknown any more. */
  synchronized void checkEverything(Contents contents) {
    checkWhatIsCertain(contents);
    assertThat(contents.position().number())
        .as("commits made, each of which some client knows")
        .isEqualTo(commits.size())
        .isEqualTo(commits.lastKey());
    Map<Long, Task> tasks = new HashMap<>();
    byOrigin.forEach((origin, life) -> {
      checkLife(life.values());
      if (!deleted.contains(origin)) {
        tasks.put(life.lastKey(), life.lastEntry().getValue());
      }
    });
    assertThat(contents.tasks()).isEqualTo(tasks);
    Map<DocumentKey, Document> latest = new HashMap<>();
    documents.forEach((key, versions) -> latest.put(key, versions.lastEntry().getValue()));
    assertThat(contents.documents()).isEqualTo(latest);
  }

  /** From id to id a task is claimed once more or not, and each claim gives a larger token. */
  private static void checkLife(Collection<Task> life) {
    long token = 0;
    int claims = 0;
    for (Task task : life) {
      boolean claimedAnew = task.claims() > claims;
      assertThat(task.claims()).isBetween(claims, claims + 1);
      if (claimedAnew) {
        assertThat(task.token()).isGreaterThan(token);
        token = task.token();
      } else if (task.token() != 0) {
        assertThat(task.token()).isEqualTo(token);
      }
      claims = task.claims();
    }
  }
}
