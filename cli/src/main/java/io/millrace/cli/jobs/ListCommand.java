package io.millrace.cli.jobs;

import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.ServerAddress;
import io.millrace.cli.remote.StaleOption;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** Lists jobs. */
@Command(
    name = "list",
    description = "Lists the jobs that match all options, in the order of submission.")
final class ListCommand extends JobServer implements Callable<Integer> {
  private static final int PAGE = 500;
  private static final Fields.Columns COLUMNS =
      new Fields.Columns()
          .fields("key", "type")
          .with("STATUS", ListCommand::status)
          .fields("priority")
          .field("BATCH", "batchId")
          .fields("submitted")
          .field("WORKER", "workerId")
          .field("BYTES", "payloadSize")
          .field("DESCRIPTION", "display");

  @Option(
      names = {"-t", "--type"},
      paramLabel = "TYPE",
      description = "Only jobs of this type.")
  private @Nullable String type;

  @Option(
      names = {"-s", "--status"},
      paramLabel = "STATUS",
      description = "Only jobs with this status: pending, running, done or failed.")
  private @Nullable String status;

  @Option(
      names = "--priority",
      paramLabel = "PRIORITY",
      description = "Only jobs with this priority: immediate or batch.")
  private @Nullable String priority;

  @Option(names = "--batch", paramLabel = "N", description = "Only jobs of this batch.")
  private @Nullable String batch;

  @Option(
      names = "--worker",
      paramLabel = "ID",
      description = "Only jobs that this worker runs or was the last to run.")
  private @Nullable String worker;

  @Option(
      names = "--text",
      paramLabel = "TEXT",
      description = "Only jobs with this text in their GUID, key or description.")
  private @Nullable String text;

  @Option(names = "--newest", description = "The newest first, instead of the oldest.")
  private boolean newest;

  @Option(
      names = "--after",
      paramLabel = "KEY",
      description = "Only jobs that follow this one in the list.")
  private @Nullable String after;

  @Option(
      names = {"-n", "--limit"},
      paramLabel = "N",
      defaultValue = "0",
      description = "The most jobs to list; 0 for all. Default: ${DEFAULT-VALUE}")
  private long limit;

  @Option(names = "--keys", description = "Prints only keys, one per line.")
  private boolean keysOnly;

  @Mixin private StaleOption stale = new StaleOption();

  @Override
  protected ClientOptions client(ServerAddress address) {
    return stale.of(super.client(address));
  }

  @Override
  public Integer call() {
    return perform(calls -> {
      if (limit < 0) {
        throw new UsageException("--limit is a number from 0, not " + limit);
      }
      long left = limit == 0 ? Long.MAX_VALUE : limit;
      String behind = after;
      boolean first = true;
      boolean more = true;
      while (more) {
        int size = (int) Math.min(PAGE, left);
        JsonNode page = calls.read(path(size, behind));
        print(page, first);
        left -= page.size();
        more = left > 0 && page.size() == size;
        behind = page.path(page.size() - 1).path("id").asString("");
        first = false;
      }
      if (json()) {
        out().println("]");
      }
    });
  }

  private void print(JsonNode page, boolean first) {
    if (json()) {
      boolean begins = first;
      out().print(begins ? "[" : "");
      for (JsonNode job : page) {
        out().print((begins ? "" : ",\n") + job);
        begins = false;
      }
      return;
    }
    if (keysOnly) {
      page.forEach(job -> out().println(job.path("key").asString()));
    } else if (first || !page.isEmpty()) {
      COLUMNS.print(out(), page);
    }
  }

  private String path(int size, @Nullable String behind) {
    Map<String, @Nullable String> parameters = new LinkedHashMap<>();
    parameters.put("type", type);
    parameters.put("status", status);
    parameters.put("priority", priority);
    parameters.put("batch", batch);
    parameters.put("worker", worker);
    parameters.put("text", text);
    parameters.put("order", newest ? "newest" : null);
    parameters.put("after", behind);
    StringBuilder path = new StringBuilder(JobServer.JOBS + "?limit=" + size);
    parameters.forEach((name, value) -> {
      if (value != null) {
        path.append('&').append(name).append('=').append(JsonCalls.part(value));
      }
    });
    return path.toString();
  }

  /** The status, with the progress of a running job. */
  private static String status(JsonNode job) {
    String status = Fields.text(job.path("status"));
    JsonNode percent = job.path("progress").path("percent");
    return percent.isNumber() ? status + " " + Math.round(percent.asDouble()) + " %" : status;
  }
}
