package io.millrace.processes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A named pipe by which a test waits for a program, or lets it go on, without looking again. */
record Fifo(Path path) {
  static Fifo make(Path path) throws IOException {
    Process process = new ProcessBuilder("mkfifo", path.toString()).start();
    if (process.onExit().join().exitValue() != 0) {
      throw new IOException("no fifo can be made at " + path);
    }
    return new Fifo(path);
  }

  /** Waits until a program has opened it, written and closed it. */
  String await() throws IOException {
    return Files.readString(path).strip();
  }

  /** Waits until a program has opened it for reading, and gives it a line. */
  void open() throws IOException {
    Files.writeString(path, "go\n");
  }
}
