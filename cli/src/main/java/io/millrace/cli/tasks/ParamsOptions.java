package io.millrace.cli.tasks;

import io.millrace.cli.remote.Arguments;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ObjectNode;

/** Options for the queue of new tasks and the source of their params. */
final class ParamsOptions {
  private static final int BUFFER_BYTES = 1 << 16;

  @Parameters(index = "0", paramLabel = "QUEUE", description = "The id or name of the queue.")
  private String queue = "";

  @Parameters(
      index = "1",
      arity = "0..*",
      paramLabel = "KEY=VALUE",
      description =
          "The params of one task. A value that is JSON is taken as JSON, others as text. With"
              + " --file, the default params of all tasks.")
  private List<String> pairs = List.of();

  @Option(
      names = {"-f", "--file"},
      paramLabel = "FILE",
      description = "Reads the params of one or more tasks from a file; - is standard input.")
  private @Nullable Path file;

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      description =
          "The format of the file: json (an array of objects, or one object per line) or csv (the"
              + " first line names the params). Default: csv if the file name ends in .csv,"
              + " otherwise json")
  private @Nullable Format format;

  @Option(
      names = "--separator",
      paramLabel = "CHAR",
      defaultValue = ",",
      description =
          "The character that separates the values of CSV, or the word tab. Default: a comma")
  private String separator = ",";

  /** The format of a file. */
  enum Format {
    JSON,
    CSV
  }

  /** The queue to submit to. */
  String queue() {
    return queue;
  }

  /** The params given as arguments. */
  ObjectNode arguments() {
    return Arguments.object(pairs);
  }

  /** Whether the params can be read twice. */
  boolean repeatable() {
    return file == null || Files.isRegularFile(file);
  }

  /** Opens the source that the options name. */
  ParamsSource open(Terminal terminal) throws IOException {
    if (file == null) {
      if (pairs.isEmpty()) {
        throw new UsageException("give the params of the task as KEY=VALUE, or a file with --file");
      }
      return ParamsSource.of(arguments());
    }
    InputStream in = stream(file, terminal);
    String name = file.toString().equals("-") ? "standard input" : file.toString();
    return isCsv(file)
        ? new ParamsSource.CsvParams(name, in, separator())
        : new ParamsSource.JsonParams(name, in);
  }

  private static InputStream stream(Path file, Terminal terminal) throws IOException {
    if (file.toString().equals("-")) {
      return terminal.in();
    }
    if (Files.isDirectory(file)) {
      throw new UsageException("--file is a folder: '" + file + "'");
    }
    try {
      return new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES);
    } catch (NoSuchFileException e) {
      throw new UsageException("there is no file " + file, e);
    } catch (AccessDeniedException e) {
      throw new UsageException("the file " + file + " may not be read", e);
    }
  }

  private boolean isCsv(Path file) {
    return format == null
        ? file.toString().toLowerCase(Locale.ROOT).endsWith(".csv")
        : format == Format.CSV;
  }

  private char separator() {
    if (separator.equals("tab") || separator.equals("\\t")) {
      return '\t';
    }
    if (separator.length() != 1 || "\"\r\n".contains(separator)) {
      throw new UsageException(
          "--separator is one character or tab, no quote and no line end, not '" + separator + "'");
    }
    return separator.charAt(0);
  }
}
