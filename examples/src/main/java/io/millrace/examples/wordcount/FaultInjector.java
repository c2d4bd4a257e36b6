package io.millrace.examples.wordcount;

import io.millrace.store.Task;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/**
 * Kills processes at random moments while there is work: first two workers and the server in random
 * order, then a worker from time to time. Not thread-safe.
 */
final class FaultInjector {
  /** What to kill. */
  private enum Target {
    WORKER,
    SERVER
  }

  private static final Duration SHORTEST = Duration.ofMillis(200);
  private static final Duration LONGEST = Duration.ofMillis(800);
  private static final Duration LATER = Duration.ofSeconds(4);

  private final WordcountProcesses processes;
  private final Random random;
  private final Consumer<String> report;
  private final List<Target> due =
      new ArrayList<>(List.of(Target.WORKER, Target.WORKER, Target.SERVER));
  private long nextNanos;
  private int workersKilled;
  private int serversKilled;

  FaultInjector(WordcountProcesses processes, Random random, Consumer<String> report) {
    this.processes = processes;
    this.random = random;
    this.report = report;
    Collections.shuffle(due, random);
    wait(SHORTEST, LONGEST);
  }

  /** Whether two workers and the server have been killed. */
  boolean isDone() {
    return due.isEmpty();
  }

  /** A summary for the user. */
  String summary() {
    return "killed %d workers and the server %s, while work was left"
        .formatted(workersKilled, serversKilled == 1 ? "once" : serversKilled + " times");
  }

  /**
   * Kills a process if one is due.
   *
   * @param left the work that is left
   */
  void step(TaskStore store, RemainingTasks left) throws IOException, InterruptedException {
    if (System.nanoTime() - nextNanos < 0 || left.isNothing()) {
      return;
    }
    Target target = due.isEmpty() ? Target.WORKER : due.getFirst();
    boolean killed =
        switch (target) {
          case WORKER -> killWorker(store, left);
          case SERVER -> killServer(left);
        };
    if (!killed) {
      return;
    }
    if (!due.isEmpty()) {
      due.removeFirst();
    }
    if (due.isEmpty()) {
      wait(LATER, LATER.multipliedBy(2));
    } else {
      wait(SHORTEST, LONGEST);
    }
  }

  private void wait(Duration shortest, Duration longest) {
    nextNanos = System.nanoTime() + random.nextLong(shortest.toNanos(), longest.toNanos());
  }

  private boolean killWorker(TaskStore store, RemainingTasks left)
      throws IOException, InterruptedException {
    List<Task> held =
        store.group(GroupQuery.all(WordTasks.MAP)).value().stream()
            .filter(Task::heldByClaim)
            .filter(
                task -> task.owner() != null && processes.workers().contains(task.owner().client()))
            .toList();
    long client;
    String doing;
    if (held.isEmpty()) {
      if (left.map() > 0 || left.reduce() == 0) {
        return false;
      }
      List<Long> all = processes.workers();
      client = all.get(random.nextInt(all.size()));
      doing = "while it reduced";
    } else {
      Task task = held.get(random.nextInt(held.size()));
      client = task.owner() == null ? 0 : task.owner().client();
      doing = "while it held map task " + task.id();
    }
    long pid = processes.killWorker(client);
    workersKilled++;
    report.accept(
        "killed worker %d (process %d) with -9 %s; %s"
            .formatted(processes.number(client), pid, doing, left));
    long other = processes.addWorker();
    report.accept("started worker %d".formatted(processes.number(other)));
    return true;
  }

  private boolean killServer(RemainingTasks left) throws IOException, InterruptedException {
    long pid = processes.killServer();
    serversKilled++;
    report.accept("killed the server (process %d) with -9; %s".formatted(pid, left));
    long other = processes.restartServer();
    report.accept("started it again (process %d) on the same folder".formatted(other));
    return true;
  }

  /**
   * How many tasks are left.
   *
   * @param map pieces of text to count
   * @param reduce counts to add to a result
   */
  record RemainingTasks(long map, long reduce) {
    static RemainingTasks of(TaskStore store) {
      long map = 0;
      long reduce = 0;
      for (GroupSummary group : store.groups().value()) {
        long all = group.waiting() + group.delayed() + group.owned();
        if (group.name().equals(WordTasks.MAP)) {
          map = all;
        } else if (group.name().equals(WordTasks.REDUCE)) {
          reduce = all;
        }
      }
      return new RemainingTasks(map, reduce);
    }

    boolean isNothing() {
      return map == 0 && reduce == 0;
    }

    @Override
    public String toString() {
      return "left: " + map + " map, " + reduce + " reduce";
    }
  }
}
