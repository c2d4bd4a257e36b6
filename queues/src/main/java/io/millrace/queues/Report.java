package io.millrace.queues;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a run ended.
 *
 * @param status a positive status, or {@link Status#TERMINATED} or {@link Status#ORPHANED}
 * @param output what it wrote
 * @param files the files that the output names, whose chunks are stored already
 * @param reason why it came to this status if that needs a word; null if it does not
 */
public record Report(
    int status, TaskOutput output, List<OutputFile> files, @Nullable String reason) {
  /** Copies the list. */
  public Report {
    files = List.copyOf(files);
  }
}
