package io.millrace.cluster.partition;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.lock.Tenure;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A partition that a member holds, and its work on it. Used by one thread. */
final class Holding {
  private static final Logger LOG = LoggerFactory.getLogger(Holding.class);

  private final PartitionName name;
  private final Tenure tenure;
  private final Work.Attempt attempt;
  private boolean givesBack;

  Holding(PartitionName name, Tenure tenure, Work.Attempt attempt) {
    this.name = name;
    this.tenure = tenure;
    this.attempt = attempt;
  }

  PartitionName name() {
    return name;
  }

  /** Has the work stop, so that the partition can be had by others. */
  void giveBack() {
    if (!givesBack) {
      givesBack = true;
      attempt.stop();
    }
  }

  boolean isGivenBack() {
    return givesBack;
  }

  long nextMillis() {
    return tenure.nextMillis();
  }

  /**
   * Keeps the partition as long as it is worked on, and settles it then. Work that failed is left
   * to its lease: whoever takes it next begins no sooner than that.
   *
   * @return whether a worker is still busy with it
   */
  boolean step() {
    boolean held = tenure.step();
    if (attempt.state() == Work.State.RUNNING) {
      if (!held) {
        giveBack();
      }
      return true;
    }
    return held && !settle();
  }

  private boolean settle() {
    try {
      if (attempt.state() == Work.State.SUCCEEDED) {
        if (!tenure.finish()) {
          LOG.info("{} was done too late: others have it", name.key());
        }
      } else if (givesBack) {
        tenure.release();
      } else {
        LOG.warn("Work on {} failed; it is left to its lease", name.key());
      }
      return true;
    } catch (ClusterException e) {
      LOG.debug("{} could not be settled, and will be again", name.key(), e);
      return givesBack;
    }
  }
}
