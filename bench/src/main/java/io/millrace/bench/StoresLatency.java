package io.millrace.bench;

import io.millrace.bench.Bench.BenchException;
import io.millrace.bench.CommandLoad.Clients;
import io.millrace.bench.Measurement.Load;
import io.millrace.server.config.Configuration;
import io.millrace.server.store.StoreSettings;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreOptions.Journaling;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.HdrHistogram.Histogram;

/**
 * Stores in a folder, a SQLite file and the databases of {@code --store}: the latency of a lone
 * commit, lifecycles per second, and both with a longer way to the database.
 */
final class StoresLatency extends Scenario {
  private static final int MANY = 32;
  private static final InProcessLoad ONE =
      new InProcessLoad(1, 1, InProcessLoad.LatencyKind.ANSWERS);
  private static final int[] ROUND_TRIP_MILLIS = {0, 5, 50};

  StoresLatency() {
    super("stores", "stores in a folder, SQLite and the databases of --store, with added latency");
  }

  @Override
  void run(Context context) throws IOException, InterruptedException {
    measure(context, "folder", "file:" + context.newFolder("folder"));
    String file = "jdbc:sqlite:" + context.newFolder("sqlite").resolve("store.db");
    measure(context, "SQLite", file);
    for (String url : context.stores()) {
      String kind = url.split(":", 3)[1];
      for (int millis : ROUND_TRIP_MILLIS) {
        try (DelayingProxy proxy = DelayingProxy.before(url, millis)) {
          measure(context, kind + ", " + millis + " ms added", millis == 0 ? url : proxy.url());
        }
      }
    }
  }

  private void measure(Context context, String what, String url)
      throws IOException, InterruptedException {
    Configuration configuration =
        Configuration.read(List.of(StoreSettings.SECTION), null, settings(context, url));
    try (EmbeddedTaskStore store = configuration.get(StoreSettings.SECTION).open()) {
      Histogram latency = ONE.run(store, context.time()).latency();
      context.add(
          Measurement.of(
                  name(),
                  what + ", a lone commit",
                  latency.getValueAtPercentile(50) / 1e6,
                  "ms at p50")
              .withLatency(
                  latency.getValueAtPercentile(50) / 1e3, latency.getValueAtPercentile(99) / 1e3));
      context.add(
          Measurement.of(
              name(), what + ", 32 callers", InProcessLoad.of(MANY, 1).run(store, context.time())));
    }
  }

  /** The settings of a new store at an address, whose name no other has. */
  static Map<String, String> settings(Context context, String url) throws IOException {
    Path folder = context.newFolder("data");
    String name = "bench-" + ThreadLocalRandom.current().nextInt(Integer.MAX_VALUE);
    return url.startsWith("file:")
        ? Map.of("store.url", url)
        : Map.of("store.url", url, "store.data", folder.toString(), "store.name", name);
  }

  /**
   * Lifecycles over HTTP on the databases of {@code --store}, beside as many connections to a table
   * of the same database.
   */
  static final class OverHttp extends Scenario {
    OverHttp() {
      super("stores-http", "the databases of --store over HTTP, beside the usual queue in a table");
    }

    @Override
    void run(Context context) throws IOException, InterruptedException {
      if (context.stores().isEmpty()) {
        context.say(name(), "left out, as it needs --store");
      }
      for (String url : context.stores()) {
        measure(context, url.split(":", 3)[1], url);
      }
    }

    private void measure(Context context, String kind, String url)
        throws IOException, InterruptedException {
      Path folder = context.newFolder("server");
      String[] settings =
          settings(context, url).entrySet().stream()
              .filter(each -> !each.getKey().equals("store.data"))
              .map(each -> each.getKey() + "=" + each.getValue())
              .toArray(String[]::new);
      Clients clients = Clients.independent(MANY);
      double ours;
      try (ServerProcess child =
          ServerProcess.store(context, folder, Journaling.STRICT, settings)) {
        ours =
            CommandLoad.run(
                    context,
                    child,
                    clients,
                    client -> new Protocol.StoreTasks(child.port(), client, 1))
                .report(context, name(), kind + " over HTTP, " + clients);
      }
      if (!kind.equals("postgresql")) {
        return;
      }
      Load table = QueueInTable.run(url, context);
      context.add(
          Measurement.of(
              name(), kind + ", INSERT / FOR UPDATE SKIP LOCKED / DELETE, 32 connections", table));
      double ratio = ours / table.perSecond();
      context.add(
          Measurement.of(name(), "  beside the table", ours, "lifecycles/s")
              .withRatio(ratio, "the table")
              .withTarget("≥ 3", ratio >= 3));
    }

    /** A queue as a table, as many programs have it. */
    private static final class QueueInTable {
      private QueueInTable() {}

