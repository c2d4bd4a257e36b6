package io.millrace.store.kernel.state;

import io.millrace.store.Document;
import io.millrace.store.Task;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.records.JournalRecord;
import io.millrace.store.kernel.records.RecordWriter;
import io.millrace.store.kernel.records.Records;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;

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
  /** A digest of the content. It does not depend on which tasks have been moved by time. */
  public String digest() {
    RecordWriter out = new RecordWriter();
    out.writeNumber(lastId);
    out.writeNumber(commits);
    List<Task> tasks = new ArrayList<>();
    for (Group group : groups) {
      tasks.addAll(group.frozenWaiting());
      tasks.addAll(group.frozenHeld());
    }
    tasks.sort(Comparator.comparingLong(Task::id));
    tasks.forEach(task -> Records.write(out, new JournalRecord.KeptTask(task)));
    documents.forEach(document -> Records.write(out, new JournalRecord.KeptDocument(document)));
    starts.forEach(each -> Records.write(out, each));
    requests.forEach(event -> Records.write(out, new JournalRecord.KeptRequest(event)));
    return HexFormat.of().formatHex(out.sha256());
  }
}
