package io.millrace.client;

import io.millrace.store.Owner;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/**
 * While a claim is renewed its work ends and the worker stops: the task ends once, and no renewal
 * passes its end or names it by an id that it had before.
 */
public class LeaseRenewalsLincheckTest {
  /** How many scenarios are drawn; more with {@code -Pfull}. */
  private static final int SCENARIOS = Integer.getInteger("millrace.lincheck.scenarios", 3);

  private static final Owner ME = Owner.client(1);
  private static final Duration LEASE = Duration.ofMinutes(3);

  private final AtomicLong nanos = new AtomicLong();
  private final OneTaskStore store = new OneTaskStore(ME);
  private final LeaseRenewals renewals = new LeaseRenewals(store, ME, LEASE, nanos::get);
  private final Completion completion =
      new Completion(store, WorkerOptions.of("group").withClient(ME), nanos::get, () -> false);
  private final ClaimedTask work = renewals.hold(store.task());
  private volatile boolean ended;

  /** Another third of the lease is over. */
  @Operation(nonParallelGroup = "renewer")
  public void renew() {
    renewals.step(nanos.addAndGet(LEASE.toNanos() / 3));
  }

  /** The handler has done its work. */
  @Operation(runOnce = true)
  public void finish() {
    completion.finish(work, TaskResult.done());
    renewals.drop(work);
    ended = true;
  }

  /** The worker stops and waits no longer. */
  @Operation(runOnce = true)
  public void release() {
    for (ClaimedTask each : renewals.held()) {
      completion.release(each);
      each.lose();
    }
  }

  /** When all is over. */
  @Validate
  public void checkTask() {
    require(store.refused() == 0, "something was done to a task that was another by then");
    require(!ended || (store.isEnded() && work.over), "the task did not end");
    require(work.ref.id() == store.task().id() || work.over, "the task has another id");
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new IllegalStateException(otherwise);
    }
  }

  /** No interleaving can be repeated, as the set of all that is held goes by their identity. */
  @Test
  void threads_at_full_speed_are_linear() {
    // Threads wait for each other by spinning: more of them than processors only take turns.
    new StressOptions()
        .iterations(SCENARIOS)
        .invocationsPerIteration(300)
        .threads(2)
        .actorsPerThread(3)
        .check(LeaseRenewalsLincheckTest.class);
  }
}
