package io.millrace.cluster.work;

import io.millrace.cluster.lock.Guard;
import java.util.List;

/**
 * Work whose tasks appear over time, such as files in a folder. The leader gives out as many as the
 * workers can begin soon. Tasks of a member that is gone are given out again after the lease.
 */
public interface WindowedWork extends WorkerCode {
  /**
   * The next tasks; called by the leader, often.
   *
   * @param outstanding tasks that are given out already; if one is returned it is ignored
   * @param most how many tasks there is room for, at least 1
   * @return tasks that are not done, no two alike; empty if there are none at present
   */
  List<byte[]> next(List<byte[]> outstanding, int most);

  /**
   * A task is done; called by the leader until it returns, before the task is forgotten. After it,
   * {@link #next} should not bring the task up again. It may be called more than once for a task,
   * when leaders change.
   *
   * @param leader proof that the caller leads
   */
  void completed(byte[] task, Guard leader);

  /**
   * Whether tasks take so long that members with more than their share should stop some and give
   * them back when others join. False by default: short tasks stay with their member.
   */
  default boolean isLong() {
    return false;
  }
}
