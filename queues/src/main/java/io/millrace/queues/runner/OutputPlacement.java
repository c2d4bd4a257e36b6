package io.millrace.queues.runner;

import io.millrace.queues.NodeConfig.OutputLimits;

/**
 * What is kept of an output, and how.
 *
 * @param bytes how much
 * @param how where it goes
 */
record OutputPlacement(long bytes, How how) {
  /** The most bytes of both outputs that live in the task's own document. */
  static final int INLINE_BYTES = 4096;

  /** Where an output goes. */
  enum How {
    /** Into the task's document. */
    INLINE,
    /** Into the blob store, shown in the task as its text. */
    TEXT,
    /** Into the blob store, shown in the task as a file. */
    FILE
  }

  /** Both outputs of a task. */
  record Both(OutputPlacement stdout, OutputPlacement stderr) {}

  /** What becomes of outputs of these sizes. */
  static Both of(long stdout, long stderr, OutputLimits limits) {
    long text = limits.textBytes();
    return switch (limits.files()) {
      case ALWAYS -> new Both(file(stdout), file(stderr));
      case AUTO -> {
        if (stdout + stderr <= text) {
          yield texts(stdout, stderr);
        }
        // The larger one goes, then the other where it is still too long.
        yield stdout >= stderr
            ? new Both(file(stdout), stderr <= text ? text(stderr) : file(stderr))
            : new Both(stdout <= text ? text(stdout) : file(stdout), file(stderr));
      }
      case NEVER -> {
        // Complaints are seldom long, and the most wanted.
        long complaints = Math.min(stderr, Math.max(text / 2, text - stdout));
        yield texts(Math.min(stdout, text - complaints), complaints);
      }
    };
  }

  /** What becomes of an output of this size beside which nothing counts. */
  static OutputPlacement alone(long bytes, OutputLimits limits) {
    return switch (limits.files()) {
      case ALWAYS -> file(bytes);
      case AUTO -> bytes <= limits.textBytes() ? text(bytes) : file(bytes);
      case NEVER -> text(Math.min(bytes, limits.textBytes()));
    };
  }

  private static Both texts(long stdout, long stderr) {
    if (stdout + stderr <= INLINE_BYTES) {
      return new Both(
          new OutputPlacement(stdout, How.INLINE), new OutputPlacement(stderr, How.INLINE));
    }
    return stdout >= stderr
        ? new Both(new OutputPlacement(stdout, How.TEXT), text(stderr))
        : new Both(text(stdout), new OutputPlacement(stderr, How.TEXT));
  }

  private static OutputPlacement text(long bytes) {
    return new OutputPlacement(bytes, bytes <= INLINE_BYTES ? How.INLINE : How.TEXT);
  }

  private static OutputPlacement file(long bytes) {
    return new OutputPlacement(bytes, bytes == 0 ? How.INLINE : How.FILE);
  }
}
