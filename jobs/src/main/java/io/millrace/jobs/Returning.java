package io.millrace.jobs;

import io.millrace.store.GroupQuery;
import io.millrace.store.GroupSummary;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.TaskState;
import io.millrace.store.Transaction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Offers all jobs again that are in somebody's hands: those of a server that is gone. */
final class Returning {
  private static final int MOST = 1_000;

  private final Ledger ledger;

  Returning(Ledger ledger) {
    this.ledger = ledger;
  }

  /** How many jobs were running. */
  int returnAll() {
    int returned = 0;
    for (GroupSummary group : ledger.store().groups().value()) {
      if (group.name().startsWith(Groups.PREFIX)) {
        returned += returnAll(group.name());
      }
    }
    return returned;
  }

  private int returnAll(String group) {
    var read = ledger.store().group(GroupQuery.all(group));
    Map<Owner, List<Task>> byOwner = new HashMap<>();
    for (Task task : read.value()) {
      // A task that waits may belong to a job that runs on record, if its claim has run out.
      if (task.claims() > 0) {
        Owner owner = task.owner();
        boolean held = task.stateAt(read.timeMillis()) == TaskState.CLAIMED;
        Owner key = held && owner != null ? owner : ledger.self();
        byOwner.computeIfAbsent(key, _ -> new ArrayList<>()).add(task);
      }
    }
    int[] returned = new int[1];
    byOwner.forEach((owner, tasks) ->
        Ledger.inParts(tasks, MOST, part -> returned[0] += giveBack(owner, part)));
    return returned[0];
  }

  /** Together if nothing changes meanwhile, otherwise one by one. */
  private int giveBack(Owner owner, List<Task> tasks) {
    int together = commit(owner, tasks);
    if (together >= 0) {
      return together;
    }
    int returned = 0;
    for (Task task : tasks) {
      returned += Math.max(0, commit(owner, List.of(task)));
    }
    return returned;
  }

  /** How many of them were running; -1 where something changed meanwhile. */
  private int commit(Owner owner, List<Task> tasks) {
    Map<JobId, Entry> entries =
        ledger.entries(tasks.stream().map(task -> JobForm.id(task.data().utf8())).toList());
    Transaction.Builder transaction = Transaction.by(owner);
    int running = 0;
    for (Task task : tasks) {
      Entry entry = entries.get(JobForm.id(task.data().utf8()));
      if (entry == null || entry.job().place().task() != task.origin()) {
        transaction.delete(task.ref());
        continue;
      }
      transaction.update(task.ref(), null, Settling.BEFORE_ALL);
      Job job = entry.job();
      if (job.status() == JobStatus.RUNNING) {
        running++;
        transaction.put(
            Keys.job(job.id()),
            job.place().version(),
            JobForm.write(entry.with(Transitions.returned(job)), null));
      }
    }
    return ledger.commit(transaction.build()) instanceof Outcome.Done ? running : -1;
  }
}
