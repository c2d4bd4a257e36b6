package io.millrace.queues.registry;

import io.millrace.archive.ArchiveRow;
import io.millrace.archive.ArchiveSource;
import io.millrace.archive.ArchiveTable;
import io.millrace.queues.Json;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.OutputReader;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Task;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.policy.Retention;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The finished tasks that leave the store. The kernel tasks of a queue's finished tasks are a
 * group, in the order in which the tasks have finished.
 */
final class TaskRetention implements ArchiveSource {
  private final QueueSession session;
  private final Retention otherwise;
  private final Duration interval;

  /** The tasks that were given last, by their ids. */
  private final Map<String, Leaving> leaving = new HashMap<>();

  TaskRetention(QueueSession session, Retention otherwise, Duration interval) {
    this.session = session;
    this.otherwise = otherwise;
    this.interval = interval;
  }

  /**
   * A task that leaves the store.
   *
   * @param files the documents of its output
   */
  private record Leaving(Task kernel, Document document, List<DocumentKey> files) {}

  @Override
  public ArchiveTable table() {
    return ArchiveTable.TASKS;
  }

  @Override
  public Due due(Instant now, int most) {
    leaving.clear();
    List<ArchiveRow> rows = new ArrayList<>();
    Map<String, Queue> queues = new HashMap<>();
    for (GroupSummary group : session.store().groups().value()) {
      if (Queue.isFinishedGroup(group.name()) && rows.size() < most) {
        if (queues.isEmpty()) {
          session
              .all(Keys.QUEUES)
              .forEach(each ->
                  queues.put(
                      Queue.finishedGroup(new ObjectId(each.key().key())), Queue.read(each)));
        }
        rows.addAll(due(group, queues.get(group.name()), now, most - rows.size()));
      }
    }
    return Due.of(rows, rows.isEmpty() ? now.plus(interval) : now);
  }

  private List<ArchiveRow> due(GroupSummary group, @Nullable Queue queue, Instant now, int most) {
    Retention retention =
        queue == null ? otherwise : queue.settings().policy().retention(otherwise);
    if (retention.isForever()) {
      return List.of();
    }
    Long count = retention.count();
    long excess = count == null ? 0 : group.waiting() - count;
    long limitMillis = retention.limitMillis(now);
    if (excess <= 0 && !isOlder(group, limitMillis)) {
      return List.of();
    }
    List<Task> oldest = oldest(group, most);
    Map<String, Document> documents = documents(oldest);
    List<ArchiveRow> rows = new ArrayList<>();
    for (Task kernel : oldest) {
      Document document = documents.get(kernel.data().utf8());
      if (document == null) {
        continue;
      }
      QueueTask task = QueueTask.read(document);
      if (excess-- <= 0 && task.progress().mtimeMillis() >= limitMillis) {
        break;
      }
      rows.add(row(kernel, document, task, queue));
    }
    return rows;
  }

  private List<Task> oldest(GroupSummary group, int most) {
    return session.store().group(GroupQuery.waiting(group.name()).withLimit(most)).value();
  }

  /** Whether the task that finished first did so before this time; mostly it did not. */
  private boolean isOlder(GroupSummary group, long limitMillis) {
    return oldest(group, 1).stream()
        .map(kernel -> session.document(Keys.task(new ObjectId(kernel.data().utf8()))))
        .allMatch(found ->
            found.isEmpty() || QueueTask.read(found.get()).progress().mtimeMillis() < limitMillis);
  }

  /** The documents of tasks by id. What has finished together was mostly submitted together. */
  private Map<String, Document> documents(List<Task> kernelTasks) {
    TreeSet<String> missing = new TreeSet<>();
    kernelTasks.forEach(kernel -> missing.add(kernel.data().utf8()));
    Map<String, Document> found = new HashMap<>();
    if (missing.isEmpty()) {
      return found;
    }
    String first = missing.first();
    String last = missing.last();
    int read = 0;
    int most = 4 * missing.size();
    for (Document document :
        session.pages(Keys.TASKS, "", first.substring(0, first.length() - 1))) {
      String id = document.key().key();
      if (id.compareTo(last) > 0 || read++ > most) {
        break;
      }
      if (missing.remove(id)) {
        found.put(id, document);
      }
    }
    for (String id : missing) {
      session.document(Keys.task(new ObjectId(id))).ifPresent(each -> found.put(id, each));
    }
    return found;
  }

  private ArchiveRow row(Task kernel, Document document, QueueTask task, @Nullable Queue queue) {
    ObjectNode json = Json.read(document.body());
    List<DocumentKey> files = new ArrayList<>();
    for (OutputReader.Stream stream : OutputReader.Stream.values()) {
      if (stream.of(task.output()) instanceof Output.Stored stored) {
        Optional<Document> file = session.document(Keys.file(stored.file()));
        if (file.isPresent() && json.get(stream.word()) instanceof ObjectNode output) {
          files.add(file.get().key());
          output.put("chunks", OutputFile.read(file.get()).chunkPrefix());
        }
      }
    }
    leaving.put(task.id().hex(), new Leaving(kernel, document, files));
    return ArchiveRow.of(ArchiveTable.TASKS, task.id().hex())
        .put("queue_id", task.queue().hex())
        .put("queue", queue == null ? null : queue.name())
        .put("status", (long) task.status())
        .put("node", task.progress().node())
        .put("created", task.ctimeMillis())
        .put(ArchiveTable.FINISHED, task.progress().mtimeMillis())
        .put("document", Json.write(json).utf8())
        .build();
  }

  @Override
  public Set<String> remove(List<String> ids) {
    Set<String> kept = new HashSet<>();
    remove(ids, kept);
    return kept;
  }

  /** Removes tasks in one transaction, or in smaller ones if one of them was queued again. */
  private void remove(List<String> ids, Set<String> kept) {
    if (ids.isEmpty() || tryRemove(ids)) {
      return;
    }
    if (ids.size() == 1) {
      kept.addAll(ids);
      return;
    }
    int half = ids.size() / 2;
    remove(ids.subList(0, half), kept);
    remove(ids.subList(half, ids.size()), kept);
  }

  private boolean tryRemove(List<String> ids) {
    Transaction.Builder transaction = session.begin();
    for (String id : ids) {
      Leaving task = leaving.get(id);
      if (task == null) {
        return false;
      }
      transaction.delete(task.kernel().ref());
      transaction.delete(task.document().key(), task.document().version());
      task.files().forEach(file -> transaction.delete(file, DocumentVersion.ANY));
    }
    return session.tryCommit(transaction.build()) != null;
  }

  @Override
  public Set<String> present(Collection<String> ids) {
    Set<String> present = new HashSet<>();
    for (String id : ids) {
      if (session.document(Keys.task(new ObjectId(id))).isPresent()) {
        present.add(id);
      }
    }
    return present;
  }
}
