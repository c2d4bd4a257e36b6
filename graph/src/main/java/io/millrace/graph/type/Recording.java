package io.millrace.graph.type;

import io.millrace.graph.Tail;
import io.millrace.processes.OutputTail;
import io.millrace.processes.ProcessException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Output of a program as data of a node.
 *
 * @param source where it is; null while there is none
 */
record Recording(Supplier<@Nullable OutputTail> source) implements Tail {
  static Recording of(OutputTail output) {
    return new Recording(() -> output);
  }

  @Override
  public long size() {
    OutputTail output = source.get();
    try {
      return output == null ? 0 : output.size();
    } catch (ProcessException e) {
      return isGone(e);
    }
  }

  @Override
  public byte[] read(long offset, int most) {
    OutputTail output = source.get();
    try {
      return output == null
          ? new byte[0]
          : output.read(offset, Math.min(most, OutputTail.MAX_READ));
    } catch (ProcessException e) {
      return new byte[isGone(e)];
    }
  }

  /** Once it is stored elsewhere the file is removed, maybe while somebody reads. */
  private static int isGone(ProcessException e) {
    if (e.getCause() instanceof java.nio.file.NoSuchFileException) {
      return 0;
    }
    throw e;
  }
}
