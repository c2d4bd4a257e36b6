package io.millrace.store.kernel;

import io.millrace.store.Claim;
import io.millrace.store.Command;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The claims that wait for a task, by group in the order in which they came. Not part of the state:
 * a restart forgets them, and their clients ask again.
 */
final class ClaimQueue {
  /** One that waits. */
  record Waiter(long number, long deadlineMillis, Claim claim, Submission submission) {}

  private static final Comparator<Waiter> BY_DEADLINE =
      Comparator.comparingLong(Waiter::deadlineMillis).thenComparingLong(Waiter::number);

  private static final Comparator<Waiter> BY_NUMBER = Comparator.comparingLong(Waiter::number);

  private final Map<String, NavigableSet<Waiter>> byGroup = new HashMap<>();
  private final Map<RequestName, NavigableSet<Waiter>> byRequest = new HashMap<>();
  private final Map<Submission, Waiter> bySubmission = new HashMap<>();
  private final NavigableSet<Waiter> byDeadline = new TreeSet<>(BY_DEADLINE);
  private long lastNumber;

  /** What makes two commands the same request. */
  private record RequestName(String principal, String id) {
    static @Nullable RequestName of(Command command) {
      String id = command.requestId();
      return id == null ? null : new RequestName(command.client().principal(), id);
    }
  }

  int size() {
    return byDeadline.size();
  }

  boolean isEmpty() {
    return byDeadline.isEmpty();
  }

  void add(Submission submission, Claim claim, long deadlineMillis) {
    Waiter waiter = new Waiter(++lastNumber, deadlineMillis, claim, submission);
    for (String group : claim.groups()) {
      join(byGroup, group, waiter);
    }
    RequestName request = RequestName.of(claim);
    if (request != null) {
      join(byRequest, request, waiter);
    }
    bySubmission.put(submission, waiter);
    byDeadline.add(waiter);
  }

  private static <K> void join(Map<K, NavigableSet<Waiter>> lines, K key, Waiter waiter) {
    lines.computeIfAbsent(key, _ -> new TreeSet<>(BY_NUMBER)).add(waiter);
  }

  private static <K> void leave(Map<K, NavigableSet<Waiter>> lines, K key, Waiter waiter) {
    NavigableSet<Waiter> line = lines.get(key);
    if (line != null) {
      line.remove(waiter);
      if (line.isEmpty()) {
        lines.remove(key);
      }
    }
  }

  /** Removes a claim whose caller has cancelled it; does nothing if it does not wait. */
  void cancel(Submission submission) {
    Waiter waiter = bySubmission.get(submission);
    if (waiter != null) {
      remove(waiter);
    }
  }

  private void remove(Waiter waiter) {
    byDeadline.remove(waiter);
    bySubmission.remove(waiter.submission());
    for (String group : waiter.claim().groups()) {
      leave(byGroup, group, waiter);
    }
    RequestName request = RequestName.of(waiter.claim());
    if (request != null) {
      leave(byRequest, request, waiter);
    }
  }

  /** When the first deadline comes; {@link Long#MAX_VALUE} if no claim waits. */
  long nextDueMillis() {
    return byDeadline.isEmpty() ? Long.MAX_VALUE : byDeadline.first().deadlineMillis();
  }

  /** Removes one whose deadline has come; null when there is none. */
  @Nullable Waiter expire(long nowMillis) {
    if (nextDueMillis() > nowMillis) {
      return null;
    }
    Waiter waiter = byDeadline.first();
    remove(waiter);
    return waiter;
  }

  /** Removes all, in the order in which they came. */
  List<Waiter> drain() {
    List<Waiter> all = new ArrayList<>(byDeadline);
    all.sort(BY_NUMBER);
    byDeadline.clear();
    byGroup.clear();
    byRequest.clear();
    bySubmission.clear();
    return all;
  }

  /** Removes those that wait under the request id of a command that has just been answered. */
  List<Waiter> duplicates(Command answered) {
    RequestName request = RequestName.of(answered);
    NavigableSet<Waiter> line = request == null ? null : byRequest.get(request);
    if (line == null) {
      return List.of();
    }
    List<Waiter> duplicates = List.copyOf(line);
    duplicates.forEach(this::remove);
    return duplicates;
  }

  /**
   * Offers the tasks of groups to the claims that wait for them, first come first served over all.
   *
   * @param groups names of groups, each once
   * @param hasTasks whether a group still has a task that waits
   * @param attempt decides one claim; true when it is answered
   */
  void serve(Iterable<String> groups, Predicate<String> hasTasks, Predicate<Waiter> attempt) {
    List<Line> lines = new ArrayList<>();
    for (String group : groups) {
      NavigableSet<Waiter> waiters = byGroup.get(group);
      if (waiters != null) {
        lines.add(new Line(group, waiters));
      }
    }
    while (true) {
      Waiter first = null;
      for (Line line : lines) {
        Waiter next = hasTasks.test(line.group) ? line.next : null;
        if (next != null && (first == null || next.number() < first.number())) {
          first = next;
        }
      }
      if (first == null) {
        return;
      }
      Waiter turn = first;
      lines.forEach(line -> line.pass(turn));
      if (attempt.test(turn)) {
        remove(turn);
      } else {
        lines.forEach(line -> line.failed(turn));
      }
    }
  }

  /** The claims that wait for one group, while its tasks are being offered. */
  private static final class Line {
    private final String group;
    private final NavigableSet<Waiter> waiters;
    private @Nullable Waiter next;

    /** The largest limit that kept a claim from this group's tasks; -1 for none. */
    private int failedLimit = -1;

    Line(String group, NavigableSet<Waiter> waiters) {
      this.group = group;
      this.waiters = waiters;
      this.next = waiters.first();
    }

    void pass(Waiter waiter) {
      if (waiter.equals(next)) {
        next = waiters.higher(waiter);
        skip();
      }
    }

    void failed(Waiter waiter) {
      if (waiter.claim().groups().contains(group)) {
        failedLimit = Math.max(failedLimit, waiter.claim().whileFewerThan());
        skip();
      }
    }

    /** Passes those whose limit is no higher than one that has failed. */
    private void skip() {
      while (next != null
          && next.claim().whileFewerThan() > 0
          && next.claim().whileFewerThan() <= failedLimit) {
        next = waiters.higher(next);
      }
    }
  }
}
