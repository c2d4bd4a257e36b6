package io.millrace.cluster.remote;

import io.millrace.cluster.lambda.LambdaCodec;
import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.member.Duty;
import io.millrace.cluster.partition.Follower;
import io.millrace.cluster.remote.dispatch.RemoteHandout;
import io.millrace.cluster.remote.execution.RemoteExecution;

/** Remote work as what the members of a cluster are there for. */
public final class RemoteDuty {
  private RemoteDuty() {}

  /**
   * Has whichever member leads run a program, and all members what that submits.
   *
   * @param codec seals and opens lambdas; with the same secret on all members
   */
  public static Duty of(RemoteWork work, LambdaCodec codec) {
    return new Duty(
        seat -> new RemoteExecution(seat, codec),
        Follower.Custom.ADDRESSED,
        seat ->
            Leader.of(
                seat.station(), new RemoteHandout(seat.station(), new Program(seat, work, codec))));
  }
}
