package io.millrace.server.graph;

import io.millrace.graph.schedule.SchedulerOptions;
import io.millrace.server.config.Configuration.Section;
import io.millrace.server.config.Key;
import io.millrace.server.config.SectionKeys;
import io.millrace.work.policy.Retention;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The settings of the graph.
 *
 * @param commands where commands run: {@value #HERE}, or the name or id of a queue
 * @param places how many commands run on this server at a time
 * @param others how many other nodes are under way at a time
 * @param runs the folder for the output of commands; null for {@code graph} within that of the
 *     store
 * @param url the address under which commands reach this server; null for the address on which it
 *     listens
 * @param retention how long graphs that have ended stay in the store
 */
public record GraphSettings(
    String commands,
    int places,
    int others,
    @Nullable Path runs,
    @Nullable String url,
    Retention retention) {
  /** The value of {@link #commands} if they run on this server. */
  static final String HERE = "server";

  private static final SectionKeys KEYS = new SectionKeys();
  private static final Key<String> COMMANDS =
      KEYS.text(
          "commands",
          HERE,
          "Where nodes of the types `command` and `shell command` run: `server` for this machine,"
              + " or the name of a queue with the plugin `exec`, whose execution nodes run them.");
  private static final Key<Long> PLACES =
      KEYS.number(
          "places",
          1,
          SchedulerOptions.MAX_PLACES,
          16,
          "How many commands run on this server at a time; further ones wait, ready. On execution"
              + " nodes the queue says how many.");
  private static final Key<Long> OTHERS =
      KEYS.number(
          "others",
          1,
          1_000_000,
          SchedulerOptions.DEFAULT_OTHERS,
          "How many nodes are under way at a time that run no command on this server: those that"
              + " wait for something, or have handed their work on.");
  private static final Key<@Nullable Path> RUNS =
      KEYS.optionalPath(
          "runs",
          "The folder for the output of running commands; if none is given, `graph` within"
              + " `store.data`.");
  private static final Key<@Nullable String> URL =
      KEYS.optionalText(
          "url",
          "The address under which commands reach this server, as `MILLRACE_URL` tells them; if"
              + " none is given, that on which it listens.");

  private static final Key<@Nullable Duration> KEEP_FINISHED =
      KEYS.optionalDuration(
          "keep-finished",
          Duration.ZERO,
          Duration.ofDays(36_500),
          "for ever",
          "How long a graph that has ended stays in the store before it moves to the archive, see"
              + " [archive.md](archive.md). A graph may have its own: the keys"
              + " `keep_finished` and `keep_count` of one of its nodes.");
  private static final Key<@Nullable Long> KEEP_COUNT =
      KEYS.optionalNumber(
          "keep-count",
          0,
          Retention.MAX_COUNT,
          "all",
          "How many graphs that have ended, and have neither `keep_finished` nor `keep_count` of"
              + " their own, stay in the store: those that ended last.");

  /** The section {@code graph}. */
  public static final Section<GraphSettings> SECTION =
      KEYS.section(
          "graph",
          values ->
              new GraphSettings(
                  values.get(COMMANDS),
                  values.get(PLACES).intValue(),
                  values.get(OTHERS).intValue(),
                  values.get(RUNS),
                  values.get(URL),
                  new Retention(values.get(KEEP_FINISHED), values.get(KEEP_COUNT))));

  /** The queue whose execution nodes run commands; null if this server does. */
  @Nullable String queue() {
    return commands.equals(HERE) ? null : commands;
  }

  /** The limits of the scheduler; {@code store} is the folder of the store. */
  SchedulerOptions scheduling(Path store) {
    return new SchedulerOptions(runs == null ? store.resolve("graph") : runs, places, others);
  }
}
