package io.millrace.processes;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pipe with a name, to which programs write and from which this process reads. It ends once it is
 * {@linkplain #seal sealed} and no program has it open any more. One thread copies; any thread may
 * seal and close it.
 */
public final class NamedPipe implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(NamedPipe.class);

  /** The size of a pipe in Linux. */
  private static final int PIPE_BYTES = 64 << 10;

  private final Path path;
  private final FileChannel held;
  private final FileChannel read;

  private NamedPipe(Path path, FileChannel held, FileChannel read) {
    this.path = path;
    this.held = held;
    this.read = read;
  }

  /** Opens an existing pipe; does not wait for a writer. */
  static NamedPipe open(Path path) throws IOException {
    // Opened for both, so that no open call waits for another one and no read finds an end.
    FileChannel held = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
    try {
      return new NamedPipe(path, held, FileChannel.open(path, StandardOpenOption.READ));
    } catch (IOException e) {
      held.close();
      throw e;
    }
  }

  /** For a program that writes to it. */
  public ProcessBuilder.Redirect redirect() {
    return ProcessBuilder.Redirect.appendTo(path.toFile());
  }

  /** Takes the content of a pipe. */
  public interface Sink {
    /** Takes bytes; the array belongs to the sink. */
    void write(byte[] bytes) throws IOException;
  }

  /** Copies its content until its end, or until it is closed. */
  public void copyTo(Sink sink) {
    ByteBuffer buffer = ByteBuffer.allocate(PIPE_BYTES);
    try {
      while (read.read(buffer) >= 0) {
        sink.write(Arrays.copyOf(buffer.array(), buffer.position()));
        buffer.clear();
      }
    } catch (ClosedChannelException _) {
      // A process that was left behind still has it open.
    } catch (IOException e) {
      LOG.warn("the pipe {} cannot be read on: {}", path, e.toString());
    }
  }

  /** Says that no program will open it from now on. */
  public void seal() {
    close(held);
  }

  /** Stops reading; what is written later is not read. */
  @Override
  public void close() {
    close(held);
    close(read);
  }

  private void close(FileChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      LOG.debug("the pipe {} cannot be closed", path, e);
    }
  }
}
