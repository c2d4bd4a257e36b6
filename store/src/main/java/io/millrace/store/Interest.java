package io.millrace.store;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a subscriber wants to see.
 *
 * @param after the position after which to begin; null begins now
 * @param groups only changes of tasks in these groups
 * @param collections only changes of documents in these collections
 */
public record Interest(@Nullable Position after, Set<String> groups, Set<String> collections) {
  /** Copies the sets. */
  public Interest {
    groups = Set.copyOf(groups);
    collections = Set.copyOf(collections);
  }

  /** Everything from now on. Both sets empty means no filter. */
  public static Interest everything() {
    return new Interest(null, Set.of(), Set.of());
  }

  /** The same after {@code position}. */
  public Interest after(@Nullable Position position) {
    return new Interest(position, groups, collections);
  }

  /** Whether a change belongs to it. */
  public boolean includes(Change change) {
    if (groups.isEmpty() && collections.isEmpty()) {
      return true;
    }
    return switch (change) {
      case Change.Added(Task task) -> groups.contains(task.group());
      case Change.Changed(long _, Task task, boolean _) -> groups.contains(task.group());
      case Change.Deleted(long _, long _, String group) -> groups.contains(group);
      case Change.DocumentPut(long _, Document document) ->
          collections.contains(document.key().collection());
      case Change.DocumentDeleted(DocumentKey key, long _) ->
          collections.contains(key.collection());
    };
  }
}
