package io.millrace.processes;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What Linux tells of a process in {@code /proc/PID/stat}.
 *
 * @param pid its id
 * @param state a letter
 * @param group the id of its process group
 * @param session the id of its session
 * @param start when it started, in ticks since the boot
 */
record ProcessStat(long pid, String state, long group, long session, String start) {
  private static final Path PROC = Path.of("/proc");

  /** Of the process that has the pid now. */
  static Optional<ProcessStat> of(long pid) throws IOException {
    return of(Long.toString(pid));
  }

  /** Of this process. */
  static Optional<ProcessStat> own() throws IOException {
    return of("self");
  }

  /** Of all processes that can be seen; none where the system has no such folder. */
  static List<ProcessStat> all() throws IOException {
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
    List<ProcessStat> all = new ArrayList<>(pids.size());
    for (String pid : pids) {
      of(pid).ifPresent(all::add);
    }
    return all;
  }

  private static Optional<ProcessStat> of(String pid) throws IOException {
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
        new ProcessStat(
            Long.parseLong(stat.substring(0, stat.indexOf(' '))),
            fields[0],
            Long.parseLong(fields[2]),
            Long.parseLong(fields[3]),
            fields[19]));
  }

  /** Whether it has not ended; a zombie has. */
  boolean isAlive() {
    return !state.equals("Z") && !state.equals("X");
  }
}
