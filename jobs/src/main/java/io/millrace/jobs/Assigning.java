package io.millrace.jobs;

import io.millrace.store.Claim;
import io.millrace.store.ClaimOrder;
import io.millrace.store.GroupQuery;
import io.millrace.store.Outcome;
import io.millrace.store.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * How workers come to jobs. The oldest jobs that have not failed are taken by name, which is one
 * commit with their record. Those that have failed wait in many groups, so they are claimed from
 * all of them first, and then put on record; so are jobs that others are always faster to take.
 */
final class Assigning {
  /** How long a claim lasts that never comes on record. */
  private static final Duration UNTIL_RECORDED = Duration.ofSeconds(10);

  private static final int ATTEMPTS = 5;

  private final Ledger ledger;
  private final Groups groups;
  private final Recording recording;
  private final Duration claimLease;

  /** The most tasks and groups of one claim; halved where the store allows fewer. */
  private volatile int mostTasks = 1_000;

  private volatile int mostGroups = 100;

  Assigning(Ledger ledger, Groups groups, Duration lease) {
    this.ledger = ledger;
    this.groups = groups;
    this.recording = new Recording(ledger, lease);
    this.claimLease = lease.compareTo(UNTIL_RECORDED) < 0 ? lease : UNTIL_RECORDED;
  }

  List<Assignment> assign(String type, List<WorkerId> workers) {
    List<Assignment> assigned = new ArrayList<>();
    try {
      assign(type, new ArrayList<>(workers), assigned);
    } catch (JobsFullException e) {
      if (assigned.isEmpty()) {
        throw e;
      }
    }
    return assigned;
  }

  private void assign(String type, List<WorkerId> ready, List<Assignment> assigned) {
    for (String group : Groups.waiting(type)) {
      takeFrom(group, ready, assigned);
    }
    if (ready.isEmpty()) {
      return;
    }
    List<String> failed = groups.failed(type);
    if (failed.isEmpty()) {
      return;
    }
    for (WorkerId worker : new LinkedHashSet<>(ready)) {
      String own = Groups.failed(type, worker);
      List<WorkerId> same = new ArrayList<>(ready.stream().filter(worker::equals).toList());
      List<String> others = failed.stream().filter(group -> !group.equals(own)).toList();
      for (int from = 0; from < others.size() && !same.isEmpty(); ) {
        int to = Math.min(others.size(), from + mostGroups);
        claimFrom(others.subList(from, to), same, assigned);
        from = to;
      }
    }
  }

  /** Takes the oldest until nothing is left there, or nobody is left who is ready. */
  private void takeFrom(String group, List<WorkerId> ready, List<Assignment> assigned) {
    for (int inVain = 0; !ready.isEmpty(); ) {
      if (inVain == ATTEMPTS) {
        claimFrom(List.of(group), ready, assigned);
        return;
      }
      int asked = Math.min(ready.size(), mostTasks);
      List<Task> oldest = ledger.store().group(new GroupQuery(group, asked, false)).value();
      int before = ready.size();
      recording.take(oldest, ready, assigned);
      if (oldest.size() < asked) {
        return;
      }
      inVain = ready.size() < before ? 0 : inVain + 1;
    }
  }

  /** Claims from groups until nothing is left there, or nobody is left who is ready. */
  private void claimFrom(List<String> from, List<WorkerId> ready, List<Assignment> assigned) {
    while (!ready.isEmpty()) {
      int asked = Math.min(ready.size(), mostTasks);
      List<Task> claimed = claim(from, asked);
      recording.prolong(claimed, ready, assigned);
      if (claimed.size() < asked) {
        return;
      }
    }
  }

  private List<Task> claim(List<String> from, int count) {
    Claim claim =
        Claim.of(ledger.self(), from.getFirst(), claimLease)
            .withGroups(from)
            .withCount(count)
            .withOrder(ClaimOrder.OLDEST);
    try {
      return switch (Ledger.check(ledger.store().claim(claim))) {
        case Outcome.Done done -> done.tasks();
        case Outcome.Refused _ -> List.of();
      };
    } catch (TooLargeException e) {
      if (count == 1 && from.size() == 1) {
        throw e;
      }
      mostTasks = Math.max(1, count / 2);
      mostGroups = Math.max(1, from.size() / 2);
      return claim(from.subList(0, Math.max(1, from.size() / 2)), Math.max(1, count / 2));
    }
  }
}
