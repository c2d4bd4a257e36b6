package io.millrace.store.kernel.state;

import io.millrace.store.Document;
import io.millrace.store.Task;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.DocumentQuery.Order;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupQuery.Place;
import io.millrace.store.TaskStore.GroupSummary;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Lists for readers, as views of frozen trees. */
public final class Listings {
  private Listings() {}

  /**
   * The result of a query, in the order of its selection.
   *
   * @param nowMillis the store time at which the group was frozen
   */
  public static List<Task> tasks(Group.Frozen group, GroupQuery query, long nowMillis) {
    Place after = query.after();
    List<Task> held = after == null ? group.held() : rest(group.held(), after);
    List<Task> tasks =
        switch (query.selection()) {
          case WAITING -> waiting(group, after, nowMillis);
          case DELAYED -> delayed(held, query.limit());
          case ALL -> joined(waiting(group, after, nowMillis), held);
        };
    return query.limit() > 0 && query.limit() < tasks.size()
        ? tasks.subList(0, query.limit())
        : tasks;
  }

  private static List<Task> waiting(Group.Frozen group, @Nullable Place after, long nowMillis) {
    if (after == null) {
      return group.waiting();
    }
    if (after.availableAtMillis() > nowMillis) {
      return List.of();
    }
    return after.inLane()
        ? joined(rest(group.inLanes(), after), group.others())
        : rest(group.others(), after);
  }

  /** The tasks after a place, whichever list it is in. */
  private static List<Task> rest(FrozenTree<Task> tasks, Place after) {
    int begin =
        tasks.rank(task ->
            task.availableAtMillis() < after.availableAtMillis()
                || (task.availableAtMillis() == after.availableAtMillis()
                    && task.origin() <= after.origin()));
    return tasks.range(begin, tasks.size());
  }

  private static List<Task> delayed(List<Task> held, int limit) {
    List<Task> found = new ArrayList<>();
    for (Task task : held) {
      if (task.owner() == null) {
        found.add(task);
        if (found.size() == limit) {
          break;
        }
      }
    }
    return found;
  }

  static List<GroupSummary> summaries(FrozenTree<Group> groups) {
    return new Mapped<>(groups, Group::summary);
  }

  /** When the oldest waiting task of each group became available, without groups that have none. */
  public static Map<String, Long> oldestWaiting(FrozenTree<Group> groups) {
    Map<String, Long> oldest = new HashMap<>();
    for (Group group : groups) {
      long millis = group.oldestWaitingMillis();
      if (millis != Group.NEVER) {
        oldest.put(group.name(), millis);
      }
    }
    return oldest;
  }

  /** The result of a query, in its order. */
  public static List<Document> documents(FrozenTree<Document> documents, DocumentQuery query) {
    boolean ascending = query.order() == Order.ASCENDING;
    String after = query.after();
    int begin =
        documents.rank(each ->
            isBefore(
                each,
                query,
                key ->
                    key.compareTo(query.prefix()) < 0
                        || (ascending && !after.isEmpty() && key.compareTo(after) <= 0)));
    int end =
        Math.max(
            begin,
            documents.rank(each ->
                isBefore(
                    each,
                    query,
                    key ->
                        (key.compareTo(query.prefix()) < 0 || key.startsWith(query.prefix()))
                            && (ascending || after.isEmpty() || key.compareTo(after) < 0))));
    int count = query.limit() > 0 ? Math.min(query.limit(), end - begin) : end - begin;
    if (ascending) {
      return documents.range(begin, begin + count);
    }
    List<Document> found = new ArrayList<>(documents.range(end - count, end));
    Collections.reverse(found);
    return found;
  }

  /** Whether a document is in an earlier collection, or has a key for which {@code low} is true. */
  private static boolean isBefore(Document document, DocumentQuery query, Predicate<String> low) {
    int byCollection = document.key().collection().compareTo(query.collection());
    return byCollection == 0 ? low.test(document.key().key()) : byCollection < 0;
  }

  /** An iterator over the mapped elements of a source; each is mapped when it is reached. */
  public static <S, T> Iterator<T> map(Iterable<S> source, Function<? super S, ? extends T> view) {
    Iterator<S> inner = source.iterator();
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return inner.hasNext();
      }

      @Override
      public T next() {
        return view.apply(inner.next());
      }
    };
  }

  /** The concatenation of two lists, as a view. */
  static <T> List<T> joined(List<T> left, List<T> right) {
    return left.isEmpty() ? right : new Joined<>(left, right);
  }

  private static final class Joined<T> extends AbstractList<T> {
    private final List<T> left;
    private final List<T> right;

    Joined(List<T> left, List<T> right) {
      this.left = left;
      this.right = right;
    }

    @Override
    public T get(int index) {
      return index < left.size() ? left.get(index) : right.get(index - left.size());
    }

    @Override
    public int size() {
      return left.size() + right.size();
    }

    @Override
    public Iterator<T> iterator() {
      Iterator<T> first = left.iterator();
      Iterator<T> second = right.iterator();
      return new Iterator<>() {
        @Override
        public boolean hasNext() {
          return first.hasNext() || second.hasNext();
        }

        @Override
        public T next() {
          return first.hasNext() ? first.next() : second.next();
        }
      };
    }
  }

  /** A view of a list through a function, which is applied at each access. */
  private static final class Mapped<S, T> extends AbstractList<T> {
    private final List<S> source;
    private final Function<? super S, ? extends T> view;

    Mapped(List<S> source, Function<? super S, ? extends T> view) {
      this.source = source;
      this.view = view;
    }

    @Override
    public T get(int index) {
      return view.apply(source.get(index));
    }

    @Override
    public int size() {
      return source.size();
    }

    @Override
    public Iterator<T> iterator() {
      return map(source, view);
    }
  }
}
