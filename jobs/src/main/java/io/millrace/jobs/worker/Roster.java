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
 * Who is connected, who was not long ago, and what they have done. Guarded by the lock of the
 * floor, but for what reads or writes the store.
 */
final class Roster {
  private final WorkerHistory history;
  private final boolean tracking;
  private final Set<Post> posts = new LinkedHashSet<>();

  /**
   * Without workers yet.
   *
   * @param tracking whether what workers have done counts over all their connections
   */
  Roster(TaskStore store, boolean tracking) {
    this.history = new WorkerHistory(store, tracking);
    this.tracking = tracking;
  }

  WorkerHistory history() {
    return history;
  }

  /** Somebody has connected. */
  void add(Post post) {
    posts.add(post);
  }

  /** Who it is has become known. */
  void registered(Post post, Registration who) {
    history.back(post.view(who, tally(post, who)));
  }

  /** A connection is over; false where that was known. */
  boolean remove(Post post) {
    return posts.remove(post);
  }

  /** Lists who has gone, as they were in the end. */
  void remember(Post post) {
    Registration who = post.registration();
    if (who != null) {
      history.gone(post.view(who, tally(post, who)), !post.polled());
    }
  }

  /** How many are connected. */
  int size() {
    return posts.size();
  }

  /** Whether nobody is connected. */
  boolean isEmpty() {
    return posts.isEmpty();
  }

  /** Those that are connected, registered or not. */
  List<Post> posts() {
    return List.copyOf(posts);
  }

  /** Counts an attempt whose end was accepted. */
  void count(Post post, Report report) {
    Tally more =
        switch (report) {
          case Report.Completed _ -> Tally.SUCCESS;
          case Report.Failed _ -> Tally.FAILURE;
          case Report.Returned _ -> Tally.NONE;
        };
    post.count(more);
    history.count(report.assignment().worker(), more, post.closed());
  }

  private Tally tally(Post post, Registration who) {
    return tracking ? history.tally(who.id()) : post.tally();
  }

  List<WorkerView> list() {
    List<WorkerView> views = connected();
    views.addAll(history.disconnected());
    return views;
  }

  /** Those that are connected and have registered. */
  List<WorkerView> connected() {
    List<WorkerView> views = new ArrayList<>();
    for (Post post : posts) {
      Registration who = post.registration();
      if (who != null) {
        views.add(post.view(who, tally(post, who)));
      }
    }
    return views;
  }

  /** How many that have registered are in this state. */
  int count(WorkerState state) {
    int count = 0;
    for (Post post : posts) {
      if (post.registration() != null && post.state() == state) {
        count++;
      }
    }
    return count;
  }

  Optional<WorkerView> find(String id) {
    for (Post post : posts) {
      Registration who = post.registration();
      if (who != null && who.id().text().equals(id)) {
        return Optional.of(post.view(who, tally(post, who)));
      }
    }
    return history.find(id);
  }
}
