package io.millrace.processes;

import java.io.IOException;

/**
 * Keeps who leads a group of processes, for whoever is to end the group when the process that
 * guards it has died. Not told of groups that are known without it.
 */
@FunctionalInterface
public interface GroupRecord {
  /**
   * The program has started and waits for its first step. Called once; what it throws ends the
   * program, which has done nothing then.
   */
  void begun(ProcessIdentity leader) throws IOException;

  /** Nothing of the group lives any more. Called once after {@link #begun}. */
  default void ended() {}
}
