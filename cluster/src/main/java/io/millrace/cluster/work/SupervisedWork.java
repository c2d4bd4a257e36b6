package io.millrace.cluster.work;

import java.util.List;

/**
 * Work that is divided among the members, such as the partitions of a topic. When members come or
 * go all of it stops, is divided again and started again. A part whose work returns is not started
 * again before that.
 */
public interface SupervisedWork extends WorkerCode {
  /**
   * Divides the work; called by the leader.
   *
   * @param workers how many workers the members have together, at least 1
   * @return the parts, no two alike; more than there are workers wait for one
   */
  List<byte[]> divide(int workers);
}
