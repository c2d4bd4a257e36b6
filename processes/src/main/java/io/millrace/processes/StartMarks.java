package io.millrace.processes;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * When processes started, in the form that {@code begin.sh} writes. Not {@link
 * ProcessHandle.Info#startInstant()}: on Linux it is reckoned from the wall clock, so that two JVMs
 * may see two starts of one process.
 */
final class StartMarks {
  private static final Path PROC = Path.of("/proc");

  private StartMarks() {}

  /** Whether this process, and no later one with its pid, is alive. */
  static boolean isAlive(ProcessIdentity identity) {
    return of(identity.pid()).filter(identity.startMark()::equals).isPresent();
  }

  /**
   * Whether the process group that the process led may be there still: its pid is not given to
   * others while it is in use as the id of a group.
   */
  static boolean mayHaveGroup(ProcessIdentity leader) {
    Optional<String> mark = of(leader.pid());
    return mark.isPresent() ? mark.get().equals(leader.startMark()) : isOfThisBoot(leader);
  }

  /** Whether it was started since this machine's boot; where that cannot be told, yes. */
  static boolean isOfThisBoot(ProcessIdentity identity) {
    try {
      return !hasProc() || identity.startMark().startsWith(bootId() + ":");
    } catch (IOException e) {
      throw new ProcessException("the id of this boot cannot be read: " + e, e);
    }
  }

  /** The mark of the process that has the pid now; a zombie counts as gone. */
  static Optional<String> of(long pid) {
    try {
      return hasProc() ? fromProc(pid) : fromPs(pid);
    } catch (IOException e) {
      throw new ProcessException("the start of process " + pid + " cannot be read: " + e, e);
    }
  }

  private static boolean hasProc() {
    return Files.exists(PROC.resolve("self/stat"));
  }

  private static String bootId() throws IOException {
    return Files.readString(PROC.resolve("sys/kernel/random/boot_id")).strip();
  }

  private static Optional<String> fromProc(long pid) throws IOException {
    Optional<ProcessStat> stat = ProcessStat.of(pid).filter(ProcessStat::isAlive);
    return stat.isEmpty() ? Optional.empty() : Optional.of(bootId() + ":" + stat.get().start());
  }

  static Optional<String> fromPs(long pid) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(List.of("/bin/ps", "-o", "stat=,lstart=", "-p", Long.toString(pid)));
    builder.environment().putAll(Map.of("LC_ALL", "C", "TZ", "UTC0"));
    Process ps = builder.redirectErrorStream(true).start();
    ps.getOutputStream().close();
    String line;
    try (var out = ps.getInputStream()) {
      line = new String(out.readAllBytes(), StandardCharsets.US_ASCII).strip();
    }
    List<String> words = List.of(line.split("\\s+", -1));
    if (words.size() < 2 || words.getFirst().startsWith("Z")) {
      return Optional.empty();
    }
    return Optional.of(String.join(" ", words.subList(1, words.size())));
  }
}
