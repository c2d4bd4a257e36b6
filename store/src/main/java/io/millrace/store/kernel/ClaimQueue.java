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
 * The claims that wait for a task, for each group in the order of their arrival. They are not part
 * of the state: after a restart, clients must claim again.
 */
final class ClaimQueue {
  /** A waiting claim. */
  record Waiter(long number, long deadlineMillis, Claim claim, Submission submission) {}

  private static final Comparator<Waiter> BY_DEADLINE =
      Comparator.comparingLong(Waiter::deadlineMillis).thenComparingLong(Waiter::number);

  private static final Comparator<Waiter> BY_NUMBER = Comparator.comparingLong(Waiter::number);

  private final Map<String, NavigableSet<Waiter>> byGroup = new HashMap<>();
  private final Map<RequestName, NavigableSet<Waiter>> byRequest = new HashMap<>();
  private final Map<Submission, Waiter> bySubmission = new HashMap<>();
  private final NavigableSet<Waiter> byDeadline = new TreeSet<>(BY_DEADLINE);
  private long lastNumber;

  /** The key of a request: two commands with the same key are the same request. */
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

  private static <K> void join(Map<K, NavigableSet<Waiter>> queues, K key, Waiter waiter) {
    queues.computeIfAbsent(key, _ -> new TreeSet<>(BY_NUMBER)).add(waiter);
  }

  private static <K> void leave(Map<K, NavigableSet<Waiter>> queues, K key, Waiter waiter) {
    NavigableSet<Waiter> queue = queues.get(key);
    if (queue != null) {
      queue.remove(waiter);
      if (queue.isEmpty()) {
        queues.remove(key);
      }
    }
  }

  /** Removes a cancelled claim, if it waits. */
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

  /** The earliest deadline; {@link Long#MAX_VALUE} if no claim waits. */
  long nextDueMillis() {
    return byDeadline.isEmpty() ? Long.MAX_VALUE : byDeadline.first().deadlineMillis();
  }

  /** Removes and returns a claim whose deadline has passed; null if there is none. */
  @Nullable Waiter expire(long nowMillis) {
    if (nextDueMillis() > nowMillis) {
      return null;
    }
    Waiter waiter = byDeadline.first();
    remove(waiter);
    return waiter;
  }

  /** Removes and returns all claims, in the order of their arrival. */
  List<Waiter> drain() {
    List<Waiter> all = new ArrayList<>(byDeadline);
    all.sort(BY_NUMBER);
    byDeadline.clear();
    byGroup.clear();
    byRequest.clear();
    bySubmission.clear();
    return all;
  }

  /**
   * Removes and returns the claims with the request id of a command that has just been answered.
   */
  List<Waiter> duplicates(Command answered) {
    RequestName request = RequestName.of(answered);
    NavigableSet<Waiter> queue = request == null ? null : byRequest.get(request);
    if (queue == null) {
      return List.of();
    }
    List<Waiter> duplicates = List.copyOf(queue);
    duplicates.forEach(this::remove);
    return duplicates;
  }

  /**
   * Offers the tasks of groups to the claims that wait for them, in the order of their arrival over
   * all groups.
   *
   * @param groups names of groups, each once
   * @param hasTasks whether a group still has a waiting task
   * @param attempt decides one claim; returns whether it has been answered
   */
  void serve(Iterable<String> groups, Predicate<String> hasTasks, Predicate<Waiter> attempt) {
    List<GroupQueue> queues = new ArrayList<>();
    for (String group : groups) {
      NavigableSet<Waiter> waiters = byGroup.get(group);
      if (waiters != null) {
        queues.add(new GroupQueue(group, waiters));
      }
    }
    while (true) {
      Waiter first = null;
      for (GroupQueue queue : queues) {
        Waiter next = hasTasks.test(queue.group) ? queue.next : null;
        if (next != null && (first == null || next.number() < first.number())) {
          first = next;
        }
      }
      if (first == null) {
        return;
      }
      Waiter turn = first;
      queues.forEach(queue -> queue.pass(turn));
      if (attempt.test(turn)) {
        remove(turn);
      } else {
        queues.forEach(queue -> queue.failed(turn));
      }
    }
  }

  /** The claims that wait for one group, while its tasks are being offered. */
  private static final class GroupQueue {
    private final String group;
    private final NavigableSet<Waiter> waiters;
    private @Nullable Waiter next;

    /** The largest limit because of which a claim has got no task; -1 for none. */
    private int failedLimit = -1;

    GroupQueue(String group, NavigableSet<Waiter> waiters) {
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

    /** Skips claims whose limit is not higher than one that has failed. */
    private void skip() {
      while (next != null
          && next.claim().whileFewerThan() > 0
          && next.claim().whileFewerThan() <= failedLimit) {
        next = waiters.higher(next);
      }
    }
  }
}
