package io.millrace.store.kernel;

import io.millrace.store.Claim;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The claims that wait for a task, by group in the order in which they came. Not part of the state:
 * a restart forgets them, and their askers ask again.
 */
final class WaitingClaims {
  /** One that waits. */
  record Waiter(long number, long deadlineMillis, Claim claim, Submission submission) {}

  private static final Comparator<Waiter> BY_DEADLINE =
      Comparator.comparingLong(Waiter::deadlineMillis).thenComparingLong(Waiter::number);

  private final Map<String, TreeSet<Waiter>> byGroup = new HashMap<>();
  private final Map<Submission, Waiter> bySubmission = new HashMap<>();
  private final TreeSet<Waiter> byDeadline = new TreeSet<>(BY_DEADLINE);
  private long lastNumber;

  int size() {
    return byDeadline.size();
  }

  boolean isEmpty() {
    return byDeadline.isEmpty();
  }

  void add(Submission submission, Claim claim, long deadlineMillis) {
    Waiter waiter = new Waiter(++lastNumber, deadlineMillis, claim, submission);
    for (String group : claim.groups()) {
      byGroup
          .computeIfAbsent(group, _ -> new TreeSet<>(Comparator.comparingLong(Waiter::number)))
          .add(waiter);
    }
    bySubmission.put(submission, waiter);
    byDeadline.add(waiter);
  }

  /** Forgets one whose asker is gone; does nothing where it does not wait. */
  void withdraw(Submission submission) {
    Waiter waiter = bySubmission.get(submission);
    if (waiter != null) {
      remove(waiter);
    }
  }

  private void remove(Waiter waiter) {
    byDeadline.remove(waiter);
    bySubmission.remove(waiter.submission());
    for (String group : waiter.claim().groups()) {
      TreeSet<Waiter> waiters = byGroup.get(group);
      if (waiters != null) {
        waiters.remove(waiter);
        if (waiters.isEmpty()) {
          byGroup.remove(group);
        }
      }
    }
  }

  /** When the first deadline comes; {@link Long#MAX_VALUE} when nobody waits. */
  long alarm() {
    return byDeadline.isEmpty() ? Long.MAX_VALUE : byDeadline.first().deadlineMillis();
  }

  /** Removes one whose deadline has come; null when there is none. */
  @Nullable Waiter expire(long nowMillis) {
    if (alarm() > nowMillis) {
      return null;
    }
    Waiter waiter = byDeadline.first();
    remove(waiter);
    return waiter;
  }

  /** Removes all, in the order in which they came. */
  List<Waiter> drain() {
    List<Waiter> all = new ArrayList<>(byDeadline);
    all.sort(Comparator.comparingLong(Waiter::number));
    byDeadline.clear();
    byGroup.clear();
    bySubmission.clear();
    return all;
  }

  /**
   * Offers what a group has to those who wait for it, first come first served.
   *
   * @param group the group's name
   * @param hasTasks whether the group still has a task that waits
   * @param attempt decides one claim; true when it is answered
   */
  void serve(String group, Predicate<String> hasTasks, Predicate<Waiter> attempt) {
    TreeSet<Waiter> waiters = byGroup.get(group);
    if (waiters == null) {
      return;
    }
    Waiter waiter = waiters.first();
    int failedLimit = -1;
    while (waiter != null && hasTasks.test(group)) {
      Waiter following = waiters.higher(waiter);
      int limit = waiter.claim().whileFewerThan();
      boolean hopeless = failedLimit >= 0 && limit != 0 && limit <= failedLimit;
      if (!hopeless) {
        if (attempt.test(waiter)) {
          remove(waiter);
        } else {
          failedLimit = limit;
        }
      }
      waiter = following;
    }
  }
}
