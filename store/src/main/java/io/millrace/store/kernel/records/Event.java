package io.millrace.store.kernel.records;

import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The content of one commit, which the journal records and replay applies.
 *
 * @param number its number, one more than that of the commit before it
 * @param timeMillis the store time of the decision
 * @param client the client that sent the command
 * @param override whether the command used an operator's right over tasks of other owners
 * @param changes the changes, in order: adds, updates, renewals, takings, deletes, then documents
 * @param request the request id with its digest; null for none
 */
public record Event(
    long number,
    long timeMillis,
    Owner client,
    boolean override,
    List<Change> changes,
    @Nullable RequestDigest request) {

  /** The new tasks of the commit, in order. */
  public List<Task> tasks() {
    List<Task> tasks = new ArrayList<>(changes.size());
    for (Change change : changes) {
      switch (change) {
        case Change.Added(Task task) -> tasks.add(task);
        case Change.Changed(long _, Task task, boolean _) -> tasks.add(task);
        case Change.Deleted _, Change.DocumentPut _, Change.DocumentDeleted _ -> {}
      }
    }
    return tasks;
  }

  /** The documents that the commit wrote, in order. */
  public List<Document> documents() {
    List<Document> documents = List.of();
    for (Change change : changes) {
      if (change instanceof Change.DocumentPut(long _, Document document)) {
        if (documents.isEmpty()) {
          documents = new ArrayList<>();
        }
        documents.add(document);
      }
    }
    return documents;
  }
}
