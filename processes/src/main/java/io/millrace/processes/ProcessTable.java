package io.millrace.processes;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The processes of this machine. Which process a pid belongs to is told by the mark of its start,
 * in the form that {@code begin.sh} writes. Not {@link ProcessHandle.Info#startInstant()}: on Linux
 * it is computed from the wall clock, so that two JVMs may see two starts of one process.
 */
final class ProcessTable {
  private static final Path PROC = Path.of("/proc");

  private ProcessTable() {}

  /**
   * What Linux tells about a process in {@code /proc/PID/stat}.
   *
   * @param pid its id
   * @param state a letter
   * @param group the id of its process group
   * @param session the id of its session
   * @param start when it started, in ticks since the boot
   */
  record Stat(long pid, String state, long group, long session, String start) {
    /** Whether it has not ended; a zombie has. */
    boolean isAlive() {
      return !state.equals("Z") && !state.equals("X");
    }
  }

  /** Whether this process, and no later one with its pid, is alive. */
  static boolean isAlive(ProcessIdentity identity) {
    return startMark(identity.pid()).filter(identity.startMark()::equals).isPresent();
  }

  /**
   * Whether the process group that the process led may still exist: its pid is not given to others
   * while it is in use as the id of a group.
   */
  static boolean mayHaveGroup(ProcessIdentity leader) {
    Optional<String> mark = startMark(leader.pid());
    return mark.isPresent() ? mark.get().equals(leader.startMark()) : isOfThisBoot(leader);
  }

  /** Whether it was started since this machine's boot; true if that cannot be told. */
  static boolean isOfThisBoot(ProcessIdentity identity) {
    try {
      return !hasProc() || identity.startMark().startsWith(bootId() + ":");
    } catch (IOException e) {
      throw new ProcessException("the id of this boot cannot be read: " + e, e);
    }
  }

  /** The mark of the process that has the pid now; a zombie counts as gone. */
  static Optional<String> startMark(long pid) {
    try {
      if (!hasProc()) {
        return startMarkFromPs(pid);
      }
      Optional<Stat> stat = stat(Long.toString(pid)).filter(Stat::isAlive);
      return stat.isEmpty() ? Optional.empty() : Optional.of(bootId() + ":" + stat.get().start());
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

  static Optional<String> startMarkFromPs(long pid) throws IOException {
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

  /** All processes that can be seen; none on systems without {@code /proc}. */
  static List<Stat> all() throws IOException {
    List<String> pids;
    try (Stream<Path> entries = Files.list(PROC)) {
      pids =
          entries
              .map(entry -> entry.getFileName().toString())
              .filter(name -> name.chars().allMatch(Character::isDigit))
              .toList();
    } catch (NoSuchFileException e) {
      return List.of();
    }
    List<Stat> all = new ArrayList<>(pids.size());
    for (String pid : pids) {
      stat(pid).ifPresent(all::add);
    }
    return all;
  }

  /** This process. */
  static Optional<Stat> own() throws IOException {
    return stat("self");
  }

  private static Optional<Stat> stat(String pid) throws IOException {
    String stat;
    try {
      stat = Files.readString(PROC.resolve(pid + "/stat"), StandardCharsets.ISO_8859_1);
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      // A process that ends while it is read gives ESRCH.
      if (Files.exists(PROC.resolve(pid))) {
        throw e;
      }
      return Optional.empty();
    }
    // The second field is a name in parentheses that may hold anything, so count from its end.
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    return Optional.of(
        new Stat(
            Long.parseLong(stat.substring(0, stat.indexOf(' '))),
            fields[0],
            Long.parseLong(fields[2]),
            Long.parseLong(fields[3]),
            fields[19]));
  }
}
