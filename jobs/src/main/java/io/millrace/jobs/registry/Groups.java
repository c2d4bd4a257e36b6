package io.millrace.jobs.registry;

import io.millrace.jobs.Job;
import io.millrace.jobs.Priority;
import io.millrace.jobs.WorkerId;
import io.millrace.store.TaskStore.GroupSummary;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The groups of the kernel tasks. Which groups of failed jobs exist is cached for a second; groups
 * that this registry fills are added at once. Safe for use by any number of threads.
 */
final class Groups {
  /** What the names of all groups of jobs begin with. */
  static final String PREFIX = "jobs/";

  private static final String FAILED = "/failed/";
  private static final long FRESH_MILLIS = 1_000;
  private static final int HASH_BYTES = 12;

  private final JobStore store;
  private final Map<String, Set<String>> failed = new HashMap<>();
  private long readMillis = Long.MIN_VALUE;
  private int turn;

  Groups(JobStore store) {
    this.store = store;
  }

  /** The group of a waiting job that has not failed. */
  static String waiting(String type, Priority priority) {
    return PREFIX + type + "/" + priority.word();
  }

  /** What the names of all groups of a type begin with. */
  static String prefix(String type) {
    return PREFIX + type + "/";
  }

  /** The groups of waiting jobs that have not failed, in the order in which they are taken. */
  static List<String> waiting(String type) {
    return List.of(waiting(type, Priority.IMMEDIATE), waiting(type, Priority.BATCH));
  }

  /** The group of a waiting job at which this worker failed last. */
  static String failed(String type, WorkerId worker) {
    return PREFIX + type + FAILED + Keys.hash(worker.text(), HASH_BYTES);
  }

  /** The group of a job that is to wait, and is not to go to the worker at which it failed last. */
  static String of(Job job) {
    WorkerId last = job.hand().worker();
    return job.failures() == 0 || last == null
        ? waiting(job.type(), job.order().priority())
        : failed(job.type(), last);
  }

  /** The type that the name of a group begins with, which begins with {@link #PREFIX}. */
  static String type(String group) {
    int end = group.indexOf('/', PREFIX.length());
    return group.substring(PREFIX.length(), end < 0 ? group.length() : end);
  }

  /** Notes that a job is about to wait in a group. */
  synchronized void filled(String type, String group) {
    failed.computeIfAbsent(type, _ -> new TreeSet<>()).add(group);
  }

  /** The groups of failed jobs of a type, rotated at each call. */
  synchronized List<String> failed(String type) {
    long now = store.nowMillis();
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
    for (GroupSummary group : store.store().groups().value()) {
      int at = group.name().indexOf(FAILED);
      if (group.name().startsWith(PREFIX) && at >= PREFIX.length()) {
        filled(group.name().substring(PREFIX.length(), at), group.name());
      }
    }
  }
}
