package io.millrace.queues.node;

/**
 * The machine of a node, and its processes. The identity of a process is as {@link
 * io.millrace.processes.ProcessIdentity} writes it.
 */
public interface Machine {
  /** Its name. */
  String host();

  /** The identity of this process. */
  String process();

  /** Whether a process of this machine is alive. */
  boolean isAlive(String process);

  /** Whether a process was started on this machine since its boot, as far as can be told. */
  boolean isOurs(String process);
}
