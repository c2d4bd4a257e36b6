package io.millrace.cluster.documents.files;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A disk that runs an action just before one of the calls: other writers continue, or the caller
 * dies. It does not sync, because no power failure is simulated.
 */
class InterruptedDisk extends Disk {
  /** Ends the caller and all its later calls. */
  static final class Killed extends Error {
    private static final long serialVersionUID = 1;
  }

  private final Runnable event;
  private int before;
  private int calls;
  private boolean dead;

  /** Creates a disk with the action to run before a call. */
  InterruptedDisk(Runnable event) {
    this.event = event;
  }

  /** Selects the call before which the action runs; the next call is 1. */
  void interruptBefore(int call) {
    calls = 0;
    before = call;
  }

  private void call() {
    calls++;
    if (calls == before && !dead) {
      try {
        event.run();
      } catch (Killed e) {
        dead = true;
      }
    }
    if (dead) {
      throw new Killed();
    }
  }

  @Override
  List<String> names(Path folder) throws IOException {
    call();
    return super.names(folder);
  }

  @Override
  boolean exists(Path path) throws IOException {
    call();
    return super.exists(path);
  }

  @Override
  byte[] read(Path file) throws IOException {
    call();
    return super.read(file);
  }

  @Override
  void write(Path file, byte[] content) throws IOException {
    call();
    try (FileOutputStream out = new FileOutputStream(file.toFile())) {
      out.write(content);
    }
  }

  @Override
  void makeFolder(Path folder) throws IOException {
    call();
    super.makeFolder(folder);
  }

  @Override
  void sync(Path folder) throws IOException {
    call();
  }

  @Override
  void link(Path name, Path file) throws IOException {
    call();
    super.link(name, file);
  }

  @Override
  void move(Path from, Path to) throws IOException {
    call();
    super.move(from, to);
  }

  @Override
  void remove(Path path) throws IOException {
    call();
    super.remove(path);
  }
}
