package io.millrace.jobs.registry;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobsException;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.Transaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Renews the claims on running jobs, a thousand in one transaction, and returns jobs of dead
 * servers.
 */
final class Leases {
  private static final int MOST = 1_000;

  private final JobStore store;
  private final Duration lease;

  Leases(JobStore store, Duration lease) {
    this.store = store;
    this.lease = lease;
  }

  /** Renews claims; gives those that are no longer the latest of their jobs. */
  List<Assignment> renew(List<Assignment> assignments) {
    Map<JobId, Assignment> latest = new LinkedHashMap<>();
    for (Assignment each : assignments) {
      latest.merge(each.job().id(), each, Leases::later);
    }
    Map<Owner, List<Assignment>> byOwner = new LinkedHashMap<>();
    for (Assignment each : latest.values()) {
      byOwner.computeIfAbsent(each.claim().owner(), _ -> new ArrayList<>()).add(each);
    }
    Set<Assignment> lost = new HashSet<>(assignments);
    lost.removeAll(latest.values());
    byOwner.forEach(
        (owner, own) -> JobStore.inParts(own, MOST, part -> lost.addAll(renew(owner, part))));
    return assignments.stream().filter(lost::contains).toList();
  }

  private static Assignment later(Assignment one, Assignment other) {
    return one.claim().token() < other.claim().token() ? other : one;
  }

  private Set<Assignment> renew(Owner owner, List<Assignment> part) {
    List<Assignment> left = new ArrayList<>(part);
    Set<Assignment> lost = new HashSet<>();
    while (!left.isEmpty()) {
      Transaction.Builder transaction = Transaction.by(owner);
      for (Assignment each : left) {
        // The version says that the claim is still the one on record.
        transaction
            .revive(each.claim().ref(), lease)
            .depend(Keys.job(each.job().id()), each.job().place().version());
      }
      if (!(store.commit(transaction.build()) instanceof Outcome.Refused refused)) {
        break;
      }
      Set<DocumentKey> documents = new HashSet<>();
      Set<Long> origins = new HashSet<>();
      for (Reason reason : refused.reasons()) {
        if (reason.document() != null) {
          documents.add(reason.document());
        } else if (reason.task() != null) {
          origins.add(reason.task().origin());
        }
      }
      if (!left.removeIf(
          each -> {
            boolean gone =
                documents.contains(Keys.job(each.job().id()))
                    || origins.contains(each.claim().origin());
            return gone && lost.add(each);
          })) {
        throw new JobsException("claims could not be renewed: " + refused.reasons());
      }
    }
    return lost;
  }

  /** Offers all running jobs again, those of a server that is gone; gives how many there were. */
  int returnAll() {
    int returned = 0;
    for (GroupSummary group : store.store().groups().value()) {
      if (group.name().startsWith(Groups.PREFIX)) {
        returned += returnGroup(group.name());
      }
    }
    return returned;
  }

  private int returnGroup(String group) {
    var read = store.store().group(GroupQuery.all(group));
    Map<Owner, List<Task>> byOwner = new HashMap<>();
    for (Task task : read.value()) {
      // A waiting task may belong to a running job, if its claim has ended.
      if (task.claims() > 0) {
        Owner owner = task.owner();
        boolean held = task.stateAt(read.timeMillis()) == Task.State.CLAIMED;
        Owner key = held && owner != null ? owner : store.self();
        byOwner.computeIfAbsent(key, _ -> new ArrayList<>()).add(task);
      }
    }
    int[] returned = new int[1];
    byOwner.forEach((owner, tasks) ->
        JobStore.inParts(tasks, MOST, part -> returned[0] += returnPart(owner, part)));
    return returned[0];
  }

  /** Together if nothing changes meanwhile, otherwise one by one. */
  private int returnPart(Owner owner, List<Task> tasks) {
    int together = commitReturn(owner, tasks);
    if (together >= 0) {
      return together;
    }
    int returned = 0;
    for (Task task : tasks) {
      returned += Math.max(0, commitReturn(owner, List.of(task)));
    }
    return returned;
  }

  /** Gives how many of them were running; -1 if something changed meanwhile. */
  private int commitReturn(Owner owner, List<Task> tasks) {
    Map<JobId, StoredJob> entries =
        store.entries(tasks.stream().map(JobStore::job).flatMap(Optional::stream).toList());
    JobTransaction transaction = new JobTransaction(owner);
    int running = 0;
    for (Task task : tasks) {
      StoredJob entry = JobStore.job(task).map(entries::get).orElse(null);
      if (entry == null || entry.job().place().task() != task.origin()) {
        transaction.delete(task.ref());
        continue;
      }
      transaction.release(task.ref());
      Job job = entry.job();
      if (job.status() == JobStatus.RUNNING) {
        running++;
        transaction.put(entry.with(Transitions.returned(job, store.nowMillis())));
      }
    }
    if (!(store.commit(transaction) instanceof Outcome.Done)) {
      return -1;
    }
    tasks.stream().filter(task -> JobStore.job(task).isEmpty()).forEach(store::noteForeign);
    return running;
  }
}
