package io.millrace.jobs.worker;

import io.millrace.jobs.Report;
import io.millrace.jobs.worker.WorkerView.Tally;
import io.millrace.store.TaskStore;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The workers that are connected, and, in the history, those that were. Guarded by the monitor of
 * the {@link WorkerManager}, except for the history's access to the store.
 */
final class WorkerDirectory {
  private final WorkerHistory history;
  private final boolean tracking;
  private final Set<WorkerSession> sessions = new LinkedHashSet<>();

  /**
   * A directory without workers.
   *
   * @param tracking whether what workers have done is counted over all their connections
   */
  WorkerDirectory(TaskStore store, boolean tracking) {
    this.history = new WorkerHistory(store, tracking);
    this.tracking = tracking;
  }

  WorkerHistory history() {
    return history;
  }

  void add(WorkerSession session) {
    sessions.add(session);
  }

  void registered(WorkerSession session, Registration worker) {
    history.back(session.view(worker, tally(session, worker)));
  }

  /** Removes a connection; false if it was removed before. */
  boolean remove(WorkerSession session) {
    return sessions.remove(session);
  }

  /** Lists a worker that has gone, as it was last. */
  void remember(WorkerSession session) {
    Registration worker = session.registration();
    if (worker != null) {
      history.gone(session.view(worker, tally(session, worker)), !session.polled());
    }
  }

  int size() {
    return sessions.size();
  }

  boolean isEmpty() {
    return sessions.isEmpty();
  }

  /** The connections, registered or not. */
  List<WorkerSession> sessions() {
    return List.copyOf(sessions);
  }

  /** Counts an attempt whose report was accepted. */
  void count(WorkerSession session, Report report) {
    Tally more =
        switch (report) {
          case Report.Completed _ -> Tally.SUCCESS;
          case Report.Failed _ -> Tally.FAILURE;
          case Report.Returned _ -> Tally.NONE;
        };
    session.count(more);
    history.count(report.assignment().worker(), more, session.closed());
  }

  private Tally tally(WorkerSession session, Registration worker) {
    return tracking ? history.tally(worker.id()) : session.tally();
  }

  List<WorkerView> list() {
    List<WorkerView> views = connected();
    views.addAll(history.disconnected());
    return views;
  }

  /** The connected workers that have registered. */
  List<WorkerView> connected() {
    List<WorkerView> views = new ArrayList<>();
    for (WorkerSession session : sessions) {
      Registration worker = session.registration();
      if (worker != null) {
        views.add(session.view(worker, tally(session, worker)));
      }
    }
    return views;
  }

  /** How many registered workers are in this state. */
  int count(WorkerView.State state) {
    int count = 0;
    for (WorkerSession session : sessions) {
      if (session.registration() != null && session.state() == state) {
        count++;
      }
    }
    return count;
  }

  Optional<WorkerView> find(String id) {
    for (WorkerSession session : sessions) {
      Registration worker = session.registration();
      if (worker != null && worker.id().text().equals(id)) {
        return Optional.of(session.view(worker, tally(session, worker)));
      }
    }
    return history.find(id);
  }
}
