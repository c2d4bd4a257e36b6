package io.millrace.store.testkit.simulation;

import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.Position;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A subscriber that checks what it receives. */
final class CheckedSubscriber implements AutoCloseable {
  private final Interest interest;
  private final Subscription subscription;
  private long passed;

  CheckedSubscriber(Interest interest, Subscription subscription) {
    this.interest = interest;
    this.subscription = subscription;
    this.passed = subscription.start().number();
  }

  /** Adds everything that it has received to {@code commits}. */
  void poll(List<Commit> commits) {
    try {
      for (@Nullable Commit commit = subscription.next(Duration.ZERO);
          commit != null;
          commit = subscription.next(Duration.ZERO)) {
        commits.add(commit);
      }
    } catch (InterruptedException e) {
      throw new SimulationFailure("interrupted", e);
    }
  }

  /** Compares the received commits with those expected from the complete history. */
  void check(List<Commit> history) {
    List<Commit> expected = new ArrayList<>();
    for (Commit commit : history.subList((int) passed, history.size())) {
      List<Change> changes = commit.changes().stream().filter(interest::includes).toList();
      if (!changes.isEmpty()) {
        expected.add(
            new Commit(
                commit.position(),
                commit.timeMillis(),
                commit.client(),
                commit.override(),
                changes));
      }
    }
    passed = history.size();
    List<Commit> actual = new ArrayList<>();
    poll(actual);
    if (!numbered(actual).equals(numbered(expected))) {
      throw new SimulationFailure(
          "subscriber to " + interest + " got " + actual + " not " + expected);
    }
  }

  /** Removes the histories, because commits of an earlier one are shown under the current one. */
  private static List<Commit> numbered(List<Commit> commits) {
    return commits.stream()
        .map(commit ->
            new Commit(
                new Position(0, commit.position().number()),
                commit.timeMillis(),
                commit.client(),
                commit.override(),
                commit.changes()))
        .toList();
  }

  @Override
  public void close() {
    subscription.close();
  }
}
