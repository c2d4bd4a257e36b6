package io.millrace.queues.registry;

import io.millrace.queues.NodeRecord;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output.OutputRecovery;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend.Runs.AwaitedRun;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueuesException.LostClaimException;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.store.Claim;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.When;
import io.millrace.work.policy.Policy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Claims tasks for a node: a short claim in the kernel first, then a record of the run, which
 * extends the claim. If the node ends in between, or never gets the answer, the slot is soon free
 * again.
 */
final class Claiming {
  /** How long a claim keeps its turn among those that wait for the same limits. */
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(20);

  private final QueueSession session;
  private final RunEnd endings;
  private final NodeRecord node;
  private final Queue queue;
  private final Duration lease;
  private final OutputRecovery recovery;

  Claiming(
      QueueSession session, NodeRecord node, Queue queue, Duration lease, OutputRecovery recovery) {
    this.session = session;
    this.endings = new RunEnd(session);
    this.node = node;
    this.queue = queue;
    this.lease = lease;
    this.recovery = recovery;
  }

  List<Run> claim(int most) {
    int limit = queue.settings().limit();
    int wanted = Math.min(most, limit);
    List<Run> runs = new ArrayList<>();
    while (runs.size() < wanted) {
      int asked = wanted - runs.size();
      Owner client = Owner.client(session.newClient());
      if (!(session.store().claim(claim(client, asked)) instanceof Outcome.Done done)) {
        break;
      }
      runs.addAll(record(client, done.tasks()));
      if (done.tasks().size() < asked) {
        break;
      }
    }
    return runs;
  }

  private Claim claim(Owner client, int count) {
    return Claim.of(client, queue.waitingGroup(), shorter(lease, RunRegistry.UNTIL_RECORDED))
        .withCount(count)
        .withOrder(queue.settings().sort().claimOrder())
        .withLimit(queue.settings().limit())
        .withDepends(List.of(queue.place().byId(), node.place().byId()));
  }

  /** Has one task claimed as soon as there is room for it. */
  AwaitedRun await(Runnable whenDone) {
    Owner client = Owner.client(session.newClient());
    CompletableFuture<Outcome> answer =
        session.store().submit(claim(client, 1).withWait(LONGEST_WAIT));
    var _ = answer.whenComplete((_, _) -> whenDone.run());
    return new AwaitedRun() {
      @Override
      public boolean isDone() {
        return answer.isDone();
      }

      @Override
      public List<Run> take() {
        return answer.isCompletedExceptionally() || !(answer.join() instanceof Outcome.Done done)
            ? List.of()
            : record(client, done.tasks());
      }

      @Override
      public void cancel() {
        answer.cancel(false);
      }
    };
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  /** A kernel task that was claimed, with the queue task for which it stands. */
  private record Taken(Task kernel, QueueTask task, Run run) {}

  private List<Run> record(Owner client, List<Task> kernels) {
    List<Taken> taken = new ArrayList<>(kernels.size());
    for (Task kernel : kernels) {
      look(client, kernel).ifPresent(taken::add);
    }
    if (taken.isEmpty()) {
      return List.of();
    }
    List<Run> together = commit(client, taken);
    if (together != null) {
      return together;
    }
    List<Run> runs = new ArrayList<>();
    for (Taken each : taken) {
      List<Run> alone = commit(client, List.of(each));
      if (alone == null) {
        release(client, each);
      } else {
        runs.addAll(alone);
      }
    }
    return runs;
  }

  /**
   * The queue task of a kernel task; empty if it cannot be run, after the kernel task was cleaned
   * up.
   */
  private Optional<Taken> look(Owner client, Task kernel) {
    Run.Claim claim = new Run.Claim(client.client(), kernel.origin(), kernel.token());
    ObjectId id = new ObjectId(kernel.data().utf8());
    Optional<QueueTask> found = session.document(Keys.task(id)).map(QueueTask::read);
    if (found.isEmpty() || found.get().place().task() != kernel.origin()) {
      session.tryCommit(Transaction.by(client).delete(kernel.ref()).build());
      return Optional.empty();
    }
    QueueTask task = found.get();
    Policy policy = task.policy().over(queue.settings().policy());
    Run run =
        new Run(
            id,
            queue.id(),
            node.name(),
            claim,
            Status.CLAIMED,
            null,
            session.nowMillis(),
            0,
            policy.timeout().map(Duration::toMillis).orElse(0L),
            null);
    if (Status.isActive(task.status())) {
      orphan(run, task);
      return Optional.empty();
    }
    return Optional.of(new Taken(kernel, task, run));
  }

  /** Records claims if the definition of the node has not changed; null if anything has changed. */
  private @Nullable List<Run> commit(Owner client, List<Taken> taken) {
    Transaction.Builder transaction = Transaction.by(client).depend(node.place().byId());
    for (Taken each : taken) {
      QueueTask task = each.task();
      Run run = each.run();
      QueueTask claimed =
          task.with(task.progress().on(node.name(), Status.CLAIMED, run.sinceMillis()));
      transaction
          .renew(each.kernel().ref(), lease)
          .put(Keys.task(run.task()), task.place().version(), QueueTask.write(claimed, null))
          .put(Keys.run(run.task()), DocumentVersion.ABSENT, Run.write(run));
    }
    Outcome.Done done = session.tryCommit(transaction.build());
    if (done == null) {
      return null;
    }
    List<Run> runs = new ArrayList<>(taken.size());
    for (int i = 0; i < taken.size(); i++) {
      Run run = Run.read(done.documents().get(2 * i + 1));
      runs.add(run.with(Run.TaskDocument.of(done.documents().get(2 * i))));
    }
    return runs;
  }

  /** Releases a claim that could not be recorded; the task keeps its place in the order. */
  private void release(Owner client, Taken taken) {
    When before = new When.At(Math.max(0, taken.task().ctimeMillis() - 1));
    Transaction.Builder transaction =
        Transaction.by(client).update(taken.kernel().ref(), null, before);
    QueueRegistry.ring(transaction, queue.id());
    session.tryCommit(transaction.build());
  }

  /** Ends a run whose claim expired without a report; its work is lost. */
  private void orphan(Run run, QueueTask task) {
    Optional<Run> lost = session.document(Keys.run(run.task())).map(Run::read);
    try {
      lost.ifPresent(was -> endings.end(run, task, recovery.report(was, "its claim ran out")));
    } catch (LostClaimException _) {
      // Another process has ended it already.
    }
  }
}
