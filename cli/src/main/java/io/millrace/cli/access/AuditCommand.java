package io.millrace.cli.access;

import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.StopSignals;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import java.io.IOException;
import java.io.InputStream;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;

/** Shows and exports the audit log. */
@Command(
    name = "audit",
    description = {
      "Shows the audit log: who changed what, and what was refused. Prints the newest entries, the"
          + " latest last.",
      "Requires the role operator; entries about principals, keys and sign-ins require admin."
    })
public final class AuditCommand extends ServerCommand implements Callable<Integer> {
  private static final int PAGE = 1_000;
  private static final int DEFAULT_COUNT = 100;
  private static final Duration INTERVAL = Duration.ofSeconds(1);
  private static final Duration SILENCE = Duration.ofMinutes(1);

  /** How long after later ones an entry may appear that was committed with a slow change. */
  private static final Duration OVERLAP = Duration.ofSeconds(10);

  private static final Fields.Columns COLUMNS =
      new Fields.Columns()
          .fields("time", "principal", "address", "action")
          .with("ON", AuditCommand::on)
          .fields("count", "result")
          .with("UNTIL", AuditCommand::until);

  @Option(names = "--principal", paramLabel = "NAME", description = "Only by this principal.")
  private @Nullable String principal;

  @Option(names = "--key", paramLabel = "PREFIX", description = "Only with this key.")
  private @Nullable String key;

  @Option(names = "--address", paramLabel = "ADDRESS", description = "Only from this address.")
  private @Nullable String address;

  @Option(
      names = "--kind",
      paramLabel = "KIND",
      description = "Only entries about this kind of object, for example queue or job.")
  private @Nullable String kind;

  @Option(
      names = "--action",
      paramLabel = "ACTION",
      description = "Only entries of this action, for example queue.create.")
  private @Nullable String action;

  @Option(
      names = "--result",
      paramLabel = "RESULT",
      description = "Only entries with this result: done, refused or failed.")
  private @Nullable String result;

  @Option(
      names = "--id",
      paramLabel = "ID",
      description = "Only entries about this queue, job type, node or other object.")
  private @Nullable String id;

  @Option(
      names = "--since",
      paramLabel = "TIME",
      converter = Durations.class,
      description = "Only entries that are not older than this, for example 1h.")
  private @Nullable Duration since;

  @Option(
      names = "--from",
      paramLabel = "TIME",
      description = "Only entries from this time on, for example 2026-12-24T18:00:00Z.")
  private @Nullable String from;

  @Option(names = "--to", paramLabel = "TIME", description = "Only before this time.")
  private @Nullable String to;

  @Option(
      names = {"-n", "--count"},
      paramLabel = "N",
      description = "How many entries to show. Default: " + DEFAULT_COUNT)
  private int count = DEFAULT_COUNT;

  @Option(
      names = "--all",
      description = "Exports all matching entries, the oldest first; with --json or --csv.")
  private boolean all;

  @Option(names = "--csv", description = "Exports all matching entries as CSV.")
  private boolean csv;

  @Option(
      names = {"-f", "--follow"},
      description = "Also prints new entries, until it is stopped.")
  private boolean follow;

  @Override
  public Integer call() {
    if (count < 1) {
      throw new UsageException("--count must be at least 1");
    }
    if (since != null && from != null) {
      throw new UsageException("--since and --from exclude each other");
    }
    if ((csv && json()) || (follow && (csv || all)) || (all && !csv && !json())) {
      throw new UsageException(
          "--csv, --json with --all, and --follow exclude each other, and --all needs a form");
    }
    return run(calls -> {
      String filters = filters();
      if (csv || all) {
        export(calls, "/audit/export?format=" + (csv ? "csv" : "json") + filters);
        return ExitCode.OK;
      }
      List<JsonNode> newest = newest(calls, filters);
      print(newest);
      return follow ? follow(calls, filters, newest) : ExitCode.OK;
    });
  }

  /** The parameters of the query for the filters, each with {@code &} before it. */
  private String filters() {
    Map<String, @Nullable String> filters = new LinkedHashMap<>();
    filters.put("principal", principal);
    filters.put("key", key);
    filters.put("address", address);
    filters.put("kind", kind);
    filters.put("action", action);
    filters.put("result", result);
    filters.put("id", id);
    filters.put(
        "from", since == null ? time("--from", from) : Instant.now().minus(since).toString());
    filters.put("to", time("--to", to));
    StringBuilder query = new StringBuilder();
    filters.forEach((name, value) -> {
      if (value != null) {
        query.append('&').append(name).append('=').append(JsonCalls.part(value));
      }
    });
    return query.toString();
  }

