package io.millrace.store.kernel.records;

import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a decision did: the content of one commit, which the journal keeps and replay applies.
 *
 * @param number its position's number, one more than the commit before it
 * @param timeMillis the store time of the decision
 * @param client the client that asked for it
 * @param override whether an operator overrode the owner
 * @param changes what it did, in order: adds, updates, renewals, takings, deletes, then documents
 * @param request the request id with its digest; null for none
 */
public record Event(
    long number,
    long timeMillis,
    Owner client,
    boolean override,
    List<Change> changes,
    @Nullable RequestDigest request) {

  /** The tasks that the commit made, in order. */
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
