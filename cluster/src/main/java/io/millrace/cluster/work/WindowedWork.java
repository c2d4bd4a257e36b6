package io.millrace.cluster.work;

import io.millrace.cluster.lock.Guard;
import java.util.List;

/**
 * Work whose tasks appear over time, such as files in a folder. The leader assigns as many as the
 * workers can begin soon. Tasks of a member that is gone are assigned again after the lease.
 */
public interface WindowedWork extends WorkerCode {
  /**
   * The next tasks; called by the leader, often.
   *
   * @param outstanding tasks that are assigned already; if one is returned, it is ignored
   * @param max the maximum number of tasks, at least 1
   * @return tasks that are not done, all different; empty if there are none at present
   */
  List<byte[]> next(List<byte[]> outstanding, int max);

  /**
   * Records that a task is done. Called by the leader, and repeated until it returns; the task is
   * removed after that. From then on {@link #next} should not return the task any more. It may be
   * called more than once for a task if leaders change.
   *
   * @param leader proof that the caller leads
   */
  void completed(byte[] task, Guard leader);

  /**
   * Whether tasks take so long that members with more than their share should stop and release some
   * when other members join. False by default: short tasks stay with their member.
   */
  default boolean isLong() {
    return false;
  }
}
