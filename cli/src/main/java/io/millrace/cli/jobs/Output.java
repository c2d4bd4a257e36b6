package io.millrace.cli.jobs;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * What a command writes to standard output: a file that has a name only until the command has
 * started. So the system frees it when the worker is killed.
 */
final class Output implements Closeable {
  private final Path file;
  private final FileChannel content;

  private Output(Path file, FileChannel content) {
    this.file = file;
    this.content = content;
  }

  /** An empty one in the folder for temporary files. */
  static Output create() throws IOException {
    Path file = Files.createTempFile("millrace-job-", ".result");
    try {
      return new Output(file, FileChannel.open(file, StandardOpenOption.READ));
    } catch (IOException e) {
      Files.deleteIfExists(file);
      throw e;
    }
  }

  /** Starts something that writes into a file. */
  @FunctionalInterface
  interface Start<T> {
    T with(Path file) throws IOException;
  }

  /** Starts the command, which has the file open afterwards; then nobody else can open it. */
  <T> T begin(Start<T> start) throws IOException {
    try {
      return start.with(file);
    } finally {
      Files.deleteIfExists(file);
    }
  }

  /** What was written, from its beginning; to be closed. */
  FileChannel content() {
    return content;
  }

  @Override
  public void close() throws IOException {
    content.close();
  }
}
