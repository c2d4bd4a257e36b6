package io.millrace.store.kernel.decisions;

import io.millrace.store.Bytes;
import io.millrace.store.Commit.Change;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions.Ids;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.kernel.decisions.Decider.Decision;
import io.millrace.store.kernel.records.RequestDigest;
import io.millrace.store.kernel.state.Group;
import io.millrace.store.kernel.state.Sizes;
import io.millrace.store.kernel.state.State;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The decision on one transaction: all reasons to refuse it, or its changes. */
final class TransactionDecision {
  private final State state;
  private final Limits limits;
  private final Transaction transaction;
  private final long nowMillis;
  private final RefusalReasons reasons;
  private final List<Change> changes;

  /** The ids of added and taken tasks, by local name. */
  private Map<String, Long> localIds = Map.of();

  /** The tasks changed so far; null if the transaction changes at most one. */
  private final @Nullable Set<Long> touched;

  /** What takings leave of limits; null before the first. */
  private @Nullable StartRoom room;

  private final Ids ids;
  private long nextId;
  private long growthBytes;

  TransactionDecision(
      State state, Limits limits, Ids ids, Transaction transaction, long nowMillis) {
    this.state = state;
    this.limits = limits;
    this.transaction = transaction;
    this.nowMillis = nowMillis;
    this.reasons = new RefusalReasons(state, limits);
    this.ids = ids;
    this.nextId = ids.after(state.lastId());
    int tasks =
        transaction.updates().size()
            + transaction.renewals().size()
            + transaction.takings().size()
            + transaction.deletes().size();
    this.changes =
        new ArrayList<>(
            tasks
                + transaction.adds().size()
                + transaction.puts().size()
                + transaction.documentDeletes().size());
    this.touched = tasks > 1 ? HashSet.newHashSet(tasks) : null;
  }

  Decision decide(@Nullable RequestDigest digest) {
    reasons.checkClient(transaction.client());
    reasons.checkRequestId(transaction.requestId());
    if (!TransactionSize.of(transaction).fits(limits, reasons)) {
      return new Decision.Refused(reasons.reasons());
    }
    int place = 0;
    for (Transaction.Add add : transaction.adds()) {
      reasons.at("adds", place++);
      add(add);
    }
    place = 0;
    for (Transaction.Update update : transaction.updates()) {
      reasons.at("updates", place++, update.task());
      update(update);
    }
    place = 0;
    for (Transaction.Renewal renewal : transaction.renewals()) {
      reasons.at("renewals", place++, renewal.task());
      renew(renewal);
    }
    place = 0;
    for (Transaction.Taking taking : transaction.takings()) {
      reasons.at("takings", place++, taking.task());
      take(taking);
    }
    place = 0;
    for (TaskRef ref : transaction.deletes()) {
      reasons.at("deletes", place++, ref);
      delete(ref);
    }
    reasons.checkDepends(transaction.depends());
    if (namesDocuments()) {
      DocumentDecision documents =
          new DocumentDecision(state, ids, reasons, localIds, transaction, changes);
      nextId = documents.decide(nextId);
      growthBytes += documents.growthBytes();
    }
    checkRoom();
    if (!reasons.none()) {
      return new Decision.Refused(reasons.reasons());
    }
    if (changes.isEmpty()) {
      return new Decision.Nothing();
    }
    return new Decision.Accepted(changes, digest, growthBytes);
  }

  private boolean namesDocuments() {
    return !transaction.puts().isEmpty()
        || !transaction.documentDeletes().isEmpty()
        || !transaction.documentDepends().isEmpty();
  }

  private void add(Transaction.Add add) {
    reasons.checkName("group of a task to add", add.group());
    reasons.checkData("data", "a task to add", add.data().size());
    long time = reasons.checkTime("a task to add", add.when(), nowMillis);
    nameNext(add.localName());
    Owner owner = add.owned() && time > nowMillis ? transaction.client() : null;
    Group group = state.group(add.group());
    // All tasks of a group share one string: the one of the request would take more memory.
    String name = group == null ? add.group() : group.name();
    Task.Lane lane = add.lane();
    if (lane != null && reasons.checkLane(lane) && group != null) {
      lane = group.shared(lane);
    }
    Task task = new Task(nextId, nextId, name, time, owner, 0, 0, add.data(), lane);
    nextId = ids.after(nextId);
    growthBytes += Sizes.of(task);
    changes.add(new Change.Added(task));
  }

  /** Assigns a local name, if there is one, to the next id. */
  private void nameNext(@Nullable String localName) {
    if (localName == null) {
      return;
    }
    reasons.checkName("local name", localName);
    if (localIds.isEmpty()) {
      localIds = HashMap.newHashMap(transaction.adds().size() + transaction.takings().size());
    }
    if (localIds.putIfAbsent(localName, nextId) != null) {
      reasons.malformed("local name " + localName + " is used for two tasks");
    }
  }

