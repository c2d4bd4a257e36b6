package io.millrace.cluster.example;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file of {@link ResultLine}s that many processes append to, each under a lock of the whole file.
 * It stands for any resource that checks fencing tokens. Safe for use by any number of threads and
 * processes that share the object within each process.
 */
final class ResultFile {
  private static final Logger LOG = LoggerFactory.getLogger(ResultFile.class);

  private final Path file;
  // A file's lock is the process's own: threads of one need another.
  private final ReentrantLock threads = new ReentrantLock();

  ResultFile(Path file) {
    this.file = file;
  }

  /**
   * Appends a line.
   *
   * @throws StaleFenceException where the file has a line of the same name with the same or a
   *     larger fence
   */
  void append(ResultLine line) throws IOException {
    threads.lock();
    try (FileChannel channel =
            FileChannel.open(
                file,
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        FileLock lock = channel.lock()) {
      LOG.trace("{} is locked: {}", file, lock);
      String content = read(channel);
      int whole = content.lastIndexOf('\n') + 1;
      content.substring(0, whole).lines().forEach(other -> check(line, other));
      // What a writer that was killed has left of a line is written over.
      byte[] before = content.substring(0, whole).getBytes(StandardCharsets.UTF_8);
      channel.truncate(before.length);
      write(channel, before.length, line.text().getBytes(StandardCharsets.UTF_8));
      channel.force(false);
    } finally {
      threads.unlock();
    }
  }

  private static void check(ResultLine line, String other) {
    ResultLine.read(other)
        .filter(known -> known.name().equals(line.name()) && known.fence() >= line.fence())
        .ifPresent(known -> {
          throw new StaleFenceException(
              "'%s' with fence %d comes after fence %d, and is refused"
                  .formatted(line.name(), line.fence(), known.fence()));
        });
  }

  private static String read(FileChannel channel) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(channel.size()));
    while (bytes.hasRemaining() && channel.read(bytes, bytes.position()) >= 0) {
      // Reads on.
    }
    return StandardCharsets.UTF_8.decode(bytes.flip()).toString();
  }

  private static void write(FileChannel channel, long position, byte[] line) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(line);
    long at = position;
    while (bytes.hasRemaining()) {
      at += channel.write(bytes, at);
    }
  }
}
