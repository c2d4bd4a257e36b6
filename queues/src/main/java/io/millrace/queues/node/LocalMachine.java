package io.millrace.queues.node;

import io.millrace.processes.ProcessIdentity;
import io.millrace.processes.ProcessLauncher;
import java.net.InetAddress;
import java.net.UnknownHostException;

/** This machine, and this process on it. Safe for use by any number of threads. */
public final class LocalMachine implements Machine {
  private final ProcessLauncher launcher;
  private final String host;
  private final String process;

  private LocalMachine(ProcessLauncher launcher, String host, String process) {
    this.launcher = launcher;
    this.host = host;
    this.process = process;
  }

  /**
   * Looks at this machine.
   *
   * @throws io.millrace.processes.ProcessException when it lacks what is needed to see processes
   */
  public static LocalMachine look() {
    ProcessLauncher launcher = ProcessLauncher.create();
    String process =
        launcher
            .identify(ProcessHandle.current().pid())
            .map(ProcessIdentity::toString)
            .orElseThrow(() -> new IllegalStateException("this process cannot be identified"));
    return new LocalMachine(launcher, hostName(), process);
  }

  /** The name of this machine; {@code localhost} if it has none. */
  public static String hostName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException _) {
      return "localhost";
    }
  }

  @Override
  public String host() {
    return host;
  }

  @Override
  public String process() {
    return process;
  }

  @Override
  public boolean isAlive(String other) {
    return launcher.isAlive(ProcessIdentity.parse(other));
  }

  @Override
  public boolean isOurs(String other) {
    return launcher.isOfThisBoot(ProcessIdentity.parse(other));
  }
}
