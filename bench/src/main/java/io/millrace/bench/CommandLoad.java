package io.millrace.bench;

import io.millrace.bench.Bench.BenchException;
import io.millrace.bench.Measurement.Load;
import io.millrace.bench.Protocol.HttpExchange;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import org.HdrHistogram.Histogram;

/**
 * A load on a server, as it was measured.
 *
 * @param load what was done
 * @param generatorCores the cores that the clients used
 * @param serverCores the cores that the server used
 */
record CommandLoad(Load load, double generatorCores, double serverCores) {
  private static final Duration LONGEST_FIRST = Duration.ofSeconds(10);

  /**
   * The clients of a load.
   *
   * @param connections the number of connections
   * @param independent whether each connection has a thread of its own, like the programs of
   *     several users; otherwise, one thread serves all of them, so that many requests are sent
   *     together and share a sync
   */
  record Clients(int connections, boolean independent) {
    /** Connections that one thread serves. */
    static Clients ofOneThread(int connections) {
      return new Clients(connections, false);
    }

    /** Connections with a thread each. */
    static Clients independent(int connections) {
      return new Clients(connections, true);
    }

    @Override
    public String toString() {
      return connections
          + (independent ? " independent" : "")
          + (connections == 1 ? " connection" : " connections");
    }
  }

  /**
   * Runs a load after a warm-up. The warm-up is longer for a JVM's first load, since code is
   * compiled for half a minute, and the servers of users have been running for longer.
   */
  static CommandLoad run(
      Scenario.Context context,
      ServerProcess child,
      Clients clients,
      IntFunction<Protocol> conversations)
      throws IOException {
    SocketLoad sockets = new SocketLoad(child.port(), clients);
    return run(context, child, time -> sockets.run(time, conversations));
  }

  /** A client that waits for each of its answers. For use by one thread. */
  @FunctionalInterface
  interface Caller {
    /** Sends a command and waits for its answer; returns how many lifecycles the answer ended. */
    int call() throws IOException;
  }

  /** The same with a thread for each of these callers. */
  static CommandLoad run(Scenario.Context context, ServerProcess child, List<Caller> callers)
      throws IOException {
    return run(context, child, time -> SocketLoad.driveEach(callers, time));
  }

  @FunctionalInterface
  private interface Drive {
    SocketLoad.Result over(Duration time) throws IOException;
  }

  private static CommandLoad run(Scenario.Context context, ServerProcess child, Drive drive)
      throws IOException {
    if (child.isFirstLoad()) {
      Duration twice = context.time().multipliedBy(2);
      drive.over(twice.compareTo(LONGEST_FIRST) < 0 ? twice : LONGEST_FIRST);
    }
    long began = System.nanoTime();
    long cpu = child.cpu().toNanos();
    SocketLoad.Result result = drive.over(context.time());
    double nanos = System.nanoTime() - began;
    return new CommandLoad(result.load(), result.cores(), (child.cpu().toNanos() - cpu) / nanos);
  }

  /** What was measured, with the cores that both sides used. */
  String describe(String what) {
    return String.format(
        Locale.ROOT, "%s (cores: load %.2f, server %.2f)", what, generatorCores, serverCores);
  }

  /** Reports throughput and latency; returns the lifecycles per second. */
  double report(Scenario.Context context, String scenario, String what) {
    context.add(Measurement.of(scenario, describe(what), load));
    return load.perSecond();
  }

  /**
   * Clients of a server on this machine. They are the same for every protocol, and do so little
   * work that the server is what is measured.
   *
   * @param port the server's port
   */
  private record SocketLoad(int port, Clients clients) {
    private static final int BUFFER_BYTES = 1 << 17;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /**
     * The result of a load.
     *
     * @param load what was done
     * @param cpuNanos the processor time that the clients used within the measured time
     */
    record Result(Load load, long cpuNanos) {
      /** The cores that the clients used. */
      double cores() {
        return (double) cpuNanos / load.nanos();
      }
    }

    private static final class Line implements Caller {
      final SocketChannel channel;
      final Protocol protocol;
      final ByteBuffer out = ByteBuffer.allocateDirect(BUFFER_BYTES);
      final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES);
      long beganNanos;

      Line(SocketChannel channel, Protocol protocol) {
        this.channel = channel;
        this.protocol = protocol;
      }

      void ask() throws IOException {
        protocol.ask(out.clear());
        out.flip();
        HttpExchange.write(channel, out);
      }

      /** Reads; returns whether a whole answer has come. */
      boolean hear() throws IOException {
        if (channel.read(in) < 0) {
          throw new BenchException("the server has closed the connection");
        }
        in.flip();
        boolean heard = protocol.hear(in);
        in.compact();
        return heard;
      }

