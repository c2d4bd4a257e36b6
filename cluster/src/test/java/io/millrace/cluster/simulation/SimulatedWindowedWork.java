package io.millrace.cluster.simulation;

import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.work.WindowedWork;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A fixed number of tasks; documents record those that are done. */
final class SimulatedWindowedWork implements WindowedWork {
  /** The prefix of the keys of finished tasks. */
  static final String FINISHED = "finished/";

  private final VersionedDocuments documents;
  private final int tasks;
  private final Output output;
  private final Set<String> finished = new HashSet<>();

  SimulatedWindowedWork(VersionedDocuments documents, int tasks, Output output) {
    this.output = output;
    this.documents = documents;
    this.tasks = tasks;
  }

  @Override
  public List<byte[]> next(List<byte[]> outstanding, int max) {
    Set<String> given = new HashSet<>();
    outstanding.forEach(task -> given.add(new String(task, StandardCharsets.UTF_8)));
    List<byte[]> next = new ArrayList<>();
    for (int i = 0; i < tasks && next.size() < max; i++) {
      String task = "task-" + i;
      if (!given.contains(task) && !isFinished(task)) {
        next.add(task.getBytes(StandardCharsets.UTF_8));
      }
    }
    return next;
  }

  private boolean isFinished(String task) {
    if (!finished.contains(task) && documents.get(FINISHED + task).isPresent()) {
      finished.add(task);
    }
    return finished.contains(task);
  }

  @Override
  public void completed(byte[] task, Guard leader) {
    String name = new String(task, StandardCharsets.UTF_8);
    Resource.require(output.has(name), name + " was completed and not done");
    documents.put(FINISHED + name, Version.NONE, "{}");
    finished.add(name);
  }

  @Override
  public void run(byte[] task, Guard guard) {
    throw new AssertionError("the simulation works by itself");
  }
}
