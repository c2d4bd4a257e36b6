package io.millrace.queues.node;

/**
 * The machine that a node runs on, and what can be seen of its processes. An identity of a process
 * is what {@link io.millrace.processes.ProcessIdentity} writes.
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
