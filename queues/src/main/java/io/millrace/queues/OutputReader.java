package io.millrace.queues;

import io.millrace.blobs.Tail;
import io.millrace.queues.QueueTask.TaskOutput;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Reads the output of tasks, also while they run. Safe for use by any number of threads. */
public final class OutputReader {
  private final Files files;

  /** Reads output from these files. */
  public OutputReader(Files files) {
    this.files = files;
  }

  /** Where output is that is not in its task. Safe for use by any number of threads. */
  public interface Files {
    /** A file; empty if it no longer exists. */
    Optional<Tail> file(Output.Stored output);

    /** Throws an exception if a file cannot be read here. By default, all can. */
    default void check(Output.Stored output) {}

    /** The output so far of a task that has none in itself. */
    Tail soFar(QueueTask task, Stream stream);
  }

  /** The streams of a task. */
  public enum Stream {
    /** Standard output. */
    STDOUT("stdout"),
    /** Standard error. */
    STDERR("stderr"),
    /** Both in order of arrival, if the task asked for it. */
    MIXED("mixedout");

    private final String word;

    Stream(String word) {
      this.word = word;
    }

    /** Its name in documents, addresses and names of chunks. */
    public String word() {
      return word;
    }

    /** The output of this stream. */
    public Output of(TaskOutput output) {
      return switch (this) {
        case STDOUT -> output.stdout();
        case STDERR -> output.stderr();
        case MIXED -> output.mixed();
      };
    }
  }

  /** Throws an exception if an output is in a file that cannot be read here. */
  public void check(Output output) {
    if (output instanceof Output.Stored stored) {
      files.check(stored);
    }
  }

  /**
   * A whole file as text; bytes that are not UTF-8 are replaced.
   *
   * @return empty if it no longer exists
   */
  public Optional<String> text(Output.Stored output) {
    return files
        .file(output)
        .map(content ->
            new String(content.read(0, (int) output.sizeBytes()), StandardCharsets.UTF_8));
  }

  /**
   * Reads a file as text, without holding it in memory; bytes that are not UTF-8 are replaced. To
   * be closed by the caller.
   *
   * @return empty if it no longer exists
   */
  public Optional<Reader> open(Output.Stored output) {
    return files
        .file(output)
        .map(content -> new InputStreamReader(content.open(0), StandardCharsets.UTF_8));
  }

  /**
   * The output of a stream so far. It grows while the task runs; when the task has ended, this has
   * to be called again.
   *
   * @param task the task as it was read last
   */
  public Tail tail(QueueTask task, Stream stream) {
    return switch (stream.of(task.output())) {
      case Output.Text(String text) -> Tail.of(text);
      case Output.Stored stored -> files.file(stored).orElseGet(() -> Tail.of(""));
      case Output.None() -> files.soFar(task, stream);
    };
  }

  /**
   * Copies the output of a stream so far.
   *
   * @param task the task as it was read last
   * @param offset the first byte wanted, from 0
   * @return the number of bytes copied
   * @throws IOException if {@code target} cannot be written
   */
  public long copy(QueueTask task, Stream stream, long offset, OutputStream target)
      throws IOException {
    try (InputStream bytes = tail(task, stream).open(offset)) {
      return bytes.transferTo(target);
    }
  }
}