      static Load run(String url, Context context) throws InterruptedException {
        try (Connection connection = DriverManager.getConnection(url);
            Statement statement = connection.createStatement()) {
          statement.execute("DROP TABLE IF EXISTS millrace_bench_queue");
          statement.execute(
              "CREATE TABLE millrace_bench_queue (id BIGSERIAL PRIMARY KEY, data BYTEA NOT NULL)");
          Load.Window window = Load.Window.after(context.time());
          try {
            return Load.ofCallers(MANY, window, _ -> () -> call(url, window));
          } finally {
            statement.execute("DROP TABLE millrace_bench_queue");
          }
        } catch (SQLException e) {
          throw new BenchException("the table could not be measured: " + e.getMessage(), e);
        }
      }

      private static Load call(String url, Load.Window window) throws Exception {
        try (Connection connection = DriverManager.getConnection(url);
            PreparedStatement insert =
                connection.prepareStatement("INSERT INTO millrace_bench_queue (data) VALUES (?)");
            PreparedStatement claim =
                connection.prepareStatement(
                    "SELECT id, data FROM millrace_bench_queue ORDER BY id LIMIT 1"
                        + " FOR UPDATE SKIP LOCKED");
            PreparedStatement delete =
                connection.prepareStatement("DELETE FROM millrace_bench_queue WHERE id = ?")) {
          return Load.ofCalls(
              window,
              () -> {
                connection.setAutoCommit(true);
                insert.setBytes(1, Lifecycle.DATA.toArray());
                insert.executeUpdate();
                connection.setAutoCommit(false);
                try (ResultSet found = claim.executeQuery()) {
                  if (found.next()) {
                    delete.setLong(1, found.getLong(1));
                    delete.executeUpdate();
                  }
                }
                connection.commit();
              });
        }
      }
    }
  }

  /** Passes bytes on in both directions, each half a round trip later than they came. */
  static final class DelayingProxy implements AutoCloseable {
    private static final Pattern ADDRESS = Pattern.compile("//([^/:]+):(\\d+)/");

    private final ServerSocket listener;
    private final String host;
    private final int target;
    private final String url;
    private final long delayNanos;
    private final List<Socket> sockets = new ArrayList<>();

    /** One before the database of an address. */
    static DelayingProxy before(String url, int roundTripMillis) throws IOException {
      Matcher address = ADDRESS.matcher(url);
      if (!address.find()) {
        throw new BenchException("--store needs an address with //HOST:PORT/: " + url);
      }
      return new DelayingProxy(url, address, roundTripMillis);
    }

    private DelayingProxy(String url, MatchResult address, int roundTripMillis) throws IOException {
      this.host = address.group(1);
      this.target = Integer.parseInt(address.group(2));
      this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
      this.delayNanos = TimeUnit.MILLISECONDS.toNanos(roundTripMillis) / 2;
      this.url =
          url.substring(0, address.start())
              + "//127.0.0.1:"
              + listener.getLocalPort()
              + "/"
              + url.substring(address.end());
      Thread.startVirtualThread(this::accept);
    }

    /** The address of the database through it. */
    String url() {
      return url;
    }

    private void accept() {
      try {
        while (true) {
          Socket near = listener.accept();
          Socket far = new Socket(host, target);
          near.setTcpNoDelay(true);
          far.setTcpNoDelay(true);
          synchronized (sockets) {
            sockets.add(near);
            sockets.add(far);
          }
          pass(near, far);
          pass(far, near);
        }
      } catch (IOException _) {
        // Closed, or the database is gone.
      }
    }

    /** Bytes and when they are due. */
    private record Piece(ByteBuffer bytes, long dueNanos) {}

    private void pass(Socket from, Socket to) {
      BlockingQueue<Piece> pieces = new LinkedBlockingQueue<>();
      Thread.startVirtualThread(() -> {
        try (InputStream in = from.getInputStream()) {
          byte[] buffer = new byte[1 << 16];
          for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
            ByteBuffer copy = ByteBuffer.wrap(Arrays.copyOf(buffer, count));
            pieces.add(new Piece(copy, System.nanoTime() + delayNanos));
          }
        } catch (IOException _) {
          // The other side has ended.
        }
        pieces.add(new Piece(ByteBuffer.allocate(0), 0));
      });
      Thread.startVirtualThread(() -> {
        try (OutputStream out = to.getOutputStream()) {
          for (Piece piece = pieces.take(); piece.bytes().hasRemaining(); piece = pieces.take()) {
            TimeUnit.NANOSECONDS.sleep(Math.max(0, piece.dueNanos() - System.nanoTime()));
            out.write(piece.bytes().array());
          }
        } catch (IOException _) {
          // The other side has ended.
        } catch (InterruptedException _) {
          Thread.currentThread().interrupt();
        }
      });
    }

    @Override
    public void close() throws IOException {
      listener.close();
      synchronized (sockets) {
        for (Socket socket : sockets) {
          socket.close();
        }
      }
    }
  }
}
