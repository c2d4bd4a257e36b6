package io.millrace.cli.jobs;

import io.millrace.cli.remote.Arguments;
import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import java.util.List;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** The calls about single jobs that several commands make. */
final class JobCalls {
  /** Where the list of jobs is. */
  static final String JOBS = "/api/jobs";

  private JobCalls() {}

  /** Where a job is, by its key or GUID. */
  static String path(String key) {
    return JOBS + "/" + JsonCalls.part(key);
  }

  /**
   * A job by its key or GUID.
   *
   * @throws CommandException if it is not there
   */
  static JsonNode find(JsonCalls calls, String key) {
    return RemoteCommand.named(() -> calls.get(path(key)));
  }

  /** Whether a job comes no further by itself. */
  static boolean hasEnded(JsonNode job) {
    return isDone(job) || "failed".equals(job.path("status").asString());
  }

  /** Whether a job has its result. */
  static boolean isDone(JsonNode job) {
    return "done".equals(job.path("status").asString());
  }

  /** The message of the last failure of a job; empty if there is none. */
  static String lastFailure(JsonCalls calls, String key) {
    JsonNode failures = RemoteCommand.named(() -> calls.get(path(key) + "/failures"));
    return failures.path(failures.size() - 1).path("info").asString("");
  }

  /** The jobs that a command is about. */
  static final class KeyArguments {
    @Parameters(
        arity = "1..*",
        paramLabel = "KEY",
        description = "Keys or GUIDs of jobs; - reads them from standard input, one per line.")
    private List<String> keys = List.of();

    /**
     * The keys in order.
     *
     * @throws UsageException if one is empty
     */
    List<String> read(Terminal terminal) {
      return Arguments.lines(keys, terminal, KeyArguments::checked);
    }

    /**
     * A key as it came.
     *
     * @throws UsageException if it is empty
     */
    static String checked(String key) {
      if (key.isEmpty()) {
        throw new UsageException("the key of a job is empty");
      }
      return key;
    }
  }
}
