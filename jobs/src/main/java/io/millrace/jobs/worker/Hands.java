package io.millrace.jobs.worker;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.JobId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The jobs in the hands of workers. Guarded by the lock of the floor. */
final class Hands {
  private final Map<JobId, Held> all = new HashMap<>();

  /** Those of whose progress something was said, the last to be said the last. */
  private final LinkedHashMap<JobId, Held> advanced = new LinkedHashMap<>();

  private long said;

  /** A worker has got a job. */
  void add(Held held) {
    all.put(held.id(), held);
    advanced.remove(held.id());
  }

  /** A job is in a worker's hands no more; where it has come into another's, it stays there. */
  void remove(Held held) {
    all.remove(held.id(), held);
    advanced.remove(held.id(), held);
  }

  @Nullable Held find(JobId job) {
    return all.get(job);
  }

  /** The one of this claim; null where the job is in nobody's hands, or came there by another. */
  @Nullable Held find(Assignment assignment) {
    Held held = all.get(assignment.job().id());
    return held != null && held.assignment().claim().equals(assignment.claim()) ? held : null;
  }

  /** Something was said of its progress. */
  void advanced(Held held) {
    if (all.get(held.id()) == held) {
      said++;
      held.numberProgress(said);
      advanced.putLast(held.id(), held);
    }
  }

  /** What was said of progress after that number, the last word on each job. */
  Advances since(long number) {
    List<Advances.Advance> news = new ArrayList<>();
    for (Held held : advanced.sequencedValues().reversed()) {
      Progress progress = held.progress();
      if (held.progressNumber() <= number || progress == null) {
        break;
      }
      news.add(new Advances.Advance(held.assignment().job(), progress));
    }
    return new Advances(said, news.reversed());
  }

  Optional<Progress> progress(JobId job) {
    return Optional.ofNullable(all.get(job)).map(Held::progress);
  }

  /** Those whose workers' words count. */
  List<Assignment> counting() {
    return all.values().stream().filter(Held::counts).map(Held::assignment).toList();
  }
}
