package io.millrace.work;

import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** Reads when delayed tasks of groups can be claimed. */
public final class DelayedTasks {
  private DelayedTasks() {}

  /**
   * When tasks of a group can be claimed.
   *
   * @param delays from now on, the shortest first
   * @param areMore whether to ask again after the last of them
   */
  public record Delays(List<Duration> delays, boolean areMore) {
    public Delays {
      delays = List.copyOf(delays);
    }

    /** These of two groups together. */
    public Delays and(Delays others) {
      List<Duration> all = new ArrayList<>(delays);
      all.addAll(others.delays);
      all.sort(null);
      return new Delays(all, areMore || others.areMore);
    }
  }

  /** The delays of all groups that have delayed tasks and whose names {@code wanted} accepts. */
  public static Map<String, Delays> read(TaskStore store, Predicate<String> wanted) {
    Map<String, Delays> found = new HashMap<>();
    for (GroupSummary group : store.groups().value()) {
      if (group.delayed() > 0 && wanted.test(group.name())) {
        found.put(group.name(), read(store, group.name()));
      }
    }
    return found;
  }

  private static Delays read(TaskStore store, String group) {
    var read = store.group(GroupQuery.delayed(group).withLimit(DueTimes.MOST));
    List<Duration> delays =
        read.value().stream()
            .map(task -> Duration.ofMillis(task.availableAtMillis() - read.timeMillis()))
            .toList();
    return new Delays(delays, delays.size() == DueTimes.MOST);
  }
}
