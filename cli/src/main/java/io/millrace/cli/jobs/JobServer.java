package io.millrace.cli.jobs;

import io.millrace.cli.remote.Arguments;
import io.millrace.cli.remote.SecretFile;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** The job server that a command calls, with its API key if it has one. */
class JobServer extends ServerCommand {
  /** The path of all jobs. */
  static final String JOBS = "/api/jobs";

  private static final String VARIABLE = "MILLRACE_API_KEY";

  @Option(
      names = "--api-key-file",
      paramLabel = "FILE",
      description =
          "A file with the API key of the job server. Default: the environment variable "
              + VARIABLE
              + ", or none")
  private @Nullable Path apiKeyFile;

  @Override
  protected final Map<String, String> headers() {
    String key = SecretFile.readOptional("API key", apiKeyFile, VARIABLE);
    return key == null ? Map.of() : Map.of("X-API-KEY", key);
  }

  /** The path of a job, by its key or GUID. */
  static String path(String key) {
    return JOBS + "/" + JsonCalls.part(key);
  }

  /**
   * A job by its key or GUID.
   *
   * @throws CommandException if there is no such job
   */
  static JsonNode find(JsonCalls calls, String key) {
    return lookUp(() -> calls.get(path(key)));
  }

  /**
   * Checks a key and returns it.
   *
   * @throws UsageException if it is empty
   */
  static String checked(String key) {
    if (key.isEmpty()) {
      throw new UsageException("the key of a job is empty");
    }
    return key;
  }

  /** The job keys given to a command. */
  static final class Keys {
    @Parameters(
        arity = "1..*",
        paramLabel = "KEY",
        description = "Keys or GUIDs of jobs; - reads them from standard input, one per line.")
    private List<String> keys = List.of();

    /**
     * The keys in the given order.
     *
     * @throws UsageException if one is empty
     */
    List<String> read(Terminal terminal) {
      return Arguments.lines(keys, terminal, JobServer::checked);
    }
  }
}
