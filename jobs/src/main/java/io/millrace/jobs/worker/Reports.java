package io.millrace.jobs.worker;

import io.millrace.jobs.Report;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How attempts have ended, on its way to the registry, and who is to hear what became of it.
 * Guarded by the lock of the floor.
 */
final class Reports {
  private final IdentityHashMap<Report, Post> reporters = new IdentityHashMap<>();
  private List<Report> waiting = new ArrayList<>();

  void add(Post post, Report report) {
    waiting.add(report);
    reporters.put(report, post);
  }

  /** Those that came since the last call, in order. */
  List<Report> take() {
    List<Report> taken = waiting;
    waiting = new ArrayList<>();
    return taken;
  }

  /** Whose report it was; null where it has been settled before. */
  @Nullable Post settled(Report report) {
    return reporters.remove(report);
  }
}
