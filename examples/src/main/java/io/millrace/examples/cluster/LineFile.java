package io.millrace.examples.cluster;

import io.millrace.cluster.ClusterException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file of lines that many processes append to. Each append holds a lock on the whole file and has
 * read all earlier lines. It is an example of a resource that checks fencing tokens. Existing lines
 * are read once, and later only new lines. Safe for use by several processes, and by several
 * threads that share the object.
 */
final class LineFile {
  private static final Logger LOG = LoggerFactory.getLogger(LineFile.class);
  private static final int PIECE_BYTES = 1 << 20;

  private final Path file;
  private final LineListener listener;
  // A file lock belongs to the process, so its threads need another lock.
  private final ReentrantLock threads = new ReentrantLock();
  private long known;

  /** Receives the lines of the file; used by one thread at a time. */
  interface LineListener {
    /** Called if the file was truncated or replaced, and is read again from its start. */
    void clear();

    /** Receives the next line, without its line end. */
    void read(String line);
  }

  LineFile(Path file, LineListener listener) {
    this.file = file;
    this.listener = listener;
  }

  /**
   * Appends lines, which are on disk when this returns.
   *
   * @param lines supplies the lines with their line ends; called after the listener has received
   *     all earlier lines
   */
  void append(Supplier<String> lines) throws IOException {
    threads.lock();
    try (FileChannel channel =
            FileChannel.open(
                file,
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        FileLock lock = channel.lock()) {
      LOG.trace("{} is locked: {}", file, lock);
      catchUp(channel);
      byte[] next = lines.get().getBytes(StandardCharsets.UTF_8);
      if (next.length > 0) {
        // Overwrites the incomplete line of a killed writer.
        channel.truncate(known);
        write(channel, next);
        channel.force(false);
      }
    } finally {
      threads.unlock();
    }
  }

  /** Reads the new complete lines, in chunks that are large enough for at least one line. */
  private void catchUp(FileChannel channel) throws IOException {
    if (channel.size() < known) {
      listener.clear();
      known = 0;
    }
    int max = PIECE_BYTES;
    while (known < channel.size()) {
      ByteBuffer piece = read(channel, max);
      int whole = wholeLines(piece);
      if (whole == 0 && piece.limit() < max) {
        return;
      }
      tell(piece.slice(0, whole));
      known += whole;
      max = whole > 0 ? PIECE_BYTES : Math.multiplyExact(max, 2);
    }
  }

  private ByteBuffer read(FileChannel channel, int max) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(max, channel.size() - known));
    while (bytes.hasRemaining() && channel.read(bytes, known + bytes.position()) >= 0) {
      // Reads on.
    }
    return bytes.flip();
  }

  private static int wholeLines(ByteBuffer piece) {
    int end = piece.limit();
    while (end > 0 && piece.get(end - 1) != '\n') {
      end--;
    }
    return end;
  }

  private void tell(ByteBuffer lines) {
    String text = StandardCharsets.UTF_8.decode(lines).toString();
    int from = 0;
    for (int end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      listener.read(text.substring(from, end));
      from = end + 1;
    }
  }

  private void write(FileChannel channel, byte[] lines) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(lines);
    while (bytes.hasRemaining()) {
      channel.write(bytes, known + bytes.position());
    }
  }

  /**
   * Encodes names of files for lines: backslashes are doubled, a line end becomes {@code \n} and,
   * if requested, a blank becomes {@code \s}.
   */
  static final class NameEncoding {
    private NameEncoding() {}

    /** Encodes a name and keeps its blanks. */
    static String of(String name) {
      return name.replace("\\", "\\\\").replace("\n", "\\n");
    }

    /** Encodes a name without blanks. */
    static String withoutBlanks(String name) {
      return of(name).replace(" ", "\\s");
    }

    /** Decodes a name in either form. */
    static String read(String written) {
      StringBuilder name = new StringBuilder();
      for (int i = 0; i < written.length(); i++) {
        char character = written.charAt(i);
        if (character == '\\' && i + 1 < written.length()) {
          i++;
          character =
              switch (written.charAt(i)) {
                case 'n' -> '\n';
                case 's' -> ' ';
                default -> written.charAt(i);
              };
        }
        name.append(character);
      }
      return name.toString();
    }
  }

  /**
   * A line was refused because a writer with the same or a larger fencing token has written before.
   */
  static class StaleFenceException extends ClusterException {
    private static final long serialVersionUID = 1;

    /** With a message. */
    public StaleFenceException(String message) {
      super(message);
    }
  }
}
