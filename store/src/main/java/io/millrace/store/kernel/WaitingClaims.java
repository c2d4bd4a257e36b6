package io.millrace.store.kernel;

import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.kernel.state.Group;
import io.millrace.store.kernel.state.State;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Answers the claims that wait for a task. For use by the loop's thread. */
final class WaitingClaims {
  private final Engine engine;
  private final CommitPipeline pipeline;
  private final Limits limits;
  private final ClaimQueue waiting = new ClaimQueue();

  WaitingClaims(Engine engine, CommitPipeline pipeline, Limits limits) {
    this.engine = engine;
    this.pipeline = pipeline;
    this.limits = limits;
  }

  int size() {
    return waiting.size();
  }

  /** When the next wait ends; {@link Long#MAX_VALUE} if no claim waits. */
  long nextDueMillis() {
    return waiting.nextDueMillis();
  }

  /** Adds a claim; returns the refusal if too many are waiting, otherwise null. */
  Outcome.@Nullable Refused admit(Submission submission, Claim claim, long nowMillis) {
    if (waiting.size() >= limits.waitingClaims()) {
      String message = waiting.size() + " claims are already waiting, which is the limit";
      return engine.refuse(List.of(Reason.of(Kind.FULL, message)), nowMillis);
    }
    long deadline = Math.min(nowMillis + claim.waitMillis(), Limits.LARGEST_NUMBER);
    waiting.add(submission, claim, deadline);
    return null;
  }

  /** Removes a cancelled claim, if it waits. */
  void cancel(Submission submission) {
    waiting.cancel(submission);
  }

  /** Offers tasks that have become available to the waiting claims. */
  void serve(long nowMillis) {
    State state = engine.state();
    if (waiting.isEmpty()) {
      state.clearGroupsWithWork();
      return;
    }
    for (List<String> groupsWithWork = state.takeGroupsWithWork();
        !groupsWithWork.isEmpty();
        groupsWithWork = state.takeGroupsWithWork()) {
      waiting.serve(
          new LinkedHashSet<>(groupsWithWork),
          this::hasTasks,
          waiter -> attempt(waiter, nowMillis));
    }
  }

  private boolean hasTasks(String name) {
    Group group = engine.state().group(name);
    return group != null && group.waitingCount() > 0;
  }

  private boolean attempt(ClaimQueue.Waiter waiter, long nowMillis) {
    CompletableFuture<Outcome> future = waiter.submission().answer();
    if (future.isDone()) {
      return true;
    }
    Outcome outcome = engine.execute(waiter.claim(), nowMillis);
    if (outcome == null) {
      return false;
    }
    pipeline.reply(future, outcome);
    waiting.cancel(waiter.submission());
    answerDuplicates(waiter.claim(), nowMillis);
    return true;
  }

  /** Answers the waiting repetitions of a request that has just been answered. */
  void answerDuplicates(Command command, long nowMillis) {
    String requestId = command.requestId();
    if (requestId == null || waiting.isEmpty()) {
      return;
    }
    String principal = command.client().principal();
    if (engine.state().requests().find(principal, requestId, nowMillis) != null) {
      for (ClaimQueue.Waiter duplicate : waiting.duplicates(command)) {
        answerNow(duplicate, nowMillis);
      }
    }
  }

  /** Answers the claims whose wait has ended. */
  void expire(long nowMillis) {
    for (ClaimQueue.Waiter waiter = waiting.expire(nowMillis);
        waiter != null;
        waiter = waiting.expire(nowMillis)) {
      answerNow(waiter, nowMillis);
    }
  }

  /** Answers a claim without further waiting: with the tasks available now, or with none. */
  private void answerNow(ClaimQueue.Waiter waiter, long nowMillis) {
    CompletableFuture<Outcome> future = waiter.submission().answer();
    if (!future.isDone()) {
      Claim last = waiter.claim().withWait(Duration.ZERO);
      pipeline.reply(future, Objects.requireNonNull(engine.execute(last, nowMillis)));
    }
  }

  /** Rejects all claims, in the order of their arrival. */
  void close(RuntimeException why) {
    for (ClaimQueue.Waiter waiter : waiting.drain()) {
      waiter.submission().reject(why);
    }
  }
}
