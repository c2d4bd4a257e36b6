package io.millrace.store.kernel.state;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Sha256;
import io.millrace.store.Task;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.records.JournalRecord;
import io.millrace.store.kernel.records.RecordWriter;
import io.millrace.store.kernel.records.Records;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state at one position. Immutable.
 *
 * @param lastId the largest id or version given so far
 * @param commits the number of commits so far
 * @param timeMillis the store time of the last of them
 * @param groups the groups by name
 * @param documents the documents by key
 * @param starts what has started lately, for limits of starts
 * @param requests the remembered requests by age
 */
public record FrozenState(
    long lastId,
    long commits,
    long timeMillis,
    FrozenTree<Group> groups,
    FrozenTree<Document> documents,
    FrozenTree<JournalRecord.KeptStarts> starts,
    Iterable<Event> requests) {
  private static final int BUFFER_BYTES = 256 << 10;

  /** The document with this key, or null. */
  public @Nullable Document document(DocumentKey key) {
    return documents.find(new Document(key, 0, Bytes.EMPTY), State.BY_KEY);
  }

  /** The tasks of one group, as {@link Listings#tasks} takes them; null if it has none. */
  public Group.@Nullable Frozen group(String name) {
    Group group = groups.find(Group.probe(name), Group.BY_NAME);
    return group == null ? null : group.freeze();
  }

  /** All groups. */
  public List<GroupSummary> summaries() {
    return Listings.summaries(groups);
  }

  /** A digest of the content. It does not depend on which tasks have been moved by time. */
  public String digest() {
    MessageDigest digest = Sha256.begin();
    RecordWriter out = new RecordWriter();
    out.writeNumber(lastId);
    out.writeNumber(commits);
    List<Task> tasks = new ArrayList<>();
    for (Group group : groups) {
      tasks.addAll(group.frozenWaiting());
      tasks.addAll(group.frozenHeld());
    }
    tasks.sort(Comparator.comparingLong(Task::id));
    tasks.forEach(task -> add(digest, out, new JournalRecord.KeptTask(task)));
    documents.forEach(document -> add(digest, out, new JournalRecord.KeptDocument(document)));
    starts.forEach(each -> add(digest, out, each));
    requests.forEach(event -> add(digest, out, new JournalRecord.KeptRequest(event)));
    digest.update(out.view());
    return HexFormat.of().formatHex(digest.digest());
  }

  /** Adds a record, without having the whole state in the buffer. */
  private static void add(MessageDigest digest, RecordWriter out, JournalRecord record) {
    Records.write(out, record);
    if (out.size() >= BUFFER_BYTES) {
      digest.update(out.view());
      out.clear();
    }
  }
}
