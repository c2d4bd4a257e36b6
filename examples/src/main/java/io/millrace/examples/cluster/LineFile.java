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
 * A file of lines that many processes append to, each under a lock of the whole file, and who
 * appends knows all lines before. It stands for any resource that checks fencing tokens. What is
 * there is read once; only what others have added is read again. Safe for use by any number of
 * threads and processes that share the object within each process.
 */
final class LineFile {
  private static final Logger LOG = LoggerFactory.getLogger(LineFile.class);
  private static final int PIECE_BYTES = 1 << 20;

  private final Path file;
  private final Ledger ledger;
  // A file's lock is the process's own: threads of one need another.
  private final ReentrantLock threads = new ReentrantLock();
  private long known;

  /** What is known of a file's lines; used by one thread at a time. */
  interface Ledger {
    /** The file is another one than before: nothing is known of it. */
    void clear();

    /** The next line, without its end. */
    void read(String line);
  }

  LineFile(Path file, Ledger ledger) {
    this.file = file;
    this.ledger = ledger;
  }

  /**
   * Appends lines, which are on disk when this returns.
   *
   * @param lines gives them, each with its end, once the ledger has read all others; empty for none
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
        // What a writer that was killed has left of a line is written over.
        channel.truncate(known);
        write(channel, next);
        channel.force(false);
      }
    } finally {
      threads.unlock();
    }
  }

  /** Reads whole lines on, in pieces of which each has room for one at least. */
  private void catchUp(FileChannel channel) throws IOException {
    if (channel.size() < known) {
      ledger.clear();
      known = 0;
    }
    int most = PIECE_BYTES;
    while (known < channel.size()) {
      ByteBuffer piece = read(channel, most);
      int whole = wholeLines(piece);
      if (whole == 0 && piece.limit() < most) {
        return;
      }
      tell(piece.slice(0, whole));
      known += whole;
      most = whole > 0 ? PIECE_BYTES : Math.multiplyExact(most, 2);
    }
  }

  private ByteBuffer read(FileChannel channel, int most) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(most, channel.size() - known));
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
      ledger.read(text.substring(from, end));
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
   * Names of files as they stand in lines: backslashes are doubled, a line end is {@code \n} and,
   * if it is wanted, a blank {@code \s}.
   */
  static final class NameText {
    private NameText() {}

    /** A name that keeps its blanks. */
    static String of(String name) {
      return name.replace("\\", "\\\\").replace("\n", "\\n");
    }

    /** A name without blanks. */
    static String withoutBlanks(String name) {
      return of(name).replace(" ", "\\s");
    }

    /** The name that was written in either way. */
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

  /** A line came too late: a writer with the same or a larger fencing token has written before. */
  static class StaleFenceException extends ClusterException {
    private static final long serialVersionUID = 1;

    /** With a message for people. */
    public StaleFenceException(String message) {
      super(message);
    }
  }
}
