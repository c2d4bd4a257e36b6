package io.millrace.cli.queues;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.ObjectId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/** The file in which tasks record when they ran, with one write for each entry. */
final class RunLog {
  /**
   * One run of a task.
   *
   * @param token its fencing token
   * @param startMicros when it began, in microseconds since the epoch
   * @param endMicros when it was done; {@link #CUT} for one that never said so
   */
  record Span(String token, long startMicros, long endMicros) {
    static final long CUT = -1;
  }

  private final Map<ObjectId, List<Span>> spans = new HashMap<>();

  /** A command that records when it starts and ends, and runs for a tenth or two of a second. */
  static String command(Path file) {
    return """
    say() {
      printf '%%s %%s %%s %%s\\n' "$1" "$MILLRACE_TASK_ID" "$MILLRACE_TOKEN" \
        "${EPOCHREALTIME//[.,]/}" >> '%s'
    }
    say start; sleep 0.0$((RANDOM %% 10)); say end\
    """
        .formatted(file);
  }

  /** Reads what was written. */
  static RunLog read(Path file) throws IOException {
    RunLog log = new RunLog();
    for (String line : Files.readAllLines(file)) {
      String[] words = line.split(" ", -1);
      assertThat(words).as(line).hasSize(4);
      log.note(
          words[0].equals("start"), new ObjectId(words[1]), words[2], Long.parseLong(words[3]));
    }
    return log;
  }

  private void note(boolean start, ObjectId task, String token, long micros) {
    List<Span> runs = spans.computeIfAbsent(task, _ -> new ArrayList<>());
    if (start) {
      runs.add(new Span(token, micros, Span.CUT));
      return;
    }
    Span begun = runs.getLast();
    assertThat(begun.token()).as("who ends what it started").isEqualTo(token);
    assertThat(begun.endMicros()).as("an end of %s", task).isEqualTo(Span.CUT);
    runs.set(runs.size() - 1, new Span(token, begun.startMicros(), micros));
  }

  /** The runs of a task, in order. */
  List<Span> of(ObjectId task) {
    return spans.getOrDefault(task, List.of());
  }

  private record Edge(long micros, int step) {}

  /**
   * The most runs that there were at any instant.
   *
   * @param cut when the claim of a task ended whose run never said that it was done, in
   *     microseconds since the epoch
   */
  int mostAtOnce(ToLongFunction<ObjectId> cut) {
    List<Edge> edges = new ArrayList<>();
    spans.forEach((task, runs) -> {
      for (Span run : runs) {
        long end = run.endMicros() == Span.CUT ? cut.applyAsLong(task) : run.endMicros();
        edges.add(new Edge(run.startMicros(), 1));
        edges.add(new Edge(end, -1));
      }
    });
    edges.sort(Comparator.comparingLong(Edge::micros).thenComparingInt(Edge::step));
    int now = 0;
    int most = 0;
    for (Edge edge : edges) {
      now += edge.step();
      most = Math.max(most, now);
    }
    return most;
  }
}
