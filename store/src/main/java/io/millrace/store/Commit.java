package io.millrace.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A committed change of the store.
 *
 * @param position its position in history
 * @param timeMillis the store time at which it was decided
 * @param client the client that sent the command
 * @param override whether the command used an operator's right over tasks of other owners
 * @param changes the changes, in order; a filtered subscription gets only those of interest
 */
public record Commit(
    Position position, long timeMillis, Owner client, boolean override, List<Change> changes) {
  /** Calls {@code action} for each document that it changed, in order. */
  public void forEachDocument(DocumentAction action) {
    for (Change change : changes) {
      switch (change) {
        case Change.DocumentPut(long _, Document document) ->
            action.accept(document.key(), document);
        case Change.DocumentDeleted(DocumentKey key, long _) -> action.accept(key, null);
        case Change.Added _, Change.Changed _, Change.Deleted _ -> {}
      }
    }
  }

  /** An action for each document that a commit changed. */
  @FunctionalInterface
  public interface DocumentAction {
    /**
     * Called for one document.
     *
     * @param document the document after the commit; null if it was deleted
     */
    void accept(DocumentKey key, @Nullable Document document);
  }

  /** One change of a commit. The journal records changes, and subscribers receive them. */
  public sealed interface Change {
    /**
     * A task was created.
     *
     * @param task the new task; its id is its origin
     */
    record Added(Task task) implements Change {}

    /**
     * A task was replaced: updated, claimed, renewed or released.
     *
     * @param oldId the id before
     * @param task the new task
     * @param dataKept whether its data is unchanged; a subscriber then receives empty data, because
     *     the journal does not repeat it
     */
    record Changed(long oldId, Task task, boolean dataKept) implements Change {}

    /**
     * A task was removed.
     *
     * @param id its last id
     * @param origin its first id
     * @param group its group
     */
    record Deleted(long id, long origin, String group) implements Change {}

    /**
     * A document was written.
     *
     * @param oldVersion the version before; 0 if it did not exist
     * @param document the new document
     */
    record DocumentPut(long oldVersion, Document document) implements Change {}

    /**
     * A document was removed.
     *
     * @param key its key
     * @param oldVersion its last version
     */
    record DocumentDeleted(DocumentKey key, long oldVersion) implements Change {}
  }
}
