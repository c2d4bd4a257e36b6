package io.millrace.store.kernel.decisions;

import io.millrace.store.Claim;
import io.millrace.store.Commit.Change;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions.Ids;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Task;
import io.millrace.store.kernel.decisions.Decider.Decision;
import io.millrace.store.kernel.records.RequestDigest;
import io.millrace.store.kernel.state.Group;
import io.millrace.store.kernel.state.State;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The decision on one claim. */
final class ClaimDecision {
  private final State state;
  private final Limits limits;
  private final Claim claim;
  private final long nowMillis;
  private final RandomGenerator random;
  private final RefusalReasons reasons;
  private final List<Change> changes;
  private final StartRoom room;
  private final Ids ids;
  private long nextId;
  private long endMillis;

  ClaimDecision(
      State state, Limits limits, Ids ids, Claim claim, long nowMillis, RandomGenerator random) {
    this.state = state;
    this.limits = limits;
    this.claim = claim;
    this.nowMillis = nowMillis;
    this.random = random;
    this.reasons = new RefusalReasons(state, limits);
    this.changes = new ArrayList<>(Math.clamp(claim.count(), 1, 100));
    this.room = new StartRoom(nowMillis);
    this.ids = ids;
    this.nextId = ids.after(state.lastId());
  }

  Decision decide(@Nullable RequestDigest digest) {
    check();
    if (!reasons.none()) {
      return new Decision.Refused(reasons.reasons());
    }
    for (String name : claim.groups()) {
      Group group = state.group(name);
      if (group != null) {
        take(group);
      }
      if (changes.size() == claim.count()) {
        break;
      }
    }
    return changes.isEmpty() ? new Decision.Nothing() : new Decision.Accepted(changes, digest, 0);
  }

  private void check() {
    reasons.checkClient(claim.client());
    reasons.checkRequestId(claim.requestId());
    if (claim.groups().isEmpty()) {
      reasons.malformed("a claim needs at least one group");
    }
    if (claim.groups().size() > limits.claimGroups()) {
      reasons.tooLarge(
          "the claim names "
              + claim.groups().size()
              + " groups, more than "
              + limits.claimGroups());
    } else {
      Set<String> names = HashSet.newHashSet(claim.groups().size());
      for (String group : claim.groups()) {
        if (!names.add(group)) {
          reasons.malformed("the claim names group " + group + " twice");
        }
      }
    }
    claim.groups().forEach(group -> reasons.checkName("group to claim from", group));
    if (claim.count() < 1) {
      reasons.malformed("count of a claim must be at least 1, not " + claim.count());
    } else if (claim.count() > limits.claimCount()) {
      reasons.tooLarge(
          "count of a claim is " + claim.count() + ", more than " + limits.claimCount());
    }
    if (claim.whileFewerThan() < 0) {
      reasons.malformed("limit of a claim must not be negative, not " + claim.whileFewerThan());
    }
    reasons.checkMillis("wait of a claim", claim.waitMillis(), 0);
    if (claim.depends().size() > limits.operations()) {
      reasons.tooLarge(
          "the claim depends on "
              + claim.depends().size()
              + " tasks, more than "
              + limits.operations());
    } else {
      reasons.checkDepends(claim.depends());
    }
    endMillis = reasons.checkLease("duration of a claim", claim.leaseMillis(), 0, nowMillis);
    if (nextId + (long) claim.count() * ids.step() > Limits.LARGEST_NUMBER) {
      reasons.add(Reason.of(Kind.FULL, "the store has used all ids below 2^53"));
    }
  }

  private void take(Group group) {
    int count = Math.min(claim.count() - changes.size(), group.waitingCount());
    if (claim.whileFewerThan() > 0) {
      count = Math.min(count, claim.whileFewerThan() - group.claimedCount());
    }
    count = Math.min(count, room.of(group));
    if (count <= 0) {
      return;
    }
    if (group.hasTurns()) {
      boolean newest = claim.order() == Claim.Order.NEWEST;
      for (Task task : group.next(count, newest, nowMillis, room.takenOfKeys(group))) {
        take(task, group);
      }
      return;
    }
    int waiting = group.waitingCount();
    switch (claim.order()) {
      case OLDEST -> {
        for (int i = 0; i < count; i++) {
          take(group.waitingAt(i), group);
        }
      }
      case NEWEST -> {
        for (int i = 1; i <= count; i++) {
          take(group.waitingAt(waiting - i), group);
        }
      }
      case RANDOM -> {
        if (count == 1) {
          take(group.waitingAt(random.nextInt(waiting)), group);
        } else {
          pick(count, waiting).forEach(rank -> take(group.waitingAt(rank), group));
        }
      }
    }
  }

  /** Distinct random numbers below {@code bound}, every set equally likely (Floyd's algorithm). */
  private Set<Integer> pick(int count, int bound) {
    Set<Integer> picked = new TreeSet<>();
    for (int i = bound - count; i < bound; i++) {
      int candidate = random.nextInt(i + 1);
      if (!picked.add(candidate)) {
        picked.add(i);
      }
    }
    return picked;
  }

  private void take(Task old, Group group) {
    changes.add(taken(old, nextId, claim.client(), endMillis));
    nextId = ids.after(nextId);
    if (changes.size() < claim.count()) {
      room.take(old, group);
    }
  }

  /** The change by which a waiting task is claimed. */
  static Change.Changed taken(Task old, long id, Owner owner, long endMillis) {
    Task task =
        new Task(
            id,
            old.origin(),
            old.group(),
            endMillis,
            owner,
            id,
            old.claims() + 1,
            old.data(),
            old.lane());
    return new Change.Changed(old.id(), task, true);
  }
}
