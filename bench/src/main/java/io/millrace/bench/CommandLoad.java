package io.millrace.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Locale;
import java.util.function.IntFunction;
import org.HdrHistogram.Histogram;

/**
 * A server and the load that was put on it.
 *
 * @param load what was done
 * @param generatorCores the cores that driving the load took
 * @param serverCores the cores that the server took
 */
record CommandLoad(Load load, double generatorCores, double serverCores) {
  private static final Duration LONGEST_FIRST = Duration.ofSeconds(10);

  /**
   * Drives a server over so many connections, after warming up: longer if it is a JVM's first load,
   * since code is compiled for half a minute and users have servers that have run for longer.
   */
  static CommandLoad run(
      Scenario.Setting setting,
      ServerProcess child,
      int connections,
      IntFunction<Conversation> conversations)
      throws IOException {
    if (child.isFirstLoad()) {
      Duration twice = setting.time().multipliedBy(2);
      Duration first = twice.compareTo(LONGEST_FIRST) < 0 ? twice : LONGEST_FIRST;
      new SocketLoad(child.port(), connections).run(first, conversations);
    }
    long began = System.nanoTime();
    long cpu = child.cpu().toNanos();
    SocketLoad.Result result =
        new SocketLoad(child.port(), connections).run(setting.time(), conversations);
    double nanos = System.nanoTime() - began;
    return new CommandLoad(result.load(), result.cores(), (child.cpu().toNanos() - cpu) / nanos);
  }

  /** What was measured, with the cores that both sides took. */
  String describe(String what) {
    return String.format(
        Locale.ROOT, "%s (cores: load %.2f, server %.2f)", what, generatorCores, serverCores);
  }

  /** Reports throughput and latency; gives the lifecycles a second. */
  double report(Scenario.Setting setting, String scenario, String what) {
    setting.add(Figure.of(scenario, describe(what), load));
    return load.perSecond();
  }

  /**
   * Connections to a server on this machine, driven by one thread with a selector: the same for
   * every protocol, and little enough work that the server is what is measured.
   *
   * @param port the server's port
   * @param connections how many
   */
  private record SocketLoad(int port, int connections) {
    private static final int BUFFER_BYTES = 1 << 17;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /**
     * What came of it.
     *
     * @param load what was done
     * @param cpuNanos the processor time that this thread took within the measured time
     */
    record Result(Load load, long cpuNanos) {
      /** The cores that driving the load took. */
      double cores() {
        return (double) cpuNanos / load.nanos();
      }
    }

    private static final class Line {
      final SocketChannel channel;
      final Conversation conversation;
      final ByteBuffer out = ByteBuffer.allocateDirect(BUFFER_BYTES);
      final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES);
      long beganNanos;

      Line(SocketChannel channel, Conversation conversation) {
        this.channel = channel;
        this.conversation = conversation;
      }

      void ask() throws IOException {
        conversation.ask(out.clear());
        out.flip();
        HttpExchange.write(channel, out);
      }

      /** Reads; tells whether a whole answer has come. */
      boolean hear() throws IOException {
        if (channel.read(in) < 0) {
          throw new BenchException("the server has closed the connection");
        }
        in.flip();
        boolean heard = conversation.hear(in);
        in.compact();
        return heard;
      }
    }

    /** Runs lifecycles on every connection; none is left half done. */
    Result run(Duration time, IntFunction<Conversation> conversations) throws IOException {
      try (Selector selector = Selector.open()) {
        Line[] lines = new Line[connections];
        try {
          for (int i = 0; i < connections; i++) {
            lines[i] = connect(selector, conversations.apply(i));
          }
          return drive(selector, lines, time);
        } finally {
          for (Line line : lines) {
            if (line != null) {
              line.channel.close();
            }
          }
        }
      }
    }

    private Line connect(Selector selector, Conversation conversation) throws IOException {
      SocketChannel channel = HttpExchange.connect(port);
      channel.configureBlocking(false);
      Line line = new Line(channel, conversation);
      channel.register(selector, SelectionKey.OP_READ, line);
      return line;
    }

    /** The state of a run. */
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

      /** Notes the processor time where the window begins and ends. */
      void watch(long now) {
        if (cpuBegan == 0 && now >= window.from()) {
          cpuBegan = THREADS.getCurrentThreadCpuTime();
        }
        if (cpuEnded == 0 && now >= window.until()) {
          cpuEnded = THREADS.getCurrentThreadCpuTime();
        }
      }
    }

    private Result drive(Selector selector, Line[] lines, Duration time) throws IOException {
      Run run = new Run(Load.Window.after(time), lines.length);
      for (Line line : lines) {
        line.beganNanos = System.nanoTime();
        line.ask();
      }
      while (run.active > 0) {
        selector.select(1_000);
        run.watch(System.nanoTime());
        for (SelectionKey key : selector.selectedKeys()) {
          answer(run, key);
        }
        selector.selectedKeys().clear();
      }
      run.watch(System.nanoTime());
      return new Result(
          new Load(run.count, run.window.nanos(), run.latency), run.cpuEnded - run.cpuBegan);
    }

    private static void answer(Run run, SelectionKey key) throws IOException {
      Line line = (Line) key.attachment();
      if (!line.hear()) {
        return;
      }
      int ended = line.conversation.ended;
      if (ended > 0) {
        long now = System.nanoTime();
        if (now >= run.window.from() && now < run.window.until()) {
          run.count += ended;
          run.latency.recordValue(now - line.beganNanos);
        }
        if (now >= run.window.until()) {
          run.active--;
          key.cancel();
          return;
        }
        line.beganNanos = now;
      }
      line.ask();
    }
  }
}
