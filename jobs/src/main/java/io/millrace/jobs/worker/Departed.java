package io.millrace.jobs.worker;

import io.millrace.jobs.WorkerId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;

/** The last thousand workers whose connections are over. Guarded by the lock of the floor. */
final class Departed {
  private static final int MOST = 1_000;

  private final LinkedHashMap<WorkerId, WorkerView> views = new LinkedHashMap<>();

  void add(WorkerView view) {
    views.remove(view.id());
    views.put(view.id(), view);
    if (views.size() > MOST) {
      views.pollFirstEntry();
    }
  }

  /** What a worker did has become known after it had gone. */
  void count(WorkerId id, WorkerView.Tally more) {
    views.computeIfPresent(id, (_, view) -> view.with(view.tally().plus(more)));
  }

  void remove(WorkerId id) {
    views.remove(id);
  }

  Optional<WorkerView> find(String id) {
    return views.values().stream().filter(view -> view.id().text().equals(id)).findFirst();
  }

  List<WorkerView> all() {
    return List.copyOf(views.values());
  }
}
