package io.millrace.processes;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** A process of its own that starts programs one after the other, as fast as it can, for a test. */
final class SessionHost {
  private SessionHost() {}

  /**
   * A command that becomes one, the leader of a session, which runs this script again and again.
   */
  static List<String> command(ProcessLauncher launcher, String script, Path folder) {
    return launcher.inOwnSession(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            SessionHost.class.getName(),
            script,
            folder.toString()));
  }

  /** Says "ready", then starts until it dies. */
  public static void main(String[] args) throws IOException, InterruptedException {
    Watchdog watchdog = new Watchdog(ProcessLauncher.create(), ProcessHandle.current().pid());
    watchdog.startDirectly();
    while (watchdog.direct() == null) {
      LockSupport.parkNanos(1_000_000);
    }
    System.out.println("ready");
    while (true) {
      ProcessBuilder builder =
          new ProcessBuilder("sh", "-c", args[0])
              .directory(Path.of(args[1]).toFile())
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD);
      GuardedGroup _ = GuardedGroup.start(builder, Path.of("/dev/null"), leader -> {}, watchdog);
    }
  }
}
