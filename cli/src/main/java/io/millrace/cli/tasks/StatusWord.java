package io.millrace.cli.tasks;

import io.millrace.queues.Status;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a status: its number, or its name as {@code queued}. */
final class StatusWord implements ITypeConverter<Integer> {
  @Override
  public Integer convert(String text) {
    for (int status = Status.ORPHANED; status <= Status.FAILED; status++) {
      if (Status.name(status).equalsIgnoreCase(text)) {
        return status;
      }
    }
    try {
      return Integer.valueOf(text);
    } catch (NumberFormatException _) {
      throw new TypeConversionException(
          "a status is a number, or a word as queued, running or succeeded; not '" + text + "'");
    }
  }
}
