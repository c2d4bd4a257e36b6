package io.millrace.cli.jobs;

import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.remote.SecretFile;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** A command that calls the job server, with its API key if it has one. */
abstract class JobCommand extends RemoteCommand {
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
}
