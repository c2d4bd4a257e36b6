package io.millrace.queues;

import io.millrace.blobs.BlobStore;
import io.millrace.queues.ArchivedTasks.ArchiveFile;
import io.millrace.store.Document;
import io.millrace.store.Task;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Moves old finished tasks out of the store: first into a blob with the document of each as a line
 * of JSON, then away. A crash in between leaves a task in both, and loses none. {@link
 * ArchivedTasks} reads them.
 */
final class Archive {
  private static final int AT_ONCE = 1_000;

  private final QueueSession session;
  private final BlobStore blobs;

  Archive(QueueSession session, BlobStore blobs) {
    this.session = session;
    this.blobs = blobs;
  }

  /** Moves up to a thousand tasks of each queue that finished before {@code limitMillis}. */
  void step(long limitMillis) {
    for (GroupSummary group : session.store().groups().value()) {
      if (Queue.isFinishedGroup(group.name())) {
        List<Task> oldest =
            session.store().group(new GroupQuery(group.name(), AT_ONCE, false)).value();
        archive(oldest, limitMillis);
      }
    }
  }

  private void archive(List<Task> kernelTasks, long limitMillis) {
    List<Entry> entries = new ArrayList<>();
    for (Task kernel : kernelTasks) {
      Optional<Document> found = session.document(Keys.task(new ObjectId(kernel.data().utf8())));
      if (found.isEmpty() || QueueTask.read(found.get()).progress().mtimeMillis() >= limitMillis) {
        break;
      }
      entries.add(new Entry(kernel, found.get()));
    }
    if (entries.isEmpty()) {
      return;
    }
    List<String> ids =
        entries.stream().map(entry -> entry.document().key().key()).sorted().toList();
    String name = ArchiveFile.name(session.newId(), ids.getFirst(), ids.getLast());
    blobs.put(name, new ByteArrayInputStream(lines(entries)));
    for (Entry entry : entries) {
      remove(entry);
    }
  }

  private record Entry(Task kernel, Document document) {}

  private static byte[] lines(List<Entry> entries) {
    ByteArrayOutputStream lines = new ByteArrayOutputStream();
    for (Entry entry : entries) {
      var json = Json.read(entry.document().body());
      json.put("_id", entry.document().key().key());
      lines.writeBytes(Json.write(json).toArray());
      lines.write('\n');
    }
    return lines.toByteArray();
  }

  /** A task that was queued again meanwhile stays. Its output stays where the archive says. */
  private void remove(Entry entry) {
    session.tryCommit(
        session
            .begin()
            .delete(entry.kernel().ref())
            .delete(entry.document().key(), entry.document().version())
            .build());
  }
}
