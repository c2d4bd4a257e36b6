package io.millrace.queues;

/**
 * Both outputs of a queue task.
 *
 * @param stdout what it wrote
 * @param stderr what it complained about
 */
public record TaskOutput(Output stdout, Output stderr) {
  /** No output yet. */
  public static final TaskOutput NONE = new TaskOutput(Output.none(), Output.none());
}
