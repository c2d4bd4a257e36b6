package io.millrace.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Processor time of a server, its runners and the programs that these ran, in milliseconds; zero
 * where the system does not tell.
 */
record Usage(double server, double runners, double programs) {
  private static final double TICK_MILLIS = 10;

  /** Of a server. */
  static Usage ofServer(long pid) {
    return new Usage(ticks(pid, 11) + ticks(pid, 12), 0, 0);
  }

  /** Of a runner and of those of its programs that have ended. */
  static Usage ofRunner(long pid) {
    return new Usage(0, ticks(pid, 11) + ticks(pid, 12), ticks(pid, 13) + ticks(pid, 14));
  }

  /** A field of /proc/PID/stat, counted from the one after the name. */
  private static double ticks(long pid, int field) {
    try {
      String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      return Long.parseLong(fields[field]) * TICK_MILLIS;
    } catch (IOException e) {
      return 0;
    }
  }

  Usage plus(Usage other) {
    return new Usage(server + other.server, runners + other.runners, programs + other.programs);
  }

  Usage since(Usage before) {
    return new Usage(server - before.server, runners - before.runners, programs - before.programs);
  }

  /** For each of so many tasks. */
  String describe(int tasks) {
    return String.format(
        Locale.ROOT,
        "ms/task: server %.1f, runner %.1f, program %.1f",
        server / tasks,
        runners / tasks,
        programs / tasks);
  }
}
