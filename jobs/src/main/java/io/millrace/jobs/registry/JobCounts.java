package io.millrace.jobs.registry;

import io.millrace.jobs.JobStatus;
import io.millrace.store.Document;
import io.millrace.store.TaskStore.GroupSummary;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Counts jobs, for metrics. Safe for use by any number of threads. */
public final class JobCounts {
  private final JobStore store;

  JobCounts(JobStore store) {
    this.store = store;
  }

  /**
   * A type and a status, by which jobs are counted.
   *
   * @param type the name of the type; empty on a server without types
   * @param status the status of the jobs
   */
  public record Kind(String type, JobStatus status) {}

  /**
   * How many jobs are pending and running, as the kernel's groups tell: cheap, whatever there is. A
   * job that is just being assigned counts as running.
   */
  public Map<Kind, Long> unfinished() {
    Map<Kind, Long> counts = new HashMap<>();
    for (GroupSummary group : store.store().groups().value()) {
      if (group.name().startsWith(Groups.PREFIX)) {
        String type = Groups.type(group.name());
        long pending = group.waiting() + group.delayed();
        counts.merge(new Kind(type, JobStatus.PENDING), pending, Long::sum);
        counts.merge(new Kind(type, JobStatus.RUNNING), group.owned(), Long::sum);
      }
    }
    return counts;
  }

  /**
   * The pending jobs of a type in detail.
   *
   * @param delayed how many wait for their time
   * @param oldestMillis since when the oldest of the others could have been given out, in
   *     milliseconds since the epoch; null if there are no others
   */
  public record Pending(long delayed, @Nullable Long oldestMillis) {
    private Pending and(Pending other) {
      Long one = oldestMillis;
      Long two = other.oldestMillis;
      return new Pending(
          delayed + other.delayed, one == null ? two : two == null || one < two ? one : two);
    }
  }

  /**
   * The pending jobs by type, as cheap as {@link #unfinished}.
   *
   * @param oldest when the oldest waiting task of each group of the kernel became available
   */
  public Map<String, Pending> pending(Map<String, Long> oldest) {
    Map<String, Pending> found = new HashMap<>();
    for (GroupSummary group : store.store().groups().value()) {
      if (group.name().startsWith(Groups.PREFIX)) {
        found.merge(
            Groups.type(group.name()),
            new Pending(group.delayed(), oldest.get(group.name())),
            Pending::and);
      }
    }
    return found;
  }

  /**
   * How many jobs are done and failed. Looks at every job that there is, some hundred thousand in a
   * second; what changes meanwhile may be counted or not.
   */
  public Map<Kind, Long> ended() {
    Map<Kind, Long> counts = new HashMap<>();
    Iterator<Document> all = store.pages(Keys.JOBS, "", "").iterator();
    while (all.hasNext()) {
      Kind kind = JobJson.kind(all.next());
      if (kind.status().isEnd()) {
        counts.merge(kind, 1L, Long::sum);
      }
    }
    return counts;
  }
}
