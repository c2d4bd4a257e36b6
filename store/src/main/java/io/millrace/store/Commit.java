package io.millrace.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A change of the store that happened.
 *
 * @param position where it stands in history
 * @param timeMillis the store time at which it was decided
 * @param client the client that asked for it
 * @param override whether an operator's right over tasks of other owners was used
 * @param changes what it did, in order; a filtered subscription sees only its part
 */
public record Commit(
    Position position, long timeMillis, Owner client, boolean override, List<Change> changes) {
  /** Passes on the documents that it changed, in order. */
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

  /** What is done with each document that a commit changed. */
  @FunctionalInterface
  public interface DocumentAction {
    /**
     * Takes one.
     *
     * @param document what it is now; null if it was deleted
     */
    void accept(DocumentKey key, @Nullable Document document);
  }

  /** One thing that a commit did. The journal records these, and subscribers see them. */
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
     * @param oldId the id it had
     * @param task what it is now
     * @param dataKept whether its data is what it was; a subscriber then sees empty data here,
     *     since the journal does not repeat it
     */
    record Changed(long oldId, Task task, boolean dataKept) implements Change {}

    /**
     * A task was removed.
     *
     * @param id the id it had
     * @param origin its first id
     * @param group its group
     */
    record Deleted(long id, long origin, String group) implements Change {}

    /**
     * A document was written.
     *
     * @param oldVersion the version it had, 0 if it was absent
     * @param document what it is now
     */
    record DocumentPut(long oldVersion, Document document) implements Change {}

    /**
     * A document was removed.
     *
     * @param key which
     * @param oldVersion the version it had
     */
    record DocumentDeleted(DocumentKey key, long oldVersion) implements Change {}
  }
}
