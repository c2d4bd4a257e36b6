package io.millrace.jobs.worker;

import io.millrace.jobs.Report;
import io.millrace.jobs.worker.WorkerView.Tally;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Who is connected, who was not long ago, and what they have done. Guarded by the lock of the
 * floor, but for the tallies, which guard themselves.
 */
final class Roster {
  private final Tallies tallies;
  private final boolean tracking;
  private final Set<Post> posts = new LinkedHashSet<>();
  private final Departed departed = new Departed();

  /**
   * Without workers yet.
   *
   * @param tracking whether what workers have done counts over all their connections
   */
  Roster(TallyBook book, boolean tracking) {
    this.tallies = new Tallies(book);
    this.tracking = tracking;
  }

  /**
   * Makes known what a worker has done so far; reads the store, so not to be called under a lock.
   */
  void recall(Registration who) {
    if (tracking) {
      tallies.load(who.id());
    }
  }

  /** Stores what workers have done since the last time; not to be called under a lock. */
  void save() {
    if (tracking) {
      tallies.save();
    }
  }

  /** Somebody has connected. */
  void add(Post post) {
    posts.add(post);
  }

  /** Who it is has become known. */
  void registered(Registration who) {
    departed.remove(who.id());
  }

  /** A connection is over; false where that was known. */
  boolean remove(Post post) {
    return posts.remove(post);
  }

  /** Lists who has gone, as they were in the end. */
  void remember(Post post) {
    Registration who = post.registration();
    if (who != null) {
      departed.add(post.view(who, tally(post, who)));
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
    if (post.closed()) {
      departed.count(report.assignment().worker(), more);
    }
    if (tracking && !more.equals(Tally.NONE)) {
      tallies.count(report.assignment().worker(), more);
    }
  }

  private Tally tally(Post post, Registration who) {
    return tracking ? tallies.of(who.id()) : post.tally();
  }

  List<WorkerView> list() {
    List<WorkerView> views = new ArrayList<>();
    for (Post post : posts) {
      Registration who = post.registration();
      if (who != null) {
        views.add(post.view(who, tally(post, who)));
      }
    }
    views.addAll(departed.all());
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
    return departed.find(id);
  }
}
