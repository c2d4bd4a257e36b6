package io.millrace.examples.cluster;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LeaseLostException;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.work.SingleWork;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileLockInterruptionException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens on a port of the loopback interface and appends each complete line to a file: work that
 * cannot be divided. The response to a line is its fencing token, sent when the line is on disk. If
 * the port is in use, the work fails, and this member or another one tries again after the lease.
 */
public final class PortExample implements SingleWork {
  private static final Logger LOG = LoggerFactory.getLogger(PortExample.class);

  /** The maximum characters of a line; a longer line is split. */
  private static final int MAX_LENGTH = 1 << 16;

  private final int port;
  private final PortFile output;

  /**
   * The example.
   *
   * @param port 1 to 65535, the same for all members
   * @param output the output file
   */
  public PortExample(int port, Path output) {
    this.port = port;
    this.output = new PortFile(output);
  }

  @Override
  public void run(Guard guard) throws IOException, InterruptedException {
    String token = Member.current().token();
    try (ServerSocketChannel server = ServerSocketChannel.open();
        Selector selector = Selector.open();
        ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor()) {
      server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      bind(server);
      LOG.info("Listening on port {} with fence {}", port, guard.fence());
      // A thread that is interrupted in accept() may lose a connection that was just accepted.
      server.configureBlocking(false);
      server.register(selector, SelectionKey.OP_ACCEPT);
      try {
        while (!Thread.interrupted()) {
          for (SocketChannel line = server.accept(); line != null; line = server.accept()) {
            SocketChannel accepted = line;
            readers.execute(() -> serve(accepted, token, guard));
          }
          selector.select();
          selector.selectedKeys().clear();
        }
      } finally {
        readers.shutdownNow();
      }
    }
    throw new InterruptedException("stopped listening");
  }

  private void bind(ServerSocketChannel server) throws IOException {
    try {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    } catch (BindException e) {
      throw new ClusterException("port " + port + ": " + e.getMessage(), e);
    }
  }

  private void serve(SocketChannel connection, String token, Guard guard) {
    try (connection;
        Reader characters =
            new BufferedReader(
                new InputStreamReader(
                    connection.socket().getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = next(characters); line != null; line = next(characters)) {
        guard.check();
        output.append(line, token, guard.fence());
        connection
            .socket()
            .getOutputStream()
            .write((guard.fence() + "\n").getBytes(StandardCharsets.UTF_8));
      }
    } catch (ClosedByInterruptException | FileLockInterruptionException e) {
      LOG.debug("A connection was closed, because this member stopped listening", e);
    } catch (IOException e) {
      LOG.info("A connection ended: {}", e.getMessage());
    } catch (LeaseLostException | LineFile.StaleFenceException e) {
      LOG.warn("A line was refused: {}", e.getMessage());
    }
  }

  /** The next complete line, or the next part of a long one; null at the end. */
  private static @Nullable String next(Reader characters) throws IOException {
    StringBuilder line = new StringBuilder();
    while (line.length() < MAX_LENGTH) {
      int character = characters.read();
      if (character < 0) {
        return null;
      }
      if (character == '\n') {
        boolean carried = !line.isEmpty() && line.charAt(line.length() - 1) == '\r';
        return carried ? line.substring(0, line.length() - 1) : line.toString();
      }
      line.append((char) character);
    }
    return line.toString();
  }

  /**
   * A file of lines {@code LINE MEMBER-TOKEN FENCING-TOKEN} whose fencing tokens never decrease.
   * LINE is unchanged, and may contain blanks or be empty. Safe for use by several processes, and
   * by several threads that share the object.
   */
  static final class PortFile {
    private final LineFile file;
    private long largest;

    PortFile(Path file) {
      this.file = new LineFile(file, new FenceReader());
    }

    /**
     * Appends a line.
     *
     * @param line without its end
     * @throws LineFile.StaleFenceException if the file has a line with a larger fence
     */
    void append(String line, String token, long fence) throws IOException {
      file.append(() -> {
        if (fence < largest) {
          throw new LineFile.StaleFenceException(
              "a line with fence %d comes after fence %d, and is refused"
                  .formatted(fence, largest));
        }
        return line + " " + token + " " + fence + "\n";
      });
    }

    private final class FenceReader implements LineFile.LineListener {
      @Override
      public void clear() {
        largest = 0;
      }

      @Override
      public void read(String line) {
        String fence = line.substring(line.lastIndexOf(' ') + 1);
        try {
          largest = Math.max(largest, Long.parseLong(fence));
        } catch (NumberFormatException e) {
          // Ignore a line of another form.
        }
      }
    }
  }
}
