package io.millrace.bench;

import io.millrace.bench.Measurement.Load;
import io.millrace.store.StoreOptions.Journaling;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Jobs that pass through a server which keeps few of them, in several runs: how fast they are, how
 * many have been archived, and whether the server's memory grows.
 */
final class ArchiveRun extends Scenario {
  private static final int WORKERS = 50;
  private static final int CLIENTS = 32;
  private static final int RUNS = 5;
  private static final int KEPT = 1_000;
  private static final double MIB = 1 << 20;
  private static final Duration WHILE_FULL = Duration.ofSeconds(1);
  private static final long CATCH_UP_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** How much more may live on the heap after the last run than after the first. */
  private static final double GROWTH = 1.25;

  private static final Pattern ARCHIVED =
      Pattern.compile("millrace_archive_items_total\\{kind=\"jobs\"} ([0-9.E]+)");

  ArchiveRun() {
    super("archive", "jobs through a server that keeps " + KEPT + ", and archives all others");
  }

  @Override
  void run(Context context) throws IOException, InterruptedException {
    Path folder = context.newFolder("archive");
    try (ServerProcess child =
            ServerProcess.store(context, folder, Journaling.STRICT, "jobs.keep-count=" + KEPT);
        JobsLoad load = JobsLoad.connect(child.port(), WORKERS, CLIENTS)) {
      JobsLoad.Pace pace = new JobsLoad.Pace(4 * WORKERS, Duration.ZERO, WHILE_FULL);
      load.run(context.time(), pace);
      int runs = context.scale() == 1 ? RUNS : 1;
      double first = 0;
      double archived = 0;
      for (int i = 1; context.items() == 0 ? i <= runs : archived < context.items(); i++) {
        Load jobs = load.run(context.time(), pace);
        double seconds = catchUp(child.port());
        archived = archived(child.port());
        double live = child.liveBytes() / MIB;
        first = i == 1 ? live : first;
        context.add(
            Measurement.of(
                    name(),
                    "run " + i + ": jobs from submission to result",
                    jobs.perSecond(),
                    "jobs/s")
                .withLatency(jobs.micros(50), jobs.micros(99)));
        context.add(
            Measurement.of(name(), "run " + i + ": archived since the start", archived, "jobs"));
        context.add(
            Measurement.of(name(), "run " + i + ": until the archiver rested", seconds, "s"));
        context.add(
            Measurement.of(name(), "run " + i + ": live on the heap", live, "MiB")
                .withTarget("≤ 1.25 × that of run 1", live <= GROWTH * first));
        context.add(
            Measurement.of(
                name(), "run " + i + ": resident memory", child.residentBytes() / MIB, "MiB"));
        context.add(
            Measurement.of(
                name(), "run " + i + ": times that the store was full", load.timesFull(), ""));
      }
    }
  }

  /** Waits until nothing more is archived for two seconds; gives how long that took in all. */
  private static double catchUp(int port) throws IOException, InterruptedException {
    long began = System.nanoTime();
    double before = -1;
    double now = archived(port);
    while (now > before && System.nanoTime() - began < CATCH_UP_NANOS) {
      before = now;
      Thread.sleep(Duration.ofSeconds(2));
      now = archived(port);
    }
    return (System.nanoTime() - began) / 1e9;
  }

  private static double archived(int port) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      String request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      Matcher found = ARCHIVED.matcher(answer);
      return found.find() ? Double.parseDouble(found.group(1)) : 0;
    }
  }
}