  private static @Nullable String time(String option, @Nullable String text) {
    if (text == null) {
      return null;
    }
    try {
      return OffsetDateTime.parse(text).toInstant().toString();
    } catch (DateTimeException _) {
      throw new UsageException(
          option + " is a time with an offset, for example 2026-12-24T18:00:00Z, not " + text);
    }
  }

  private void export(JsonCalls calls, String path) throws IOException {
    try (InputStream entries = calls.stream(path, SILENCE)) {
      entries.transferTo(out());
    }
  }

  /** The newest entries, the oldest of them first. */
  private List<JsonNode> newest(JsonCalls calls, String filters) {
    Deque<JsonNode> found = new ArrayDeque<>();
    String next = "";
    do {
      JsonNode page =
          calls.get(
              "/audit?limit="
                  + Math.min(PAGE, count - found.size())
                  + filters
                  + (next.isEmpty() ? "" : "&after=" + JsonCalls.part(next)));
      page.path("entries").forEach(found::addFirst);
      next = page.path("next").asString("");
    } while (!next.isEmpty() && found.size() < count);
    return List.copyOf(found);
  }

  private void print(List<JsonNode> entries) {
    if (!follow) {
      ArrayNode rows = object().putArray("entries");
      rows.addAll(entries);
      printRows(rows, COLUMNS);
      return;
    }
    for (JsonNode entry : entries) {
      print(entry, line(entry));
    }
    out().flush();
  }

  private static String on(JsonNode entry) {
    String scope = Fields.text(entry.path("scope"));
    String first = Fields.text(entry.path("first"));
    String last = Fields.text(entry.path("last"));
    String things = first.equals(last) ? first : first + " … " + last;
    return scope.equals("-") || scope.equals(first) ? things : scope + " " + things;
  }

  /** When the last of several changes was made, if that was at least a second later. */
  private static String until(JsonNode entry) {
    boolean isSpan =
        !ended(entry).minusSeconds(1).isBefore(Instant.parse(entry.path("time").asString()));
    return isSpan ? Fields.text(entry.path("until")) : "-";
  }

  /** A server of an earlier version does not say it. */
  private static Instant ended(JsonNode entry) {
    return Instant.parse(entry.path("until").asString(entry.path("time").asString()));
  }

  private static String line(JsonNode entry) {
    return Table.printable(
        "%s  %s  %s  %s  %s  %s  %s  %s"
            .formatted(
                Fields.text(entry.path("time")),
                Fields.text(entry.path("principal")),
                Fields.text(entry.path("address")),
                Fields.text(entry.path("action")),
                on(entry),
                Fields.text(entry.path("count")),
                Fields.text(entry.path("result")),
                until(entry)));
  }

  /** Prints newer entries once a second, until the command is stopped. */
  private int follow(JsonCalls calls, String filters, List<JsonNode> shown)
      throws InterruptedException {
    Map<String, Instant> seen = new LinkedHashMap<>();
    shown.forEach(entry -> remember(seen, entry));
    String first = shown.isEmpty() ? "" : shown.getFirst().path("id").asString();
    CountDownLatch stop = new CountDownLatch(1);
    StopSignals.listen(stop::countDown);
    while (!stop.await(INTERVAL.toMillis(), TimeUnit.MILLISECONDS)) {
      Instant floor =
          seen.values().stream().max(Instant::compareTo).map(it -> it.minus(OVERLAP)).orElse(null);
      if (floor != null) {
        seen.values().removeIf(time -> time.isBefore(floor));
      }
      List<JsonNode> entries = new ArrayList<>();
      String next = "";
      do {
        JsonNode page =
            calls.get(
                "/audit?order=oldest&limit="
                    + PAGE
                    + (floor == null ? filters : newer(filters, floor))
                    + (next.isEmpty() ? "" : "&after=" + JsonCalls.part(next)));
        for (JsonNode entry : page.path("entries")) {
          if (entry.path("id").asString().compareTo(first) > 0 && remember(seen, entry)) {
            entries.add(entry);
          }
        }
        next = page.path("next").asString("");
      } while (!next.isEmpty());
      print(entries);
    }
    return ExitCode.OK;
  }

  /** The filters with another start time. */
  private static String newer(String filters, Instant begin) {
    return filters.replaceAll("&from=[^&]*", "") + "&from=" + JsonCalls.part(begin.toString());
  }

  private static boolean remember(Map<String, Instant> seen, JsonNode entry) {
    return seen.put(entry.path("id").asString(), ended(entry)) == null;
  }
}
