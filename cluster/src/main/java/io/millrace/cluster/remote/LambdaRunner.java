package io.millrace.cluster.remote;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.lambda.LambdaCodec;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.member.ThreadAttempt;
import io.millrace.cluster.partition.Partition;
import io.millrace.cluster.partition.PartitionHandler;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.remote.outcome.Outcome;
import io.millrace.cluster.remote.outcome.RemoteFailure;
import java.util.Base64;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the lambdas that are addressed to this member, each on a thread of its own, and writes their
 * outcomes.
 */
final class LambdaRunner implements PartitionHandler {
  private static final Logger LOG = LoggerFactory.getLogger(LambdaRunner.class);

  private final Member member;
  private final LambdaCodec codec;
  private final LambdaAdmission admission;

  LambdaRunner(Member member, LambdaCodec codec) {
    this.member = member;
    this.codec = codec;
    this.admission =
        new LambdaAdmission(
            member.context().token(), envelope -> codec.openLambda(envelope).address());
  }

  @Override
  public boolean accepts(Partition partition) {
    return admission.admits(partition);
  }

  @Override
  public Attempt start(PartitionName name, byte[] task, Guard guard) {
    boolean isNew = admission.begin(name);
    return ThreadAttempt.start(
        "lambda-" + guard.fence(),
        member,
        guard,
        attempt -> isNew && run(name, task, guard, attempt));
  }

  private boolean run(PartitionName name, byte[] task, Guard guard, ThreadAttempt attempt) {
    try {
      Optional<Outcome> outcome = outcome(name, codec.openLambda(task), guard, attempt);
      if (outcome.isEmpty()) {
        return false;
      }
      // An interrupt that the lambda caused ends with it.
      boolean interrupted = Thread.interrupted();
      LOG.debug("{} ended, interrupted: {}", name.key(), interrupted);
      new RetryingWriter(guard, member.context().terms())
          .repeat(() -> outcome.get().write(member.context().documents(), name, guard.fence()));
      return true;
    } catch (ClusterException e) {
      if (attempt.isToStop()) {
        LOG.info("{} was stopped before its outcome was written", name.key());
      } else {
        LOG.warn("The outcome of {} could not be written: {}", name.key(), e.getMessage());
      }
      return false;
    }
  }

  /** Anything that the lambda throws is its outcome, unless it was stopped. */
  private Optional<Outcome> outcome(
      PartitionName name, LambdaCodec.SealedLambda sealed, Guard guard, ThreadAttempt attempt) {
    try {
      Object value = member.run(guard, () -> sealed.lambda().run());
      byte[] result = codec.sealResult(sealed.address(), value);
      return Optional.of(new Outcome.Done(Base64.getEncoder().encodeToString(result)));
    } catch (Throwable e) {
      if (attempt.isToStop()) {
        LOG.info("{} was stopped", name.key());
        return Optional.empty();
      }
      LOG.info("{} failed", name.key(), e);
      return Optional.of(new Outcome.Failed(RemoteFailure.of(e)));
    }
  }
}
