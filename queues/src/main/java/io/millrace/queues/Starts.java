package io.millrace.queues;

import io.millrace.store.Outcome;
import io.millrace.store.Transaction;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How a run begins: its task and its document move on, and its claim is prolonged, in one step. */
final class Starts {
  private final QueueSession session;

  Starts(QueueSession session) {
    this.session = session;
  }

  /**
   * Moves a run from claimed to running, or finds that this runner has done so before.
   *
   * <p>Usually the run is as the node has handed it over, and only its task has to be read. The
   * whole look is for the answer that was lost, and for what came in between.
   *
   * @throws LostClaimException when the run is not this claim's any more
   */
  Started start(Run run, String runner, Duration lease) {
    Started usual = commit(run, session.taskOf(run), runner, lease);
    return usual != null
        ? usual
        : session.retry("task " + run.task(), () -> look(run, runner, lease));
  }

  private @Nullable Started look(Run run, String runner, Duration lease) {
    Run now = session.own(run);
    QueueTask task = session.taskOf(run);
    if (now.status() != Status.RUNNING) {
      return commit(now, task, runner, lease);
    }
    if (!runner.equals(now.runner())) {
      throw new LostClaimException("task " + run.task() + " was started by another runner");
    }
    // The lease counts from this answer, not from the one that was lost.
    Transaction renewal =
        Transaction.by(run.claim().owner()).renew(run.claim().ref(), lease).build();
    return session.commitFor(run, renewal) == null ? null : new Started(now, task);
  }

  private @Nullable Started commit(Run now, QueueTask task, String runner, Duration lease) {
    Run next =
        new Run(
            now.task(),
            now.queue(),
            now.node(),
            now.claim(),
            Status.RUNNING,
            runner,
            session.nowMillis(),
            0);
    QueueTask running =
        task.with(task.progress().on(now.node(), Status.RUNNING, next.sinceMillis()));
    Transaction transaction =
        Transaction.by(now.claim().owner())
            .renew(now.claim().ref(), lease)
            .put(Keys.task(now.task()), task.place().version(), TaskForm.write(running, null))
            .put(Keys.run(now.task()), now.version(), RunForm.write(next))
            .build();
    Outcome.Done done = session.commitFor(now, transaction);
    return done == null
        ? null
        : new Started(
            RunForm.read(done.documents().get(1)), TaskForm.read(done.documents().get(0)));
  }
}
