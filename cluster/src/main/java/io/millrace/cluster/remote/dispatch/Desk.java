package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.partition.PartitionName;

/** What a director gives its orders to, during one turn. */
public interface Desk {
  /** The members and what they have from before. */
  View view();

  /** Has a member run a lambda. */
  void submit(Submission submission);

  /** Has a submission removed unless it is done; nothing where it has ended. */
  void cancel(PartitionName name);

  /** Takes note of a member that was marked as dead just now. */
  void marked(String token);
}
