package io.millrace.cli.jobs;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Fetches a result. */
@Command(
    name = "result",
    description =
        "Writes the result of a job to standard output or a file, which appears only once it is"
            + " whole.")
final class ResultCommand extends JobCommand {
  @Parameters(paramLabel = "KEY", description = "The job's key or GUID.")
  private String key = "";

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description = "The file, replaced if there is one. Default: -, standard output")
  private @Nullable String output;

  ResultCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) throws IOException {
    ResultTarget.named(terminal(), output).fetch(calls, KeyArguments.checked(key));
    return ExitCode.OK;
  }
}
