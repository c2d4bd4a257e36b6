package io.millrace.cluster.remote;

import io.millrace.cluster.lambda.LambdaCodec;
import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.member.ClusterWork;
import io.millrace.cluster.partition.PartitionRunner;
import io.millrace.cluster.remote.dispatch.Dispatcher;

/**
 * A program that submits lambdas to the members of a cluster. It runs on the leader. If another
 * member becomes the leader, the program starts again there, from the documents.
 *
 * <pre>{@code
 * executor -> {
 *   Backlog files = executor.backlog("files");
 *   while (true) {
 *     List<RemoteMember> idle = executor.idleMembers();
 *     files.add(namesOf(folder));
 *     Iterator<String> next = files.take(idle.size(), Duration.ofSeconds(1)).iterator();
 *     for (RemoteMember member : idle) {
 *       if (next.hasNext()) {
 *         String file = next.next();
 *         member.submit(() -> { download(file); Backlog.named("files").commit(file); return null; })
 *             .onFailureOrTimeout(() -> { member.markDead(); files.reEnqueue(file); });
 *       }
 *     }
 *   }
 * }
 * }</pre>
 */
@FunctionalInterface
public interface RemoteWork {
  /**
   * Runs the program on a thread of its own. On that thread, {@code Member.current()} is the leader
   * and {@code Member.guard()} the proof that it leads. The thread is interrupted when leadership
   * is lost.
   *
   * <p>A program that returns is not run again while this member leads; its lambdas continue, and
   * handlers run. The next leader runs it again.
   *
   * @throws Exception if it failed: after a lease the leader begins a new generation, in which the
   *     program runs again
   */
  void lead(RemoteExecutor executor) throws Exception;

  /**
   * The work of a cluster in which the leader runs this program and all members run the lambdas
   * that it submits.
   *
   * @param codec seals and opens lambdas; has the same secret on all members
   */
  default ClusterWork clusterWork(LambdaCodec codec) {
    return new ClusterWork(
        member -> new LambdaRunner(member, codec),
        PartitionRunner.Mode.ADDRESSED,
        member ->
            new Leader(
                member.context(),
                new Dispatcher(member.context(), new ProgramRunner(member, this, codec))));
  }
}
