package io.millrace.queues;

/**
 * What is kept of the output of a task.
 *
 * @param files when an output becomes a file
 * @param textBytes the most bytes of both outputs together that are shown in the task itself if
 *     {@code files} is {@link Files#AUTO}; default 15 MiB
 * @param maxBytes the most bytes kept of each output; what comes after is dropped, and the reason
 *     of the task says so. Default 1 GiB
 */
public record OutputLimits(Files files, long textBytes, long maxBytes) {
  /** The defaults. */
  public static final OutputLimits DEFAULTS = new OutputLimits(Files.AUTO, 15L << 20, 1L << 30);

  /** When an output becomes a file. */
  public enum Files {
    /** Where both together are too long: the larger one, then the other. */
    AUTO,
    /** Always. */
    ALWAYS,
    /** Never: what does not fit into the text is dropped. */
    NEVER
  }

  /**
   * Checks the limits.
   *
   * @throws InvalidRequestException when one is negative
   */
  public OutputLimits {
    if (textBytes < 0 || maxBytes < 0) {
      throw new InvalidRequestException("output", "limits of output are not negative");
    }
  }
}
