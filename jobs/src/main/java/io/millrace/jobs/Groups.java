package io.millrace.jobs;

import io.millrace.store.GroupSummary;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The groups of kernel tasks, and which of those for failed jobs there are: this registry notes
 * what it fills itself, and looks again after a second for what others did. Safe for use by any
 * number of threads.
 */
final class Groups {
  /** What the names of all groups of jobs begin with. */
  static final String PREFIX = "jobs/";

  private static final String FAILED = "/failed/";
  private static final long FRESH_MILLIS = 1_000;
  private static final int HASH_BYTES = 12;

  private final Ledger ledger;
  private final Map<String, Set<String>> failed = new HashMap<>();
  private long readMillis = Long.MIN_VALUE;
  private int turn;

  Groups(Ledger ledger) {
    this.ledger = ledger;
  }

  /** Where a job waits that has not failed. */
  static String waiting(String type, Priority priority) {
    return PREFIX + type + "/" + priority.word();
  }

  /** Where jobs wait that have not failed, in the order in which they are taken. */
  static List<String> waiting(String type) {
    return List.of(waiting(type, Priority.IMMEDIATE), waiting(type, Priority.BATCH));
  }

  /** Where a job waits that this worker failed at last. */
  static String failed(String type, WorkerId worker) {
    return PREFIX + type + FAILED + Hash.of(worker.text(), HASH_BYTES);
  }

  /** The type that the name of a group begins with, which begins with {@link #PREFIX}. */
  static String type(String group) {
    int end = group.indexOf('/', PREFIX.length());
    return group.substring(PREFIX.length(), end < 0 ? group.length() : end);
  }

  /** A job is about to wait there. */
  synchronized void filled(String type, String group) {
    failed.computeIfAbsent(type, _ -> new TreeSet<>()).add(group);
  }

  /** The groups of failed jobs of a type; another one comes first each time. */
  synchronized List<String> failed(String type) {
    long now = ledger.nowMillis();
    if (now < readMillis || now - FRESH_MILLIS >= readMillis) {
      read();
      readMillis = now;
    }
    List<String> groups = new ArrayList<>(failed.getOrDefault(type, Set.of()));
    if (!groups.isEmpty()) {
      turn = (turn + 1) & Integer.MAX_VALUE;
      Collections.rotate(groups, turn % groups.size());
    }
    return groups;
  }

  private void read() {
    failed.clear();
    for (GroupSummary group : ledger.store().groups().value()) {
      int at = group.name().indexOf(FAILED);
      if (group.name().startsWith(PREFIX) && at >= PREFIX.length()) {
        filled(group.name().substring(PREFIX.length(), at), group.name());
      }
    }
  }
}
