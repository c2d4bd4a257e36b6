package io.millrace.graph.type;

import io.millrace.blobs.Tail;
import io.millrace.processes.OutputTail;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Output of a program as data of a node. Once it is stored elsewhere its file is removed, maybe
 * while somebody reads: then it is empty.
 *
 * @param source where it is; null while there is none
 */
record ProgramTail(Supplier<@Nullable OutputTail> source) implements Tail {
  static ProgramTail of(OutputTail output) {
    return new ProgramTail(() -> output);
  }

  @Override
  public long size() {
    OutputTail output = source.get();
    return output == null ? 0 : output.size();
  }

  @Override
  public byte[] read(long offset, int most) {
    OutputTail output = source.get();
    return output == null ? new byte[0] : output.read(offset, Math.min(most, OutputTail.MAX_READ));
  }
}