  private void update(Transaction.Update update) {
    Bytes data = update.data();
    if (data != null) {
      reasons.checkData("data", update.task(), data.size());
    }
    long time = reasons.checkTime(update.task().toString(), update.when(), nowMillis);
    Task old = change(update.task(), Kind.MISSING_UPDATE, "to update");
    if (old == null) {
      return;
    }
    boolean held = time > nowMillis;
    long token = held && liveClaim(old) ? old.token() : 0;
    replace(old, time, held ? nextOwner(old) : null, token, data == null ? old.data() : data);
  }

  /**
   * The new owner of a task that stays owned. An operator who renews the claim of another client
   * does not become the owner.
   */
  private Owner nextOwner(Task old) {
    Owner owner = old.owner();
    return transaction.override() && owner != null && liveClaim(old) ? owner : transaction.client();
  }

  private void renew(Transaction.Renewal renewal) {
    long end =
        reasons.checkLease("lease of " + renewal.task(), renewal.leaseMillis(), 1, nowMillis);
    Task old = change(renewal.task(), Kind.MISSING_UPDATE, "to renew");
    if (old == null) {
      return;
    }
    boolean revived = renewal.revive() && endedClaimOfClient(old);
    if (!liveClaim(old) && !revived) {
      reasons.add(
          Reason.of(
              Kind.LEASE_ENDED, renewal.task(), "the claim on " + renewal.task() + " has ended"));
      return;
    }
    replace(old, end, nextOwner(old), old.token(), old.data());
  }

  private void take(Transaction.Taking taking) {
    long end = reasons.checkLease("lease of " + taking.task(), taking.leaseMillis(), 0, nowMillis);
    // Even if the taking is refused, so that documents with the name give no further reason.
    nameNext(taking.localName());
    Task old = change(taking.task(), Kind.MISSING_UPDATE, "to take");
    if (old == null) {
      return;
    }
    Task.State found = old.stateAt(nowMillis);
    if (found != Task.State.WAITING) {
      reasons.add(
          Reason.of(
              Kind.NOT_WAITING,
              taking.task(),
              taking.task()
                  + (found == Task.State.DELAYED ? " is delayed" : " is already owned")
                  + " for another "
                  + (old.availableAtMillis() - nowMillis)
                  + " ms"));
      return;
    }
    Group group = Objects.requireNonNull(state.group(old.group()));
    StartRoom left = room == null ? new StartRoom(nowMillis) : room;
    room = left;
    String reached = left.reached(old, group);
    if (reached != null) {
      reasons.add(
          Reason.of(
              Kind.LIMIT_REACHED,
              taking.task(),
              taking.task() + " may not start now: " + reached + " is reached"));
      return;
    }
    changes.add(ClaimDecision.taken(old, nextId, transaction.client(), end));
    nextId = ids.after(nextId);
    if (transaction.takings().size() > 1) {
      left.take(old, group);
    }
  }

  private boolean endedClaimOfClient(Task task) {
    return task.heldByClaim() && transaction.client().equals(task.owner());
  }

  private void replace(Task old, long time, @Nullable Owner owner, long token, Bytes data) {
    Task task =
        new Task(
            nextId, old.origin(), old.group(), time, owner, token, old.claims(), data, old.lane());
    nextId = ids.after(nextId);
    growthBytes += data.size() - old.data().size();
    changes.add(new Change.Changed(old.id(), task, data.equals(old.data())));
  }

  private void delete(TaskRef ref) {
    Task old = change(ref, Kind.MISSING_DELETE, "to delete");
    if (old != null) {
      growthBytes -= Sizes.of(old);
      changes.add(new Change.Deleted(old.id(), old.origin(), old.group()));
    }
  }

  private boolean liveClaim(Task task) {
    return task.heldByClaim() && task.stateAt(nowMillis) == Task.State.CLAIMED;
  }

  /** The task to change; null if it does not exist or this client may not change it. */
  private @Nullable Task change(TaskRef ref, Kind missing, String purpose) {
    Task task = reasons.require(ref, missing, purpose);
    if (!ref.namesTask()) {
      return null;
    }
    // The key of a task that does not exist is its id, or else its origin as a negative number.
    long name = task != null ? task.id() : ref.id() != 0 ? ref.id() : -ref.origin();
    if (touched != null && !touched.add(name)) {
      reasons.malformed(ref + " is changed twice");
    }
    if (task == null) {
      return null;
    }
    Owner owner = task.owner();
    if (owner != null
        && task.availableAtMillis() > nowMillis
        && !owner.equals(transaction.client())
        && !transaction.override()) {
      reasons.add(
          Reason.of(
              Kind.OWNED_BY_ANOTHER,
              ref,
              ref
                  + " is owned by client "
                  + owner.client()
                  + " for another "
                  + (task.availableAtMillis() - nowMillis)
                  + " ms"));
      return null;
    }
    return task;
  }

  private void checkRoom() {
    if (nextId > Limits.LARGEST_NUMBER) {
      reasons.add(Reason.of(Kind.FULL, "the store has used all ids below 2^53"));
    }
    if (growthBytes > 0 && state.memoryBytes() + growthBytes > limits.memoryBytes()) {
      reasons.add(
          Reason.of(
              Kind.FULL,
              "the store is full: "
                  + state.memoryBytes()
                  + " of "
                  + limits.memoryBytes()
                  + " bytes are in use; only claims, deletes and shrinking updates are accepted"));
    }
  }
}
