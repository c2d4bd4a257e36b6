package io.millrace.cli.storm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the commands of a graph wrote about themselves into one file, a line for each begin and each
 * end. The order of the lines is that in which they happened.
 */
final class CommandLog {
  /** An attempt of a node. */
  record Run(String node, int attempt) {}

  private final Map<Run, List<Integer>> begins = new HashMap<>();
  private final Map<Run, List<Integer>> ends = new HashMap<>();

  /** The beginning of a script, which lets it {@code say begin} and {@code say end}. */
  static String saying(Path file) {
    return "say() { echo \"$1 $MILLRACE_NODE_ID $MILLRACE_ATTEMPT\" >> '" + file + "'; }\n";
  }

  /** Reads what was written so far. */
  static CommandLog read(Path file) throws IOException {
    CommandLog log = new CommandLog();
    List<String> lines = Files.readAllLines(file);
    for (int i = 0; i < lines.size(); i++) {
      String[] words = lines.get(i).split(" ", -1);
      assertThat(words).as(lines.get(i)).hasSize(3);
      Run run = new Run(words[1], Integer.parseInt(words[2]));
      (words[0].equals("begin") ? log.begins : log.ends)
          .computeIfAbsent(run, _ -> new ArrayList<>())
          .add(i);
    }
    return log;
  }

  /** All that have begun. */
  Set<Run> begun() {
    return begins.keySet();
  }

  /** Those that have begun and not ended. */
  Set<Run> underWay() {
    Set<Run> runs = new HashSet<>(begins.keySet());
    runs.removeAll(ends.keySet());
    return runs;
  }

  /** When it began, which it must have done once. */
  int begin(Run run) {
    return once(begins, run);
  }

  /** When it ended, which it must have done once. */
  int end(Run run) {
    return once(ends, run);
  }

  private static int once(Map<Run, List<Integer>> times, Run run) {
    List<Integer> all = times.getOrDefault(run, List.of());
    assertThat(all).as("the times of %s", run).hasSize(1);
    return all.getFirst();
  }
}
