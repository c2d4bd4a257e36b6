package io.millrace.jobs;

import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.Reason;
import io.millrace.store.Transaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Prolongs claims, a thousand in one transaction. */
final class Renewing {
  private static final int MOST = 1_000;

  private final Ledger ledger;
  private final Duration lease;

  Renewing(Ledger ledger, Duration lease) {
    this.ledger = ledger;
    this.lease = lease;
  }

  /** Those that could not be prolonged, since they are not the latest of their jobs. */
  List<Assignment> renew(List<Assignment> assignments) {
    Map<JobId, Assignment> latest = new LinkedHashMap<>();
    for (Assignment each : assignments) {
      latest.merge(each.job().id(), each, Renewing::later);
    }
    Map<Owner, List<Assignment>> byOwner = new LinkedHashMap<>();
    for (Assignment each : latest.values()) {
      byOwner.computeIfAbsent(each.claim().owner(), _ -> new ArrayList<>()).add(each);
    }
    Set<Assignment> lost = new HashSet<>(assignments);
    lost.removeAll(latest.values());
    byOwner.forEach(
        (owner, own) -> Ledger.inParts(own, MOST, part -> lost.addAll(renew(owner, part))));
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
      if (!(ledger.commit(transaction.build()) instanceof Outcome.Refused refused)) {
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
}
