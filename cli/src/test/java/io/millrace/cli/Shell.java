package io.millrace.cli;

import io.millrace.cli.terminal.Terminal;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** Runs commands in this process and keeps their output. */
public final class Shell {
  private Shell() {}

  /**
   * The result of a command.
   *
   * @param code its exit code
   * @param out what it wrote to standard output
   * @param err what it wrote to standard error
   */
  public record CommandResult(int code, String out, String err) {}

  /** Runs a command with empty standard input. */
  public static CommandResult run(String... args) {
    return run(new byte[0], args);
  }

  /** Runs a command that writes to {@code out} and {@code err}, and returns its exit code. */
  public static int runWriting(OutputStream out, OutputStream err, String... args) {
    Terminal terminal =
        new Terminal(
            InputStream.nullInputStream(),
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8));
    return Millrace.run(terminal, args);
  }

  /** Runs a command with this standard input. */
  public static CommandResult run(byte[] input, String... args) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Terminal terminal =
        new Terminal(
            new ByteArrayInputStream(input),
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8));
    int code = Millrace.run(terminal, args);
    return new CommandResult(
        code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }
}
