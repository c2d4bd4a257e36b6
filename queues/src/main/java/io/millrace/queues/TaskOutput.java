package io.millrace.queues;

/**
 * The outputs of a queue task.
 *
 * @param stdout what it wrote
 * @param stderr what it complained about
 * @param mixed both in order of arrival, if the task asked for that; nothing otherwise
 */
public record TaskOutput(Output stdout, Output stderr, Output mixed) {
  /** No output yet. */
  public static final TaskOutput NONE = new TaskOutput(Output.none(), Output.none());

  /** Without what both are together. */
  public TaskOutput(Output stdout, Output stderr) {
    this(stdout, stderr, Output.none());
  }
}
