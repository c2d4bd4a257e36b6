package io.millrace.queues;

import io.millrace.store.Claim;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** How a node comes to runs: a claim in the kernel, then its record. */
final class Claiming {
  private final Ledger ledger;
  private final Endings endings;

  Claiming(Ledger ledger, Endings endings) {
    this.ledger = ledger;
    this.endings = endings;
  }

  List<Run> claim(NodeRecord node, Queue queue, int most, Duration lease) {
    int limit = queue.settings().limit();
    List<Run> runs = new ArrayList<>();
    for (int i = 0; i < Math.min(most, limit); i++) {
      long client = ledger.newClient();
      Claim claim =
          Claim.of(Owner.client(client), queue.waitingGroup(), lease)
              .withOrder(queue.settings().sort().claimOrder())
              .withLimit(limit)
              .withDepends(List.of(queue.place().byId(), node.place().byId()));
      if (!(ledger.store().claim(claim) instanceof Outcome.Done done) || done.tasks().isEmpty()) {
        break;
      }
      record(node, queue, client, done.tasks().getFirst()).ifPresent(runs::add);
    }
    return runs;
  }

  /** Puts a claim on record, or sees to a task that cannot be run. */
  private Optional<Run> record(NodeRecord node, Queue queue, long client, Task kernel) {
    RunClaim claim = new RunClaim(client, kernel.origin(), kernel.token());
    ObjectId id = new ObjectId(kernel.data().utf8());
    Optional<QueueTask> found = ledger.document(Keys.task(id)).map(TaskForm::read);
    if (found.isEmpty() || found.get().place().task() != kernel.origin()) {
      ledger.commit(Transaction.by(claim.owner()).delete(kernel.ref()).build());
      return Optional.empty();
    }
    QueueTask task = found.get();
    long now = ledger.nowMillis();
    Run run = new Run(id, queue.id(), node.name(), claim, Status.CLAIMED, null, now, 0);
    if (Status.isActive(task.status())) {
      orphan(run, task);
      return Optional.empty();
    }
    QueueTask claimed = task.with(task.progress().on(node.name(), Status.CLAIMED, now));
    Transaction transaction =
        Transaction.by(claim.owner())
            .depend(kernel.ref())
            .put(Keys.task(id), task.place().version(), TaskForm.write(claimed, null))
            .put(Keys.run(id), DocumentVersion.ABSENT, RunForm.write(run))
            .build();
    Outcome.Done done = ledger.commit(transaction);
    return Optional.ofNullable(done).map(answer -> RunForm.read(answer.documents().get(1)));
  }

  /** A claim that ran out before anybody noticed: the work was lost with it. */
  private void orphan(Run run, QueueTask task) {
    try {
      endings.end(run, task, Orphans.lost(task, "its claim ran out"));
    } catch (LostClaimException _) {
      // Somebody else has seen to it.
    }
  }
}
