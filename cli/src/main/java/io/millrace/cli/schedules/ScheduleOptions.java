package io.millrace.cli.schedules;

import io.millrace.cli.graph.GraphUpload;
import io.millrace.cli.remote.Arguments;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Options for a schedule: its name, times and rules, and what it runs. */
final class ScheduleOptions {
  @Mixin private Times times = new Times();

  @Parameters(index = "0", paramLabel = "NAME", description = "The name of the schedule.")
  private String name = "";

  @Option(
      names = "--missed",
      paramLabel = "RULE",
      description =
          "Which missed runs are caught up: none, last, or all within the window. Default: last")
  private @Nullable String missed;

  @Option(
      names = "--window",
      paramLabel = "DURATION",
      description = "How far back --missed all catches up. Default: 1h")
  private @Nullable String window;

  @Option(
      names = "--overlap",
      paramLabel = "RULE",
      description =
          "What to do if a run is due while an earlier one is active: skip, queue_one, queue_all,"
              + " cancel (cancels the earlier run) or allow. Default: skip")
  private @Nullable String overlap;

  @Option(
      names = "--pause-after",
      paramLabel = "N",
      description = "Pauses the schedule after N failures in a row. Default: never")
  private @Nullable String pauseAfter;

  @Option(
      names = "--target",
      paramLabel = "JSON",
      description = "What to run, as JSON; see docs/schedules.md.")
  private @Nullable String target;

  @Option(
      names = {"-q", "--queue"},
      paramLabel = "QUEUE",
      description = "Runs a task of this queue, with the params KEY=VALUE.")
  private @Nullable String queue;

  @Mixin private WorkOptions work = new WorkOptions();

