package io.millrace.cli.jobs;

import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import io.millrace.jobs.Priority;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What a command line says about the jobs that it submits, beside their payloads. */
final class Order {
  @Option(
      names = {"-t", "--type"},
      paramLabel = "TYPE",
      description = "The job type, on a server that has types.")
  private @Nullable String type;

  @Option(
      names = {"-k", "--key"},
      paramLabel = "KEY",
      description = "What people call the job, unique; of one file only. Default: its GUID")
  private @Nullable String key;

  @Option(
      names = {"-p", "--priority"},
      paramLabel = "PRIORITY",
      defaultValue = "batch",
      description = "immediate, or batch, which comes after it. Default: ${DEFAULT-VALUE}")
  private String priority = Priority.BATCH.word();

  @Option(
      names = "--description",
      paramLabel = "TEXT",
      description = "A line for people, at most 128 characters.")
  private @Nullable String description;

  /**
   * Looks whether so many jobs can be submitted like this.
   *
   * @throws UsageException when they cannot
   */
  void check(int jobs) {
    if (Priority.named(priority.strip()).isEmpty()) {
      throw new UsageException("--priority is immediate or batch, not '" + priority + "'");
    }
    if (key != null && key.isEmpty()) {
      throw new UsageException("--key is empty");
    }
    if (key != null && jobs > 1) {
      throw new UsageException("--key names one job, and there are " + jobs + " files");
    }
    if (type != null && type.isEmpty()) {
      throw new UsageException("--type is empty");
    }
  }

  /** Where to submit. */
  String path() {
    return JobCalls.JOBS + "/submit" + (type == null ? "" : "/" + JsonCalls.part(type));
  }

  /** The fields of the form, without the payload. */
  Map<String, String> fields() {
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("Priority", priority.strip());
    if (key != null) {
      fields.put("Key", key);
    }
    if (description != null) {
      fields.put("Description", description);
    }
    return fields;
  }
}
