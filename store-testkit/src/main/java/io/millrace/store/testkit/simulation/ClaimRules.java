package io.millrace.store.testkit.simulation;

import io.millrace.store.Claim;
import io.millrace.store.ClaimOrder;
import io.millrace.store.Reason.Kind;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.testkit.simulation.Verdict.Cause;
import io.millrace.store.testkit.simulation.Verdict.Choice;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/** What a claim must give, by the documentation, for a model at a given time. */
final class ClaimRules {
  private ClaimRules() {}

  static Verdict verdict(Model model, Claim claim, long nowMillis) {
    List<Cause> causes = new ArrayList<>();
    for (TaskRef ref : new LinkedHashSet<>(claim.depends())) {
      if (model.find(ref) == null) {
        causes.add(new Cause(Kind.MISSING_DEPEND, ref, null));
      }
    }
    if (!causes.isEmpty()) {
      return new Verdict.Refused(causes);
    }
    List<Choice> choices = new ArrayList<>();
    int left = claim.count();
    for (String group : claim.groups()) {
      List<Task> waiting = model.waiting(group, nowMillis);
      int most = Math.min(left, waiting.size());
      if (claim.whileFewerThan() > 0) {
        most = Math.min(most, claim.whileFewerThan() - model.claimed(group, nowMillis));
      }
      if (most > 0) {
        List<Task> ordered = claim.order() == ClaimOrder.NEWEST ? waiting.reversed() : waiting;
        choices.add(new Choice(ordered, most, claim.order() == ClaimOrder.RANDOM));
        left -= most;
      }
    }
    return choices.isEmpty()
        ? new Verdict.Nothing()
        : new Verdict.Takes(choices, claim.client(), nowMillis + claim.leaseMillis());
  }
}