  @Option(
      names = {"-f", "--file"},
      paramLabel = "FILE",
      description = "Reads the complete schedule as JSON from a file; - is standard input.")
  private @Nullable String file;

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "KEY=VALUE",
      description = "The params of the task. A value that is JSON is taken as JSON.")
  private List<String> params = List.of();

  /** Jobs and graphs that a schedule runs. */
  private static final class WorkOptions {
    @Option(
        names = "--job",
        paramLabel = "TYPE",
        arity = "0..1",
        fallbackValue = "",
        description = "Runs a job of this type; without a type on a server that has none.")
    private @Nullable String job;

    @Option(
        names = "--payload",
        paramLabel = "TEXT",
        description = "The payload of the job; @FILE takes the text of a file.")
    private @Nullable String payload;

    @Option(
        names = "--priority",
        paramLabel = "PRIORITY",
        description = "The priority of the job: immediate or batch. Default: immediate")
    private @Nullable String priority;

    @Option(
        names = "--description",
        paramLabel = "TEXT",
        description = "A description of the job, for people.")
    private @Nullable String description;

    @Option(
        names = "--graph",
        paramLabel = "FILE",
        description =
            "Runs the nodes of a graph file (YAML or JSON, see docs/graph-files.md), in a group of"
                + " their own; - is standard input.")
    private @Nullable String graph;

    @Option(
        names = "--parent",
        paramLabel = "ID",
        description =
            "The id of the node below which the nodes of --graph are added. Default: root")
    private @Nullable String parent;

    private boolean given() {
      return job != null || graph != null || hasDetails();
    }

    private boolean hasDetails() {
      return Stream.of(payload, priority, description, parent).anyMatch(text -> text != null);
    }

    /** The target: what the schedule runs. */
    private ObjectNode target(Terminal terminal) {
      ObjectNode target = Arguments.object(List.of());
      if (job != null) {
        ObjectNode described = target.putObject("job");
        put(described, "type", job.isEmpty() ? null : job);
        put(described, "priority", priority);
        put(described, "description", description);
        put(described, "payload", text(terminal));
      } else if (graph != null) {
        ObjectNode described = target.putObject("graph");
        described.set("nodes", GraphUpload.request(graph, terminal));
        put(described, "parent", parent);
      }
      return target;
    }

    private @Nullable String text(Terminal terminal) {
      return payload != null && payload.startsWith("@")
          ? Arguments.text("--payload: ", payload.substring(1), terminal)
          : payload;
    }

    private void check() {
      if (job == null && (payload != null || priority != null || description != null)) {
        throw new UsageException("--payload, --priority and --description need --job");
      }
      if (graph == null && parent != null) {
        throw new UsageException("--parent needs --graph");
      }
    }
  }

  /** The times of a schedule. */
  static final class Times {
    @Option(
        names = {"-c", "--cron"},
        paramLabel = "EXPRESSION",
        description =
            "Runs at the times of a cron expression of five fields, or six with seconds first."
                + " Several may be given.")
    private List<String> cron = List.of();

    @Option(
        names = "--every",
        paramLabel = "DURATION",
        description = "Runs at this interval, for example 90s, 15m, 6h or 2d.")
    private List<String> every = List.of();

    @Option(
        names = "--from",
        paramLabel = "TIME",
        description = "The first time of --every. Default: when the schedule is created")
    private @Nullable String from;

    @Option(
        names = "--at",
        paramLabel = "TIME",
        description =
            "Runs at this time, for example 2026-12-24T18:00:00Z. Without an offset, the time is in"
                + " --zone.")
    private List<String> at = List.of();

    @Option(
        names = "--except-cron",
        paramLabel = "EXPRESSION",
        description = "Skips the minutes that match this cron expression.")
    private List<String> exceptCron = List.of();

    @Option(
        names = "--except",
        paramLabel = "DATE",
        description = "Skips this date, for example 2026-12-25, or this time.")
    private List<String> except = List.of();

    @Option(
        names = {"-z", "--zone"},
        paramLabel = "ZONE",
        description = "The time zone, for example Europe/Berlin. Default: UTC")
    private @Nullable String zone;

    @Option(
        names = "--jitter",
        paramLabel = "DURATION",
        description = "Delays each run by a random time of up to this. Default: 0s")
    private @Nullable String jitter;

    private boolean given() {
      return Stream.of(cron, every, at, exceptCron, except).anyMatch(list -> !list.isEmpty())
          || Stream.of(from, zone, jitter).anyMatch(text -> text != null);
    }

    /** Adds them to the form of a schedule. */
    void addTo(ObjectNode form) {
      if (cron.isEmpty() && every.isEmpty() && at.isEmpty()) {
        throw new UsageException("say when: --cron, --every or --at");
      }
      if (from != null && every.isEmpty()) {
        throw new UsageException("--from needs --every");
      }
      ArrayNode rules = form.putArray("times");
      cron.forEach(expression -> rules.addObject().put("cron", expression));
      for (String interval : every) {
        put(rules.addObject().put("every", interval), "from", from);
      }
      add(rules, at);
      if (!exceptCron.isEmpty() || !except.isEmpty()) {
        ArrayNode exclusions = form.putArray("except");
        exceptCron.forEach(expression -> exclusions.addObject().put("cron", expression));
        add(exclusions, except);
      }
      put(form, "zone", zone);
      put(form, "jitter", jitter);
    }

    private static void add(ArrayNode rules, List<String> times) {
      if (!times.isEmpty()) {
        ArrayNode listed = rules.addObject().putArray("at");
        times.forEach(listed::add);
      }
    }
  }

  private static void put(ObjectNode form, String field, @Nullable String value) {
    if (value != null) {
      form.put(field, value);
    }
  }

  /** The name of the schedule. */
  String name() {
    return name;
  }

  /** The form of the schedule that is to be created. */
  ObjectNode form(Terminal terminal) {
    boolean options =
        times.given()
            || !params.isEmpty()
            || work.given()
            || Stream.of(missed, window, overlap, pauseAfter, target, queue)
                .anyMatch(text -> text != null);
    if (file != null) {
      if (options) {
        throw new UsageException("--file holds the whole schedule; it has no other options");
      }
      return Arguments.parseObject("the schedule", Arguments.text("--file: ", file, terminal));
    }
    ObjectNode form = Arguments.object(List.of());
    times.addTo(form);
    put(form, "missed", missed);
    put(form, "window", window);
    put(form, "overlap", overlap);
    if (pauseAfter != null) {
      form.put("pause_after_failures", Arguments.count("--pause-after", pauseAfter));
    }
    form.set("target", target(terminal));
    return form;
  }

  private ObjectNode target(Terminal terminal) {
    work.check();
    if (Stream.of(target, queue, work.job, work.graph).filter(text -> text != null).count() != 1) {
      throw new UsageException("say what to run: one of --queue, --job, --graph and --target");
    }
    if (queue == null && !params.isEmpty()) {
      throw new UsageException("params are given with --queue");
    }
    if (target != null) {
      return Arguments.parseObject("--target", target);
    }
    if (queue == null) {
      return work.target(terminal);
    }
    ObjectNode described = Arguments.object(List.of()).put("queue", queue);
    described.set("params", Arguments.object(params));
    return described;
  }
}