      @Override
      public int call() throws IOException {
        ask();
        while (!hear()) {
          // The rest has not come yet.
        }
        return protocol.ended;
      }
    }

    /** Runs lifecycles on every connection, each to its end. */
    Result run(Duration time, IntFunction<Protocol> conversations) throws IOException {
      Line[] lines = new Line[clients.connections()];
      try {
        for (int i = 0; i < lines.length; i++) {
          lines[i] = connect(conversations.apply(i));
        }
        return clients.independent() ? driveEach(List.of(lines), time) : driveAll(lines, time);
      } finally {
        for (Line line : lines) {
          if (line != null) {
            line.channel.close();
          }
        }
      }
    }

    private Line connect(Protocol protocol) throws IOException {
      return new Line(HttpExchange.connect(port), protocol);
    }

    /** The state of a run, for one thread. */
    private static final class Run {
      final Load.Window window;
      final Histogram latency = Load.histogram();
      long count;
      int active;
      long cpuBegan;
      long cpuEnded;

      Run(Load.Window window, int active) {
        this.window = window;
        this.active = active;
      }

      Result result() {
        watch(System.nanoTime());
        return new Result(new Load(count, window.nanos(), latency), cpuEnded - cpuBegan);
      }

      /** Notes lifecycles that ended now; returns the time at which the next ones begin. */
      long ended(int lifecycles, long beganNanos) {
        long now = System.nanoTime();
        if (now >= window.until()) {
          active--;
        } else if (now >= window.from()) {
          count += lifecycles;
          latency.recordValue(now - beganNanos);
        }
        return now;
      }

      /** Notes the processor time at the start and the end of the window. */
      void watch(long now) {
        if (cpuBegan == 0 && now >= window.from()) {
          cpuBegan = THREADS.getCurrentThreadCpuTime();
        }
        if (cpuEnded == 0 && now >= window.until()) {
          cpuEnded = THREADS.getCurrentThreadCpuTime();
        }
      }
    }

    /** One thread with a selector serves all connections. */
    private static Result driveAll(Line[] lines, Duration time) throws IOException {
      Run run = new Run(Load.Window.after(time), lines.length);
      try (Selector selector = Selector.open()) {
        for (Line line : lines) {
          line.channel.configureBlocking(false);
          line.channel.register(selector, SelectionKey.OP_READ, line);
          line.beganNanos = System.nanoTime();
          line.ask();
        }
        while (run.active > 0) {
          selector.select(1_000);
          run.watch(System.nanoTime());
          for (SelectionKey key : selector.selectedKeys()) {
            if (answer(run, (Line) key.attachment())) {
              key.cancel();
            }
          }
          selector.selectedKeys().clear();
        }
      }
      return run.result();
    }

    /** Each caller has a thread, which waits for its answers. */
    private static Result driveEach(List<? extends Caller> callers, Duration time)
        throws IOException {
      Load.Window window = Load.Window.after(time);
      List<Future<Result>> clients = new ArrayList<>();
      try (ExecutorService threads =
          Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
        for (Caller caller : callers) {
          clients.add(threads.submit(() -> driveOne(caller, window)));
        }
      }
      Histogram latency = Load.histogram();
      long count = 0;
      long cpuNanos = 0;
      for (Future<Result> client : clients) {
        Result result = resultOf(client);
        latency.add(result.load().latency());
        count += result.load().count();
        cpuNanos += result.cpuNanos();
      }
      return new Result(new Load(count, window.nanos(), latency), cpuNanos);
    }

    private static Result driveOne(Caller caller, Load.Window window) throws IOException {
      Run run = new Run(window, 1);
      long beganNanos = System.nanoTime();
      while (run.active > 0) {
        run.watch(System.nanoTime());
        int ended = caller.call();
        if (ended > 0) {
          beganNanos = run.ended(ended, beganNanos);
        }
      }
      return run.result();
    }

    private static Result resultOf(Future<Result> client) throws IOException {
      try {
        return client.get();
      } catch (ExecutionException e) {
        throw new IOException("a client failed: " + e.getCause(), e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("the measurement was interrupted");
      }
    }

    /**
     * Reads what has come on a connection, and sends the next request; true if that was the last
     * answer.
     */
    private static boolean answer(Run run, Line line) throws IOException {
      if (!line.hear()) {
        return false;
      }
      int ended = line.protocol.ended;
      if (ended > 0) {
        line.beganNanos = run.ended(ended, line.beganNanos);
        if (line.beganNanos >= run.window.until()) {
          return true;
        }
      }
      line.ask();
      return false;
    }
  }
}
