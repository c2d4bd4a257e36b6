package io.millrace.bench;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Workers and clients of one job server, driven by one thread with a selector. */
final class JobsLoad implements AutoCloseable {
  private static final long MOST_MILLIS = 60_000;

  private final Selector selector;
  private final List<WorkerLine> workers = new ArrayList<>();
  private final List<SubmitLine> clients = new ArrayList<>();

  private JobsLoad(Selector selector) {
    this.selector = selector;
  }

  /** So many workers and clients, connected. */
  static JobsLoad connect(int port, int workers, int clients) throws IOException {
    JobsLoad load = new JobsLoad(Selector.open());
    try {
      for (int i = 0; i < workers; i++) {
        WorkerLine worker = WorkerLine.connect(port, "worker-" + i);
        load.workers.add(worker);
        load.register(worker.channel(), worker);
        // A worker that is not heard while thousands connect would be taken for a silent one.
        load.serve(new Run(Load.Window.after(Duration.ofDays(1)), 0), 0);
      }
      for (int i = 0; i < clients; i++) {
        SubmitLine client = SubmitLine.connect(port);
        load.clients.add(client);
        load.register(client.channel(), client);
      }
      return load;
    } catch (IOException | RuntimeException e) {
      load.close();
      throw e;
    }
  }

  private void register(SocketChannel channel, Object line) throws IOException {
    channel.register(selector, SelectionKey.OP_READ, line);
  }

  /**
   * How jobs are submitted.
   *
   * @param most how many jobs are under way at most
   * @param pause how long to wait between two; zero for not at all
   */
  record Pace(int most, Duration pause) {}

  /** The state of a run. */
  private static final class Run {
    final Load.Window window;
    final long pauseNanos;
    final Histogram latency = Load.histogram();
    long submitted;
    long done;
    long counted;
    long submitAt = System.nanoTime();

    Run(Load.Window window, long pauseNanos) {
      this.window = window;
      this.pauseNanos = pauseNanos;
    }

    /** A worker has a job that was submitted at this time, and answers it. */
    void started(long submittedNanos) {
      done++;
      long now = System.nanoTime();
      if (now >= window.from() && now < window.until()) {
        counted++;
        latency.recordValue(now - submittedNanos);
      }
    }
  }

  /** Jobs from submission to their result for so long, after warming up; none is left undone. */
  Load run(Duration time, Pace pace) throws IOException {
    Run run = new Run(Load.Window.after(time), pace.pause().toNanos());
    long giveUp = run.window.until() + Duration.ofMillis(MOST_MILLIS).toNanos();
    long now = System.nanoTime();
    while (now < run.window.until() || run.done < run.submitted) {
      if (now > giveUp) {
        throw new BenchException(
            "of " + run.submitted + " jobs only " + run.done + " came to a worker");
      }
      if (now < run.window.until()) {
        submit(run, pace.most());
      }
      serve(run, wait(run));
      now = System.nanoTime();
    }
    return new Load(run.counted, run.window.nanos(), run.latency);
  }

  /** The milliseconds after which something may be due that no peer brings about. */
  private static long wait(Run run) {
    return run.pauseNanos == 0
        ? 100
        : Math.clamp((run.submitAt - System.nanoTime()) / 1_000_000, 1, 100);
  }

  private void submit(Run run, int most) throws IOException {
    for (SubmitLine client : clients) {
      if (run.submitted - run.done >= most || run.submitAt - System.nanoTime() > 0) {
        return;
      }
      if (!client.isAsking()) {
        run.submitted++;
        long now = System.nanoTime();
        run.submitAt = now + run.pauseNanos;
        client.ask(now);
      }
    }
  }

  /** Keeps all workers alive for a while; no job comes. */
  void idle(Duration time) throws IOException {
    long until = System.nanoTime() + time.toNanos();
    Run run = new Run(Load.Window.after(time), 0);
    while (until - System.nanoTime() > 0) {
      serve(run, 50);
    }
  }

  private void serve(Run run, long waitMillis) throws IOException {
    if (waitMillis == 0) {
      selector.selectNow();
    } else {
      selector.select(waitMillis);
    }
    for (SelectionKey key : selector.selectedKeys()) {
      @Nullable Object line = key.attachment();
      if (line instanceof WorkerLine worker) {
        worker.hear(run::started);
      } else if (line instanceof SubmitLine client) {
        client.hear();
      }
    }
    selector.selectedKeys().clear();
  }

  @Override
  public void close() throws IOException {
    for (WorkerLine worker : workers) {
      worker.close();
    }
    for (SubmitLine client : clients) {
      client.close();
    }
    selector.close();
  }
}
